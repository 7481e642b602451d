# Free: 7 + 6. Asked: 4 + 3 on one, 3 + 3 on the other. Placing the threes first on n1 loses; a search finds it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 7, gpu/n2: 6}
actors:
  gang/ml/mixed: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{pods: 3, each: {gpu: 3}, among: [n1, n2]}, {pods: 1, each: {gpu: 4}, among: [n1, n2]}]}}}
----
quiet
waits gang/ml/mixed
