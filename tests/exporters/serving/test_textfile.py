"""The file for node_exporter: whole or not there, readable, gone after a clean stop."""

import os
import stat
from pathlib import Path

import pytest

from exporters.serving.textfile import remove_page, write_page


def test_the_file_is_replaced_in_one_step_and_anybody_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "knotwatch.prom"
    path.write_bytes(b"old\n")
    before = path.stat().st_ino
    mask = os.umask(0o077)
    try:
        write_page(path, b"new\n")
    finally:
        os.umask(mask)
    assert path.read_bytes() == b"new\n"
    assert path.stat().st_ino != before
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["knotwatch.prom"]


def test_what_cannot_be_written_leaves_nothing_half_done(tmp_path: Path) -> None:
    (tmp_path / "knotwatch.prom").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_page(tmp_path / "knotwatch.prom", b"new\n")
    assert [each.name for each in tmp_path.iterdir()] == ["knotwatch.prom"]
    with pytest.raises(FileNotFoundError):
        write_page(tmp_path / "absent" / "knotwatch.prom", b"new\n")


def test_a_clean_stop_takes_the_file_away(tmp_path: Path) -> None:
    path = tmp_path / "knotwatch.prom"
    write_page(path, b"new\n")
    remove_page(path)
    remove_page(path)
    assert list(tmp_path.iterdir()) == []
