# db is content with api or with the cache, and the cache is up: db goes on, then api.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  pod/app/api: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/app/db], quorum: 1}}}
  pod/app/db: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/app/api, pod/app/cache], quorum: 1}}}
  pod/app/cache: {lifetime: endless}
----
quiet
waits pod/app/db
waits pod/app/api for pod/app/db
