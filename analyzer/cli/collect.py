"""`knotwatch collect`: one command that gathers what the analyzer reads."""

import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.cli.described import Described
from analyzer.cli.outcome import write
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from analyzer.codec.collection import CollectedRow

_NAMED_BY_KUBECTL = ("kubeconfig", "context", "as")
"""Options that are handed on to kubectl as they are."""

_SPAN = re.compile(r"(?:\d{1,9}(?:\.\d{1,3})?[hms])+", re.ASCII)


def _span(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A span as kubectl takes it, so that a slip of the pen is found before minutes have gone by."""
    if _SPAN.fullmatch(value) is None:
        raise click.BadParameter(f"{value!r} is not a span such as 90s, 30m or 6h.", ctx, param)
    return value


def _namespaces(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names as Kubernetes takes them, each once."""
    from analyzer.collect.kubernetes import is_name

    for value in values:
        if not is_name(value):
            raise click.BadParameter(f"{value!r} cannot be the name of a namespace.", ctx, param)
    return tuple(dict.fromkeys(values))


@click.command(
    cls=Described,
    short_help="Gather what the analyzer reads into one archive, secrets left out.",
    examples=(
        "knotwatch collect && knotwatch replay knotwatch-*.tar.gz",
        "knotwatch collect --context prod --namespace team-red --namespace team-blue",
        "knotwatch collect --from slurm -o incident.tar.gz",
        "tar -xzf incident.tar.gz && less incident/manifest.json",
    ),
    epilog="Exit status: 0 if something was gathered, 2 if nothing was, with one sentence why.",
)
@click.option(
    "--from",
    "origin",
    type=click.Choice(["auto", "kubernetes", "slurm"]),
    default="auto",
    show_default=True,
    help="Where to collect from; auto: wherever kubectl reaches a cluster, and where Slurm's commands are.",
)
@click.option("-o", "--output", metavar="FILE", help="The archive.  [default: knotwatch-TIME.tar.gz]")
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    metavar="NAME",
    multiple=True,
    callback=_namespaces,
    help="Only these.  [default: all]",
)
@click.option(
    "--since",
    default="6h",
    metavar="SPAN",
    callback=_span,
    show_default=True,
    help="How far back logs go (90s, 30m, 6h).",
)
@click.option("--no-logs", is_flag=True, help="Objects only, no logs of schedulers and controllers.")
@click.option("--kubectl", default="kubectl", metavar="PATH", show_default=True, help="The kubectl to run.")
@click.option("--kubeconfig", metavar="FILE", help="As kubectl has it.")
@click.option("--context", metavar="NAME", help="As kubectl has it.")
@click.option("--as", "impersonated", metavar="USER", help="As kubectl has it.")
def collect(
    origin: str,
    output: str | None,
    namespaces: tuple[str, ...],
    since: str,
    no_logs: bool,  # noqa: FBT001  click passes flags by name
    kubectl: str,
    kubeconfig: str | None,
    context: str | None,
    impersonated: str | None,
) -> None:
    """Gather into one tar.gz, with kubectl or Slurm's commands, all that `knotwatch replay` reads.

    It only reads, and takes about two minutes on a large cluster. Secrets and ConfigMaps are never asked for; values
    of environment variables, and what looks like a credential in a command line or a message, are left out. What may
    not be read is named, on standard error and in the archive's manifest.json.
    """
    from analyzer.collect.collecting import Origin, Wish
    from analyzer.collect.collecting import collect as gathered
    from analyzer.collect.parcel import pack

    made_s = int(time.time())
    target = Path(output or time.strftime("knotwatch-%Y%m%dT%H%M%SZ.tar.gz", time.gmtime(made_s)))
    if target.is_dir():
        raise UsageError(f"{target} cannot be written: it is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise UsageError(f"{target} cannot be written: there is no folder {target.parent}.")
    named = zip(_NAMED_BY_KUBECTL, (kubeconfig, context, impersonated), strict=True)
    wish = Wish(
        origin=Origin(origin),
        kubectl=kubectl,
        connection=tuple(f"--{name}={value}" for name, value in named if value),
        namespaces=namespaces,
        since="" if no_logs else since,
    )
    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="knotwatch-") as folder, _progress() as progress:
        manifest = gathered(wish, Path(folder), progress)
        try:
            size = pack(Path(folder), manifest, target, made_s)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {error.strerror or error}.") from error
    files = sum(row.file is not None for row in manifest.commands)
    write(
        f"{target}: {files} lists and logs of {' and '.join(manifest.sources)}, {size / 1e6:.1f} MB. "
        f"Look into it before you give it away; `knotwatch replay {target}` says what is stuck.\n"
    )


class _Telling:
    """A bar on a terminal, a line for each file elsewhere; complaints in either case, and all on standard error."""

    def __init__(self, bar: "Bar | None") -> None:
        self._bar = bar
        self._total = 0

    def more(self, commands: int) -> None:
        self._total += commands
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], total=self._total)

    def done(self, file: str, row: "CollectedRow", *, optional: bool) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1, file=file)
        if row.complaint is not None and not optional:
            self._say(f"knotwatch: {file}: {row.complaint}")
        elif row.file is not None and self._bar is None:
            self._say(f"collected {file} ({row.records})")

    def _say(self, line: str) -> None:
        from analyzer.sinks.console import without_controls

        line = without_controls(line)  # kubectl repeats what a server says
        if self._bar is not None:
            self._bar.console.print(line, highlight=False, markup=False, soft_wrap=True)
        else:
            click.echo(line, err=True)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM and a closed terminal interrupt as Ctrl-C does: nothing that was not looked through is left lying."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heeded = [number for number, action in before.items() if action == signal.SIG_DFL]  # nohup ignores, and so do we
    for number in heeded:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _progress() -> Iterator[_Telling]:
    if not sys.stderr.isatty():
        yield _Telling(None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("collecting"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[file]}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        bar.add_task("collecting", total=None, file="")
        yield _Telling(bar)
