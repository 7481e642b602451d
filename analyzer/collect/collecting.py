"""One collection: find out what is here, gather it, and say in a manifest what was gathered and what was not."""

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct, structs

from analyzer.codec.collection import CollectedRow, Manifest
from analyzer.collect import kubernetes, slurm
from analyzer.collect.command import Command
from analyzer.collect.gathering import Gathering
from analyzer.errors import UsageError

_ASKED_WITHIN_S = 30
_SLURM = ("squeue", "scontrol", "sinfo")
_SOME_NAMESPACES = "if you may read some namespaces only, name them: --namespace NAME"
_OTHER_CLUSTER = "another cluster is named by --context NAME or --kubeconfig FILE"


class Origin(StrEnum):
    """Where to collect from; auto: wherever there is something."""

    AUTO = "auto"
    KUBERNETES = "kubernetes"
    SLURM = "slurm"


class Wish(Struct, frozen=True, kw_only=True):
    """What a person asks for. `connection` are the options of kubectl that say which cluster and who asks.

    No `namespaces`: all of them. `since`: how far back logs go, as kubectl writes it; empty: no logs.
    """

    origin: Origin = Origin.AUTO
    kubectl: str = kubernetes.KUBECTL
    connection: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    since: str = "6h"


class Progress(Protocol):
    """Told how many commands there are, more as they become known, and what became of each and its file."""

    def more(self, commands: int) -> None: ...
    def done(self, file: str, row: CollectedRow, *, optional: bool) -> None: ...


class Part(Struct, frozen=True):
    """What was gathered of one origin. `reason`: why nothing was asked for, and then there are no rows.

    `found`: something came that every such cluster has. A list of processes alone tells of none.
    """

    origin: Origin
    rows: tuple[CollectedRow, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    found: bool = False


def collect(wish: Wish, folder: Path, progress: Progress) -> Manifest:
    """Gather into the folder, one sub-folder for each origin; the manifest is not written yet.

    Raises UsageError if not one file came of it.
    """
    started = time.time()
    gathering = Gathering(folder, {kubernetes.KUBECTL: (wish.kubectl, *wish.connection)})
    ways: tuple[tuple[Origin, Callable[[], Part]], ...] = (
        (Origin.KUBERNETES, lambda: _kubernetes(wish, folder, gathering, progress)),
        (Origin.SLURM, lambda: _slurm(wish, gathering, progress)),
    )
    parts = [gathered() for origin, gathered in ways if wish.origin in (Origin.AUTO, origin)]
    there = [part for part in parts if part.found]
    if not there:
        reasons = "; ".join(_why_nothing(part).rstrip(".?!") for part in parts)
        raise UsageError(f"Nothing could be collected: {reasons}.")
    for part in parts:
        if not part.found:
            shutil.rmtree(folder / part.origin, ignore_errors=True)
    return Manifest(
        knotwatch=version("knotwatch"),
        sources=tuple(part.origin.value for part in there),
        started=_moment(started),
        ended=_moment(time.time()),
        versions=dict(pair for part in there for pair in part.versions),
        commands=tuple(row for part in there for row in part.rows),
    )


def _kubernetes(wish: Wish, folder: Path, gathering: Gathering, progress: Progress) -> Part:
    if shutil.which(wish.kubectl) is None:
        where = "there is no program" if "/" in wish.kubectl else "on PATH there is no"
        return Part(Origin.KUBERNETES, reason=f"{where} {wish.kubectl}")
    kinds: list[kubernetes.Kind] = []
    complaints: list[str] = []
    for namespaced, argv in kubernetes.DISCOVERY:
        printed, complaint = gathering.output_of(argv, _ASKED_WITHIN_S)
        kinds += [kubernetes.Kind(name, namespaced) for name in printed.split()]
        complaints += [complaint] if complaint is not None else []
    if not kinds:
        reason = complaints[0].rstrip(".?!") if complaints else "kubectl names no kinds of objects"
        return Part(Origin.KUBERNETES, reason=f"{reason} ({_OTHER_CLUSTER})")
    # A cluster with a broken aggregated API has kinds all the same; which one is broken is worth a line.
    rows = [
        CollectedRow(command=" ".join(kubernetes.DISCOVERY[0][1]), complaint=complaint)
        for complaint in dict.fromkeys(complaints)
    ]
    for row in rows:
        progress.done(row.command, row, optional=False)
    versions = _versions(gathering.output_of(kubernetes.VERSION, _ASKED_WITHIN_S)[0])
    rows += _gathered(kubernetes.lists(kinds, wish.namespaces), Origin.KUBERNETES, gathering, progress)
    if wish.since:
        pods = _pods(folder / row.file for row in rows if row.file is not None and row.file.endswith("/pods.json"))
        rows += _gathered(kubernetes.logs(pods, wish.since), Origin.KUBERNETES, gathering, progress)
    return Part(Origin.KUBERNETES, tuple(rows), versions, found=any(row.file is not None for row in rows))


def _slurm(wish: Wish, gathering: Gathering, progress: Progress) -> Part:
    absent = [name for name in _SLURM if shutil.which(name) is None]
    if absent:
        return Part(Origin.SLURM, reason=f"on PATH there is no {', no '.join(absent)}")
    if wish.origin is Origin.AUTO:
        # Many machines have the commands and no cluster. Whoever asks for Slurm gets a sentence for each of them.
        _, complaint = gathering.output_of(("sinfo", "-h"), _ASKED_WITHIN_S)
        if complaint is not None:
            return Part(Origin.SLURM, reason=complaint)
    printed, _ = gathering.output_of(("sinfo", "--version"), _ASKED_WITHIN_S)
    versions = (("slurm", printed.strip().removeprefix("slurm ")),)
    rows = _gathered(slurm.COMMANDS, Origin.SLURM, gathering, progress)
    of_any_cluster = {f"{Origin.SLURM}/{command.file}" for command in slurm.COMMANDS if not command.optional}
    return Part(Origin.SLURM, tuple(rows), versions, found=any(row.file in of_any_cluster for row in rows))


def _gathered(
    commands: Sequence[Command], origin: Origin, gathering: Gathering, progress: Progress
) -> list[CollectedRow]:
    placed = [structs.replace(command, file=f"{origin}/{command.file}") for command in commands]
    optional = {command.file for command in placed if command.optional}
    progress.more(len(placed))
    return gathering.collect(placed, lambda file, row: progress.done(file, row, optional=file in optional))


class _Meta(Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Named(Struct, frozen=True):
    metadata: _Meta = _Meta()


class _Pods(Struct, frozen=True):
    items: tuple[_Named, ...] = ()


def _pods(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Namespace and name of every pod in these lists."""
    found: list[tuple[str, str]] = []
    for file in files:
        try:
            listed = msgspec.json.decode(file.read_bytes(), type=_Pods)
        except msgspec.MsgspecError:  # no list of pods that Kubernetes would make: it names nobody's log
            continue
        found += [(pod.metadata.namespace, pod.metadata.name) for pod in listed.items]
    return found


class _GitVersion(Struct, frozen=True, rename="camel"):
    git_version: str = ""


class _Versions(Struct, frozen=True, rename="camel"):
    client_version: _GitVersion = _GitVersion()
    server_version: _GitVersion = _GitVersion()


def _versions(printed: str) -> tuple[tuple[str, str], ...]:
    try:
        told = msgspec.json.decode(printed.encode(), type=_Versions)
    except msgspec.MsgspecError:
        return ()
    pairs = (("kubernetes", told.server_version.git_version), ("kubectl", told.client_version.git_version))
    return tuple((name, value) for name, value in pairs if value)


def _why_nothing(part: Part) -> str:
    if part.reason:
        return f"{part.origin}: {part.reason}"
    first = next((row.complaint for row in part.rows if row.complaint), "nothing was printed")
    hint = f" ({_SOME_NAMESPACES})" if part.origin is Origin.KUBERNETES else ""
    return f"{part.origin}: {first}{hint}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
