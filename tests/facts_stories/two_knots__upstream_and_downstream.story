# Lock order inverted twice. c and d hold x and y and want each other's; c also wants what a holds. Were a and b to go on,
# c and d would still be stuck: two rings, and the second one does not vanish with the first.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/x: 1, lock/y: 1, lock/p: 1, lock/q: 1}
actors:
  step/w/a: {holds: {lock/p: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/q, count: 1}}}
  step/w/b: {holds: {lock/q: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/p, count: 1}}}
  step/w/c: {holds: {lock/x: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: lock/y, count: 1}, {units: lock/p, count: 1}]}}}
  step/w/d: {holds: {lock/y: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/x, count: 1}}}
----
DEADLOCK {step/w/a, step/w/b} members {step/w/a, step/w/b}
DEADLOCK {step/w/c, step/w/d} members {step/w/c, step/w/d}
