# Three and three of the six that can be had.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  svc/s/api: {lifetime: endless, holds: {gpu/n1: 2}}
  gang/ml/pair: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: gpu/n1, count: 3}, {units: gpu/n1, count: 3}]}}}
----
quiet
waits gang/ml/pair
