"""The fake library, compiled once for each run of the tests."""

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("library.c")
NAME = "libnvidia-ml.so.1"
"""The name that pynvml asks the loader for. A library loaded under this name before is what it gets."""


def compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def build(folder: Path) -> Path:
    """Compile it into the folder. Raises CalledProcessError with the compiler's words, or FileNotFoundError."""
    found = compiler()
    if found is None:
        raise FileNotFoundError("no C compiler found: apt-get install gcc libc6-dev")
    library = folder / NAME
    subprocess.run(  # noqa: S603  the compiler of this machine on a file of ours
        [found, "-shared", "-fPIC", "-O1", "-o", str(library), f"-Wl,-soname,{NAME}", str(SOURCE), "-lpthread"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return library
