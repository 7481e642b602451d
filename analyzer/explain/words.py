"""Plain words for names, numbers and spans of time. Everything a reader sees goes through here, so it reads alike."""

from collections.abc import Callable, Container, Iterable, Sequence

from analyzer.model.ids import ActorId, ResourceId, kind_of, place_of
from analyzer.model.limits import SECOND_NS

NAMES_SHOWN = 4
"""Names that a sentence lists before it goes over to a number."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_KINDS = {"slurm-job": "Slurm job", "slurm-step": "Slurm step", "controller": "controller"}
MILLI_CPU = "millicpu"
"""The kind of which a thousand make one processor."""

_NODE_KINDS = ("cpu", MILLI_CPU, "memory", "pods", "ephemeral-storage")
_NODE_PREFIXES = ("hugepages-", "hostport-", "rdma/")
_BYTE_KINDS = ("memory", "ephemeral-storage", "hugepages")


def number(count: int) -> str:
    """In words up to twelve, in figures beyond."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """`counted(2, "pod")` is "2 pods"."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of an English noun of ours: gangs, queues, entries, classes."""
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy")):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def capital(sentence: str) -> str:
    """The first letter large. Only for sentences that begin with a word of ours, never with a name."""
    return sentence[:1].upper() + sentence[1:]


def actor_kind(actor: ActorId) -> str:
    """What it is: "gang", "pod", "Slurm job"; "actor" if the name does not say."""
    kind, slash, _ = actor.partition("/")
    return _KINDS.get(kind, kind) if slash and kind else "actor"


def takes_nodes(actor: ActorId) -> bool:
    """Whether it is given nodes, and parts of nodes, rather than pods on them."""
    return actor.startswith("slurm-job/")


def group(actors: Sequence[ActorId]) -> str:
    """How many of what: "two gangs", "three actors" where the kinds differ."""
    kinds = {actor_kind(actor) for actor in actors}
    noun = kinds.pop() if len(kinds) == 1 else "actor"
    return f"{number(len(actors))} {noun if len(actors) == 1 else plural(noun)}"


def short_names(actors: Iterable[ActorId]) -> Callable[[ActorId], str]:
    """How to call these actors in one sentence: without their kind where they all share it and it has been said."""
    actors = list(actors)
    if len({actor.partition("/")[0] for actor in actors}) == 1 and all(actor.count("/") > 1 for actor in actors):
        known = frozenset(actors)
        return lambda actor: actor.partition("/")[2] if actor in known else actor
    return lambda actor: actor


def listed(words: Sequence[str], *, last: str = "and", shown: int = NAMES_SHOWN) -> str:
    """The words as one list: "a", "a, b and c"; beyond `shown` the rest as a number: "a, b, c, d and 12 more"."""
    if len(words) > shown + 1:
        return f"{', '.join(words[:shown])} {last} {len(words) - shown:,} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def in_bytes(kind: str) -> bool:
    """Whether units of this kind are bytes."""
    return kind.startswith(_BYTE_KINDS)


def amount(count: int, kind: str) -> str:
    """How much, without of what: "8", "512 GiB", "2.5" of processors."""
    if kind == MILLI_CPU:
        return f"{count // 1000:,}" if count % 1000 == 0 else f"{count / 1000:,.3f}".rstrip("0")
    if in_bytes(kind) and count >= 1 << 20:
        power, unit = (30, "GiB") if count >= 1 << 30 else (20, "MiB")
        return f"{_decimal(count / (1 << power))} {unit}"
    return f"{count:,}"


def named(kind: str) -> str:
    """What people call a kind."""
    return "cpu" if kind == MILLI_CPU else kind


def units(count: int, kind: str) -> str:
    """An amount of a kind: "8 gpu", "512 GiB memory"."""
    return "1 pod" if (count, kind) == (1, "pods") else f"{amount(count, kind)} {named(kind)}"


def scale(resource: ResourceId) -> str:
    """The kind by which units of a resource are counted. Books of a Kubernetes quota are named by what they count."""
    kind, place = kind_of(resource), place_of(resource)
    if not kind.startswith("quota/"):
        return kind
    counted = place.removeprefix("requests.").removeprefix("limits.")
    return MILLI_CPU if counted == "cpu" and kind.count("/") > 1 else counted


def amount_of(count: int, resource: ResourceId) -> str:
    """How much of one resource: "8", "64 GiB", "2.5 cores" of a quota."""
    counted = scale(resource)
    cores = (" core" if count == 1000 else " cores") if counted == MILLI_CPU and not on_nodes(kind_of(resource)) else ""
    return f"{amount(count, counted)}{cores}"


def units_of(count: int, resource: ResourceId) -> str:
    """An amount of one resource: "8 gpu on node-1" of what sits on nodes, "43 of slot/all" of anything else."""
    if on_a_node(resource):
        return f"{units(count, kind_of(resource))} on {place_of(resource)}"
    return f"{amount_of(count, resource)} of {resource}"


def sort_of(resource: ResourceId) -> str:
    """What may be added up: the kind of what sits on nodes, whatever the node; anything else stands for itself."""
    return kind_of(resource) if on_a_node(resource) else resource


def on_a_node(resource: ResourceId) -> bool:
    """Whether its place is a node's name. A pool of all nodes is none."""
    return place_of(resource) not in {"", "all"} and on_nodes(kind_of(resource))


def on_nodes(kind: str) -> bool:
    """Whether units of this kind sit on nodes, so that the place is a node's name: cards, processors, memory..."""
    return is_gpu(kind) or kind in _NODE_KINDS or kind.startswith(_NODE_PREFIXES) or "." in kind.partition("/")[0]


def is_gpu(kind: str) -> bool:
    """Whether the kind counts cards or slices of cards, whatever the vendor. A quota is no card, whatever its name."""
    word = kind.rpartition("/")[2]
    return not kind.startswith("quota/") and ("gpu" in word or word.startswith("mig-"))


def principal(kinds: Iterable[str]) -> str | None:
    """The kind a reader thinks of first: cards before anything else, then by name. None of none."""
    return min(kinds, key=lambda kind: (not (is_gpu(kind) or is_gpu(kind.rpartition("/")[0])), kind), default=None)


def held(holds: Iterable[tuple[ResourceId, int]], kinds: Container[str] = ()) -> str:
    """What somebody holds, in few words: "12 gpu on n1 and n2"; "nothing" of nothing.

    Only cards and these `kinds` are named; if none is left, everything is. Places among a node's pods go unsaid.
    """
    by_kind: dict[str, list[tuple[ResourceId, int]]] = {}
    for resource, count in holds:
        key = sort_of(resource)
        by_kind.setdefault(key if key in kinds else kind_of(resource), []).append((resource, count))
    telling = [kind for kind in by_kind if kind in kinds or is_gpu(kind)]
    telling = telling or [kind for kind in by_kind if kind != "pods"]
    ordered = sorted(telling or by_kind, key=lambda kind: (not is_gpu(kind), kind))
    return listed([_held_of_kind(kind, by_kind[kind]) for kind in ordered]) or "nothing"


def _held_of_kind(kind: str, holds: Sequence[tuple[ResourceId, int]]) -> str:
    if len(holds) == 1 or not on_nodes(kind):
        return listed([units_of(count, resource) for resource, count in holds])
    return f"{units(sum(count for _, count in holds), kind)} on {listed([place_of(resource) for resource, _ in holds])}"


def span(duration_ns: int) -> str:
    """A time somebody waits: "45 s", "12 min", "3.5 h", "2.1 days"."""
    seconds = max(duration_ns, 0) / SECOND_NS
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{_decimal(seconds / 3600)} h" if seconds < 48 * 3600 else f"{_decimal(seconds / 86400)} days"


def gpu_hours(hours: float) -> str:
    """An amount of work: "3.2 GPU-hours", "1,240 GPU-hours"."""
    if 0 < hours < 0.05:
        return "less than 0.1 GPU-hours"
    return f"{_decimal(hours)} GPU-hour{'' if hours == 1 else 's'}"


def _decimal(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"
