# The node that arrives has three cards; a pod needs four. Still the same knot.
{"schema": "knotwatch.facts/v1"}
{"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}, "actors": {"gang/red/a": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"pods": 1, "each": {"gpu": 4}, "among": ["n1", "n2"]}}}, "gang/blue/b": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"pods": 1, "each": {"gpu": 4}, "among": ["n1", "n2"]}}}}}
{"at": "2026-01-14T08:10:00Z", "resource": "gpu/n2", "units": 3}
----
DEADLOCK {gang/red/a, gang/blue/b}
