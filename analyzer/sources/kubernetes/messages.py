"""What the scheduler says about a pod that does not fit, taken apart.

    0/N nodes are available: a X, b Y. [dra text, ]preemption: 0/N nodes are available: c Z.

Wording differs by version (a taint with a comma in it, two dots at the end, no preemption part, "unavailable" with
Volcano), so items are split only where a number follows, and the preemption half is kept apart: it repeats N and
has its own counts. Counts may sum to more than N (a node can lack two things) or to less.
"""

import re
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct


class ReasonKind(StrEnum):
    """What sort of obstacle a reason names."""

    SHORT = "short"  # of a counted resource
    PORTS = "ports"
    CANDIDATE = "candidate"  # affinity, taint, cordon: which nodes come into question
    VOLUME = "volume"  # pinned, in use elsewhere, or not bound
    ATTACH = "attach"  # so many volumes as the node can attach
    COMPANY = "company"  # other pods: affinity, anti-affinity, spread
    UNMODELLED = "unmodelled"  # devices, plug-ins, anything new


class Reason(Struct, frozen=True):
    """So many nodes, for this reason. `resource` only with SHORT; `count` None: the message gives none (all nodes)."""

    kind: ReasonKind
    text: str
    count: int | None
    resource: str = ""


class Verdict(Struct, frozen=True):
    """One message: `nodes` is N (None: it is of another form). `victims` None: preemption was not spoken of."""

    nodes: int | None
    reasons: tuple[Reason, ...]
    victims: bool | None


_HEAD = re.compile(r"(?:^|\s)0/(\d{1,9}) nodes are (?:un)?available: ?(.*)", re.DOTALL)
_PREEMPTION = re.compile(r"(?:^|[.,]\s*|\s)preemption:\s*(.*)", re.DOTALL)
_DRA_TAIL = re.compile(r"\.\s*(?:no new claims to deallocate|still not schedulable)\s*,?\s*$")
_ITEM_BREAK = re.compile(r",\s+(?=\d+ )")
_COUNTED = re.compile(r"(\d{1,9}) (.+)", re.DOTALL)
_OLD_HEAD = "No nodes are available that match all of the following predicates:: "
_OLD_ITEM = re.compile(r"(.+?) \((\d{1,9})\)$")

_NO_VICTIMS = ("No preemption victims found", "Preemption is not helpful", "No victims found", "not eligible")
_VICTIMS_LEAVING = "terminating"  # "not eligible due to a terminating pod on the nominated node": it has begun

_CANDIDATE_WORDS = (
    "node affinity",
    "node selector",
    "MatchNodeSelector",
    "taint",
    "were unschedulable",
    "node name",
)
_COMPANY_WORDS = (
    "didn't match pod affinity",
    "didn't match pod anti-affinity",
    "didn't satisfy existing pods anti-affinity",
    "didn't match pod topology spread constraints",
)
_VOLUME_WORDS = ("volume", "PersistentVolume", "persistentvolume", "pvc(s)", "free storage")


def _kind_and_resource(text: str) -> tuple[ReasonKind, str]:
    if text.startswith("Insufficient ") and "," not in text:
        resource = text.removeprefix("Insufficient ").split(" ", 1)[0]
        return ReasonKind.SHORT, resource
    if text.startswith("Too many pods"):
        return ReasonKind.SHORT, "pods"
    if "free ports" in text:
        return ReasonKind.PORTS, ""
    # Before "volume": a claim's node affinity is about the volume, a taint's text may hold any word.
    if "volume node affinity" in text or "PersistentVolume's node affinity" in text:
        return ReasonKind.VOLUME, ""
    if any(word in text for word in _COMPANY_WORDS):
        return ReasonKind.COMPANY, ""
    if any(word in text for word in _CANDIDATE_WORDS):
        return ReasonKind.CANDIDATE, ""
    if "max volume count" in text:
        return ReasonKind.ATTACH, ""
    if any(word in text for word in _VOLUME_WORDS):
        return ReasonKind.VOLUME, ""
    return ReasonKind.UNMODELLED, ""


def _reason(item: str) -> Reason:
    counted = _COUNTED.fullmatch(item)
    text, count = (counted[2], int(counted[1])) if counted else (item, None)
    kind, resource = _kind_and_resource(text)
    return Reason(kind, text, count, resource)


def _old_form(message: str) -> Verdict:
    reasons = []
    for item in message.removeprefix(_OLD_HEAD).rstrip(". ").split(", "):
        match = _OLD_ITEM.fullmatch(item)
        text, count = (match[1], int(match[2])) if match else (item, None)
        kind, resource = _kind_and_resource(text)
        reasons.append(Reason(kind, text, count, resource))
    return Verdict(None, tuple(reasons), None)


def _victims(preemption: str) -> bool:
    """Whether preemption may still help: only a half that names nothing but refusals rules it out."""
    head = _HEAD.search(preemption)
    items = _ITEM_BREAK.split(head[2].rstrip(". ")) if head else [preemption]
    return any(_VICTIMS_LEAVING in item or not any(word in item for word in _NO_VICTIMS) for item in items)


@lru_cache(maxsize=4096)
def parse(message: str) -> Verdict:
    """The message as numbers and reasons. Total: a text of no known form has no reasons and no N.

    Remembered: a thousand pods of one Job carry the same sentence.
    """
    message = message.strip()
    if message.startswith(_OLD_HEAD):
        return _old_form(message)
    preemption = _PREEMPTION.search(message)
    victims = _victims(preemption[1]) if preemption else None
    head = _HEAD.search(message[: preemption.start()] if preemption else message)
    if head is None:
        return Verdict(None, (), victims)
    body = _DRA_TAIL.sub("", head[2]).strip(" .,")
    items = [item.strip(" .") for item in _ITEM_BREAK.split(body) if item.strip(" .")]
    return Verdict(int(head[1]), tuple(_reason(item) for item in items), victims)


_QUOTA = re.compile(r"exceeded quota: ([^,\s]+), requested: (.+?), used: (.+?), limited: (.+?)(?:$|\s*\(|\n)")


class Refusal(Struct, frozen=True):
    """A pod that was refused at creation: which quota, and per resource what was asked, used and allowed, as text."""

    quota: str
    requested: tuple[tuple[str, str], ...]
    used: tuple[tuple[str, str], ...]
    limited: tuple[tuple[str, str], ...]


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (item.partition("=") for item in text.split(","))
    return tuple(sorted((name.strip(), value.strip()) for name, _, value in pairs if name.strip()))


def parse_refusal(message: str) -> Refusal | None:
    """The quota refusal in the message of a FailedCreate event, None if it was refused for another reason."""
    match = _QUOTA.search(message)
    if match is None:
        return None
    return Refusal(match[1], _pairs(match[2]), _pairs(match[3]), _pairs(match[4]))
