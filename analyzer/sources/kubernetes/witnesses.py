"""Shows objects, pods and log lines to the mechanisms that ask for them, cheaply where nobody does."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from analyzer.sources.kubernetes.objects import Custom, KubeObject, Other, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import PodRecord

BEING_DELETED = "(being deleted)"
"""Stands among a mechanism's kinds for any object but a pod that is being deleted, as long as it is, and once more."""


class Witness(Protocol):
    """What is shown to a mechanism (`mechanism.py` says the rest of it)."""

    kinds: frozenset[str]

    def take(self, seen: Seen) -> None: ...

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None: ...

    def hear(self, said: LogStatement) -> None: ...


def kind_shown(thing: KubeObject) -> str:
    """The name of the object's kind as mechanisms ask for it: `Event`, `Workflow.argoproj.io`."""
    if isinstance(thing, Custom | Other):
        group = thing.api_version.rpartition("/")[0]
        return f"{thing.kind}.{group}" if group else thing.kind
    return type(thing).__name__


class Witnesses:
    """All mechanisms by the kinds that they ask for, and the pods that were last shown as out of the ordinary."""

    def __init__(self, witnesses: Iterable[Witness]) -> None:
        self._all: Sequence[Witness] = tuple(witnesses)
        self._by_kind: dict[str, list[Witness]] = {}
        for one in self._all:
            for kind in sorted(one.kinds):
                self._by_kind.setdefault(kind, []).append(one)
        self._odd: set[str] = set()
        self._leaving: set[tuple[str, str, str]] = set()

    def take(self, seen: Seen) -> None:
        """Show an object that is no pod."""
        kind, metadata = kind_shown(seen.object), seen.object.metadata
        shown = self._by_kind.get(kind, ())
        for one in shown:
            one.take(seen)
        if BEING_DELETED in self._by_kind and (metadata.deletion_timestamp is not None or self._leaving):
            self._show_leaving(seen, (kind, metadata.namespace, metadata.name), shown)

    def _show_leaving(self, seen: Seen, key: tuple[str, str, str], shown: Sequence[Witness]) -> None:
        leaves = seen.object.metadata.deletion_timestamp is not None and not seen.gone
        if not leaves and key not in self._leaving:
            return
        (self._leaving.add if leaves else self._leaving.discard)(key)
        for one in self._by_kind[BEING_DELETED]:
            if one not in shown:
                one.take(seen)

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """Show a pod, if anything about it is out of the ordinary or was so when it was seen last."""
        if gone or (record.plain and record.ready):
            if record.key not in self._odd:
                return
            self._odd.discard(record.key)
        else:
            self._odd.add(record.key)
        for one in self._all:
            one.see(pod, record, gone=gone)

    def hear(self, said: LogStatement) -> None:
        """Show a line of a scheduler's log."""
        for one in self._all:
            one.hear(said)
