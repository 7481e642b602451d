"""Performance counters between two looks: who owns the samples, and which two make a window.

Two samples are held for each device and each of its GPU instances. A look takes a new one, compares it with the one
before, and keeps the new. So a value is the mean over the time between two looks and nothing older. Looks that follow
each other too closely get the window before again: counters of too short a window are wrong (NVIDIA/DCGM#310).
"""

from threading import Lock
from typing import Any

from exporters.nvml.asking import Asking
from exporters.nvml.library import Handle, Library, Refusal
from exporters.nvml.plausible import number, ratio

WINDOW_MIN_S = 1.0
WINDOW_MAX_S = 300.0
"""A sample older than this belongs to another time (paused, lost): a new window begins."""

RATES = (20, 21, 60, 61)
"""Metrics in MiB/s: PCIe sent and received, NVLink received and sent over all links."""
MEBIBYTES_MAX = 1e8


class Window:
    """Two samples of one device or instance. `activity`: by metric, shares from 0 to 1; empty before the second look.

    `rates`: bytes per second, by metric.
    """

    def __init__(self, older: Handle, newer: Handle) -> None:
        self.older = older
        self.newer = newer
        self.taken_s: float | None = None
        self.length_s = 0.0
        self.activity: dict[int, float] = {}
        self.rates: dict[int, float] = {}


class Windows:
    """All windows of one GPU, read by its own worker; given back before the library stops."""

    def __init__(self, library: Library, metrics: tuple[int, ...]) -> None:
        self._library = library
        self._metrics = metrics
        self._lock = Lock()
        self._windows: dict[tuple[str, int | None], Window] = {}
        self._request: Handle | None = None
        library.before_stop(self._give_back)

    def look(self, asking: Asking, name: str, gpu_instance: int | None, mono_s: float) -> Window | None:
        """The present window of the device (`gpu_instance` None) or of an instance. None: there are no samples for it.

        `name`: what the window is of; another one under the same instance number begins anew. Raises Gone.
        """
        window = self._window((name, gpu_instance))
        if window is None:
            return None
        if window.taken_s is not None and mono_s - window.taken_s < WINDOW_MIN_S:
            return window
        if not self._take(asking, gpu_instance, window.older):
            window.taken_s, window.activity, window.rates = None, {}, {}
            return window
        window.older, window.newer = window.newer, window.older
        last_s, window.taken_s, window.rates = window.taken_s, mono_s, {}
        if last_s is None or mono_s - last_s > WINDOW_MAX_S:
            window.activity, window.length_s = {}, 0.0
        else:
            window.activity, window.length_s = self._between(asking, window), mono_s - last_s
        return window

    def keep(self, wanted: set[tuple[str, int | None]]) -> None:
        """Give back the samples of all others: instances that are no more."""
        for key in [key for key in self._windows if key not in wanted]:
            with self._lock:
                window = self._windows.pop(key, None)
            for sample in (window.older, window.newer) if window else ():
                self._library.ask("nvmlGpmSampleFree", None, sample)

    def _window(self, key: tuple[str, int | None]) -> Window | None:
        window = self._windows.get(key)
        if window is not None and window.older.start == self._library.start:
            return window
        samples: list[Handle] = []
        for _ in range(2):
            raw = self._library.ask("nvmlGpmSampleAlloc")
            if isinstance(raw, Refusal):
                for sample in samples:
                    self._library.ask("nvmlGpmSampleFree", None, sample)
                return None
            samples.append(self._library.handle(raw))
        window = Window(*samples)
        with self._lock:
            self._windows[key] = window
        if self._request is None:
            raw = self._library.ask("gpm_request")
            self._request = None if isinstance(raw, Refusal) else Handle(raw, 0)
        return window

    @staticmethod
    def _take(asking: Asking, gpu_instance: int | None, sample: Handle) -> bool:
        return asking.supports("gpm_take", gpu_instance) and asking.take(gpu_instance, sample)

    def _between(self, asking: Asking, window: Window) -> dict[int, float]:
        if self._request is None:
            return {}
        metrics = (*self._metrics, *RATES)
        answers: Any = asking.whole("gpm_metrics", self._request.raw, window.older, window.newer, metrics)
        found = {}
        for metric, (code, value) in zip(metrics, answers or (), strict=False):
            rated = metric in RATES
            said = None if code else number(value, 0, MEBIBYTES_MAX) if rated else ratio(value)
            if said is not None and rated:
                window.rates[metric] = said * 2**20
            elif said is not None:
                found[metric] = said
        return found

    def _give_back(self) -> None:
        """Called while the library is being stopped, with no call in flight."""
        with self._lock:
            windows, self._windows = self._windows, {}
        for window in windows.values():
            self._library.give_back("nvmlGpmSampleFree", window.older)
            self._library.give_back("nvmlGpmSampleFree", window.newer)
