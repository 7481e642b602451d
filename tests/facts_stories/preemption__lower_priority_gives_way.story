# A service of low priority that may be preempted holds the node: the scheduler will take it away.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  svc/s/low: {lifetime: endless, priority: 0, preemptible: true, holds: {gpu/n1: 8}}
  job/j/urgent: {priority: 1000, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1]}}}
----
quiet
waits job/j/urgent
