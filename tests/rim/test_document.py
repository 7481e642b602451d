"""From paths to documents: what is read, under which name, and what one bad file costs."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from analyzer.errors import UsageError
from analyzer.sources import document
from analyzer.sources.document import line_at, open_documents


def write(folder: Path, **files: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def reasons(path: Path) -> list[str]:
    return [note.complaints[0].text for note in open_documents([str(path)]).unread]


def test_a_folder_shows_its_own_name_and_hides_what_is_hidden(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", b=b"b", a=b"a")
    write(folder / "deeper", c=b"c")
    write(folder / ".git", config=b"x")
    (folder / ".hidden").write_bytes(b"x")
    opened = open_documents([str(folder)])
    assert opened.paths == ("incident/a", "incident/b", "incident/deeper/c")
    assert [(one.index, one.path, bytes(one.content)) for one in opened.documents] == [
        (0, "incident/a", b"a"),
        (1, "incident/b", b"b"),
        (2, "incident/deeper/c", b"c"),
    ]


def test_order_repetition_and_form_of_arguments_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "incident", a=b"a", b=b"b")
    other = write(tmp_path, z=b"z")
    monkeypatch.chdir(tmp_path)
    expected = open_documents([str(folder), str(other / "z")])
    assert expected.paths == ("incident/a", "incident/b", "z")
    for arguments in (
        ["z", "incident"],
        ["incident/", "./z", "incident/b", str(folder)],
        ["incident/../incident", "z", "z", "incident/a"],
    ):
        assert open_documents(arguments) == expected


def test_two_files_of_one_short_name_show_their_whole_paths(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one" / "dump", a=b"1"), write(tmp_path / "two" / "dump", a=b"2")
    opened = open_documents([str(two), str(one)])
    assert opened.paths == (str(one / "a"), str(two / "a"))
    assert [bytes(one.content) for one in opened.documents] == [b"1", b"2"]


def test_a_link_to_a_file_is_the_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", a=b"a")
    (folder / "again").symlink_to(folder / "a")
    assert open_documents([str(folder)]).paths == ("incident/again",)


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file or folder"):
        open_documents([str(tmp_path / "nothing")])


def test_standard_input_is_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"text")))
    opened = open_documents(["-", "-"])
    assert opened.paths == ("-",)
    assert bytes(opened.documents[0].content) == b"text"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (gzip.compress(b" ", mtime=0), "is empty"),
        (b"\x28\xb5\x2f\xfdrest", "is compressed with zstd: unpack it first (unzstd)"),
        (b"\x7fELF\0\0\0", "is binary, not text"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "is binary, not text"),
        (b"ok\nschl\xfcssel: 1", "is not UTF-8 (line 2): save it as UTF-8"),
    ],
)
def test_what_is_no_text_costs_one_sentence_and_not_its_neighbours(tmp_path: Path, content: bytes, reason: str) -> None:
    folder = write(tmp_path / "incident", bad=content, good=b"good")
    opened = open_documents([str(folder)])
    assert [one.path for one in opened.documents] == ["incident/good"]
    assert [(opened.paths[note.index], note.kind) for note in opened.unread] == [("incident/bad", "not understood")]
    assert reasons(folder) == [reason]


def test_a_character_cut_at_the_edge_of_the_first_look_is_no_fault(tmp_path: Path) -> None:
    text = b"x" * ((1 << 16) - 1) + "ü".encode() + b"rest"
    assert reasons(write(tmp_path / "incident", a=text)) == []


def test_what_is_no_file_costs_one_sentence(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", good=b"good")
    os.mkfifo(folder / "pipe")
    (folder / "broken").symlink_to(folder / "gone")
    assert reasons(folder) == ["cannot be read: No such file or directory", "is not a regular file"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_what_windows_writes_is_read(tmp_path: Path, encoding: str) -> None:
    content = "schlüssel: 1\n".encode(encoding)
    if encoding == "utf-16-le":
        content = b"\xff\xfe" + content
    opened = open_documents([str(write(tmp_path / "incident", a=content))])
    assert bytes(opened.documents[0].content).decode() == "schlüssel: 1\n"


def test_a_large_file_is_mapped_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_MAPPED_FROM_BYTES", 4)
    opened = open_documents([str(write(tmp_path / "incident", a=b"a\nb\nc\nd"))])
    content = opened.documents[0].content
    assert isinstance(content, memoryview)
    assert bytes(content) == b"a\nb\nc\nd"
    assert [line_at(content, offset) for offset in range(7)] == [1, 1, 2, 2, 3, 3, 4]


def packed(folder: Path) -> Path:
    archive = folder.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as paper:
        paper.add(folder, folder.name)
    return archive


def test_an_archive_holds_what_the_folder_holds(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", b=b"b", a=b"a", bad=b"\0")
    beside = write(tmp_path / "box", z=b"z")
    packed(folder).rename(beside / "incident.tar.gz")
    opened = open_documents([str(beside)])
    assert [(one.index, one.path, bytes(one.content)) for one in opened.documents] == [
        (1, "box/incident.tar.gz/incident/a", b"a"),
        (2, "box/incident.tar.gz/incident/b", b"b"),
        (4, "box/z", b"z"),
    ]
    assert [(note.index, note.kind) for note in opened.archives] == [(0, "tar archive in gzip")]
    assert [opened.paths[note.index] for note in opened.unread] == ["box/incident.tar.gz/incident/bad"]


def test_standard_input_may_be_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = packed(write(tmp_path / "incident", a=b"a"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(archive.read_bytes())))
    assert open_documents(["-"]).paths == ("-", "-/incident/a")


def test_what_is_wrong_with_an_archive_is_said_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", good=b"good", bad=b"PK\x03\x04rest")
    opened = open_documents([str(folder)])
    assert [one.path for one in opened.documents] == ["incident/good"]
    ((complaint,),) = [note.complaints for note in opened.archives]
    assert complaint.text == "is broken or cut off: it cannot be opened"


def test_unpacking_is_told_and_reading_is_not(tmp_path: Path) -> None:
    folder = write(tmp_path / "incident", a=b"a")
    packed(folder)
    told: list[str] = []
    open_documents([str(tmp_path)], told.append)
    assert told == [f"unpacking {tmp_path.name}/incident.tar.gz"]
