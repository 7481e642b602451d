# The same three, but c is content with a licence that a batch job will give back: c ends, then a and b.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/a: 1, lock/b: 1, lock/c: 1, licence/x: 1}
actors:
  step/w/a: {holds: {lock/a: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/b, count: 1}, {units: lock/c, count: 1}]}}}
  step/w/b: {holds: {lock/b: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/a, count: 1}, {units: lock/c, count: 1}]}}}
  step/w/c: {holds: {lock/c: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/a, count: 1}, {units: licence/x, count: 1}]}}}
  step/w/user: {holds: {licence/x: 1}}
----
quiet
waits step/w/c for step/w/user
waits step/w/a for step/w/c
