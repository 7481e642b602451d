"""Building and finding the programs: what is there is not built again, what is missing is named."""

import json
from pathlib import Path

import pytest

from tests.control_plane import binaries, build
from tests.control_plane.binaries import MODULES


def executable(path: Path, content: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{content}\n")
    path.chmod(0o755)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to build into, and no programs from elsewhere."""
    folder = tmp_path / "built"
    monkeypatch.delenv(binaries.ASSETS, raising=False)
    monkeypatch.setattr(binaries, "BUILT", folder)
    monkeypatch.setattr(build, "BUILT", folder)
    monkeypatch.setattr(build, "_RECIPES", folder / "recipes.json")
    return folder


def go(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A Go on PATH that does what the script says."""
    executable(folder / "bin" / "go", script)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


def fill(folder: Path) -> None:
    for module in MODULES:
        for name, _ in module.programs:
            executable(folder / "bin" / name)


GO = """
case "$1 $2" in
  "version ") echo "go version go1.26.8 linux/amd64" ;;
  "mod download") echo "{\\"Dir\\": \\"SOURCE\\"}" ;;
  "mod tidy") true ;;
  "build -trimpath") echo built >> BUILDS; printf '#!/bin/sh\\n' > "$6"; chmod +x "$6" ;;
esac
"""


def test_programs_are_looked_for_in_the_named_folder_first(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = binaries.missing("etcd", "kubectl")
    assert sentence == "etcd, kubectl not built: say make control-plane, or set KUBEBUILDER_ASSETS."
    executable(built / "bin" / "etcd")
    executable(tmp_path / "assets" / "etcd")
    assert binaries.program("etcd") == str(built / "bin" / "etcd")
    monkeypatch.setenv(binaries.ASSETS, str(tmp_path / "assets"))
    assert binaries.program("etcd") == str(tmp_path / "assets" / "etcd")
    assert binaries.missing("etcd") is None


def test_what_is_there_is_not_built_again_but_after_a_change(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, builds = tmp_path / "source", tmp_path / "builds"
    (source / "config" / "components" / "crd").mkdir(parents=True)
    (source / "go.mod").write_text("replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n)\n")
    go(tmp_path, monkeypatch, GO.replace("SOURCE", str(source)).replace("BUILDS", str(builds)))
    assert build.main() == 0
    programs = sum(len(module.programs) for module in MODULES)
    assert len(builds.read_text().splitlines()) == programs
    scratch = (built / "work" / "kube-apiserver" / "go.mod").read_text()
    assert "replace k8s.io/api => k8s.io/api v0.36.3" in scratch
    assert (built / "kueue" / "config" / "components" / "crd").is_dir()
    assert build.main() == 0
    assert len(builds.read_text().splitlines()) == programs
    recipes = json.loads((built / "recipes.json").read_text())
    (built / "recipes.json").write_text(json.dumps(recipes | {"etcd": "an older version"}))
    capsys.readouterr()
    assert build.main() == 0
    assert len(builds.read_text().splitlines()) == programs + 1
    assert "building etcd from go.etcd.io/etcd/server/v3" in capsys.readouterr().err


def test_nothing_is_built_where_all_is_given(built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fill(built)
    (built / "recipes.json").write_text(
        json.dumps({name: module.recipe() for module in MODULES for name, _ in module.programs})
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.main() == 0


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "no go is on PATH: install it (https://go.dev/dl), or set KUBEBUILDER_ASSETS"),
        (
            "echo go version go1.19.8 linux/amd64",
            "with Go 1.26 or later, and go version go1.19.8 linux/amd64 is on PATH",
        ),
        (
            '[ "$1" = version ] && echo go1.26 || { echo "dial tcp: lookup proxy: no such host" >&2; exit 1; }',
            "go could not fetch k8s.io/kubernetes v1.36.3: dial tcp: lookup proxy: no such host. Is its module proxy",
        ),
        (
            GO.replace("SOURCE", "/").replace("true ;;", "echo reading go.sum: broken; exit 1 ;;"),
            "`go mod tidy` failed; the end of",
        ),
    ],
)
def test_what_cannot_be_built_says_why(
    built: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    script: str | None,
    sentence: str,
) -> None:
    if script is None:
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "go.mod").write_text("")
        go(tmp_path, monkeypatch, script.replace('"/\\"', f'"{tmp_path}/source\\"'))
    assert build.main() == 1
    told = capsys.readouterr().err
    assert sentence in told
    assert "Traceback" not in told
    assert not (built / "recipes.json").exists()
