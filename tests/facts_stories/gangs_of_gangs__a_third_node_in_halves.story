# Two half nodes are free and the sister gang is two pods of four cards: it fits in halves.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8, gpu/n4: 8}
actors:
  gang/red/outer: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2, n3, n4]}}}
  gang/blue/outer: {holds: {gpu/n2: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 4}, among: [n1, n2, n3, n4]}}}
  svc/s/one: {lifetime: endless, holds: {gpu/n3: 4}}
  svc/s/two: {lifetime: endless, holds: {gpu/n4: 4}}
----
quiet
waits gang/red/outer
waits gang/blue/outer
