# Helpers hold 2, a stranger's batch job 4, main needs 4 of 8: 2 are free, and 6 once the stranger has ended.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/ml: 8}
actors:
  workload/ml/helpers:
    holds: {quota/ml: 2}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [workload/ml/main], quorum: 1}}
  workload/ml/main:
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/ml, count: 4}}
  workload/ml/stranger: {holds: {quota/ml: 4}}
----
quiet
waits workload/ml/main for workload/ml/stranger
