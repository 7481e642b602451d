# a and b hold half of the node each and need the rest. c queues for cards of the same node, d for the end of c: both are
# stuck, neither is to blame. e queues behind a batch job elsewhere.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  job/green/c: {waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n1, count: 2}}}
  job/green/d: {waits: {since: 2026-01-14T08:11:00Z, needs: {done: job/green/c}}}
  job/green/e: {waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n2, count: 8}}}
  job/green/f: {holds: {gpu/n2: 3}}
----
DEADLOCK {gang/red/a, gang/blue/b, job/green/c, job/green/d} members {gang/red/a, gang/blue/b}
never names job/green/e
never names job/green/f
waits job/green/e for job/green/f
idle 8
