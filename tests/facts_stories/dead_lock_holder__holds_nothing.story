# It can never go on and holds nothing: not an orphaned hold. Nobody is harmed but itself and who waits for its end.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/node-1: 8}
actors:
  workload/ml/impossible:
    waits: {since: 2026-01-14T08:00:00Z, needs: {never: "minMember 4, but the Job makes 3 pods"}}
  workload/ml/report: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: workload/ml/impossible}}}
----
UNPLACEABLE {workload/ml/impossible, workload/ml/report} root workload/ml/impossible
