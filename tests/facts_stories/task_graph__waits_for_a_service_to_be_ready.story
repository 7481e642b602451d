# Ready is enough, and it runs. That it will start next once a batch job is through: still only waiting.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 2}
actors:
  svc/s/api: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 2}}}
  job/j/batch: {holds: {gpu/n1: 2}}
  task/dag/sensor: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [svc/s/api], quorum: 1}}}
----
quiet
waits svc/s/api for job/j/batch
waits task/dag/sensor for svc/s/api, job/j/batch
