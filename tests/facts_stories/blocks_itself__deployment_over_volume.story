# A roll-out over a volume that one pod may have: new waits for the volume, old goes when new is ready. Deadlock of one
# application with itself; both are needed to see it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {volume/web/data: 1}
actors:
  pod/web/old:
    holds: {volume/web/data: 1}
    waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/web/new], quorum: 1}}
  pod/web/new: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: volume/web/data, count: 1}]}}}
----
DEADLOCK {pod/web/old, pod/web/new} members {pod/web/old, pod/web/new}
evict pod/web/old then pod/web/new
