"""`knotwatch whatif`: the same question, asked of a state that has been changed on paper."""

import click

from analyzer.cli.described import Described
from analyzer.cli.options import color, form_of, paths, reading, replayed
from analyzer.cli.outcome import FINDINGS, NOTHING_FOUND, finish, write
from analyzer.cli.terminal import text_format


def _priorities(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """ACTOR=N, to a name and a number."""
    found = []
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found.append((name, int(number)))
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"{text!r} is not ACTOR=N such as team-red/job-a=1000.", ctx, param)
    return tuple(found)


@click.command(
    cls=Described,
    short_help="Say what would become of it: evict, submit, drain, add, on paper.",
    examples=(
        "knotwatch whatif dump/ --evict gang/team-blue/job-b",
        "knotwatch whatif dump/ --submit job.yaml",
        "knotwatch whatif dump/ --drain gpu-node-3 --add-node node.json",
        "knotwatch whatif dump/ --priority team-red/job-a=1000 --format json",
    ),
    epilog="Exit status: 0 safe, 1 somebody would be stuck, 2 usage or unreadable input.",
)
@paths
@click.option("--evict", multiple=True, metavar="ACTOR", help="This actor is stopped.")
@click.option(
    "--submit",
    multiple=True,
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="This comes: a Kubernetes manifest (Job, Pod, JobSet, ...), an sbatch script, or facts with actors.",
)
@click.option("--drain", multiple=True, metavar="NODE", help="This node is emptied and takes nobody.")
@click.option(
    "--add-node",
    multiple=True,
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="This node comes: a Kubernetes Node or facts with resources.",
)
@click.option("--priority", multiple=True, metavar="ACTOR=N", callback=_priorities, help="The actor has this priority.")
@form_of("knotwatch.whatif/v1")
@reading
@color
def whatif(
    paths: tuple[str, ...],
    evict: tuple[str, ...],
    submit: tuple[str, ...],
    drain: tuple[str, ...],
    add_node: tuple[str, ...],
    priority: tuple[tuple[str, int], ...],
    form: str,
    at_ns: int | None,
    hold_s: float,
    year: int | None,
    tz_offset_s: int | None,
    color: str,
) -> None:
    """What would be if: who starts now, who waits for whom, who never goes on, and whether it is safe.

    The changes are made together to a copy of the state at the end of the recording (or --at TIME);
    each option may be given several times. Safe means that all who wait can be served in some order
    and those that end can end. docs/whatif.md says what is taken for granted.
    """
    from analyzer.cli.hypotheses import Wishes, hypothesis_of
    from analyzer.codec.whatif import encode_whatif, whatif_rows
    from analyzer.hypothesis import what_if
    from analyzer.sources.options import ReadOptions

    wishes = Wishes(evict=evict, submit=submit, drain=drain, add_node=add_node, priority=priority)
    if wishes == Wishes():
        raise click.UsageError("What if what? Give --evict, --submit, --drain, --add-node or --priority.")
    done = replayed(paths, at_ns, hold_s, year, tz_offset_s)
    asked = hypothesis_of(wishes, done, ReadOptions(year=year, tz_offset_s=tz_offset_s))
    answer = what_if(done.engine, asked.changes)
    rows = whatif_rows(answer, asked.asked, asked.notes)
    if form == "json":
        write(encode_whatif(rows))
    else:
        from analyzer.sinks.whatif_text import whatif_text

        write(whatif_text(rows, text_format(color)))
    finish(NOTHING_FOUND if rows.safe else FINDINGS)
