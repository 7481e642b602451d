"""A log that behaves as /dev/kmsg does: one record a read, old ones overwritten, writers marked."""

import errno
from collections.abc import Sequence

from exporters.collectors.kernel_log import KernelLog, Log, LogReading
from exporters.subject import Moment, Reading

KERNEL, USER = 0, 1


class Device:
    """The kernel's side. `refused`: what opening raises now, a number of an error; 0: nothing."""

    def __init__(self, room: int = 1000) -> None:
        self.refused = 0
        self.broken = 0
        self.opened = 0
        self.now_s = 0.0
        self._room = room
        self._records: list[tuple[int, bytes]] = []
        self._next = 0

    def say(self, *lines: str, facility: int = KERNEL, after_s: float = 0.1) -> None:
        """Records of these texts, one each, so long after the one before."""
        for line in lines:
            self.now_s += after_s
            text = "".join(c if 32 <= ord(c) < 127 and c != "\\" else f"\\x{ord(c):02x}" for c in line)
            head = f"{facility << 3 | 3},{self._next},{int(self.now_s * 1e6)},-;"
            self._records.append((self._next, f"{head}{text}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:b3:00.0\n".encode()))
            self._next += 1
        del self._records[: -self._room]

    def open(self, at_end: bool) -> Log:  # noqa: FBT001  as the subject calls it
        self.opened += 1
        if self.refused:
            raise OSError(self.refused, "refused")
        place = self._next if at_end else 0

        def following() -> bytes | None:
            nonlocal place
            if self.broken:
                raise OSError(self.broken, "broken")
            oldest = self._records[0][0] if self._records else self._next
            if place < oldest:
                place = oldest
                raise BrokenPipeError(errno.EPIPE, "overwritten")
            found = next((raw for number, raw in self._records if number >= place), None)
            place += found is not None
            return found

        return Log(next=following, close=lambda: None)


class Listener:
    """The subject on such a device. The first look comes before anything is said."""

    def __init__(self, device: Device | None = None) -> None:
        self.device = device or Device()
        self.subject = KernelLog(self.device.open)
        self.second = 0.0
        self.look()

    def look(self, after_s: float = 1.0) -> LogReading:
        """One look more."""
        reading: Reading[LogReading] = self.read(after_s)
        assert reading.value is not None
        return reading.value

    def read(self, after_s: float = 1.0) -> Reading[LogReading]:
        self.second += after_s
        return self.subject.read(Moment(1_800_000_000.0 + self.second, self.second))

    def hears(self, lines: Sequence[str]) -> list[tuple[str, int]]:
        """What comes of these lines: addresses and codes of XIDs."""
        self.device.say(*lines)
        return [(one.device, one.xid) for one in self.look().xids]
