"""`knotwatch why`: one actor, and the chain of reasons down to who must end or what is missing."""

import click

from analyzer.cli.described import Described
from analyzer.cli.options import color, paths, reading, replayed
from analyzer.cli.outcome import FINDINGS, NOTHING_FOUND, finish, write
from analyzer.cli.terminal import text_format


@click.command(
    cls=Described,
    short_help="Say why one actor does not go on, and what would start it.",
    examples=(
        "knotwatch why gang/team-red/job-a dump/",
        "knotwatch why job-a dump/",
        "knotwatch why 'pod/*/trainer-0' dump/ --at 2026-01-14T09:00:00Z",
    ),
    epilog="Exit status: 0 it runs or will go on, 1 it is stuck, 2 usage or unreadable input.",
)
@click.argument("actor", metavar="ACTOR")
@paths
@reading
@color
def why(
    actor: str,
    paths: tuple[str, ...],
    at_ns: int | None,
    hold_s: float,
    year: int | None,
    tz_offset_s: int | None,
    color: str,
) -> None:
    """Why ACTOR does not go on, and the smallest change that starts it, proven as whatif would.

    ACTOR is a name such as gang/team-red/job-a, its end (job-a), or a pattern ('*/job-a'), as long as
    it means one actor only.
    """
    from analyzer import explain
    from analyzer.cli.naming import the_one
    from analyzer.hypothesis import smallest_change
    from analyzer.sinks.why_text import why_text

    done = replayed(paths, at_ns, hold_s, year, tz_offset_s)
    view = done.engine.view()
    name = the_one(actor, view.system.actors)
    answer = explain.why(view, name)
    write(why_text(answer, smallest_change(view, name), text_format(color)))
    finish(FINDINGS if answer.progress is explain.Progress.STUCK else NOTHING_FOUND)
