"""The remark about nodes that pods are on and that were not handed over."""

from collections.abc import Collection

from analyzer.model.events import Remarked, RemarkKind
from analyzer.model.ids import ActorId

NODES = ActorId("nodes")
"""The subject of the remark."""


def blind_to_nodes(unseen: Collection[str], at_ns: int) -> tuple[Remarked, ...]:
    """One remark for all of them, none if all nodes are known."""
    if not unseen:
        return ()
    names = sorted(unseen)
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    are = "nodes that pods are on are" if len(names) > 1 else "node that pods are on is"
    text = f"{len(names)} {are} not in the input ({shown}): hand over `kubectl get nodes -o json` too"
    return (Remarked(at_ns=at_ns, kind=RemarkKind.BLIND_SPOT, subject=NODES, text=text),)
