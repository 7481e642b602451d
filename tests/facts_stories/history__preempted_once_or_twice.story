# Preempted twice and running again: ordinary business.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resource": "gpu/n1", "units": 8}
{"at": "2026-01-14T08:00:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/red/a", "waits": {"since": "2026-01-14T08:01:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:01:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:09:00Z", "actor": "job/blue/b", "ended": true}
{"at": "2026-01-14T08:09:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:10:00Z", "actor": "job/red/a", "waits": {"since": "2026-01-14T08:10:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:10:00Z", "actor": "job/blue/c", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:19:00Z", "actor": "job/blue/c", "ended": true}
{"at": "2026-01-14T08:19:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
----
quiet
