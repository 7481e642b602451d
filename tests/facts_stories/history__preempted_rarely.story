# Three times in six hours, by jobs that ended well: rare, not a loop.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T02:00:00Z", "resource": "gpu/n1", "units": 8}
{"at": "2026-01-14T02:00:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T04:00:00Z", "actor": "job/red/a", "waits": {"since": "2026-01-14T04:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T04:00:00Z", "actor": "job/blue/b", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T04:30:00Z", "actor": "job/blue/b", "ended": true}
{"at": "2026-01-14T04:30:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T06:00:00Z", "actor": "job/red/a", "waits": {"since": "2026-01-14T06:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T06:00:00Z", "actor": "job/blue/c", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T06:30:00Z", "actor": "job/blue/c", "ended": true}
{"at": "2026-01-14T06:30:00Z", "actor": "job/red/a", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:00:00Z", "actor": "job/red/a", "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}
{"at": "2026-01-14T08:00:00Z", "actor": "job/blue/d", "holds": {"gpu/n1": 8}}
{"at": "2026-01-14T08:00:30Z", "actor": "job/blue/d", "holds": {"gpu/n1": 8}, "progress": 1}
----
quiet
waits job/red/a for job/blue/d
