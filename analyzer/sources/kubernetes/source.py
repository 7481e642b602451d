"""The Kubernetes source: documents of every form, as one incident, to batches of events.

Two steps. First every document is read (`*_documents.py`, `audit.py`, `klog.py`) and all are put in one order of time
(`incident.py`, `timeline.py`), which gives observations. Then they are told to the `Cluster`, which says after each
moment what changed for actors and resources.
"""

from collections.abc import Iterator, Mapping, Sequence

from analyzer.sources.kubernetes.cluster import Cluster
from analyzer.sources.kubernetes.forms import form_of
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.lines import RecordLines
from analyzer.sources.kubernetes.long_list import LongList
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Batch, Document, FileNote, Recording

_DEFAULT_OPTIONS = ReadOptions()


class KubernetesSource:
    """Recognises documents by content, and reads all of them as one incident."""

    @property
    def name(self) -> str:
        return "kubernetes"

    def recognises(self, document: Document) -> str | None:
        form = form_of(document.content)
        return None if form is None else form.value

    def read(self, documents: Sequence[Document], *, options: ReadOptions = _DEFAULT_OPTIONS) -> Recording:
        return KubernetesRecording(documents, options)


class KubernetesRecording:
    """What the documents hold. Reading begins with the first batch; citations stay valid afterwards."""

    def __init__(self, documents: Sequence[Document], options: ReadOptions) -> None:
        self._documents = {document.index: document for document in documents}
        self._options = options
        self._lines: dict[int, RecordLines] = {}
        self._long_lists: Mapping[int, LongList] = {}
        self.as_of_ns: int | None = None
        self.notes: Sequence[FileNote] = ()

    @property
    def batches(self) -> Iterator[Batch]:
        incident = Incident(tuple(self._documents.values()), self._options)
        self._long_lists = incident.long_lists
        cluster = Cluster()
        for listed in incident.ahead():
            cluster.take(listed)
        incident.finish()
        self.as_of_ns, self.notes = incident.as_of_ns, incident.notes
        for at_ns, observations in incident.moments():
            for observation in observations:
                cluster.apply(observation)
            yield Batch(at_ns, cluster.restate(at_ns))

    @property
    def has_clock(self) -> bool:
        return False

    def line_of(self, document: int, record: int) -> int | None:
        """The line (from 1) where the record begins. When first asked for, a document is gone through once more."""
        if document not in self._documents:
            return None
        lines = self._lines.get(document)
        if lines is None:
            lines = RecordLines(self._documents[document], self._long_lists.get(document))
            self._lines[document] = lines
        return lines.line_of(record)


SOURCE = KubernetesSource()
