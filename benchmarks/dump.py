"""Writes a plan as the files that `kubectl get ... -A -o json` would have written: nodes, pods and so on."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from benchmarks import objects
from benchmarks.plan import GPUS_PER_NODE, Gang, Group, Plan
from benchmarks.pods import Phase, pods_of

OBJECTS_PER_NUMBER = 10  # resource versions grow by this for each pod, so that none is used twice
FIRST_VERSION = 1_000_000


class Form(StrEnum):
    """How the JSON is laid out."""

    COMPACT = "compact"  # one line, as `kubectl get --raw` and most programs write it
    PRETTY = "pretty"  # four spaces, as `kubectl get -o json` writes it; 2.6 times as many bytes


def write_dump(plan: Plan, folder: Path, *, form: Form = Form.COMPACT, managed_fields: bool = False) -> int:
    """Writes one file a kind of thing into the folder; returns the bytes. The same plan gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    owned = (made for index, group in enumerate(plan.groups) for made in objects.owners(group, 500_000 + 4 * index))
    declared = [group for group in plan.groups if group.gang is Gang.POD_GROUP]
    files = {
        "nodes.json": (objects.node(name, pool, index + 1) for index, (name, pool) in enumerate(plan.nodes)),
        "pods.json": _pods(plan, managed_fields=managed_fields),
        "workloads.json": owned,
        "podgroups.json": (objects.pod_group(group, 900_000 + index) for index, group in enumerate(declared)),
        "cluster.json": iter([objects.priority_class()]),
    }
    return sum(_write(folder / name, items, form) for name, items in files.items())


def unschedulable(plan: Plan, group: Group) -> str:
    """What the scheduler says about a pending pod of the group: its pool is full, no other node matches."""
    total = sum(len(nodes) for nodes in plan.pools.values())
    inside = len(plan.pools[group.pool])
    verdict = "No preemption victims found for incoming pod"
    if group.shape.gpus > GPUS_PER_NODE:
        verdict = "Preemption is not helpful for scheduling"
    reasons = [f"{inside} Insufficient nvidia.com/gpu"]
    unhelpful = [f"{inside} {verdict}"]
    if total > inside:
        reasons.append(f"{total - inside} node(s) didn't match Pod's node affinity/selector")
        unhelpful.append(f"{total - inside} Preemption is not helpful for scheduling")
    available = f"0/{total} nodes are available:"
    return f"{available} {', '.join(reasons)}. preemption: {available} {', '.join(unhelpful)}."


def _pods(plan: Plan, *, managed_fields: bool) -> Iterator[objects.Json]:
    version = FIRST_VERSION
    for group in plan.groups:
        message = unschedulable(plan, group) if group.pending else ""
        for member in pods_of(group):
            version += OBJECTS_PER_NUMBER
            said = message if member.phase is Phase.PENDING else ""
            yield objects.pod(group, member, version, said, managed_fields=managed_fields)


def _write(path: Path, items: Iterable[objects.Json], form: Form) -> int:
    """One `List`, item by item: a hundred thousand pods never lie in memory together."""
    pretty = form is Form.PRETTY
    encoder = msgspec.json.Encoder(order="sorted")
    opening, closing = b'{"apiVersion":"v1","items":[', b'],"kind":"List","metadata":{"resourceVersion":""}}\n'
    if pretty:
        opening = b'{\n    "apiVersion": "v1",\n    "items": [\n'
        closing = b'\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
    with path.open("wb") as file:
        file.write(opening)
        for number, item in enumerate(items):
            encoded = encoder.encode(item)
            if pretty:
                encoded = b"        " + msgspec.json.format(encoded, indent=4).replace(b"\n", b"\n        ")
            file.write((b",\n" if pretty else b",") + encoded if number else encoded)
        file.write(closing)
        return file.tell()
