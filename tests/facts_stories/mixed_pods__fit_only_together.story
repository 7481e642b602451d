# A leader of 8 cards and two workers of 4: n1 takes the leader, n2 the workers.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/ml/mixed: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{pods: 1, each: {gpu: 8}, among: [n1, n2]}, {pods: 2, each: {gpu: 4}, among: [n1, n2]}]}}}
----
quiet
waits gang/ml/mixed
