"""What mechanisms lay on the members of a gang, as far as the gang cannot do without them."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from analyzer.model.events import Certainty, Wait
from analyzer.model.requests import KOutOfN, all_of
from analyzer.sources.kubernetes.mechanism import Burden
from analyzer.sources.kubernetes.records import PodRecord
from analyzer.sources.kubernetes.waits import foremost


def burdens_of(burdens: Mapping[str, Burden], records: Sequence[PodRecord]) -> tuple[Burden, ...]:
    """The burdens of these pods, in their order."""
    return tuple(found for record in records if (found := burdens.get(record.key)) is not None) if burdens else ()


def burdened_wait(wait: Wait | None, bound: Sequence[Burden], pending: Sequence[Burden], spare: int) -> Wait | None:
    """The gang's wait with what its members wait for although they have nodes, and need beside places.

    `bound`, `pending`: burdens of such members. `spare`: how many members the gang has beyond its minimum once all that
    it waits for have a place: so many of the burdened it can do without.
    """
    halted = [one.wait for one in bound if one.wait is not None]
    needed = len(halted) - max(0, spare)
    if needed > 0:
        parts = tuple(one.request for one in halted)
        request = KOutOfN(needed, parts) if needed < len(parts) else all_of(parts)
        excuses = [one.excuse for one in halted]
        excuse = foremost(excuses) if sum(one is None for one in excuses) < needed else None
        said = next((one.said for one in halted if one.said), "")
        if wait is None:
            wait = Wait(request=request, since_ns=min(one.since_ns for one in halted), excuse=excuse, said=said)
        else:
            wait = replace(
                wait,
                request=all_of((wait.request, request)),
                since_ns=min(wait.since_ns, *(one.since_ns for one in halted)),
                excuse=foremost((wait.excuse, excuse)),
                said=wait.said or said,
            )
    if wait is None or not pending:
        return wait
    needs = [one.needs for one in pending if one.needs is not None]
    if needs and spare <= 0:
        wait = replace(wait, request=all_of((wait.request, *needs)))
    return replace(wait, excuse=foremost((wait.excuse, *(one.excuse for one in pending))))


def burdened_certainty(certainty: Certainty, burdens: Sequence[Burden]) -> Certainty:
    """Suspected if anything that the gang waits for is."""
    suspected = any(one.certainty is Certainty.SUSPECTED for one in burdens)
    return Certainty.SUSPECTED if suspected else certainty
