"""`python -m benchmarks [ROW...]`: measures the rows named, or all, and prints each figure beside its bar."""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

import click

from benchmarks import table
from benchmarks.dump import Form, write_dump
from benchmarks.plan import make_plan
from benchmarks.rows import Row, Scale
from benchmarks.truth import WrongAnswerError

ROWS = ("replay", "engine", "evaluation", "incremental", "memory", "logs", "gigabyte", "exporter", "exporter_memory")
SIZES = (1_000, 10_000, 100_000)


@click.command(epilog="A missed bar is printed, not an error; a wrong answer ends with status 1.")
@click.argument("rows", nargs=-1, type=click.Choice(ROWS))
@click.option("--pods", default=SIZES[-1], show_default=True, help="Pods of the largest cluster.")
@click.option("--runs", default=5, show_default=True, help="Runs of each side; the median counts.")
@click.option("--lines", default=10_000_000, show_default=True, help="Lines of each log.")
@click.option("--megabytes", default=1_000, show_default=True, help="Size of the one large file of pods.")
@click.option("--cycles", default=10_000, show_default=True, help="Cycles of the exporter's life.")
@click.option("--seed", default=1, show_default=True, help="Of the invented clusters.")
@click.option("--folder", type=click.Path(file_okay=False), help="Keep the dumps here (default: thrown away).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
@click.option("--write", is_flag=True, help="Rewrite the table in benchmarks/README.md; takes all rows.")
@click.option("--dump", type=click.Path(file_okay=False), help="Only write a dump of --pods pods into this folder.")
@click.option("--compact", is_flag=True, help="With --dump: no white space, a third of the size.")
@click.option("--managed-fields", is_flag=True, help="With --dump: as --show-managed-fields prints pods.")
def main(
    rows: tuple[str, ...],
    pods: int,
    runs: int,
    lines: int,
    megabytes: int,
    cycles: int,
    seed: int,
    folder: str | None,
    dump: str | None,
    *,
    as_json: bool,
    write: bool,
    compact: bool,
    managed_fields: bool,
) -> None:
    """Measure ROWS of the performance table (all of them if none is named), each against its yardstick in this run."""
    if dump is not None:
        form = Form.COMPACT if compact else Form.PRETTY
        written = write_dump(make_plan(pods, seed=seed), Path(dump), form=form, managed_fields=managed_fields)
        click.echo(f"{written / 1e6:,.1f} MB in {dump}")
        return
    if write and rows:
        raise click.UsageError("--write takes all rows: the table shows one run.")
    with tempfile.TemporaryDirectory(prefix="knotwatch-benchmarks-") as thrown_away:
        sizes = (*(size for size in SIZES if size < pods), pods)
        scale = Scale(
            sizes=sizes,
            runs=runs,
            seed=seed,
            lines=lines,
            megabytes=megabytes,
            cycles=cycles,
            folder=folder or thrown_away,
        )
        Path(scale.folder).mkdir(parents=True, exist_ok=True)
        measured = []
        for command in rows or ROWS:
            row: Row = import_module(f"benchmarks.{command}").ROW
            click.echo(f"{row.what}, against {row.yardstick} (bar {row.bar})", err=as_json)
            try:
                figures = row.measure(scale)
            except WrongAnswerError as error:
                click.echo(f"  {error}", err=True)
                sys.exit(1)
            for figure in figures:
                click.echo(table.line(figure), err=as_json)
            measured.append((row, figures))
    if as_json:
        click.echo(table.as_json(measured))
    if write:
        table.write(measured)


main()
