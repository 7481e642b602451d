"""How a command ends: exit statuses, errors as one sentence, a reader that went away, an interrupted run."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from analyzer.cli.described import Described
from analyzer.errors import KnotwatchError, UsageError

NOTHING_FOUND = 0
FINDINGS = 1
UNUSABLE = 2
INTERRUPTED = 130


class Commands(Described, click.Group):
    """A group that turns every known error into one sentence and an exit status, and lists commands as they are run."""

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
        except KnotwatchError as error:
            say(str(error))
            status = UNUSABLE
        except (click.Abort, KeyboardInterrupt):
            status = INTERRUPTED
        except BrokenPipeError:
            status = _reader_went_away()
        sys.exit(status or NOTHING_FOUND)


def finish(status: int) -> NoReturn:
    """End the command with this status."""
    click.get_current_context().exit(status)


def write(content: bytes | str, path: str | None = None) -> None:
    """Put the answer into the file, else on standard output, whole.

    What the terminal's encoding lacks becomes a question mark. Raises UsageError for a file that cannot be written.
    """
    if path is not None and path != "-":
        try:
            Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from None
        return
    if isinstance(content, str):
        content = content.encode(sys.stdout.encoding or "utf-8", "replace")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def complain(sentences: Iterable[str], *, most: int = 20) -> None:
    """What was not understood, one sentence each, on standard error."""
    told = list(sentences)
    for sentence in told[:most]:
        say(sentence)
    if len(told) > most:
        say(f"and {len(told) - most} more; --format json lists all under sources.")


def say(sentence: str) -> None:
    """One sentence on standard error. Names in it may be anybody's, so they cannot steer the terminal."""
    from analyzer.sinks.console import without_controls

    click.echo(f"knotwatch: {without_controls(sentence)}", err=True)


def _reader_went_away() -> int:
    """`knotwatch ... | head` is no error: say nothing, and let nothing be flushed into the closed pipe at exit."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, sys.stdout.fileno())
    return NOTHING_FOUND
