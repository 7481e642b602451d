"""A long list read in pieces tells exactly what it tells when it is read at once."""

import itertools
import json
from collections.abc import Callable, Sequence

import pytest

from analyzer.model.events import Citation
from analyzer.sources.kubernetes import long_list
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.lines import RecordLines
from analyzer.sources.kubernetes.objects import Event, KubeObject
from analyzer.sources.kubernetes.observations import Observation, Seen
from analyzer.sources.kubernetes.times import parse_ns
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document, FileNote
from tests.kubernetes.reading.test_klog import log
from tests.kubernetes.reading.written import Json, ahead, as_yaml, compact, listed, node, pod, pretty, typed_list, watch

PODS = [
    pod(
        f"a-{index:03}",
        version=index + 1,
        at=f"2026-01-02T03:{index % 60:02}:00Z",
        node=f"node-{index % 7}",
        metadata={"labels": {"n": "}, {" * (index % 3)}},
    )
    for index in range(100)
]
WRITTEN: dict[str, Callable[[Sequence[Json]], bytes]] = {
    "pretty": lambda items: pretty(listed(items)),
    "compact": lambda items: compact(listed(items)),
    "as the API answers": typed_list,
    "with spaces": lambda items: json.dumps(listed(items)).encode(),
}


def told(*contents: bytes) -> tuple[list[Observation], Sequence[FileNote], int | None]:
    found = Incident([Document(index, "file", content) for index, content in enumerate(contents)], ReadOptions())
    observations = ahead(found)
    found.finish()
    observations += [one for _, group in found.moments() for one in group]
    return observations, found.notes, found.as_of_ns


def objects_by_citation(observations: Sequence[Observation]) -> tuple[list[tuple[Citation, KubeObject]], int]:
    """The objects at the beginning, and how many there are."""
    seen = itertools.takewhile(lambda one: isinstance(one, Seen) and not isinstance(one.object, Event), observations)
    objects = sorted(((one.citation, one.object) for one in seen if isinstance(one, Seen)), key=lambda pair: pair[0])
    return objects, len(objects)


def event(name: str, said: str) -> Json:
    """An event about a pod, last said at that time."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1", "namespace": "team-red", "uid": f"event-{name}"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "team-red", "name": name},
        "reason": "FailedScheduling",
        "message": "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
        "lastTimestamp": said,
    }


def same_either_way(monkeypatch: pytest.MonkeyPatch, *contents: bytes, in_pieces: bool = True) -> None:
    """`in_pieces` says whether the first document must really have been read in pieces.

    All objects come first, in any order, then what was said about them, in the order of time.
    """
    at_once, notes, as_of_ns = told(*contents)
    monkeypatch.setattr(long_list, "LONG_BYTES", 2000)
    monkeypatch.setattr(long_list, "PIECE_BYTES", 1500)
    assert (long_list.long_list(Document(0, "file", contents[0])) is not None) == in_pieces
    pieces, notes_of_pieces, end_ns = told(*contents)
    objects, count = objects_by_citation(at_once)
    assert objects_by_citation(pieces) == (objects, count)
    assert pieces[count:] == at_once[count:]
    assert (notes_of_pieces, end_ns) == (notes, as_of_ns)


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("count", [2, 3, 100])
def test_in_every_form(monkeypatch: pytest.MonkeyPatch, form: str, count: int) -> None:
    content = WRITTEN[form](PODS[:count])
    same_either_way(monkeypatch, content, in_pieces=len(content) >= 2000)


@pytest.mark.parametrize("form", WRITTEN)
def test_with_a_broken_object_inside(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    items = json.loads(json.dumps(PODS))
    items[50]["spec"]["priority"] = "high"
    items[70]["metadata"]["labels"] = None
    same_either_way(monkeypatch, WRITTEN[form](items))


@pytest.mark.parametrize("form", ["pretty", "compact"])
@pytest.mark.parametrize("keep", [0.5, 0.9, 0.999])
def test_cut_off(monkeypatch: pytest.MonkeyPatch, form: str, keep: float) -> None:
    content = WRITTEN[form](PODS)
    same_either_way(monkeypatch, content[: int(len(content) * keep)])


def test_with_other_kinds_and_other_lists_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pretty(listed([*PODS, node("node-1")])) + pretty(listed([node("node-2")]))
    same_either_way(monkeypatch, content)


def test_beside_a_log_that_names_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    text = log(
        '0102 11:03:00.000001 a.go:1] "Successfully bound pod to node" pod="team-red/a-003" node="node-3"',
        '0102 11:59:00.000001 a.go:1] "Attempting to schedule pod" pod="team-red/a-004"',
    )
    same_either_way(monkeypatch, pretty(listed(PODS)), text)


@pytest.mark.parametrize(
    "beside", [compact(listed(PODS[:3])), as_yaml(PODS[5]), watch(("MODIFIED", PODS[4]), ("DELETED", PODS[6]))]
)
def test_pods_in_two_places_are_compared_as_always(monkeypatch: pytest.MonkeyPatch, beside: bytes) -> None:
    same_either_way(monkeypatch, pretty(listed(PODS)), beside)
    same_either_way(monkeypatch, pretty(listed(PODS[:60])), pretty(listed(PODS[30:])))


def read_in_pieces(monkeypatch: pytest.MonkeyPatch, *contents: bytes) -> list[int]:
    monkeypatch.setattr(long_list, "LONG_BYTES", 2000)
    monkeypatch.setattr(long_list, "PIECE_BYTES", 1500)
    documents = [Document(index, "file", content) for index, content in enumerate(contents)]
    return list(Incident(documents, ReadOptions()).long_lists)


@pytest.mark.parametrize("form", WRITTEN)
def test_several_lists_with_namespaces_of_their_own_are_all_read_in_pieces(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    blue = [pod(f"b-{index:03}", version=500 + index, namespace="team-blue") for index in range(90)]
    green = [pod(f"g-{index}", version=700 + index, namespace="team-green") for index in range(2)]
    contents = WRITTEN[form](PODS), WRITTEN[form](blue), as_yaml(listed(green)), pretty(listed([node("node-1")]))
    same_either_way(monkeypatch, *contents)
    assert read_in_pieces(monkeypatch, *contents) == [0, 1]


def test_a_shared_namespace_or_a_history_needs_all_pods_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = [pod(f"b-{index:03}", namespace=("team-blue", "team-red")[index == 60]) for index in range(90)]
    history = watch(("ADDED", pod("c", namespace="team-green")))
    for beside in (pretty(listed(mixed)), history, as_yaml(pod("c"))):
        same_either_way(monkeypatch, pretty(listed(PODS)), beside)
        assert read_in_pieces(monkeypatch, pretty(listed(PODS)), beside) == []
        monkeypatch.undo()


def test_a_broken_pod_is_no_reason_to_need_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [pod(f"b-{index:03}", namespace="team-blue") for index in range(90)]
    broken = pretty(listed(others)).replace(b'"b-040"', b'{"b-040"', 1)
    same_either_way(monkeypatch, pretty(listed(PODS)), broken)
    assert read_in_pieces(monkeypatch, pretty(listed(PODS)), broken) == [0, 1]


@pytest.mark.parametrize("form", ["pretty", "compact", "with spaces"])
def test_one_list_of_all_kinds(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """`kubectl get nodes,pods,events -A -o json`; events are in no order, and a log falls between them."""
    nodes = [node(f"node-{index}") for index in range(7)]
    events = [event(f"a-{index:03}", f"2026-01-02T03:{59 - index}:30Z") for index in range(30)]
    text = log('0102 03:45:00.000001 a.go:1] "Attempting to schedule pod" pod="team-red/a-004"')
    same_either_way(monkeypatch, WRITTEN[form]([*nodes, *PODS, *events]), text)
    assert read_in_pieces(monkeypatch, WRITTEN[form]([*nodes, *PODS, *events]), text) == [0]


@pytest.mark.parametrize(
    ("created", "version", "believed"),
    [("2026-01-09T03:00:00Z", 999, True), ("2026-01-09T03:00:00Z", 1, False), ("", 999, False)],
)
def test_a_lone_clock_in_the_future(
    monkeypatch: pytest.MonkeyPatch, created: str, version: int, *, believed: bool
) -> None:
    """It is believed if the API server made the object then, and nothing was written later."""
    ahead = pod("late", version=version, at=created, status={"startTime": "2026-01-09T03:00:00Z"})
    content = pretty(listed([*PODS[:70], ahead, *PODS[70:]]))
    same_either_way(monkeypatch, content)
    _, notes, as_of_ns = told(content)
    assert (as_of_ns == parse_ns("2026-01-09T03:00:00Z")) == believed
    assert [one.text.split(" is ")[0] for one in notes[0].complaints] == ([] if believed else ["the clock of Pod late"])


def test_other_documents_are_not_for_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (
        watch(*(("ADDED", one) for one in PODS)),
        pretty(listed([node(f"n-{index}") for index in range(100)])),
        as_yaml(listed(PODS)),
        b"".join(map(pretty, PODS)),
    ):
        same_either_way(monkeypatch, content, in_pieces=False)
        monkeypatch.undo()


@pytest.mark.parametrize("broken", ["", "cut off", "wrong type", "not closed"])
@pytest.mark.parametrize("form", WRITTEN)
def test_records_lead_back_to_their_lines(monkeypatch: pytest.MonkeyPatch, form: str, broken: str) -> None:
    items = json.loads(json.dumps(PODS))
    if broken == "wrong type":
        items[40]["spec"] = 7
    content = WRITTEN[form](items)
    if broken == "cut off":
        content = content[: len(content) * 2 // 3]
    if broken == "not closed":
        content = content.replace(b'"a-040"', b'{"a-040"', 1)
    expected = RecordLines(Document(0, "file", content))
    monkeypatch.setattr(long_list, "LONG_BYTES", 2000)
    monkeypatch.setattr(long_list, "PIECE_BYTES", 1500)
    found = Incident([Document(0, "file", content)], ReadOptions())
    seen = ahead(found)
    lines = RecordLines(Document(0, "file", content), found.long_lists.get(0))
    assert len(seen) > (90 if broken != "cut off" else 60)
    for record in range(-1, 102):
        assert lines.line_of(record) == expected.line_of(record)
