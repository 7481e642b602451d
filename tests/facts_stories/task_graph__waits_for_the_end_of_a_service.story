# A sensor waits for the end of a service; nothing of the ring kind, it just never comes. next waits for the sensor.
schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {}
actors:
  svc/s/api: {lifetime: endless}
  task/dag/sensor: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: svc/s/api}}}
  task/dag/next: {waits: {since: 2026-01-14T08:00:00Z, needs: {done: task/dag/sensor}}}
----
UNPLACEABLE {task/dag/sensor, task/dag/next} root task/dag/sensor
never names svc/s/api
