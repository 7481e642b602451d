"""Row 6: a scheduler's log of ten million lines, in each form that people hand over, against a scan of its lines.

The yardstick opens the same file and goes through it line by line. The replay has a folder with the log and the dump of
a small cluster whose waiting pods it speaks of. The peak is that of the whole command in a process of its own.
"""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.dump import Form, write_dump
from benchmarks.log_lines import LogForm, write_log
from benchmarks.memory import check, replayed
from benchmarks.plan import Plan, make_plan
from benchmarks.ratio import Prepared, compare
from benchmarks.replay import prove, replaying
from benchmarks.rows import Figure, Row, Scale, figure, peak_figure

BAR = 10.0
PODS = 1_000
RUNS_MAX = 3  # ten million lines average out what a second run would


def scanning(log: Path) -> Prepared:
    """The yardstick: reads the file and splits it into lines."""

    def scan() -> int:
        with log.open("rb") as file:
            return sum(1 for _ in file)

    return lambda: scan


def measure(scale: Scale) -> Sequence[Figure]:
    """Every form; a log is thrown away when it has been measured."""
    plan = make_plan(PODS, seed=scale.seed)
    figures: list[Figure] = []
    for form in LogForm:
        folder = Path(scale.folder) / f"log-{form.name.lower()}"
        write_dump(plan, folder, form=Form.COMPACT)
        log = folder / "kube-scheduler.log"
        try:
            size = write_log(plan, log, form, scale.lines)
            figures += _figures(
                plan, folder, log, f"{scale.lines:,} lines of {form.value} ({size / 1e6:,.0f} MB)", scale
            )
        finally:
            log.unlink(missing_ok=True)
    return figures


def _figures(plan: Plan, folder: Path, log: Path, case: str, scale: Scale) -> tuple[Figure, Figure]:
    prove(plan, folder)
    report, peak = replayed(folder)
    check(plan, report)
    ratio = compare(replaying(folder), scanning(log), min(scale.runs, RUNS_MAX))
    return figure(case, ratio, BAR), peak_figure(f"{case}: peak", peak.peak_bytes, peak.processor_s)


ROW = Row(
    command="logs",
    what="replay of a scheduler's log beside a small dump (bytes to findings)",
    yardstick="reading the same log and splitting it into lines",
    bar="10x",
    measure=measure,
)
