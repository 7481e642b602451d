"""Nodes as `kubectl describe nodes` shows them."""

from analyzer.sources.kubernetes.describe_text import Block, date_text, fields_of, indent_of, rows
from analyzer.sources.kubernetes.objects import Metadata, Node
from analyzer.sources.kubernetes.objects.cluster import NodeSpec, NodeStatus, Taint
from analyzer.sources.kubernetes.objects.metadata import Condition


def is_node(block: Block) -> bool:
    """Whether the block is a node with what it can give: one that is cut off before that says too little."""
    return "Namespace" not in block.fields and bool(quantities(block, "Allocatable"))


def node_of(block: Block) -> Node:
    """The node, with all that decides about it."""
    return Node(
        metadata=Metadata(
            name=block.name,
            creation_timestamp=date_text(block.text("CreationTimestamp")),
            labels=pairs(block, "Labels", "="),
            annotations=pairs(block, "Annotations", ": "),
        ),
        spec=NodeSpec(
            unschedulable=block.text("Unschedulable") == "true",
            taints=tuple(_taint(text) for text in block.texts("Taints")),
        ),
        status=NodeStatus(
            allocatable=quantities(block, "Allocatable"),
            capacity=quantities(block, "Capacity"),
            conditions=tuple(
                Condition(
                    type=row.get("Type", ""),
                    status=row.get("Status", ""),
                    reason=row.get("Reason", ""),
                    message=row.get("Message", ""),
                    last_heartbeat_time=date_text(row.get("LastHeartbeatTime", "")),
                    last_transition_time=date_text(row.get("LastTransitionTime", "")),
                )
                for row in rows(block.below("Conditions"))
            ),
        ),
    )


def pairs(block: Block, key: str, sign: str) -> dict[str, str]:
    """Labels or annotations, one a line."""
    parted = (text.partition(sign) for text in block.texts(key))
    return {name.rstrip(":"): value.strip() for name, _, value in parted if name}


def quantities(block: Block, key: str) -> dict[str, str]:
    """Amounts by kind of resource, one a line under the field."""
    below = block.below(key)
    return {field.key: field.value for field in fields_of(below, indent_of(below)) if field.value}


def _taint(text: str) -> Taint:
    what, _, effect = text.rpartition(":")
    key, _, value = what.partition("=")
    return Taint(key=key, value=value, effect=effect)
