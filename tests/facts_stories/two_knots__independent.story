# Two rings that have nothing to do with one another: two findings, not one of four.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/red/c: {holds: {gpu/n2: 5}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 3}}}
  gang/blue/d: {holds: {gpu/n2: 3}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 5}}}
----
DEADLOCK {gang/red/a, gang/blue/b}
DEADLOCK {gang/red/c, gang/blue/d}
