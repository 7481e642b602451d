"""A record leads back to the line on which it begins, in every form, sound or broken."""

import json

import pytest

from analyzer.sources.kubernetes.lines import RecordLines
from analyzer.sources.kubernetes.observations import LogStatement, Seen
from analyzer.sources.recording import Document
from tests.kubernetes.reading.test_klog import log
from tests.kubernetes.reading.written import FORMS, as_yaml, compact, listed, observed, pod, pretty, watch

PODS = [pod(f"a-{index}", version=index + 1) for index in range(5)]


def lines_of(content: bytes) -> list[tuple[str, int | None]]:
    """(what was seen, the line of its citation)."""
    lines = RecordLines(Document(0, "file", content))
    return [
        (one.object.metadata.name if isinstance(one, Seen) else one.pod, lines.line_of(one.citation[1]))
        for one in observed(content)
    ]


def begins(content: bytes, name: str) -> int:
    """The line on which the object of that name begins, found another way: the last opening before its name."""
    text = content.decode()
    at = text.index(f'"{name}"') if text.lstrip()[0] in "{[" else text.index(f"name: {name}\n")
    return text[:at].count("\n") + 1


@pytest.mark.parametrize("form", FORMS)
def test_the_line_lies_between_the_neighbours(form: str) -> None:
    content = FORMS[form](PODS)
    found = dict(lines_of(content))
    assert list(found) == [one["metadata"]["name"] for one in PODS]
    rows = content.decode().split("\n")
    for index, name in enumerate(found):
        line = found[name]
        assert line is not None
        assert line <= begins(content, name)
        if index:
            assert line >= (found[f"a-{index - 1}"] or 0)
            assert line > begins(content, f"a-{index - 1}") or len(rows) < 20
        first = rows[line - 1].lstrip("[ ")
        assert first.startswith(("{", "apiVersion", "- apiVersion", "kind", "metadata")), first


def test_pretty_items_are_exact() -> None:
    content = pretty(listed(PODS))
    openings = [number for number, row in enumerate(content.decode().split("\n"), 1) if row == " " * 8 + "{"]
    assert [line for _, line in lines_of(content)] == openings


def test_entries_of_a_watch_are_exact() -> None:
    assert [line for _, line in lines_of(watch(*(("ADDED", one) for one in PODS)))] == [1, 2, 3, 4, 5]
    content = watch(*(("ADDED", one) for one in PODS), form=pretty)
    objects = [number for number, row in enumerate(content.decode().split("\n"), 1) if row == '    "object": {']
    assert [line for _, line in lines_of(content)] == objects


def test_items_of_yaml_are_exact() -> None:
    content = b"# saved by hand\n---\n" + as_yaml(listed(PODS))
    rows = content.decode().split("\n")
    assert [line for _, line in lines_of(content)] == [
        number for number, row in enumerate(rows, 1) if row == "- apiVersion: v1"
    ]


def test_broken_neighbours_do_not_shift_the_lines() -> None:
    items = json.loads(json.dumps(PODS))
    items[1]["spec"] = 7
    content = pretty(listed(items)).replace(b'"name": "a-3",', b'"name": {"a-3",', 1)
    openings = [number for number, row in enumerate(content.decode().split("\n"), 1) if row == " " * 8 + "{"]
    assert lines_of(content) == [("a-0", openings[0]), ("a-2", openings[2]), ("a-4", openings[4])]


def test_log_lines_are_exact() -> None:
    content = log(
        "0102 03:00:00.000001 a.go:1] FLAG: --x=1",
        '0102 03:00:01.000001 a.go:2] "Attempting to schedule pod" pod="a/b"',
        "\tcontinued",
        "",
        '0102 03:00:02.000001 a.go:2] "Successfully bound pod to node" pod="a/b" node="n"',
    )
    assert [line for _, line in lines_of(content)] == [2, 5]
    assert all(isinstance(one, LogStatement) for one in observed(content))


def test_a_number_that_is_no_record_has_no_line() -> None:
    lines = RecordLines(Document(0, "file", compact(listed(PODS))))
    assert (lines.line_of(5), lines.line_of(-1)) == (None, None)
