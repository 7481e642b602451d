"""Whom to stop, what that frees, who then runs, and what it costs. Proposals, never acts."""

from collections.abc import Container, Iterable, Sequence

from analyzer.explain import words
from analyzer.model.events import ActorObserved, Holds
from analyzer.model.findings import Action, ActionKind, Price
from analyzer.model.ids import ActorId
from analyzer.state.view import View

HOUR_NS = 3600 * 1_000_000_000


def actions(view: View, members: Sequence[ActorId], behind: Sequence[ActorId]) -> tuple[Action, ...]:
    """Evictions that let others go on, cheapest first.

    Each was tried by asking the same question without the victim. Cost: one fixed point per member tried.
    """
    found = view.what_if.releases(members, among_stuck=(*members, *behind))
    proposed = [
        Action(
            kind=ActionKind.EVICT,
            actor=release.actor,
            frees=release.frees,
            then_runs=release.then_runs,
            cost=price(view, view.system.actors[release.actor]),
            together_with=release.together_with,
        )
        for release in found
    ]
    known = all(action.cost.gpu_hours_lost is not None for action in proposed)
    return tuple(sorted(proposed, key=lambda action: _expense(action, by_hours=known)))


def price(view: View, victim: ActorObserved) -> Price:
    """GPU-hours since its last checkpoint, else since its first hold; None if neither is known and it holds GPUs.

    One that works while it waits (it serves) has nothing to lose but the time it takes to start anew: 0.
    """
    saved_ns = max((at for at in (victim.checkpoint_ns, victim.running_since_ns) if at is not None), default=None)
    hours: float | None = 0.0
    if victim.gpus and not victim.working:
        hours = None if saved_ns is None else round(victim.gpus * max(view.now_ns - saved_ns, 0) / HOUR_NS, 2)
    return Price(gpu_hours_lost=hours, gpus=victim.gpus, priority=victim.priority, useless=victim.recreated)


def price_in_words(cost: Price, frees: Holds, kinds: Container[str] = ()) -> str:
    """Such as "43 GPUs, 3.2 GPU-hours lost"; without GPUs what it frees of these kinds; and what it takes besides."""
    parts = [words.counted(cost.gpus, "GPU") if cost.gpus else f"holds {words.held(frees, kinds)}"]
    if cost.gpu_hours_lost is None:
        parts.append("work lost is not known")
    elif cost.gpu_hours_lost:
        parts.append(f"{words.gpu_hours(cost.gpu_hours_lost)} lost")
    if cost.useless:
        parts.append("if its controller is kept from making it anew")
    return ", ".join(parts)


def advice(proposed: Sequence[Action], kinds: Container[str], *, orphans: int = 0) -> str:
    """The cheapest proposal as a clause: "stop X (43 GPUs, 3.2 GPU-hours lost) and Y runs"; "" if there is none.

    `kinds`: of what somebody holds, what is worth naming. One of several `orphans` does not run, so there is nothing to
    stop: what it holds must be released.
    """
    if not proposed:
        return ""
    joint = proposed[0].together_with
    chosen = [action for action in proposed if action is proposed[0] or action.actor in joint]
    if orphans:
        released = "it" if orphans == 1 else words.listed([action.actor for action in chosen])
        return f"release {released} and {_run(proposed[0].then_runs)}"
    names = words.listed([f"{one.actor} ({price_in_words(one.cost, one.frees, kinds)})" for one in chosen])
    return f"stop {names}{' together' if joint else ''} and {_run(proposed[0].then_runs)}"


def _run(actors: Iterable[ActorId]) -> str:
    names = list(actors)
    return f"{words.listed(names, shown=2)} {'runs' if len(names) == 1 else 'run'}"


def _expense(action: Action, *, by_hours: bool) -> tuple[bool, bool, float, int, int, ActorId]:
    """Vain ones last; before them those that hold nothing, since whoever waits for them may just ask anew."""
    cost = action.cost
    hours = cost.gpu_hours_lost if by_hours and cost.gpu_hours_lost is not None else 0.0
    return (cost.useless, not action.frees, hours, cost.priority, cost.gpus, action.actor)
