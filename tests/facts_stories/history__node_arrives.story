# A ring of two half-placed gangs, ten minutes long, until an autoscaler brings a node: open once, resolved at the end.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}, "actors": {"gang/red/a": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"pods": 1, "each": {"gpu": 4}, "among": ["n1", "n2"]}}}, "gang/blue/b": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"pods": 1, "each": {"gpu": 4}, "among": ["n1", "n2"]}}}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/green/other", "waits": {"since": "2026-01-14T08:05:00Z", "needs": {"done": "job/green/parent"}}}
{"at": "2026-01-14T08:05:00Z", "actor": "job/green/parent"}
{"at": "2026-01-14T08:10:00Z", "resource": "gpu/n2", "units": 8}
----
quiet
resolved DEADLOCK {gang/red/a, gang/blue/b}
waits gang/red/a
