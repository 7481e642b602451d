# red was admitted (quota) and waits for a node; blue has the node and waits for quota to grow into. Each layer alone
# looks like ordinary queueing.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/all: 8, gpu/n1: 8}
actors:
  workload/red/a: {holds: {quota/all: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1]}}}
  workload/blue/b: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/all, count: 8}}}
----
DEADLOCK {workload/red/a, workload/blue/b}
