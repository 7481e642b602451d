"""Writes what is generated in the documents: `make docs`, or `python -m docs.build --check` to compare only.

Generated are docs/rules.md, docs/commands.md, docs/metrics.md, docs/exporter-settings.md, docs/report.schema.json,
docs/whatif.schema.json, and in every Markdown file the code block after a line `<!-- output of: knotwatch ... -->`,
which quotes what that command prints into a pipe; with `, up to "WORDS"` only what stands before the line that begins
with these words.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import click
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.codec.schema import schema_text
from analyzer.codec.whatif import whatif_schema_text
from analyzer.detectors.page import rules_page
from exporters.catalog.page import metrics_page
from exporters.cli import main as exporter
from exporters.config import settings_page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
COMMANDS: dict[str, click.Command] = {"knotwatch": main, "knotwatch-exporter": exporter}
QUOTE = re.compile(
    r'(?P<head><!-- output of: (?P<command>knotwatch[^\n"]*?)(?:, up to "(?P<end>[^"\n]+)")? -->\n\n?```[a-z]*\n)'
    r"(?P<body>.*?)(?P<tail>```\n)",
    re.DOTALL,
)


def printed(command: str) -> str:
    """What the command prints on standard output; it runs in this process, from the root of the repository."""
    name, *arguments = shlex.split(command)
    with chdir(ROOT):
        result = CliRunner().invoke(COMMANDS[name], arguments, prog_name=name)
    if result.exit_code not in {0, 1}:
        raise SystemExit(f"{command}: exit status {result.exit_code}\n{result.output}{result.exception or ''}")
    return result.stdout


def command_paths(command: click.Command, path: str) -> Iterator[str]:
    """`knotwatch`, `knotwatch replay`, and so on, in the order in which help lists them."""
    yield path
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            if not command.commands[name].hidden:
                yield from command_paths(command.commands[name], f"{path} {name}")


def commands_page() -> str:
    """docs/commands.md: the help of every command, word for word."""
    parts = ["<!-- Generated from the commands' help by `make docs`. -->\n\n# Commands\n"]
    paths = [path for name, command in COMMANDS.items() for path in command_paths(command, name)]
    parts += [f"## {path}\n\n```text\n{printed(path + ' --help')}```\n" for path in paths]
    return "\n".join(parts)


def quoted(text: str) -> str:
    """The Markdown text with every quoted output as it is now."""

    def anew(found: re.Match[str]) -> str:
        body = printed(found["command"])
        if found["end"]:
            body, end, _ = body.partition("\n" + found["end"])
            if not end:
                raise SystemExit(f"{found['command']}: no line begins with {found['end']!r}")
        return found["head"] + body.rstrip("\n") + "\n" + found["tail"]

    return QUOTE.sub(anew, text)


def markdown_files() -> list[Path]:
    """Documents in which output may be quoted."""
    return sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), *(ROOT / "analyzer").glob("**/*.md")])


def generated() -> dict[Path, str]:
    """Every generated file with the text it should have."""
    pages = {
        DOCS / "rules.md": rules_page(),
        DOCS / "commands.md": commands_page(),
        DOCS / "metrics.md": metrics_page(),
        DOCS / "exporter-settings.md": settings_page(),
        DOCS / "report.schema.json": schema_text(),
        DOCS / "whatif.schema.json": whatif_schema_text(),
    }
    for path in markdown_files():
        text = path.read_text(encoding="utf-8")
        if path not in pages and QUOTE.search(text):
            pages[path] = quoted(text)
    return pages


def stale() -> dict[Path, str]:
    """Those of the generated files that do not have the text they should have."""
    return {
        path: text
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def build() -> None:
    """Write the files that are not in step, or with `--check` only name them and fail."""
    only_check = "--check" in sys.argv[1:]
    out_of_step = stale()
    for path, text in out_of_step.items():
        name = path.relative_to(ROOT)
        if only_check:
            sys.stderr.write(f"{name} is not in step with the program: run `make docs`\n")
        else:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {name}\n")
    if only_check and out_of_step:
        raise SystemExit(1)
    if not out_of_step:
        sys.stdout.write("all documents are in step\n")


if __name__ == "__main__":
    build()
