# A batch job holds 4 more cards of the node: when it ends a or b goes on, and then all do.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 12}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  job/green/c: {waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n1, count: 2}}}
  job/green/batch: {holds: {gpu/n1: 4}}
----
quiet
waits gang/red/a for job/green/batch
waits job/green/c for job/green/batch
