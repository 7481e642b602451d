"""`knotwatch replay`: the post mortem."""

from typing import TYPE_CHECKING

import click

from analyzer.cli.described import Described
from analyzer.cli.options import Begin, color, end_of, form_of, output, paths, reading, replayed, window
from analyzer.cli.outcome import FINDINGS, NOTHING_FOUND, finish, write
from analyzer.cli.terminal import text_format

if TYPE_CHECKING:
    from analyzer.run import Replay


@click.command(
    cls=Described,
    short_help="Say what is stuck in a recording, who holds what it needs, and what to stop.",
    examples=(
        "kubectl get nodes,pods,events,jobs -A -o json > dump/all.json && knotwatch replay dump/",
        "knotwatch replay dump/ --at 2026-01-14T09:00:00Z",
        "knotwatch replay dump/ --from 2026-01-14T06:00:00Z --to 2026-01-14T09:00:00Z",
        "knotwatch replay dump/ --from -2h --format html -o report.html",
        "knotwatch replay facts.yaml --format json | jq '.findings[].summary'",
        "knotwatch replay dump/ --fail-on deadlock,orphaned-hold",
    ),
    epilog="Exit status: 0 nothing found, 1 findings that are open at the end, 2 usage or unreadable input.",
)
@paths
@form_of("knotwatch.report/v1", page=True)
@output
@reading
@window
@click.option(
    "--fail-on",
    metavar="RULE,...",
    help="Exit with status 1 for these rules only (see `knotwatch rules`); none: for no finding.  [default: any]",
)
@color
def replay(
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    at_ns: int | None,
    hold_s: float,
    year: int | None,
    tz_offset_s: int | None,
    begin: Begin | None,
    to_ns: int | None,
    fail_on: str | None,
    color: str,
) -> None:
    """Post mortem: what is stuck at the end of the recording (or --at TIME), and what was on the way.

    --from and --to choose the part of the history that is told.

    All PATHs together are one incident: folders of mixed files, in any order.
    """
    counted = _counted_rules(fail_on)
    done = replayed(paths, end_of(at_ns, to_ns), hold_s, year, tz_offset_s, begin=begin)
    write(_shown(done, form, color), output)
    failed = any(row.state == "open" and (counted is None or row.rule in counted) for row in done.report.findings)
    finish(FINDINGS if failed else NOTHING_FOUND)


def _shown(done: "Replay", form: str, color: str) -> bytes | str:
    """The report in the form that was asked for."""
    match form:
        case "json":
            from analyzer.codec.report import encode_report

            return encode_report(done.report)
        case "html":
            from analyzer.sinks.page import page_html

            return page_html(done.report, done.engine.view())
        case _:
            from analyzer.sinks.text import report_text

            return report_text(done.report, text_format(color))


def _counted_rules(fail_on: str | None) -> frozenset[str] | None:
    """The rules that make the exit status 1; None for all."""
    if fail_on is None:
        return None
    from analyzer.detectors import DETECTORS

    known = [detector.rule.id for detector in DETECTORS]
    wanted = [part.strip() for part in fail_on.split(",") if part.strip()]
    if wanted == ["none"]:
        return frozenset()
    for rule in wanted:
        if rule not in known:
            raise click.BadParameter(
                f"{rule!r} is no rule; known are {', '.join(known)}, and none.", param_hint="--fail-on"
            )
    return frozenset(wanted)
