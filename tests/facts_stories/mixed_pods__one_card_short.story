# One service card on n2: leader on n1, one worker on n2, no place for the other. Each shape alone would fit.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  svc/s/small: {lifetime: endless, holds: {gpu/n2: 1}}
  gang/ml/mixed: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{pods: 1, each: {gpu: 8}, among: [n1, n2]}, {pods: 2, each: {gpu: 4}, among: [n1, n2]}]}}}
----
UNPLACEABLE {gang/ml/mixed} root gang/ml/mixed
never names svc/s/small
