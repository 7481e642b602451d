"""Samples of all parts as the families of one page: checked, without duplicates, sorted, and not too many.

Whatever a part gives, a page comes out that every parser takes: what cannot be published is left out and counted.
"""

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct
from prometheus_client.core import Metric
from prometheus_client.samples import Sample as Line

from exporters.catalog.family import UNITS, Family, Group, Kind, Sample
from exporters.catalog.itself import SERIES

KEPT: Sequence[Group] = (
    Group.EXPORTER,
    Group.GPU,
    Group.XID,
    Group.ALLOCATION,
    Group.RDMA,
    Group.GPM,
    Group.NVLINK,
    Group.NODE,
    Group.ETHTOOL,
    Group.PROCESSES,
    Group.DCGM,
)
"""When there are too many series, the families of the last group here go first, and of a group the last by name.

What tells that something is wrong stays longest; what grows with the number of processes or links goes first.
"""

ENDLESS_RATIO = 10
"""A part that gives so many times what a page may hold is broken: nothing of it is kept."""

SUFFIX = {Kind.COUNTER: "_total", Kind.IDENTITY: "_info"}
"""What prometheus_client appends by itself, by kind."""


class Sheet(Struct, frozen=True, kw_only=True):
    """One page before it is printed. `left_out`: series by group that the bound kept out."""

    metrics: tuple[Metric, ...]
    series: int
    left_out: dict[Group, int]
    duplicates: int
    rejected: int


class Part(Struct, frozen=True, kw_only=True):
    """What one subject or follower gave, ready to be laid out: lines by family. It can be kept while it is true."""

    lines: tuple[tuple[Family, Line], ...]
    rejected: int


def part_of(samples: Iterable[Sample], label_max: int, series_max: int) -> Part:
    """The samples that can be published. O(samples). Raises OverflowError for a part that never ends."""
    lines, rejected = [], 0
    for taken, sample in enumerate(samples):
        if taken > ENDLESS_RATIO * series_max:
            raise OverflowError(f"more than {taken} samples")
        if (line := line_of(sample, label_max)) is None:
            rejected += 1
        else:
            lines.append((sample.family, line))
    return Part(lines=tuple(lines), rejected=rejected)


def line_of(sample: Sample, label_max: int) -> Line | None:
    """The sample as prometheus_client prints it; None if no page may have it: no finite number, or no fit of labels."""
    family, labels = sample.family, sample.labels
    if len(labels) != len(family.labels) or not all(isinstance(label, str) for label in labels):
        return None
    if not isinstance(sample.value, int | float) or not math.isfinite(sample.value):
        return None
    return Line(
        family.name, dict(zip(family.labels, (clean(each, label_max) for each in labels), strict=True)), sample.value
    )


def clean(label: str, label_max: int) -> str:
    """The label's value as UTF-8 can carry it, and no longer than allowed."""
    if label.isascii() and len(label) <= label_max:
        return label
    return label[:label_max].encode("utf-8", "replace").decode("utf-8")


def laid_out(parts: Iterable[Part], series_max: int) -> Sheet:
    """The page of all parts, with the number of its series on it. Of equal samples the first counts. O(n log n)."""
    families: dict[str, Family] = {}
    lines: dict[str, dict[tuple[str, ...], Line]] = {}
    duplicates = rejected = 0
    for part in parts:
        rejected += part.rejected
        for family, line in part.lines:
            if families.setdefault(family.name, family).labels != family.labels:
                rejected += 1
                continue
            known = lines.setdefault(family.name, {})
            labels = tuple(line.labels.values())
            duplicates += labels in known
            known.setdefault(labels, line)
    kept, left_out = _within(families, {name: len(lines[name]) for name in lines}, series_max)
    # The count counts itself.
    series = sum(len(lines[name]) for name in kept) + (SERIES.name not in lines)
    families[SERIES.name], lines[SERIES.name] = SERIES, {(): Line(SERIES.name, {}, series)}
    kept = sorted({*kept, SERIES.name})
    return Sheet(
        metrics=tuple(
            _metric(families[name], [lines[name][labels] for labels in sorted(lines[name])]) for name in kept
        ),
        series=series,
        left_out=left_out,
        duplicates=duplicates,
        rejected=rejected,
    )


def _within(families: dict[str, Family], sizes: dict[str, int], series_max: int) -> tuple[list[str], dict[Group, int]]:
    """Names of the families that fit, sorted, and what is left out.

    A family is there whole or not at all, since the sum over a part of it would be wrong; one that is too large costs
    itself, and smaller ones after it may still fit. What the exporter says of itself is always there: it is bounded by
    itself, and tells that something is left out.
    """
    left_out: dict[Group, int] = {}
    kept, room = [], series_max
    for name in sorted(families, key=lambda each: (KEPT.index(families[each].group), each)):
        group = families[name].group
        if group is Group.EXPORTER or sizes[name] <= room:
            kept.append(name)
            room -= sizes[name]
        else:
            left_out[group] = left_out.get(group, 0) + sizes[name]
    return sorted(kept), left_out


def _metric(family: Family, lines: list[Line]) -> Metric:
    name = family.name.removesuffix(SUFFIX.get(family.kind, ""))
    unit = next((unit for unit in UNITS if name.endswith(f"_{unit}")), "") if family.kind is not Kind.IDENTITY else ""
    metric = Metric(name, family.text, family.kind.value, unit)
    metric.samples = lines
    return metric
