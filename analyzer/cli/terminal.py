"""What the text output may use: width and colours, asked of the terminal once."""

import os
import shutil
import sys

from analyzer.sinks.console import TextFormat

_PIPED_WIDTH = 80
_WIDEST = 120


def text_format(color: str) -> TextFormat:
    """80 columns without colour into a pipe; on a terminal its width, and colour unless NO_COLOR or a dumb one.

    Blocks are drawn on a terminal that reads UTF-8.
    """
    on_terminal = sys.stdout.isatty()
    width = min(shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns, _WIDEST) if on_terminal else _PIPED_WIDTH
    if color == "auto":
        colored = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    else:
        colored = color == "always"
    blocks = on_terminal and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return TextFormat(width=max(width, 40), colored=colored, blocks=blocks)
