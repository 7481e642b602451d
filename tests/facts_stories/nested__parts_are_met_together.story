# Two parts of four cards on one node ask eight. A service keeps two: six can ever be had, though each part alone fits.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  svc/s/api: {lifetime: endless, holds: {gpu/n1: 2}}
  gang/ml/pair: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: gpu/n1, count: 4}, {units: gpu/n1, count: 4}]}}}
----
UNPLACEABLE {gang/ml/pair} root gang/ml/pair
