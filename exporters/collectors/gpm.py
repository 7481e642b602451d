"""How busy the parts of a GPU are, by its performance counters; of each instance apart where it is divided."""

from collections.abc import Callable, Iterator, Mapping

from exporters.catalog import gpm, gpu
from exporters.nvml.asking import Asking
from exporters.nvml.gpm import Window, Windows
from exporters.nvml.library import Library
from exporters.nvml.reading import MigInstance, Point

METRICS = tuple(metric for metric, _whole, _instance in gpm.ACTIVITIES)
DRAM_METRIC = 10


class Activity:
    """The counters of one GPU. `paused`: whether they are to be left alone now, for a profiler's sake.

    `rates`: bytes per second by GPM metric at the last look, for those who want them in place of counters.
    """

    def __init__(self, library: Library, paused: Callable[[], bool]) -> None:
        self._windows = Windows(library, METRICS)
        self._paused = paused
        self.rates: Mapping[int, float] = {}

    def whole(self, asking: Asking, mono_s: float) -> Iterator[Point]:
        """Values of the whole device. A divided one may have none. Raises Gone."""
        supported = asking.get("nvmlGpmQueryDeviceSupport")
        self.rates = {}
        if supported is None and asking.supports("nvmlGpmQueryDeviceSupport"):
            return
        yield Point(gpm.GPM_SUPPORTED, float(bool(supported)))
        if not supported:
            return
        paused = self._paused()
        yield Point(gpm.GPM_PAUSED, float(paused))
        window = None if paused else self._windows.look(asking, asking.device, None, mono_s)
        if window is None or not window.activity:
            return
        self.rates = dict(window.rates)
        yield Point(gpm.GPM_WINDOW, window.length_s)
        for metric, family, _instance in gpm.ACTIVITIES:
            if metric in window.activity:
                yield Point(family, window.activity[metric])

    def of_instance(self, asking: Asking, name: str, gpu_instance: int, mono_s: float) -> Mapping[int, float]:
        """Shares of one GPU instance by metric; `name` changes when it is another one under the same number."""
        if not asking.get("nvmlGpmQueryDeviceSupport") or self._paused():
            return {}
        window: Window | None = self._windows.look(asking, name, gpu_instance, mono_s)
        return window.activity if window else {}

    def keep(self, wanted: set[tuple[str, int | None]]) -> None:
        """Give back the samples of instances that are no more."""
        self._windows.keep(wanted)


def dram_rate(points: tuple[Point, ...]) -> Iterator[Point]:
    """Bytes a second of the memory, where both its activity and its peak are known."""
    found = {point.family.name: point.value for point in points}
    active, peak = found.get(gpm.DRAM_ACTIVE.name), found.get(gpu.MEMORY_PEAK_RATE.name)
    if active is not None and peak is not None:
        yield Point(gpm.DRAM_RATE, active * peak)


def instance_points(instance: MigInstance) -> Iterator[Point]:
    """What one instance's shares say."""
    for metric, _whole, family in gpm.ACTIVITIES:
        if metric in instance.activity:
            yield Point(family, instance.activity[metric], (str(instance.gpu_instance),))
