"""Findings that are taken over from the last look are those that would be stated anew."""

from random import Random

from msgspec.structs import replace

from analyzer.detectors import DETECTORS
from analyzer.graph.cores import Diagnoser
from analyzer.model.events import ActorObserved
from analyzer.model.findings import Finding
from analyzer.model.limits import Limits
from analyzer.state.allocation import State
from analyzer.state.earlier import Earlier
from analyzer.state.history import History
from analyzer.state.view import View
from tests.properties.systems import state_of
from tests.properties.worlds import dice, next_events, world

MOMENT = [detector for detector in DETECTORS if not detector.over_time]


def stated(view: View) -> list[Finding]:
    return [finding for detector in MOMENT for finding in detector.detect(view)]


def step(random: Random, state: State, history: History, earlier: Earlier, at_ns: int) -> None:
    """A few events, told to whoever an engine tells; some actors belong to one owner."""
    for event in next_events(random, state, at_ns):
        if isinstance(event, ActorObserved):
            told = replace(event, owner=random.choice(("", "Job a", "Job b")))
            before = state.actors.get(told.actor)
            state.apply(told)
            history.observe(before, told)
            if told.wait is not None:
                earlier.restated.add(told.actor)
        else:
            state.apply(event)


def test_taken_over_or_stated_anew_makes_no_difference() -> None:
    limits = Limits()
    looks = taken_over = found = 0
    for number in range(300):
        random = dice(number)
        state, history, earlier = state_of(world(number)), History(limits), Earlier()
        diagnoser = Diagnoser(limits)
        last: list[Finding] = []
        for at_ns in range(2, 14):
            diagnosis = diagnoser.diagnose(state, state.changes())
            anew = stated(View(state, diagnosis, history, limits, at_ns))
            if earlier.turn(diagnosis):
                known = {id(finding) for finding in last}
                last = stated(View(state, diagnosis, history, limits, at_ns, earlier=earlier))
                taken_over += sum(id(finding) in known for finding in last)
                found += len(last)
            assert last == anew, (number, at_ns)
            looks += 1
            step(random, state, history, earlier, at_ns)
    assert found > 1000
    assert taken_over > found / 10, "else this proves nothing"
