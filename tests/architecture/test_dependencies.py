"""What is imported is declared, what is declared is used and pinned, and the pins carry no addresses."""

import ast
import re
import sys
import tomllib

from tests.architecture.source_tree import ROOT, parsed, python_files

IMPORTED_AS = {
    "pyyaml": "yaml",
    "prometheus-client": "prometheus_client",
    "nvidia-ml-py": "pynvml",
    "grpcio": "grpc",
    "protobuf": "google",
}
OURS = {"analyzer", "exporters", "alerts", "dashboards", "runbooks", "benchmarks", "docs", "tests"}


def bare(requirement: str) -> str:
    """`PyYAML>=6.0` is `pyyaml`."""
    return re.split(r"[\s<>=!~\[;]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def declared() -> tuple[set[str], set[str]]:
    """Names of the packages that the program needs, extras included, and of those that development needs beside it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: {bare(each) for each in needed} for name, needed in project["optional-dependencies"].items()}
    development = extras.pop("dev")
    return {bare(each) for each in project["dependencies"]}.union(*extras.values()), development


def imported(*folders: str) -> set[str]:
    """Top names of all foreign packages that our files import, wherever in the file."""
    names = set()
    for path in python_files(*folders):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names.add(node.module.partition(".")[0])
            else:
                match node:
                    case ast.Call(
                        func=ast.Name(id="__import__" | "import_module"), args=[ast.Constant(value=str(name)), *_]
                    ):
                        names.add(name.partition(".")[0])
                    case _:
                        pass
    return names - sys.stdlib_module_names - OURS


def test_the_program_imports_what_it_declares() -> None:
    program, _ = declared()
    assert imported("analyzer", "exporters") == {IMPORTED_AS.get(name, name) for name in program}


def test_every_declared_package_is_pinned_once_and_without_an_address() -> None:
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line[:1] not in {"", "#"}
    ]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", line)] == []
    pinned = [bare(line) for line in lines]
    assert len(pinned) == len(set(pinned))
    program, development = declared()
    assert (program | development) - set(pinned) == set()
