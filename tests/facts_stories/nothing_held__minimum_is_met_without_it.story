# The creator waits for the gang, the gang does not wait for the creator.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/node-1: 8}
actors:
  gang/ml/ring: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 1}, among: [node-1]}}}
  controller/ml/third: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [gang/ml/ring], quorum: 1}}}
----
quiet
waits gang/ml/ring
waits controller/ml/third for gang/ml/ring
