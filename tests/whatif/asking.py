"""Asks the command, as a program would."""

import json
from pathlib import Path
from typing import Any

from tests.cli.running import run

Rows = dict[str, Any]


def ask(folder: Path, state: str | Path, *options: str, **files: str) -> Rows:
    """The JSON answer about this state (facts, or a recording's folder); `{name}` in an option is that file's path."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(state, str):
        given = folder / "state.yaml"
        given.write_text(f"schema: knotwatch.facts/v1\nas_of: 2026-01-14T09:00:00Z\n{state}")
    else:
        given = state
    places = {}
    for name, text in files.items():
        places[name] = folder / f"{name}.yaml"
        places[name].write_text(text)
    result = run("whatif", given, "--format", "json", *(option.format(**places) for option in options))
    assert result.exit_code in (0, 1), result.output + result.stderr
    rows: Rows = json.loads(result.stdout)
    assert result.exit_code == int(not rows["safe"])
    return rows


def fates(rows: Rows) -> dict[str, str]:
    """What becomes of each actor that was asked about."""
    return {row["actor"]: row["fate"] for row in rows["actors"]}


def turns(rows: Rows) -> list[tuple[str, str, list[str]]]:
    """Each finding's turn, verdict and members."""
    return [(row["turn"], row["verdict"], row["members"]) for row in rows["findings"]]
