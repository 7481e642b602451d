# Eight cards are free on n1, but no CPU; n2 has CPU and no card. Enough of both, nowhere both.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, cpu/n1: 64, gpu/n2: 8, cpu/n2: 64}
actors:
  svc/s/cpu-hog: {lifetime: endless, holds: {cpu/n1: 62}}
  svc/s/gpu-hog: {lifetime: endless, holds: {gpu/n2: 7}}
  job/ml/train: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 4, cpu: 8}, among: [n1, n2]}}}
----
UNPLACEABLE {job/ml/train} root job/ml/train
