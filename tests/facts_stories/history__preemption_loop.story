# Two jobs take the node from one another every minute, by a rank that each round computes anew. Whoever has it has just
# begun; at every moment one of them runs. Both lose their cards three times within the hour, and no counter grows.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resource": "gpu/n1", "units": 8}
{"at": "2026-01-14T08:00:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:00:00Z", "actor": "job/blue/b", "progress": 0, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/red/a", "progress": 0, "waits": {"since": "2026-01-14T08:01:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:02:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:02:00Z", "actor": "job/blue/b", "progress": 0, "waits": {"since": "2026-01-14T08:02:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:03:00Z", "actor": "job/red/a", "progress": 0, "waits": {"since": "2026-01-14T08:03:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:03:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:04:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:04:00Z", "actor": "job/blue/b", "progress": 0, "waits": {"since": "2026-01-14T08:04:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/red/a", "progress": 0, "waits": {"since": "2026-01-14T08:05:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:06:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:06:00Z", "actor": "job/blue/b", "progress": 0, "waits": {"since": "2026-01-14T08:06:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:07:00Z", "actor": "job/red/a", "progress": 0, "waits": {"since": "2026-01-14T08:07:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:07:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 0}
----
LIVELOCK {job/red/a, job/blue/b}
