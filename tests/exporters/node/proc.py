"""Files of a node, all their numbers different, so that none can stand in for another."""

from collections.abc import Iterable
from typing import Any

from exporters.collectors.node import node_source
from exporters.config import Network, Paths, Settings
from exporters.subject import Key, Moment, Reading, Subject
from exporters.working.sheet import laid_out, part_of
from tests.exporters.trees import MELLANOX, Trees

CPUS = 4
MEMINFO = (
    *("MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "SwapTotal", "SwapFree", "Dirty"),
    *("Writeback", "AnonPages", "Mapped", "Shmem", "Slab", "SReclaimable", "SUnreclaim", "Committed_AS", "Mlocked"),
    *("Active(anon)", "HugePages_Total", "HugePages_Free", "HugePages_Rsvd", "Hugepagesize"),
)
NET_DEV = """\
Inter-|   Receive  |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
  eth0: 1209346879   51216    3    4    5     6          7         8  3985254   37169    11  12    13     14   15    16
   ib0:9223372036854775 2 0 9 0 0 0 0 18 19 20 21 0 0 0 0
veth12ab: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
"""
PRESSURE = "some avg10=1.50 avg60=2.00 avg300=3.00 total={some}\nfull avg10=0.50 avg60=0.25 avg300=0.00 total={full}"


def stat(*, iowait: int = 700, steal: int = 90, cpus: int = CPUS) -> str:
    """A /proc/stat whose first line is the sum of the others."""
    rows = [[1000 + cpu, 20 + cpu, 300 + cpu, 40000, iowait, 6, 70, steal, 8, 1] for cpu in range(cpus)]
    lines = ["cpu  " + " ".join(str(sum(column)) for column in zip(*rows, strict=True))]
    lines += [f"cpu{cpu} " + " ".join(map(str, row)) for cpu, row in enumerate(rows)]
    lines += ["intr 77 1 2 3", "ctxt 37416296", "btime 1796048311", "processes 252198"]
    return "\n".join([*lines, "procs_running 6", "procs_blocked 2", "softirq 66 1 2 3 4 5 6 7 8 9 10"])


def whole(trees: Trees) -> Trees:
    """A node with all that is read."""
    trees.write_proc("stat", stat())
    units = {name: "" if name.startswith("HugePages") else " kB" for name in MEMINFO}
    trees.write_proc("meminfo", "\n".join(f"{n}:  {1000 + 7 * at}{units[n]}" for at, n in enumerate(MEMINFO)))
    trees.write_proc("vmstat", "nr_free_pages 12\noom_kill 5\npgfault 77")
    trees.write_proc("net/dev", NET_DEV.rstrip())
    for at, resource in enumerate(("cpu", "io", "memory")):
        trees.write_proc(f"pressure/{resource}", PRESSURE.format(some=1_500_000 + at, full=700_000 + at))
    trees.write_proc("pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=42")
    card = trees.function(
        "pci0000:c8/0000:c8:01.0/0000:c9:00.0", vendor=MELLANOX, kind="0x020000", numa=1, driver="mlx5_core"
    )
    trees.netdev("eth0", card, speed="200000", carrier="1")
    trees.netdev("ib0", speed="-1", operstate="down")
    for node in (0, 1):
        path = f"devices/system/node/node{node}"
        trees.write(f"{path}/cpulist", f"{node * 2}-{node * 2 + 1}")
        trees.write(
            f"{path}/meminfo",
            f"Node {node} MemTotal:       {5000 + node} kB\nNode {node} MemFree:  {300 + node} kB",
        )
        trees.write(f"{path}/numastat", "numa_hit 1\nnuma_miss 2")
    return trees


def settings_of(trees: Trees, **network: str) -> Settings:
    return Settings(path=Paths(procfs=str(trees.procfs), sysfs=str(trees.sysfs)), network=Network(**network))


def parts_of(trees: Trees, **network: str) -> dict[str, Subject[Any]]:
    """The subjects of the node by name."""
    return {each.key.name: each for each in node_source(settings_of(trees, **network))()}


def series_of(subjects: Iterable[Subject[Any]]) -> tuple[dict[tuple[str, ...], float], dict[Key, Reading[Any]]]:
    """(name without the prefix, labels...) to the value, of one look at each; and the readings."""
    readings = {subject.key: subject.read(Moment(1_800_000_000.0, 0.0)) for subject in subjects}
    samples = [
        sample
        for subject in subjects
        if (value := readings[subject.key].value) is not None
        for sample in subject.samples(value)
    ]
    sheet = laid_out([part_of(samples, 256, 100_000)], 100_000)
    assert (sheet.duplicates, sheet.rejected) == (0, 0)
    return {(each.family.name.removeprefix("knotwatch_node_"), *each.labels): each.value for each in samples}, readings


def look_at(trees: Trees, **network: str) -> dict[tuple[str, ...], float]:
    """The series of all parts."""
    return series_of(list(parts_of(trees, **network).values()))[0]
