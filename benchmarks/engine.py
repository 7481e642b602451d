"""Row 2: what the engine takes for one event that is already decoded, against decoding it from its journal line.

The events are single pods of finite jobs that end, start and are restated, on a cluster that is known already. `with
looks` adds a tick for every second of event time at 2,000 events a second: what a live analyzer spends in all. It has
no bar, since an evaluation has its own rows.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from analyzer.engine import Engine
from analyzer.model.events import Event, Tick
from benchmarks import truth
from benchmarks.journal import Writer, churn, lines
from benchmarks.plan import AS_OF_NS, Plan, make_plan
from benchmarks.ratio import Ratio, Work, compare
from benchmarks.rows import Figure, Row, Scale, figure, pods_text

EVENTS = 30_000
BAR = 3.0
GROWTH_BAR = 2.0


def knowing(plan: Plan, *, looked: bool) -> Engine:
    """An engine that has seen the whole cluster, and answered rightly if it has looked already."""
    engine = Engine()
    step = engine.step
    for event in Writer(plan).events():
        step(event)
    if looked:
        step(Tick(at_ns=AS_OF_NS, open_ended=True))
        truth.check(plan, truth.found(one.finding for one in engine.findings()), len(engine.waiting()))
    return engine


def measure(scale: Scale) -> Sequence[Figure]:
    """The smallest and the largest cluster, then how the time per event grows from one to the other."""
    figures, steps = [], []
    for pods in (scale.sizes[0], scale.largest):
        plan = make_plan(pods, seed=scale.seed)
        plain = _against_decoding(plan, scale.runs, with_looks=False)
        steps.append(plain)
        figures.append(figure(f"{pods_text(pods)}, events alone", plain, BAR, per=EVENTS))
        looks = _against_decoding(plan, scale.runs, with_looks=True)
        figures.append(figure(f"{pods_text(pods)}, with looks", looks, None, per=EVENTS))
    growth = steps[-1].ratio / steps[0].ratio
    case = f"growth from {scale.sizes[0]:,} to {pods_text(scale.largest)}"
    return [*figures, Figure(case=case, value=growth, bar=GROWTH_BAR)]


def _against_decoding(plan: Plan, runs: int, *, with_looks: bool) -> Ratio:
    engine = knowing(plan, looked=True)
    turn = iter(range(1000))

    def stepping() -> Work:
        events = list(churn(plan, EVENTS, seed=next(turn)))
        if with_looks:
            events = list(_looking(events))
        return lambda: _step_all(engine.step, events)

    def decoding() -> Work:
        journal = lines(churn(plan, EVENTS, seed=1))
        decode = msgspec.json.Decoder(Event).decode
        return lambda: [decode(line) for line in journal]

    return compare(stepping, decoding, runs)


def _step_all(step: Callable[[Event], object], events: Iterable[Event]) -> None:
    for event in events:
        step(event)


def _looking(events: Iterable[Event]) -> Iterable[Event]:
    last = None
    for event in events:
        if last is not None and event.at_ns != last:
            yield Tick(at_ns=last)
        yield event
        last = event.at_ns
    if last is not None:
        yield Tick(at_ns=last)


ROW = Row(
    command="engine",
    what="engine, per event already decoded",
    yardstick="msgspec decode of that event from its journal line",
    bar="3x; within 2x from 1,000 to 100,000 pods",
    measure=measure,
)
