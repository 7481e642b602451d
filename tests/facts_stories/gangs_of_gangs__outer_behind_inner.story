# Inner gangs 1 and 2 hold half of what each needs: a ring. The outer group needs two of its three inner gangs; the third
# is up, which is not enough. The outer one is behind the ring, no member: it holds nothing that they want.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/g/inner-1: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/inner-2: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/inner-3: {}
  gang/g/outer: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [gang/g/inner-1, gang/g/inner-2, gang/g/inner-3], quorum: 2}}}
----
DEADLOCK {gang/g/inner-1, gang/g/inner-2, gang/g/outer} members {gang/g/inner-1, gang/g/inner-2}
