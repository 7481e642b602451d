"""The programs of a real control plane: which versions, from which Go modules, and where they lie once built."""

import os
import shutil
from pathlib import Path

from msgspec import Struct

BUILT = Path(__file__).resolve().parents[2] / "build" / "control-plane"
"""Where `make control-plane` puts what it makes; ignored by git."""

ASSETS = "KUBEBUILDER_ASSETS"
"""The variable that names a folder with programs of one's own, as other test suites have it."""


class Module(Struct, frozen=True, kw_only=True):
    """One Go module and what is built from it: `programs` as (name, package below the module, empty for itself).

    `staging` is the version of the modules that the module's own go.mod replaces by its folder `staging`. `folders`
    are copied beside the programs. `stamps` are variables that the linker sets.
    """

    path: str
    version: str
    programs: tuple[tuple[str, str], ...]
    staging: str = ""
    stamps: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()

    def recipe(self) -> str:
        """All that decides what comes out, as one text."""
        return f"{self.path}@{self.version} {self.staging} {self.stamps} {self.folders}"


_VERSION = "k8s.io/component-base/version"

MODULES = (
    Module(
        path="k8s.io/kubernetes",
        version="v1.36.3",
        staging="v0.36.3",
        stamps=(
            (f"{_VERSION}.gitVersion", "v1.36.3"),
            (f"{_VERSION}.gitMajor", "1"),
            (f"{_VERSION}.gitMinor", "36"),
        ),
        programs=(
            ("kube-apiserver", "cmd/kube-apiserver"),
            ("kube-controller-manager", "cmd/kube-controller-manager"),
            ("kube-scheduler", "cmd/kube-scheduler"),
            ("kubectl", "cmd/kubectl"),
        ),
    ),
    Module(path="go.etcd.io/etcd/server/v3", version="v3.7.3", programs=(("etcd", ""),)),
    Module(path="sigs.k8s.io/kwok", version="v0.8.0", programs=(("kwok", "cmd/kwok"),)),
    Module(
        path="sigs.k8s.io/kueue",
        version="v0.17.0",
        programs=(("kueue", "cmd/kueue"),),
        folders=("config/components",),
    ),
)

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok")
"""What a control plane runs on; Kueue comes on top of it."""


def program(name: str) -> str | None:
    """The path of one program: in the folder that KUBEBUILDER_ASSETS names, else where it was built, else None."""
    for folder in (os.environ.get(ASSETS), str(BUILT / "bin")):
        found = shutil.which(name, path=folder) if folder else None
        if found:
            return found
    return None


def missing(*names: str) -> str | None:
    """Which of the programs are not there, as one sentence; None if none is missing."""
    absent = [name for name in names if program(name) is None]
    return f"{', '.join(absent)} not built: say make control-plane, or set {ASSETS}." if absent else None
