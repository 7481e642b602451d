"""What events and the scheduler's log say about pods and controllers, kept only as far as it decides.

Events are gone after an hour and merged in between, so only the latest of each kind is kept, and first times.
"""

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.kubernetes.messages import Refusal, parse_refusal
from analyzer.sources.kubernetes.objects import Event
from analyzer.sources.kubernetes.times import parse_ns

SCALE_UP_REASONS = frozenset({"TriggeredScaleUp", "Nominated"})
NO_SCALE_UP_REASONS = frozenset({"NotTriggerScaleUp"})
ATTACH_REASONS = frozenset({"FailedAttachVolume", "FailedMount"})


class Said(Struct, frozen=True):
    """A statement with the times of its first and its last utterance."""

    first_ns: int
    last_ns: int
    text: str
    citation: Citation
    uid: str = ""


class PodActivity(Struct, kw_only=True):
    """Of one pod: the latest refusal to place it, scale-up, refusal to scale up, and volume that cannot be attached."""

    unplaced: Said | None = None
    scaling: Said | None = None
    not_scaling: Said | None = None
    attach: Said | None = None

    def citations(self) -> tuple[Citation, ...]:
        said = (self.unplaced, self.scaling, self.not_scaling, self.attach)
        return tuple(one.citation for one in said if one is not None)


class CreateRefused(Struct, frozen=True, kw_only=True):
    """Of one controller: pods refused at creation by a quota, and when it last managed to make one (0: never)."""

    first_ns: int
    last_ns: int
    refusal: Refusal
    citation: Citation


class Activity:
    """What was said, by pod and by controller."""

    def __init__(self) -> None:
        self._pods: dict[str, PodActivity] = {}
        self._refused: dict[tuple[str, str, str], CreateRefused] = {}
        self._made_ns: dict[tuple[str, str, str], int] = {}

    def pod(self, key: str, uid: str) -> PodActivity | None:
        """What was said about this pod; what was said about an earlier one of the same name is left out."""
        found = self._pods.get(key)
        if found is None or not uid:
            return found
        return PodActivity(
            unplaced=_of_this(found.unplaced, uid),
            scaling=_of_this(found.scaling, uid),
            not_scaling=_of_this(found.not_scaling, uid),
            attach=_of_this(found.attach, uid),
        )

    def speaks_of(self, key: str) -> bool:
        """Whether anything was said about a pod of this name."""
        return key in self._pods

    def forget_pod(self, key: str) -> None:
        self._pods.pop(key, None)

    def forget_controller(self, kind: str, namespace: str, name: str) -> None:
        """The controller is gone: one that comes by its name is another one."""
        self._refused.pop((kind, namespace, name), None)
        self._made_ns.pop((kind, namespace, name), None)

    def refused(self, kind: str, namespace: str, name: str) -> CreateRefused | None:
        """The standing refusal of this controller: none if it has made a pod since."""
        key = (kind, namespace, name)
        found = self._refused.get(key)
        if found is None or self._made_ns.get(key, 0) > found.last_ns:
            return None
        return found

    def all_refused(self) -> list[tuple[str, str, str]]:
        """Controllers (kind, namespace, name) with a standing refusal, sorted."""
        return sorted(key for key in self._refused if self.refused(*key) is not None)

    def unplaced(self, key: str, at_ns: int, text: str, citation: Citation, uid: str = "") -> None:
        """The scheduler found no place for the pod."""
        said = Said(at_ns, at_ns, text, citation, uid)
        entry = self._pods.setdefault(key, PodActivity())
        entry.unplaced = _later(entry.unplaced, said)

    def take(self, event: Event, citation: Citation) -> tuple[str, str, str] | None:
        """Take an event; the object (kind, namespace, name) about which something is different now, None if none."""
        regarding = event.regarding
        if regarding.kind == "Pod":
            return self._take_pod(event, citation)
        refusal = parse_refusal(event.message)
        made = event.reason.startswith("SuccessfulCreate")
        if refusal is None and not made:
            return None  # reasons differ between operators (FailedCreate, FailedCreatePod), the words do not
        last_ns = parse_ns(event.last_time) or 0
        key = (regarding.kind, event.namespace, regarding.name)
        if refusal is None:
            self._made_ns[key] = max(last_ns, self._made_ns.get(key, 0))
            return key
        first_ns = parse_ns(event.first_time) or last_ns
        before = self._refused.get(key)
        if before is not None:
            # A run of refusals is as old as its first, unless a pod came through in between.
            made_ns = self._made_ns.get(key, 0)
            first_ns = min(first_ns, before.first_ns) if made_ns < before.first_ns else first_ns
            if before.last_ns > last_ns:
                last_ns, refusal, citation = before.last_ns, before.refusal, before.citation
        self._refused[key] = CreateRefused(first_ns=first_ns, last_ns=last_ns, refusal=refusal, citation=citation)
        return key

    def _take_pod(self, event: Event, citation: Citation) -> tuple[str, str, str] | None:
        regarding, reason = event.regarding, event.reason
        failed = reason == "FailedScheduling"
        if not (failed or reason in SCALE_UP_REASONS or reason in NO_SCALE_UP_REASONS or reason in ATTACH_REASONS):
            return None
        if reason in ATTACH_REASONS and "Multi-Attach" not in event.message:
            return None
        namespace = event.namespace
        last_ns = parse_ns(event.last_time) or 0
        said = Said(parse_ns(event.first_time) or last_ns, last_ns, event.message, citation, regarding.uid)
        entry = self._pods.setdefault(f"{namespace}/{regarding.name}", PodActivity())
        if failed:
            entry.unplaced = _later(entry.unplaced, said)
        elif reason in SCALE_UP_REASONS:
            entry.scaling = _later(entry.scaling, said)
        elif reason in NO_SCALE_UP_REASONS:
            entry.not_scaling = _later(entry.not_scaling, said)
        else:
            entry.attach = _later(entry.attach, said)
        return "Pod", namespace, regarding.name


def _later(before: Said | None, now: Said) -> Said:
    """The later of two, with the earlier beginning if they are about the same object."""
    if before is None or (before.uid and now.uid and before.uid != now.uid):
        return now if before is None or now.last_ns >= before.last_ns else before
    latest = now if (now.last_ns, now.citation) >= (before.last_ns, before.citation) else before
    return Said(min(before.first_ns, now.first_ns), latest.last_ns, latest.text, latest.citation, before.uid or now.uid)


def _of_this(said: Said | None, uid: str) -> Said | None:
    return None if said is None or (said.uid and said.uid != uid) else said
