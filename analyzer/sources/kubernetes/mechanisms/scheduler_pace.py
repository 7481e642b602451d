"""A scheduler that tries the same pods over and over without a pause: worth a remark, and nobody is stuck by it.

kube-scheduler backs off from one second to ten between two tries of a pod, so more than a few tries a second of one pod
mean that something moves it past that (seen with groups in the alpha of in-tree gang scheduling: 2,000 tries a second).
"""

from msgspec import Struct

from analyzer.model.events import Citation, Remarked, RemarkKind
from analyzer.sources.kubernetes.actors import actor_of
from analyzer.sources.kubernetes.mechanism import NOTHING, Look
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.observations import LogStatement, SchedulerAttempt, Seen
from analyzer.sources.kubernetes.records import PENDING, PodRecord
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

TRIES_MIN = 50
TRIES_PER_S = 5
"""Of one pod, over all that time: five times what the shortest back-off allows."""


class Tries(Struct):
    """How often a pod was tried without a pause, and when first and last."""

    count: int
    first_ns: int
    last_ns: int
    citation: Citation

    @property
    def spins(self) -> bool:
        """Whether that is more than any back-off allows."""
        return self.count >= TRIES_MIN and self.count * SECOND_NS >= TRIES_PER_S * (self.last_ns - self.first_ns)


class SchedulerPace:
    """Tries by pod."""

    kinds: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._tries: dict[str, Tries] = {}
        self._spinning: set[str] = set()

    @property
    def awake(self) -> bool:
        return bool(self._spinning)

    def take(self, seen: Seen) -> None:
        """Objects say nothing about tries."""

    def see(self, pod: Pod, record: PodRecord, *, gone: bool) -> None:  # noqa: ARG002  the contract's signature
        # A pod that runs is not shown when it goes: what is not remarkable by then is forgotten.
        if gone or (record.stage is not PENDING and record.key not in self._spinning):
            self._tries.pop(record.key, None)
            self._spinning.discard(record.key)

    def hear(self, said: LogStatement) -> None:
        if not isinstance(said, SchedulerAttempt):
            return
        tries = self._tries.get(said.pod)
        # A line may stand for a run of equal ones: what counts is how fast they came.
        if tries is None or (said.at_ns - tries.last_ns) * TRIES_PER_S > (said.times + TRIES_PER_S) * SECOND_NS:
            self._tries[said.pod] = Tries(1, said.at_ns, said.at_ns, said.citation)
            self._spinning.discard(said.pod)
            return
        tries.count += said.times
        tries.last_ns = said.at_ns
        if tries.spins:
            self._spinning.add(said.pod)

    def look(self, store: Store, now_ns: int) -> Look:
        together: dict[str, list[Tries]] = {}
        for pod in sorted(self._spinning):
            tries = self._tries.get(pod)
            if tries is not None and tries.spins:
                together.setdefault(str(actor_of(store, pod)), []).append(tries)
        remarks = tuple(_remark(actor, tries, now_ns) for actor, tries in sorted(together.items()))
        return Look(remarks=remarks) if remarks else NOTHING


def _remark(actor: str, tries: list[Tries], now_ns: int) -> Remarked:
    count = sum(one.count for one in tries)
    span_ns = max(one.last_ns for one in tries) - min(one.first_ns for one in tries)
    rate = count * SECOND_NS // max(span_ns, SECOND_NS // 1000)
    pods = f"its {len(tries)} pods" if len(tries) > 1 else "it"
    return Remarked(
        at_ns=now_ns,
        kind=RemarkKind.NOTICE,
        subject=actor,
        text=(
            f"the scheduler tried {pods} {count:,} times within {span_ns / SECOND_NS:.1f} s, about {rate:,} times a "
            "second: it spins without a back-off, and what it does so often keeps it from others"
        ),
        citations=(tries[0].citation,),
    )
