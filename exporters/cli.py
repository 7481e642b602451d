"""The command `knotwatch-exporter`: options and settings to one life of the exporter.

Exit status: 0 stopped in order, or all was read; 1 (`once`) something is down; 2 usage, or settings of no meaning.
"""

import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import click
from msgspec import Struct
from msgspec.structs import replace

from exporters.capture.form import write_capture, written
from exporters.capture.recording import recorded_from_now_on
from exporters.capture.replayed import replayed
from exporters.capture.taking import Wishes, taken
from exporters.collectors import COLLECTORS, Collector
from exporters.config import ConfigError, Settings, read_settings
from exporters.followers import FOLLOWERS
from exporters.serving.changes import Changes, told
from exporters.serving.service import Service, stopped_by_signals
from exporters.subject import Follower, Source
from exporters.working.office import Office
from exporters.working.page import Form, Print

DOWN = 1
UNUSABLE = 2
INTERRUPTED = 130

GPU = "gpu"
"""The collector that asks the driver library."""
CAPTURE_OVER_S = 1.2
"""Between the two looks of a capture, so that activity over a span is in it."""


class Commands(click.Group):
    """A group that turns settings that cannot be meant into one sentence and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  the signature is click's
        return list(self.commands)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]  # click overloads it
        """Run, and end the process with the status that the command line promises."""
        extra["standalone_mode"] = False
        run: Callable[..., Any] = super().main  # overloaded by click on standalone_mode
        try:
            status = run(args, prog_name, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            status = UNUSABLE
        except ConfigError as error:
            say(str(error))
            status = UNUSABLE
        except (click.Abort, KeyboardInterrupt):
            status = INTERRUPTED
        except BrokenPipeError:
            status = 0
            sys.stderr.close()  # a reader that went away is no error
        sys.exit(status or 0)


def say(sentence: str) -> None:
    """One line for the log."""
    click.echo(f"knotwatch-exporter: {sentence}", err=True)


class Option(Struct, frozen=True, kw_only=True):
    """An option of the command line that overrides one key of the settings."""

    name: str
    section: str
    key: str
    text: str
    metavar: str


OPTIONS = (
    Option(name="--listen", section="web", key="listen", metavar="ADDRESS", text="Where to serve."),
    Option(
        name="--web.config.file",
        section="web",
        key="config_file",
        metavar="FILE",
        text="TLS and basic authentication, in the format of Prometheus' exporter-toolkit.",
    ),
    Option(
        name="--textfile",
        section="textfile",
        key="path",
        metavar="FILE",
        text="Also write this file, for the textfile collector of node_exporter.",
    ),
    Option(name="--path.rootfs", section="path", key="rootfs", metavar="FOLDER", text="The node's root folder."),
    Option(name="--path.sysfs", section="path", key="sysfs", metavar="FOLDER", text="The node's sysfs."),
    Option(name="--path.procfs", section="path", key="procfs", metavar="FOLDER", text="The node's proc file system."),
)


def settings_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--config`, and those options of the table that are named (all if none is)."""

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(OPTIONS):
            if not names or option.name in names:
                command = click.option(
                    option.name, option.name[2:].replace(".", "_"), metavar=option.metavar, help=option.text
                )(command)
        return click.option(
            "--config",
            "config",
            metavar="FILE",
            help="Settings, as TOML; what stands on the command line overrides them.",
        )(command)

    return with_options


DCGM_COMPAT = click.option(
    "--dcgm-compat", "dcgm_compat", is_flag=True, help="Also publish under the names of DCGM, for its dashboards."
)
REPLAY = click.option(
    "--replay", "replay", metavar="FILE", help="Read a capture of a node, made by `capture`, instead of this one."
)


def settings_of(config: str | None, given: Mapping[str, str | None]) -> Settings:
    """The file's settings with the options that were given in their place. Raises ConfigError."""
    settings = read_settings(Path(config)) if config else Settings()
    for option in OPTIONS:
        value = given.get(option.name[2:].replace(".", "_"))
        if value is not None:
            section = replace(getattr(settings, option.section), **{option.key: value})
            settings = replace(settings, **{option.section: section})
    return settings


def chosen(settings: Settings, on: Sequence[str], off: Sequence[str]) -> list[Collector]:
    """The collectors to run: the default, changed by the file, then by the command line. Raises ConfigError."""
    by_name = {collector.name: collector for collector in COLLECTORS}
    for name in (*settings.collect.on, *settings.collect.off, *on, *off):
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(by_name) or 'none'}."
            raise ConfigError(f"{name} is no collector; {hint}")
    running = {name for name, collector in by_name.items() if collector.on(settings)}
    running = ((running | set(settings.collect.on)) - set(settings.collect.off) | set(on)) - set(off)
    return [collector for collector in COLLECTORS if collector.name in running]


@contextmanager
def standing_in(replay: str | None, settings: Settings) -> Iterator[Settings]:
    """The settings, within which sources read a capture if one is given. Raises ConfigError."""
    if replay is None:
        yield settings
    else:
        with replayed(Path(replay), settings) as others:
            yield others


def in_capture(collectors: Sequence[Collector], replay: str | None) -> list[Collector]:
    """Those for which a capture can stand in, if one does: what is not in it is not asked of this machine."""
    return [each for each in collectors if each.recorded or replay is None]


def sources_of(collectors: Sequence[Collector], settings: Settings) -> dict[str, Source]:
    """The subjects' lists of these collectors, by name."""
    return {collector.name: collector.source(settings) for collector in collectors}


def followers_of(settings: Settings) -> list[Follower]:
    """All followers that the settings leave on."""
    made = (make(settings) for make in FOLLOWERS)
    return [follower for follower in made if follower is not None]


def with_dcgm(settings: Settings, *, compat: bool) -> Settings:
    """The settings with the names of DCGM turned on, if the command line says so and the file says nothing."""
    if not compat or settings.dcgm.names:
        return settings
    return replace(settings, dcgm=replace(settings.dcgm, names="old"))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 80})
@click.version_option(package_name="knotwatch", message="%(prog)s %(version)s")
def main() -> None:
    """GPUs, RDMA and whose they are, as Prometheus metrics of this node.

    What is published is listed in docs/metrics.md, what can be set in docs/exporter-settings.md.
    """


@main.command(short_help="Serve metrics until told to stop.")
@settings_options()
@click.option("--collect", "on", multiple=True, metavar="NAME", help="Turn a collector on. Repeatable.")
@click.option("--no-collect", "off", multiple=True, metavar="NAME", help="Turn a collector off. Repeatable.")
@DCGM_COMPAT
@REPLAY
def serve(
    config: str | None,
    on: tuple[str, ...],
    off: tuple[str, ...],
    replay: str | None,
    *,
    dcgm_compat: bool,
    **given: str | None,
) -> None:
    """Serve /metrics, /healthz and /readyz, until SIGTERM.

    Reading goes on in the background, each GPU and each RDMA device by a thread of its own, so
    that a call that never returns costs that device alone.
    """
    wanted = with_dcgm(settings_of(config, given), compat=dcgm_compat)
    collectors = in_capture(chosen(wanted, on, off), replay)
    with standing_in(replay, wanted) as settings:
        service = Service(settings, sources_of(collectors, settings), [*followers_of(settings), Changes(say)], say)
        say(f"serving {', '.join(each.name for each in collectors) or 'nothing'} on port {service.listener.port}.")
        with stopped_by_signals(service):
            service.run()


@main.command(short_help="Read everything once, print it, and exit.")
@click.argument("collectors", nargs=-1, metavar="[COLLECTOR]...")
@settings_options("--path.rootfs", "--path.sysfs", "--path.procfs")
@click.option(
    "--within",
    "within_s",
    type=click.FloatRange(min=0.1),
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for what is slow.",
)
@click.option(
    "--over",
    "over_s",
    type=click.FloatRange(min=0.0),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Span between the two looks that activity is told from; 0: one look alone.",
)
@DCGM_COMPAT
@REPLAY
def once(
    collectors: tuple[str, ...],
    config: str | None,
    within_s: float,
    over_s: float,
    replay: str | None,
    *,
    dcgm_compat: bool,
    **given: str | None,
) -> None:
    """Read, print the page as Prometheus text, and exit.

    With names, only these collectors are read. Exit status: 0 all was read, 1 something is down
    (said on standard error), 2 usage.
    """
    wanted = with_dcgm(settings_of(config, given), compat=dcgm_compat)
    every = [each.name for each in COLLECTORS]
    running = chosen(wanted, collectors, [name for name in every if collectors and name not in collectors])
    running = in_capture(running, replay)
    with standing_in(replay, wanted) as settings:
        office = Office(settings, sources_of(running, settings), followers_of(settings))
        complete = office.once(within_s, over_s)
    page = office.page.copy(Print(Form.TEXT), office.clock()) or b""
    sys.stdout.buffer.write(page)
    down = [entry for entry in office.board.entries() if not entry.reading.up]
    for sentence in filter(None, (told(entry.key, entry.reading) for entry in down)):
        say(sentence)
    if not complete:
        say(f"not all was read within {within_s:g} s.")
    click.get_current_context().exit(DOWN if down or not complete else 0)


@main.command(short_help="Write all that this node says into one masked file.")
@click.option("-o", "--output", "output", required=True, metavar="FILE", help="Where to; packed if it ends in .gz.")
@settings_options("--path.rootfs", "--path.sysfs", "--path.procfs")
@click.option("--keep-uuids", is_flag=True, help="Leave the UUIDs of GPUs as they are.")
@click.option(
    "--within",
    "within_s",
    type=click.FloatRange(min=1.0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for what is slow: the driver, then the files.",
)
def capture(config: str | None, output: str, within_s: float, *, keep_uuids: bool, **given: str | None) -> None:
    """Write down what the driver library answers and what files of sysfs and proc say, in one file.

    `serve --replay FILE` and `once --replay FILE` read it on any machine. Serial numbers, UUIDs,
    host names, addresses, UIDs and command names are disguised, each the same wherever it stands;
    command lines and environments are not in it. It is text: look at it before you hand it on.
    """
    settings = settings_of(config, given)
    settings = replace(settings, gpu=replace(settings.gpu, each_link=True))
    gpus = [each for each in COLLECTORS if each.name == GPU]
    with recorded_from_now_on() as recorder:
        office = Office(settings, sources_of(gpus, settings), [])
        complete = office.once(within_s, CAPTURE_OVER_S)
        wishes = Wishes(key=secrets.token_bytes(32), keep_uuids=keep_uuids, files_within_s=within_s)
        found = taken(recorder, settings.path, wishes, office.clock().wall_s)
    if not complete:
        say(f"not all calls of the driver library came back within {within_s:g} s; the capture says which.")
    for sentence in found.left_out:
        say(f"left out: {sentence}.")
    if output == "-":
        sys.stdout.buffer.write(written(found, packed=False))
    else:
        size = write_capture(Path(output), found)
        say(f"wrote {output}, {size / 2**20:.1f} MiB: {found.told()}. It is text; look at it before you hand it on.")
