"""Help texts are golden files; each has an example. KNOTWATCH_UPDATE=1 writes them anew."""

import os
from pathlib import Path

import pytest

from analyzer.cli import main
from tests.cli.running import run

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = ["", *sorted(main.commands)]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_as_it_was(command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    golden = GOLDEN / f"{command or 'knotwatch'}.txt"
    if os.environ.get("KNOTWATCH_UPDATE"):
        golden.write_text(result.stdout)
    assert result.stdout == golden.read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_a_terminal(command: str) -> None:
    printed = run(*command.split(), "--help").stdout
    head, _, examples = printed.partition("Examples:\n")
    assert examples.strip().startswith(("knotwatch", "kubectl"))
    assert max(len(line) for line in head.split("\n")) <= 80


def test_the_version_is_the_package_s() -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"knotwatch {version('knotwatch')}\n"


def test_rules_are_the_page_and_one_rule_its_part() -> None:
    from analyzer.detectors.page import rules_page

    assert run("rules").stdout == rules_page()
    one = run("rules", "livelock").stdout
    assert one.startswith("## livelock\n")
    assert one.rstrip() in rules_page()
    assert "## deadlock" not in one
