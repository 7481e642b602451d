# The same ring, a minute old.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:30:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:59:00Z, needs: {units: gpu/n1, count: 4}}}
----
DEADLOCK {gang/red/a, gang/blue/b}
