"""Whatever is done to a recording, it is read to its end: complaints at lines that exist, citations that lead back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.sources.kubernetes import long_list
from analyzer.sources.kubernetes.forms import form_of
from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.lines import RecordLines
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document
from tests.kubernetes.reading.test_audit import BOUND, entry, lines
from tests.kubernetes.reading.test_klog import log
from tests.kubernetes.reading.written import FORMS, ahead, node, pod, watch

OBJECTS = [pod("a-0", version=3), node("node-1", version=4), pod("a-1", version=5, node="node-1")]
RECORDINGS = [
    *(form(OBJECTS) for name, form in FORMS.items() if name != "list as the API answers"),
    FORMS["list as the API answers"]([OBJECTS[0], OBJECTS[2]] * 3),
    watch(*(("ADDED", one) for one in OBJECTS)),
    lines(*(entry("patch", BOUND, at=f"2026-01-02T03:00:0{second}Z") for second in range(5))),
    log(*(f'0102 03:00:0{n}.000001 a.go:1] "Attempting to schedule pod" pod="r/a"' for n in range(5))),
]
PIECES = [
    *(b"{", b"}", b"[", b"]", b'"', b",", b"\n", b"\\", b"\x00", b"\xff", b"null", b"---\n", b"&a ", b"*a", b"7"),
    *(b'{"type":"ADDED","object":', b'"items": [', b'"2099-01-01T00:00:00Z"', b"I0102 03:00:00.000001 1 a.go:1] "),
]
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(PIECES) | st.integers(1, 60) | st.none()), max_size=4)


def changed(content: bytes, changes: list[tuple[float, bytes | int | None]]) -> bytes:
    """With pieces put in, bytes taken out, or the rest cut off (None), each at a share of the length."""
    for share, change in changes:
        at = int(share * len(content))
        match change:
            case bytes():
                content = content[:at] + change + content[at:]
            case int():
                content = content[:at] + content[at + change :]
            case None:
                content = content[:at]
    return content


@pytest.mark.parametrize("in_pieces", [False, True])
@settings(max_examples=150)
@given(recordings=st.lists(st.tuples(st.sampled_from(RECORDINGS), CHANGES), min_size=1, max_size=2))
def test_it_is_read_to_its_end(
    recordings: list[tuple[bytes, list[tuple[float, bytes | int | None]]]], *, in_pieces: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_list, "LONG_BYTES", 500 if in_pieces else 1 << 23)
        patch.setattr(long_list, "PIECE_BYTES", 400)
        contents = [changed(content, changes) for content, changes in recordings]
        documents = [Document(index, "file", one) for index, one in enumerate(contents) if form_of(one) is not None]
        found = Incident(documents, ReadOptions())
        observations = ahead(found)
        found.finish()
        observations += [one for _, group in found.moments() for one in group]
        for note in found.notes:
            rows = contents[note.index].count(b"\n") + 1
            assert all(0 <= complaint.line <= rows for complaint in note.complaints)
        places = {one.index: RecordLines(one, found.long_lists.get(one.index)) for one in documents}
        for seen in observations:
            assert places[seen.citation[0]].line_of(seen.citation[1]) is not None
