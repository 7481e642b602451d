"""The kubelet's device checkpoint: which device ids it gave to which pod, by UID.

The file is the kubelet's own affair. It may be half written, of another version, or hold pods that are long gone, so
whatever is not understood is passed over, and what is understood is a hint and never a fact.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from exporters.kubelet.holding import Noted

CHECKPOINT_BYTES_MAX = 8 * 1024 * 1024
ENTRIES_MAX = 4096
IDS_MAX = 1024
TEXT_MAX = 253


def noted_in(text: str) -> tuple[Noted, ...] | None:
    """The entries of a checkpoint, sorted, each once; None if it is none. O(its length)."""
    try:
        tree = msgspec.json.decode(text.encode("utf-8"))
    except (msgspec.DecodeError, RecursionError):
        return None
    entries = _at(_at(tree, "Data"), "PodDeviceEntries")
    if entries is None and isinstance(tree, dict) and "Data" in tree:
        return ()
    if not isinstance(entries, list):
        return None
    return tuple(sorted(set(_entries(entries))))[:ENTRIES_MAX]


def _entries(entries: list[Any]) -> Iterator[Noted]:
    for entry in entries:
        uid, container, resource = (_at(entry, key) for key in ("PodUID", "ContainerName", "ResourceName"))
        ids = tuple(sorted(set(_ids(_at(entry, "DeviceIDs")))))[:IDS_MAX]
        if isinstance(uid, str) and isinstance(container, str) and isinstance(resource, str) and uid and ids:
            yield Noted(pod_uid=uid[:TEXT_MAX], container=container[:TEXT_MAX], resource=resource[:TEXT_MAX], ids=ids)


def _ids(found: Any) -> Iterator[str]:
    """Ids by NUMA node, or (before Kubernetes 1.20) in one list."""
    for part in found.values() if isinstance(found, dict) else [found]:
        for each in part if isinstance(part, list) else ():
            if isinstance(each, str):
                yield each[:TEXT_MAX]


def _at(tree: Any, key: str) -> Any:
    return tree.get(key) if isinstance(tree, dict) else None
