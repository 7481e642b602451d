"""Input that is hostile or absurd lies beside a good recording: one sentence each, and the good one still decides."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.sources import archive, mapped
from analyzer.sources.kubernetes import long_list
from tests.kubernetes.reading import written
from tests.replay.reports import report_of, run_replay

GOOD = Path(__file__).parents[1] / "data" / "k8s" / "partial_gang"
POD = written.pod("odd")


def _listed(*items: bytes) -> bytes:
    return b'{"apiVersion":"v1","kind":"List","items":[' + b",".join(items) + b"]}"


def _tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    paper = io.BytesIO()
    with tarfile.open(fileobj=paper, mode="w:gz") as packed:
        for member, content in members:
            member.size = len(content) if member.type == tarfile.REGTYPE else 0
            packed.addfile(member, io.BytesIO(content))
    return paper.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def _zip(name: str, content: bytes) -> bytes:
    paper = io.BytesIO()
    with zipfile.ZipFile(paper, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    return paper.getvalue()


def _zips_in_zips(depth: int) -> bytes:
    content = _zip("0", bytes(1 << 20))
    for level in range(1, depth):
        content = _zip(f"{level}.zip", content)
    return content


_DEEP = b"[" * 50_000 + b"]" * 50_000
_LAUGHS = "\n".join(
    ["apiVersion: v1", "kind: ConfigMap", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
).encode()
_STAMP = b"I1130 12:45:11.000001       1 a.go:1] "

FILES: dict[str, tuple[bytes, str]] = {
    "cut off": (written.pretty(written.listed([POD, POD]))[:-300], "cut off"),
    "latin-1": (b"apiVersion: v1\nkind: Pod\nmetadata: {name: schl\xfcssel}\n", "is not UTF-8 (line 3)"),
    "NUL bytes": (b'{"apiVersion":"v1","kind":"Pod"}\0\0\0', "is binary"),
    "UTF-16 without a mark": ('{"kind": "Pod"}'.encode("utf-16-le"), "is binary"),
    "nested for ever": (b'{"apiVersion":"v1","kind":"Pod","spec":' + _DEEP + b"}", "nested too deeply"),
    "nested YAML": (b"apiVersion: v1\nkind: Pod\nspec: " + _DEEP, "maximum nesting depth"),
    "a billion laughs": (_LAUGHS, "aliases stand for more values"),
    "an alias of itself": (b"apiVersion: v1\nkind: Pod\nspec: &me {also: *me}\n", "inside the value that it names"),
    "a key twice in YAML": (
        b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: odd\n  name: even\n",
        'the key "name" stands twice in one place: the last one counts',
    ),
    "no number": (_listed(b'{"apiVersion":"v1","kind":"Pod","spec":{"priority":NaN}}'), "no valid JSON"),
    "a huge number": (
        _listed(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"priority":1' + b"0" * 400 + b"}}"),
        "",
    ),
    "half a letter": (_listed(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\\ud800"}}'), "no valid JSON"),
    "a key twice in JSON": (_listed(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","name":"y"}}'), ""),
    "a log of one line": (_STAMP + b'"' + b"x" * (1 << 22), ""),
    "out of the archive": (_tar((_member("../../etc/cron.d/x"), b"x")), "leads out of the archive"),
    "an absolute name": (_tar((_member("/etc/cron.d/x"), b"x")), "leads out of the archive"),
    "a link": (_tar((_member("link", tarfile.SYMTYPE, "/etc/passwd"), b"")), "is a link"),
    "a hard link": (_tar((_member("link", tarfile.LNKTYPE, "/etc/passwd"), b"")), "is a link"),
    "a device": (_tar((_member("disk", tarfile.BLKTYPE), b"")), "is not a regular file"),
    "zeros": (gzip.compress(bytes(8 << 20)), "as a bomb would"),
    "a zip of zeros": (_zip("0", bytes(8 << 20)), "as a bomb would"),
    "zips in zips": (_zips_in_zips(9), "too many archives inside one another"),
    "half an archive": (
        _tar((_member("a.json"), os.urandom(1 << 14).hex().encode()))[:9000],
        "is cut off inside a.json",
    ),
}


@pytest.fixture
def small_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bombs need not be large to go off."""
    monkeypatch.setattr(archive, "UNPACKED_FREE_BYTES", 1 << 20)
    monkeypatch.setattr(archive, "UNPACKED_MAX_BYTES", 4 << 20)
    monkeypatch.setattr(mapped, "LINE_MAX_BYTES", 1 << 20)


def _decided(report: dict[str, Any]) -> Any:
    findings = [
        {key: value for key, value in one.items() if key not in ("citations", "since", "opened_at")}
        for one in report["findings"]
    ]
    return findings, [one["actor"] for one in report["waiting"]]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("small_allowance")
def test_it_costs_one_sentence_and_the_good_one_decides(name: str, tmp_path: Path) -> None:
    content, sentence = FILES[name]
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    report = report_of([bad, GOOD])
    assert _decided(report)[0] == _decided(report_of([GOOD]))[0]
    notes = [note for source in report["sources"] if source["path"].startswith("bad") for note in source["notes"]]
    assert [sentence in note["text"] for note in notes] == ([True] if sentence else []), notes


@pytest.mark.usefixtures("small_allowance")
def test_all_of_them_together_are_no_worse(tmp_path: Path) -> None:
    for number, (content, _) in enumerate(FILES.values()):
        (tmp_path / f"{number}").write_bytes(content)
    assert _decided(report_of([tmp_path, GOOD]))[0] == _decided(report_of([GOOD]))[0]


@pytest.mark.usefixtures("small_allowance")
def test_alone_it_is_one_sentence_and_status_two(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    for name, (content, _) in FILES.items():
        bad.write_bytes(content)
        result = run_replay([bad])
        assert "Traceback" not in result.output, name
        if result.exit_code == 2:
            assert result.stderr.strip().count("\n") <= 1, name


def test_many_tiny_members_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MEMBERS_MAX", 50)
    (tmp_path / "many.tgz").write_bytes(_tar(*((_member(f"{n}"), b"x") for n in range(200))))
    report = report_of([tmp_path / "many.tgz", GOOD])
    (source,) = (source for source in report["sources"] if source["path"] == "many.tgz")
    assert [note["text"].partition(", which ")[2] for note in source["notes"]] == [
        "is left out with all that follows: more than 50 files are not opened"
    ]
    assert report["findings"]


@pytest.mark.parametrize("form", [written.pretty, written.compact])
def test_one_broken_pod_of_a_long_list_costs_only_itself(
    form: Callable[[Any], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the list is read in pieces: those behind the broken one are read as before."""
    items = json.loads((GOOD / "pods.json").read_bytes())["items"]
    odd = json.loads(json.dumps(items[0]))
    odd["metadata"] |= {"name": "broken", "uid": "broken", "ownerReferences": []}
    odd["spec"] = {"containers": "none"}
    whole = report_of([GOOD])
    monkeypatch.setattr(long_list, "LONG_BYTES", 1000)
    monkeypatch.setattr(long_list, "PIECE_BYTES", 5000)
    for place in (0, 3, 7, len(items)):
        folder = tmp_path / str(place)
        folder.mkdir()
        for path in GOOD.glob("*.json"):
            (folder / path.name).write_bytes(path.read_bytes())
        text = form(written.listed([*items[:place], odd, *items[place:]]))
        (folder / "pods.json").write_bytes(text)
        report = report_of([folder])
        assert _decided(report) == _decided(whole)
        (source,) = (source for source in report["sources"] if source["path"].endswith("pods.json"))
        assert (source["records"], source["skipped"]) == (len(items), 1)
        (note,) = source["notes"]
        assert note["text"] == "Pod monitoring/broken: spec.containers: expected array, got str."
        begins = text.rindex(b"{", 0, text.rindex(b'"apiVersion"', 0, text.index(b'"broken"')))
        assert note["line"] == text.count(b"\n", 0, begins) + 1


def test_a_clock_that_jumps_back_and_forth_decides_nothing(tmp_path: Path) -> None:
    """Lines of an hour ago, and of tomorrow, between those of the log."""
    folder = tmp_path / "incident"
    folder.mkdir()
    for path in GOOD.glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    events = json.loads((GOOD / "events.json").read_bytes())["items"]
    refused = [one["involvedObject"] for one in events if one["reason"] == "FailedScheduling"]
    lines = []
    for number in range(60):
        about = refused[number % len(refused)]
        said = f'"Attempting to schedule pod" pod="{about["namespace"]}/{about["name"]}"'
        lines.append(f"I1130 {(12, 11, 13)[number % 3]}:45:12.{number:06}       1 a.go:1] {said}")
    (folder / "scheduler.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (jumping,), (steady,) = report_of([folder])["findings"], report_of([GOOD])["findings"]
    for key in ("verdict", "members", "blocked_behind"):
        assert jumping[key] == steady[key]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit below is that of Linux")
def test_a_large_file_needs_no_memory_of_its_size(tmp_path: Path, root: Path) -> None:
    """A line of 300 MB, and a log and a list of 100 MB each, in a process that may have no more than 180 MB of heap."""
    line = b'I0102 03:00:00.000001       1 a.go:1] "Update event for node" node="n"\n'
    (tmp_path / "line").write_bytes(_STAMP + b'"x')
    os.truncate(tmp_path / "line", 300 << 20)
    (tmp_path / "log").write_bytes(line * (100_000_000 // len(line)))
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (180 << 20, 180 << 20));"
        "from analyzer.cli import main; main(['replay', '--format', 'json', '--fail-on', 'none', *sys.argv[1:]])"
    )
    command = [sys.executable, "-c", program, str(tmp_path), str(GOOD)]
    done = subprocess.run(command, capture_output=True, check=True, cwd=root)  # noqa: S603  our own command
    assert json.loads(done.stdout)["findings"]
