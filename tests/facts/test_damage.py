"""Whatever is done to a facts text, it is read without an exception, in sentences of one line."""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.codec.events import decode_event, encode_event
from analyzer.sources.facts.source import SOURCE
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document

YAML = """schema: knotwatch.facts/v1
as_of: 2026-01-14T09:00:00Z
resources: {gpu/n1: 8, lock/a: 1}
actors:
  gang/x/a: &a
    lifetime: {until: 2026-01-14T10:00:00Z}
    holds: {gpu/n1: 4}
    waits:
      since: 2026-01-14T08:00:00Z
      needs:
        all:
        - {units: lock/a, count: 1}
        - any: [{done: b}, {ready: [c, d], quorum: 1}]
        - at_least: {k: 1, of: [{never: it is gone}, {pods: 2, each: {gpu: 1}, among: [n1]}]}
  b: *a
history:
- {at: 2026-01-14T08:30:00Z, actor: b, ended: true}
"""

LINES = """{"schema": "knotwatch.facts/v1", "as_of": "2026-01-14T09:00:00Z", "resources": {"gpu/n1": 8}}
{"at": "2026-01-14T08:00:00Z", "actor": "a", "holds": {"gpu/n1": 4}, "waits": {"needs": {"done": "b"}}}
{"at": "2026-01-14T08:00:01Z", "resource": "gpu/n2", "units": 8}
{"at": "2026-01-14T08:00:02Z", "seq": 1, "actors": {"b": {"gpus": 1}}}
"""

PIECES = [
    "",
    "{",
    "}",
    "[",
    "]",
    ":",
    "-",
    "\n",
    "\t",
    '"',
    "'",
    "&a",
    "*a",
    "!!x",
    "0",
    "-1",
    "1e9",
    ".nan",
    "null",
    "\0",
    "ü",
]


def read(content: bytes) -> None:
    """Reads it all the way, and checks what every reading must keep."""
    recording = SOURCE.read([Document(0, "x", content)], options=ReadOptions())
    last_ns = 0
    for batch in recording.batches:
        assert batch.at_ns >= last_ns
        last_ns = batch.at_ns
        for event in batch.events:
            assert decode_event(encode_event(event)) == event
            assert hasattr(event, "citations")
            for citation in event.citations:
                line = recording.line_of(*citation)
                assert line is not None
                assert 1 <= line <= content.count(b"\n") + 1
    for note in recording.notes:
        assert note.skipped >= len(note.complaints) > 0 or not note.complaints
        for complaint in note.complaints:
            assert "\n" not in complaint.text
            assert complaint.text
            assert 0 <= complaint.line <= content.count(b"\n") + 2


@settings(max_examples=300)
@given(st.sampled_from([YAML, LINES]), st.integers(0, 2**32), st.integers(1, 6))
def test_a_damaged_text_is_read_without_an_exception(text: str, seed: int, cuts: int) -> None:
    chance = random.Random(seed)  # noqa: S311  seeded by hypothesis, not a secret
    for _ in range(cuts):
        at = chance.randrange(len(text) + 1)
        length = chance.choice([0, 1, 1, 2, 5, 20])
        text = text[:at] + chance.choice(PIECES) + text[at + length :]
    read(text.encode())


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_noise_after_a_schema_is_read_without_an_exception(noise: bytes) -> None:
    read(b"schema: knotwatch.facts/v1\nactors:\n  " + noise)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["a", "gpu/n1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["all", "any", "units", "count", "pods", "each", "among", "done", "ready", "quorum", "never", "k"]
            )
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(JSON, JSON, JSON)
def test_any_json_in_any_place_is_read_without_an_exception(needs: object, holds: object, top: object) -> None:
    state = {
        "schema": "knotwatch.facts/v1",
        "resources": {"gpu/n1": 8},
        "actors": {"a": {"holds": holds, "waits": {"since": "2026-01-14T08:00:00Z", "needs": needs}}, "b": top},
        "history": [top, {"at": "2026-01-14T08:00:00Z", "actors": top}],
    }
    read(json.dumps(state).encode())
    read(json.dumps(state, indent=1).encode())


def test_a_whole_text_is_undamaged() -> None:
    for text in (YAML, LINES):
        recording = SOURCE.read([Document(0, "x", text.encode())], options=ReadOptions())
        assert [note.complaints for note in recording.notes] == [()]
