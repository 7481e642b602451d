# Three gangs hold a third of the node each and need one more third. Whoever is stopped frees a second one, then the third.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 12}
actors:
  gang/g/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/c: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
----
DEADLOCK {gang/g/a, gang/g/b, gang/g/c} members {gang/g/a, gang/g/b, gang/g/c}
evict gang/g/a then gang/g/b
