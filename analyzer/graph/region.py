"""One region of the stuck: its verdicts, and whether a change of supply can alter them."""

from bisect import insort
from collections.abc import Iterable

from analyzer.graph.atlas import Atlas, leaves
from analyzer.graph.edges import edges_of_one
from analyzer.graph.regions import Interests
from analyzer.graph.supply import Pool, PoolKey, Supply
from analyzer.graph.waitfor import WaitFor, WaitForGraph
from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Pods


class Gauge:
    """The counts that are compared with one placement, and what it had then. `steady`: no comparison turns out anew."""

    def __init__(self, pool: Pool) -> None:
        self.sample = pool.sample
        self.level = pool.level
        self._total = pool.total
        self._counts: set[int] = set()

    def watch(self, count: int) -> None:
        """Compare with this count."""
        self._counts.add(count)

    def steady(self, supply: Supply) -> bool:
        """Whether each count is met, or not met, as it was."""
        total = supply.pool(self.sample, self.level).total
        low, high = min(total, self._total), max(total, self._total)
        if any(low < count <= high for count in self._counts):
            return False
        self._total = total
        return True


class Region:
    """Some of the stuck, sorted into unsatisfiable, cores and blocked behind; see `cores.Diagnosis`."""

    def __init__(self, names: list[ActorId], interests: Interests) -> None:
        self.names = names
        self.interests = interests
        self.unsatisfiable: list[ActorId] = []
        self.cores: list[tuple[ActorId, ...]] = []
        self.behind: dict[ActorId, tuple[ActorId, ...]] = {}
        self.edges: dict[ActorId, list[WaitFor]] = {}
        self.to_itself: dict[ActorId, list[WaitFor]] = {}
        self.exact = True
        self.graph: WaitForGraph | None = None
        self.gauges: dict[PoolKey, tuple[Gauge, Gauge]] = {}
        self.nodes: set[str] = set()
        self.joint = False

    def forget(self, name: ActorId) -> None:
        """One is gone that held nothing and that nobody waited for: nobody else's verdict changes."""
        self.names.remove(name)
        if self.graph is not None:
            del self.graph.index[name]
        self.edges.pop(name, None)
        if name in self.behind:
            self.unsatisfiable.remove(name)
            del self.behind[name]
        for root, names in self.behind.items():
            if name in names:
                self.behind[root] = tuple(other for other in names if other != name)

    def gauge(self, actor: ActorObserved, supply: Supply, best: Supply, own: Supply | None) -> None:
        """Note what the verdict on this actor was read from. `own`: the best without its own units, if it has any."""
        if actor.wait is None:
            return
        level = supply.levels.reach(actor)
        if own is not None:
            self.nodes.update(supply.atlas.split(resource)[1] for resource, _ in actor.holds)
        if supply.atlas.shares(actor.wait.request):
            self.joint = True
        for leaf in leaves(actor.wait.request):
            if isinstance(leaf, Pods):
                key = supply.key(leaf, level)
                if key not in self.gauges:
                    self.gauges[key] = (Gauge(supply.pool(leaf, level)), Gauge(best.pool(leaf, level)))
                now, then = self.gauges[key]
                now.watch(leaf.count)
                then.watch(leaf.count)
                if own is not None:
                    then.watch(leaf.count + best.pool(leaf, level).total - own.pool(leaf, level).total)

    def reached_by(self, resources: Iterable[ResourceId], supply: Supply, best: Supply) -> bool:
        """Whether more or less of these can alter a verdict here; if not, it is taken note of that they changed."""
        atlas: Atlas = supply.atlas
        touching = [resource for resource in resources if self.interests.touched_by(resource, atlas)]
        if not touching:
            return False
        if self.joint or any(
            name in self.interests.resources or atlas.split(name)[1] in self.nodes for name in touching
        ):
            return True
        return not all(now.steady(supply) and then.steady(best) for now, then in self.gauges.values())

    def add_behind(self, name: ActorId, asked: Interests, each_max: int) -> bool:
        """One more that holds nothing, and for whom nobody waits; false if it needs a fresh look at the region."""
        graph = self.graph
        if graph is None:
            return False
        number = graph.append(name)
        reached = graph.waited_for_by(number)
        insort(self.names, name)
        self.interests.include(asked)
        self.edges[name] = edges_of_one(graph, number, each_max)
        roots = [(name,) for name in self.unsatisfiable] + self.cores
        for group in roots:
            if any(graph.index[member] in reached for member in group):
                self.behind[group[0]] = tuple(sorted((*self.behind[group[0]], name)))
        return True
