"""Files that were damaged at random, in every form: one sentence or a report, never an exception of ours.

A few hundred by default; `KNOTWATCH_FUZZ=100000` for the long run, `KNOTWATCH_FUZZ_SEED` to begin elsewhere.
"""

import gzip
import io
import os
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from analyzer.cli import main
from analyzer.errors import UnreadableError, UsageError
from analyzer.run import Options, replay
from analyzer.sources.options import ReadOptions
from tests.kubernetes.forms import test_describe, test_logs, test_tables
from tests.kubernetes.reading import written
from tests.kubernetes.reading.test_audit import entry, lines

CASES = int(os.environ.get("KNOTWATCH_FUZZ", "400"))
SEED = int(os.environ.get("KNOTWATCH_FUZZ_SEED", "1"))

REFUSED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
    "lastTransitionTime": "2026-01-02T03:00:01Z",
}
RUNNING = {"phase": "Running", "startTime": "2026-01-02T03:00:02Z"}
GANG = {"annotations": {"knotwatch.dev/min-available": "2"}, "labels": {"knotwatch.dev/gang": "a"}}
ITEMS = [
    written.node("node-1"),
    written.pod("a-0", version=2, node="node-1", metadata=GANG, status=RUNNING),
    written.pod("a-1", version=3, metadata=GANG, status={"conditions": [REFUSED]}),
    {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "team-red", "creationTimestamp": "2026-01-02T03:00:03Z"},
        "reason": "FailedScheduling",
        "message": REFUSED["message"],
        "involvedObject": {"kind": "Pod", "namespace": "team-red", "name": "a-1"},
        "lastTimestamp": "2026-01-02T03:00:03Z",
        "count": 3,
    },
]


def archived() -> bytes:
    paper = io.BytesIO()
    with tarfile.open(fileobj=paper, mode="w:gz") as packed:
        for name, content in (("pods.json", written.pretty(written.listed(ITEMS))), ("log", test_logs.FORMS["klog"]())):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return paper.getvalue()


def sound() -> dict[str, bytes]:
    """One small file of every form."""
    out = {f"objects: {name}": form(ITEMS) for name, form in written.FORMS.items()}
    out["watch"] = written.watch(*(("ADDED", one) for one in ITEMS))
    out["audit"] = lines(*(entry("create", one, at="2026-01-02T03:00:00Z", code=201) for one in ITEMS))
    out |= {f"log: {name}": form() for name, form in (test_logs.FORMS | test_logs.ROUGH).items()}
    out["described"] = test_describe.ALL
    out |= {"pods": test_tables.PODS, "events": test_tables.EVENTS, "nodes": test_tables.NODES}
    out |= {"archive": archived(), "packed": gzip.compress(written.pretty(written.listed(ITEMS)), mtime=0)}
    return out


SOUND = sound()
TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b":", b",", b"\n", b"\r", b"\t", b" ", b"=", b"-", b"/", b"\0", b"\xff\xfe"),
    *(
        b"null",
        b"true",
        b"NaN",
        b"1e999",
        b"-1",
        b"9" * 40,
        b"9" * 400,
        b"0x1",
        b"<none>",
        b"'",
        b"&a *a",
        b"!!python/x",
    ),
    *("²".encode(), "٣".encode(), "\u2028".encode(), b"\xed\xa0\x80", b"\\ud800", b"[" * 3000, b'{"a":' * 3000),
    *(b"9999-99-99T99:99:99Z", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59", b"I0231 25:61:61.1 1 a:1] "),
)
Change = Callable[[random.Random, bytes], bytes]


def flipped(chance: random.Random, text: bytes) -> bytes:
    at = chance.randrange(len(text))
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]


def cut_out(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text))
    return text[:start] + text[start + chance.randrange(1, 200) :]


def doubled(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text))
    end = start + chance.randrange(1, 400)
    return text[:end] + text[start:end] + text[end:]


def inserted(chance: random.Random, text: bytes) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(TOKENS) + text[at:]


def replaced(chance: random.Random, text: bytes) -> bytes:
    """A word or number is another: what parsers of values meet."""
    at = chance.randrange(len(text))
    end = at
    while end < len(text) and chr(text[end]).isalnum():
        end += 1
    return text[:at] + chance.choice(TOKENS) + text[end:]


def cut_off(chance: random.Random, text: bytes) -> bytes:
    return text[: chance.randrange(1, len(text) + 1)]


def shuffled(chance: random.Random, text: bytes) -> bytes:
    parts = text.split(b"\n")
    one, other = chance.randrange(len(parts)), chance.randrange(len(parts))
    parts[one], parts[other] = parts[other], parts[one]
    return b"\n".join(parts)


def spliced(chance: random.Random, text: bytes) -> bytes:
    other = chance.choice(list(SOUND.values()))
    return text[: chance.randrange(len(text) + 1)] + other[chance.randrange(len(other)) :]


CHANGES: tuple[Change, ...] = (flipped, cut_out, doubled, inserted, replaced, replaced, cut_off, shuffled, spliced)


def damaged(seed: int) -> tuple[str, bytes]:
    chance = random.Random(seed)  # noqa: S311  seeded, and no secret
    name = chance.choice(list(SOUND))
    text = SOUND[name]
    for _ in range(chance.randint(1, 4)):
        if text:
            text = chance.choice(CHANGES)(chance, text)
    return name, text


def test_nothing_that_is_damaged_raises(tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    good.write_bytes(written.compact(written.listed(ITEMS)))
    bad = tmp_path / "bad"
    for seed in range(SEED * 10_000_000, SEED * 10_000_000 + CASES):
        name, text = damaged(seed)
        bad.write_bytes(text)
        options = Options(read=ReadOptions(year=2026 if seed % 3 == 0 else None))
        paths = [str(bad)] if seed % 2 else [str(bad), str(good)]
        try:
            if seed % 16 < 2:  # as a person calls it: with the report written down
                form = "text" if seed % 32 < 16 else "json"
                CliRunner().invoke(main, ["replay", "--format", form, *paths], catch_exceptions=False)
            else:
                replay(paths, options)
        except (UnreadableError, UsageError) as error:
            if seed % 2:
                continue
            raise AssertionError(f"seed {seed}, {name}: the good file beside it was lost: {error}") from error
        except Exception as error:
            raise AssertionError(f"seed {seed}, {name}: {type(error).__name__}: {error}") from error
