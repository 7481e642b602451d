"""Quota as a resource: what each pod books, who was refused, and what is booked without a pod.

A pod books from the moment it exists, bound or not, until it has finished. A quota whose scopes are not understood is
left out: its units are then nobody's, and nobody waits for them.
"""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.model.ids import ResourceId
from analyzer.sources.kubernetes.messages import Refusal
from analyzer.sources.kubernetes.objects import ResourceQuota
from analyzer.sources.kubernetes.pod_requests import Shape
from analyzer.sources.kubernetes.quantities import units

Booked = tuple[tuple[ResourceId, int], ...]


class Scoped(Struct, frozen=True):
    """What of a pod decides whether a quota counts it."""

    shape: Shape
    ends: bool
    priority_class: str


class Quota(Struct, frozen=True, kw_only=True):
    """One ResourceQuota: hard limits and bookings of the resources that pods take, in units."""

    namespace: str
    name: str
    hard: tuple[tuple[str, int], ...]
    used: tuple[tuple[str, int], ...]
    scopes: tuple[str, ...]
    classes: tuple[tuple[str, tuple[str, ...]], ...]
    understood: bool
    citation: Citation

    def resource(self, counted: str) -> ResourceId:
        return ResourceId(f"quota/{self.namespace}/{self.name}/{counted}")


_PLAIN = ("cpu", "memory", "ephemeral-storage")
_SIMPLE_SCOPES = frozenset({"Terminating", "NotTerminating", "BestEffort", "NotBestEffort"})


def _of_pods(counted: str) -> bool:
    if counted in {"pods", "count/pods", *_PLAIN}:
        return True
    return counted.startswith(("requests.", "limits.", "hugepages-")) and counted != "requests.storage"


def quota_of(thing: ResourceQuota, citation: Citation) -> Quota:
    """The record of a ResourceQuota."""
    scopes = list(thing.spec.scopes)
    classes = []
    understood = True
    for requirement in thing.spec.scope_selector.match_expressions if thing.spec.scope_selector is not None else ():
        if requirement.scope_name == "PriorityClass":
            classes.append((requirement.operator, requirement.values))
        elif requirement.operator in {"", "Exists"}:
            scopes.append(requirement.scope_name)
        else:
            understood = False
    hard = thing.spec.hard or thing.status.hard
    return Quota(
        namespace=thing.metadata.namespace or "default",
        name=thing.metadata.name,
        hard=tuple(sorted((counted, units(counted, value)) for counted, value in hard.items() if _of_pods(counted))),
        used=tuple(
            sorted(
                (counted, units(counted, value)) for counted, value in thing.status.used.items() if _of_pods(counted)
            )
        ),
        scopes=tuple(scopes),
        classes=tuple(classes),
        understood=understood and set(scopes) <= _SIMPLE_SCOPES,
        citation=citation,
    )


def quota_by_refusal(namespace: str, words: Refusal, citation: Citation) -> Quota:
    """A quota that was not handed over, as the words of a refusal have it: what it allows and what it counts."""
    return Quota(
        namespace=namespace,
        name=words.quota,
        hard=tuple((counted, units(counted, value)) for counted, value in words.limited),
        used=tuple((counted, units(counted, value)) for counted, value in words.used),
        scopes=(),
        classes=(),
        understood=True,
        citation=citation,
    )


def _amount(counted: str, shape: Shape) -> int:
    if counted in {"pods", "count/pods"}:
        return 1
    if counted.startswith("limits."):
        return dict(shape.limits).get(counted.removeprefix("limits."), 0)
    return dict(shape.each).get(counted.removeprefix("requests."), 0)


def _in_class(operator: str, values: tuple[str, ...], have: str) -> bool:
    match operator:
        case "In":
            return have in values
        case "NotIn":
            return have not in values
        case "Exists" | "":
            return bool(have)
        case "DoesNotExist":
            return not have
        case _:
            return False


def counts(quota: Quota, pod: Scoped) -> bool:
    """Whether the quota counts this pod."""
    if not quota.understood:
        return False
    best_effort = not any(kind in {"cpu", "memory"} for kind, _ in (*pod.shape.each, *pod.shape.limits))
    holds = {
        "Terminating": pod.ends,
        "NotTerminating": not pod.ends,
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
    }
    return all(holds[scope] for scope in quota.scopes) and all(
        _in_class(operator, values, pod.priority_class) for operator, values in quota.classes
    )


class Quotas:
    """All quotas by namespace, with the bookings of each kind of pod (cached)."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[str, Quota]] = {}
        self._booked: dict[tuple[str, Shape, bool, str], Booked] = {}

    def put(self, quota: Quota) -> bool:
        """Take the quota as it is now; whether its limits or scopes (not merely its bookings) are different."""
        known = self._by_namespace.setdefault(quota.namespace, {})
        before = known.get(quota.name)
        known[quota.name] = quota
        same = before is not None and (before.hard, before.scopes, before.classes) == (
            quota.hard,
            quota.scopes,
            quota.classes,
        )
        if not same:
            self._booked.clear()
        return not same

    def drop(self, namespace: str, name: str) -> Quota | None:
        """The quota is gone."""
        self._booked.clear()
        return self._by_namespace.get(namespace, {}).pop(name, None)

    def limits(self, namespace: str) -> bool:
        """Whether the namespace has a quota at all. O(1)."""
        return bool(self._by_namespace.get(namespace))

    def of(self, namespace: str) -> Iterable[Quota]:
        """The quotas of a namespace, sorted by name."""
        known = self._by_namespace.get(namespace)
        return () if not known else tuple(known[name] for name in sorted(known))

    def find(self, namespace: str, name: str) -> Quota | None:
        return self._by_namespace.get(namespace, {}).get(name)

    def all(self) -> Iterable[Quota]:
        """Every quota, sorted."""
        return tuple(quota for namespace in sorted(self._by_namespace) for quota in self.of(namespace))

    def booked(self, namespace: str, pod: Scoped) -> Booked:
        """What a pod like this books, sorted by resource. O(1) for all but the first of a kind."""
        key = (namespace, pod.shape, pod.ends, pod.priority_class)
        found = self._booked.get(key)
        if found is None:
            found = self._booked[key] = tuple(
                sorted(
                    (quota.resource(counted), amount)
                    for quota in self.of(namespace)
                    if counts(quota, pod)
                    for counted, _ in quota.hard
                    if (amount := _amount(counted, pod.shape))
                )
            )
        return found
