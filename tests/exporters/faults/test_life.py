"""What a life costs: threads and memory that are bounded, and a page that is served in part rather than not at all."""

import pytest

from benchmarks.exporter_memory import GROWTH_MAX_MB, lived
from tests.exporters.working.toys import HEAT, Toy, VirtualTime, lines_of

CYCLES = 12


@pytest.mark.needs("c-compiler")
def test_other_processes_pods_and_errors_in_every_cycle_leave_nothing_behind() -> None:
    """NVIDIA/dcgm-exporter#702, #292, #609, pytorch/ci-infra#1011. A benchmark lives longer."""
    life = lived(CYCLES)
    assert (life.resident_bytes - life.warm_bytes) / 1e6 < GROWTH_MAX_MB
    assert life.threads <= 4, "whoever reads, no follower and no page leaves one behind"


def test_a_node_that_is_too_slow_as_a_whole_is_served_in_part() -> None:
    """ROCm/device-metrics-exporter#565: sixteen slow GPUs passed the limit of the node, and the page was empty."""
    time = VirtualTime()
    toys = [slow(n) for n in range(1, 17)]
    office = time.office({"toys": lambda: toys})
    time.run(office, 1.05)
    page = lines_of(office)
    served = [n for n in range(1, 17) if f'{HEAT.name}{{uuid="GPU-{n:02}"}}' in page]
    late = [n for n in range(1, 17) if f'knotwatch_gpu_down_reason{{reason="timeout",uuid="GPU-{n:02}"}}' in page]
    assert served[:9] == list(range(1, 10))
    assert served + late == list(range(1, 17))


def slow(number: int) -> Toy:
    """A GPU that takes so many tenths of a second to read, and may take ten."""
    return Toy(f"GPU-{number:02}", takes_s=lambda _now_s: 0.1 * number, deadline_s=1.0)
