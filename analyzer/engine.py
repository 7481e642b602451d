"""The engine: one event in, changes of findings out. The same in replay and live; it does no I/O and reads no clock.

Looking happens on ticks alone. A tick asks who can go on, runs the detectors over the answer, and compares what they
state with what was open. Sentences and prices are written only for findings that open or change, and anew when the
report asks for them; a tick at which nobody is stuck costs next to nothing.
"""

from collections.abc import Sequence

from analyzer import explain
from analyzer.detectors import DETECTORS
from analyzer.graph.cores import Diagnoser, Diagnosis
from analyzer.model.events import ActorGone, ActorObserved, Event, Remarked, ResourceObserved, Tick
from analyzer.model.findings import ChangeKind, Finding, FindingChange, OpenFinding, Waiting
from analyzer.model.ids import ActorId
from analyzer.model.limits import Limits
from analyzer.state.allocation import State
from analyzer.state.earlier import Earlier
from analyzer.state.history import History
from analyzer.state.view import View
from analyzer.tracker import Tracked, opens_ns, track


class Engine:
    """Folds events into state and says at each tick which findings opened, changed or resolved."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._state = State()
        self._history = History(self._limits)
        self._diagnoser = Diagnoser(self._limits)
        self._tracking: dict[str, Tracked] | None = None
        self._explained: dict[str, Finding] = {}
        self._view: View | None = None
        self._looked: View | None = None
        self._prospects: explain.Prospects | None = None
        self._now_ns = 0
        self._looks = 0
        self._told_at: dict[str, int] = {}
        self._earlier = Earlier()
        self._of_the_moment: list[Finding] = []

    def step(self, event: Event) -> tuple[FindingChange, ...]:
        """Fold one event into the state; on a tick, look. Changes: resolved, then opened, then updated."""
        if isinstance(event, Tick):
            return self._look(event)
        self._view = None
        match event:
            case ActorObserved():
                before = self._state.actors.get(event.actor)
                self._state.apply(event)
                if self._state.actors.get(event.actor) is event:  # an older restatement than the one we have is dropped
                    self._history.observe(before, event)
                    if event.wait is not None:
                        self._earlier.restated.add(event.actor)
            case ActorGone():
                before = self._state.actors.get(event.actor)
                self._state.apply(event)
                if event.actor not in self._state.actors:
                    self._history.forget(before, event)
            case ResourceObserved() | Remarked():
                self._state.apply(event)
        return ()

    def take(self, events: Sequence[Event]) -> None:
        """Fold what changed at one moment: the same as a step for each, and quick for a whole cluster as the first.

        No tick is among them.
        """
        if self._history.rounds or not self._state.load(events):
            for event in events:
                self.step(event)
            return
        # Nobody was seen before, so nobody was seen to lose anything; but some bring a count of their own.
        for actor in self._state.actors.values():
            if actor.losses is not None:
                self._history.observe(None, actor)
        self._view = None
        self._earlier.restated.update(self._state.waiting)

    def findings(self) -> tuple[OpenFinding, ...]:
        """Findings that are open, explained as of the last tick; sorted as a report lists them.

        Where events have come since that tick, the sentences are those that were told when it opened or changed.
        """
        current = self._view is not None and self._view is self._looked
        opened = [
            OpenFinding(
                finding=self._explain(tracked.finding) if current else self._explained[tracked.finding.id],
                opened_ns=tracked.opened_ns,
            )
            for tracked in (self._tracking or {}).values()
            if tracked.opened_ns is not None
        ]
        return tuple(sorted(opened, key=lambda one: report_order(one.finding)))

    def waiting(self) -> tuple[Waiting, ...]:
        """Rows for everybody who waits and will go on, by name. Computed when asked; shapes of requests share work."""
        return explain.waiting_rows(self.view())

    def due_ns(self) -> int | None:
        """The earliest moment at which a finding that is true now will have stood long enough; None if none waits.

        A look at that moment opens it even if nothing happens then: replay looks as often as somebody live would.
        """
        pending = (tracked for tracked in (self._tracking or {}).values() if tracked.opened_ns is None)
        return min((opens_ns(tracked, self._limits) for tracked in pending), default=None)

    @property
    def remarks(self) -> Sequence[Remarked]:
        """What sources and the state want said beside findings, sorted by kind and subject."""
        return self._state.remarks

    def view(self) -> View:
        """The state as it is now, diagnosed; for questions about one actor and for drawing."""
        if self._view is None:
            diagnosis = self._diagnoser.diagnose(self._state, self._state.changes())
            self._view = self._seen_at(diagnosis)
        return self._view

    def _look(self, tick: Tick) -> tuple[FindingChange, ...]:
        self._now_ns = tick.at_ns
        self._history.prune(tick.at_ns)
        if self._view is not None and self._view.now_ns != tick.at_ns:
            self._view = self._seen_at(self._view.diagnosis)
        view = self._looked = self.view()
        self._looks += 1
        self._tracking, changes = track(self._tracking, self._found(view), tick, self._limits)
        return tuple(self._told(change) for change in changes)

    def _seen_at(self, diagnosis: Diagnosis) -> View:
        situation = self._diagnoser.situation
        return View(self._state, diagnosis, self._history, self._limits, self._now_ns, situation, self._earlier)

    def _found(self, view: View) -> list[Finding]:
        """What the detectors state now. Those that judge the moment are asked again only if a stuck actor changed."""
        if self._earlier.turn(view.diagnosis):
            asked = (detector for detector in DETECTORS if not detector.over_time)
            self._of_the_moment = [finding for detector in asked for finding in detector.detect(view)]
        over_time = (detector for detector in DETECTORS if detector.over_time)
        return [*self._of_the_moment, *(finding for detector in over_time for finding in detector.detect(view))]

    def _told(self, change: FindingChange) -> FindingChange:
        """The change with its sentences: written now, or for a resolved finding as they last stood."""
        key = change.finding.id
        if change.kind is ChangeKind.RESOLVED:
            finding = self._explained.pop(key)
            del self._told_at[key]
        else:
            finding = self._explain(change.finding)
        return FindingChange(kind=change.kind, at_ns=change.at_ns, finding=finding, opened_ns=change.opened_ns)

    def _explain(self, finding: Finding) -> Finding:
        """With its sentences as of this look; findings of one view share the work, and none is written twice."""
        if self._told_at.get(finding.id) != self._looks:
            view = self.view()
            if self._prospects is None or self._prospects.view is not view:
                self._prospects = explain.Prospects(view)
            self._explained[finding.id] = explain.explained(self._prospects, finding)
            self._told_at[finding.id] = self._looks
        return self._explained[finding.id]


def report_order(finding: Finding) -> tuple[int, tuple[ActorId, ...], str]:
    """Where a finding stands in a report: most idle GPUs first, then by members."""
    return (-finding.idle_gpus, finding.members, finding.id)
