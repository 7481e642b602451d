"""Whole outputs: lists object by object, JSON of other programs, logs line by line."""

import json
from pathlib import Path

import pytest

from analyzer.collect.command import Redaction
from analyzer.collect.redaction import NotAsPromisedError, written

PLANTED = "Zx9-hunter2-Qk7"


def clean(folder: Path, kind: Redaction, content: str | bytes) -> tuple[int, str]:
    """Records, and what came out."""
    raw, kept = folder / "raw", folder / "clean"
    raw.write_bytes(content if isinstance(content, bytes) else content.encode())
    return written(kind, raw, kept), kept.read_text()


def test_a_list_becomes_a_line_an_object(tmp_path: Path) -> None:
    pods = [{"kind": "Pod", "metadata": {"name": name, "managedFields": [PLANTED]}} for name in ("a", "b")]
    listed = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "7"}, "items": pods}
    count, text = clean(tmp_path, Redaction.OBJECTS, json.dumps(listed, indent=4))
    assert count == 2
    assert PLANTED not in text
    assert [line[:14] for line in text.splitlines()[1:3]] == ['{"kind":"Pod",', '{"kind":"Pod",']
    told = json.loads(text)
    assert told["metadata"] == {"resourceVersion": "7"}
    assert [item["metadata"] for item in told["items"]] == [{"name": "a"}, {"name": "b"}]


def test_a_list_without_objects_is_a_statement_too(tmp_path: Path) -> None:
    count, text = clean(tmp_path, Redaction.OBJECTS, '{"apiVersion": "v1", "kind": "List", "items": []}')
    assert (count, json.loads(text)["items"]) == (0, [])


def test_one_object_is_one_record(tmp_path: Path) -> None:
    count, text = clean(tmp_path, Redaction.OBJECTS, '{"apiVersion": "v1", "kind": "Secret", "data": {"a": "b"}}')
    assert (count, json.loads(text)) == (1, {"apiVersion": "v1", "kind": "Secret"})


@pytest.mark.parametrize("kind", [Redaction.OBJECTS, Redaction.JSON])
@pytest.mark.parametrize(
    "content", ["", "password", '{"items": [{"a": 1}, {"b"', '{"items": 5}' + PLANTED, "[" * 100_000, b"\xff\xfe"]
)
def test_what_is_not_as_promised_is_refused(tmp_path: Path, kind: Redaction, content: str | bytes) -> None:
    with pytest.raises(NotAsPromisedError, match="is not whole, or not JSON"):
        clean(tmp_path, kind, content)


def test_json_of_slurm_keeps_its_shape(tmp_path: Path) -> None:
    job = {
        "job_id": 5,
        "comment": PLANTED,
        "extra": {"job": PLANTED, "count": 3, "notes": [PLANTED]},
        "environment": [f"A={PLANTED}"],
        "command": f"/shared/run.sh --token {PLANTED}",
        "submit_line": f"sbatch --export=ALL,X={PLANTED} --dependency=afterok:4 run.sh",
        "time_limit": {"set": True, "number": 60},
        "account": "red",
    }
    _, text = clean(tmp_path, Redaction.JSON, json.dumps({"jobs": [job]}))
    assert PLANTED not in text
    assert json.loads(text)["jobs"] == [
        {
            **job,
            "comment": "***",
            "extra": {"job": "***", "count": 3, "notes": []},
            "environment": [],
            "command": "/shared/run.sh --token ***",
            "submit_line": "sbatch --export=ALL,X=*** --dependency=afterok:4 run.sh",
        }
    ]


def test_lines_are_masked_one_by_one(tmp_path: Path) -> None:
    lines = [
        'I1130 12:49:48.677020 1 x.go:1] "Attempting to schedule pod" pod="team-red/a"',
        f"JobId=5 Comment={PLANTED} and more WorkDir=/x",
        f"Comment={PLANTED}",
        f"password: {PLANTED}",
        "-----BEGIN PRIVATE KEY-----",
        PLANTED,
        "-----END PRIVATE KEY-----",
        "the last, without an end",
    ]
    count, text = clean(tmp_path, Redaction.LINES, "\n".join(lines))
    assert text.splitlines() == [
        lines[0],
        "JobId=5 Comment=*** WorkDir=/x",
        "Comment=***",
        "password: ***",
        "-----BEGIN PRIVATE KEY-----***",
        lines[-1],
    ]
    assert count == 6


def test_a_key_that_never_ends_hides_no_log(tmp_path: Path) -> None:
    _, text = clean(tmp_path, Redaction.LINES, "-----BEGIN PRIVATE KEY-----\n" + "line\n" * 1000)
    assert text.count("line") == 800


def test_lines_of_any_bytes_and_length(tmp_path: Path) -> None:
    count, text = clean(tmp_path, Redaction.LINES, b"\xff\x00a\r\n" + b"x" * 300_000 + b"\nlast")
    assert (count, text.splitlines()[-1]) == (3, "last")
    assert max(map(len, text.splitlines())) == 65_536
    assert clean(tmp_path, Redaction.LINES, "") == (0, "")
