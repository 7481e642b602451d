# Two serving groups of three nodes each got two, and a batch job has the fifth and sixth node: when it ends both go on.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8, gpu/n5: 8, gpu/n6: 8}
actors:
  gang/red/a:
    lifetime: endless
    holds: {gpu/n1: 8, gpu/n2: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4, n5, n6]}}
  gang/blue/b:
    lifetime: endless
    holds: {gpu/n3: 8, gpu/n4: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4, n5, n6]}}
  job/ml/batch: {holds: {gpu/n5: 8, gpu/n6: 8}}
----
quiet
waits gang/red/a for job/ml/batch
waits gang/blue/b for job/ml/batch
