"""What the exporter counts about itself. Every count has a bounded set of labels."""

from collections import Counter

from exporters.subject import ReadError

ERRORS_MAX = 256
"""Pairs of call and code that are counted apart; the rest is counted as `other`, since codes come from outside."""

OTHER = ReadError("other", "other")


class Accounts:
    """Counts since the start. Written by the crew's thread alone."""

    def __init__(self) -> None:
        self.errors: Counter[ReadError] = Counter()
        self.skipped: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.duplicates = 0
        self.rejected = 0
        self.subjects_refused = 0

    def count_error(self, error: ReadError) -> None:
        """A call failed."""
        self.errors[error if error in self.errors or len(self.errors) < ERRORS_MAX else OTHER] += 1
