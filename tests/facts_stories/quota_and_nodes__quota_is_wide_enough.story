# The same one can never run, but harms nobody.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {quota/red: 16, gpu/n1: 8, gpu/n2: 8}
actors:
  job/red/needs-a100: {holds: {quota/red: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 1, each: {a100: 8}, among: [n1, n2]}}}
  controller/red/would-fit: {waits: {since: 2026-01-14T08:05:00Z, needs: {all: [{units: quota/red, count: 8}, {pods: 1, each: {gpu: 8}, among: [n1, n2]}]}}}
----
UNPLACEABLE {job/red/needs-a100} root job/red/needs-a100
never names controller/red/would-fit
waits controller/red/would-fit
