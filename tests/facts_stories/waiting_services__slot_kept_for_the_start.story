# A service has a slot and starts only when its database is ready; the database needs the slot. The service never ends,
# but it does not work yet either: stopping it frees the slot, so it is part of the knot and no given.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {slot/rack: 1}
actors:
  svc/app/api:
    lifetime: endless
    holds: {slot/rack: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [svc/app/db], quorum: 1}}
  svc/app/db: {lifetime: endless, waits: {since: 2026-01-14T08:00:00Z, needs: {units: slot/rack, count: 1}}}
----
DEADLOCK hard {svc/app/api, svc/app/db} members {svc/app/api, svc/app/db}
evict svc/app/api then svc/app/db
