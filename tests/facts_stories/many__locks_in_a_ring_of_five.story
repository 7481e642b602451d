# Five workflows take locks 1 to 5, each wants the next one; a sixth wants lock 1 and is only behind.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/1: 1, lock/2: 1, lock/3: 1, lock/4: 1, lock/5: 1}
actors:
  wf/w/1: {holds: {lock/1: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/2, count: 1}}}
  wf/w/2: {holds: {lock/2: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/3, count: 1}}}
  wf/w/3: {holds: {lock/3: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/4, count: 1}}}
  wf/w/4: {holds: {lock/4: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/5, count: 1}}}
  wf/w/5: {holds: {lock/5: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/1, count: 1}}}
  wf/w/6: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/1, count: 1}}}
----
DEADLOCK {wf/w/1, wf/w/2, wf/w/3, wf/w/4, wf/w/5, wf/w/6} members {wf/w/1, wf/w/2, wf/w/3, wf/w/4, wf/w/5}
evict wf/w/3 then wf/w/2
