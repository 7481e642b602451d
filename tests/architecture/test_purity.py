"""The core takes values and returns values: no clock, no chance, no file, no mutable global.

The import contracts in pyproject.toml forbid the modules; this reads the calls, so that a clock cannot come in by a
method (`datetime.now`) or a builtin (`open`).
"""

import ast

from tests.architecture.source_tree import CORE, core_files, parsed, shown

BUILTINS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
METHODS = {"now", "utcnow", "today", "monotonic", "perf_counter", "time_ns", "urandom", "getenv", "environ"}


def impure(tree: ast.Module) -> list[tuple[int, str]]:
    """Line and name of every place where the world could leak into a result, sorted."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
                found.append((node.lineno, name))
            case ast.Attribute(attr=name) if name in METHODS:
                found.append((node.lineno, name))
            case ast.Global(names=changed):
                found.append((node.lineno, f"global {', '.join(changed)}"))
            case _:
                pass
    return sorted(found)


def test_a_clock_and_a_file_are_seen() -> None:
    tree = ast.parse("import datetime\nx = datetime.datetime.now()\nopen('x')\n")
    assert impure(tree) == [(2, "now"), (3, "open")]


def test_every_part_of_the_core_is_looked_at() -> None:
    assert {path.parts[-1].removesuffix(".py") for path in core_files()} | {
        path.parent.name for path in core_files()
    } >= set(CORE)


def test_the_core_is_pure() -> None:
    found = [f"{shown(path)}:{line} {what}" for path in core_files() for line, what in impure(parsed(path))]
    assert found == []
