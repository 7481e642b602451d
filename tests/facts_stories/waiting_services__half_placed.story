# Two serving groups of three nodes each got two; neither ends by itself, and one of them must be stopped.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8}
actors:
  gang/red/a:
    lifetime: endless
    holds: {gpu/n1: 8, gpu/n2: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4]}}
  gang/blue/b:
    lifetime: endless
    holds: {gpu/n3: 8, gpu/n4: 8}
    waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1, n2, n3, n4]}}
----
DEADLOCK hard proven {gang/red/a, gang/blue/b} members {gang/red/a, gang/blue/b}
evict gang/red/a then gang/blue/b
evict gang/blue/b then gang/red/a
