# Half a minute old at the latest time in the file, but nobody vouches for that time: the file ends, and the state may have
# lasted for hours.
schema: knotwatch.facts/v1
resources: {gpu/n1: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:30:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/blue/b: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:59:30Z, needs: {units: gpu/n1, count: 4}}}
----
DEADLOCK {gang/red/a, gang/blue/b}
