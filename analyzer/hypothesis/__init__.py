"""What would be if: changes to a copy of the state, and the same questions asked of it. Pure, like the engine below."""

from analyzer.hypothesis.changes import Change, Drain, Evict, Prioritise, Restate
from analyzer.hypothesis.question import Answer, Fate, FindingFate, Outlook, Turn, what_if

__all__ = [
    "Answer",
    "Change",
    "Drain",
    "Evict",
    "Fate",
    "FindingFate",
    "Outlook",
    "Prioritise",
    "Restate",
    "Turn",
    "what_if",
]
