"""What is broken costs one sentence with its line, and never a neighbour."""

import json
from typing import Any

import pytest

from analyzer.sources.kubernetes.objects import Custom, Other, Pod
from tests.kubernetes.reading.written import (
    as_yaml,
    compact,
    complaints,
    incident,
    listed,
    objects,
    pod,
    pretty,
    watch,
    with_nulls,
)

PODS = [pod(f"a-{index}", version=index + 1) for index in range(4)]


def names(*contents: bytes) -> list[str]:
    return [one.metadata.name for one in objects(*contents)]


def test_a_list_that_is_cut_off_keeps_the_whole_items_before() -> None:
    whole = pretty(listed(PODS))
    cut = whole[: whole.index(b'"a-2"') + 3]
    assert names(cut) == ["a-0", "a-1"]
    ((line, text),) = complaints(cut)
    third = cut[: cut.rindex(b"\n        {") + 1].count(b"\n") + 1
    assert (line, text) == (third, "the text is cut off inside this item.")


@pytest.mark.parametrize("keep", range(60, 900, 37))
def test_a_compact_list_may_be_cut_off_anywhere(keep: int) -> None:
    cut = compact(listed(PODS))[:keep]
    found = names(cut)
    assert found == [f"a-{index}" for index in range(len(found))]
    assert len(complaints(cut)) == 1


def test_a_list_cut_off_between_two_items_says_so() -> None:
    whole = pretty(listed(PODS))
    cut = whole[: whole.index(b"        },\n        {") + 10]
    assert names(cut) == ["a-0"]
    assert [text for _, text in complaints(cut)] == ["the text is cut off inside this list."]


@pytest.mark.parametrize("form", [compact, pretty])
def test_a_watch_that_is_cut_off_keeps_the_entries_before(form: Any) -> None:
    whole = watch(*(("ADDED", one) for one in PODS), form=form)
    cut = whole[: whole.index(b"a-3")]
    assert names(cut) == ["a-0", "a-1", "a-2"]
    assert len(complaints(cut)) == 1


def test_a_broken_entry_in_the_middle_of_a_watch_costs_only_itself() -> None:
    lines = watch(*(("ADDED", one) for one in PODS)).splitlines(keepends=True)
    lines[1] = lines[1][:80] + b"\n"
    assert names(b"".join(lines)) == ["a-0", "a-2", "a-3"]
    assert [line for line, _ in complaints(b"".join(lines))] == [2]


def test_a_broken_object_in_the_middle_of_pretty_ones_costs_only_itself() -> None:
    parts = [pretty(one) for one in PODS]
    parts[1] = parts[1][:150] + b"\n"
    text = b"".join(parts)
    assert names(text) == ["a-0", "a-2", "a-3"]
    assert [line for line, _ in complaints(text)] == [parts[0].count(b"\n") + 1]


@pytest.mark.parametrize("form", [compact, pretty, lambda value: json.dumps(value).encode()])
def test_an_item_that_is_not_closed_costs_only_itself(form: Any) -> None:
    text = form(listed(PODS)).replace(b'"a-1"', b'{"a-1"', 1)
    assert names(text) == ["a-0", "a-2", "a-3"]
    ((line, sentence),) = complaints(text)
    assert sentence == "this item is broken: it is not closed."
    assert text.split(b"\n")[line - 1].lstrip().startswith(b"{")


def test_bad_json_in_one_item_costs_only_that_item() -> None:
    text = pretty(listed(PODS)).replace(b'"resourceVersion": "2"', b'"resourceVersion": NaN', 1)
    assert names(text) == ["a-0", "a-2", "a-3"]
    ((_, sentence),) = complaints(text)
    assert sentence.startswith("this is no valid JSON")


@pytest.mark.parametrize("text_of", [lambda items: pretty(listed(items)), lambda items: as_yaml(listed(items))])
def test_a_wrong_type_in_one_field_costs_one_object(text_of: Any) -> None:
    items = json.loads(json.dumps(PODS))
    items[1]["spec"]["priority"] = "high"
    text = text_of(items)
    assert names(text) == ["a-0", "a-2", "a-3"]
    ((line, sentence),) = complaints(text)
    assert sentence == "Pod team-red/a-1: spec.priority: expected int, got str."
    assert 1 < line < text.count(b"\n")
    assert incident(text).notes[0].skipped == 1


def test_nulls_are_absent() -> None:
    plain, nulled = objects(compact(listed(PODS))), objects(compact(listed([with_nulls(one) for one in PODS])))
    assert [one.metadata.name for one in nulled] == [one.metadata.name for one in plain]
    assert all(isinstance(one, Pod) and not one.spec.tolerations for one in nulled)


def test_odd_items_are_each_complained_about() -> None:
    text = pretty(listed([PODS[0], 7, {"metadata": {"name": "x"}}, [], PODS[1]]))  # type: ignore[list-item]  # on purpose
    assert names(text) == ["a-0", "a-1"]
    assert len(complaints(text)) == 3


def test_many_complaints_end_in_a_number() -> None:
    text = b"\n".join(b'{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","spec":7}}' for _ in range(50))
    sentences = complaints(text)
    assert len(sentences) == 21
    assert sentences[-1] == (0, "30 more like these are left out.")


def test_the_end_of_a_watch_by_an_error_is_said_and_bookmarks_are_not() -> None:
    status = {"kind": "Status", "apiVersion": "v1", "message": "too old resource version", "code": 410}
    bookmark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
    text = watch(("ADDED", PODS[0]), ("BOOKMARK", bookmark), ("ERROR", status))
    assert names(text) == ["a-0"]
    assert complaints(text) == [(3, "the watch ended with an error (too old resource version).")]


def test_a_broken_document_of_yaml_costs_only_itself() -> None:
    text = as_yaml(PODS[0]) + b"---\nkind: Pod\n  bad: [\n---\n" + as_yaml(PODS[1])
    assert names(text) == ["a-0", "a-1"]
    ((line, sentence),) = complaints(text)
    assert sentence.startswith("this is no valid YAML")
    assert text.split(b"\n")[line - 1].strip() in (b"bad: [", b"kind: Pod", b"---")


def test_aliases_that_stand_for_more_than_any_memory_are_refused() -> None:
    lines = ["apiVersion: v1", "kind: ConfigMap", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    text = "\n".join(lines).encode() + b"\n---\n" + as_yaml(PODS[0])
    assert names(text) == ["a-0"]
    assert [sentence for _, sentence in complaints(text)] == ["its aliases stand for more values than any cluster has."]


def test_an_alias_inside_itself_is_refused() -> None:
    text = b"apiVersion: v1\nkind: Pod\nspec: &me {also: *me}\n---\n" + as_yaml(PODS[0])
    assert names(text) == ["a-0"]
    assert len(complaints(text)) == 1


def test_depth_without_end_is_one_complaint() -> None:
    deep = b'{"apiVersion":"v1","kind":"Pod","spec":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert names(deep + b"\n" + compact(PODS[0])) == ["a-0"]
    assert len(complaints(deep + b"\n" + compact(PODS[0]))) == 1
    yaml_deep = b"apiVersion: v1\nkind: Pod\nspec: " + b"[" * 20_000 + b"]" * 20_000 + b"\n---\n" + as_yaml(PODS[0])
    assert names(yaml_deep) == ["a-0"]


def test_secrets_are_named_and_not_kept() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"token": "aHVzaA=="}}
    (found,) = objects(pretty(listed([secret])))
    assert isinstance(found, Other)
    assert "aHVzaA" not in repr(found)


def test_a_kind_of_the_same_name_in_another_group_is_not_taken_for_ours() -> None:
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "v"},
        "spec": {"minAvailable": 4},
    }
    (found,) = objects(compact(listed([job])))
    assert isinstance(found, Custom)
    assert (found.kind, found.group, found.spec["minAvailable"]) == ("Job", "batch.volcano.sh", 4)
