"""Trees of files as the kernel shows them in sysfs and procfs, of our making: PCI functions, GPUs, RDMA devices.

    trees = Trees(folder)
    way = trees.function("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0", vendor=MELLANOX)
    trees.hca("mlx5_0", way, ports={1: port(400, link_layer="InfiniBand")})

Whatever a test wants broken it breaks itself, with `write` and `remove`. `h100(trees)` is a whole node.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

MELLANOX, NVIDIA, AMAZON, INTEL = "0x15b3", "0x10de", "0x1d0f", "0x8086"
ETHERNET_CLASS, INFINIBAND_CLASS, GPU_CLASS, NVSWITCH_CLASS = "0x020000", "0x020700", "0x030200", "0x068000"

Files = Mapping[str, str]
"""Paths beneath a folder, and what the files say."""

COUNTERS = (
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "multicast_rcv_packets",
    "multicast_xmit_packets",
    "port_rcv_constraint_errors",
    "port_rcv_data",
    "port_rcv_errors",
    "port_rcv_packets",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_packets",
    "port_xmit_wait",
    "symbol_error",
    "unicast_rcv_packets",
    "unicast_xmit_packets",
)
"""What a classic `counters` folder holds."""

HARDWARE_COUNTERS = (
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "np_cnp_sent",
    "np_ecn_marked_roce_packets",
    "out_of_buffer",
    "out_of_sequence",
    "packet_seq_err",
    "req_cqe_error",
    "req_cqe_flush_error",
    "req_remote_access_errors",
    "req_remote_invalid_request",
    "resp_cqe_error",
    "resp_cqe_flush_error",
    "resp_local_length_error",
    "resp_remote_access_errors",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "roce_slow_restart_cnps",
    "roce_slow_restart_trans",
    "rp_cnp_handled",
    "rp_cnp_ignored",
    "rx_atomic_requests",
    "rx_dct_connect",
    "rx_icrc_encapsulated",
    "rx_read_requests",
    "rx_write_requests",
)
"""What mlx5 keeps in `hw_counters`, beside `lifespan`."""

SPEEDS = {10: "4X SDR", 25: "1X EDR", 40: "4X QDR", 100: "4X EDR", 200: "4X HDR", 400: "4X NDR"}


def counted(names: Sequence[str], first: int) -> dict[str, str]:
    """Files that all say something else, so that none can stand in for another."""
    return {name: str(first + 7 * place) for place, name in enumerate(names)}


def port(gigabits: int, *, link_layer: str, first: int = 1000, **files: str) -> Files:
    """The files of a port of the classic kind. Further ones, or other texts, by `files` with `__` for a slash."""
    return {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "rate": f"{gigabits} Gb/sec ({SPEEDS[gigabits]})",
        "link_layer": link_layer,
        **{f"counters/{name}": text for name, text in counted(COUNTERS, first).items()},
        **{f"hw_counters/{name}": text for name, text in counted(HARDWARE_COUNTERS, first + 500).items()},
        "hw_counters/lifespan": "12",
        **{name.replace("__", "/"): text for name, text in files.items()},
    }


class Trees:
    """A sysfs and a procfs in a folder. Paths are relative to the one or the other."""

    def __init__(self, folder: Path) -> None:
        self.sysfs = folder / "sys"
        self.procfs = folder / "proc"
        for each in (self.sysfs / "class", self.procfs):
            each.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, text: str) -> Path:
        """A file of sysfs, with the line's end that the kernel writes."""
        return _written(self.sysfs / path, text)

    def write_proc(self, path: str, text: str) -> Path:
        """A file of procfs."""
        return _written(self.procfs / path, text)

    def link(self, path: str, target: str) -> None:
        """A link of sysfs, relative as the kernel makes them."""
        place = self.sysfs / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(os.path.relpath(self.sysfs / target, place.parent.resolve()))

    def remove(self, path: str) -> None:
        """A file, link or folder of sysfs is gone."""
        place = self.sysfs / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def function(self, way: str, *, vendor: str, kind: str, numa: int = 0, driver: str = "", **files: str) -> str:
        """A PCI function, and the bridges above it. Returns its path."""
        path = f"devices/{way}"
        address = way.rpartition("/")[2]
        for name, text in {"vendor": vendor, "class": kind, "numa_node": str(numa), **files}.items():
            self.write(f"{path}/{name}", text)
        self.link(f"bus/pci/devices/{address}", path)
        if driver:
            (self.sysfs / f"bus/pci/drivers/{driver}").mkdir(parents=True, exist_ok=True)
            self.link(f"{path}/driver", f"bus/pci/drivers/{driver}")
        return path

    def gpu(self, way: str, *, numa: int = 0) -> str:
        """A GPU as PCI shows it."""
        return self.function(way, vendor=NVIDIA, kind=GPU_CLASS, numa=numa, driver="nvidia")

    def hca(self, name: str, function: str, ports: Mapping[int, Files], **files: str) -> str:
        """An RDMA device of a PCI function, or (empty) of none that is known. Returns its path."""
        path = f"{function}/infiniband/{name}" if function else f"class/infiniband/{name}"
        (self.sysfs / path).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            self.write(f"{path}/{file.replace('__', '/')}", text)
        for number, of_port in ports.items():
            for file, text in of_port.items():
                self.write(f"{path}/ports/{number}/{file}", text)
        if function:
            self.link(f"{path}/device", function)
            self.link(f"class/infiniband/{name}", path)
        return path

    def netdev(self, name: str, function: str = "", *, lower: Sequence[str] = (), **files: str) -> str:
        """A network interface: of a PCI function, or a virtual one on top of others. Returns its path."""
        path = f"{function}/net/{name}" if function else f"devices/virtual/net/{name}"
        for file, text in {"operstate": "up", "carrier_changes": "2", "dev_port": "0", **files}.items():
            self.write(f"{path}/{file}", text)
        self.link(f"class/net/{name}", path)
        if function:
            self.link(f"{path}/device", function)
        for each in lower:
            self.link(f"{path}/lower_{each}", f"class/net/{each}")
        return path


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def h100(trees: Trees) -> Trees:
    """A node with 8 GPUs and 8 InfiniBand devices, a pair below each switch, and a RoCE bond that management uses.

    GPU i is at `gpu_address(i)`, and mlx5_i beside it; four pairs at each of two NUMA nodes.
    """
    for index, (switch, numa) in enumerate(_switches()):
        trees.gpu(f"{switch}/{_address(index, 3)}/{gpu_address(index)}", numa=numa)
        way = f"{switch}/{_address(index, 4)}/{_address(index, 6)}"
        function = trees.function(way, vendor=MELLANOX, kind=INFINIBAND_CLASS, numa=numa, driver="mlx5_core")
        trees.hca(
            f"mlx5_{index}",
            function,
            {1: port(400, link_layer="InfiniBand", first=10_000 * (index + 1))},
            fw_ver="28.41.1000",
            board_id="MT_0000000838",
            hca_type="MT4129",
            node_guid=f"a088:c203:00ab:{index:04x}",
        )
    bond(trees)
    trees.write_proc("modules", "nvidia_peermem 16384 0 - Live 0x0\nnvidia 56823808 26 nvidia_peermem, Live 0x0")
    return trees


def bond(trees: Trees) -> None:
    """mlx5_bond_0: two Ethernet functions as one RDMA device, whose interface is bond0, with the default route."""
    first = trees.function(
        "pci0000:c8/0000:c8:01.0/0000:c9:00.0", vendor=MELLANOX, kind=ETHERNET_CLASS, numa=1, driver="mlx5_core"
    )
    second = trees.function(
        "pci0000:c8/0000:c8:01.0/0000:c9:00.1", vendor=MELLANOX, kind=ETHERNET_CLASS, numa=1, driver="mlx5_core"
    )
    trees.netdev("eth0", first, speed="200000")
    trees.netdev("eth1", second, speed="200000")
    trees.netdev("bond0", lower=("eth0", "eth1"))
    ethernet = port(200, link_layer="Ethernet", first=900_000, gid_attrs__ndevs__0="bond0")
    trees.hca("mlx5_bond_0", first, {1: ethernet}, fw_ver="32.38.3056", board_id="MT_0000000884", hca_type="MT41692")
    trees.write_proc(
        "net/route",
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        "bond0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        "bond0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0",
    )


def gpu_address(index: int) -> str:
    """The PCI address of a GPU of `h100`."""
    return _address(index, 5)


def _switches() -> Iterator[tuple[str, int]]:
    for index in range(8):
        root = f"pci0000:{0x10 * (index + 1):02x}"
        yield f"{root}/{_address(index, 1, slot=1)}/{_address(index, 2)}", index // 4


def _address(index: int, bus: int, *, slot: int = 0) -> str:
    """An address below the root of that number: 1 the root port, 2 the switch, 3 and 4 its ports, then devices."""
    return f"0000:{0x10 * (index + 1) + bus - 1:02x}:{slot:02x}.0"
