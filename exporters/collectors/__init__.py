"""What is read: one collector one file, each listed here and nowhere else."""

from collections.abc import Callable

from msgspec import Struct

from exporters.collectors import (
    ethtool,
    gpu_roster,
    kernel_log,
    kubelet,
    node,
    pod_uids,
    process_owners,
    rdma_devices,
    slurm_jobs,
    topology,
)
from exporters.config import Settings
from exporters.subject import Source


class Collector(Struct, frozen=True, kw_only=True):
    """What `--collect NAME` turns on. `text`: what it reads, in one line. `on`: whether it is by default.

    `source` makes, once per life, what lists the collector's subjects; it touches nothing yet. `recorded`: it reads
    only the driver library, sysfs and procfs, so a capture of a node can stand in for the node.
    """

    name: str
    text: str
    source: Callable[[Settings], Source]
    on: Callable[[Settings], bool] = lambda _settings: True
    recorded: bool = False


COLLECTORS: tuple[Collector, ...] = (
    Collector(
        name="gpu",
        text="GPUs by the NVIDIA driver library, and its XID events.",
        source=gpu_roster.source,
        recorded=True,
    ),
    Collector(
        name="rdma", text="RDMA devices and their ports, from sysfs.", source=rdma_devices.rdma_source, recorded=True
    ),
    Collector(
        name="topology",
        text="Which GPU is nearest to each RDMA device.",
        source=topology.topology_source,
        recorded=True,
    ),
    Collector(
        name="kubelet", text="Which pod has which GPU, by the kubelet; needs the extra.", source=kubelet.kubelet_source
    ),
    Collector(name="pod_uids", text="UIDs of pods, from files of the kubelet.", source=pod_uids.pod_uid_source),
    Collector(name="slurm", text="Which job has which GPU, by prolog and cgroups.", source=slurm_jobs.slurm_source),
    Collector(
        name="processes",
        text="Processes with GPUs: whose, and whether they live.",
        source=process_owners.process_source,
        recorded=True,
    ),
    Collector(
        name="kernel_log",
        text="XID errors and errors of NVSwitches, from /dev/kmsg where it may be read.",
        source=kernel_log.kernel_log_source,
    ),
    Collector(
        name="node",
        text="Processors, memory, pressure, network and NUMA; off where node_exporter runs.",
        source=node.node_source,
        on=node.on_by_default,
        recorded=True,
    ),
    Collector(
        name="ethtool",
        text="Pauses, discards and cable errors of RoCE interfaces, as `ethtool -S` has them.",
        source=ethtool.ethtool_source,
        on=lambda _settings: False,
    ),
)
"""All collectors, in the order in which help lists them."""
