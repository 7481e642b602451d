# Each of three takes either of two locks, and the locks are held by the other two: an OR-knot. A cycle alone would prove
# nothing here; there is no way out of the set.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/a: 1, lock/b: 1, lock/c: 1}
actors:
  step/w/a: {holds: {lock/a: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/b, count: 1}, {units: lock/c, count: 1}]}}}
  step/w/b: {holds: {lock/b: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/a, count: 1}, {units: lock/c, count: 1}]}}}
  step/w/c: {holds: {lock/c: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/a, count: 1}, {units: lock/b, count: 1}]}}}
----
DEADLOCK {step/w/a, step/w/b, step/w/c} members {step/w/a, step/w/b, step/w/c}
