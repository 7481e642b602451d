"""Looks at trees of files as the exporter does, and gives what would be published, by name and labels."""

from collections.abc import Iterable
from typing import Any

from exporters.catalog.family import Sample
from exporters.collectors.rdma_devices import Choice, RdmaDevices
from exporters.rooted import Read, read_bytes, tree_at
from exporters.subject import Key, Moment, Reading, Subject
from exporters.working.sheet import laid_out, part_of
from tests.exporters.trees import Trees

INTERVAL_S = 10.0

Series = dict[tuple[str, ...], float]
"""(name without the prefix, labels...) to the value."""


def at(second: float) -> Moment:
    return Moment(1_800_000_000.0 + second, second)


def devices_of(trees: Trees, *, include: str = "", exclude: str = "", read: Read = read_bytes) -> RdmaDevices:
    """The source of subjects for these trees."""
    sysfs, procfs = tree_at(trees.sysfs, read), tree_at(trees.procfs, read)
    return RdmaDevices(sysfs, procfs, Choice(include, exclude), INTERVAL_S, 5.0)


def subject_of(source: Iterable[Subject[Any]], name: str) -> Subject[Any]:
    """The subject of that name."""
    return next(each for each in source if each.key == Key("rdma", name))


def series_of(samples: Iterable[Sample]) -> Series:
    """What these samples are on a page. Raises AssertionError where a page could not have one, or has it twice."""
    kept = list(samples)
    sheet = laid_out([part_of(kept, 256, 100_000)], 100_000)
    assert (sheet.duplicates, sheet.rejected) == (0, 0)
    return {(each.family.name.removeprefix("knotwatch_rdma_"), *each.labels): each.value for each in kept}


def look(subject: Subject[Any], second: float = 0.0) -> tuple[Series, Reading[Any]]:
    """Read a subject now: its series (none if it gave no value), and the reading."""
    reading = subject.read(at(second))
    return series_of(subject.samples(reading.value) if reading.value is not None else ()), reading


def look_at(trees: Trees, name: str, **more: Any) -> Series:
    """The series of one device of the trees, read once."""
    return look(subject_of(devices_of(trees, **more)(), name))[0]


class Reads:
    """Reads files as ever, remembers which, and refuses some: by the end of the path, with the number of an error."""

    def __init__(self, **refused: int) -> None:
        self.refused = refused
        self.paths: list[str] = []

    def __call__(self, path: str, at_most: int) -> bytes:
        self.paths.append(path)
        if (error := self.refused.get(path.rpartition("/")[2])) is not None:
            raise OSError(error, "refused")
        return read_bytes(path, at_most)
