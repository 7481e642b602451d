# The launcher needs all three workers; the two that are up wait at the start barrier for the launcher, and hold what the third
# needs.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  pod/e/w1: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {done: pod/e/launcher}}}
  pod/e/w2: {holds: {gpu/n1: 4}, waits: {since: 2026-01-14T08:00:00Z, needs: {done: pod/e/launcher}}}
  pod/e/launcher: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/e/w3], quorum: 1}}}
  pod/e/w3: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 4}, among: [n1]}}}
----
DEADLOCK {pod/e/w1, pod/e/w2, pod/e/w3, pod/e/launcher}
idle 8
