"""What is made of all readings together: one follower one file, each listed here and nowhere else."""

import os
from collections.abc import Callable

from exporters.config import Settings
from exporters.followers.allocation import allocation
from exporters.followers.dcgm_names import dcgm_names
from exporters.followers.gpu_numa import GpuNuma
from exporters.followers.gpu_roster import GpuRoster
from exporters.followers.idleness import idleness
from exporters.followers.kernel_log import KernelLogCounts
from exporters.followers.memory_owners import memory_owners
from exporters.followers.nearest_gpu import NearestGpu
from exporters.followers.stalls import stalls
from exporters.followers.xid_counts import XidCounts
from exporters.nvml.node import NODE
from exporters.subject import Follower

FOLLOWERS: tuple[Callable[[Settings], Follower | None], ...] = (
    lambda _settings: GpuRoster(),
    lambda _settings: XidCounts(NODE.fatal_xid),
    lambda _settings: KernelLogCounts(),
    lambda _settings: NearestGpu(),
    lambda _settings: GpuNuma(),
    idleness,
    stalls,
    allocation,
    dcgm_names,
    lambda settings: memory_owners(settings, os.getpid()),
)
"""What makes each follower, once per life; None where the settings turn it off. Called in this order."""
