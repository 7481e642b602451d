"""Start-up is quick: nothing heavy is loaded before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import KNOT

PROGRAM = """
import sys
from analyzer.cli import main
try:
    main(sys.argv[1:], prog_name="knotwatch")
except SystemExit:
    pass
sys.stderr.write(" ".join(sys.modules))
"""


def loaded(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own command
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("replay", "--help"), ("collect", "--help"), ("--version",)])
def test_help_loads_neither_engine_nor_sources_nor_rich(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert (
        not {"kubernetes", "networkx", "rich", "yaml", "analyzer.engine", "analyzer.run", "analyzer.detectors"}
        & modules
    )


def test_a_small_replay_loads_no_client_and_no_graph_library(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(KNOT)
    text = loaded("replay", str(tmp_path))
    assert not {"kubernetes", "networkx", "jinja2", "urllib.request", "ssl"} & text
    assert "rich" in text
    quiet = loaded("replay", "--format", "json", str(tmp_path))
    assert not {"kubernetes", "networkx", "rich"} & quiet
