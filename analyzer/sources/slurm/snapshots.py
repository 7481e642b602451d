"""Which documents were taken together, where a folder holds several moments of one cluster.

A list of jobs tells when it was taken: its heading, sdiag beside it in a folder of one moment, or the latest moment in
it that is no forecast. Two lists of one form that share jobs, or that are whole lists minutes apart, are of two
moments; but `scontrol show job 5` is no list of all jobs. The form with the most moments gives the *snapshots*; every
other list with a time joins the nearest, or is a snapshot of its own if none is near. What tells no time (nodes, steps,
process lists) belongs to the snapshot with which it shares its folder, or the digits of its name, if that is a single
one; else it holds at all times.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from analyzer.model.limits import SECOND_NS
from analyzer.sources.slurm.jobs import LIVE_FORMS, is_single, latest_ns
from analyzer.sources.slurm.records import Reading
from analyzer.sources.slurm.sections import lists_of, sections

_TOGETHER_NS = 120 * SECOND_NS
"""Outputs that one person collects at one go are this close, whatever their form."""

_ONE_AFTER_THE_OTHER_NS = 900 * SECOND_NS
"""Lists of one user or partition after the other, which share no job, may take somebody this long to collect."""

_WHOSE = ("user", "partition")
Owners = dict[str, str]
"""Whose jobs a list has, where all are of one user, or in one partition."""

_DIGITS = re.compile(r"\d+")


class Snapshot(Struct):
    """All that tells of the cluster at one moment; `at_ns` is None where nothing tells a time."""

    at_ns: int | None
    readings: list[Reading]


class _Part(Struct, frozen=True):
    """A section with its lists of jobs and its moment."""

    reading: Reading
    lists: dict[str, frozenset[str | None]]
    at_ns: int | None
    of: Owners


def snapshots(readings: Sequence[Reading]) -> list[Snapshot]:
    """All moments in their order; at least one. Every reading is in one of them or, if it tells no time, in all."""
    parts = _dated([_part(section) for reading in readings for section in sections(reading)])
    timed = sorted((part for part in parts if part.at_ns is not None and part.lists), key=_when)
    moments = _moments(timed)
    if len(moments) < 2:
        return [Snapshot(moments[0] if moments else None, list(readings))]
    found = [Snapshot(at_ns, []) for at_ns in moments]
    places: dict[int, int] = {}
    for part in timed:
        places[id(part)] = _nearest(moments, part.at_ns or 0)
    bundles = _bundles(timed, places)
    for part in parts:
        place = places.get(id(part))
        if place is None and not part.reading.outputs and not part.reading.log:
            place = next((bundles[key] for key in _keys(part.reading.path) if bundles.get(key) is not None), None)
        for number, snapshot in enumerate(found):
            if place is None or place == number:
                snapshot.readings.append(part.reading)
    for number, snapshot in enumerate(found):
        times = [part.at_ns or 0 for part in timed if places[id(part)] == number]
        snapshot.at_ns = max(times, default=moments[number])
    return found


def _part(reading: Reading) -> _Part:
    lists = lists_of(reading)
    told = (latest_ns(job) for job in reading.jobs if job.form in LIVE_FORMS)
    times = [*(at_ns for _, at_ns in reading.stamps), *(at_ns for at_ns in told if at_ns is not None)]
    live = [job for job in reading.jobs if job.form in LIVE_FORMS]
    names = {kind: {getattr(job, kind) for job in live} - {None} for kind in _WHOSE}
    of = {kind: min(found) for kind, found in names.items() if len(found) == 1}
    return _Part(reading, lists, max(times, default=None), of)


def _dated(parts: Sequence[_Part]) -> list[_Part]:
    """The same, lists having the time of the sdiag beside them, where all that lies there is of one moment."""
    stamps: dict[tuple[str, str], set[int]] = {}
    forms: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        for key in _keys(part.reading.path):
            forms.setdefault(key, []).extend(part.lists)
            if not part.lists:
                stamps.setdefault(key, set()).update(at_ns for _, at_ns in part.reading.stamps)
    single = {
        key: max(times)
        for key, times in stamps.items()
        if times and max(times) - min(times) <= _TOGETHER_NS and len(forms[key]) == len(set(forms[key]))
    }
    found = []
    for part in parts:
        told = [single[key] for key in _keys(part.reading.path) if key in single]
        if part.lists and told and not part.reading.stamps:
            part = structs.replace(part, at_ns=max(told[0], part.at_ns or 0))
        found.append(part)
    return found


def _moments(timed: Sequence[_Part]) -> list[int]:
    """The time of every snapshot, rising."""
    by_form: dict[str, list[int]] = {}
    open_lists: dict[str, _Open] = {}
    for part in timed:
        at_ns = part.at_ns or 0
        for form, keys in part.lists.items():
            known = by_form.setdefault(form, [])
            before = open_lists.get(form)
            if before is not None and _same_moment(before, form, keys, part):
                known[-1] = at_ns
                open_lists[form] = _Open(before.first_ns, at_ns, before.keys | keys, (*before.of, part.of))
            else:
                known.append(at_ns)
                open_lists[form] = _Open(at_ns, at_ns, keys, (part.of,))
    if not by_form:
        return []
    backbone = max(by_form.values(), key=lambda times: (len(times), -times[0], times))
    if len(backbone) < 2:
        return [max(times[-1] for times in by_form.values())]
    apart = [
        part.at_ns
        for part in timed
        if part.at_ns is not None
        and not all(is_single(form, keys) for form, keys in part.lists.items())
        and min(abs(part.at_ns - one) for one in backbone) > _TOGETHER_NS
    ]
    return _thinned([*backbone, *apart], backbone)


class _Open(Struct, frozen=True):
    """The lists of one form and one moment so far: when the first and the last were taken, whose jobs they list."""

    first_ns: int
    last_ns: int
    keys: frozenset[str | None]
    of: tuple[Owners, ...]


def _same_moment(before: _Open, form: str, keys: frozenset[str | None], part: _Part) -> bool:
    """Whether this list is another part of the same moment, and not of a later one."""
    at_ns = part.at_ns or 0
    after_ns = at_ns - before.first_ns
    if at_ns == before.last_ns or (is_single(form, keys) and after_ns <= _TOGETHER_NS):
        return True
    if not before.keys.isdisjoint(keys):
        return False
    if after_ns <= _TOGETHER_NS or len(before.keys) == len(keys) == 1:
        return True
    return after_ns <= _ONE_AFTER_THE_OTHER_NS and any(
        kind in part.of and all(owners.get(kind, part.of[kind]) != part.of[kind] for owners in before.of)
        for kind in _WHOSE
    )


def _thinned(times: Iterable[int], backbone: Sequence[int]) -> list[int]:
    """Times without those that are close to the one before, unless two lists of one form say that they differ."""
    fixed = set(backbone)
    found: list[int] = []
    for at_ns in sorted(set(times)):
        if found and at_ns not in fixed and at_ns - found[-1] <= _TOGETHER_NS:
            continue
        found.append(at_ns)
    return found


def _nearest(moments: Sequence[int], at_ns: int) -> int:
    return min(range(len(moments)), key=lambda number: (abs(moments[number] - at_ns), number))


def _bundles(timed: Sequence[_Part], places: dict[int, int]) -> dict[tuple[str, str], int | None]:
    """To which snapshot a folder, or the digits of a name in it, point; None where they point to several."""
    found: dict[tuple[str, str], int | None] = {}
    for part in timed:
        for key in _keys(part.reading.path):
            place = places[id(part)]
            found[key] = place if found.get(key, place) == place else None
    return found


def _keys(path: str) -> list[tuple[str, str]]:
    folder, _, name = path.rpartition("/")
    digits = " ".join(_DIGITS.findall(name))
    return [(folder, digits), (folder, "")] if digits else [(folder, "")]


def _when(part: _Part) -> tuple[int, int, str]:
    return (part.at_ns or 0, part.reading.document, part.reading.path)
