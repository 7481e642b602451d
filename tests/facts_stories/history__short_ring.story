# The ring stands for 40 seconds and opens by itself: it never becomes a finding.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}, "actors": {"gang/red/a": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 4}}}, "gang/blue/b": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"units": "gpu/n1", "count": 4}}}}}
{"at": "2026-01-14T08:00:40Z", "actor": "gang/blue/b", "ended": true}
{"at": "2026-01-14T08:01:30Z", "actor": "gang/red/a", "holds": {"gpu/n1": 8}}
----
quiet
