"""All documents of one incident, read, and their observations in the order of time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from analyzer.sources.kubernetes.audit import read_audit
from analyzer.sources.kubernetes.described import WEAK, read_weak
from analyzer.sources.kubernetes.event_log import read_events
from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.json_documents import read_json
from analyzer.sources.kubernetes.klog import NO_RUNS, stamp_ns
from analyzer.sources.kubernetes.log_forms import read_log
from analyzer.sources.kubernetes.long_list import LongList, long_list
from analyzer.sources.kubernetes.objects import Event, KubeObject, Pod
from analyzer.sources.kubernetes.observations import Listed, LogStatement, Observation
from analyzer.sources.kubernetes.reading import Reading
from analyzer.sources.kubernetes.scheduler_log import MESSAGES, REPEATED, log_statements
from analyzer.sources.kubernetes.spans import Spans
from analyzer.sources.kubernetes.timeline import has_history, history, of_present_pods, one_state, pod_name, seconds
from analyzer.sources.kubernetes.yaml_documents import read_yaml
from analyzer.sources.kubernetes.zones import YEAR_UNKNOWN, year_and_zone
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Complaint, Document, FileNote


class Incident:
    """Read when made, but for the long lists of pods: `ahead` reads those. Then `finish`, then `moments`, each once.

    `long_lists` are these, by document. Pods that were handed out are let go: memory holds what the reader keeps.
    """

    def __init__(self, documents: Sequence[Document], options: ReadOptions) -> None:
        given = sorted(documents, key=lambda one: one.index)
        weak = [document for document in given if form_of(document.content) in WEAK]
        documents = [document for document in given if form_of(document.content) not in WEAK] if weak else given
        long_lists = [found for document in documents if (found := long_list(document)) is not None]
        self.long_lists = {one.reading.document: one for one in long_lists}
        logs = {one.index: one for one in documents if form_of(one.content) is Form.KLOG}
        apart = logs.keys() | self.long_lists.keys()
        self._readings = [_read(document) for document in documents if document.index not in apart]
        if long_lists and not _are_apart(long_lists, self._readings):
            # What may be there twice has to be compared, so all pods are needed at once.
            again = [_read(document) for document in documents if document.index in self.long_lists]
            self._readings += again
            self.long_lists.clear()
        # Without a history it does not matter when all was said that was said again and again.
        repeated = NO_RUNS if has_history(self._readings) else REPEATED
        self._readings += [_read_log(document, repeated) for document in logs.values()]
        self._readings.sort(key=lambda reading: reading.document)
        if weak:
            told = read_weak(weak, self._readings, tuple(self.long_lists.values()))
            self._readings = sorted((*self._readings, *told), key=lambda reading: reading.document)
        self._options = options
        self._spans = Spans(self._readings, tuple(self.long_lists.values()))
        self._named = {line.values.get("pod", "") for one in self._readings if one.klog for line in one.klog.lines}
        self._named_pods: list[Pod] = []
        self._statements: list[LogStatement] = []
        self.as_of_ns: int | None = None
        self.notes: Sequence[FileNote] = ()

    def ahead(self) -> Iterator[Listed]:
        """The pods of the long lists, as they were at the end of the recording; that is not known yet, so at 0."""
        for one in self.long_lists.values():
            document = one.reading.document
            kept: list[KubeObject] = []
            kept_records: list[int] = []
            for objects, records in one.pieces():
                self._spans.hear_objects(one.reading, objects, records)
                pods = [found for found in objects if type(found) is Pod]
                if len(pods) == len(objects):
                    yield Listed(0, pods, document, records)
                else:
                    numbered = tuple(zip(objects, records, strict=True))
                    yield Listed(0, pods, document, [record for found, record in numbered if type(found) is Pod])
                    kept.extend(found for found in objects if type(found) is not Pod)
                    kept_records.extend(record for found, record in numbered if type(found) is not Pod)
                    del numbered
                if self._named:
                    self._named_pods.extend(found for found in pods if pod_name(found) in self._named)
                del objects, records, pods  # else they would stay until the next ones have been made
            if kept:
                one.keep(kept, kept_records)

    def finish(self) -> None:
        """Find the end of the recording: `as_of_ns` and `notes` are known from here on."""
        long_ones = (one.reading for one in self.long_lists.values())
        readings = sorted((*self._readings, *long_ones), key=lambda reading: reading.document)
        if self._named:
            self._named_pods.extend(pod for pod in _pods(readings) if pod_name(pod) in self._named)
        self._readings = readings
        self._statements = _statements(readings, self._spans, self._options, self._named_pods)
        self.as_of_ns = self._spans.as_of(readings)
        self.notes = tuple(_note(reading, self._spans) for reading in readings)

    def moments(self) -> Iterator[tuple[int, Iterable[Observation]]]:
        """(time, what was observed) for every second with a change; a single moment where there is no history.

        The last moment is always the end of the recording, be there anything to tell of it or not.
        """
        as_of_ns = self.as_of_ns or 0
        readings, self._readings = self._readings, []
        statements, self._statements = self._statements, []
        if not has_history(readings):
            yield as_of_ns, one_state(readings, of_present_pods(statements, self._named_pods), as_of_ns)
            return
        last_ns = None
        for last_ns, observations in seconds(history(readings, statements, as_of_ns)):
            yield last_ns, observations
        if last_ns is None or last_ns < as_of_ns:
            yield as_of_ns, ()


def _are_apart(long_lists: Sequence[LongList], readings: Sequence[Reading]) -> bool:
    """Whether no pod can be in two places: there are no changes of pods, and each list has namespaces of its own."""
    if any(isinstance(change.object, Pod) for reading in readings for change in reading.changes):
        return False
    met = {pod.metadata.namespace for pod in _pods(readings)}
    if len(long_lists) == 1 and not met:
        return True
    for one in long_lists:
        namespaces = one.outline().namespaces
        if not met.isdisjoint(namespaces):
            return False
        met |= namespaces
    return True


def _read(document: Document) -> Reading:
    content = document.content
    match form_of(content):
        case Form.AUDIT:
            return read_audit(document.index, content)
        case Form.YAML:
            return read_yaml(document.index, content)
        case _:
            return read_json(document.index, content)


def _read_log(document: Document, repeated: Mapping[str, str]) -> Reading:
    log, kind = read_log(document.content, MESSAGES, repeated)
    events = read_events(document.index, document.content)
    used = log.matching + sum(one.object.count for one in events if isinstance(one.object, Event))
    skipped = max(0, log.records - used)
    return Reading(
        document=document.index, kind=kind, klog=log, changes=events, records=used + skipped, skipped=skipped
    )


def _statements(
    readings: Sequence[Reading], spans: Spans, options: ReadOptions, pods: Sequence[Pod]
) -> list[LogStatement]:
    """Log lines with their years; tells the spans about the times of the logs. `pods`: those that the logs name."""
    near_ns = spans.as_of(readings)
    out: list[LogStatement] = []
    for reading in readings:
        log = reading.klog
        if log is None:
            continue
        year, offset_s, known = year_and_zone(log, options, near_ns, pods)
        if not known and log.last is not None:
            reading.complain(1, f"this log names no year: {YEAR_UNKNOWN} is assumed (say it with --year).")
        ends = [stamp_ns(stamp, year, offset_s) for stamp in (log.first, log.last) if stamp is not None]
        spans.hear_all(reading, ends, believed=True)
        out.extend(log_statements(reading.document, log, year, offset_s))
    return out


def _pods(readings: Sequence[Reading]) -> Iterator[Pod]:
    for reading in readings:
        for listing in reading.listings:
            yield from (found for found in listing.objects if isinstance(found, Pod))
        yield from (change.object for change in reading.changes if isinstance(change.object, Pod))


def _note(reading: Reading, spans: Spans) -> FileNote:
    complaints = list(reading.complaints)
    if reading.complaints_left_out:
        complaints.append(Complaint(0, f"{reading.complaints_left_out} more like these are left out."))
    return FileNote(
        index=reading.document,
        kind=reading.kind,
        records=reading.records - reading.skipped,
        skipped=reading.skipped,
        first_ns=spans.first_ns.get(reading.document),
        last_ns=spans.last_ns.get(reading.document),
        complaints=tuple(complaints),
    )
