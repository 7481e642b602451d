# all(any(gpu type a, gpu type b), ready 2 of 3, pods). Type a is gone for good, type b comes back; of three peers, two run.
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
        - {ready: [pod/p/up-1, pod/p/up-2, pod/p/down], quorum: 2}
        - {pods: 4, each: {cpu: 4}, among: [n1, n2]}
----
# down waits for the end of a service, which never comes; nobody stands behind it.
UNPLACEABLE {pod/p/down} root pod/p/down
never names gang/g/deep
waits gang/g/deep for job/j/batch
