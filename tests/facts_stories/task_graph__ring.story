# A task graph with a ring: load waits for train, train for prepare, prepare for load. report waits for train.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  task/dag/prepare: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/load}}}
  task/dag/load: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/train}}}
  task/dag/train: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/prepare}}}
  task/dag/report: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{done: task/dag/train}, {done: task/dag/source}]}}}
  task/dag/source: {}
----
DEADLOCK hard {task/dag/prepare, task/dag/load, task/dag/train, task/dag/report} members {task/dag/prepare, task/dag/load, task/dag/train}
never names task/dag/source
