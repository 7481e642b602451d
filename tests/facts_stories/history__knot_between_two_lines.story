# The knot stands for ten minutes in which nobody writes a line; then it is cured. Live it would have been told after a minute
# of event time: a replay that looks only where lines are would never see it.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}, "actors": {"gang/red/a": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 4}}}, "gang/blue/b": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 4}}}}}
{"at": "2026-01-14T08:10:00Z", "actor": "gang/blue/b", "ended": true}
{"at": "2026-01-14T08:10:05Z", "actor": "gang/red/a", "holds": {"gpu/n1": 8}}
----
quiet
resolved DEADLOCK {gang/red/a, gang/blue/b}
