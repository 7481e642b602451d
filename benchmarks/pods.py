"""The pods of one group of a plan, by name: what both renderings (Kubernetes objects, engine events) walk."""

from collections.abc import Iterator
from enum import StrEnum
from random import Random
from uuid import UUID

from msgspec import Struct

from benchmarks.plan import Group, Owner

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # those that Kubernetes uses


class Phase(StrEnum):
    """Where a pod is in its life."""

    RUNNING = "Running"
    PENDING = "Pending"
    SUCCEEDED = "Succeeded"


class Pod(Struct, frozen=True):
    """One pod: its place in the group, its name, and the node it is bound to ("" while it waits)."""

    index: int
    name: str
    node: str
    phase: Phase
    uid: str


def pods_of(group: Group) -> Iterator[Pod]:
    """The pods in order: placed, pending, finished. The same group always has the same names."""
    random = Random(f"{group.namespace}/{group.name}")
    stem = group.name if group.owner is not Owner.DEPLOYMENT else f"{group.name}-{template_hash(group)}"
    for index in range(group.size):
        suffix = "".join(random.choices(SUFFIX_LETTERS, k=5))
        name = f"{stem}-{index}-{suffix}" if group.gang else f"{stem}-{suffix}"
        uid = str(UUID(int=random.getrandbits(128), version=4))
        if index < len(group.nodes):
            yield Pod(index, name, group.nodes[index], Phase.RUNNING, uid)
        elif index < len(group.nodes) + group.pending:
            yield Pod(index, name, "", Phase.PENDING, uid)
        else:
            yield Pod(index, name, f"gpu-{random.randrange(10):05d}", Phase.SUCCEEDED, uid)


def owner_uid(group: Group) -> str:
    """The UID of the object that made the pods."""
    return str(UUID(int=Random(f"owner {group.namespace}/{group.name}").getrandbits(128), version=4))


def template_hash(group: Group) -> str:
    """What a Deployment's only ReplicaSet has after the Deployment's name."""
    return "".join(Random(f"template {group.namespace}/{group.name}").choices(SUFFIX_LETTERS, k=10))
