# Two services start when the other is ready. Neither holds anything: no resource graph shows it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  pod/app/api: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/app/db], quorum: 1}}}
  pod/app/db: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/app/api], quorum: 1}}}
----
DEADLOCK hard {pod/app/api, pod/app/db} members {pod/app/api, pod/app/db}
