"""What happened before: who lost its holds and had to wait anew, and when a waiting actor last changed.

A *round* is one loss of units followed by a wait without an excuse. It is counted by the actor's name, or by its
lineage where its names do not live on (pods that a controller makes anew). Kept only for those that lost something,
and only inside the livelock window.
"""

from collections import deque
from collections.abc import Mapping

from msgspec import Struct

from analyzer.model.events import ActorGone, ActorObserved, Holds, Losses
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.limits import Limits


class Round(Struct, frozen=True):
    """One loss: when the actor was seen without the units, and which they were (sorted)."""

    at_ns: int
    lost: tuple[ResourceId, ...]


class Rounds(Struct):
    """The rounds of one actor since it last got on. `count` goes on where the oldest ones have been dropped.

    `begun_ns` is when the first of them was lost, be it still kept or not. `pending` is a loss that no wait has
    followed yet. `progress` is the highest mark seen (None: none was ever shown). `actor` is who was seen last. `by`:
    for whom it lost them, as far as it was told.
    """

    kept: deque[Round]
    count: int = 0
    begun_ns: int = 0
    pending: Round | None = None
    progress: int | None = None
    actor: ActorId = ActorId("")
    by: str = ""

    @property
    def last_ns(self) -> int:
        """When something was last lost; for forgetting."""
        if self.pending is not None:
            return self.pending.at_ns
        return self.kept[-1].at_ns if self.kept else 0


class History:
    """Rounds per actor and times of change per waiting actor. Memory: waiting actors + `history_actors_max`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._rounds: dict[str, Rounds] = {}
        self._changed_ns: dict[ActorId, int] = {}

    def observe(self, before: ActorObserved | None, now: ActorObserved) -> None:
        """Compare what an actor was with what it is. Costs a few look-ups unless it waits or has lost something."""
        tracked = self._rounds.get(now.lineage or now.actor)
        if before is not None and before.holds and before.holds is not now.holds:
            lost = _lost(before.holds, now.holds)
            if lost:
                tracked = self._note_loss(before, now.at_ns, lost)
        if tracked is not None:
            tracked.actor = now.actor
            self._advance(tracked, now)
        if now.losses is not None:
            self._take_count(now, now.losses)
        self._note_change(before, now)

    def forget(self, before: ActorObserved | None, gone: ActorGone) -> None:
        """The actor ended: whatever it went through is over. Evicted, it lost what it held, and may come back."""
        self._changed_ns.pop(gone.actor, None)
        if before is not None and before.lineage and gone.evicted:
            if before.holds:
                self._note_loss(before, gone.at_ns, tuple(resource for resource, _ in before.holds))
        else:
            self._rounds.pop(before.lineage or before.actor if before is not None else gone.actor, None)

    def prune(self, now_ns: int) -> None:
        """Drop rounds that left the window, and beyond the limit those whose last loss is oldest."""
        oldest_ns = now_ns - self._limits.livelock_window_ns
        for actor in [actor for actor, rounds in self._rounds.items() if rounds.last_ns < oldest_ns]:
            del self._rounds[actor]
        surplus = len(self._rounds) - self._limits.history_actors_max
        if surplus > 0:
            for actor in sorted(self._rounds, key=lambda actor: (self._rounds[actor].last_ns, actor))[:surplus]:
                del self._rounds[actor]

    def changed_ns(self, actor: ActorId) -> int | None:
        """When the waiting actor's holds or request were last seen to change; None: not since it was first seen."""
        return self._changed_ns.get(actor)

    @property
    def rounds(self) -> Mapping[str, Rounds]:
        """Actors that lost units lately, by lineage or name; in no order."""
        return self._rounds

    def _note_loss(self, before: ActorObserved, at_ns: int, lost: tuple[ResourceId, ...]) -> Rounds:
        key = before.lineage or before.actor
        tracked = self._rounds.get(key)
        if tracked is None:
            tracked = Rounds(kept=deque(maxlen=self._limits.history_rounds_max), progress=before.progress)
            self._rounds[key] = tracked
        tracked.actor = before.actor
        tracked.pending = Round(at_ns, lost)
        return tracked

    def _take_count(self, now: ActorObserved, told: Losses) -> None:
        """Believe the actor's own count where it goes beyond what was seen. Between first and last, times are even."""
        key = now.lineage or now.actor
        if not told.count:
            self._rounds.pop(key, None)
            return
        tracked = self._rounds.get(key)
        if tracked is not None:
            tracked.by = told.by or tracked.by
        if tracked is not None and tracked.count >= told.count:
            return
        if tracked is None:
            tracked = self._rounds[key] = Rounds(kept=deque(maxlen=self._limits.history_rounds_max))
        steps = max(told.count - 1, 1)
        span_ns = told.last_ns - told.first_ns
        newest = range(max(0, told.count - self._limits.history_rounds_max), told.count)
        tracked.kept.clear()
        tracked.kept.extend(Round(told.last_ns - span_ns * (steps - n) // steps, told.resources) for n in newest)
        tracked.count, tracked.begun_ns, tracked.actor, tracked.by = told.count, told.first_ns, now.actor, told.by
        tracked.pending = None
        if now.progress is not None:
            tracked.progress = max(tracked.progress or 0, now.progress)

    def _advance(self, tracked: Rounds, now: ActorObserved) -> None:
        if now.progress is not None:
            if tracked.progress is not None and now.progress > tracked.progress:
                tracked.kept.clear()
                tracked.count = 0
            tracked.progress = now.progress if tracked.progress is None else max(tracked.progress, now.progress)
        if tracked.pending is not None and now.wait is None and now.holds and now.at_ns > tracked.pending.at_ns:
            tracked.pending = None  # it got on without having to wait
        if tracked.pending is not None and now.wait is not None and now.wait.excuse is None:
            if not tracked.count:
                tracked.begun_ns = tracked.pending.at_ns
            tracked.kept.append(tracked.pending)
            tracked.count += 1
            tracked.pending = None

    def _note_change(self, before: ActorObserved | None, now: ActorObserved) -> None:
        if now.wait is None:
            if self._changed_ns:
                self._changed_ns.pop(now.actor, None)
        elif (
            before is not None
            and before.wait is not None
            and (before.holds != now.holds or before.wait.request != now.wait.request)
        ):
            self._changed_ns[now.actor] = now.at_ns


def _lost(before: Holds, now: Holds) -> tuple[ResourceId, ...]:
    """Resources of which less is held now. Both are sorted and name each resource once."""
    if before == now:
        return ()
    held = dict(now)
    return tuple(resource for resource, units in before if held.get(resource, 0) < units)
