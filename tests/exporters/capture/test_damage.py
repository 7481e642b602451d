"""A capture comes from anybody: what is wrong with it is one sentence, and nothing is written outside its folder."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from exporters.capture.form import FILE_BYTES_MAX, Answer, Capture, CaptureError, Exchange, Tree, read_capture, written
from exporters.capture.replaying import Replay
from exporters.capture.unpacking import unpacked
from exporters.nvml.driver import FIELD_VALUES, Fault
from exporters.rooted import Failed, tree_at
from tests.exporters.capture.nodes import run

WHOLE = Capture(
    schema="knotwatch.capture/v1",
    made_by="a test",
    taken_at_s=1.0,
    masked=(),
    nvml=(
        Exchange(call="open", answers=(Answer(),)),
        Exchange(call="nvmlDeviceGetCount", answers=(Answer(value=1),)),
        Exchange(call="field", device="d0", keys=(138, 0), answers=(Answer(value=[0, 17]),)),
    ),
    sysfs=Tree(
        files={"devices/pci0/x/vendor": "0x10de"},
        refused={"devices/pci0/x/class": "EINVAL"},
        links={"bus/x": "../devices/pci0/x"},
        folders=("class/infiniband",),
    ),
    procfs=Tree(files={"1/stat": "1 (init) S"}, links={"1/fd/3": "/dev/nvidia0"}),
)


def written_to(folder: Path, content: bytes) -> Path:
    file = folder / "it.json"
    file.write_bytes(content)
    return file


def test_what_was_written_is_read(tmp_path: Path) -> None:
    for packed in (False, True):
        assert read_capture(written_to(tmp_path, written(WHOLE, packed=packed))) == msgspec.convert(
            msgspec.to_builtins(WHOLE), Capture
        )


def test_it_is_text_with_a_line_for_each_part() -> None:
    lines = written(WHOLE, packed=False).decode().splitlines()
    assert '{"call":"nvmlDeviceGetCount","answers":[{"value":1}]},' in lines
    assert '"devices/pci0/x/vendor": "0x10de"' in lines


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no capture, or a damaged one: "),
        (b"knotwatch", "is no capture, or a damaged one: "),
        (b"[" * 100_000, "is no capture, or a damaged one: "),
        (b'{"schema": "knotwatch.report/v1"}', "is no capture: its schema is not knotwatch.capture/v1."),
        (b'{"schema": "knotwatch.capture/v9"}', "is a capture of another version (knotwatch.capture/v9); this program"),
        (written(WHOLE, packed=False)[:-40], "is no capture, or a damaged one: "),
        (written(WHOLE, packed=True)[:-40], "is damaged: it breaks off."),
        (b"\x1f\x8b" + b"\0" * 40, "is damaged: "),
        (gzip.compress(b" " * (FILE_BYTES_MAX + 1)), "is too large: more than 64 MiB."),
        (written(WHOLE, packed=False).replace(b'"0x10de"', b"7"), "Expected `str`, got `int`"),
    ],
)
def test_what_is_no_capture_is_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    file = written_to(tmp_path, content)
    result = run("once", "--replay", str(file))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"knotwatch-exporter: {file} ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    result = run("serve", "--replay", str(tmp_path / "absent.json"))
    assert result.stderr == f"knotwatch-exporter: {tmp_path}/absent.json cannot be read: no such file or directory.\n"
    result = run("capture", "-o", str(tmp_path / "absent" / "x.json"), "--path.sysfs", str(tmp_path))
    assert result.stderr.endswith("absent/x.json cannot be written: no such file or directory.\n")
    assert result.exit_code == 2


@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", "a//b", "", ".", "a/.", "a\0b", "x" * 2000, "..", "a/"]
)
@pytest.mark.parametrize("kind", ["files", "refused", "links", "folders"])
def test_no_path_leads_out(tmp_path: Path, path: str, kind: str) -> None:
    part: Any = (path,) if kind == "folders" else {path: "EINVAL"}
    with pytest.raises(CaptureError, match="names a path that no tree has"):
        unpacked(Tree(**{kind: part}), tmp_path / "tree")
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("a", "/etc"),
        ("a", "../outside"),
        ("a/b", "../../outside"),
        ("a", "b/../../outside"),
        ("a", "./b"),
        ("a", ""),
        ("a", "b//c"),
        ("x/fd/3", "/dev/nvidia0"),
        ("1/fd/3", "/dev/sda"),
        ("1/fd/3", "/dev/nvidia0/../../etc"),
    ],
)
def test_no_link_leads_out(tmp_path: Path, path: str, target: str) -> None:
    with pytest.raises(CaptureError, match="has a link that leads"):
        unpacked(Tree(links={path: target}), tmp_path / "tree")
    assert list(tmp_path.rglob("*")) == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for tree in (
        Tree(links={"a": "b"}, files={"a/x": "1"}),
        Tree(links={"a": "b", "a/x": "c"}),
        Tree(links={"a": "b"}, folders=("a/x",)),
        Tree(files={"a": "1", "a/x": "1"}),
        Tree(links={"a": "b"}, folders=("a",)),
    ):
        with pytest.raises(CaptureError, match="twice: as a folder, and as a file or link"):
            unpacked(tree, tmp_path / "tree")
    assert list(outside.iterdir()) == []


def test_a_tree_is_read_as_it_was(tmp_path: Path) -> None:
    refused = unpacked(WHOLE.sysfs, tmp_path / "sys")
    assert refused == {str(tmp_path.resolve() / "sys/devices/pci0/x/class"): 22}
    tree = tree_at(tmp_path / "sys")
    assert tree.text("bus/x/vendor") == "0x10de"
    assert tree.names("class/infiniband") == ()
    unpacked(WHOLE.procfs, tmp_path / "proc")
    processes = tree_at(tmp_path / "proc")
    files = processes.folder("1/fd")
    assert files is not None
    assert files.link("3") == "/dev/nvidia0"
    assert files.text("3") == Failed("EXDEV")


@pytest.mark.parametrize("value", [None, 7, "x", [], [1], ["a", "b"], {"a": 1}, [[[]]], 1e308])
@pytest.mark.parametrize(
    "ask",
    [
        lambda driver: driver.ask(FIELD_VALUES, "d0", (138, 0)),
        lambda driver: driver.ask("nvmlEventSetWait_v2", None, object(), 10),
        lambda driver: driver.ask("nvmlDeviceGetProcessUtilization", "d0", 10),
        lambda driver: driver.ask("nvmlDeviceGetHandleByIndex", None, 0),
        lambda driver: driver.ask("nvmlDeviceGetMemoryInfo_v2", "d0"),
    ],
)
def test_an_answer_of_any_kind_is_an_answer_or_a_refusal(value: object, ask: Callable[[Replay], Any]) -> None:
    calls = (FIELD_VALUES, "nvmlEventSetWait_v2", "nvmlDeviceGetProcessUtilization", "nvmlDeviceGetHandleByIndex")
    answers = (Answer(value=value),)
    exchanges = [Exchange(call=call, device=device, answers=answers) for call in calls for device in ("", "d0")]
    exchanges.append(Exchange(call="field", device="d0", keys=(138, 0), answers=answers))
    exchanges.append(Exchange(call="nvmlDeviceGetMemoryInfo_v2", device="d0", answers=answers))
    code = ""
    try:
        ask(Replay(exchanges))
    except Fault as fault:
        code = fault.code
    assert code in {"", "malformed", "3", "10"}


def test_damage_at_random_is_a_sentence_or_a_capture(tmp_path: Path) -> None:
    whole = written(WHOLE, packed=False)
    for seed in range(500):
        chance = random.Random(seed)  # noqa: S311  not for secrets
        content = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        if chance.random() < 0.3:
            content = content[: chance.randrange(len(content))]
        said = ""
        try:
            capture = read_capture(written_to(tmp_path, bytes(content)))
            unpacked(capture.sysfs, tmp_path / str(seed))
        except (CaptureError, OSError) as error:
            said = str(error)
        assert "\n" not in said
