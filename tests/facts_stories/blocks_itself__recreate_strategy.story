# With strategy Recreate the old pod ends first and waits for nobody: new waits for it, that is all.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {volume/web/data: 1}
actors:
  pod/web/old: {holds: {volume/web/data: 1}}
  pod/web/new: {waits: {since: 2026-01-14T08:00:00Z, needs: {all: [{units: volume/web/data, count: 1}]}}}
----
quiet
waits pod/web/new for pod/web/old
