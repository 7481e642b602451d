# A ring that closed half a minute before the moment the file vouches for: usual jitter, no finding yet.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:30:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:59:30Z, needs: {units: gpu/n1, count: 4}}}
----
quiet
