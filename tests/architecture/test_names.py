"""Names that say nothing are not used; the glossary has better ones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source_tree import parsed, python_files, shown

# Words that are empty in any place of a name, as its last word, or as the whole of it.
NEVER = {"common", "helper", "helpers", "manager", "managers", "misc", "my", "util", "utils"}
NEVER_LAST = {"handler", "handlers", "processor", "processors"}  # `processor_s` are seconds of a processor
GENERATED = ("_pb2", "_pb2_grpc")  # names that the protocol compiler gives
NEVER_ALONE = {"base", "data", "info", "new"}


def words(name: str) -> list[str]:
    """`PodHandler` and `pod_handler` are both `pod`, `handler`."""
    return [word for word in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_") if word]


def names(path: Path) -> Iterator[tuple[int, str]]:
    """Every name the file defines: itself, classes, functions, parameters, variables."""
    yield 1, path.stem
    for node in ast.walk(parsed(path)):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case _:
                pass


def is_empty(name: str) -> bool:
    """Whether the name could be given to anything."""
    parts = words(name)
    return bool(
        NEVER.intersection(parts)
        or NEVER_LAST.intersection(parts[-1:])
        or (len(parts) == 1 and NEVER_ALONE.intersection(parts))
    )


@pytest.mark.parametrize(
    ("name", "empty"),
    [("PodHandler", True), ("data", True), ("utils", True), ("newest", False), ("processor_s", False)],
)
def test_an_empty_name_is_known_when_seen(name: str, *, empty: bool) -> None:
    assert is_empty(name) == empty


def test_no_name_is_empty() -> None:
    ours = [path for path in python_files() if not path.stem.endswith(GENERATED)]
    found = [f"{shown(path)}:{line} {name}" for path in ours for line, name in names(path) if is_empty(name)]
    assert found == []
