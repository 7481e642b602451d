"""What becomes of claims for devices: pods and nodes told anew, and claims that are kept for pods that have ended."""

from collections.abc import Iterator

from analyzer.model.events import ActorObserved, Certainty, Lifetime, Wait
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Never
from analyzer.sources.kubernetes.actors import Built, cited
from analyzer.sources.kubernetes.records import FAILED, SUCCEEDED
from analyzer.sources.kubernetes.resource_claims import ClaimFacts
from analyzer.sources.kubernetes.singles import Context
from analyzer.sources.kubernetes.store import Store
from analyzer.sources.kubernetes.times import SECOND_NS

RELEASE_NS = 300 * SECOND_NS
"""The controller takes ended pods off a claim within seconds, and looks at all of them anew every few minutes."""


def settle_devices(store: Store) -> None:
    """Nodes and pods whose devices are different, as they are now."""
    nodes, records, doubted = store.devices.settle()
    store.dirty.pods.update(doubted)
    store.dirty.waiting |= store.devices.classes_changed
    store.devices.classes_changed = False
    for name in sorted(nodes & store.candidates.nodes.keys()):
        store.put_node(store.candidates.nodes[name])
    for record in records:
        known = store.pods.get(record.key)
        # A pod whose node only the scheduler's log tells stays where it is.
        if known is not None and known.stage is record.stage and known != record:
            store.refit(record)


def _left_over(context: Context, claim: ClaimFacts) -> Built | None:
    """The actor that stands for an allocated claim all of whose users have ended; None for an ordinary claim."""
    store = context.store
    ends: list[int] = []
    citations = [claim.citation]
    for name in claim.users:
        record = store.pods.get(f"{claim.namespace}/{name}")
        if record is None or not store.devices.has(record.key, claim.key):
            return None
        if record.stage not in {SUCCEEDED, FAILED} or record.ended_ns is None:
            return None
        ends.append(record.ended_ns)
        citations.append(record.citation)
    if not claim.allocated or not ends:
        return None
    held: dict[ResourceId, int] = {}
    for one in claim.given:
        node = store.devices.slices.node_of(one.driver, one.pool)
        if node and not store.devices.slices.doubt(one.driver):
            resource = ResourceId(f"{one.driver}/{node}")
            held[resource] = held.get(resource, 0) + 1
    if not held:
        return None
    due_ns = max(ends) + RELEASE_NS
    overdue = context.now_ns > due_ns
    who = ", ".join(claim.users)
    why = f"the claim is still reserved for {who}, which {'has' if len(claim.users) == 1 else 'have'} ended"
    return Built(
        actor=ActorObserved(
            at_ns=context.now_ns,
            actor=ActorId(f"claim/{claim.key}"),
            holds=tuple(sorted(held.items())),
            wait=Wait(request=Never(why), since_ns=max(ends)) if overdue else None,
            lifetime=Lifetime.FINITE,
            certainty=Certainty.PROVEN,
            citations=cited(citations),
        ),
        recheck_ns=None if overdue else due_ns + 1,
    )


def look_at_claims(context: Context) -> Iterator[tuple[str, list[Built]]]:
    """The claims (by key) of which, or of whose pods, something is different."""
    devices = context.store.devices
    keys, devices.dirty = sorted(devices.dirty), set()
    for key in keys:
        claim = devices.claims.get(key)
        built = _left_over(context, claim) if claim is not None else None
        yield key, [] if built is None else [built]
