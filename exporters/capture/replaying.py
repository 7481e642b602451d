"""A driver that gives again what was written down: the collectors cannot tell it from the library.

Answers come in their order, and the last one stays, but events come once. What was not asked when the capture was
taken is not supported. What never came back then never comes back now.
"""

from collections.abc import Iterable
from threading import Event, Lock
from typing import Any

from exporters.capture.form import Answer, Exchange
from exporters.capture.recording import (
    EVENT_WAIT,
    FIELD,
    GIVES_ROOM,
    METRIC,
    OPEN,
    TIMEOUT,
    UNTOLD,
    USAGE,
    Question,
)
from exporters.nvml.driver import FIELD_VALUES, Fault

NOT_SUPPORTED = "3"
NO_LIBRARY = "12"
MALFORMED = "malformed"


class Room:
    """What stands for a sample, a request or a set of events. `filled`: the device and the instance it is from."""

    def __init__(self) -> None:
        self.filled: tuple[str, int | None] = ("", None)


class Course:
    """The answers to one question, in their course."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = answers
        self._place = 0
        self._given = 0

    def next(self, *, stays: bool) -> Answer | None:
        """The next answer; the last one again and again, or None after it if it does not stay."""
        if self._place >= len(self._answers):
            return self._answers[-1] if stays and self._answers else None
        answer = self._answers[self._place]
        self._given += 1
        if self._given >= answer.times:
            self._place, self._given = self._place + 1, 0
        return answer


class Replay:
    """The recorded library. `let_go`: set, what blocks comes back, refused."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._courses = {(each.call, each.device, each.keys): Course(each.answers) for each in exchanges}
        self._lock = Lock()
        self.let_go = Event()

    def open(self) -> None:
        self._answered((OPEN, "", ()), unknown=NO_LIBRARY)

    def close(self) -> None:
        """Nothing is held."""

    def ask(self, call: str, handle: object | None, *keys: Any) -> Any:
        try:
            return self._ask(call, "" if handle is None else str(handle), keys)
        except Fault:
            raise
        except Exception:  # noqa: BLE001  a capture that was changed by hand may hold anything; it costs this answer
            raise Fault(MALFORMED) from None

    def _ask(self, call: str, device: str, keys: tuple[Any, ...]) -> Any:
        match call:
            case "handle_address":
                return _number(device)
            case "gpm_take":
                gpu_instance, room = keys
                self._answered((call, device, (gpu_instance,)))
                room.filled = (device, gpu_instance)
                return None
            case "gpm_metrics":
                _request, _older, newer, metrics = keys
                device, gpu_instance = newer.filled
                self._answered((call, device, (gpu_instance,)))
                return tuple(self._part((METRIC, device, (gpu_instance, metric))) for metric in metrics)
            case _ if call == FIELD_VALUES:
                self._answered((call, device, ()))
                return tuple(self._part((FIELD, device, tuple(pair))) for pair in keys)
            case _ if call == USAGE:
                rows = self._answered((call, device, ()))
                return tuple((pid, keys[0] + later_us, share) for pid, later_us, share in rows)
            case _ if call == EVENT_WAIT:
                device, *rest = self._answered((call, "", ()), unknown=TIMEOUT, stays=False)
                return (_number(device), *rest)
            case "nvmlDeviceRegisterEvents":
                return self._answered((call, device, ()))
            case _ if call in GIVES_ROOM:
                self._answered((call, device, ()))
                return Room()
            case _ if call in UNTOLD:
                return None
            case _:
                return self._answered((call, device, tuple(keys)))

    def _part(self, question: Question) -> tuple[int, float]:
        """One of a list, with its own code."""
        try:
            code, value = self._answered(question)
        except Fault:
            return int(NOT_SUPPORTED), 0
        return code, value

    def _answered(self, question: Question, *, unknown: str = NOT_SUPPORTED, stays: bool = True) -> Any:
        with self._lock:
            course = self._courses.get(question)
            answer = course.next(stays=stays) if course else None
        if answer is None:
            raise Fault(unknown)
        if answer.blocks:
            self.let_go.wait()
            raise Fault(TIMEOUT)
        if answer.code:
            raise Fault(answer.code)
        return _plain(answer.value)


def _plain(value: Any) -> Any:
    """Lists of the document as the tuples that they were."""
    return tuple(_plain(each) for each in value) if isinstance(value, list | tuple) else value


def _number(device: str) -> int:
    """What tells one handle from another: `d0` is 1; 0 for none."""
    return int(device[1:]) + 1 if device[1:].isdigit() else 0
