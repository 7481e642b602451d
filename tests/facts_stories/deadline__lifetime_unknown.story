# Nobody says whether it ends: counted as finite, so silence, and it is named as the one to wait for.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {node/all: 2}
actors:
  pod/q/bare: {lifetime: unknown, holds: {node/all: 1}}
  job/q/next: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: node/all, count: 2}}}
----
quiet
waits job/q/next for pod/q/bare
