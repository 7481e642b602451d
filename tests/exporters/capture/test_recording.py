"""What is written down of what a driver answers: every kind of answer, in order, and no more than fits."""

import threading
from contextlib import suppress
from typing import Any

import pytest

from exporters.capture import recording
from exporters.capture.form import Answer, Exchange
from exporters.capture.recording import Recorder
from exporters.capture.replaying import Replay
from exporters.nvml.driver import FIELD_VALUES, Fault


class Toy:
    """A driver that answers what a test says, call by call: a value, a Fault, or an Event to be waited for."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def open(self) -> None:
        self.ask("open", None)

    def close(self) -> None: ...

    def ask(self, call: str, handle: object | None, *keys: Any) -> Any:
        found = self.answers.get(call, Fault("3"))
        if callable(found):
            found = found(handle, *keys)
        if isinstance(found, Fault):
            raise found
        if isinstance(found, threading.Event):
            found.wait()
            raise Fault("10")
        return found


def told(recorder: Recorder, call: str) -> list[tuple[str, tuple[int | str | None, ...], tuple[Answer, ...]]]:
    return [(each.device, each.keys, each.answers) for each in recorder.exchanges() if each.call == call]


def test_equal_answers_in_a_row_are_one_and_their_order_stays() -> None:
    values = iter([1, 1, 1, 2, 1])
    recorder = Recorder(Toy(nvmlDeviceGetCount=lambda _handle: next(values)))
    replies = [recorder.ask("nvmlDeviceGetCount", None) for _ in range(5)]
    answers = told(recorder, "nvmlDeviceGetCount")[0][2]
    assert [(each.value, each.times) for each in answers] == [(1, 3), (2, 1), (1, 1)]
    replay = Replay(recorder.exchanges())
    assert [replay.ask("nvmlDeviceGetCount", None) for _ in range(7)] == [*replies, 1, 1]


def test_refusals_are_answers() -> None:
    recorder = Recorder(Toy(nvmlDeviceGetCount=Fault("999"), open=None))
    recorder.open()
    with pytest.raises(Fault):
        recorder.ask("nvmlDeviceGetCount", None)
    replay = Replay(recorder.exchanges())
    replay.open()
    with pytest.raises(Fault, match="999"):
        replay.ask("nvmlDeviceGetCount", None)
    with pytest.raises(Fault, match="12"):
        Replay(()).open()


def test_handles_have_names_in_the_order_of_their_coming() -> None:
    handles = {0: object(), 1: object()}
    toy = Toy(
        nvmlDeviceGetHandleByIndex=lambda _handle, index: handles[index],
        nvmlDeviceGetName=lambda handle: "one" if handle is handles[1] else "zero",
    )
    recorder = Recorder(toy)
    for index in (1, 0, 1):
        recorder.ask("nvmlDeviceGetName", recorder.ask("nvmlDeviceGetHandleByIndex", None, index))
    replay = Replay(recorder.exchanges())
    assert [
        replay.ask("nvmlDeviceGetName", replay.ask("nvmlDeviceGetHandleByIndex", None, index)) for index in (0, 1)
    ] == [
        "zero",
        "one",
    ]


def test_lists_are_taken_apart_so_that_another_selection_can_be_asked_for() -> None:
    toy = Toy(**{FIELD_VALUES: lambda _handle, *pairs: tuple((0, field + scope) for field, scope in pairs)})
    recorder = Recorder(toy)
    recorder.ask(FIELD_VALUES, "gpu", (138, 1), (139, 2))
    recorder.ask(FIELD_VALUES, "gpu", (91, 0))
    replay = Replay(recorder.exchanges())
    assert replay.ask(FIELD_VALUES, "d0", (91, 0), (139, 2), (5, 5)) == ((0, 91), (0, 141), (3, 0))


def test_metrics_go_with_the_instance_that_their_sample_is_of() -> None:
    older, newer = object(), object()
    toy = Toy(gpm_take=None, gpm_metrics=lambda _handle, *_: ((0, 10.0), (0, 20.0)))
    recorder = Recorder(toy)
    recorder.ask("gpm_take", "gpu", 2, newer)
    recorder.ask("gpm_metrics", None, object(), older, newer, (2, 10))
    assert [keys for _, keys, _ in told(recorder, "gpm")] == [(2, 2), (2, 10)]
    replay = Replay([*recorder.exchanges(), Exchange(call="nvmlGpmSampleAlloc", answers=(Answer(),))])
    sample = replay.ask("nvmlGpmSampleAlloc", None)
    replay.ask("gpm_take", "d0", 2, sample)
    assert replay.ask("gpm_metrics", None, object(), None, sample, (10, 2, 5)) == ((0, 20.0), (0, 10.0), (3, 0))


def test_events_come_once_and_silence_is_not_written_down() -> None:
    waits = iter([Fault("10"), (0, 8, 79, 0xFFFFFFFF, 0xFFFFFFFF), Fault("10"), Fault("999")])
    recorder = Recorder(Toy(nvmlEventSetWait_v2=lambda *_: next(waits)))
    for _ in range(4):
        try:
            recorder.ask("nvmlEventSetWait_v2", None, object(), 200)
        except Fault:
            continue
    replay = Replay(recorder.exchanges())
    assert replay.ask("nvmlEventSetWait_v2", None, object(), 200)[1:3] == (8, 79)
    codes = []
    for _ in range(3):
        with pytest.raises(Fault) as refused:
            replay.ask("nvmlEventSetWait_v2", None, object(), 200)
        codes.append(refused.value.code)
    assert codes == ["999", "10", "10"]


def test_times_of_samples_are_told_from_the_time_that_was_asked_for() -> None:
    recorder = Recorder(Toy(nvmlDeviceGetProcessUtilization=((77, 1_000_500, 40),)))
    recorder.ask("nvmlDeviceGetProcessUtilization", "gpu", 1_000_000)
    replay = Replay(recorder.exchanges())
    assert replay.ask("nvmlDeviceGetProcessUtilization", "d0", 9_000_000) == ((77, 9_000_500, 40),)


def test_a_call_that_is_still_out_is_one_that_never_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "PENDING_AFTER_S", 0.0)
    release = threading.Event()
    recorder = Recorder(Toy(nvmlDeviceGetName=release))

    def call() -> None:
        with suppress(Fault):
            recorder.ask("nvmlDeviceGetName", "gpu")

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    while not (found := told(recorder, "nvmlDeviceGetName")):
        pass
    release.set()
    caller.join()
    assert found[0][2] == (Answer(blocks=True),)


def test_there_is_an_end_to_answers_and_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter(range(100))
    recorder = Recorder(Toy(nvmlDeviceGetCount=lambda _handle: next(values), nvmlDeviceGetName=lambda *_: "x"))
    for _ in range(100):
        recorder.ask("nvmlDeviceGetCount", None)
    answers = told(recorder, "nvmlDeviceGetCount")[0][2]
    assert (len(answers), answers[0].value, answers[-1].value) == (recording.ANSWERS_MAX, 0, 99)
    monkeypatch.setattr(recording, "QUESTIONS_MAX", 3)
    for key in range(10):
        recorder.ask("nvmlDeviceGetName", None, key)
    assert (len(recorder.exchanges()), recorder.left_out) == (3, 8)
