"""`python -m benchmarks.exporter_life FOLDER SOCKET CYCLES`: a long life of the exporter, and what it holds, as JSON.

A process of its own, in virtual time: a cycle is one interval of 10 s, in which all that the node
has is read, the page is made and asked for, and every process, pod and error is another one than before.
"""

import json
import os
import re
import sys
import threading
from pathlib import Path

from benchmarks import exporter_node as node
from exporters.collectors import COLLECTORS
from exporters.config import Allocation, Paths, Settings, Web
from exporters.followers import FOLLOWERS
from exporters.working.office import Office
from exporters.working.page import Form, Print
from tests.exporters.working.toys import VirtualTime

READ = ("gpu", "rdma", "topology", "kubelet", "pod_uids", "processes", "slurm")
CYCLE_S = 10.0
NEVER_S = 1e6
"""Pages are made at the end of each cycle, and where there is news."""
WARM = 100
"""Cycles after which what grows further is growth."""
BYTES_PER_KIB = 1024


def resident_bytes(state: Path) -> int:
    """The resident set now, without the pages of the simulated hardware, which are this file."""
    total, ours = 0, True
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, rest = line.partition(" ")
        if not name.endswith(":"):
            ours = not line.endswith(str(state))
        elif name == "Rss:" and ours:
            total += int(rest.split()[0]) * BYTES_PER_KIB
    return total


def main(folder: Path, socket: str, cycles: int) -> None:
    """Live, and print what it took."""
    fake = node.make_node(folder)
    churn = node.Churn(fake, folder, seed=1)
    time = VirtualTime()
    settings = Settings(
        web=Web(page_interval_s=NEVER_S),
        path=Paths(sysfs=str(folder / "sys"), procfs=str(folder / "proc")),
        allocation=Allocation(kubelet_socket=socket, pod_folders=str(folder / "pods")),
    )
    sources = {each.name: each.source(settings) for each in COLLECTORS if each.name in READ}
    followers = [made for make in FOLLOWERS if (made := make(settings)) is not None]
    office = Office(settings, sources, followers, clock=time.moment, hire=time.hire)
    warm = 0
    for cycle in range(cycles):
        churn.turn()
        time.run(office, CYCLE_S)
        time.begun.clear()
        office.page.copy(Print(Form.TEXT), time.moment())
        if cycle == min(WARM, cycles // 4):
            warm = resident_bytes(fake.state)
        if cycle % 1000 == 0:
            print(cycle, resident_bytes(fake.state), file=sys.stderr)
    page = (office.page.copy(Print(Form.TEXT), time.moment()) or b"").decode()
    print(
        json.dumps(
            {
                "resident_bytes": resident_bytes(fake.state),
                "warm_bytes": warm,
                "processor_s": sum(os.times()[:2]),
                "threads": threading.active_count(),
                "up": len(re.findall(r"^knotwatch_gpu_up\{.* 1\.0$", page, re.MULTILINE)),
                "mapped_up": page.count("\nknotwatch_pod_mapping_up 1.0"),
                "pods": page.count("\nknotwatch_gpu_allocation_info{"),
            }
        )
    )
    sys.stdout.flush()
    os._exit(0)  # gRPC may wait for its threads


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
