# Free: 6 + 6 + 4 = 16. Asked: 5 + 5 + 6 = 16. The six goes to one six, a five to the other, and the last five has four left.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 6, gpu/n2: 6, gpu/n3: 4}
actors:
  gang/ml/mixed: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{pods: 2, each: {gpu: 5}, among: [n1, n2, n3]}, {pods: 1, each: {gpu: 6}, among: [n1, n2, n3]}]}}}
----
UNPLACEABLE {gang/ml/mixed} root gang/ml/mixed
