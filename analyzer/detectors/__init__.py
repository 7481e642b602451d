"""What is looked for: one file per rule, listed here by hand. Detectors are strangers to each other."""

from collections.abc import Callable, Iterator
from types import ModuleType

from msgspec import Struct

from analyzer.detectors import deadlock, livelock, orphaned_hold, unplaceable
from analyzer.model.findings import Finding, Rule
from analyzer.state.view import View


class Detector(Struct, frozen=True):
    """A rule, the function that looks for it, and its page.

    `over_time`: it looks at what happened before, so it may find another thing at a later moment of the same state.
    """

    rule: Rule
    detect: Callable[[View], Iterator[Finding]]
    page: str
    over_time: bool


def _detector(module: ModuleType) -> Detector:
    return Detector(module.RULE, module.detect, module.__doc__ or "", module is livelock)


DETECTORS: tuple[Detector, ...] = tuple(
    _detector(module) for module in (deadlock, orphaned_hold, unplaceable, livelock)
)
"""All of them, in the order in which `knotwatch rules` prints them."""
