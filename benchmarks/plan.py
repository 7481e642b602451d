"""Invents a cluster of a given size in which the truth is known: who is knotted, who can never fit, who merely queues.

The cluster has pools of nodes with 8 GPUs each. `serving` runs endless Deployments. `batch` is full of finite Jobs
and has an ordinary queue in front of it. Each `knot-N` pool is shared by two or three gangs that together want more
nodes than there are, so that none can start, and has its own queue, which is blocked behind them. A few jobs
ask for nodes with 16 GPUs, which do not exist. A plan holds no JSON and no events: `dump.py` writes it as
Kubernetes objects, `journal.py` as engine events, and both must lead to the same findings.
"""

from collections.abc import Iterator
from enum import StrEnum
from random import Random

from msgspec import Struct

from analyzer.model.limits import SECOND_NS

GPUS_PER_NODE = 8
NODE_CPU_MILLI = 96_000
NODE_MEMORY_MI = 1024 * 1024
NODE_PODS = 110
AS_OF_NS = 1_772_445_600 * SECOND_NS  # 2026-03-02T10:00:00Z
HOUR_NS = 3600 * SECOND_NS
BLOCKED_PER_POD = 0.05  # 5,000 blocked actors at 100,000 pods
PODS_PER_NODE = 10
GANG_SHARE = 0.2  # of those who queue
BATCH_FILLS = ((8,), (4, 4), (2, 2, 2, 2), (1,) * 8, (4, 2, 2), (4, 2, 1, 1))


class Owner(StrEnum):
    """The controller that made the pods."""

    DAEMON_SET = "DaemonSet"
    DEPLOYMENT = "Deployment"
    JOB = "Job"


class Gang(StrEnum):
    """How the pods of an owner declare that they start together."""

    NONE = ""
    ANNOTATION = "annotation"
    POD_GROUP = "podgroup"


class Shape(Struct, frozen=True):
    """What one pod asks for."""

    gpus: int
    cpu_milli: int
    memory_mi: int


class Group(Struct, frozen=True, kw_only=True):
    """One owner and its pods: one placed on each of `nodes` (in order), then the pending, then the finished."""

    owner: Owner
    namespace: str
    name: str
    shape: Shape
    pool: str
    nodes: tuple[str, ...] = ()
    pending: int = 0
    finished: int = 0
    gang: Gang = Gang.NONE
    created_ns: int

    @property
    def size(self) -> int:
        """How many pods the owner has."""
        return len(self.nodes) + self.pending + self.finished

    @property
    def waiting_actors(self) -> int:
        """How many actors it adds to those who wait: a gang is one, other pods count each."""
        return min(self.pending, 1) if self.gang else self.pending

    @property
    def gang_name(self) -> str:
        return f"gang/{self.namespace}/{self.name}"


class Knot(Struct, frozen=True):
    """A planted deadlock: the gangs of one pool, and how many actors are blocked behind them."""

    pool: str
    members: tuple[str, ...]
    behind: int


class Plan(Struct, frozen=True, kw_only=True):
    """The whole cluster, and the truth about it. `pools` names the nodes of each pool."""

    pods: int
    seed: int
    pools: dict[str, tuple[str, ...]]
    groups: tuple[Group, ...]
    knots: tuple[Knot, ...]
    misfits: tuple[str, ...]
    queueing: int

    @property
    def nodes(self) -> Iterator[tuple[str, str]]:
        """Every node with its pool."""
        return ((node, pool) for pool, nodes in self.pools.items() for node in nodes)

    @property
    def waiting(self) -> int:
        """How many actors wait for something, stuck or not."""
        return sum(group.waiting_actors for group in self.groups)


def gpu_shape(gpus: int) -> Shape:
    """A pod with so many GPUs and its share of the node's CPU and memory."""
    return Shape(gpus, 8_000 * gpus, 65_536 * gpus)


def make_plan(pods: int, *, seed: int = 1, stuck_share: float = 0.4) -> Plan:
    """A cluster of exactly `pods` pods, a tenth as many nodes and a twentieth as many waiting actors.

    `stuck_share` of the waiting actors can never go on (members of knots, those behind them, misfits); the rest
    queues for finite jobs. Needs at least 200 pods. The same arguments give the same plan.
    """
    if pods < 200:
        msg = f"a plan needs at least 200 pods to hold its knots and queues, not {pods}"
        raise ValueError(msg)
    return _Planner(pods, Random(seed)).plan(seed, stuck_share)


class _Planner:
    """Fills the pools in turn; `groups` grows, and every name is used once."""

    def __init__(self, pods: int, random: Random) -> None:
        self.pods = pods
        self.random = random
        self.groups: list[Group] = []
        self.serial = 0
        self.pools: dict[str, tuple[str, ...]] = {}

    def plan(self, seed: int, stuck_share: float) -> Plan:
        node_count = self.pods // PODS_PER_NODE
        knot_count = max(2, self.pods // 4000)
        knot_nodes = 4 if node_count < 80 else 8 if node_count < 3000 else 16
        serving_nodes = node_count // 5
        self._make_pools(knot_count, knot_nodes, serving_nodes, node_count)
        blocked = int(self.pods * BLOCKED_PER_POD)
        misfit_count = max(1, self.pods // 20_000)
        sizes = [2 + (index % 2) for index in range(knot_count)]
        stuck = max(int(blocked * stuck_share), sum(sizes) + misfit_count)
        behind = _spread(stuck - sum(sizes) - misfit_count, knot_count)
        self._daemons()
        self._serving()
        knots = tuple(self._knot(index, sizes[index], behind[index]) for index in range(knot_count))
        misfits = tuple(self._misfit() for _ in range(misfit_count))
        queueing = blocked - stuck
        eights = self._batch(parts=queueing // 100)
        for node in eights:
            self._group(Owner.JOB, gpu_shape(8), "batch", nodes=(node,), pending=self.random.randint(1, 3), gang=True)
        self._queue("batch", queueing - len(eights))
        self._fill()
        return Plan(
            pods=self.pods,
            seed=seed,
            pools=self.pools,
            groups=tuple(self.groups),
            knots=knots,
            misfits=misfits,
            queueing=queueing,
        )

    def _make_pools(self, knot_count: int, knot_nodes: int, serving_nodes: int, node_count: int) -> None:
        sizes = {f"knot-{index}": knot_nodes for index in range(knot_count)} | {"serving": serving_nodes}
        sizes["batch"] = node_count - sum(sizes.values())
        serial = 0
        for pool, size in sizes.items():
            self.pools[pool] = tuple(f"gpu-{serial + index:05d}" for index in range(size))
            serial += size

    def _group(
        self,
        owner: Owner,
        shape: Shape,
        pool: str,
        *,
        nodes: tuple[str, ...] = (),
        pending: int = 0,
        finished: int = 0,
        gang: bool = False,
        team: str = "",
    ) -> Group:
        self.serial += 1
        form = (Gang.ANNOTATION, Gang.ANNOTATION, Gang.POD_GROUP)[self.serial % 3] if gang else Gang.NONE
        hours = self.random.uniform(0.2, 2) if pending else self.random.uniform(2, 72)
        group = Group(
            owner=owner,
            namespace=team or f"team-{self.random.randrange(max(4, min(60, self.pods // 500))):02d}",
            name=f"{pool.partition('-')[0] or 'agent'}-{owner.value.lower()}-{self.serial}",
            shape=shape,
            pool=pool,
            nodes=nodes,
            pending=pending,
            finished=finished,
            gang=form,
            created_ns=AS_OF_NS - int(hours * 3600) * SECOND_NS,
        )
        self.groups.append(group)
        return group

    def _daemons(self) -> None:
        every = tuple(node for nodes in self.pools.values() for node in nodes)
        for milli in (100, 150, 200):
            self._group(Owner.DAEMON_SET, Shape(0, milli, milli), "", nodes=every, team="monitoring")

    def _serving(self) -> None:
        slots = [node for node in self.pools["serving"] for _ in range(GPUS_PER_NODE)]
        self.random.shuffle(slots)
        for nodes in _chunks(self.random, slots, 40):
            self._group(Owner.DEPLOYMENT, gpu_shape(1), "serving", nodes=nodes)

    def _knot(self, index: int, members: int, behind: int) -> Knot:
        pool = f"knot-{index}"
        nodes = list(self.pools[pool])
        self.random.shuffle(nodes)
        cuts = sorted(self.random.sample(range(1, len(nodes)), members - 1))
        shares = [nodes[start:end] for start, end in zip([0, *cuts], [*cuts, len(nodes)], strict=True)]
        gangs = [
            self._group(
                Owner.JOB, gpu_shape(8), pool, nodes=tuple(share), pending=len(nodes) - len(share), gang=True
            ).gang_name
            for share in shares
        ]
        self._queue(pool, behind)
        return Knot(pool, tuple(sorted(gangs)), behind)

    def _misfit(self) -> str:
        return self._group(Owner.JOB, gpu_shape(16), "batch", pending=self.random.randint(2, 4), gang=True).gang_name

    def _queue(self, pool: str, actors: int) -> None:
        """Adds so many waiting actors that hold nothing: gangs, and pods of plain Jobs."""
        while actors > 0:
            gang = self.random.random() < GANG_SHARE
            pending = self.random.randint(2, 8) if gang else min(actors, self.random.randint(1, 16))
            shape = gpu_shape(8 if gang else self.random.choice((1, 2, 4, 8)))
            actors -= self._group(Owner.JOB, shape, pool, pending=pending, gang=gang).waiting_actors

    def _batch(self, parts: int) -> list[str]:
        """Fills every GPU of the pool with finite jobs; returns whole nodes for `parts` half-placed gangs."""
        slots: dict[int, list[str]] = {1: [], 2: [], 4: [], 8: []}
        for index, node in enumerate(self.pools["batch"]):
            for gpus in BATCH_FILLS[index % len(BATCH_FILLS)]:
                slots[gpus].append(node)
        kept, slots[8] = slots[8][:parts], slots[8][parts:]
        for gpus, nodes in slots.items():
            self.random.shuffle(nodes)
            for chunk in _chunks(self.random, nodes, 32):
                self._group(Owner.JOB, gpu_shape(gpus), "batch", nodes=chunk, gang=gpus == GPUS_PER_NODE)
        return kept

    def _fill(self) -> None:
        """Tops up to the exact number of pods with finite CPU jobs and finished pods."""
        left = self.pods - sum(group.size for group in self.groups)
        finished = max(0, left) // 6
        nodes = [self.random.choice(self.pools["batch"]) for _ in range(max(0, left) - finished)]
        for chunk in _chunks(self.random, nodes, 32):
            self._group(Owner.JOB, Shape(0, 500, 1024), "batch", nodes=chunk)
        for chunk in _chunks(self.random, [""] * finished, 32):
            self._group(Owner.JOB, gpu_shape(1), "batch", finished=len(chunk))


def _chunks(random: Random, slots: list[str], most: int) -> Iterator[tuple[str, ...]]:
    start = 0
    while start < len(slots):
        end = start + random.randint(1, most)
        yield tuple(slots[start:end])
        start = end


def _spread(total: int, shares: int) -> list[int]:
    return [total // shares + (index < total % shares) for index in range(shares)]
