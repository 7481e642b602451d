"""Whether a node fulfils a job's `--constraint`: `a100&nvlink`, `intel|amd`, `[rack1|rack2]`, `gpu*4`."""

import re

_PLAIN = re.compile(r"[\w.\-+:]+(?:[&|,][\w.\-+:]+)*")


def fulfils(wanted: str, features: frozenset[str] | None) -> bool:
    """True where the node's features are not known or the expression is more than ANDs and ORs: the more silent."""
    if not wanted or features is None:
        return True
    bare = wanted.strip()
    if bare.startswith("[") and bare.endswith("]") and bare.count("[") == 1 and "*" not in bare:
        bare = bare[1:-1]  # any one of them, the same on all nodes: more than we ask
    if _PLAIN.fullmatch(bare) is None:
        return True
    return any(all(word in features for word in part.split("&")) for part in re.split(r"[|,]", bare))
