"""The invented logs: as many lines as asked, in every form the same statements, and nothing else is found with them."""

import json
from pathlib import Path

import pytest

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.log_forms import read_log
from analyzer.sources.kubernetes.scheduler_log import MESSAGES
from benchmarks import gigabyte, logs
from benchmarks.dump import Form as Layout
from benchmarks.dump import write_dump
from benchmarks.log_lines import LINES_A_TRY, LogForm, write_log
from benchmarks.plan import Plan, make_plan
from benchmarks.rows import Scale
from benchmarks.table import line

LINES = 2_000


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(300, seed=2)


@pytest.mark.parametrize("form", LogForm)
def test_a_log_says_in_every_form_the_same(plan: Plan, form: LogForm, tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    write_log(plan, plain, LogForm.KLOG, LINES)
    assert write_log(plan, written, form, LINES) == written.stat().st_size
    content = written.read_bytes()
    assert form_of(content) is Form.KLOG
    (found, _), (expected, _) = read_log(content, MESSAGES), read_log(plain.read_bytes(), MESSAGES)
    assert len(found.lines) == 2 * LINES // LINES_A_TRY
    assert [(one.message, one.values.get("pod"), one.values.get("err")) for one in found.lines] == [
        (one.message, one.values.get("pod"), one.values.get("err")) for one in expected.lines
    ]


def test_a_containers_log_has_lines_in_two_parts(plan: Plan, tmp_path: Path) -> None:
    write_log(plan, tmp_path / "log", LogForm.CONTAINER, LINES)
    written = (tmp_path / "log").read_bytes().splitlines()
    assert len(written) == LINES + 1
    assert sum(b" stderr P " in one for one in written) == 1


def test_the_rows_run_at_any_size_and_state_the_peak(tmp_path: Path) -> None:
    scale = Scale(sizes=(300,), runs=1, lines=3_000, megabytes=8, folder=str(tmp_path))
    for row in (logs.ROW, gigabyte.ROW):
        figures = row.measure(scale)
        assert [line(one) for one in figures]
        assert any(one.unit == "MB" and one.value > 1 for one in figures)
        assert {one.bar for one in figures} == {None, 10.0 if row is logs.ROW else 2.0}
    assert not list(tmp_path.glob("*/*.log"))


@pytest.mark.parametrize("form", Layout)
def test_the_pieces_of_the_second_yardstick_hold_every_pod(plan: Plan, form: Layout, tmp_path: Path) -> None:
    write_dump(plan, tmp_path, form=form)
    content = (tmp_path / "pods.json").read_bytes()
    pieces = list(gigabyte.pieces(content, form))
    assert len(pieces) > 1
    names = [pod["metadata"]["name"] for piece in pieces for pod in json.loads(piece)["items"]]
    assert names == [pod["metadata"]["name"] for pod in json.loads(content)["items"]]
