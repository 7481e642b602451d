# A gang of five nodes got three of four and waits for two more. Were everybody else gone, it would still be short of one.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8}
actors:
  gang/ml/huge:
    holds: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 8}, among: [n1, n2, n3, n4]}}
  gang/ml/small:
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4]}}
----
# small is not stuck: n4 is free for it.
UNPLACEABLE {gang/ml/huge} root gang/ml/huge
never names gang/ml/small
waits gang/ml/small
