"""The chain of reasons for one actor, down to who must end or what is missing."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from analyzer.explain import dead_end, ring, words
from analyzer.explain.ever import Prospects
from analyzer.explain.needs import needs
from analyzer.explain.queue import Queue
from analyzer.model.events import ActorObserved, ExcuseKind, Lifetime, Wait
from analyzer.model.findings import Edge, Hardness
from analyzer.model.ids import ActorId
from analyzer.model.requests import Never
from analyzer.state.view import View

REASONS_MAX = 8
"""Reasons told side by side; the rest is a number."""


class Progress(StrEnum):
    """How the actor stands."""

    UNKNOWN = "unknown"
    RUNS = "runs"
    WAITS = "waits"
    STUCK = "stuck"


class Reason(Struct, frozen=True):
    """One step down: a sentence about `actor` (None: about units), and what lies behind it."""

    text: str
    actor: ActorId | None = None
    because: "tuple[Reason, ...]" = ()


class Why(Struct, frozen=True, kw_only=True):
    """The answer: one sentence, and the reasons below it."""

    actor: ActorId
    progress: Progress
    answer: str
    reasons: tuple[Reason, ...] = ()


def why(view: View, actor: ActorId) -> Why:
    """Why this actor does not go on. Names must be exact; each actor on the way is explained once."""
    state = view.system.actors.get(actor)
    if state is None:
        return Why(actor=actor, progress=Progress.UNKNOWN, answer=f"{actor} is not in this input.")
    if state.wait is None:
        answer = f"{actor} does not wait: it holds {words.held(state.holds)}{_lifetime(state)}."
        return Why(actor=actor, progress=Progress.RUNS, answer=answer)
    chain = _Chain(view)
    since = words.span(view.now_ns - state.wait.since_ns)
    waits = f"{actor} has waited {since} for {needs(state.wait.request, actor)}"
    if actor not in view.stuck:
        now = state.wait.excuse is None and not chain.firsts(state)
        return Why(
            actor=actor,
            progress=Progress.WAITS,
            answer=f"{waits}, and {_outlook(state.wait, now=now)}.",
            reasons=tuple(chain.below(state, 0)),
        )
    return Why(
        actor=actor,
        progress=Progress.STUCK,
        answer=f"{waits}, and can never go on{_part(view, actor)}.",
        reasons=tuple(chain.below(state, 0)),
    )


class _Chain:
    """Walks down from one actor and remembers whom it has explained."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._queue = Queue(view)
        self._prospects = Prospects(view)
        self._told: set[ActorId] = set()
        self._path: list[ActorId] = []
        self._knots = {member: core[0] for core in view.diagnosis.cores for member in core}

    def firsts(self, actor: ActorObserved) -> tuple[ActorId, ...]:
        return self._queue.first_to_finish(actor)

    def below(self, actor: ActorObserved, depth: int) -> Iterator[Reason]:
        """What lies behind this actor's wait: the reasons, at most so many side by side."""
        self._told.add(actor.actor)
        self._path.append(actor.actor)
        reasons = self._stuck(actor, depth) if actor.actor in self._view.stuck else self._waits(actor, depth)
        for position, reason in enumerate(reasons):
            if position == REASONS_MAX:
                yield Reason("and more of the same kind")
                break
            yield reason
        self._path.pop()

    def _stuck(self, actor: ActorObserved, depth: int) -> Iterator[Reason]:
        if actor.actor in self._view.diagnosis.unsatisfiable:
            for reason in dead_end.reasons(self._view, actor, self._prospects.lacks(actor)):
                yield Reason(reason)
        for line in dead_end.who_keeps(self._prospects.kept(actor))[: REASONS_MAX // 2]:
            yield Reason(line.rstrip("."))
        by_holder: dict[ActorId, list[Edge]] = {}
        for edge in self._view.edges_from(actor.actor):
            by_holder.setdefault(edge.holder, []).append(
                Edge(
                    waiter=edge.waiter,
                    holder=edge.holder,
                    resource=edge.resource,
                    amount=edge.amount,
                    hardness=Hardness.HARD,
                    since_ns=0,
                )
            )
        yield from self._holders(actor, by_holder, depth)

    def _holders(self, actor: ActorObserved, by_holder: dict[ActorId, list[Edge]], depth: int) -> Iterator[Reason]:
        """A step to each holder. Once a circle is closed, others of the same knot only repeat it, and share a line."""
        closing = [holder for holder in by_holder if holder in self._path]
        knot = self._knots.get(actor.actor)
        again: list[ActorId] = []
        for holder in [*closing, *(other for other in by_holder if other not in closing)]:
            repeats = holder in self._told or (bool(closing) and knot is not None and self._knots.get(holder) == knot)
            if holder not in closing and repeats and len(by_holder) > 1:
                again.append(holder)
            else:
                text = ring.waits_for(self._view, actor, holder, by_holder[holder])
                yield self._step(f"it {text}", holder, depth)
        if len(again) == 1 and again[0] in self._told:
            text = ring.waits_for(self._view, actor, again[0], by_holder[again[0]])
            yield self._step(f"it {text}", again[0], depth)
        elif again:
            yield Reason(f"it waits for {words.listed(again)}, too, {_cannot(again)}")

    def _waits(self, actor: ActorObserved, depth: int) -> Iterator[Reason]:
        if actor.wait is not None and actor.wait.excuse is not None:
            yield Reason(actor.wait.excuse.text)
        for first in self.firsts(actor):
            yield self._step(f"{first} must finish first", first, depth)

    def _step(self, text: str, holder: ActorId, depth: int) -> Reason:
        state = self._view.system.actors.get(holder)
        if state is None:
            return Reason(text, holder)
        if state.wait is None:
            return Reason(f"{text}; it runs{_lifetime(state)}", holder)
        if holder in self._path:
            return Reason(f"{text}: here the circle closes", holder)
        if holder in self._told:
            return Reason(f"{text} (see above)", holder)
        if depth + 1 >= self._view.limits.why_depth_max:
            return Reason(f"{text}; it waits itself", holder)
        ends = isinstance(state.wait.request, Never)
        then = "has no step left" if ends else f"waits for {needs(state.wait.request, holder)}"
        return Reason(f"{text}; {holder} {then}", holder, tuple(self.below(state, depth + 1)))


def _cannot(actors: Sequence[ActorId]) -> str:
    return "which cannot go on" if len(actors) == 1 else "none of which can go on"


def _lifetime(state: ActorObserved) -> str:
    match state.lifetime:
        case Lifetime.ENDLESS:
            return " and is treated as endless"
        case Lifetime.UNKNOWN:
            return " and how long it lives is not known"
        case Lifetime.DATED:
            return " and ends at a deadline"
        case Lifetime.FINITE:
            return " and will end"


def _outlook(wait: Wait, *, now: bool) -> str:
    """What is known about somebody who waits and is not stuck. `now`: all that it needs is free."""
    match wait.excuse and wait.excuse.kind:
        case None:
            return "could start right now by this input" if now else "will go on"
        case ExcuseKind.BLIND | ExcuseKind.DISPUTED:
            return "could not be judged"
        case _:
            return "somebody is acting"


def _part(view: View, actor: ActorId) -> str:
    """Which part it has in what is wrong."""
    diagnosis = view.diagnosis
    for core in diagnosis.cores:
        if actor in core:
            others = [member for member in core if member != actor]
            return f": it is in a deadlock with {words.listed(others)}" if others else ": it blocks itself"
    if actor in diagnosis.unsatisfiable:
        return " as things are"
    heads = sorted(head for head, behind in diagnosis.behind.items() if actor in behind)
    return f": it is blocked behind {words.listed(heads)}" if heads else ""
