"""What lines of the kernel's log say of GPUs and NVSwitches. Pure: the time is that of the records.

Shapes of lines (the driver's source and public logs):

    NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
    NVRM: Xid (0000:03:00): 31, Ch 00000010, engmask 00000101, intr 10000000
    NVRM: Xid (PCI:0000:9b:00 GPU-I:02): 43, pid=117, name=python, Ch 00000008
    NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.
    NVRM: GPU at PCI:0000:18:00.0 has fallen off the bus.
    NVRM: The NVIDIA GPU 0000:b3:00.0 (PCI ID: 10de:2330) / NVRM: installed in this system has / NVRM: fallen off ...
    nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)
    nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity 0 Engine instance 46 Sub-engine instance 00

A fall is counted once however it is told of: see exporters/followers/README.md.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from exporters.nvml.plausible import pci_address

FALLEN_XID = 79
FALLEN_AGAIN_S = 3600.0
"""A GPU whose fall was told of (last) so recently is still down: what tells of it again is the same fall."""
SAME_FALL_S = 10.0
"""Between a line without a code and the one with it."""
SENTENCE_S = 5.0
"""How long the beginning of a sentence waits for its end."""
WAITING_MAX = 64
FALLEN_MAX = 256

_PCI = r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?"
XID = re.compile(
    rf"NVRM: Xid \((?:PCI:)?(?P<pci>{_PCI})(?: GPU-I:(?P<instance>\d{{1,3}}))?[^)]*\): (?P<xid>\d{{1,5}})\b"
)
SXID = re.compile(
    rf"nvidia-nvswitch(?P<switch>\d{{1,3}}): SXid \((?:PCI:)?(?P<pci>{_PCI})\): (?P<sxid>\d{{1,6}})(?:, (?P<rest>.*))?"
)
SXID_DETAIL = re.compile(r"(?:Severity \d|Data \{)")
"""Further lines of the error before."""
SUBJECT = re.compile(rf"GPU (?:at )?(?:PCI:)?(?P<pci>{_PCI})")
SENTENCE = re.compile(rf"The NVIDIA GPU (?P<pci>{_PCI})")
FALLEN = "fallen off the bus"
ENDS_OTHERWISE = re.compile(r"is not supported|this kernel module|failed to|not responding")
LOADING = "NVRM: loading NVIDIA UNIX"
"""The driver was loaded anew: what fell may have come back, and may fall again."""


class Record(Struct, frozen=True, kw_only=True):
    """One record of the kernel itself. `at_s`: seconds since the boot."""

    at_s: float
    text: str


class XidLine(Struct, frozen=True, kw_only=True):
    """An XID error. `address`: as sysfs writes it."""

    address: str
    xid: int
    gpu_instance: int | None = None


class SxidLine(Struct, frozen=True, kw_only=True):
    """An error of an NVSwitch. `severity`: `fatal`, `non_fatal` or `unknown`."""

    switch: str
    address: str
    sxid: int
    severity: str


Told = XidLine | SxidLine

SEVERITIES = {"fatal": "fatal", "non-fatal": "non_fatal"}


class Lines:
    """Reads records in their order; remembers sentences that have only begun, and falls that were told of."""

    def __init__(self) -> None:
        self._begun: deque[tuple[str, float]] = deque(maxlen=WAITING_MAX)
        self._fallen: dict[str, tuple[float, float, bool]] = {}  # told first, last; whether it waits for its code

    def take(self, records: Iterable[Record]) -> Iterator[Told]:
        """All that they tell. A record may have several lines. O(lines)."""
        for record in records:
            for line in record.text.splitlines():
                yield from self._line(line.strip(), record.at_s)

    def _line(self, line: str, at_s: float) -> Iterator[Told]:
        if match := XID.search(line):
            yield from self._xid(match, at_s)
        elif match := SXID.search(line):
            yield from _sxid(match)
        elif LOADING in line:
            self._fallen.clear()
            self._begun.clear()
        elif match := SENTENCE.search(line):
            if FALLEN in line:
                yield from self._fall(match["pci"], at_s)
            else:
                self._begun.append((match["pci"], at_s))
        elif FALLEN in line and "NVRM" in line:
            match = SUBJECT.search(line)
            address = match["pci"] if match else self._sentence(at_s)
            if address:
                yield from self._fall(address, at_s)
        elif self._begun and "NVRM" in line and ENDS_OTHERWISE.search(line):
            self._sentence(at_s)

    def _sentence(self, at_s: float) -> str:
        """The GPU of the oldest sentence that still waits for its end; empty if none does."""
        while self._begun:
            address, begun_s = self._begun.popleft()
            if at_s - begun_s <= SENTENCE_S:
                return address
        return ""

    def _xid(self, match: re.Match[str], at_s: float) -> Iterator[XidLine]:
        address, xid = pci_address(match["pci"]), int(match["xid"])
        if xid == FALLEN_XID:
            _, last_s, waits = self._fallen.get(address, (at_s, float("-inf"), False))
            self._remember(address, at_s, waits=False)
            if waits and at_s - last_s <= SAME_FALL_S:
                return
        instance = int(match["instance"]) if match["instance"] else None
        yield XidLine(address=address, xid=xid, gpu_instance=instance)

    def _fall(self, raw: str, at_s: float) -> Iterator[XidLine]:
        address = pci_address(raw)
        known = self._fallen.get(address)
        if known is not None and at_s - known[1] <= FALLEN_AGAIN_S:
            self._fallen[address] = (known[0], at_s, known[2] and at_s - known[0] <= SAME_FALL_S)
            return
        self._remember(address, at_s, waits=True)
        yield XidLine(address=address, xid=FALLEN_XID)

    def _remember(self, address: str, at_s: float, *, waits: bool) -> None:
        self._fallen.pop(address, None)
        while len(self._fallen) >= FALLEN_MAX:
            del self._fallen[next(iter(self._fallen))]
        self._fallen[address] = (at_s, at_s, waits)


def _sxid(match: re.Match[str]) -> Iterator[SxidLine]:
    rest = match["rest"] or ""
    if not SXID_DETAIL.match(rest):
        severity = SEVERITIES.get(rest.partition(",")[0].strip().lower(), "unknown")
        yield SxidLine(
            switch=match["switch"], address=pci_address(match["pci"]), sxid=int(match["sxid"]), severity=severity
        )
