"""Large contents in blocks of whole lines: nothing is lost, numbers are right, and what is too long is passed over."""

import mmap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.sources import mapped
from analyzer.sources.mapped import Buffer, Lines, finder, line_blocks, line_ends


def as_map(content: bytes, folder: Path) -> memoryview:
    path = folder / "content"
    path.write_bytes(content)
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


@given(lines=st.lists(st.binary(max_size=12).map(lambda one: one.replace(b"\n", b""))), ended=st.booleans())
def test_blocks_are_the_content_and_numbers_count_its_lines(lines: list[bytes], *, ended: bool) -> None:
    content = b"\n".join(lines) + (b"\n" if ended else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped, "BLOCK_BYTES", 16)
        blocks = list(line_blocks(content))
    assert b"".join(block.text for block in blocks) == content
    assert [block.number for block in blocks] == [
        content[: sum(len(one.text) for one in blocks[:index])].count(b"\n") for index in range(len(blocks))
    ]
    assert all(block.text.endswith(b"\n") for block in blocks[:-1])


@pytest.mark.parametrize("view", [lambda content, _: content, as_map])
def test_a_line_that_is_too_long_is_passed_over(
    view: Callable[[bytes, Path], Buffer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(mapped, "LINE_MAX_BYTES", 1 << 16)
    content = b"first\n" + b"x" * (1 << 18) + b"\nthird\n" + b"y" * (1 << 18)
    assert list(line_blocks(view(content, tmp_path))) == [
        Lines(0, b"first\n"),
        Lines(1, b""),
        Lines(2, b"third\n"),
        Lines(3, b""),
    ]


@given(st.binary(max_size=200))
def test_line_ends_are_counted(text: bytes) -> None:
    assert line_ends(text) == text.count(b"\n")


def test_a_search_copies_nothing_and_finds_the_first(tmp_path: Path) -> None:
    content = b"ab" * 5000 + b"needle" + b"ab" * 5000 + b"needle"
    for view in (content, as_map(content, tmp_path), memoryview(b"x" + content)[1:]):
        assert finder(view)(b"needle", 0, len(view)) == 10_000
        assert finder(view)(b"needle", 10_001, len(view)) == 20_006
        assert finder(view)(b"nothing", 0, len(view)) == -1
