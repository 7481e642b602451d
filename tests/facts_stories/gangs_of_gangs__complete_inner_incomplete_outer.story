# Two outer groups of two inner gangs of one node each (8 cards). Every inner gang that started is complete and waits, as
# a hold of its outer group, for its sister; two nodes, one for each. Only at the level of the outer groups is it a ring.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/outer: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2]}}}
  gang/blue/outer: {holds: {gpu/n2: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2]}}}
----
DEADLOCK {gang/red/outer, gang/blue/outer}
evict gang/red/outer then gang/blue/outer
