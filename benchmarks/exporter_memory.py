"""Row 9: what the exporter holds after 10,000 cycles in which every process, pod and error was another one.

A process of its own (`benchmarks.exporter_life`), in virtual time. Its kubelet is here, since a gRPC server takes
memory too. What the simulated hardware takes in that process does not count; what drives it (modules of tests) does.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import exporter_kubelet, exporter_node
from benchmarks.rows import Figure, Row, Scale, duration
from benchmarks.truth import WrongAnswerError

HELD_MAX_MB = 60.0
GROWTH_MAX_MB = 5.0
ROOT = Path(__file__).parents[1]


class Life(Struct):
    """What `benchmarks.exporter_life` prints. `warm_bytes`: held after the first hundred cycles."""

    resident_bytes: int
    warm_bytes: int
    processor_s: float
    threads: int
    up: int
    mapped_up: int
    pods: int


def lived(cycles: int) -> Life:
    """A life of so many cycles. Raises WrongAnswerError where its last page was not right."""
    with tempfile.TemporaryDirectory(prefix="kw") as scratch:  # a short name, as paths of sockets have to be
        folder = Path(scratch)
        with exporter_kubelet.kubelet(folder) as kubelet:
            command = [sys.executable, "-m", "benchmarks.exporter_life", str(folder), str(kubelet.socket), str(cycles)]
            done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)  # noqa: S603  our own command
    life = msgspec.json.decode(done.stdout, type=Life)
    if (life.up, life.mapped_up, life.pods) != (
        exporter_node.CARDS,
        1,
        exporter_node.CARDS * exporter_node.PODS_ON_A_CARD,
    ):
        raise WrongAnswerError(f"the page after {cycles} cycles is wrong: {life}")
    return life


def measure(scale: Scale) -> Sequence[Figure]:
    """Both figures of one life."""
    life = lived(scale.cycles)
    case = f"after {scale.cycles:,} cycles of 10 s"
    spent = f"{duration(life.processor_s / scale.cycles)} of processor a cycle, {life.threads} threads"
    return [
        Figure(case=case, value=life.resident_bytes / 1e6, unit="MB", bar=HELD_MAX_MB, subject=spent),
        Figure(
            case="growth since the hundredth",
            value=(life.resident_bytes - life.warm_bytes) / 1e6,
            unit="MB",
            bar=GROWTH_MAX_MB,
        ),
    ]


ROW = Row(
    command="exporter_memory",
    what="memory of the exporter at 8 GPUs + 8 HCAs, with other processes, pods and errors in every cycle",
    yardstick="-",
    bar="60 MB, 5 MB of growth",
    measure=measure,
)
