# Preemptible, but not of lower priority.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  svc/s/equal: {lifetime: endless, priority: 1000, preemptible: true, holds: {gpu/n1: 8}}
  job/j/urgent: {priority: 1000, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 8}, among: [n1]}}}
----
UNPLACEABLE {job/j/urgent} root job/j/urgent
