# A chain behind the orphan: middle holds the node and wants the dead one's lock, last wants the node. One knot, one root.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/db: 1, gpu/node-1: 8}
actors:
  workflow/etl/dead:
    holds: {lock/db: 1}
    waits: {since: 2026-01-14T07:00:00Z, needs: {never: "owner is gone"}}
  workload/ml/middle:
    holds: {gpu/node-1: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/db, count: 1}}
  workload/ml/last: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [node-1]}}}
----
ORPHANED_HOLD {workflow/etl/dead, workload/ml/middle, workload/ml/last} root workflow/etl/dead
idle 8
