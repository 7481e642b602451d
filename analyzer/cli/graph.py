"""`knotwatch graph`: who waits for whom, as a drawing."""

from typing import TYPE_CHECKING

import click

from analyzer.cli.described import Described
from analyzer.cli.options import output, paths, reading, replayed
from analyzer.cli.outcome import write

if TYPE_CHECKING:
    from analyzer.sinks.graph_export import Format


@click.command(
    cls=Described,
    short_help="Draw who waits for whom.",
    examples=(
        "knotwatch graph dump/ --format svg -o knot.svg",
        "knotwatch graph dump/ | dot -Tpng > knot.png",
        "knotwatch graph dump/ --format mermaid --all",
        "knotwatch graph dump/ --format json | jq '.edges[]'",
    ),
    epilog="Exit status: 0, or 2 for usage or unreadable input.",
)
@paths
@click.option(
    "--format",
    "form",
    type=click.Choice(["dot", "mermaid", "json", "svg"]),
    default="dot",
    show_default=True,
    help="dot for Graphviz, mermaid for Markdown pages, json (node-link) for programs, svg: a picture.",
)
@click.option("--all", "everything", is_flag=True, help="Also those who wait and will go on, and whom they wait for.")
@output
@reading
def graph(
    paths: tuple[str, ...],
    form: "Format",
    everything: bool,  # noqa: FBT001  click passes flags by name
    output: str | None,
    at_ns: int | None,
    hold_s: float,
    year: int | None,
    tz_offset_s: int | None,
) -> None:
    """The wait-for graph at the end of the recording (or --at TIME): the stuck part, or --all.

    An arrow goes from who waits to who holds what it needs. Members of a ring are drawn bold, requests
    that can never be met as octagons, those stuck behind them as boxes.
    """
    from analyzer.sinks.graph_export import drawing_of, rendered

    done = replayed(paths, at_ns, hold_s, year, tz_offset_s)
    write(rendered(drawing_of(done.engine.view().diagnosis, done.report, everything=everything), form), output)
