# The holder is dead, but the waiter takes either of two locks and the other one will come back: nobody is stuck but
# the dead one itself.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/a: 1, lock/b: 1}
actors:
  workflow/etl/dead:
    holds: {lock/a: 1}
    waits: {since: 2026-01-14T07:00:00Z, needs: {never: "its node is gone"}}
  workflow/etl/alive: {holds: {lock/b: 1}}
  workflow/etl/waiter:
    waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{units: lock/a, count: 1}, {units: lock/b, count: 1}]}}
----
ORPHANED_HOLD {workflow/etl/dead} root workflow/etl/dead
never names workflow/etl/waiter
waits workflow/etl/waiter for workflow/etl/alive
