"""The kernel's ethtool calls, as few as a driver's statistics need. Nothing here changes anything, or needs root."""

import ctypes
import errno
import fcntl
import socket
import struct
from collections.abc import Callable

from exporters.rooted import Failed

SIOCETHTOOL = 0x8946
GSTRINGS, GSTATS, GSSET_INFO = 0x1B, 0x1D, 0x37
STATISTICS = 1
"""Number of the set of strings that names statistics."""
NAME_BYTES = 32
VALUE_BYTES = 8
INTERFACE_NAME_BYTES = 16
REQUEST_BYTES = 40

STATISTICS_MAX = 65_536
SLACK = 2
"""Room for more statistics than there were a moment before: the kernel writes as many as there are by then."""
SPARE = 1024

Call = Callable[[str, ctypes.Array[ctypes.c_char]], None]
"""One call for an interface; the buffer begins with the command, and is written to. Raises OSError."""


def system_call(netdev: str, buffer: "ctypes.Array[ctypes.c_char]") -> None:
    """Ask the kernel."""
    request = struct.pack(f"{INTERFACE_NAME_BYTES}sP", netdev.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        fcntl.ioctl(asker, SIOCETHTOOL, request.ljust(REQUEST_BYTES, b"\0"))


def read_statistics(netdev: str, call: Call = system_call) -> tuple[tuple[str, int], ...] | Failed:
    """Every statistic of an interface, name and value, in the driver's order; none where the driver has none.

    EAGAIN if their number changed in the midst.
    """
    if not 0 < len(netdev.encode()) < INTERFACE_NAME_BYTES:
        return Failed("EINVAL")
    try:
        counted = _count(netdev, call)
        if not 0 < counted <= STATISTICS_MAX:
            return () if counted == 0 else Failed("EFBIG")
        room = counted * SLACK + SPARE
        names = ctypes.create_string_buffer(struct.pack("=III", GSTRINGS, STATISTICS, counted), 12 + room * NAME_BYTES)
        call(netdev, names)
        values = ctypes.create_string_buffer(struct.pack("=II", GSTATS, counted), 8 + room * VALUE_BYTES)
        call(netdev, values)
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "EIO")
        return () if code in {"EOPNOTSUPP", "ENOTSUP"} else Failed(code)
    named, valued = struct.unpack_from("=I", names, 8)[0], struct.unpack_from("=I", values, 4)[0]
    if named != counted or valued != counted:
        return Failed("EAGAIN")
    texts = struct.iter_unpack(f"{NAME_BYTES}s", names.raw[12 : 12 + counted * NAME_BYTES])
    told = struct.unpack_from(f"={counted}Q", values, 8)
    return tuple((_text(text), value) for (text,), value in zip(texts, told, strict=True))


def _count(netdev: str, call: Call) -> int:
    buffer = ctypes.create_string_buffer(struct.pack("=IIQI", GSSET_INFO, 0, 1 << STATISTICS, 0), 20)
    call(netdev, buffer)
    _, _, mask, count = struct.unpack("=IIQI", buffer.raw)
    return count if mask else 0


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("ascii", "replace").strip()
