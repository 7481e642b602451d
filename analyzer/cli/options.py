"""Options that several commands share, and what they become."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from analyzer.cli.outcome import complain
from analyzer.cli.progress import progress
from analyzer.codec.times import SECOND_NS, parse_time

if TYPE_CHECKING:
    from analyzer.run import Replay

Command = TypeVar("Command", bound=Callable[..., Any])

Begin = tuple[int | None, int | None]
"""Where a window begins: a moment in nanoseconds since 1970 UTC, or a span in nanoseconds before the end."""

_SPAN = re.compile(r"-(?P<count>\d{1,9}(?:\.\d{1,3})?) ?(?P<unit>s|min|m|h|d)", re.ASCII)
_UNITS_S = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_ZONE = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)", re.ASCII)


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """An RFC 3339 time, to nanoseconds since 1970 UTC."""
    at_ns = None if value is None else parse_time(value)
    if at_ns is None and value is not None:
        raise click.BadParameter(f"{value!r} is not a time such as 2026-01-14T09:00:00Z.", ctx, param)
    return at_ns


def _begin(ctx: click.Context, param: click.Parameter, value: str | None) -> Begin | None:
    """An RFC 3339 time, or a span before the end (-2h, -30min)."""
    if value is None:
        return None
    span = _SPAN.fullmatch(value.strip())
    if span is not None:
        return None, round(float(span["count"]) * _UNITS_S[span["unit"]] * SECOND_NS)
    at_ns = parse_time(value)
    if at_ns is None:
        raise click.BadParameter(
            f"{value!r} is neither a time such as 2026-01-14T09:00:00Z nor a span before the end such as -2h.",
            ctx,
            param,
        )
    return at_ns, None


def _zone(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """UTC, Z or +HH:MM, to seconds east of UTC."""
    if value is None or value.upper() in ("UTC", "Z"):
        return None if value is None else 0
    match = _ZONE.fullmatch(value)
    if match is None:
        raise click.BadParameter(f"{value!r} is not a zone such as UTC or +02:00.", ctx, param)
    seconds = int(match["hours"]) * 3600 + int(match["minutes"]) * 60
    return -seconds if match["sign"] == "-" else seconds


paths = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(allow_dash=True))

_READING = (
    click.option(
        "--at", "at_ns", metavar="TIME", callback=_moment, help="Stop at this moment, as if nothing later were known."
    ),
    click.option(
        "--hold",
        "hold_s",
        type=click.FloatRange(min=0),
        default=60,
        metavar="SECONDS",
        help="How long something must have been true before it is a finding.",
        show_default=True,
    ),
    click.option(
        "--year", type=click.IntRange(1970, 2261), metavar="YEAR", help="The year of log lines that carry none (klog)."
    ),
    click.option(
        "--tz",
        "tz_offset_s",
        metavar="ZONE",
        callback=_zone,
        help="The zone of log lines that carry none: UTC or +02:00.",
    ),
)

_WINDOW = (
    click.option(
        "--from",
        "begin",
        metavar="TIME",
        callback=_begin,
        help="Tell the history from there on: a time, or a span before the end (-2h, -30min). What came before is "
        "taken in all the same.",
    ),
    click.option(
        "--to", "to_ns", metavar="TIME", callback=_moment, help="Tell the history up to there; the same as --at."
    ),
)

output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write there instead of to standard output.",
)

color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours in text output; auto means on a terminal, unless NO_COLOR is set.",
)


def form_of(contract: str, *, page: bool = False) -> Callable[[Command], Command]:
    """The option that chooses between text, the JSON of this contract, and, where there is one, a page."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", *(["html"] if page else [])]),
        default="text",
        show_default=True,
        help=f"text for people, json ({contract}) for programs{', html for a browser: one page' if page else ''}.",
    )


def window(command: Command) -> Command:
    """The options that choose a part of the history."""
    for option in reversed(_WINDOW):
        command = option(command)
    return command


def end_of(at_ns: int | None, to_ns: int | None) -> int | None:
    """The moment at which the replay ends, of --at and --to."""
    if at_ns is not None and to_ns is not None:
        raise click.UsageError("--at and --to both say where the replay ends: give one of them.")
    return to_ns if at_ns is None else at_ns


def reading(command: Command) -> Command:
    """The options that say how the input is to be read."""
    for option in reversed(_READING):
        command = option(command)
    return command


def replayed(
    paths: tuple[str, ...],
    at_ns: int | None,
    hold_s: float,
    year: int | None,
    tz_offset_s: int | None,
    *,
    begin: Begin | None = None,
) -> "Replay":
    """Replay with these options; a bar on a terminal, and a sentence on stderr for all that was not understood."""
    from analyzer.model.limits import Limits
    from analyzer.run import Options, replay
    from analyzer.sources.options import ReadOptions

    from_ns, last_ns = begin or (None, None)
    if from_ns is not None and at_ns is not None and from_ns > at_ns:
        raise click.UsageError("--from lies after the end: nothing is between them.")
    options = Options(
        at_ns=at_ns,
        from_ns=from_ns,
        last_ns=last_ns,
        limits=Limits(hold_ns=round(hold_s * SECOND_NS)),
        read=ReadOptions(year=year, tz_offset_s=tz_offset_s),
    )
    with progress() as tell:
        done = replay(paths, options, tell)
    complain(
        f"{row.path}{'' if note.line is None else f':{note.line}'}{' ' if note.line is None else ': '}{note.text}"
        for row in done.report.sources
        for note in row.notes
    )
    return done
