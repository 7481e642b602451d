# A gang needs three members; the third is made by its creator only when the gang is up. All cards are free.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/node-1: 8}
actors:
  gang/ml/ring: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{pods: 2, each: {gpu: 1}, among: [node-1]}, {ready: [controller/ml/third], quorum: 1}]}}}
  controller/ml/third: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [gang/ml/ring], quorum: 1}}}
----
DEADLOCK {gang/ml/ring, controller/ml/third}
