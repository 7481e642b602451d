"""Row 1: a folder of Kubernetes JSON from bytes to findings, against bare decoding of the same bytes.

The yardstick has the bytes in memory and decodes each file whole, in one msgspec call, into the very structs that the
source uses. The replay has a folder: it reads the files, finds out what each is, decodes, translates, evaluates, and
makes the whole report with its sentences and lines, up to the value that a sink writes. `as kubectl prints`: four
spaces of indentation; `compact`: one line a file.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from analyzer.run import replay
from analyzer.sources.kubernetes.objects import (
    Custom,
    DaemonSet,
    Deployment,
    Job,
    Node,
    Pod,
    PriorityClass,
    ReplicaSet,
)
from benchmarks import truth
from benchmarks.dump import Form
from benchmarks.dumps import dump_of
from benchmarks.plan import Plan
from benchmarks.ratio import Prepared, compare
from benchmarks.rows import Figure, Row, Scale, figure, pods_text

BAR = 2.0


class Nodes(Struct):
    """`nodes.json`."""

    items: list[Node]


class AllPods(Struct):
    """`pods.json`."""

    items: list[Pod]


class Workloads(Struct):
    """`workloads.json`."""

    items: list[DaemonSet | Deployment | ReplicaSet | Job]


class Groups(Struct):
    """`podgroups.json`."""

    items: list[Custom]


class Classes(Struct):
    """`cluster.json`."""

    items: list[PriorityClass]


LISTS: dict[str, type[Struct]] = {
    "nodes.json": Nodes,
    "pods.json": AllPods,
    "workloads.json": Workloads,
    "podgroups.json": Groups,
    "cluster.json": Classes,
}


def decoding(folder: Path) -> Prepared:
    """The yardstick: all objects live until the last is there, as a program that decodes first would have them."""
    contents = [((folder / name).read_bytes(), msgspec.json.Decoder(of)) for name, of in LISTS.items()]
    return lambda: lambda: [decoder.decode(content) for content, decoder in contents]


def replaying(folder: Path) -> Prepared:
    """The subject."""
    return lambda: lambda: replay([str(folder)])


def measure(scale: Scale) -> Sequence[Figure]:
    """Every size, in both layouts."""
    figures = []
    for pods in scale.sizes:
        for form, words in ((Form.PRETTY, "as kubectl prints"), (Form.COMPACT, "compact")):
            plan, folder = dump_of(scale, pods, form)
            prove(plan, folder)
            runs = scale.runs * (4 if pods < scale.largest else 1)
            against = compare(replaying(folder), decoding(folder), runs)
            figures.append(figure(f"{pods_text(pods)}, {words}", against, BAR))
    return figures


def prove(plan: Plan, folder: Path) -> None:
    """The replay of the dump finds what was planted."""
    report = replay([str(folder)]).report
    answer = [
        truth.Found(one.verdict, heart(one.members, one.root), len(one.blocked_behind)) for one in report.findings
    ]
    truth.check(plan, answer, len(report.waiting))


def heart(members: Sequence[str], root: str | None) -> tuple[str, ...]:
    """Members, or the root of a finding that has none."""
    return tuple(members) or (root or "",)


ROW = Row(
    command="replay",
    what="replay of Kubernetes JSON (bytes to findings)",
    yardstick="bare msgspec decode of the same bytes into the same structs",
    bar="2x",
    measure=measure,
)
