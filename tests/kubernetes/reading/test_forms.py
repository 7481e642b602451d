"""One recording in every form gives the same objects, and a form is known by its content."""

import pytest

from analyzer.sources.kubernetes.forms import Form, form_of
from analyzer.sources.kubernetes.objects import Node, Pod
from tests.kubernetes.reading.written import FORMS, compact, listed, node, objects, observed, pod, pretty, typed_list

PODS = (
    pod("a-0", node="node-1", version=11),
    pod(
        "a-1", version=12, metadata={"labels": {"app": "a"}, "annotations": {"note": 'a "quoted" {brace} \\ and\nline'}}
    ),
    pod("b-0", version=13, spec={"priority": 5, "tolerations": [{"operator": "Exists"}]}),
)
PLAIN = objects(pretty(listed(PODS)))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_objects(form: str) -> None:
    assert objects(FORMS[form](PODS)) == PLAIN


@pytest.mark.parametrize("form", FORMS)
def test_line_ends_of_windows_change_nothing(form: str) -> None:
    assert objects(FORMS[form](PODS).replace(b"\n", b"\r\n")) == PLAIN


@pytest.mark.parametrize("form", FORMS)
def test_a_mapped_file_is_read_like_bytes(form: str) -> None:
    content = FORMS[form](PODS)
    assert [one.object for one in observed(memoryview(content))] == PLAIN  # type: ignore[arg-type,union-attr]  # as the rim hands over large files


@pytest.mark.parametrize("form", FORMS)
def test_the_form_is_known_by_content(form: str) -> None:
    assert form_of(FORMS[form](PODS)) is (Form.YAML if form.startswith("yaml") else Form.JSON)


def test_the_items_of_a_typed_list_take_the_kind_of_the_list() -> None:
    assert all(isinstance(one, Pod) for one in objects(typed_list(PODS)))


def test_kinds_may_be_mixed() -> None:
    found = objects(pretty(listed([PODS[0], node("node-1"), PODS[1]])))
    assert [type(one) for one in found] == [Pod, Node, Pod]


def test_words_before_the_first_object_are_passed_over() -> None:
    assert objects(b"Warning: v1 ComponentStatus is deprecated\n" + pretty(listed(PODS))) == PLAIN


def test_logs_between_lists_are_passed_over_as_in_a_cluster_dump() -> None:
    between = (
        b"==== START logs for container main of pod team-red/a-0 ====\nstep {1}\n[rank 0] [ok\n==== END logs ====\n"
    )
    found = objects(pretty(listed(PODS[:1])) + between + pretty(listed(PODS[1:])))
    assert found == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        b'{"schema": "knotwatch.facts/v1", "resources": {}}',
        b"resources: {gpu/node-1: 8}\nactors: {}\n",
        b"Name:  a-0\nNamespace: team-red\nKind: Pod\n",
        b"NAMESPACE  NAME  READY\nteam-red  a-0  0/1\n",
        b'{"a": 1}',
        b"[1, 2]",
        b"hello\n",
        b"",
        b"\n\n",
    ],
)
def test_what_is_none_of_ours_is_left_to_others(text: bytes) -> None:
    assert form_of(text) is None


def test_a_log_that_speaks_of_objects_is_a_log() -> None:
    text = b'{"level":"info","ts":"2026-01-02T03:04:05Z","msg":"x","seen":{"apiVersion":"v1","kind":"Pod"}}\n'
    assert form_of(text) is Form.KLOG


def test_an_empty_list_is_a_list() -> None:
    assert form_of(compact(listed([]))) is Form.JSON
    assert objects(compact(listed([]))) == []
    assert objects(compact(listed([]) | {"items": None})) == []
