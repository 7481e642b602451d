"""What the graph functions see of the world: a read-only view, implemented by `analyzer.state`."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from analyzer.model.events import ActorObserved
from analyzer.model.ids import ActorId, ResourceId


class System(Protocol):
    """Actors, resources, and three sums over holds that are kept up to date event by event.

    `capacity`: units that exist. `used`: held by anybody. `kept`: held by waiting actors, or by endless ones that
    run; the rest of `used` comes back by itself. So `capacity - used` is free now, and `capacity - kept` is what
    can be had before any waiting actor gets on. A resource that is missing from a map counts 0.
    `preemptible`: the actors behind `kept` whose units a more important waiter may take.
    """

    @property
    def capacity(self) -> Mapping[ResourceId, int]: ...
    @property
    def used(self) -> Mapping[ResourceId, int]: ...
    @property
    def kept(self) -> Mapping[ResourceId, int]: ...
    @property
    def actors(self) -> Mapping[ActorId, ActorObserved]: ...
    @property
    def waiting(self) -> Mapping[ActorId, ActorObserved]: ...
    @property
    def preemptible(self) -> Mapping[ActorId, ActorObserved]: ...
    def holders(self, resource: ResourceId) -> Iterable[tuple[ActorId, int]]:
        """Everybody who holds units of it, sorted by name."""
        ...


class Changes(Struct, frozen=True):
    """What is different since somebody last asked. `everything`: too much to list, look at it all again.

    `actors` has, for each actor that was restated or went, what was known of it before (None: nothing);
    `resources` likewise the units that existed before (0: not known).
    """

    actors: Mapping[ActorId, ActorObserved | None]
    resources: Mapping[ResourceId, int]
    everything: bool = False
