# The same exchange as time slicing: each has got further whenever it runs again. Slow, but it gets there.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resource": "gpu/n1", "units": 8}
{"at": "2026-01-14T08:00:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:00:00Z", "actor": "job/blue/b", "progress": 0, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/red/a", "progress": 10, "waits": {"since": "2026-01-14T08:01:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 0}
{"at": "2026-01-14T08:02:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 10}
{"at": "2026-01-14T08:02:00Z", "actor": "job/blue/b", "progress": 10, "waits": {"since": "2026-01-14T08:02:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:03:00Z", "actor": "job/red/a", "progress": 20, "waits": {"since": "2026-01-14T08:03:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:03:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 10}
{"at": "2026-01-14T08:04:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 20}
{"at": "2026-01-14T08:04:00Z", "actor": "job/blue/b", "progress": 20, "waits": {"since": "2026-01-14T08:04:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/red/a", "progress": 30, "waits": {"since": "2026-01-14T08:05:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}, "progress": 20}
{"at": "2026-01-14T08:06:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}, "progress": 30}
{"at": "2026-01-14T08:06:00Z", "actor": "job/blue/b", "progress": 30, "waits": {"since": "2026-01-14T08:06:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
----
quiet
waits job/blue/b for job/red/a
