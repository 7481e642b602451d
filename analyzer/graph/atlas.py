"""Names split once: which kind of unit lies on which node, and the nodes of a request by position."""

from analyzer.model.ids import ResourceId, kind_of, place_of, resource_on
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units


class Layout:
    """The candidate nodes of a placement. Requests with equal `among` share one, so its lists are built once."""

    __slots__ = ("_resources", "nodes", "positions")

    def __init__(self, nodes: tuple[str, ...]) -> None:
        self.nodes = tuple(dict.fromkeys(nodes))
        self.positions = {node: position for position, node in enumerate(self.nodes)}
        self._resources: dict[str, list[ResourceId]] = {}

    def resources(self, kind: str) -> list[ResourceId]:
        """The resource of this kind on each node, in the order of `nodes`."""
        found = self._resources.get(kind)
        if found is None:
            found = self._resources[kind] = [resource_on(kind, node) for node in self.nodes]
        return found


class Atlas:
    """What is only derived from names and requests, kept so that it is derived once.

    Sources intern `among`: thousands of requests share one tuple of ten thousand names. It is looked up by identity
    first, since hashing it each time would cost as much as the fixed point. All keys are kept alive.
    """

    def __init__(self) -> None:
        self._layouts: dict[int, Layout] = {}
        self._layouts_by_value: dict[tuple[str, ...], Layout] = {}
        self._splits: dict[ResourceId, tuple[str, str]] = {}
        self._shared: dict[int, bool] = {}
        self._alive: list[object] = []

    def layout(self, among: tuple[str, ...]) -> Layout:
        """The layout of these nodes."""
        found = self._layouts.get(id(among))
        if found is None:
            found = self._layouts_by_value.get(among)
            if found is None:
                found = self._layouts_by_value[among] = Layout(among)
            self._layouts[id(among)] = found
            self._alive.append(among)
        return found

    def split(self, resource: ResourceId) -> tuple[str, str]:
        """Kind and place of a resource."""
        found = self._splits.get(resource)
        if found is None:
            found = self._splits[resource] = (kind_of(resource), place_of(resource))
        return found

    def shares(self, request: Request) -> bool:
        """Whether two parts of the request might need the same units, so that they must be judged jointly.

        Errs towards yes: pods are compared by kinds alone.
        """
        if not isinstance(request, KOutOfN):
            return False
        found = self._shared.get(id(request))
        if found is None:
            found = self._shared[id(request)] = self._find_shared(request)
            self._alive.append(request)
        return found

    def _find_shared(self, request: Request) -> bool:
        resources: set[ResourceId] = set()
        unit_kinds: set[str] = set()
        pod_kinds: set[str] = set()
        for leaf in leaves(request):
            if isinstance(leaf, Units):
                kind = self.split(leaf.resource)[0]
                if leaf.resource in resources or kind in pod_kinds:
                    return True
                resources.add(leaf.resource)
                unit_kinds.add(kind)
            elif isinstance(leaf, Pods):
                kinds = {kind for kind, _ in leaf.each}
                if kinds & pod_kinds or kinds & unit_kinds:
                    return True
                pod_kinds |= kinds
        return False


def leaves(request: Request) -> list[Units | Pods | Done | Arrivals | Never]:
    """The parts of a request that are not themselves made of parts, in order."""
    found: list[Units | Pods | Done | Arrivals | Never] = []
    todo: list[Request] = [request]
    while todo:
        part = todo.pop()
        if isinstance(part, KOutOfN):
            todo.extend(reversed(part.parts))
        else:
            found.append(part)
    return found
