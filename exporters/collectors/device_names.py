"""How others spell a GPU or a part of one: device plugins, prologs, MIG of all times. Pure.

A spelling says which key it uses (a UUID, a minor number, a bare number), and never which GPU that is now: see
`gpu_names`. What nobody has taught us is None, and is counted where it is met.
"""

import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct


class By(StrEnum):
    """The key that a spelling uses."""

    UUID = "uuid"
    MIG_UUID = "mig_uuid"
    BARE_UUID = "bare_uuid"  # without the prefix that tells GPUs from parts of them
    MINOR = "minor"  # of /dev/nvidia<minor>
    NUMBER = "number"  # an index or a minor number: the spelling does not tell
    ONLY = "only"  # the one GPU that there is


class DeviceName(Struct, frozen=True, order=True, kw_only=True):
    """One spelling, taken apart. `replica`: one of several holders of the same device may have it."""

    by: By
    name: str
    gpu_instance: int | None = None
    compute_instance: int | None = None
    replica: bool = False


_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_WORD = r"[0-9A-Za-z](?:[0-9A-Za-z-]{0,62}[0-9A-Za-z])?"
_REPLICA = r"(?P<replica>::[0-9]{1,6})?"

SPELLINGS: tuple[tuple[By, re.Pattern[str]], ...] = (
    # Before R470 a part was named by its GPU and its instances.
    (By.UUID, re.compile(rf"MIG-(?P<name>GPU-{_WORD})/(?P<gi>[0-9]{{1,3}})/(?P<ci>[0-9]{{1,3}}){_REPLICA}")),
    (By.MIG_UUID, re.compile(rf"(?P<name>MIG-{_WORD}){_REPLICA}")),
    (By.UUID, re.compile(rf"(?P<name>GPU-{_WORD}){_REPLICA}")),
    (By.BARE_UUID, re.compile(rf"(?P<name>{_UUID}){_REPLICA}")),
    # GKE, and every file under /dev. `vgpu`: time-sharing. `ci`: ours, for what a cgroup allows.
    (
        By.MINOR,
        re.compile(
            r"(?:/dev/)?nvidia(?P<name>[0-9]{1,4})(?:/gi(?P<gi>[0-9]{1,3}))?(?:/ci(?P<ci>[0-9]{1,3}))?(?P<replica>/vgpu[0-9]{1,6})?"
        ),
    ),
    # `0.2` and `0-2`: a GPU and its instance, in files that jobs are written to.
    (By.NUMBER, re.compile(r"(?P<name>[0-9]{1,4})[.-](?P<gi>[0-9]{1,3})")),
    (By.NUMBER, re.compile(rf"(?P<name>[0-9]{{1,4}}){_REPLICA}")),
    (By.ONLY, re.compile(r"(?P<name>tegra)")),
)


@lru_cache(maxsize=2048)
def device_name(text: str) -> DeviceName | None:
    """The spelling taken apart; None if it is none of those known. O(its length)."""
    for by, pattern in SPELLINGS:
        found = pattern.fullmatch(text.strip())
        if found is not None:
            parts = found.groupdict()
            gpu_instance, compute_instance = parts.get("gi"), parts.get("ci")
            return DeviceName(
                by=by,
                name=str(int(parts["name"])) if by in {By.NUMBER, By.MINOR} else parts["name"],
                gpu_instance=None if gpu_instance is None else int(gpu_instance),
                compute_instance=None if compute_instance is None else int(compute_instance),
                replica=parts.get("replica") is not None,
            )
    return None


def is_unmistakable(text: str) -> bool:
    """Whether it names an NVIDIA GPU whatever the resource is called: a bare number may be anything."""
    found = device_name(text)
    return found is not None and found.by in {By.UUID, By.MIG_UUID, By.MINOR}
