"""All documents of one incident put in one order of time.

Streams and audit logs tell when an object changed; a list only tells how it was when somebody fetched it, and nobody
wrote down when. The rules:

- Resource versions grow with every write in a cluster, so they order versions of objects; the time of a version is the
  latest time in it, and never earlier than that of the version before. The same version twice is one.
- An object in a list is as it was at the end of the recording, unless a stream shows a later version of it. Where
  there is a history of pods, it is taken to be so from its own newest time on.
- Of two lists of one kind and namespace that share an object, the one with the newer version is the later; what it
  lacks is gone. What streams knew and a later list of its kind and namespace lacks is gone at the end.
  Single objects and lists that say that they were cut short show nothing to be gone.
- Events and log lines have their own times.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from analyzer.model.events import Citation
from analyzer.sources.digits import is_whole
from analyzer.sources.kubernetes.decoding import kind_of_object
from analyzer.sources.kubernetes.moments import latest_ns
from analyzer.sources.kubernetes.objects import Event, KubeObject, Pod
from analyzer.sources.kubernetes.observations import LogStatement, Observation, PodBound, Seen
from analyzer.sources.kubernetes.reading import Listing, Reading
from analyzer.sources.kubernetes.times import SECOND_NS, parse_ns

Place = tuple[str, str]
"""Kind and namespace."""

Identity = tuple[str, str, str, str]
"""Kind, namespace, name and uid."""


class Version(Struct, frozen=True):
    """An object as it was in some document. `resource_version` 0: it has none. `at_ns` None: only it itself tells."""

    object: KubeObject
    citation: Citation
    resource_version: int
    gone: bool = False
    at_ns: int | None = None


def version_of(found: KubeObject) -> int:
    """The resource version as a number, 0 if there is none."""
    text = found.metadata.resource_version
    return int(text) if is_whole(text) else 0


def identity(found: KubeObject) -> Identity:
    """What stays the same over all versions of one object."""
    metadata = found.metadata
    return (kind_of_object(found), metadata.namespace, metadata.name, metadata.uid)


def pod_name(pod: Pod) -> str:
    """How the scheduler's log calls the pod."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def of_present_pods(statements: Sequence[LogStatement], pods: Sequence[Pod]) -> list[LogStatement]:
    """Without those about a pod that had the same name before (of a StatefulSet): they are older than the pod."""
    created_ns = {pod_name(pod): parse_ns(pod.metadata.creation_timestamp) or 0 for pod in pods}
    return [one for one in statements if one.at_ns >= created_ns.get(one.pod, 0)]


def has_history(readings: Sequence[Reading]) -> bool:
    """Whether changes of pods were recorded: else all that is known is one state, and how the log led to it."""
    return any(isinstance(change.object, Pod) for reading in readings for change in reading.changes)


def one_state(readings: Sequence[Reading], statements: Sequence[LogStatement], as_of_ns: int) -> Iterator[Observation]:
    """Without a history: all objects as of the end, then what was said about them in the order of time."""
    if _is_simple(readings):
        yield from _as_listed(readings, statements, as_of_ns)
        return
    versions = [*_listed(readings), *_changed(readings, as_of_ns)]
    said: list[Observation] = [*statements, *_bound(readings)]
    newest: dict[Identity, Version] = {}
    for one in versions:
        known = newest.get(identity(one.object))
        # An event that has expired was said all the same.
        if known is None or (one.resource_version > known.resource_version and not (one.gone and _is_event(one))):
            newest[identity(one.object)] = one
    latest = _latest_by_name(newest.values())
    for key, one in newest.items():
        if _is_event(one):
            said.append(_event(one, as_of_ns))
        elif not one.gone and one.resource_version >= latest[key[:3]]:
            yield Seen(as_of_ns, one.object, gone=False, citation=one.citation)
    yield from _in_order(said)


def _is_simple(readings: Sequence[Reading]) -> bool:
    """Whether nothing can be in there twice, as with most dumps: then no object need be looked up."""
    met: set[Place] = set()
    for reading in readings:
        if reading.changes:
            return False
        for listing in reading.listings:
            places = _places(listing)
            if not met.isdisjoint(places):
                return False
            met |= places
    return True


def _as_listed(readings: Sequence[Reading], statements: Sequence[LogStatement], as_of_ns: int) -> Iterator[Observation]:
    said: list[Observation] = [*statements, *_bound(readings)]
    for reading in readings:
        document = reading.document
        for listing in reading.listings:
            for found, record in zip(listing.objects, listing.records, strict=True):
                if type(found) is Event:
                    said.append(_event(Version(found, (document, record), 0), as_of_ns))
                else:
                    yield Seen(as_of_ns, found, gone=False, citation=(document, record))
    yield from _in_order(said)


def history(readings: Sequence[Reading], statements: Sequence[LogStatement], as_of_ns: int) -> list[Observation]:
    """With a history: everything in the order of time."""
    out: list[Observation] = [*statements, *_bound(readings)]
    last: dict[Identity, Version] = {}
    events: set[tuple[Identity, int]] = set()
    for one in _changed(readings, as_of_ns):
        if isinstance(one.object, Event):
            events.add((identity(one.object), one.resource_version))
            if not one.gone:
                out.append(_event(one, as_of_ns))
            continue
        last[identity(one.object)] = one
        out.append(Seen(_at(one, as_of_ns), one.object, one.gone, one.citation))
    listed = _listed(readings)
    for one in listed:
        if isinstance(one.object, Event):
            if (identity(one.object), one.resource_version) not in events:
                out.append(_event(one, as_of_ns))
            continue
        before = last.get(identity(one.object))
        own_ns = min(latest_ns(one.object) or as_of_ns, as_of_ns)
        if before is None:
            out.append(Seen(own_ns, one.object, gone=False, citation=one.citation))
        elif one.resource_version > before.resource_version:
            last[identity(one.object)] = one
            out.append(Seen(max(own_ns, _at(before, as_of_ns)), one.object, gone=False, citation=one.citation))
    covered = _covered(readings)
    listed_keys = {identity(one.object) for one in listed}
    latest = _latest_by_name((*last.values(), *listed))
    for key, one in last.items():
        newest = covered.get(key[:2], -1)
        # One that was made anew under its name is gone since then, and it must not take the other with it.
        stands = one.resource_version >= latest[key[:3]]
        if not one.gone and stands and key not in listed_keys and newest > one.resource_version:
            out.append(Seen(as_of_ns, one.object, gone=True, citation=one.citation))
    return list(_in_order(out))


def _latest_by_name(versions: Iterable[Version]) -> dict[tuple[str, ...], int]:
    """By kind, namespace and name the newest version: of several objects of one name, one after the other, the last."""
    latest: dict[tuple[str, ...], int] = {}
    for one in versions:
        name = identity(one.object)[:3]
        latest[name] = max(latest.get(name, 0), one.resource_version)
    return latest


def _changed(readings: Sequence[Reading], as_of_ns: int) -> list[Version]:
    """Versions from streams and audit logs, each once, by resource version, with times that never go back."""
    found: list[tuple[int, int, Version]] = []
    for reading in readings:
        inherited = 0
        for change in reading.changes:
            number = version_of(change.object)
            inherited = number or inherited
            citation = (reading.document, change.record)
            found.append(
                (inherited, len(found), Version(change.object, citation, inherited, change.gone, change.at_ns))
            )
    found.sort(key=lambda item: item[:2])
    out: list[Version] = []
    places: dict[tuple[object, ...], int] = {}
    now_ns: int | None = None
    for number, _, one in found:
        own_ns = one.at_ns if one.at_ns is not None else latest_ns(one.object)
        if isinstance(one.object, Event):
            own_ns = latest_ns(one.object)
        elif own_ns is not None and own_ns <= as_of_ns:
            now_ns = own_ns if now_ns is None else max(now_ns, own_ns)
        key = (*identity(one.object), number, one.gone)
        if key in places and number:
            continue
        places[key] = len(out)
        at_ns = own_ns if isinstance(one.object, Event) else now_ns
        out.append(Version(one.object, one.citation, number, one.gone, at_ns))
    return out


def _listed(readings: Sequence[Reading]) -> list[Version]:
    """Objects from lists, each once in its newest version, without those that a later list shows to be gone."""
    listings = [(reading.document, listing) for reading in readings for listing in reading.listings]
    places = [_places(listing) for _, listing in listings]
    times_seen: dict[Place, int] = {}
    for met in places:
        for place in met:
            times_seen[place] = times_seen.get(place, 0) + 1
    shared = {place for place, times in times_seen.items() if times > 1}
    out: list[Version] = []
    newest: dict[Identity, int] = {}
    for index, (document, listing) in enumerate(listings):
        overlaps = not shared.isdisjoint(places[index])
        for found, record in zip(listing.objects, listing.records, strict=True):
            one = Version(found, (document, record), version_of(found))
            key = identity(found) if overlaps else None
            if key is None or key[:2] not in shared:
                out.append(one)
                continue
            known = newest.get(key)
            if known is None:
                newest[key] = len(out)
                out.append(one)
            elif one.resource_version > out[known].resource_version:
                out[known] = one
    gone = _superseded([listing for _, listing in listings], shared) if shared else frozenset()
    return [one for one in out if identity(one.object) not in gone] if gone else out


def _places(listing: Listing) -> set[Place]:
    kinds = {type(found) for found in listing.objects}
    if len(kinds) == 1 and not hasattr(listing.objects[0], "kind"):
        kind = kind_of_object(listing.objects[0])
        return {(kind, namespace) for namespace in {found.metadata.namespace for found in listing.objects}}
    return {(kind_of_object(found), found.metadata.namespace) for found in listing.objects}


def _superseded(listings: Sequence[Listing], shared: set[Place]) -> frozenset[Identity]:
    """What a later list of the same kind and namespace lacks, where the two lists share an object."""
    members: dict[Place, list[tuple[int, set[Identity], bool]]] = {}
    for listing in listings:
        for place, (newest, keys) in _newest_by_place(listing, shared).items():
            if place[0] != "Event":
                members.setdefault(place, []).append((newest, keys, listing.whole))
    gone: set[Identity] = set()
    for lists in members.values():
        last_seen: dict[Identity, int] = {}
        for newest, keys, _ in lists:
            for key in keys:
                last_seen[key] = max(last_seen.get(key, 0), newest)
        for newest, keys, whole in lists:
            if not whole:
                continue
            for _, older, _ in lists:
                if not keys.isdisjoint(older):
                    gone.update(key for key in older - keys if last_seen[key] < newest)
    return frozenset(gone)


def _newest_by_place(listing: Listing, shared: set[Place]) -> dict[Place, tuple[int, set[Identity]]]:
    out: dict[Place, tuple[int, set[Identity]]] = {}
    for found in listing.objects:
        key = identity(found)
        if key[:2] in shared:
            newest, keys = out.get(key[:2], (listing.resource_version or 0, set()))
            keys.add(key)
            out[key[:2]] = (max(newest, version_of(found)), keys)
    return out


def _covered(readings: Sequence[Reading]) -> dict[Place, int]:
    """The newest version in a whole list of this kind and namespace."""
    out: dict[Place, int] = {}
    for reading in readings:
        for listing in reading.listings:
            if listing.whole:
                for found in listing.objects:
                    place = (kind_of_object(found), found.metadata.namespace)
                    newest = max(version_of(found), listing.resource_version or 0)
                    out[place] = max(out.get(place, 0), newest)
    return out


def _bound(readings: Sequence[Reading]) -> Iterator[PodBound]:
    for reading in readings:
        for binding in reading.bindings:
            yield PodBound(binding.at_ns, binding.pod, binding.node, (reading.document, binding.record))


def _is_event(one: Version) -> bool:
    return isinstance(one.object, Event)


def _event(one: Version, as_of_ns: int) -> Seen:
    own_ns = latest_ns(one.object)
    return Seen(
        min(own_ns, as_of_ns) if own_ns is not None else as_of_ns, one.object, gone=False, citation=one.citation
    )


def _at(one: Version, as_of_ns: int) -> int:
    return min(one.at_ns, as_of_ns) if one.at_ns is not None else as_of_ns


def _in_order(observations: list[Observation]) -> Iterator[Observation]:
    """By time; at one time objects first, in the order given, then what was said about them."""
    ranked = sorted(enumerate(observations), key=lambda item: (item[1].at_ns, _rank(item[1]), item[0]))
    return (one for _, one in ranked)


def _rank(one: Observation) -> int:
    return 0 if isinstance(one, Seen) and not isinstance(one.object, Event) else 1


def seconds(observations: Sequence[Observation]) -> Iterator[tuple[int, list[Observation]]]:
    """(latest time, observations) of each second of event time in which something was observed."""
    group: list[Observation] = []
    for one in observations:
        if group and one.at_ns // SECOND_NS != group[-1].at_ns // SECOND_NS:
            yield group[-1].at_ns, group
            group = []
        group.append(one)
    if group:
        yield group[-1].at_ns, group
