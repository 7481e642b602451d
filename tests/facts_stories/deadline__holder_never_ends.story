# The same notebook without a limit never gives back: next can never run, and nobody but the notebook is in its way.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {node/all: 2}
actors:
  job/q/notebook: {lifetime: endless, holds: {node/all: 1}}
  job/q/next: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: node/all, count: 2}}}
----
UNPLACEABLE hard {job/q/next} root job/q/next
never names job/q/notebook
