"""UIDs of pods, from what the kubelet leaves on the node: its device checkpoint, and the folders of pods' logs.

Two hints, read as one subject. Neither is a contract of the kubelet, so both may be missing, or say nothing any more.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from exporters.catalog.family import Sample
from exporters.collectors.kubelet import INTERVAL_S, beneath
from exporters.config import Settings
from exporters.kubelet.checkpoint import noted_in
from exporters.kubelet.holding import Noted
from exporters.rooted import Failed, Folder, tree_at
from exporters.subject import Key, Moment, ReadError, Reading, Source, Subject

KEY = Key("kubelet", "pod_uids")
PODS_MAX = 4096

_FOLDER = re.compile(
    r"(?P<namespace>[a-z0-9-]{1,63})_(?P<pod>[a-z0-9.-]{1,253})_"
    r"(?P<uid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})"
)


class Named(Struct, frozen=True, order=True):
    """A pod's name and its UID."""

    namespace: str
    pod: str
    uid: str


class UidReading(Struct, frozen=True, kw_only=True):
    """`noted`: by device ids, None without a readable checkpoint. `named`: by name."""

    noted: tuple[Noted, ...] | None
    named: tuple[Named, ...]


class PodUids:
    """Both hints as a subject. Being without them is no trouble: UIDs are empty then."""

    key = KEY

    def __init__(self, root: Folder, checkpoint: str, folders: str, *, interval_s: float, deadline_s: float) -> None:
        self.interval_s = interval_s
        self.deadline_s = deadline_s
        self._root = root
        self._checkpoint = checkpoint.strip("/")
        self._folders = folders.strip("/")

    def read(self, now: Moment) -> Reading[UidReading]:  # noqa: ARG002  what is, is read
        errors = []
        noted: tuple[Noted, ...] | None = None
        match self._root.text(self._checkpoint, CHECKPOINT_BYTES_MAX) if self._checkpoint else Failed("ENOENT"):
            case Failed() as failed:
                if not failed.absent:
                    errors.append(ReadError("kubelet_checkpoint", failed.code))
            case str(text):
                noted = noted_in(text)
                if noted is None:
                    errors.append(ReadError("kubelet_checkpoint", "EBADMSG"))
        listed = self._root.names(self._folders) if self._folders else ()
        if isinstance(listed, Failed):
            if not listed.absent:
                errors.append(ReadError("pod_folders", listed.code))
            listed = ()
        named = tuple(Named(*found.groups()) for each in listed if (found := _FOLDER.fullmatch(each)))
        return Reading(value=UidReading(noted=noted, named=named[:PODS_MAX]), errors=tuple(errors))

    def samples(self, value: UidReading) -> Iterable[Sample]:  # noqa: ARG002  hints, for followers/allocation.py
        return ()


CHECKPOINT_BYTES_MAX = 8 * 1024 * 1024
"""A large node's is a few hundred kilobytes."""


def pod_uid_source(settings: Settings) -> Source:
    """The hints, where one of the two is there."""
    wanted, rootfs = settings.allocation, settings.path.rootfs
    subject = PodUids(
        tree_at(rootfs),
        wanted.kubelet_checkpoint,
        wanted.pod_folders,
        interval_s=max(INTERVAL_S, settings.collect.interval_s),
        deadline_s=settings.collect.deadline_s,
    )
    places = [Path(beneath(rootfs, each)) for each in (wanted.kubelet_checkpoint, wanted.pod_folders) if each]

    def present() -> tuple[Subject[UidReading], ...]:
        return (subject,) if any(place.exists() for place in places) else ()

    return present
