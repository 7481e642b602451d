"""Random clusters, from kubectl's JSON to the verdict, against an oracle that is slow, obvious and shares no code.

Pods are placed in random order wherever one fits, as a scheduler without gangs would; what does not fit pends, and the
scheduler's words are true. So every picture can have happened.
"""

import json
import random
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from msgspec import Struct

from tests.kubernetes.scenarios.incident import Incident
from tests.replay.reports import report_of, run_replay

SEEDS_A_TEST = 40


class Workload(Struct):
    """Some pods of `cards` each on nodes of `among`: a gang of at least `minimum`, a plain Job or a service."""

    name: str
    kind: str
    cards: int
    count: int
    minimum: int
    among: list[str]
    on: list[str]


class Actor(Struct):
    """What the oracle knows of one: units held by node, pods lacked, and whether it gives back."""

    name: str
    holds: dict[str, int]
    lacks: int
    cards: int
    among: list[str]
    endless: bool


def _workloads(rng: random.Random, nodes: dict[str, int]) -> list[Workload]:
    made = []
    for number in range(rng.randint(2, 6)):
        kind = rng.choice(["gang", "gang", "gang", "job", "service"])
        count = rng.randint(1, 4)
        minimum = count if rng.random() < 0.7 else rng.randint(1, count)
        among = sorted(rng.sample(list(nodes), rng.randint(1, len(nodes)))) if rng.random() < 0.3 else list(nodes)
        cards = rng.choice([1, 2, 4, 4, 8])
        name = f"{rng.choice(['red', 'blue'])}/w{number}"
        made.append(Workload(name, kind, cards, count, minimum, among, []))
    free = dict(nodes)
    order = [workload for workload in made for _ in range(workload.count)]
    rng.shuffle(order)
    for workload in order:
        fitting = [node for node in workload.among if free[node] >= workload.cards]
        if fitting:
            node = rng.choice(fitting)
            free[node] -= workload.cards
            workload.on.append(node)
    return made


def _text(nodes: dict[str, int], workloads: list[Workload], rng: random.Random) -> str:
    lines = []
    for node, cards in nodes.items():
        labels = " ".join(f"label:for-{w.name.replace('/', '-')}=yes" for w in workloads if node in w.among)
        lines.append(f"node {node} gpu={cards} {labels}")
    for w in workloads:
        elsewhere = len(nodes) - len(w.among)
        says = f"{len(w.among)} Insufficient nvidia.com/gpu"
        says += f", {elsewhere} node(s) didn't match Pod's node affinity/selector" if elsewhere else ""
        shape = f"gpu={w.cards} cpu=10m mem=1Mi select:for-{w.name.replace('/', '-')}=yes"
        places = f'on={",".join(w.on)} pending={w.count - len(w.on)} says="{says}"'
        short = w.name.partition("/")[2]
        if w.kind == "service":
            lines.append(f"deployment {w.name} replicas={w.count} {shape}")
            lines.append(f"1s replicaset {w.name}-1a2b of=Deployment/{short} replicas={w.count} {shape} {places}")
            continue
        mark = ""
        if w.kind == "gang":
            form = rng.choice(["own", "native", "x-k8s", "volcano"])
            mark = f"ann:knotwatch.dev/min-available={w.minimum}" if form == "own" else f"group={form}:{short}"
            lines += [] if form == "own" else [f"podgroup {w.name} form={form} min={w.minimum}"]
        lines.append(f"1s job {w.name} pods={w.count} {'indexed ' if mark else ''}{shape} {mark} {places}")
    return "\n".join([*lines, "end 30m", ""])


def _actors(workloads: list[Workload]) -> list[Actor]:
    made = []
    for w in workloads:
        if w.kind == "gang":
            holds: dict[str, int] = {}
            for node in w.on:
                holds[node] = holds.get(node, 0) + w.cards
            lacks = max(0, w.minimum - len(w.on))
            made.append(Actor(f"gang/{w.name}", holds, lacks, w.cards, w.among, endless=False))
            continue
        for number in range(w.count):  # each pod for itself
            held = {w.on[number]: w.cards} if number < len(w.on) else {}
            pod = f"pod/{w.name}-*#{number}"
            made.append(Actor(pod, held, 0 if held else 1, w.cards, w.among, endless=w.kind == "service"))
    return made


def _stuck(nodes: dict[str, int], actors: list[Actor]) -> list[str]:
    """Let go on whoever can, until nobody else can. Who is left is stuck."""
    free = dict(nodes)
    for actor in actors:
        for node, cards in actor.holds.items():
            free[node] -= cards
    left = list(actors)
    moved = True
    while moved:
        moved = False
        for actor in list(left):
            if sum(free[node] // actor.cards for node in actor.among) >= actor.lacks:
                left.remove(actor)
                moved = True
                for node, cards in actor.holds.items():
                    free[node] += 0 if actor.endless else cards
    return sorted(actor.name.partition("#")[0] for actor in left)


def _cluster(seed: int) -> tuple[dict[str, int], list[Workload], str]:
    rng = random.Random(seed)  # noqa: S311 - the same clusters in every run
    nodes = {f"n{number}": rng.choice([4, 8, 8]) for number in range(rng.randint(2, 5))}
    workloads = _workloads(rng, nodes)
    return nodes, workloads, _text(nodes, workloads, rng)


@pytest.mark.parametrize("first", range(0, 5 * SEEDS_A_TEST, SEEDS_A_TEST))
def test_exactly_the_stuck_are_named(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + SEEDS_A_TEST):
        nodes, workloads, text = _cluster(seed)
        report = report_of([Incident(text).write(tmp_path / str(seed))])
        named = set()
        for finding in report["findings"]:
            named |= {*finding["members"], *finding["blocked_behind"], *([finding["root"]] if finding["root"] else [])}
        truth = _stuck(nodes, _actors(workloads))
        patterns = set(truth)
        stray = [name for name in named if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        counts = {p: sum(fnmatchcase(name, p) for name in named) for p in patterns}
        assert stray == [], (seed, text)
        assert counts == {pattern: truth.count(pattern) for pattern in patterns}, (seed, text)
        assert report["remarks"] == [], (seed, text)


def test_the_clusters_are_worth_it() -> None:
    """Both kinds are drawn often enough to prove something."""
    loud = sum(bool(_stuck(nodes, _actors(workloads))) for nodes, workloads, _ in map(_cluster, range(200)))
    assert 40 < loud < 180


def test_stopping_the_proposed_one_does_what_was_promised(tmp_path: Path) -> None:
    tried = 0
    for seed in range(400):
        nodes, workloads, text = _cluster(seed)
        actors = _actors(workloads)
        if len(_stuck(nodes, [actor for actor in actors if actor.name.startswith("gang/")])) < 2:
            continue
        report = json.loads(run_replay([Incident(text).write(tmp_path / str(seed))]).stdout)
        for action in (action for finding in report["findings"] for action in finding["actions"]):
            rest = [actor for actor in actors if not fnmatchcase(action["actor"], actor.name.partition("#")[0])]
            if len(rest) != len(actors) - 1:
                continue  # one of several pods alike: the oracle cannot tell which
            after = _stuck(nodes, rest)
            broken = [name for name in action["then_runs"] if name.startswith("gang/") and name in after]
            assert broken == [], (seed, action)
            tried += 1
    assert tried >= 20
