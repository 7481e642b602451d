"""Runs the command in this process, as a pipe would see it."""

from pathlib import Path

from click.testing import CliRunner, Result

from analyzer.cli import main

KNOT = """schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/a:
    running_since: 2026-01-14T07:00:00Z
    holds: {gpu/n1: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 4}}
  gang/blue/b:
    running_since: 2026-01-14T07:30:00Z
    holds: {gpu/n2: 8}
    waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n1, count: 4}}
  pod/green/c:
    waits: {since: 2026-01-14T08:20:00Z, needs: {units: gpu/n1, count: 1}}
"""

QUEUE = """schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 8}}
  gang/blue/b: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
"""


def run(*arguments: str | Path, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=given, prog_name="knotwatch")
