"""A driver that writes down what another one answers.

Handles are named in the order in which they are first seen (`d0`, `d1` ...). Samples and sets of events have no name:
what is asked with them is written down under the device that they were filled from. Lists of field values and of
metrics are taken apart, one question each, so that a later program may ask for another selection of them. A call that
has not come back when the recording ends is written down as one that never does.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from exporters.capture.form import Answer, Exchange
from exporters.nvml.driver import FIELD_VALUES, Driver, Fault, Pynvml
from exporters.nvml.node import NODE

Question = tuple[str, str, tuple[int | str | None, ...]]
"""Call, device, keys."""

OPEN = "open"
FIELD, METRIC = "field", "gpm"
"""One field value, one metric: what lists of them are taken apart into."""
EVENT_WAIT = "nvmlEventSetWait_v2"
USAGE = "nvmlDeviceGetProcessUtilization"
TIMEOUT = "10"

GIVES_HANDLE = frozenset(
    {
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetHandleByUUID",
        "nvmlDeviceGetHandleByPciBusId",
        "nvmlDeviceGetMigDeviceHandleByIndex",
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
    }
)
GIVES_ROOM = frozenset({"nvmlGpmSampleAlloc", "nvmlEventSetCreate", "gpm_request"})
"""Calls that give something without a name of its own."""
UNTOLD = frozenset({"handle_address", "nvmlGpmSampleFree", "nvmlEventSetFree"})
"""Calls that say nothing of the node."""

ANSWERS_MAX = 16
"""Different answers in a row to one question; beyond it the last is replaced."""
QUESTIONS_MAX = 100_000
PENDING_AFTER_S = 1.0


class Recorder:
    """Asks a driver and remembers. Safe to be asked by many threads."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._lock = Lock()
        self._names: dict[int, str] = {}
        self._filled: dict[int, tuple[str, int | None]] = {}
        self._answers: dict[Question, list[Answer]] = {}
        self._pending: dict[object, tuple[Question, float]] = {}
        self.left_out = 0

    def open(self) -> None:
        with self._noting((OPEN, "", ())):
            self._driver.open()
        self._note((OPEN, "", ()), Answer())

    def close(self) -> None:
        self._driver.close()

    def ask(self, call: str, handle: object | None, *keys: Any) -> Any:
        if call in UNTOLD:
            return self._driver.ask(call, handle, *keys)
        question = self._question(call, handle, keys)
        with self._noting(question):
            answer = self._driver.ask(call, handle, *keys)
        self._take(question, keys, answer)
        return answer

    def exchanges(self) -> tuple[Exchange, ...]:
        """All that was said so far, sorted."""
        now_s = time.monotonic()
        with self._lock:
            found = {question: list(answers) for question, answers in self._answers.items()}
            for question, since_s in self._pending.values():
                if now_s - since_s >= PENDING_AFTER_S:
                    found.setdefault(question, []).append(Answer(blocks=True))
        return tuple(
            Exchange(call=call, device=device, keys=keys, answers=tuple(found[call, device, keys]))
            for call, device, keys in sorted(found, key=_order)
        )

    def _question(self, call: str, handle: object | None, keys: tuple[Any, ...]) -> Question:
        if call == "gpm_metrics":
            device, gpu_instance = self._filled.get(id(keys[2]), ("", None))
            return call, device, (gpu_instance,)
        device = "" if handle is None else self._name(handle)
        if call in {FIELD_VALUES, EVENT_WAIT, USAGE, "nvmlDeviceRegisterEvents"}:
            return call, device, ()
        return call, device, tuple(key for key in keys if key is None or isinstance(key, int | str))

    @contextmanager
    def _noting(self, question: Question) -> Iterator[None]:
        """While the call is under way it is pending; a refusal is noted here."""
        token = object()
        with self._lock:
            self._pending[token] = (question, time.monotonic())
        try:
            yield
        except Fault as fault:
            if (question[0], fault.code) != (EVENT_WAIT, TIMEOUT):
                self._note(question, Answer(code=fault.code))
            raise
        finally:
            with self._lock:
                del self._pending[token]

    def _take(self, question: Question, keys: tuple[Any, ...], answer: Any) -> None:
        call, device, named = question
        match call:
            case "gpm_take":
                self._filled[id(keys[1])] = (device, keys[0])
                self._note(question, Answer())
            case "gpm_metrics":
                self._note(question, Answer())
                for metric, each in zip(keys[3], answer, strict=False):
                    self._note((METRIC, device, (*named, metric)), Answer(value=each))
            case _ if call == FIELD_VALUES:
                self._note(question, Answer())
                for pair, each in zip(keys, answer, strict=False):
                    self._note((FIELD, device, tuple(pair)), Answer(value=each))
            case _ if call == USAGE:
                # Times are kept as distances from the time that was asked for, so that they can be given at any time.
                self._note(question, Answer(value=[(pid, at_us - keys[0], share) for pid, at_us, share in answer]))
            case _ if call == EVENT_WAIT:
                self._note(question, Answer(value=(self._names.get(answer[0], ""), *answer[1:])))
            case _ if call in GIVES_HANDLE:
                self._note(question, Answer(value=self._name(answer)))
            case _ if call in GIVES_ROOM:
                self._note(question, Answer())
            case _:
                self._note(question, Answer(value=answer))

    def _name(self, handle: object) -> str:
        try:
            address = int(self._driver.ask("handle_address", handle))
        except Fault:
            address = id(handle)
        with self._lock:
            return self._names.setdefault(address, f"d{len(self._names)}")

    def _note(self, question: Question, answer: Answer) -> None:
        with self._lock:
            answers = self._answers.get(question)
            if answers is None:
                if len(self._answers) >= QUESTIONS_MAX:
                    self.left_out += 1
                    return
                answers = self._answers[question] = []
            if answers and (answers[-1].value, answers[-1].code) == (answer.value, answer.code):
                last = answers.pop()
                answer = Answer(value=last.value, code=last.code, times=last.times + 1)
            elif len(answers) >= ANSWERS_MAX:
                answers.pop()
            answers.append(answer)


@contextmanager
def recorded_from_now_on() -> Iterator[Recorder]:
    """For a while, all that this process asks its driver library is written down."""
    recorder = Recorder(Pynvml())
    NODE.answered_by(lambda: recorder)
    try:
        yield recorder
    finally:
        NODE.answered_by(Pynvml)


def _order(question: Question) -> tuple[str, int, str, tuple[str, ...]]:
    """Devices by number, keys as text."""
    call, device, keys = question
    return call, len(device), device, tuple(f"{key:012d}" if isinstance(key, int) else str(key) for key in keys)
