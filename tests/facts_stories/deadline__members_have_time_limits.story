# The ring is real, but both jobs are ended by their time limit: soft, all work lost.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {node/all: 2}
actors:
  job/q/101: {lifetime: {until: 2026-01-14T12:00:00Z}, holds: {node/all: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {done: job/q/103}}}
  job/q/102: {lifetime: {until: 2026-01-14T13:00:00Z}, holds: {node/all: 1}, waits: {since: 2026-01-14T08:00:00Z, needs: {done: job/q/104}}}
  job/q/103: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: node/all, count: 1}}}
  job/q/104: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: node/all, count: 1}}}
----
DEADLOCK soft {job/q/101, job/q/102, job/q/103, job/q/104}
evict job/q/102 then job/q/103
