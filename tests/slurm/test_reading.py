"""Small parts that read: names, amounts, moments, reasons, dependencies, tables, and which document is whose."""

import pytest

from analyzer.sources.slurm.dependencies import parse
from analyzer.sources.slurm.forms import form_of
from analyzer.sources.slurm.hostlists import expand, numbers
from analyzer.sources.slurm.job_texts import job_name
from analyzer.sources.slurm.json_texts import Broken, Element, elements
from analyzer.sources.slurm.keyvalues import pairs
from analyzer.sources.slurm.parents import waits_in
from analyzer.sources.slurm.reasons import ReasonClass, classify, limit_of
from analyzer.sources.slurm.states import job_state, node_states
from analyzer.sources.slurm.tables import read_table
from analyzer.sources.slurm.times import UNLIMITED_S, ctime_ns, duration_s, heading_ns, moment_ns
from analyzer.sources.slurm.tres import gres, licences, tres


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu-0", ("gpu-0",)),
        ("gpu-[0-2,7]", ("gpu-0", "gpu-1", "gpu-2", "gpu-7")),
        ("n[08-10],login1", ("n08", "n09", "n10", "login1")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("None assigned", ()),
        ("(null)", ()),
        ("n[0-999999999]", ()),
        ("n[5-", ("n[5-",)),
    ],
)
def test_names_of_nodes(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


def test_numbers_of_tasks() -> None:
    assert numbers("10-12%2") == (10, 11, 12)
    assert numbers("1,4-5") == (1, 4, 5)
    assert numbers("0-20:10") == (0, 10, 20)
    assert numbers("1,...") == ()


def test_amounts() -> None:
    assert tres("cpu=8,mem=4G,node=1,billing=1,gres/gpu:a100=2") == {
        "cpu": 8, "mem": 4 << 30, "node": 1, "billing": 1, "gres/gpu:a100": 2,
    }  # fmt: skip
    assert gres("gpu:a100:4(S:0-1),nic:1") == {"gpu": 4, "gpu:a100": 4, "nic": 1}
    assert gres("gres:gpu:8") == gres("gres/gpu=8") == gres("gpu:8(IDX:0-3,5)") == {"gpu": 8}
    assert gres("gres/gpu:h100:2") == {"gpu": 2, "gpu:h100": 2}
    assert gres("(null)") == gres("N/A") == gres("") == {}
    assert licences("solver:2,mesh") == ({"solver": 2, "mesh": 1}, False)
    assert licences("a:1|b:1") == ({"a": 1, "b": 1}, True)


def test_moments_and_durations() -> None:
    assert moment_ns("1970-01-01T00:01:00") == 60 * 10**9
    assert moment_ns("Unknown") is moment_ns("2026-13-01T00:00:00") is None
    assert ctime_ns("sdiag output at Thu Jan  1 00:01:00 1970 (60)") == 60 * 10**9
    assert heading_ns("Thu Jan  1 00:01:00 1970") == heading_ns("Thu Jan  1 00:01:00 UTC 1970") == (60 * 10**9, None)
    assert heading_ns("Thu Jan  1 12:01:00 AM CET 1970") == heading_ns("1970-01-01T00:01:00") == (60 * 10**9, None)
    assert heading_ns("1970-01-01T01:00:00+01:00") == (3600 * 10**9, 3600)
    assert heading_ns("1970-01-01T01:00:00 and more") is heading_ns("Thu Foo  1 00:01:00 1970") is None
    assert duration_s("1-00:00:00") == 86400
    assert duration_s("2:37") == 157
    assert duration_s("04:00:00") == 14400
    assert duration_s("UNLIMITED") == UNLIMITED_S
    assert duration_s("Partition_Limit") is duration_s("INVALID") is None


def test_states() -> None:
    assert job_state("CANCELLED by 1000") == "CANCELLED"
    assert job_state("R") == "RUNNING"
    assert job_state("RUNNING,COMPLETING") == "COMPLETING"
    assert job_state("ASLEEP") is None
    assert node_states("IDLE+DRAIN") == {"IDLE", "DRAIN"}
    assert node_states("drained*") == {"DRAIN", "NOT_RESPONDING"}
    assert node_states("mix-") == {"MIXED", "PLANNED"}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("JobHeldUser", ReasonClass.GATED),
        ("BeginTime", ReasonClass.GATED),
        ("QOSMaxGRESPerJob", ReasonClass.NEVER),
        ("QOSMaxCpuPerJobLimit", ReasonClass.NEVER),
        ("AssocMaxWallDurationPerJobLimit", ReasonClass.NEVER),
        ("QOSMinGRES", ReasonClass.NEVER),
        ("PartitionTimeLimit", ReasonClass.NEVER),
        ("DependencyNeverSatisfied", ReasonClass.NEVER),
        ("QOSGrpGRES", ReasonClass.LIMIT),
        ("QOSMaxJobsPerUserLimit", ReasonClass.LIMIT),
        ("AssocGrpCpuLimit", ReasonClass.LIMIT),
        ("QOSGrpCPUMinutesLimit", ReasonClass.DECAYING),
        ("AssocGrpCPURunMinutesLimit", ReasonClass.DECAYING),
        ("Resources", ReasonClass.ORDINARY),
        ("Licenses", ReasonClass.ORDINARY),
        ("Prolog", ReasonClass.STARTING),
        ("a reason of a later version", ReasonClass.ORDINARY),
    ],
)
def test_what_a_reason_is_worth(reason: str, expected: ReasonClass) -> None:
    assert classify(reason)[0] is expected


def test_which_limit_a_reason_speaks_of() -> None:
    limit = limit_of("QOSMaxJobsPerUserLimit")
    assert limit is not None
    assert (limit.qos, limit.scope, limit.what) == (True, "user", "jobs")
    limit = limit_of("AssocGrpGRES")
    assert limit is not None
    assert (limit.qos, limit.scope, limit.what) == (False, "group", "gres")
    assert limit_of("Resources") is None


def test_dependencies() -> None:
    read = parse("afterok:5304(unfulfilled):5305_7(failed),singleton(unfulfilled)")
    assert [(one.kind, one.target, one.task, one.state) for one in read.conditions] == [
        ("afterok", "5304", "", "unfulfilled"),
        ("afterok", "5305", "7", "failed"),
        ("singleton", "", "", "unfulfilled"),
    ]
    assert not read.either
    assert parse("afterok:1?afterany:2_*").either
    assert parse("after:7+30(unfulfilled)").conditions[0].target == "7"
    assert parse("(null)").conditions == ()


@pytest.mark.parametrize(
    ("command", "waits"),
    [
        ("sbatch --wait -N1 job.sh", True),
        ("/usr/bin/sbatch -W job.sh", True),
        ("sbatch -N1 job.sh --wait", False),
        ("sbatch -J --wait job.sh", False),
        ("sbatch --parsable -N 1 --gres gpu:1 --wait job", True),
        ("sbatch -N 1 job --wait", False),
        ("sbatch -N1 --wrap train --wait", False),
        ("sbatch --wait-all-nodes=1 job.sh", False),
        ("sbatch --wrap 'srun --wait 5 x'", False),
        ("sbatch --dependency=afterany:5 segment.sh", False),
        ("srun --wait 5 x", False),
    ],
)
def test_whether_an_sbatch_waits(command: str, *, waits: bool) -> None:
    assert waits_in(command) is waits


def test_ids() -> None:
    assert job_name("5700") == {"raw_id": 5700}
    assert job_name("5701_8", "5717") == {"raw_id": 5717, "array_id": 5701, "array_tasks": "8"}
    assert job_name("5701_[10-15%2]") == {"array_id": 5701, "array_tasks": "10-15", "throttle": 2}
    assert job_name("5502+1", "5503") == {"raw_id": 5503, "het_id": 5502, "het_offset": 1}
    assert job_name("CLUSTER: lab") is None


def test_arguments_of_a_command_are_no_keys() -> None:
    block = "JobId=7 JobName=a b c\n   Command=/x/run.sh JobState=FAILED lr=1\n   JobState=RUNNING Reason=None\n"
    said = pairs(block)
    assert said["JobName"] == "a b c"
    assert said["Command"] == "/x/run.sh JobState=FAILED lr=1"
    assert said["JobState"] == "RUNNING"


def test_columns_to_the_right_of_squeue() -> None:
    text = (
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
        "               103    normal  con ert   user-a PD       0:00      1 (Resources)\n"
        "       104_[1-3%2]    normal    batch   user-b PD       0:00      1 (Nodes required for job are DOWN)\n"
    )
    table = read_table(list(enumerate(text.splitlines(), 1)))
    assert [row.cells["NODELIST(REASON)"] for row in table.rows] == ["(Resources)", "(Nodes required for job are DOWN)"]
    assert table.rows[0].cells["NAME"] == "con ert"
    assert table.rows[1].cells["JOBID"] == "104_[1-3%2]"


def test_columns_to_the_left_of_sinfo() -> None:
    text = (
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
        "train*       up   infinite      2  drain gpu-[2-3]\n"
        "train*       up   infinite      2   idle gpu-[0-1]\n"
    )
    table = read_table(list(enumerate(text.splitlines(), 1)))
    assert [row.cells["NODELIST"] for row in table.rows] == ["gpu-[2-3]", "gpu-[0-1]"]


def test_columns_under_dashes() -> None:
    text = (
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
        "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
        "5200             warm p      train       root          1  COMPLETED      0:0 \n"
    )
    table = read_table(list(enumerate(text.splitlines(), 1)))
    assert table.rows[0].cells["JOBNAME"] == "warm p"
    assert table.rows[0].cells["STATE"] == "COMPLETED"


def test_bars_at_the_end_and_a_row_that_does_not_fit() -> None:
    table = read_table([(1, "JobID|State|"), (2, "7|RUNNING|"), (3, "8|RUN"), (4, "9|a|b|c|")])
    assert [row.cells["JOBID"] for row in table.rows] == ["7"]
    assert table.misfits == (3, 4)


def test_a_damaged_element_leaves_its_neighbours() -> None:
    text = '{\n "jobs": [\n  {\n   "a": 1\n  },\n  {\n   "a": oops\n  },\n  {\n   "a": 3\n  }\n ]\n}'
    kinds = [(type(one), one.line) for one in elements(text) if isinstance(one, Broken) or one.listed]
    assert kinds == [(Element, 3), (Broken, 6), (Element, 9)]


def test_a_file_that_was_cut_off_gives_what_came_before() -> None:
    text = '{"jobs": [{"a": 1}, {"a": 2}, {"a": '
    found = list(elements(text))
    assert [one.value for one in found if isinstance(one, Element) and one.listed] == [{"a": 1}, {"a": 2}]
    assert isinstance(found[-1], Broken)


@pytest.mark.parametrize(
    "content",
    [
        b'{"kind": "PodList", "apiVersion": "v1", "items": []}',
        b'I0102 03:04:05.678901   1 schedule_one.go:1] "x"\n',
        b"apiVersion: v1\nkind: Pod\n",
        b"schema: knotwatch.facts/v1\n",
        b"# a read-me about JobId and NodeName\n",
        b"NAME READY STATUS RESTARTS AGE\npod-1 1/1 Running 0 5d\n",
        b"loss 2.5\niteration 3\n",
        b"In sacct the JobID and JobIDRaw differ; the State is that of Submit time\n",
        b'{"jobs": [{"id": 1}]}',
    ],
)
def test_what_is_not_slurm_s(content: bytes) -> None:
    assert form_of(content) is None


@pytest.mark.parametrize(
    "content",
    [
        b"$ squeue\n             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n",
        b"[2026-11-30T13:34:53.266] sched: Allocate JobId=5700 NodeList=gpu-0 #CPUs=1 Partition=train\n",
        b"Nov 30 13:34:53 ctl slurmctld[77]: _job_complete: JobId=5700 done\n",
        b"epoch 1\nsrun: Job 5101 step creation temporarily disabled, retrying (Requested nodes are busy)\n",
        b"PID      JOBID    STEPID   LOCALID GLOBALID\n",
        b"Current Association Manager state\n",
        b"Configuration data as of 2026-11-30T13:30:00\n",
        b'{"partitions": [], "meta": {"slurm": {"release": "24.05.1"}}}',
    ],
)
def test_what_is_slurm_s(content: bytes) -> None:
    assert form_of(content) is not None
