"""A capture in the node's place: for a while the collectors read it instead of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from exporters.capture.form import Capture, CaptureError, read_capture
from exporters.capture.replaying import Replay
from exporters.capture.unpacking import refusing, unpacked
from exporters.config import Paths, Settings
from exporters.nvml.driver import Pynvml
from exporters.nvml.node import NODE
from exporters.rooted import WAY, read_bytes


@contextmanager
def replayed(path: Path, settings: Settings) -> Iterator[Settings]:
    """Settings under which sources read the capture; they have to be made within. Raises CaptureError."""
    capture = read_capture(path)
    with TemporaryDirectory(prefix="knotwatch-replay-") as folder:
        paths, refused = _laid_out(capture, Path(folder), path)
        driver = Replay(capture.nvml)
        NODE.answered_by(lambda: driver)
        WAY.read = refusing(refused)
        try:
            yield replace(settings, path=paths)
        finally:
            NODE.answered_by(Pynvml)
            WAY.read = read_bytes
            driver.let_go.set()


def _laid_out(capture: Capture, folder: Path, path: Path) -> tuple[Paths, dict[str, int]]:
    root, sysfs, procfs = folder / "root", folder / "sys", folder / "proc"
    try:
        root.mkdir()
        refused = {**unpacked(capture.sysfs, sysfs), **unpacked(capture.procfs, procfs)}
    except CaptureError as error:
        raise CaptureError(f"{path} {error}") from None
    except (OSError, UnicodeError) as error:
        raise CaptureError(f"{path} cannot be unpacked: {str(error)[:200]}.") from None
    return Paths(rootfs=str(root), sysfs=str(sysfs), procfs=str(procfs)), refused
