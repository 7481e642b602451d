# 14 cards: one is free, and nobody is content with one.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 14}
actors:
  gang/g/a: {holds: {gpu/n1: 6}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/b: {holds: {gpu/n1: 3}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 2}}}
  gang/g/c: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 5}}}
----
DEADLOCK {gang/g/a, gang/g/b, gang/g/c}
