"""Files that were damaged at random, in every form: one sentence or a report, never an exception of ours.

A few hundred by default; `KNOTWATCH_FUZZ=100000` for the long run, `KNOTWATCH_FUZZ_SEED` to begin elsewhere. A failure
names its seed: `KNOTWATCH_FUZZ_ONLY=SEED` runs that one alone.
"""

import os
import random
from pathlib import Path

from click.testing import CliRunner

from analyzer.cli import main
from analyzer.codec.report import Report
from analyzer.errors import UnreadableError, UsageError
from analyzer.run import Options, replay
from analyzer.sources.options import ReadOptions
from tests.kubernetes.reading import written
from tests.replay.damage import damaged
from tests.replay.sound_files import ITEMS, sound_files

CASES = int(os.environ.get("KNOTWATCH_FUZZ", "400"))
FIRST = int(os.environ.get("KNOTWATCH_FUZZ_SEED", "1")) * 10_000_000
ONLY = os.environ.get("KNOTWATCH_FUZZ_ONLY")
SEEDS = range(FIRST, FIRST + CASES) if ONLY is None else [int(ONLY)]


def case(seed: int, sound: dict[str, bytes]) -> tuple[str, bytes]:
    """(the form, its damaged bytes)."""
    chance = random.Random(seed)  # noqa: S311  seeded, and no secret
    name = chance.choice(list(sound))
    return name, damaged(chance, sound[name], list(sound.values()))


def is_odd(report: Report, good: str) -> str:
    """What is wrong with the report, if anything: each complaint is one sentence, and the good file is read."""
    for source in report.sources:
        for note in source.notes:
            if not note.text.isprintable():
                return f"a sentence of several lines, or with what is not for printing: {note.text!r}"
            if len(note.text) > 2000:
                return f"a sentence of {len(note.text)} letters"
    if good and not any(source.path == good and source.records for source in report.sources):
        return "the good file beside it was lost"
    return ""


def test_nothing_that_is_damaged_raises(tmp_path: Path) -> None:
    sound = sound_files()
    good = tmp_path / "good.json"
    good.write_bytes(written.compact(written.listed(ITEMS)))
    bad = tmp_path / "bad"
    for seed in SEEDS:
        name, text = case(seed, sound)
        bad.write_bytes(text)
        alone = seed % 2 == 1
        paths = [str(bad)] if alone else [str(bad), str(good)]
        problem = ""
        try:
            if seed % 16 < 2:  # as a person calls it: with the report written down
                form = "text" if seed % 32 < 16 else "json"
                CliRunner().invoke(main, ["replay", "--format", form, *paths], catch_exceptions=False)
            else:
                options = Options(read=ReadOptions(year=2026 if seed % 3 == 0 else None))
                problem = is_odd(replay(paths, options).report, "" if alone else good.name)
        except (UnreadableError, UsageError) as error:
            problem = "" if alone else f"the good file beside it was lost: {error}"
        except Exception as error:
            raise AssertionError(f"seed {seed}, {name}: {type(error).__name__}: {error}") from error
        assert not problem, f"seed {seed}, {name}: {problem}"
