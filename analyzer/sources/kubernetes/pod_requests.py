"""What a pod asks for, as the scheduler counts it, interned so that equal pods share one `Shape`.

Source: component-helpers `resource.PodRequests`: the larger of (all containers and sidecars) and of each step of the
init containers (that one, and the sidecars started before it), pod-level amounts over them where given, then the
overhead. A limit without a request is the request.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from analyzer.sources.kubernetes.forgetful import Forgetful
from analyzer.sources.kubernetes.objects import Container, PodSpec
from analyzer.sources.kubernetes.objects.pod import Resources
from analyzer.sources.kubernetes.quantities import units

Amounts = tuple[tuple[str, int], ...]

POD_LEVEL_KINDS = ("cpu", "memory", "hugepages-")
"""What may be asked for at pod level, there replacing the sum of the containers."""


class Shape(Struct, frozen=True, eq=False):
    """What one pod takes on a node.

    `each`: (kind, units) sorted by kind, `pods` 1 among them. `limits`: the sums of limits, for quotas. `ports`:
    host ports as resource kinds. `gpus`: cards (and slices of cards).
    """

    each: Amounts
    limits: Amounts
    ports: tuple[str, ...]
    gpus: int


def is_gpu(kind: str) -> bool:
    """Whether units of this extended resource are cards or slices of one; memory, cores and shares of one are not."""
    if "/" not in kind:
        return False
    vendor, _, name = kind.partition("/")
    if name.startswith("mig-"):
        return True
    return name in {"gpu", "gpu.shared", "vgpu", "gaudi", "i915", "xe", "tpu"} and not vendor.startswith("requests")


def _wanted(resources: Resources | None) -> dict[str, int]:
    if resources is None:
        return {}
    asked = resources.requests
    amounts = {kind: units(kind, quantity) for kind, quantity in asked.items()}
    for kind, quantity in resources.limits.items():
        if kind not in asked:
            amounts[kind] = units(kind, quantity)
    return amounts


def _allowed(resources: Resources | None) -> dict[str, int]:
    if resources is None or not resources.limits:
        return {}
    return {kind: units(kind, quantity) for kind, quantity in resources.limits.items()}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for kind, amount in more.items():
        total[kind] = total.get(kind, 0) + amount


def _raise_to(total: dict[str, int], floor: Mapping[str, int]) -> None:
    for kind, amount in floor.items():
        if amount > total.get(kind, 0):
            total[kind] = amount


def _sum_of(containers: Sequence[Container], inits: Sequence[Container], *, limits: bool) -> dict[str, int]:
    amounts_of = _allowed if limits else _wanted
    total: dict[str, int] = {}
    for container in containers:
        _add(total, amounts_of(container.resources))
    sidecars: dict[str, int] = {}
    highest: dict[str, int] = {}
    for init in inits:
        amounts = amounts_of(init.resources)
        if init.restart_policy == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            step = dict(sidecars)
        else:
            step = dict(sidecars)
            _add(step, amounts)
        _raise_to(highest, step)
    _raise_to(total, highest)
    return total


def _ports(spec: PodSpec) -> tuple[str, ...]:
    ports = set()
    # A sidecar keeps its port; an ordinary init container has gone before it matters.
    for container in (*spec.containers, *(init for init in spec.init_containers if init.restart_policy == "Always")):
        for port in container.ports:
            # Two pods may have the same port on different addresses of a node: not modelled, so not counted.
            if port.host_port and port.host_ip in {"", "0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
                ports.add(f"hostport-{(port.protocol or 'TCP').upper()}-{port.host_port}")
    return tuple(sorted(ports))


def shape_of(spec: PodSpec) -> Shape:
    """The effective request of one pod. O(containers x kinds)."""
    inits = spec.init_containers
    wanted = _sum_of(spec.containers, inits, limits=False)
    allowed = _sum_of(spec.containers, inits, limits=True)
    for amounts, total in ((_wanted(spec.resources), wanted), (_allowed(spec.resources), allowed)):
        total.update({kind: n for kind, n in amounts.items() if kind.startswith(POD_LEVEL_KINDS)})
    if spec.overhead:
        overhead = {kind: units(kind, quantity) for kind, quantity in spec.overhead.items()}
        _add(wanted, overhead)
        _add(allowed, {kind: n for kind, n in overhead.items() if kind in allowed})
    wanted["pods"] = 1
    each = tuple(sorted((kind, n) for kind, n in wanted.items() if n > 0))
    return Shape(
        each,
        tuple(sorted((kind, n) for kind, n in allowed.items() if n > 0)),
        _ports(spec),
        sum(n for kind, n in each if is_gpu(kind)),
    )


class Shapes:
    """Equal requests, one object: a hundred thousand pods have a few dozen shapes."""

    def __init__(self) -> None:
        self._by_texts: Forgetful[object, Shape] = Forgetful()
        self._latest: Forgetful[str, tuple[object, Shape]] = Forgetful()
        self._interned: Forgetful[tuple[Amounts, Amounts, tuple[str, ...]], Shape] = Forgetful()

    def of(self, spec: PodSpec, owner: str = "") -> Shape:
        """The shape of this pod. O(1) for a pod of one plain container whose texts were seen before.

        `owner` (an identity, "" for none): its pods are mostly alike, so a pod is first compared with the one before.
        """
        containers = spec.containers
        plain = (
            len(containers) == 1
            and not containers[0].ports
            and not spec.init_containers
            and not spec.overhead
            and spec.resources is None
        )
        asked = containers[0].resources if plain else _all_that_is_asked(spec)
        latest = self._latest.get(owner)
        if latest is not None and latest[0] == asked:
            return latest[1]
        shape = self._of_one(spec) if plain else self._intern(shape_of(spec))
        self._latest[owner] = (asked, shape)
        return shape

    def _of_one(self, spec: PodSpec) -> Shape:
        resources = spec.containers[0].resources
        key: object = None
        if resources is not None:
            asked, limits = resources.requests, resources.limits
            key = (*asked, None, *asked.values(), *limits, None, *limits.values())
        shape = self._by_texts.get(key)
        if shape is None:
            shape = self._by_texts[key] = self._intern(shape_of(spec))
        return shape

    def _intern(self, shape: Shape) -> Shape:
        return self._interned.shared((shape.each, shape.limits, shape.ports), shape)


def _all_that_is_asked(spec: PodSpec) -> object:
    """All of a pod that `shape_of` looks at, to be compared with another pod's."""
    return (
        [(one.resources, one.ports) for one in spec.containers],
        [(one.resources, one.ports, one.restart_policy) for one in spec.init_containers],
        spec.overhead,
        spec.resources,
    )
