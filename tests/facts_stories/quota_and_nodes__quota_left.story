# Eight more units of quota: blue goes on, then red gets the node.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/all: 16, gpu/n1: 8}
actors:
  workload/red/a: {holds: {quota/all: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1]}}}
  workload/blue/b: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: quota/all, count: 8}}}
----
quiet
waits workload/blue/b
waits workload/red/a for workload/blue/b
