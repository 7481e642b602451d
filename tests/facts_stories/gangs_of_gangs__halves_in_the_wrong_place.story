# Eight cards are free again, but as 5 + 3: only one pod of four fits, so both stay short of one. If red ended, n1 would
# take blue's pods: the ring is real.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8}
actors:
  gang/red/outer: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2, n3, n4]}}}
  gang/blue/outer: {holds: {gpu/n2: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2, n3, n4]}}}
  svc/s/one: {lifetime: endless, holds: {gpu/n3: 3}}
  svc/s/two: {lifetime: endless, holds: {gpu/n4: 5}}
----
DEADLOCK {gang/red/outer, gang/blue/outer}
