"""The same input gives the same bytes in every process, whatever seed the interpreter hashes with."""

import os
import subprocess
import sys
from pathlib import Path

from tests.kubernetes.scenarios.incident import Incident
from tests.replay.truth import parts_of

TESTS = Path(__file__).parents[1]
SCENARIOS = sorted((TESTS / "kubernetes" / "scenarios").glob("*/*.scenario"))[::6]
STORIES = sorted((TESTS / "facts_stories").glob("*.story"))[::6]
ALL_OUTPUTS = """
import sys
from click.testing import CliRunner
from analyzer.cli import main
commands = (["replay", "--format", "json"], ["replay"], ["graph", "--format", "dot"], ["graph", "--format", "json"])
for path in sys.argv[1:]:
    for words in commands:
        result = CliRunner().invoke(main, [*words, path], catch_exceptions=False)
        print(path.rpartition("/")[2], *words, result.exit_code, result.output)
"""


def _outputs(paths: list[Path], seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", ALL_OUTPUTS, *map(str, paths)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=TESTS.parent)  # noqa: S603 - our own interpreter
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hash_seed_changes_no_byte(tmp_path: Path) -> None:
    paths = []
    for number, scenario in enumerate(SCENARIOS):
        given, _ = parts_of(scenario.read_text("utf-8"))
        paths.append(Incident(given).write(tmp_path / f"incident-{number}"))
    for number, story in enumerate(STORIES):
        facts, _ = parts_of(story.read_text("utf-8"))
        lines = [line for line in facts.splitlines() if line.startswith("{")]
        path = tmp_path / f"facts-{number}"
        path.write_text("\n".join(lines) + "\n" if lines else facts, "utf-8")
        paths.append(path)
    first, *others = (_outputs(paths, seed) for seed in ("0", "1", "2"))
    assert first.count("\n") > len(paths)
    for other in others:
        assert other == first
