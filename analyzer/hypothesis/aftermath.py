"""The state once changes were made to a copy of it: who has started, who can go on, whether it is safe."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from analyzer.engine import Engine
from analyzer.explain.queue import Queue
from analyzer.graph.safety import Safety, safety
from analyzer.graph.ways import Way
from analyzer.hypothesis.changes import Change, Draft
from analyzer.hypothesis.outlook import Fate, Outlook, awaited, left_over
from analyzer.hypothesis.starting import start
from analyzer.model.events import Event, Tick
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from analyzer.state.view import View


class Aftermath:
    """What the changes lead to. Nothing of the view that they are made to changes.

    `took`: what each of the submitted that starts at once takes. `engine` and `view`: the state after that, judged from
    scratch. Whether it is safe is asked when somebody wants to know.
    """

    def __init__(self, view: View, changes: Sequence[Change]) -> None:
        now_ns, self._limits, self._before = view.now_ns, view.limits, view.system.actors
        self.draft = Draft(view.system, now_ns)
        self.draft.change(changes)
        self.took: dict[ActorId, Way] = start(
            self.draft.actors, self.draft.units, self.draft.submitted, self._limits, now_ns
        )
        self.engine = judged(self.draft.events(), now_ns, self._limits)
        self.view = self.engine.view()
        self._queue = Queue(self.view)

    @cached_property
    def safety(self) -> Safety:
        """The banker's answer."""
        return safety(self.view.system, self._limits)

    def outlook(self, name: ActorId) -> Outlook:
        """What becomes of an actor that is there. That one never goes on is said without reasons."""
        actor = self.view.system.actors[name]
        if name in self.took:
            units = self.took[name] if name in self._before else actor.holds
            return Outlook(actor=name, fate=Fate.STARTS_NOW, units=units)
        if actor.wait is None:
            return Outlook(actor=name, fate=Fate.RUNS, units=actor.holds)
        if name in self.view.stuck:
            return awaited(actor, actor.wait, Fate.NEVER)
        if actor.wait.excuse is not None:
            return awaited(actor, actor.wait, Fate.NOT_JUDGED, reasons=(actor.wait.excuse.text,))
        row = self._queue.row(actor, actor.wait)
        return awaited(
            actor,
            actor.wait,
            Fate.WAITS if row.first_to_finish or row.note else Fate.STARTS_NOW,
            waits_for=row.first_to_finish,
            note=left_over(name, self.safety) or row.note,
        )


def judged(events: Iterable[Event], now_ns: int, limits: Limits) -> Engine:
    """An engine that has just come to know this state, and knows nothing of what was before."""
    engine = Engine(limits)
    for event in events:
        engine.step(event)
    engine.step(Tick(at_ns=now_ns, open_ended=True))
    return engine
