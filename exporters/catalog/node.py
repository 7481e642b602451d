"""The node itself: processors, memory, pressure, network, NUMA. For nodes on which node_exporter does not run."""

from collections.abc import Mapping
from types import MappingProxyType

from exporters.catalog.family import Family, Group, Kind
from exporters.catalog.gpu import GPU

INTERFACE = ("interface",)


def _family(kind: Kind, name: str, text: str, source: str, *labels: str) -> Family:
    return Family(name=f"knotwatch_{name}", kind=kind, group=Group.NODE, text=text, source=source, labels=labels)


def _gauge(name: str, text: str, source: str, *labels: str) -> Family:
    return _family(Kind.GAUGE, f"node_{name}", text, source, *labels)


def _counter(name: str, text: str, source: str, *labels: str) -> Family:
    return _family(Kind.COUNTER, f"node_{name}_total", text, source, *labels)


CPU_SECONDS = _counter(
    "cpu_seconds",
    "Time of all processors together: user, nice, system, idle, iowait, irq, softirq, steal. Time of guests is in user "
    "and nice. A small step back in the kernel's own sum is held until it is made up for.",
    "/proc/stat, line cpu, / ticks a second",
    "mode",
)
CPUS = _gauge("cpus", "Processors that are online.", "/proc/stat, lines cpuN")
BOOT_TIME = _gauge("boot_timestamp_seconds", "When the node was booted, in seconds since 1970.", "/proc/stat btime")
PROCESSES_RUNNING = _gauge("processes_running", "Tasks that run or could run.", "/proc/stat procs_running")
PROCESSES_BLOCKED = _gauge(
    "processes_blocked",
    "Tasks in uninterruptible sleep, mostly for disks and file servers.",
    "/proc/stat procs_blocked",
)

MEMORY: Mapping[str, Family] = MappingProxyType(
    {
        key: _gauge(f"memory_{name}_bytes", text, f"/proc/meminfo {key} x 1024")
        for key, name, text in (
            ("MemTotal", "total", "Memory of the node."),
            ("MemAvailable", "available", "Memory that new processes could have without swapping."),
            ("MemFree", "free", "Memory that nobody uses for anything."),
            ("Buffers", "buffers", "Memory for blocks of disks."),
            ("Cached", "cached", "Memory for contents of files, shared memory included."),
            ("Shmem", "shared", "Shared memory and files in memory: what ranks on one node talk through."),
            ("AnonPages", "anonymous", "Memory of processes that is no file."),
            ("Mlocked", "locked", "Memory that may not be moved or swapped."),
            ("SUnreclaim", "slab_unreclaimable", "Memory of the kernel's objects that it cannot give back."),
            ("Dirty", "dirty", "Contents of files that are not written yet."),
            ("Writeback", "writeback", "Contents of files that are being written."),
            ("SwapTotal", "swap_total", "Swap space."),
            ("SwapFree", "swap_free", "Swap space that is free."),
            ("Committed_AS", "committed", "Memory that processes were promised."),
        )
    }
)
"""Lines of /proc/meminfo that are published."""
HUGE_PAGES = _gauge(
    "memory_huge_pages", "Huge pages of the default size: total, free, reserved.", "/proc/meminfo HugePages_*", "state"
)
HUGE_PAGE_SIZE = _gauge("memory_huge_page_bytes", "Default size of a huge page.", "/proc/meminfo Hugepagesize x 1024")
OUT_OF_MEMORY_KILLS = _counter("out_of_memory_kills", "Processes killed for want of memory.", "/proc/vmstat oom_kill")

PRESSURE = _counter(
    "pressure_seconds",
    "Time for which tasks stood still for want of the resource (cpu, memory, io, irq): some of them, or all at once "
    "(full).",
    "/proc/pressure/<resource> total / 1e6",
    "resource",
    "who",
)

NETWORK: Mapping[str, Family] = MappingProxyType(
    {
        key: _counter(f"network_{name}", text, f"/proc/net/dev, {key}", *INTERFACE)
        for key, name, text in (
            ("receive bytes", "receive_bytes", "Bytes received."),
            ("receive packets", "receive_packets", "Packets received."),
            ("receive errs", "receive_errors", "Packets received with an error."),
            ("receive drop", "receive_drops", "Packets received and dropped: no room, or nobody to take them."),
            ("transmit bytes", "transmit_bytes", "Bytes sent."),
            ("transmit packets", "transmit_packets", "Packets sent."),
            ("transmit errs", "transmit_errors", "Packets that could not be sent."),
            ("transmit drop", "transmit_drops", "Packets dropped before they were sent."),
        )
    }
)
"""Columns of /proc/net/dev that are published."""
INTERFACES_LEFT_OUT = _gauge(
    "network_interfaces_left_out", "Interfaces that are not read since there are too many.", "/proc/net/dev"
)
LINK_SPEED = _gauge(
    "network_speed_bytes_per_second",
    "Speed of the link. Share in use: rate(knotwatch_node_network_transmit_bytes_total[1m]) / this. For RDMA: "
    "rate(knotwatch_rdma_port_transmit_bytes_total[1m]) / knotwatch_rdma_port_rate_bytes_per_second.",
    "/sys/class/net/<interface>/speed x 1e6 / 8",
    *INTERFACE,
)
LINK_UP = _gauge(
    "network_up", "Whether the interface is up (1) or not (0).", "/sys/class/net/<interface>/operstate", *INTERFACE
)
CARRIER_CHANGES = _counter(
    "network_carrier_changes",
    "Times that the link came or went.",
    "/sys/class/net/<interface>/carrier_changes",
    *INTERFACE,
)
INTERFACE_NUMA_NODE = _gauge(
    "network_numa_node",
    "NUMA node that the interface's card is at.",
    "/sys/class/net/<interface>/device/numa_node",
    *INTERFACE,
)

NUMA_CPUS = _gauge("numa_cpus", "Processors of a NUMA node.", "/sys/devices/system/node/node<N>/cpulist", "numa_node")
NUMA_MEMORY_TOTAL = _gauge(
    "numa_memory_total_bytes",
    "Memory of a NUMA node.",
    "/sys/devices/system/node/node<N>/meminfo MemTotal x 1024",
    "numa_node",
)
NUMA_MEMORY_FREE = _gauge(
    "numa_memory_free_bytes",
    "Memory of a NUMA node that nobody uses for anything.",
    "/sys/devices/system/node/node<N>/meminfo MemFree x 1024",
    "numa_node",
)
GPU_NUMA_NODE = _family(
    Kind.GAUGE,
    "gpu_numa_node",
    "NUMA node that the GPU is at. That of an RDMA device is knotwatch_rdma_device_numa_node.",
    "numa_node of its PCI function in sysfs",
    *GPU,
)
