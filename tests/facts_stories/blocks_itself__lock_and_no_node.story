# The same, but no node has so many cards: giving back the lock would not help, so it is no knot.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {mutex/etl: 1, gpu/n1: 4}
actors:
  workflow/etl/nested:
    holds: {mutex/etl: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: mutex/etl, count: 1}, {pods: 1, each: {gpu: 8}, among: [n1]}]}}
----
UNPLACEABLE {workflow/etl/nested} root workflow/etl/nested
