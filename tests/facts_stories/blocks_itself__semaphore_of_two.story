# Two slots: the second one is free, so the nested step gets it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {mutex/etl: 2}
actors:
  workflow/etl/nested:
    holds: {mutex/etl: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {units: mutex/etl, count: 1}}
----
quiet
waits workflow/etl/nested
