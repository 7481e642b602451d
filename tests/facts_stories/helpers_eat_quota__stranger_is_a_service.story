# A service holds 3 for good, helpers 3, main needs 4 of 8: 2 are free, 5 without the helpers. Only the helpers can
# give, and they wait for main: a ring, in which the service is an assumption and no member.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/ml: 8}
actors:
  workload/ml/helpers:
    holds: {quota/ml: 3}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [workload/ml/main], quorum: 1}}
  workload/ml/main:
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/ml, count: 4}}
  workload/ml/api: {lifetime: endless, holds: {quota/ml: 3}}
----
DEADLOCK {workload/ml/helpers, workload/ml/main}
never names workload/ml/api
