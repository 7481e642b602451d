# The same exchange, but nobody reports progress at all: not known to grow, so it counts as standing still.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}, "actors": {"job/red/a": {"holds": {"gpu/n1": 8}}, "job/blue/b": {"waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:01:00Z", "actors": {"job/blue/b": {"holds": {"gpu/n1": 8}}, "job/red/a": {"waits": {"since": "2026-01-14T08:01:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:02:00Z", "actors": {"job/red/a": {"holds": {"gpu/n1": 8}}, "job/blue/b": {"waits": {"since": "2026-01-14T08:02:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:03:00Z", "actors": {"job/blue/b": {"holds": {"gpu/n1": 8}}, "job/red/a": {"waits": {"since": "2026-01-14T08:03:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:04:00Z", "actors": {"job/red/a": {"holds": {"gpu/n1": 8}}, "job/blue/b": {"waits": {"since": "2026-01-14T08:04:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:05:00Z", "actors": {"job/blue/b": {"holds": {"gpu/n1": 8}}, "job/red/a": {"waits": {"since": "2026-01-14T08:05:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:06:00Z", "actors": {"job/red/a": {"holds": {"gpu/n1": 8}}, "job/blue/b": {"waits": {"since": "2026-01-14T08:06:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
{"at": "2026-01-14T08:07:00Z", "actors": {"job/blue/b": {"holds": {"gpu/n1": 8}}, "job/red/a": {"waits": {"since": "2026-01-14T08:07:00Z", "needs": {"units": "gpu/n1", "count": 8}}}}}
----
LIVELOCK {job/red/a, job/blue/b}
