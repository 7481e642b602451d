# c and d want each other's lock and both also what a dead one keeps: an orphaned hold, and a ring of its own behind it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/x: 1, lock/y: 1, lock/p: 1}
actors:
  step/w/dead: {holds: {lock/p: 1}, waits: {since: 2026-01-14T07:00:00Z, needs: {never: "the node is gone"}}}
  step/w/c: {holds: {lock/x: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: lock/y, count: 1}, {units: lock/p, count: 1}]}}}
  step/w/d: {holds: {lock/y: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/x, count: 1}}}
----
ORPHANED_HOLD {step/w/dead} root step/w/dead may {step/w/c, step/w/d}
DEADLOCK {step/w/c, step/w/d} members {step/w/c, step/w/d}
