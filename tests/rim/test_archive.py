"""Archives are opened in place: the same files come out as from the folder, and nothing hostile gets further."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from analyzer.sources import archive
from analyzer.sources.archive import Unpacked, is_archive, unpack

FILES = {"incident/a.json": b"a" * 3000, "incident/deeper/b.log": b"b\n"}


def tar(files: dict[str, bytes], *members: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT) -> bytes:
    paper = io.BytesIO()
    with tarfile.open(fileobj=paper, mode="w", format=form) as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
        for member in members:
            packed.addfile(member)
    return paper.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    paper = io.BytesIO()
    with zipfile.ZipFile(paper, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return paper.getvalue()


def special(name: str, kind: bytes, to: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def files(unpacked: Unpacked) -> dict[str, bytes]:
    return {name: bytes(content) for name, content in unpacked.files}


def complaints(unpacked: Unpacked) -> list[str]:
    return [text for one in unpacked.archives for text in one.complaints]


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_tar_gives_its_files(form: int, pack: Callable[[bytes], bytes]) -> None:
    long = {f"incident/{'x' * 90}/{index}": b"long" for index in range(3)} if form != tarfile.USTAR_FORMAT else {}
    packed = pack(tar(FILES | long, form=form))
    assert is_archive(packed)
    unpacked = unpack("i.tgz", packed)
    assert files(unpacked) == {f"i.tgz/{name}": content for name, content in (FILES | long).items()}
    assert complaints(unpacked) == []


def test_a_zip_gives_its_files() -> None:
    unpacked = unpack("i.zip", zipped(FILES))
    assert files(unpacked) == {f"i.zip/{name}": content for name, content in FILES.items()}
    assert [(one.name, one.kind) for one in unpacked.archives] == [("i.zip", "zip archive")]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_file_keeps_its_name(pack: Callable[[bytes], bytes]) -> None:
    content = bytes(random.Random(1).randbytes(3 << 20))  # noqa: S311  seeded, and no secret
    unpacked = unpack("kube-scheduler.log.gz", pack(content))
    assert files(unpacked) == {"kube-scheduler.log.gz": content}
    assert unpacked.archives == []


def test_rotated_logs_packed_one_after_the_other_are_one_file() -> None:
    packed = gzip.compress(b"one\n") + gzip.compress(b"two\n") + b"\0" * 512
    assert files(unpack("log.gz", packed)) == {"log.gz": b"one\ntwo\n"}


def test_archives_inside_one_another_are_opened_up_to_a_depth() -> None:
    inner = tar({"log.gz": gzip.compress(b"text")})
    assert files(unpack("o.tar", tar({"i.tar": inner}))) == {"o.tar/i.tar/log.gz": b"text"}
    deep = b"text"
    for _ in range(12):
        deep = gzip.compress(deep)
    unpacked = unpack("o.gz", deep)
    assert files(unpacked) == {}
    assert complaints(unpacked) == ["holds too many archives inside one another: unpack it first"]


OUT = "has a name that leads out of the archive"


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("incident/link", tarfile.SYMTYPE, "is a link"),
        ("incident/hard", tarfile.LNKTYPE, "is a link"),
        ("incident/disk", tarfile.BLKTYPE, "is not a regular file"),
        ("incident/../../up", tarfile.REGTYPE, OUT),
        ("/etc/up", tarfile.REGTYPE, OUT),
        ("..\\up", tarfile.REGTYPE, OUT),
    ],
)
def test_what_leads_elsewhere_costs_one_sentence_and_not_its_neighbours(name: str, kind: bytes, reason: str) -> None:
    unpacked = unpack("i.tar", tar(FILES, special(name, kind, "incident/a.json")))
    assert len(unpacked.files) == len(FILES)
    assert complaints(unpacked) == [f"holds {name}, which {reason}: it is left out"]


def test_what_is_hidden_and_what_macos_adds_is_passed_over() -> None:
    hidden = {"incident/._a.json": b"x", ".git/config": b"x", "__MACOSX/incident/a.json": b"x", "./b": b"b"}
    for pack in (tar, zipped):
        unpacked = unpack("i", pack(hidden))
        assert (files(unpacked), complaints(unpacked)) == ({"i/b": b"b"}, [])


def test_a_name_cannot_write_on_the_terminal() -> None:
    assert list(files(unpack("i", tar({"a\x1b[2Jb\n": b"x"})))) == ["i/a?[2Jb?"]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, lambda text: zipped({"a": text})])
def test_a_bomb_is_left_out(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "UNPACKED_FREE_BYTES", 1 << 20)
    monkeypatch.setattr(archive, "UNPACKED_MAX_BYTES", 2 << 20)
    unpacked = unpack("bomb", pack(bytes(5 << 20)))
    assert files(unpacked) == {}
    (complaint,) = complaints(unpacked)
    assert complaint.endswith("MiB, as a bomb would: it is left out")


def test_all_archives_inside_share_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "UNPACKED_MAX_BYTES", 3 << 20)
    packed = gzip.compress(bytes(1 << 20))
    unpacked = unpack("i.tar", tar({f"{index}.gz": packed for index in range(6)}))
    assert len(unpacked.files) == 3
    assert len(complaints(unpacked)) == 3


def test_the_number_of_files_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MEMBERS_MAX", 3)
    for pack in (tar, zipped):
        unpacked = unpack("i", pack({f"{index}": b"x" for index in range(9)}))
        assert list(files(unpacked)) == ["i/0", "i/1"]
        assert complaints(unpacked) == [
            "holds 2, which is left out with all that follows: more than 3 files are not opened"
        ]


def test_what_was_packed_before_the_cut_is_read() -> None:
    packed = gzip.compress(b"".join(b"%d\n" % index for index in range(100_000)))
    unpacked = unpack("log.gz", packed[: len(packed) // 2])
    assert files(unpacked)["log.gz"].startswith(b"0\n1\n2\n")
    assert complaints(unpacked) == ["is cut off: the rest is missing"]
    whole = tar({"a": b"a" * 600, "b": b"b" * 6000})
    unpacked = unpack("i.tar", whole[:4000])
    assert files(unpacked)["i.tar/a"] == b"a" * 600
    assert complaints(unpacked) == ["is cut off inside b"]


@pytest.mark.parametrize("pack", [gzip.compress, bytes, zipped])
def test_nothing_that_is_damaged_raises(pack: Callable[[object], bytes]) -> None:
    sound = zipped(FILES) if pack is zipped else pack(tar(FILES))
    chance = random.Random(7)  # noqa: S311  seeded, and no secret
    for _ in range(400):
        damaged = bytearray(sound)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        unpack("i", bytes(damaged[: chance.randint(1, len(damaged))]))
