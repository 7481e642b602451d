"""Ways to get stuck that other objects than pods and quotas tell of, one file each; `MECHANISMS` lists them.

Each sees what it asks for and says, whenever it is looked at, all that it has to say (`Look` in `mechanism.py` one
folder up): actors of its own, units, and burdens on pods. None knows another.
"""

from collections.abc import Callable

from analyzer.sources.kubernetes.mechanism import Mechanism
from analyzer.sources.kubernetes.mechanisms.argo_locks import ArgoLocks
from analyzer.sources.kubernetes.mechanisms.composite_groups import CompositeGroups
from analyzer.sources.kubernetes.mechanisms.compute_domains import ComputeDomains
from analyzer.sources.kubernetes.mechanisms.deletions import Deletions
from analyzer.sources.kubernetes.mechanisms.device_preparation import DevicePreparation
from analyzer.sources.kubernetes.mechanisms.drains import Drains
from analyzer.sources.kubernetes.mechanisms.idle_scheduler import IdleScheduler
from analyzer.sources.kubernetes.mechanisms.init_waits import InitWaits
from analyzer.sources.kubernetes.mechanisms.node_locks import NodeLocks
from analyzer.sources.kubernetes.mechanisms.node_refusals import NodeRefusals
from analyzer.sources.kubernetes.mechanisms.nominations import Nominations
from analyzer.sources.kubernetes.mechanisms.ordered_pods import OrderedPods
from analyzer.sources.kubernetes.mechanisms.permit_rounds import PermitRounds
from analyzer.sources.kubernetes.mechanisms.preemption_loops import PreemptionLoops
from analyzer.sources.kubernetes.mechanisms.premature_deletions import PrematureDeletions
from analyzer.sources.kubernetes.mechanisms.scheduler_pace import SchedulerPace
from analyzer.sources.kubernetes.mechanisms.unstartable import Unstartable
from analyzer.sources.kubernetes.mechanisms.webhooks import Webhooks

MECHANISMS: tuple[Callable[[], Mechanism], ...] = (
    ArgoLocks,
    NodeLocks,
    PreemptionLoops,
    Nominations,
    PermitRounds,
    CompositeGroups,
    DevicePreparation,
    ComputeDomains,
    IdleScheduler,
    SchedulerPace,
    OrderedPods,
    InitWaits,
    Webhooks,
    Drains,
    Deletions,
    PrematureDeletions,
    Unstartable,
    NodeRefusals,
)
"""Each of them, to be made anew for every cluster."""
