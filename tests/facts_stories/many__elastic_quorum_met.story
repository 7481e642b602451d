# Launchers wait for two of three workers; one worker is stuck for good, two are up.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8}
actors:
  pod/e/w1: {holds: {gpu/n1: 4}}
  pod/e/w2: {holds: {gpu/n1: 4}}
  pod/e/launcher: {waits: {since: 2026-01-14T08:00:00Z, needs: {ready: [pod/e/w1, pod/e/w2, pod/e/w3], quorum: 2}}}
  pod/e/w3: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {gpu: 4}, among: [n1]}}}
----
quiet
waits pod/e/launcher
waits pod/e/w3 for pod/e/w1, pod/e/w2
