"""The files of the repository as the architecture tests see them: what is checked in, without caches."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("analyzer", "exporters", "alerts", "dashboards", "runbooks", "deploy", "benchmarks", "docs")
CORE = ("model", "graph", "state", "explain", "detectors", "tracker", "engine", "hypothesis")
RECORDINGS = ROOT / "tests" / "data"  # captured inputs: other programs' words, not ours

_NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__"}


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Every file of ours with one of these suffixes (all if none is given), sorted; recordings are left out."""

    def walk(folder: Path) -> Iterator[Path]:
        for entry in sorted(folder.iterdir()):
            if entry.is_dir():
                cache_folder = entry.name.endswith((".egg-info", "_cache")) or entry.name in _NOT_OURS
                if not cache_folder and entry.name != ".hypothesis" and entry != RECORDINGS:
                    yield from walk(entry)
            elif not suffixes or entry.suffix in suffixes:
                yield entry

    return tuple(walk(ROOT))


def python_files(*folders: str) -> tuple[Path, ...]:
    """Our Python files, all or those under the named top folders."""
    return tuple(path for path in files(".py") if not folders or path.relative_to(ROOT).parts[0] in folders)


def core_files() -> tuple[Path, ...]:
    """The files of the pure core: `analyzer/engine.py`, `analyzer/graph/*.py`, and so on."""
    analyzer = ROOT / "analyzer"
    return tuple(
        path for path in python_files("analyzer") if path.relative_to(analyzer).parts[0].removesuffix(".py") in CORE
    )


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def shown(path: Path) -> str:
    """The path as a message shows it: from the root of the repository."""
    return path.relative_to(ROOT).as_posix()
