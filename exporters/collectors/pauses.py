"""Files that refuse to be read are left alone for a while, and longer each time.

Some firmware writes a line into the kernel's log for every read that it refuses, so asking on and on fills the log of
the node (prometheus/node_exporter#3434). A pause costs that one file's series and nothing else.
"""

from exporters.rooted import Failed, Folder
from exporters.subject import ReadError

REFUSALS_UNTIL_PAUSE = 3
PAUSE_S = 60.0
PAUSE_MAX_S = 3600.0


class Pauses:
    """What has refused, how many times in a row, and until when it is left alone. Kept as long as its subject."""

    def __init__(self) -> None:
        self._refused: dict[str, tuple[int, float]] = {}

    def over(self, path: str, now_s: float) -> bool:
        """Whether the file may be read (again). O(1)."""
        return now_s >= self._refused.get(path, (0, float("-inf")))[1]

    def refused(self, path: str, now_s: float) -> None:
        """It has refused once more. O(1)."""
        times = self._refused.get(path, (0, 0.0))[0] + 1
        beyond = times - REFUSALS_UNTIL_PAUSE
        pause_s = min(PAUSE_S * 2.0 ** min(beyond, 16), PAUSE_MAX_S) if beyond >= 0 else 0.0
        self._refused[path] = (times, now_s + pause_s)

    def answered(self, path: str) -> None:
        """It has been read, or is not there. O(1)."""
        self._refused.pop(path, None)


class Pass:
    """One pass over a subject's files: reads what is not paused, collects what went wrong.

    `answers`: files read. `left_alone`: files that are paused.
    """

    def __init__(self, pauses: Pauses, now_s: float) -> None:
        self.answers = 0
        self.left_alone = 0
        self._errors: set[ReadError] = set()
        self._pauses = pauses
        self._now_s = now_s

    @property
    def errors(self) -> tuple[ReadError, ...]:
        """What went wrong, each once, sorted."""
        return tuple(sorted(self._errors))

    def text(self, folder: Folder, file: str, call: str) -> str | None:
        """The file's text; None if it is not there, refuses, or is paused. `call`: how its error is counted."""
        path = f"{folder.path}/{file}"
        if not self._pauses.over(path, self._now_s):
            self.left_alone += 1
            return None
        match folder.text(file):
            case Failed() as failed:
                if failed.absent:
                    self._pauses.answered(path)
                else:
                    self._pauses.refused(path, self._now_s)
                    self._errors.add(ReadError(call, failed.code))
                return None
            case text:
                self._pauses.answered(path)
                self.answers += 1
                return text
