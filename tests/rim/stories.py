"""Incidents for the tests of what people and programs are shown."""

from pathlib import Path

KNOT = """schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, lock/etl: 1}
actors:
  gang/red/a:
    running_since: 2026-01-14T07:00:00Z
    holds: {gpu/n1: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 4}, said: "0/3 nodes are available"}
  gang/blue/b:
    running_since: 2026-01-14T07:30:00Z
    recreated: true
    holds: {gpu/n2: 8}
    waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n1, count: 4}}
  pod/green/c:
    waits: {since: 2026-01-14T08:20:00Z, needs: {units: gpu/n1, count: 1}}
  service/web/d:
    lifetime: endless
    holds: {gpu/n3: 6}
  gang/green/big:
    waits: {since: 2026-01-14T08:30:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n3]}}
  job/etl/dead:
    holds: {lock/etl: 1}
    waits: {since: 2026-01-14T08:40:00Z, needs: {never: its node is gone}}
  job/etl/next:
    waits: {since: 2026-01-14T08:50:00Z, needs: {units: lock/etl, count: 1}}
  job/etl/lucky:
    waits: {since: 2026-01-14T08:55:00Z, needs: {units: gpu/n3, count: 2}}
"""

QUEUE = """schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 8}}
  gang/blue/b: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/c: {waits: {since: 2026-01-14T08:30:00Z, needs: {done: gang/red/a}}}
"""

RESOLVED = """{"schema": "knotwatch.facts/v1", "as_of": "2026-01-14T09:00:00Z", "resources": {"a": 1, "b": 1}}
{"at": "2026-01-14T08:00:00Z", "actor": "job/x/one", "holds": {"a": 1}, "waits": {"needs": {"units": "b", "count": 1}}}
{"at": "2026-01-14T08:00:00Z", "actor": "job/x/two", "holds": {"b": 1}, "waits": {"needs": {"units": "a", "count": 1}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/x/three"}
{"at": "2026-01-14T08:20:00Z", "actor": "job/x/two", "ended": true}
"""

STORIES = {"knot": KNOT, "queue": QUEUE, "resolved": RESOLVED}


def written(folder: Path, story: str) -> Path:
    """The story as a folder `incident` below the given one."""
    incident = folder / "incident"
    incident.mkdir(parents=True)
    (incident / "facts.yaml").write_text(STORIES[story])
    (incident / "README").write_text("what happened\n")
    return incident
