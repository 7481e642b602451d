# The same gang of four nodes: one more is needed, and a batch job will give it back.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8}
actors:
  gang/ml/huge:
    holds: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4]}}
  job/ml/batch: {holds: {gpu/n4: 1}}
----
quiet
waits gang/ml/huge for job/ml/batch
