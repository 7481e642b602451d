# n2 is empty, but the job may only run on n1, which a service has.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  svc/s/api: {lifetime: endless, holds: {gpu/n1: 8}}
  job/ml/pinned: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 1}, among: [n1]}}}
  job/ml/free: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 1}, among: [n1, n2]}}}
----
UNPLACEABLE {job/ml/pinned} root job/ml/pinned
never names job/ml/free
