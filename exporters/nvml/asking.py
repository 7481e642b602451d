"""One look at one device: values or nothing, errors noted, and an end as soon as the device itself is in trouble."""

from collections.abc import Iterable
from typing import Any

from exporters.nvml.driver import FIELD_VALUES
from exporters.nvml.library import STALE, UNSUPPORTED, Handle, Library, Refusal
from exporters.subject import ReadError, Reason

UNCHOSEN = frozenset({FIELD_VALUES, "nvmlDeviceGetProcessUtilization"})
"""Calls whose keys do not choose what is supported: times, and lists of fields, which have codes of their own."""

FIELDS_MAX = 64
"""Field values asked for in one call; drivers have a bound of their own, which they do not tell."""

GONE = frozenset({"1", "9", "15", "16", "18", "28", STALE})
"""Codes that are about the device or the library, so that nothing more can be had from it now."""


class Gone(Exception):  # noqa: N818  a device's end of speaking, not a failure of ours
    """The device does not answer any more."""

    def __init__(self, error: ReadError, reason: Reason) -> None:
        super().__init__(error.code)
        self.error = error
        self.reason = reason


class Asking:
    """Asks one device. What it refuses for good is not asked again, by whoever asks, before the driver changes."""

    def __init__(self, library: Library, device: str, handle: Handle) -> None:
        self.library = library
        self.device = device
        self.handle = handle
        self.errors: list[ReadError] = []

    def of(self, device: str, handle: Handle) -> "Asking":
        """The same look, at a part of the device (a MIG device), whose errors count for the whole."""
        other = Asking(self.library, device, handle)
        other.errors = self.errors
        return other

    def supports(self, call: str, *keys: Any) -> bool:
        return self.library.supports(self.device, call, () if call in UNCHOSEN else keys)

    def get(self, call: str, *keys: Any) -> Any | None:
        """The answer, or None. Raises Gone."""
        if not self.supports(call, *keys):
            return None
        answer = self.library.ask(call, self.handle, *keys)
        if not isinstance(answer, Refusal):
            return answer
        self._refused(call, answer.code, call, keys)
        return None

    def take(self, gpu_instance: int | None, sample: Handle) -> bool:
        """Fill a GPM sample from the device or from an instance of it; whether it is filled. Raises Gone."""
        answer = self.library.ask("gpm_take", self.handle, gpu_instance, sample)
        if not isinstance(answer, Refusal):
            return True
        shown = "nvmlGpmSampleGet" if gpu_instance is None else "nvmlGpmMigSampleGet"
        self._refused(shown, answer.code, "gpm_take", (gpu_instance,))
        return False

    def whole(self, call: str, *keys: Any) -> Any | None:
        """The answer of a call that takes no handle of the device but is about it. Raises Gone."""
        answer = self.library.ask(call, None, *keys)
        if isinstance(answer, Refusal):
            self._refused("nvmlGpmMetricsGet" if call == "gpm_metrics" else call, answer.code, call, ())
            return None
        return answer

    def fields(self, asked: Iterable[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Field values by (field, scope), many in one call; those refused are absent. Raises Gone."""
        wanted = [pair for pair in asked if self.supports("field", *pair)]
        found = {}
        for begin in range(0, len(wanted), FIELDS_MAX):
            part = wanted[begin : begin + FIELDS_MAX]
            for (field, scope), (code, value) in zip(part, self.get(FIELD_VALUES, *part) or (), strict=False):
                if code == 0:
                    found[field, scope] = value
                else:
                    self._refused(f"field_{field}", str(code), "field", (field, scope))
        return found

    def _refused(self, shown: str, code: str, call: str, keys: tuple[Any, ...]) -> None:
        if code in UNSUPPORTED:
            self.library.mark_unsupported(self.device, call, () if call in UNCHOSEN else keys)
            return
        error = ReadError(shown, code)
        if code in GONE:
            raise Gone(error, Refusal(code).reason)
        self.errors.append(error)
