# The same gang with quorum 3: it needs the one that never comes, so it stands behind it.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {pool/a: 4, pool/b: 4, cpu/n1: 16, cpu/n2: 4}
actors:
  svc/s/api: {lifetime: endless, holds: {pool/a: 4}}
  job/j/batch: {holds: {pool/b: 4}}
  pod/p/up-1: {}
  pod/p/up-2: {lifetime: endless}
  pod/p/down: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: svc/s/api}}}
  gang/g/deep:
    waits:
      since: 2026-01-14T08:00:00Z
      needs:
        all:
        - any: [{units: pool/a, count: 2}, {units: pool/b, count: 2}]
        - {ready: [pod/p/up-1, pod/p/up-2, pod/p/down], quorum: 3}
        - {pods: 4, each: {cpu: 4}, among: [n1, n2]}
----
UNPLACEABLE {pod/p/down, gang/g/deep} root pod/p/down
