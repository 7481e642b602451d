"""Names of actors and resources, and the one textual form each has.

An actor is `kind/scope/name` (`gang/team-red/job-a`). A resource is `kind/place`, and the kind may itself
hold a slash (`gpu/node-1`, `nvidia.com/gpu/node-1`, `quota/team-red/gpus`): only the last slash divides.
Both are plain strings, so that a hundred thousand of them cost one hash each.
"""

from typing import NewType

ActorId = NewType("ActorId", str)
ResourceId = NewType("ResourceId", str)


def resource_on(kind: str, node: str) -> ResourceId:
    """The resource of this kind on this node: `resource_on("gpu", "node-1")` is `gpu/node-1`."""
    return ResourceId(f"{kind}/{node}")


def kind_of(resource: ResourceId) -> str:
    """What is counted: `nvidia.com/gpu` of `nvidia.com/gpu/node-1`; the whole name if it has no slash."""
    return resource.rpartition("/")[0] or resource


def place_of(resource: ResourceId) -> str:
    """Where it is: `node-1` of `nvidia.com/gpu/node-1`; empty if the name has no slash."""
    kind, _, place = resource.rpartition("/")
    return place if kind else ""
