"""One thing to collect: the command that prints it, the file that it becomes, and what is taken out on the way."""

from enum import StrEnum

from msgspec import Struct


class Redaction(StrEnum):
    """What the output of a command is, which decides what is taken out of it (`analyzer.collect.redaction`)."""

    OBJECTS = "objects"
    """Kubernetes objects as JSON: a tree in which known places hold secrets."""
    JSON = "json"
    """Any other JSON: every text in it is looked at like a line."""
    LINES = "lines"
    """Text: tables, listings and logs, line by line."""


class Command(Struct, frozen=True, kw_only=True):
    """A command that only reads, and prints what it read on standard output.

    `file` is the name inside the archive, with `/` between folders. `optional` says that a cluster without it is
    whole: a failure is told in the manifest and nowhere else. `timeout_s` bounds how long it may take.
    """

    file: str
    argv: tuple[str, ...]
    redact: Redaction
    timeout_s: int = 60
    optional: bool = False
