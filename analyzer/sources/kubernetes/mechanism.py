"""The contract of a mechanism: what it is shown, and what it may say.

Level-triggered like all else: `look` says everything that holds now, and the cluster finds out what of it is different.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from analyzer.model.events import Certainty, Citation, Excuse, Holds, Losses, Remarked, Wait
from analyzer.model.ids import ResourceId
from analyzer.model.requests import Request
from analyzer.sources.kubernetes.actors import Built
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.store import Store


class Burden(Struct, frozen=True, kw_only=True):
    """What a mechanism lays on a pod, and so on the pod's gang.

    `holds`: what it has beside its node and volumes. `wait`: of a pod that has its node, why it does not start or get
    on all the same. `needs`: of a pod without a node, what it needs beside a place. `instead`: what would do as
    well as all that. `excuse`: of a pod without a node, why it is no ground for a verdict now. `renewed`:
    made to go, it comes back as another, so that helps although its controller makes it anew. `losses`: rounds in which
    it, or what it came in place of, lost what it had. `overdue`: of a pod that was never tried, that it ought to have
    been, so that this is no excuse. Waits of several mechanisms must all be met.
    """

    holds: Holds = ()
    wait: Wait | None = None
    needs: Request | None = None
    instead: Request | None = None
    excuse: Excuse | None = None
    renewed: bool = False
    losses: Losses | None = None
    overdue: bool = False
    certainty: Certainty = Certainty.PROVEN
    citations: tuple[Citation, ...] = ()


UNBURDENED = Burden()


class Look(Struct, frozen=True, kw_only=True):
    """All that a mechanism has to say at a moment. What it no longer says is over.

    `actors`: those that are no pods and no gangs, each named once. `burdens`: by pod (`namespace/name`); of pods that
    are not there they are left aside. `units`: how many exist of resources that the mechanism alone states.
    `remarks`: sentences beside all findings.
    """

    actors: tuple[Built, ...] = ()
    burdens: Mapping[str, Burden] = MappingProxyType({})
    units: Mapping[ResourceId, tuple[int, tuple[Citation, ...]]] = MappingProxyType({})
    remarks: tuple[Remarked, ...] = ()


NOTHING = Look()


class Mechanism(Protocol):
    """One way to get stuck; to inherit from it saves the methods that it does not need.

    `kinds` names what `take` is shown: `Event`, `Lease`, `Workflow.argoproj.io` (kind, and group where the kind has no
    struct of its own), `BEING_DELETED` for whatever is. Pods are shown to `see` as long as anything about them is out
    of the ordinary (they do not run, are not ready, are in a gang, have volumes, leave), and once more when that is
    over.
    """

    kinds: frozenset[str]

    @property
    def awake(self) -> bool:
        """Whether it has anything to look at. Asleep it costs nothing; falling asleep, it is asked once more."""
        ...

    def take(self, seen: Seen) -> None:
        """An object of one of its kinds, as it is now. O(1)."""
        del seen

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:
        """A pod as it is now. O(the pod)."""
        del pod, record, gone

    def hear(self, said: LogStatement) -> None:
        """A line of a scheduler's log. O(1)."""
        del said

    def look(self, store: Store, now_ns: int) -> Look:
        """All that holds now. Called before pods and gangs are looked at; costs what it knows of, not the cluster."""
        ...
