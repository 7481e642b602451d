"""Width and colours: what a pipe, a terminal, NO_COLOR and --color say."""

import os
from pathlib import Path

import pytest

from analyzer.cli.terminal import text_format
from analyzer.sinks.console import TextFormat
from tests.cli.running import KNOT, run


@pytest.mark.parametrize(
    ("color", "terminal", "environment", "colored"),
    [
        ("auto", False, {}, False),
        ("auto", True, {}, True),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
    ],
)
def test_colours_are_for_terminals_unless_told_otherwise(
    color: str,
    terminal: bool,  # noqa: FBT001  pytest passes it by name
    environment: dict[str, str],
    colored: bool,  # noqa: FBT001  pytest passes it by name
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert text_format(color).colored is colored


@pytest.mark.parametrize(("columns", "width"), [(20, 40), (60, 60), (100, 100), (400, 120)])
def test_a_terminal_gives_its_width_within_reason(columns: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda _fallback: os.terminal_size((columns, 24)))
    assert text_format("never") == TextFormat(width=width, colored=False, blocks=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert text_format("never") == TextFormat(width=80, colored=False)


@pytest.mark.parametrize("command", [["replay"], ["why", "gang/red/a"]])
def test_the_option_reaches_the_text(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(KNOT)
    assert "\x1b[" in run(*command, tmp_path, "--color", "always").stdout
    assert "\x1b" not in run(*command, tmp_path).stdout


def test_an_encoding_that_lacks_a_sign_costs_a_question_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess
    import sys

    (tmp_path / "facts.yaml").write_text(KNOT)
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    command = [sys.executable, "-m", "analyzer", "why", "gang/red/a", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  our own command
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert done.stderr == b""
