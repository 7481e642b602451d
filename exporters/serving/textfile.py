"""The page as a file for the textfile collector of node_exporter.

A reader sees a whole page or none; the file's own age is what node_exporter publishes as
`node_textfile_mtime_seconds`, and it goes with the exporter when that stops in order.
"""

import os
from contextlib import suppress
from pathlib import Path

MODE = 0o644
"""node_exporter runs as a user of its own."""


def write_page(path: Path, page: bytes) -> None:
    """Put the page where the file is, in one step. Raises OSError."""
    # The name does not end in .prom, so node_exporter never reads the half of it.
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            os.fchmod(file.fileno(), MODE)
            file.write(page)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


def remove_page(path: Path) -> None:
    """Take the file away: values of an exporter that has stopped are no values."""
    with suppress(OSError):
        path.unlink()
