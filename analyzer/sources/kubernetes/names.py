"""Names of actors (`kind/namespace/name`) and of what is counted on nodes (`kind/node`)."""

from sys import intern

from analyzer.model.ids import ActorId, ResourceId


def pod_actor(key: str) -> ActorId:
    """A pod that belongs to no gang; `key` is `namespace/name`."""
    return ActorId(f"pod/{key}")


def gang_actor(key: str) -> ActorId:
    """A gang; `key` is `namespace/name`."""
    return ActorId(f"gang/{key}")


def controller_actor(namespace: str, name: str) -> ActorId:
    """A controller whose pods do not exist (refused, or not made yet)."""
    return ActorId(f"controller/{namespace}/{name}")


def quota_actor(namespace: str, name: str) -> ActorId:
    """Bookings of a quota that no pod accounts for."""
    return ActorId(f"quota/{namespace}/{name}")


def counted(kind: str) -> str:
    """The name of a kind of units: cores are counted in thousandths, and are called so."""
    return "millicpu" if kind == "cpu" else kind


class NamesByNode(dict[str, ResourceId]):
    """The names of one kind of units, by node; made when first asked for."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = counted(kind)

    def __missing__(self, node: str) -> ResourceId:
        made = self[node] = ResourceId(intern(f"{self._kind}/{node}"))
        return made
