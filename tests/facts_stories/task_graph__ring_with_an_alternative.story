# The ring has an exit: prepare is content with yesterday's data (any), which a live task brings.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  task/dag/prepare: {waits: {since: 2026-01-14T08:00:00Z, needs: {any: [{done: task/dag/load}, {done: task/dag/copy}]}}}
  task/dag/load: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/train}}}
  task/dag/train: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/prepare}}}
  task/dag/copy: {}
----
quiet
waits task/dag/prepare for task/dag/copy
