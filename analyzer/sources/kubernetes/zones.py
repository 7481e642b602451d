"""Year and zone of klog lines, which carry neither: from the person, else from the neighbours.

The year is the one that brings the log nearest to the times in the other documents. The zone is the multiple of a
quarter of an hour by which the log's statements about pods are off from what the pods' own conditions say.
"""

from collections import Counter
from collections.abc import Iterable

from analyzer.sources.kubernetes.klog import Klog, stamp_ns, year_of
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.scheduler_log import BOUND, NO_FIT
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns
from analyzer.sources.options import ReadOptions

YEAR_UNKNOWN = 2000
"""The year of a log without any hint: a leap year, so that every day exists, and plainly no recent one."""

_QUARTER_S = 900
_NEAR_S = 90
_FARTHEST_S = 14 * 3600


def year_and_zone(log: Klog, options: ReadOptions, near_ns: int | None, pods: Iterable[Pod]) -> tuple[int, int, bool]:
    """(year of the first line, seconds east of UTC, whether the year is known).

    `near_ns` is the latest time in the other documents; `pods` all that were seen.
    """
    if log.zone_s is not None and log.year is not None and options.year is None and options.tz_offset_s is None:
        return log.year, log.zone_s, True
    year, known = _year(log, options, near_ns, options.tz_offset_s or 0)
    if options.tz_offset_s is not None:
        return year, options.tz_offset_s, known
    offset_s = _zone(log, year, pods)
    year, known = _year(log, options, near_ns, offset_s)
    return year, offset_s, known


def _year(log: Klog, options: ReadOptions, near_ns: int | None, offset_s: int) -> tuple[int, bool]:
    if options.year is not None:
        return options.year, True
    if near_ns is not None:
        return year_of(log, near_ns, offset_s), True
    return (log.year, True) if log.year is not None else (YEAR_UNKNOWN, False)


def _zone(log: Klog, year: int, pods: Iterable[Pod]) -> int:
    said: dict[str, dict[str, int]] = {"True": {}, "False": {}}
    for line in log.lines:
        status = "True" if line.message == BOUND[0] else "False" if line.message in NO_FIT else None
        if status is not None and "pod" in line.values:
            said[status].setdefault(line.values["pod"], stamp_ns(line.stamp, year, 0))
    named = said["True"].keys() | said["False"].keys()
    if not named:
        return 0
    votes: Counter[int] = Counter()
    for pod in pods:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        if name not in named:
            continue
        for condition in pod.status.conditions:
            at_ns = parse_ns(condition.last_transition_time)
            logged_ns = said.get(condition.status, {}).get(name)
            if condition.type != "PodScheduled" or at_ns is None or logged_ns is None:
                continue
            off_s = (logged_ns - at_ns) // SECOND_NS
            quarters = round(off_s / _QUARTER_S)
            if abs(off_s - quarters * _QUARTER_S) <= _NEAR_S and abs(quarters * _QUARTER_S) <= _FARTHEST_S:
                votes[quarters * _QUARTER_S] += 1
    return min(votes, key=lambda offset: (-votes[offset], abs(offset), offset)) if votes else 0
