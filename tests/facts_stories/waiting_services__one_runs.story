# The service with the slot runs: it keeps it for good, and the database has no partner in its misery.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {slot/rack: 1}
actors:
  svc/app/api: {lifetime: endless, holds: {slot/rack: 1}}
  svc/app/db: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {units: slot/rack, count: 1}}}
----
UNPLACEABLE {svc/app/db} root svc/app/db
