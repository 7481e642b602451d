"""Incidents whose pages the tests look at, and a reader of HTML that knows what is element and what is text."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from analyzer.run import Options, Replay, replay
from analyzer.sinks.page import page_html

HEAD = "schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\n"
SINCE = "since: 2026-01-14T08:00:00Z"
HOSTILE = "</script><img src=x onerror=alert(1)>"
QUOTES = "'\"`&amp;{{7*7}}${8*8}<!--"


def ring(members: int, behind: int = 0) -> str:
    """Gangs in a ring, each with a node of its own that the one before it needs; pods that wait for some of them."""
    resources = ", ".join(f"gpu/n{number}: 8" for number in range(members))
    lines = [f"{HEAD}resources: {{{resources}}}\nactors:"]
    for number in range(members):
        wanted = f"{{units: gpu/n{(number + 1) % members}, count: 4}}"
        lines.append(
            f"  gang/team/train-{number:02d}: {{holds: {{gpu/n{number}: 8}}, waits: {{{SINCE}, needs: {wanted}}}}}"
        )
    for number in range(behind):
        wanted = f"{{units: gpu/n{number % members}, count: 1}}"
        lines.append(f"  pod/team-{number}/eval: {{waits: {{{SINCE}, needs: {wanted}}}}}")
    return "\n".join(lines) + "\n"


def hostile() -> str:
    """A knot of two whose names and words try to be markup."""
    names = json.dumps(f"gang/{HOSTILE}/{'a' * 120}"), json.dumps(f"pod/<b>bold</b>/{QUOTES}")
    said = json.dumps(f"{HOSTILE} --> {QUOTES}")
    waits = [f"waits: {{{SINCE}, said: {said}, needs: {{units: gpu/n{node}, count: 4}}}}" for node in (2, 1)]
    return (
        f"{HEAD}resources: {{gpu/n1: 8, gpu/n2: 8}}\nactors:\n"
        f"  {names[0]}: {{holds: {{gpu/n1: 8}}, {waits[0]}}}\n"
        f"  {names[1]}: {{holds: {{gpu/n2: 8}}, {waits[1]}}}\n"
    )


def history(knots: int) -> str:
    """Knots of two that come and go, an hour each, and one that stays."""
    lines = ['{"schema": "knotwatch.facts/v1", "resources": {"lock/x": 1, "lock/y": 1}}']
    for number in range(knots):
        day, hour = divmod(number, 24)
        time = f"2026-01-{day + 1:02d}T{hour:02d}"
        for who, has, lacks in ((f"job/a/x{number}", "x", "y"), (f"job/a/y{number}", "y", "x")):
            wait = {"needs": {"units": f"lock/{lacks}", "count": 1}}
            lines.append(json.dumps({"at": f"{time}:00:00Z", "actor": who, "holds": {f"lock/{has}": 1}, "waits": wait}))
            if number < knots - 1:
                lines.append(json.dumps({"at": f"{time}:30:00Z", "actor": who, "ended": True}))
    return "\n".join(lines) + "\n"


def queue(waiting: int) -> str:
    """Two gangs that run, and many that wait for one of them to end."""
    lines = [f"{HEAD}resources: {{gpu/n1: 8, gpu/n2: 8}}\nactors:"]
    lines += [f"  gang/red/{name}: {{holds: {{gpu/n{number}: 8}}}}" for number, name in ((1, "a"), (2, "b"))]
    for number in range(waiting):
        wanted = f"{{units: gpu/n{1 + number % 2}, count: {1 + number % 7}}}"
        since = f"since: 2026-01-14T{number % 8:02d}:{number % 60:02d}:00Z"
        lines.append(f"  job/team-{number % 5}/sweep-{number:03d}: {{waits: {{{since}, needs: {wanted}}}}}")
    return "\n".join(lines) + "\n"


def replayed(folder: Path, facts: str, options: Options | None = None) -> Replay:
    """The incident of these facts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts").write_text(facts)
    return replay([str(folder / "facts")], options)


def page(folder: Path, facts: str, options: Options | None = None) -> str:
    """Its page."""
    done = replayed(folder, facts, options)
    return page_html(done.report, done.engine.view()).decode()


class Read(HTMLParser):
    """What a page consists of: elements with their attributes, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag in self.raw:
            self._inside = tag
            self.raw[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, text: str) -> None:
        if self._inside:
            self.raw[self._inside][-1] += text
        else:
            self.words.append(text)

    def all(self, tag: str) -> Iterator[dict[str, str]]:
        """The attributes of all elements with this name."""
        return (attributes for name, attributes in self.elements if name == tag)

    @property
    def text(self) -> str:
        """All text, with single blanks."""
        return " ".join(" ".join(self.words).split())
