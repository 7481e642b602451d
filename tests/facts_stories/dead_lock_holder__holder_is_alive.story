# The same queue, but the holder works: first waits for it, second for it or for first. Ordinary queueing.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/db: 1}
actors:
  workflow/etl/holder: {holds: {lock/db: 1}}
  workflow/etl/first: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/db, count: 1}}}
  workflow/etl/second: {waits: {since: 2026-01-14T08:05:00Z, needs: {units: lock/db, count: 1}}}
----
quiet
waits workflow/etl/first for workflow/etl/holder
waits workflow/etl/second for workflow/etl/holder
