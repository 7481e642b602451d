"""Row 5: the most memory that the whole command ever has, at the largest size.

Measured from outside: `python -m analyzer replay --format json FOLDER` runs as a child, and the system says what the
largest resident set of that child was. Pages of mapped input files count, since a memory limit counts them as well.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import truth
from benchmarks.dump import Form
from benchmarks.dumps import dump_of
from benchmarks.plan import Plan
from benchmarks.rows import Figure, Row, Scale, peak_figure, pods_text

BAR_MB = 600.0
ROOT = Path(__file__).parents[1]
FOUND_STATUS = 1  # findings were found


class ReportedFinding(Struct):
    """What is compared of a finding in the report."""

    verdict: str
    members: tuple[str, ...]
    root: str | None
    blocked_behind: tuple[str, ...]


class Report(Struct):
    """What is compared of the report."""

    findings: list[ReportedFinding]
    waiting: list[msgspec.Raw]


class Peak(Struct):
    """What `benchmarks.peak` prints."""

    status: int
    peak_bytes: int
    processor_s: float


def replayed(folder: Path) -> tuple[Report, Peak]:
    """The report of the command about the folder, and what it took."""
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "report.json"
        command = [sys.executable, "-m", "analyzer", "replay", "--format", "json", str(folder)]
        launcher = [sys.executable, "-m", "benchmarks.peak", str(output), *command]
        done = subprocess.run(launcher, check=True, capture_output=True, cwd=ROOT)  # noqa: S603  our own command
        peak = msgspec.json.decode(done.stdout, type=Peak)
        if peak.status != FOUND_STATUS:
            raise truth.WrongAnswerError(f"the replay of {folder} ended with status {peak.status}")
        try:
            return msgspec.json.decode(output.read_bytes(), type=Report), peak
        except msgspec.DecodeError as error:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise truth.WrongAnswerError(f"the replay of {folder} printed no report: {said}") from error


def check(plan: Plan, report: Report) -> None:
    """Raises WrongAnswerError unless the report says what was planted."""
    answer = [
        truth.Found(one.verdict, one.members or (one.root or "",), len(one.blocked_behind)) for one in report.findings
    ]
    truth.check(plan, answer, len(report.waiting))


def measure(scale: Scale) -> Sequence[Figure]:
    """The largest size in both layouts."""
    figures = []
    for form, words in ((Form.PRETTY, "as kubectl prints"), (Form.COMPACT, "compact")):
        plan, folder = dump_of(scale, scale.largest, form)
        report, peak = replayed(folder)
        check(plan, report)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        words = f"{pods_text(plan.pods)}, {words} ({size:,.0f} MB of files)"
        figures.append(peak_figure(words, peak.peak_bytes, peak.processor_s, BAR_MB))
    return figures


ROW = Row(
    command="memory",
    what="peak memory of the whole replay process at 100,000 pods",
    yardstick="-",
    bar="600 MB",
    measure=measure,
)
