"""What would be if: changes to a copy of the state, and the same questions asked of it. Pure, like the engine below."""

from analyzer.hypothesis.changes import Change, Drain, Evict, Kept, Prioritise, Restate
from analyzer.hypothesis.outlook import Fate, Outlook
from analyzer.hypothesis.question import Answer, FindingFate, Turn, what_if
from analyzer.hypothesis.smallest import SmallestChange, smallest_change

__all__ = [
    "Answer",
    "Change",
    "Drain",
    "Evict",
    "Fate",
    "FindingFate",
    "Kept",
    "Outlook",
    "Prioritise",
    "Restate",
    "SmallestChange",
    "Turn",
    "smallest_change",
    "what_if",
]
