"""`make demo-exporter`: the real exporter on a simulated node. Shows some metrics, then serves until Ctrl-C.

With a C compiler the driver library is a fake one and values move; without one, a capture is served as it is.
"""

import re
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from exporters.cli import main as exporter
from tests.exporters.demo.simulation import COUNT, Simulation, paths_of, simulated
from tests.exporters.fake_nvml.build import build, compiler

CAPTURE = Path(__file__).resolve().parents[2] / "data" / "exporters" / "eight_gpus.capture.json.gz"
LISTEN = "127.0.0.1:9411"
SHOWN = (
    "knotwatch_gpu_kernel_resident_ratio",
    "knotwatch_gpu_sm_active_ratio",
    "knotwatch_gpu_memory_bandwidth_bytes_per_second",
    "knotwatch_gpu_power_watts",
)
"""What is shown of every GPU at the start."""
STEP_S = 1.0
SHOW_WITHIN_S = 60.0


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def moving(simulation: Simulation) -> Iterator[None]:
    """Meanwhile, let the simulated time be the real one."""
    began_s, stop = time.monotonic(), threading.Event()

    def move() -> None:
        while not stop.wait(STEP_S):
            simulation.at(time.monotonic() - began_s)

    thread = threading.Thread(target=move, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def table_of(page: str) -> str:
    """Some metrics of a page, a line for each GPU."""
    found: dict[str, dict[str, str]] = {}
    for name, gpu, value in re.findall(r'^(\w+)\{[^}]*gpu="(\d+)"[^}]*\} (\S+)$', page, re.MULTILINE):
        if name in SHOWN:
            found.setdefault(gpu, {})[name] = f"{float(value):.3g}"
    head = ["gpu", *(name.removeprefix("knotwatch_gpu_") for name in SHOWN)]
    rows = [head, *([gpu, *(found[gpu].get(name, "-") for name in SHOWN)] for gpu in sorted(found, key=int))]
    return "\n".join("  ".join(cell.rjust(len(title)) for cell, title in zip(row, head, strict=True)) for row in rows)


class Heard:
    """What the exporter says, passed on; the port that it serves on is picked out, for it may have chosen one."""

    def __init__(self) -> None:
        self.port = ""

    def write(self, text: str) -> int:
        if found := re.search(r"on port (\d+)", text):
            self.port = found[1]
        return sys.__stderr__.write(text) if sys.__stderr__ else 0

    def flush(self) -> None:
        if sys.__stderr__:
            sys.__stderr__.flush()


def showing(heard: Heard) -> None:
    """Show some metrics as soon as activity is in them, and where the rest is."""
    until_s = time.monotonic() + SHOW_WITHIN_S
    while time.monotonic() < until_s:
        time.sleep(STEP_S)
        url = f"http://127.0.0.1:{heard.port}/metrics"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                page = answer.read().decode()
        except (urllib.error.URLError, OSError):
            continue
        if page.count("\nknotwatch_gpu_sm_active_ratio{") == COUNT:
            say(f"\n{table_of(page)}\n\nEverything: {url} (or: curl -s {url} | grep knotwatch_gpu_)")
            say("GPU 6 waits in a collective after 30 s (stalled_seconds tells, two minutes later),")
            say("GPU 7 is held and idle, GPU 5 falls off the bus after 60 s.")
            say("Ctrl-C ends it.")
            return
    say(f"no activity was seen within {SHOW_WITHIN_S:g} s")


def main(arguments: Sequence[str]) -> None:
    """Serve the node. `arguments`: further options of `knotwatch-exporter serve`."""
    heard = Heard()
    sys.stderr = heard
    listening = () if "--listen" in arguments else ("--listen", LISTEN)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="knotwatch-demo-")))
        if compiler() is None:
            say("no C compiler found, so a capture of the node is served, whose values stand still")
            options: Sequence[str] = ("--replay", str(CAPTURE))
        else:
            say("building a driver library that simulates eight GPUs ...")
            _fake, trees, simulation = simulated(build(folder), folder)
            stack.enter_context(moving(simulation))
            options = paths_of(trees, folder)
        threading.Thread(target=showing, args=(heard,), daemon=True).start()
        exporter(["serve", *listening, "--dcgm-compat", *options, *arguments], prog_name="knotwatch-exporter")


if __name__ == "__main__":
    main(sys.argv[1:])
