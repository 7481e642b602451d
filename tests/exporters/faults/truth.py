"""What was true of the simulated node, and when: what a page may say, and what it may not."""

from collections import defaultdict

from msgspec import Struct

Labels = frozenset[tuple[str, str]]
Place = tuple[str, Labels]
"""A series: its family, and its labels."""
Page = dict[Place, float]


class Span(Struct):
    """A value, from when on and until when it was so (monotonic)."""

    value: float
    since_s: float
    until_s: float = float("inf")


def place(family: str, **labels: str) -> Place:
    """A series by the family's short name."""
    return f"knotwatch_{family}", frozenset(labels.items())


class Truth:
    """Every value that the node ever had, for the families of which it is known."""

    def __init__(self) -> None:
        self._spans: dict[Place, list[Span]] = defaultdict(list)

    def is_now(self, where: Place, value: float | None, now_s: float) -> None:
        """From now on the series has this value; None: it has none."""
        spans = self._spans[where]
        if spans and spans[-1].until_s == float("inf"):
            if spans[-1].value == value:
                return
            spans[-1].until_s = now_s
        if value is not None:
            spans.append(Span(value, now_s))

    @property
    def families(self) -> frozenset[str]:
        """Families of which all is known: a series of them that never was true is made up."""
        return frozenset(family for family, _ in self._spans)

    def was(self, where: Place, value: float, since_s: float) -> bool:
        """Whether the series had the value at some time since then."""
        return any(
            abs(span.value - value) <= 1e-9 * abs(value) and span.until_s >= since_s
            for span in self._spans.get(where, ())
        )


class Counters:
    """What was counted on pages before: a counter goes back only when what it is of was reset in between."""

    def __init__(self) -> None:
        self._seen: dict[Place, tuple[float, float]] = {}
        self._reset_s: dict[str, float] = {}

    def reset(self, name: str, now_s: float) -> None:
        """A GPU or an RDMA device counts from nothing again."""
        self._reset_s[name] = now_s

    def fallen(self, page: Page, now_s: float, old_s: float) -> list[str]:
        """The counters of the page that went back without a reset. `old_s`: how old a value on a page may be."""
        found = []
        for (family, labels), value in page.items():
            if not family.endswith("_total"):
                continue
            named = {key: text for key, text in labels if key != "gpu"}
            where = family, frozenset(named.items())
            before, seen_s = self._seen.get(where, (value, now_s))
            reset_s = max((self._reset_s.get(text, float("-inf")) for text in named.values()), default=float("-inf"))
            if value < before and reset_s < seen_s - old_s:
                found.append(f"{family} {named}: {before} to {value}")
            self._seen[where] = value, now_s
        return found
