"""Small files, short functions: where a limit is met, there is a seam to be found."""

import ast

from tests.architecture.source_tree import parsed, python_files, shown

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70


def test_no_file_is_longer_than_its_reader_s_patience() -> None:
    lengths = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_every_function_fits_on_a_screen() -> None:
    lengths = {
        f"{shown(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in python_files()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES_MAX} == {}
