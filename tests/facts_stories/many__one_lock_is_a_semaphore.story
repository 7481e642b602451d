# Lock 3 has two places: 2 goes on, then 1, then 5, 4, 3, 6.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {lock/1: 1, lock/2: 1, lock/3: 2, lock/4: 1, lock/5: 1}
actors:
  wf/w/1: {holds: {lock/1: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/2, count: 1}}}
  wf/w/2: {holds: {lock/2: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/3, count: 1}}}
  wf/w/3: {holds: {lock/3: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/4, count: 1}}}
  wf/w/4: {holds: {lock/4: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/5, count: 1}}}
  wf/w/5: {holds: {lock/5: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/1, count: 1}}}
  wf/w/6: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: lock/1, count: 1}}}
----
quiet
waits wf/w/1 for wf/w/2
