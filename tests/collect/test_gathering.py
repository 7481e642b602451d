"""Running commands: bounds of time and size, what becomes of those that fail, and that nothing is left behind."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from analyzer.codec.collection import CollectedRow
from analyzer.collect import gathering
from analyzer.collect.command import Command, Redaction
from analyzer.collect.gathering import Gathering


def lines(script: str, *, timeout_s: int = 20, redact: Redaction = Redaction.LINES) -> Command:
    return Command(file="out/x.txt", argv=("sh", "-c", script), redact=redact, timeout_s=timeout_s)


def collected(folder: Path, *commands: Command) -> list[CollectedRow]:
    return Gathering(folder, {}).collect(commands, lambda _file, _row: None)


def test_what_a_command_prints_is_kept(tmp_path: Path) -> None:
    (row,) = collected(tmp_path, lines("echo one; echo two"))
    assert (row.file, row.exit_status, row.records, row.complaint) == ("out/x.txt", 0, 2, None)
    assert (tmp_path / "out" / "x.txt").read_text() == "one\ntwo\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "x.txt"]


@pytest.mark.parametrize(
    ("script", "status", "complaint"),
    [
        ("echo no such thing >&2; exit 3", 3, "no such thing"),
        ("exit 4", 4, "it ended with status 4 and said nothing"),
        ("true", 0, "it printed nothing"),
        ("echo 'W1130 a warning' >&2; echo 'error: password=hunter2' >&2; exit 1", 1, "password=***"),
        ("yes 'a long complaint' | head -n 100000 >&2; exit 1", 1, "a long complaint"),
    ],
)
def test_a_command_that_fails_says_why(tmp_path: Path, script: str, status: int, complaint: str) -> None:
    (row,) = collected(tmp_path, lines(script))
    assert (row.file, row.exit_status, row.complaint) == (None, status, complaint)


def test_a_program_that_is_not_there_is_a_complaint(tmp_path: Path) -> None:
    (row,) = collected(tmp_path, Command(file="x", argv=("no-such-program",), redact=Redaction.LINES))
    assert (row.file, row.complaint) == (None, "no-such-program cannot be run: No such file or directory")


def test_of_a_failed_listing_the_lines_stay_and_of_failed_json_nothing(tmp_path: Path) -> None:
    (row,) = collected(tmp_path, lines("echo half; exit 1"))
    assert (row.file, row.complaint) == ("out/x.txt", "it ended with status 1 and said nothing")
    (row,) = collected(tmp_path, lines("echo '{\"items\": []}'; exit 1", redact=Redaction.OBJECTS))
    assert row.file is None


def test_a_command_has_its_time(tmp_path: Path) -> None:
    started = time.monotonic()
    # The child would keep the pipe open for much longer than its parent lives.
    (row,) = collected(tmp_path, lines("echo early; sleep 60 & sleep 60", timeout_s=1))
    assert time.monotonic() - started < 20
    assert (row.file, row.exit_status, row.complaint) == ("out/x.txt", None, "it did not end within 1 s")


def test_a_collection_has_its_time_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "WITHIN_S", 1)
    slow, next_one = lines("echo early; sleep 60"), lines("echo late")
    first, *others = collected(tmp_path, slow, slow, slow, slow, next_one)
    assert first.complaint == "it did not end within 1 s"
    assert [row.complaint for row in others[3:]] == ["it was not asked for: the collection had its 1 s"]


def test_a_log_is_cut_and_a_list_refused_where_it_gets_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "LINES_MAX_BYTES", 1000)
    monkeypatch.setattr(gathering, "OBJECTS_MAX_BYTES", 3 << 30)
    (row,) = collected(tmp_path, lines("yes abcdefghi"))
    assert (row.bytes, row.complaint) == (1000, "it is cut here: there was more")
    monkeypatch.setattr(gathering, "OBJECTS_MAX_BYTES", 1001)
    (row,) = collected(tmp_path, lines("yes", redact=Redaction.OBJECTS))
    assert (row.file, row.complaint) == (None, "it is larger than 0 GiB")


def test_rows_come_in_the_order_of_the_commands(tmp_path: Path) -> None:
    told: list[str] = []
    commands = [
        Command(file=f"{number}.txt", argv=("sh", "-c", f"sleep 0.{5 - number}; echo x"), redact=Redaction.LINES)
        for number in range(5)
    ]
    rows = Gathering(tmp_path, {}).collect(commands, lambda file, _row: told.append(file))
    assert [row.file for row in rows] == [command.file for command in commands]
    assert sorted(told) == [command.file for command in commands]


def test_an_interrupted_collection_ends_its_commands(tmp_path: Path) -> None:
    # A shell that runs the tests in the background has them ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _interrupt(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    sleeping = lines(f"echo $$ >> {pids}; exec sleep 60")
    main = threading.get_ident()

    def interrupt() -> None:
        while not (pids.exists() and pids.read_text().endswith("\n")):
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, *[sleeping] * 8)
    assert time.monotonic() - started < 20
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
