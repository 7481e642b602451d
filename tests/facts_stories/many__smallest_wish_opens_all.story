# 15 cards, 13 held, 2 free: b needs 2 and gives back 5, a needs 4 of those, then c needs 5 of what is free.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 15}
actors:
  gang/g/a: {holds: {gpu/n1: 6}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
  gang/g/b: {holds: {gpu/n1: 3}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 2}}}
  gang/g/c: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 5}}}
----
quiet
waits gang/g/b
waits gang/g/a for gang/g/b
