# A service with a time limit holds everything and waits for nothing: it gives back when it ends.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {node/all: 2}
actors:
  job/q/notebook: {lifetime: {until: 2026-01-14T12:00:00Z}, holds: {node/all: 2}}
  job/q/next: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: node/all, count: 2}}}
----
quiet
waits job/q/next for job/q/notebook
