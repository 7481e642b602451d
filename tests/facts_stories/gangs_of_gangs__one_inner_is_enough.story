# The outer group is content with one: it goes on, the ring of the inner ones stays.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  gang/g/inner-1: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/inner-2: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/inner-3: {}
  gang/g/outer: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [gang/g/inner-1, gang/g/inner-2, gang/g/inner-3], quorum: 1}}}
----
DEADLOCK {gang/g/inner-1, gang/g/inner-2}
never names gang/g/outer
waits gang/g/outer
