# The same tasks in order: source, prepare, load, train, report. A task that nobody has heard of counts as ended.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  task/dag/prepare: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{done: task/dag/source}, {done: task/dag/ended-long-ago}]}}}
  task/dag/load: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/prepare}}}
  task/dag/train: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/load}}}
  task/dag/report: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{done: task/dag/train}, {done: task/dag/source}]}}}
  task/dag/source: {}
----
quiet
waits task/dag/prepare for task/dag/source
waits task/dag/report for task/dag/source, task/dag/train
