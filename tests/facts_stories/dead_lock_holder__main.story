# A workflow was deleted, its lock was not given back. first and second want the lock; third waits for second's end.
# No ring: the dead one waits for nothing that can happen. bystander wants another lock whose holder lives.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/db: 1, lock/cache: 1}
actors:
  workflow/etl/dead:
    holds: {lock/db: 1}
    waits: {since: 2026-01-14T07:00:00Z, needs: {never: "the workflow was deleted and its lock was kept"}}
  workflow/etl/first: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/db, count: 1}}}
  workflow/etl/second: {waits: {since: 2026-01-14T08:05:00Z, needs: {units: lock/db, count: 1}}}
  workflow/etl/third: {waits: {since: 2026-01-14T08:06:00Z, needs: {done: workflow/etl/second}}}
  workflow/etl/alive: {holds: {lock/cache: 1}}
  workflow/etl/bystander: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/cache, count: 1}}}
----
ORPHANED_HOLD hard {workflow/etl/dead, workflow/etl/first, workflow/etl/second, workflow/etl/third} root workflow/etl/dead
never names workflow/etl/bystander
waits workflow/etl/bystander for workflow/etl/alive
evict workflow/etl/dead then workflow/etl/first
