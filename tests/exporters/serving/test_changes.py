"""The log: what went down or came back, once, and not too often."""

from exporters.serving.changes import WORDS, Changes
from exporters.subject import Key, Moment, Reading, Reason

GPU = Key("gpu", "GPU-a")
FINE = Reading(value=1.0)
LOST: Reading[float] = Reading(value=None, up=False, reason=Reason.LOST)


def test_a_change_is_said_once_and_a_subject_that_comes_and_goes_not_each_time() -> None:
    said: list[str] = []
    changes = Changes(said.append)
    for n in range(1000):
        changes.note(GPU, LOST if n % 20 >= 10 else FINE, Moment(0.0, float(n)))
    assert said[:2] == ["gpu GPU-a is down: it fell off the bus.", "gpu GPU-a is up again."]
    assert len(said) <= 1000 / 60 + 1


def test_what_was_never_up_is_said_and_what_is_up_from_the_start_is_not() -> None:
    said: list[str] = []
    changes = Changes(said.append)
    changes.note(GPU, FINE, Moment(0.0, 0.0))
    changes.note(Key("kubelet"), Reading(value=None, up=False, reason=Reason.UNREACHABLE), Moment(0.0, 0.0))
    assert said == ["kubelet is down: nobody answers on its socket."]


def test_one_that_is_gone_is_forgotten() -> None:
    said: list[str] = []
    changes = Changes(said.append)
    for _ in range(3):
        changes.note(GPU, LOST, Moment(0.0, 0.0))
        changes.forget(GPU)
    assert len(said) == 3
    assert changes._told == {}


def test_every_reason_has_its_words() -> None:
    assert set(WORDS) == set(Reason)
