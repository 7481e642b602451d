"""The rows of the performance table: what is measured against what, how far apart they may be, and by which code."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from benchmarks.ratio import Ratio


class Scale(Struct, frozen=True, kw_only=True):
    """How large and how often: pods of the clusters (ascending), runs of each figure, where dumps are kept.

    `lines` of each log, `megabytes` of the one large file of pods, `cycles` of the exporter's life.
    """

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    runs: int = 5
    seed: int = 1
    lines: int = 10_000_000
    megabytes: int = 1_000
    cycles: int = 10_000
    folder: str

    @property
    def largest(self) -> int:
        return self.sizes[-1]


class Figure(Struct, frozen=True, kw_only=True):
    """One measured number beside its bar. `unit` is "x" for a ratio (with its spread), else what `value` counts.

    `subject` and `yardstick` say what the two sides took, in words. A figure without a bar only informs.
    """

    case: str
    value: float
    unit: str = "x"
    low: float | None = None
    high: float | None = None
    bar: float | None = None
    subject: str = ""
    yardstick: str = ""

    @property
    def verdict(self) -> str:
        """`ok` or `missed`; empty where there is no bar."""
        if self.bar is None:
            return ""
        return "ok" if self.value <= self.bar else "missed"


Measure = Callable[[Scale], Sequence[Figure]]


class Row(Struct, frozen=True, kw_only=True):
    """One line of the table. `command` is the word after `python -m benchmarks`."""

    command: str
    what: str
    yardstick: str
    bar: str
    measure: Measure


def figure(case: str, ratio: Ratio, bar: float | None, *, per: int = 1) -> Figure:
    """The figure of a ratio; `per` divides the seconds shown (events in a run, say)."""
    return Figure(
        case=case,
        value=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
        bar=bar,
        subject=duration(ratio.subject_s / per),
        yardstick=duration(ratio.yardstick_s / per),
    )


def peak_figure(case: str, peak_bytes: int, processor_s: float, bar: float | None = None) -> Figure:
    """The figure of a largest resident set; without a bar it is only stated."""
    return Figure(case=case, value=peak_bytes / 1e6, unit="MB", bar=bar, subject=duration(processor_s))


def duration(seconds: float) -> str:
    """Seconds in a unit that leaves a readable number."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError(seconds)


def pods_text(pods: int) -> str:
    """`100,000 pods`."""
    return f"{pods:,} pods"
