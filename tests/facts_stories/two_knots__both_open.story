# Both nodes are larger by what the smaller wish needs.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 12, gpu/n2: 11}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/red/c: {holds: {gpu/n2: 5}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 3}}}
  gang/blue/d: {holds: {gpu/n2: 3}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 5}}}
----
quiet
waits gang/blue/d for gang/red/c
