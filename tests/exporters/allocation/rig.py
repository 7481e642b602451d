"""A node of two GPUs whose holders are told by readings."""

from exporters.collectors.allocations import Allocations
from exporters.collectors.device_names import device_name
from exporters.collectors.gpu_names import Numbers
from exporters.collectors.slurm_jobs import JobHeld, JobReading, Way
from exporters.followers.allocation import Allocation
from exporters.kubelet.holding import Claimed, Held, PodReading
from exporters.subject import Reason
from tests.exporters.allocation.readings import GIB, A, B, gpu, moment, node, note, on_page

Page = dict[str, dict[tuple[str, ...], float]]
UIDS = ("6c5f3038-adfc-485d-9943-3fd5e825300d", "7c5f3038-adfc-485d-9943-3fd5e825300d")


class Rig:
    """A node of two GPUs, fed with readings."""

    def __init__(self, numbers: Numbers = Numbers.EITHER, resources: str = "") -> None:
        self.follower = Allocation(Allocations(numbers=numbers, resources=resources))
        self.tell("nvml", "", node(), 0)
        self.tell("gpu", A, gpu(A, used=10 * GIB), 0)
        self.tell("gpu", B, gpu(B, used=20 * GIB, minor=1), 0)

    def tell(self, kind: str, name: str, value: object, at_s: float, **more: object) -> None:
        note(self.follower, kind, name, value, moment(at_s), **more)

    def kubelet(self, *held: Held, claimed: tuple[Claimed, ...] = (), at_s: float = 0) -> None:
        self.tell("kubelet", "podresources", PodReading(held=held, claimed=claimed), at_s)

    def silence(self, at_s: float, reason: Reason = Reason.UNREACHABLE) -> None:
        self.tell("kubelet", "podresources", None, at_s, up=False, reason=reason)

    def slurm(self, *held: tuple[str, str], at_s: float = 0, complete: bool = True) -> None:
        jobs = tuple(
            JobHeld(job=job, user_id="1000", spelled=name, device=device_name(name), way=Way.PROLOG)
            for name, job in held
        )
        self.tell("slurm", "/run/gpustat", JobReading(held=jobs, complete=complete), at_s)

    def page(self, at_s: float = 0) -> Page:
        return on_page(self.follower.samples(moment(at_s)))


def given_to(pod: str, *ids: str, resource: str = "nvidia.com/gpu", container: str = "main") -> Held:
    return Held(namespace="team", pod=pod, container=container, resource=resource, ids=ids)
