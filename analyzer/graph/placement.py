"""Do these pods fit on these nodes, and if not, what is short."""

from collections.abc import Container, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from analyzer.graph.atlas import Atlas
from analyzer.graph.judge import Judge
from analyzer.graph.supply import UNBOUNDED, Levels, RootSupply
from analyzer.model.ids import ActorId, ResourceId, resource_on
from analyzer.model.limits import Limits
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units


class UnitsShort(Struct, frozen=True):
    """So many units of a resource are asked for, so many are free."""

    resource: ResourceId
    count: int
    free: int


class PodsShort(Struct, frozen=True):
    """So many of the pods fit at once. `short` says on how many of the nodes each kind is too little for one pod."""

    pods: Pods
    fits: int
    short: tuple[tuple[str, int], ...]


class Shortage(Struct, frozen=True, kw_only=True):
    """What a request lacks, each part judged for itself, in the order of the request.

    `jointly`: parts that fit one by one do not fit together. Otherwise all empty means that it lacks nothing.
    """

    units: tuple[UnitsShort, ...] = ()
    pods: tuple[PodsShort, ...] = ()
    done: tuple[ActorId, ...] = ()
    arrivals: tuple[Arrivals, ...] = ()
    never: tuple[str, ...] = ()
    jointly: bool = False


Noted = list[UnitsShort] | list[PodsShort] | list[ActorId] | list[Arrivals] | list[str]


def fits(pods: Pods, free: Mapping[ResourceId, int]) -> int:
    """How many pods of this shape fit at once: the sum over nodes of what each could take. O(nodes * kinds)."""
    return _places(pods, _columns(pods, free))


def _columns(pods: Pods, free: Mapping[ResourceId, int]) -> list[tuple[str, int, list[int]]]:
    """Each kind that the pods take units of, with how many, and what is free of it on each of the nodes."""
    nodes, free_of = tuple(dict.fromkeys(pods.among)), free.get
    return [
        (kind, need, [free_of(resource_on(kind, node), 0) for node in nodes]) for kind, need in pods.each if need > 0
    ]


def _places(pods: Pods, columns: Sequence[tuple[str, int, list[int]]]) -> int:
    bound = UNBOUNDED if pods.per_node_max is None else max(0, pods.per_node_max)
    places = [bound] * len(set(pods.among))
    for _, need, column in columns:
        places = list(map(min, places, [units // need for units in column]))
    return sum(count for count in places if count > 0)


def shortage(
    request: Request,
    free: Mapping[ResourceId, int],
    *,
    ended: Container[ActorId] = (),
    arrived: Container[ActorId] = (),
) -> Shortage:
    """What `request` lacks with these free units, these actors ended and these arrived.

    Of a k-of-n that is met nothing is listed, of one that is not, every part that is not. O(parts + nodes * kinds).
    """
    units: list[UnitsShort] = []
    pods: list[PodsShort] = []
    done: list[ActorId] = []
    arrivals: list[Arrivals] = []
    never: list[str] = []

    def met(part: Request) -> bool:
        """Whether the part is met for itself; what its leaves lack is noted, and taken back if it is met after all."""
        match part:
            case Units():
                had = max(0, free.get(part.resource, 0))
                if had < part.count:
                    units.append(UnitsShort(part.resource, part.count, had))
                return had >= part.count
            case Pods():
                columns = _columns(part, free)
                count = _places(part, columns)
                if count < part.count:
                    pods.append(PodsShort(part, count, _short_kinds(columns)))
                return count >= part.count
            case Done():
                if part.actor not in ended:
                    done.append(part.actor)
                return part.actor in ended
            case Arrivals():
                there = sum(1 for peer in part.peers if peer in arrived)
                if there < part.quorum:
                    arrivals.append(part)
                return there >= part.quorum
            case Never():
                never.append(part.why)
                return False
            case KOutOfN():
                noted: tuple[Noted, ...] = (units, pods, done, arrivals, never)
                lengths = [len(each) for each in noted]
                enough = sum(met(each) for each in part.parts) >= part.k
                if enough:
                    for each, length in zip(noted, lengths, strict=True):
                        del each[length:]
                return enough
            case _:
                assert_never(part)

    jointly = met(request) and not _met_together(request, free, ended, arrived)
    return Shortage(
        units=tuple(dict.fromkeys(units)),
        pods=tuple(dict.fromkeys(pods)),
        done=tuple(dict.fromkeys(done)),
        arrivals=tuple(dict.fromkeys(arrivals)),
        never=tuple(dict.fromkeys(never)),
        jointly=jointly,
    )


def _short_kinds(columns: Sequence[tuple[str, int, list[int]]]) -> tuple[tuple[str, int], ...]:
    counted = ((kind, sum(units < need for units in column)) for kind, need, column in columns)
    return tuple((kind, count) for kind, count in counted if count)


def _met_together(
    request: Request, free: Mapping[ResourceId, int], ended: Container[ActorId], arrived: Container[ActorId]
) -> bool:
    supply = RootSupply(free, {}, Atlas(), Levels(()))
    judge = Judge({}, supply, _Without(arrived, ended), Limits())
    return judge.met(request, 0)


class _Without:
    """Those who are pending: everybody but these."""

    def __init__(self, one: Container[ActorId], other: Container[ActorId]) -> None:
        self._one, self._other = one, other

    def __contains__(self, name: object) -> bool:
        return name not in self._one and name not in self._other
