"""A bar on standard error while a long replay runs, on a terminal only and never for a short one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_QUIET_S = 0.7
"""A replay shorter than this shows nothing: a bar that flashes up is noise."""


class _Bar:
    """Drawn by a timer of its own, so that it shows while a large file is still being read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stage = "reading"
        self._events = 0
        self._drawn: Progress | None = None
        self._timer = Timer(_QUIET_S, self._draw)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, stage: str, events: int) -> None:
        with self._lock:
            self._stage, self._events = stage, events
            if self._drawn is not None:
                self._drawn.update(self._drawn.task_ids[0], description=stage, events=events)

    def close(self) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._drawn is not None:
            self._drawn.stop()

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[events]:,} events"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        with self._lock:
            bar.add_task(self._stage, total=None, events=self._events)
            bar.start()
            self._drawn = bar


@contextmanager
def progress() -> Iterator[Callable[[str, int], None]]:
    """Gives what `run.replay` reports to: (what is being done, events so far)."""
    if not sys.stderr.isatty():
        yield lambda _stage, _events: None
        return
    bar = _Bar()
    try:
        yield bar.tell
    finally:
        bar.close()
