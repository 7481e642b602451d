"""Objects of one document that came one by one, put together: lists, lone objects, or a watch without its entries."""

from msgspec import Struct, field

from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.moments import was_removed
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.kubernetes.reading import WATCH, Change, Listing, Reading


class _Group(Struct):
    whole: bool
    version: int | None
    objects: list[KubeObject] = field(default_factory=list)
    records: list[int] = field(default_factory=list)


class Gathered:
    """Grows while a document is read; `into` hands everything over once."""

    def __init__(self) -> None:
        self._lists: dict[int, _Group] = {}
        self._alone = _Group(whole=False, version=None)

    def listed(self, key: int, found: KubeObject, record: int, *, whole: bool, version: int | None) -> None:
        """An item of the list that `key` tells apart."""
        group = self._lists.setdefault(key, _Group(whole=whole, version=version))
        group.objects.append(found)
        group.records.append(record)

    def alone(self, found: KubeObject, record: int) -> None:
        """An object outside any list."""
        self._alone.objects.append(found)
        self._alone.records.append(record)

    def into(self, reading: Reading) -> None:
        """Hand over. Lone objects of which one comes twice, in different versions, are a watch (`kubectl get -w`)."""
        alone = self._alone
        if _repeats(alone.objects):
            reading.kind = WATCH
            for found, record in zip(alone.objects, alone.records, strict=True):
                reading.changes.append(Change(found, was_removed(found.metadata), record))
        elif alone.objects:
            reading.listings.append(Listing(objects=alone.objects, records=alone.records, whole=False))
        for group in self._lists.values():
            reading.listings.append(
                Listing(objects=group.objects, records=group.records, whole=group.whole, resource_version=group.version)
            )


def _repeats(objects: list[KubeObject]) -> bool:
    versions: dict[tuple[str, str, str], str] = {}
    for found in objects:
        metadata = found.metadata
        key = (kind_of_object(found), metadata.namespace, metadata.name)
        if versions.setdefault(key, metadata.resource_version) != metadata.resource_version:
            return True
    return False
