"""`python -m tests.control_plane.build`: builds what is missing of a control plane, from Go modules, into `build/`.

A program is built again only if its recipe has changed. Only modules are fetched, by `go` itself and from where it is
told to. Exit status 1, with one sentence, if Go is missing or a build fails.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.control_plane.binaries import ASSETS, BUILT, MODULES, Module, program

_GO_MIN = (1, 26)
_STAGING = re.compile(r"^\s*(k8s\.io/[a-z0-9-]+) => \./staging/", re.MULTILINE)
_TAIL_LINES = 15
_RECIPES = BUILT / "recipes.json"


def main() -> int:
    """Build all that is missing, one module after the other."""
    wanted = [module for module in MODULES if not _is_there(module)]
    if not wanted:
        return 0
    if not _go_is_usable():
        return 1
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second build waits, and then finds everything done
        for module in wanted:
            if not _is_there(module) and not _built(module):
                return 1
    return 0


def _is_there(module: Module) -> bool:
    """Whether all programs of the module are where somebody else put them, or built by this very recipe."""
    own = os.environ.get(ASSETS)
    if own and not module.folders and all(shutil.which(name, path=own) for name, _ in module.programs):
        return True
    names = [name for name, _ in module.programs]
    return all(program(name) for name in names) and all(_recipes().get(name) == module.recipe() for name in names)


def _recipes() -> dict[str, str]:
    """What was built, by the name of the program: the recipe."""
    try:
        kept = json.loads(_RECIPES.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _go_is_usable() -> bool:
    go = shutil.which("go")
    said = subprocess.run([go, "version"], capture_output=True, text=True, check=False).stdout if go else ""  # noqa: S603  the Go on PATH
    version = re.search(r"go(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < _GO_MIN:
        _say(
            f"a control plane is built with Go {_GO_MIN[0]}.{_GO_MIN[1]} or later, and {said.strip() or 'no go'} is on "
            f"PATH: install it (https://go.dev/dl), or set {ASSETS} to a folder that has the programs."
        )
        return False
    return True


def _built(module: Module) -> bool:
    """Build the programs of one module in a scratch module of our own that requires it."""
    started = time.monotonic()
    names = [name for name, _ in module.programs]
    _say(f"building {', '.join(names)} from {module.path} {module.version} (minutes, the first time) ...")
    work = BUILT / "work" / names[0]
    work.mkdir(parents=True, exist_ok=True)
    source = _source_folder(module, work)
    if source is None:
        return False
    _write_scratch_module(module, work, source)
    binaries = BUILT / "bin"
    binaries.mkdir(exist_ok=True)
    stamps = " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in module.stamps)])
    steps = [["go", "mod", "tidy"]]
    steps += [
        ["go", "build", "-trimpath", "-ldflags", stamps, "-o", f"{work}/{name}", _package(module, below)]
        for name, below in module.programs
    ]
    if not all(_ran(step, work, f"{names[0]}.log") for step in steps):
        return False
    for name in names:
        (work / name).replace(binaries / name)
    for folder in module.folders:
        kept = BUILT / names[0] / folder
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(source / folder, kept, copy_function=shutil.copyfile)
    _RECIPES.write_text(json.dumps(_recipes() | dict.fromkeys(names, module.recipe()), indent=1))
    _say(f"built {', '.join(names)} in {time.monotonic() - started:.0f} s")
    return True


def _package(module: Module, below: str) -> str:
    return f"{module.path}/{below}" if below else module.path


def _source_folder(module: Module, work: Path) -> Path | None:
    """Where `go` keeps the unpacked module; fetched if it is not there yet."""
    command = ["go", "mod", "download", "-json", f"{module.path}@{module.version}"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)  # noqa: S603  the Go on PATH
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = {}
    if done.returncode or "Dir" not in told:
        reason = told.get("Error") or done.stderr.strip() or "no reason given"
        _say(f"go could not fetch {module.path} {module.version}: {reason}. Is its module proxy (GOPROXY) in reach?")
        return None
    return Path(told["Dir"])


def _write_scratch_module(module: Module, work: Path, source: Path) -> None:
    lines = ["module scratch", "", f"go {_GO_MIN[0]}.{_GO_MIN[1]}.0", "", f"require {module.path} {module.version}", ""]
    if module.staging:
        staged = _STAGING.findall((source / "go.mod").read_text())
        lines += [f"replace {path} => {path} {module.staging}" for path in staged]
    (work / "go.mod").write_text("\n".join([*lines, ""]))
    imports = [f'import _ "{_package(module, below)}"' for _, below in module.programs]
    (work / "tools.go").write_text("\n".join(["//go:build tools", "", "package scratch", "", *imports, ""]))


def _ran(command: list[str], work: Path, log: str) -> bool:
    """Whether the step went well; what it printed is kept, and its end is shown if it did not."""
    done = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603  the Go on PATH
    with (BUILT / log).open("a") as kept:
        kept.write(f"$ {' '.join(command)}\n{done.stdout}")
    if done.returncode:
        _say(f"`{' '.join(command[:3])}` failed; the end of {BUILT / log}:")
        for line in done.stdout.splitlines()[-_TAIL_LINES:]:
            _say(f"  {line}")
    return done.returncode == 0


def _say(line: str) -> None:
    sys.stderr.write(f"control plane: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
