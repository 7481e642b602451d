"""What a person hands over as a hypothesis: wholly understood or refused, since half a hypothesis answers nothing."""

from msgspec import Struct

from analyzer.errors import UnreadableError
from analyzer.model.events import ActorGone, ActorObserved, Holds, ResourceObserved
from analyzer.model.ids import ActorId


class Submission(Struct, frozen=True, kw_only=True):
    """What would be there in addition. `actors` are those that are asked about, in the order of the file.

    `nodes`: new places whose candidates nobody has worked out. `notes`: what was taken for granted, in sentences.
    """

    events: tuple[ActorObserved | ActorGone | ResourceObserved, ...]
    actors: tuple[ActorId, ...] = ()
    nodes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Stay(Struct, frozen=True):
    """A pod of the actor that stays on its node if that is drained, and keeps this; why, and what would let it go."""

    actor: ActorId
    pod: str
    keeps: Holds
    why: str
    cure: str


def refused(path: str, line: int, text: str) -> UnreadableError:
    """The error about a place in a submitted file."""
    if line:
        return UnreadableError(f"{path}:{line}: {text}")
    return UnreadableError(f"{path} {text}" if text.startswith(("is ", "cannot ")) else f"{path}: {text}")
