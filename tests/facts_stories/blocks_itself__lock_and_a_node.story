# It takes the lock twice, and needs a node besides. The node alone could be had: the knot is the lock, and it is its own.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {mutex/etl: 1, gpu/n1: 8}
actors:
  workflow/etl/nested:
    holds: {mutex/etl: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: mutex/etl, count: 1}, {pods: 1, each: {gpu: 8}, among: [n1]}]}}
  job/etl/batch: {holds: {gpu/n1: 8}}
----
DEADLOCK {workflow/etl/nested} members {workflow/etl/nested}
never names job/etl/batch
