"""A mapping for what can be worked out anew: it starts afresh when it is full, so a long life needs no more room."""

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

KEPT_MAX = 65_536
"""More than the controllers, templates and shapes of the largest clusters at one time."""


class Forgetful(dict[K, V], Generic[K, V]):
    """A dict that is emptied before its `most`-and-first entry. Nobody may rely on what it has. O(1), amortized."""

    def __init__(self, most: int = KEPT_MAX) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._most and key not in self:
            self.clear()
        super().__setitem__(key, value)

    def shared(self, key: K, value: V) -> V:
        """What is kept under the key; this value if there is nothing yet."""
        found = self.get(key)
        if found is None:
            self[key] = found = value
        return found
