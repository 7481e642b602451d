# The same, but two units more: 10 - 6 = 4 are free, main starts, the helpers follow.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/ml: 10}
actors:
  workload/ml/helpers:
    holds: {quota/ml: 6}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [workload/ml/main], quorum: 1}}
  workload/ml/main:
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/ml, count: 4}}
----
quiet
waits workload/ml/main
waits workload/ml/helpers for workload/ml/main
