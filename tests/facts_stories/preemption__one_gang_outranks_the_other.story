# Two half-placed gangs, but red may take blue's cards: red starts, ends, then blue.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/red/a: {priority: 100, preemptible: true, holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {priority: 10, preemptible: true, holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
----
quiet
waits gang/red/a
