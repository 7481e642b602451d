# Helpers of a training run were let in first and eat the namespace's quota; the main pod is refused at creation.
# helpers hold 6 of 8 and idle until main is there; main needs 4, 2 are free. If main went on, the helpers would;
# if the helpers went on, they would end and give back 6. Neither is first: a ring.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/ml: 8}
actors:
  workload/ml/helpers:
    holds: {quota/ml: 6}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [workload/ml/main], quorum: 1}}
  controller/ml/main:
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/ml, count: 4}}
  # The helpers name the main run as its pod would be called once it exists.
  workload/ml/main:
    waits: {since: 2026-01-14T08:00:00Z, needs: {done: controller/ml/main}}
----
DEADLOCK hard proven {workload/ml/helpers, workload/ml/main, controller/ml/main}
evict workload/ml/helpers then controller/ml/main
