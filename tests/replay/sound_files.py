"""One small sound file of every form that is read: what a fuzz test damages, and what lies beside it unharmed."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from tests.facts.test_damage import LINES, YAML
from tests.kubernetes.forms import test_describe, test_logs, test_tables
from tests.kubernetes.reading import written
from tests.kubernetes.reading.test_audit import entry, lines
from tests.slurm.making import Job, all_forms, cluster, licences, partition, processes, qos

SLURM_RECORDINGS = Path(__file__).parents[1] / "data" / "slurm"

_REFUSED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
    "lastTransitionTime": "2026-01-02T03:00:01Z",
}
_RUNNING = {"phase": "Running", "startTime": "2026-01-02T03:00:02Z"}
_GANG = {"annotations": {"knotwatch.dev/min-available": "2"}, "labels": {"knotwatch.dev/gang": "a"}}
ITEMS = [
    written.node("node-1"),
    written.pod("a-0", version=2, node="node-1", metadata=_GANG, status=_RUNNING),
    written.pod("a-1", version=3, metadata=_GANG, status={"conditions": [_REFUSED]}),
    {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "team-red", "creationTimestamp": "2026-01-02T03:00:03Z"},
        "reason": "FailedScheduling",
        "message": _REFUSED["message"],
        "involvedObject": {"kind": "Pod", "namespace": "team-red", "name": "a-1"},
        "lastTimestamp": "2026-01-02T03:00:03Z",
        "count": 3,
    },
]
"""Half a gang on a node, the other half waiting."""

_JOBS = [
    Job(id=5, reason="Dependency", depends="afterok:6(unfulfilled)"),
    Job(id=6, reason="Licenses", licences="matlab:2", array=(6, "0-3%1")),
    Job(id=7, state="RUNNING", nodes=("gpu-0", "gpu-1"), gpus=8, het=(7, 0)),
]


def kubernetes_files() -> dict[str, bytes]:
    """Every form of the Kubernetes source, by name."""
    out = {f"objects: {name}": form(ITEMS) for name, form in written.FORMS.items()}
    out["watch"] = written.watch(*(("ADDED", one) for one in ITEMS))
    out["audit"] = lines(*(entry("create", one, at="2026-01-02T03:00:00Z", code=201) for one in ITEMS))
    out |= {f"log: {name}": form() for name, form in (test_logs.FORMS | test_logs.ROUGH).items()}
    out["described"] = test_describe.ALL
    out |= {"pods": test_tables.PODS, "events": test_tables.EVENTS, "nodes": test_tables.NODES}
    return out


def slurm_files() -> dict[str, bytes]:
    """Every command of Slurm as text and JSON, in the versions that differ, and what it logs."""
    extra = {
        "licences": licences(matlab=2),
        "partition": partition(cluster()),
        "qos": qos(normal="gres/gpu=8"),
        "processes": processes((900, 1, 900, "sbatch job.sh"), (901, 900, 900, "srun x")),
    }
    forms = all_forms(_JOBS, cluster(), extra)
    out = {f"slurm: {form}/{name}": text.encode() for form, files in forms.items() for name, text in files.items()}
    recorded = sorted(SLURM_RECORDINGS.glob("*/*"))
    chosen = [path for path in recorded if path.suffix in (".txt", ".psv", ".log", ".json", ".out")]
    return out | {f"slurm: {path.parent.name}/{path.name}": path.read_bytes() for path in chosen}


def archives() -> dict[str, bytes]:
    """Files in a tar, a tar.gz, a zip, and packed by themselves."""
    inside = {"pods.json": written.pretty(written.listed(ITEMS)), "log": test_logs.FORMS["klog"]()}
    paper, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=paper, mode="w") as packed:
        for name, content in inside.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as packed_otherwise:
        for name, content in inside.items():
            packed_otherwise.writestr(zipfile.ZipInfo(name), content)
    tar = paper.getvalue()
    return {
        "tar": tar,
        "tar.gz": gzip.compress(tar, mtime=0),
        "zip": zipped.getvalue(),
        "gz": gzip.compress(inside["pods.json"], mtime=0),
    }


def sound_files() -> dict[str, bytes]:
    """All of them, by a name that says the form."""
    facts = {"facts: YAML": YAML.encode(), "facts: JSON lines": LINES.encode()}
    return kubernetes_files() | slurm_files() | facts | archives()
