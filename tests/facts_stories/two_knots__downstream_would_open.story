# c is content with d's lock or with a's. There is a ring of edges between c and d, but were a and b to go on, c and then d
# would: they are behind the one ring, not a second one.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/x: 1, lock/y: 1, lock/p: 1, lock/q: 1}
actors:
  step/w/a: {holds: {lock/p: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/q, count: 1}}}
  step/w/b: {holds: {lock/q: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/p, count: 1}}}
  step/w/c: {holds: {lock/x: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/y, count: 1}, {units: lock/p, count: 1}]}}}
  step/w/d: {holds: {lock/y: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/x, count: 1}}}
----
DEADLOCK {step/w/a, step/w/b, step/w/c, step/w/d} members {step/w/a, step/w/b}
