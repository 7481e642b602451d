"""From a report to the page: what its templates are given, and the one document that comes out.

The page loads nothing: style, scripts and pictures are in it, and its content security policy forbids everything
else. Whatever comes from the input is text: templates escape it, and what the script reads is JSON.
"""

from base64 import b64encode
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct

from analyzer.codec.report import ActionRow, FindingRow, Report, WaitingRow
from analyzer.sinks.console import harmless
from analyzer.sinks.page.picture import Picture, picture_of
from analyzer.sinks.page.timeline_chart import STEPS_MAX, chart_of, steps_of
from analyzer.sinks.phrases import action_parts, clock, commands, joined, plural
from analyzer.sinks.sentences import (
    costs,
    doubts,
    has_pods,
    headline,
    holdings,
    needed_kinds,
    next_step,
    places,
    reasons,
    remark_groups,
    standing,
    stuck_count,
    unread,
    verdict_words,
    waited,
    waiting_groups,
    wish,
)
from analyzer.sinks.timeline import timeline_of
from analyzer.state.view import View

FINDINGS_MAX = 50
"""Findings told at length, of those that are open and of those that have resolved."""

GROUPS_MAX = 300
_ACTIONS_MAX = 8
_NAMES_MAX = 60


class ActionShown(Struct, frozen=True, kw_only=True):
    """A proposal: what to do, what comes of it, what it costs, and what to type."""

    act: str
    effect: str
    price: str
    useless: bool
    commands: tuple[str, ...]


class FindingShown(Struct, frozen=True, kw_only=True):
    """A finding as its card tells it."""

    row: FindingRow
    verdict: str
    doubts: tuple[str, ...]
    standing: str
    holdings: tuple[tuple[str, str], ...]
    actions: tuple[ActionShown, ...]
    actions_more: int
    costs: tuple[str, ...]
    reasons: tuple[str, ...]
    places: tuple[str, ...]


class WaitShown(Struct, frozen=True, kw_only=True):
    """Actors that wait for the same."""

    actors: tuple[str, ...]
    lasting: str
    needs: str
    then: str

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.actors)


class Tile(Struct, frozen=True):
    """A number that matters, and what it counts."""

    number: str
    what: str
    mood: str


def page_html(report: Report, view: View) -> bytes:
    """The page, in UTF-8. The same report and view give the same bytes."""
    shown = harmless(report)
    picture = picture_of(shown, view)
    return _rendered(shown, picture).encode("utf-8", "replace")


def _rendered(report: Report, picture: Picture | None) -> str:
    sentence, mood = headline(report)
    style, script, library = _asset("page.css"), _asset("page.js"), _asset("vendor/cytoscape/cytoscape.min.js")
    timeline = timeline_of(report)
    still_open = [row for row in report.findings if row.state == "open"]
    resolved = [row for row in report.findings if row.state == "resolved"]
    return (
        _environment()
        .get_template("page.html")
        .render(
            policy=_policy(style, [script, *([library] if picture else [])]),
            style=style,
            script=script,
            library=library,
            graph=None if picture is None else picture.as_json(),
            svg=None if picture is None else picture.svg,
            picture=picture,
            version=version("knotwatch"),
            report=report,
            headline=sentence,
            mood=mood,
            window="" if report.window is None else f"{clock(report.window.start)} to {clock(report.window.end)}",
            tiles=_tiles(report, still_open, resolved),
            open=[_finding(row, report) for row in still_open[:FINDINGS_MAX]],
            open_more=still_open[FINDINGS_MAX:],
            resolved=[_finding(row, report) for row in resolved[-FINDINGS_MAX:]],
            resolved_more=max(0, len(resolved) - FINDINGS_MAX),
            chart=None if timeline is None else chart_of(timeline),
            steps_more=0 if timeline is None else max(0, len(timeline.steps) - STEPS_MAX),
            steps=[] if timeline is None else steps_of(timeline),
            waiting=[(heading, _waits(groups, report)) for heading, groups in waiting_groups(report)],
            groups_max=GROUPS_MAX,
            names_max=_NAMES_MAX,
            remarks=list(remark_groups(report)),
            unread=unread(report.sources),
        )
    )


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("analyzer.sinks.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["moment"] = _moment
    made.filters["before"] = lambda name: name[: name.rfind("/") + 1]
    made.filters["ending"] = lambda name: name[name.rfind("/") + 1 :]
    return made


def _moment(time: str) -> str:
    """`2026-01-14 08:01:00`, in UTC; of no time, nothing."""
    return time[:19].replace("T", " ")


def _asset(name: str) -> str:
    return files("analyzer.sinks.page").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


def _policy(style: str, scripts: list[str]) -> str:
    """The content security policy: this style and these scripts, known by their digests, and nothing from anywhere."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _tiles(report: Report, still_open: list[FindingRow], resolved: list[FindingRow]) -> list[Tile]:
    stuck, idle = stuck_count(report), sum(row.idle_gpus for row in still_open)
    return [
        Tile(f"{len(still_open):,}", f"{plural('finding', len(still_open))} open", "bad" if still_open else "good"),
        Tile(f"{stuck:,}", f"{plural('actor', stuck)} stuck", "bad" if stuck else "good"),
        Tile(f"{idle:,}", f"{plural('GPU', idle)} idle with them", "bad" if idle else ""),
        Tile(f"{len(report.waiting):,}", "merely waiting", ""),
        *([Tile(f"{len(resolved):,}", "resolved on the way", "")] if resolved else []),
    ]


def _waits(groups: list[list[WaitingRow]], report: Report) -> list[WaitShown]:
    return [
        WaitShown(
            actors=tuple(row.actor for row in same),
            lasting=waited(same, report),
            needs=wish(same[0]),
            then=next_step(same[0]),
        )
        for same in groups
    ]


def _finding(row: FindingRow, report: Report) -> FindingShown:
    actions = joined(row.actions)
    orphan = row.verdict == "ORPHANED_HOLD"
    typed = has_pods(report) and not orphan
    needed = needed_kinds(row)
    return FindingShown(
        row=row,
        verdict=verdict_words(row.verdict),
        doubts=doubts(row),
        standing=standing(row, report),
        holdings=tuple(holdings(row)),
        actions=tuple(_action(action, needed, orphan=orphan, typed=typed) for action in actions[:_ACTIONS_MAX]),
        actions_more=max(0, len(actions) - _ACTIONS_MAX),
        costs=tuple(costs(row, report)),
        reasons=tuple(reasons(row)),
        places=tuple(places(row)),
    )


def _action(action: ActionRow, needed: set[str], *, orphan: bool, typed: bool) -> ActionShown:
    act, effect, price = action_parts(action, needed, orphan=orphan)
    return ActionShown(
        act=act,
        effect=effect,
        price=price,
        useless=action.cost.useless,
        commands=tuple(commands(action)) if typed else (),
    )
