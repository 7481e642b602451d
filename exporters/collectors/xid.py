"""The driver's events as a subject: heard every second, and told on to whoever counts them."""

from collections.abc import Iterable

from exporters.catalog.family import Sample
from exporters.nvml.devices import Devices
from exporters.nvml.events import KINDS, MIG, XID, Listener
from exporters.nvml.library import Refusal
from exporters.nvml.quarantine import FATAL_XIDS
from exporters.nvml.reading import EventSeen, XidReading, XidSeen
from exporters.subject import Key, Moment, ReadError, Reading

KIND = "xid"
INTERVAL_S = 1.0
DEADLINE_S = 5.0


class Xids:
    """The events of all GPUs. What they mean for calls to a GPU is done here and at once: a fatal one stops them."""

    key = Key(KIND)
    interval_s = INTERVAL_S
    deadline_s = DEADLINE_S

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._listener = Listener(devices)

    def read(self, now: Moment) -> Reading[XidReading]:
        errors: list[ReadError] = []
        taken = self._listener.take(now.mono_s, errors)
        if isinstance(taken, Refusal):
            return Reading(value=None, up=False, reason=taken.reason, errors=tuple(errors))
        xids, events = [], []
        for event in taken:
            if event.kind == XID:
                xids.append(
                    XidSeen(
                        device=event.uuid,
                        xid=event.number,
                        source="nvml",
                        wall_s=now.wall_s,
                        gpu_instance=event.gpu_instance,
                    )
                )
                if event.number in FATAL_XIDS and event.uuid:
                    self._devices.quarantine.put(event.uuid, now.mono_s)
            elif (name := KINDS.get(event.kind)) is not None:
                events.append(EventSeen(event.uuid, name))
                if event.kind == MIG:
                    self._devices.look_again(event.uuid)
        value = XidReading(xids=tuple(xids), events=tuple(events), watched=self._listener.watched)
        return Reading(value=value, errors=tuple(errors))

    def samples(self, value: XidReading) -> Iterable[Sample]:  # noqa: ARG002  what one look heard says nothing yet
        return ()
