"""One replay in this process, as a program would read it: the JSON document and the exit status."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from analyzer.cli import main

Report = dict[str, Any]


def run_replay(paths: Sequence[Path], *options: str) -> Result:
    """`knotwatch replay --format json PATHS`; an exception of ours is raised here, not hidden in an exit status."""
    arguments = ["replay", "--format", "json", *options, *map(str, paths)]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def report_of(paths: Sequence[Path], *options: str) -> Report:
    """The report over these paths; fails if there is none."""
    result = run_replay(paths, *options)
    assert result.exit_code in (0, 1), f"exit status {result.exit_code}: {result.stderr or result.output}"
    report: Report = json.loads(result.stdout)
    opened = any(finding["state"] == "open" for finding in report["findings"])
    assert result.exit_code == int(opened), "the exit status says something else than the report"
    return report


def verdicts_of(report: Report) -> Any:
    """What must not depend on how the input was written: all but places in files."""
    findings = [{k: v for k, v in f.items() if k != "citations"} for f in report["findings"]]
    remarks = [{k: v for k, v in r.items() if k != "citations"} for r in report["remarks"]]
    return {**report, "sources": [], "findings": findings, "remarks": remarks}


def bad_citations(report: Report, parent: Path) -> list[str]:
    """Open findings without a place in a file, and places that are not there. `parent`: what paths are relative to."""
    problems = []
    for finding in report["findings"]:
        if not finding["citations"]:
            problems.append(f"{finding['verdict']} {finding['members']} cites nothing")
        for citation in finding["citations"]:
            path = parent / citation["path"]
            lines = path.read_text("utf-8").count("\n") if path.is_file() else 0
            if not 1 <= citation["line"] <= lines:
                problems.append(f"no line {citation['line']} in {citation['path']}")
    return problems
