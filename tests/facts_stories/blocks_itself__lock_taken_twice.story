# A workflow holds the mutex and one of its own steps, the same actor here, wants it once more. Nobody else is involved, so
# no partner may be named: a knot of one. Were its own unit given back, the wish would be met.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {mutex/etl: 1}
actors:
  workflow/etl/nested:
    holds: {mutex/etl: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: mutex/etl, count: 1}}
  workflow/etl/other: {waits: {since: 2026-01-14T08:10:00Z, needs: {units: mutex/etl, count: 1}}}
----
DEADLOCK hard proven {workflow/etl/nested, workflow/etl/other} members {workflow/etl/nested}
evict workflow/etl/nested then workflow/etl/other
