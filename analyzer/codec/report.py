"""The report `knotwatch.report/v1`: a contract for other programs. Fields may be added, never renamed or removed.

Times are RFC 3339 in UTC. Order of keys is the order of the fields here. `docs/report.schema.json` is made from these
types by `python -m analyzer.codec.schema`, and a test holds it in step.
"""

from typing import Final, Literal

import msgspec
from msgspec import Struct

from analyzer.model.events import Certainty, ExcuseKind, RemarkKind
from analyzer.model.findings import ActionKind, ChangeKind, Hardness, Verdict

SCHEMA: Final = "knotwatch.report/v1"

NO_ACTORS: Final = "actors"
"""Subject of the blind spot that there is nobody in the input who could be stuck."""


class Note(Struct, frozen=True):
    """One sentence about a place in a file. `line` is null for the file as a whole."""

    line: int | None
    text: str


class SourceRow(Struct, frozen=True, kw_only=True):
    """One input file: what it was taken for, how many records it gave, how many were not understood, its times."""

    path: str
    kind: str
    records: int
    skipped: int
    first: str | None
    last: str | None
    notes: tuple[Note, ...]


class CitationRow(Struct, frozen=True):
    """Where it is written. `line` counts from 1; null if the place in the file is not known."""

    path: str
    line: int | None


class EdgeRow(Struct, frozen=True, kw_only=True):
    """Waiter waits for holder, over a resource (null: for the holder to end or to be ready)."""

    waiter: str
    holder: str
    resource: str | None
    amount: int
    hardness: Hardness
    since: str
    assumption: str


class CostRow(Struct, frozen=True, kw_only=True):
    """What an action costs. `gpu_hours_lost` is null where nothing is known about the start."""

    gpu_hours_lost: float | None
    gpus: int
    priority: int
    useless: bool


class ActionRow(Struct, frozen=True, kw_only=True):
    """A proposal: nobody carries it out but people. It helps only if those in `together_with` are stopped as well."""

    kind: ActionKind
    actor: str
    frees: dict[str, int]
    then_runs: tuple[str, ...]
    cost: CostRow
    together_with: tuple[str, ...]


class FindingRow(Struct, frozen=True, kw_only=True):
    """One finding. `resolved_at` is null while it is open; a resolved one is shown as it was last."""

    id: str
    rule: str
    verdict: Verdict
    strength: Hardness
    certainty: Certainty
    state: Literal["open", "resolved"]
    opened_at: str
    since: str
    resolved_at: str | None
    layers: tuple[str, ...]
    members: tuple[str, ...]
    blocked_behind: tuple[str, ...]
    cleared: tuple[str, ...]
    root: str | None
    edges: tuple[EdgeRow, ...]
    idle_gpus: int
    summary: str
    actions: tuple[ActionRow, ...]
    citations: tuple[CitationRow, ...]
    cycle: tuple[str, ...]
    dissolves_at: str | None
    method: str
    details: tuple[str, ...]


class WaitingRow(Struct, frozen=True, kw_only=True):
    """Somebody who waits and is not stuck. `first_to_finish` is empty where it could start now.

    `excuse` is null where it is proven to go on; else somebody is acting, or it could not be judged ("blind",
    "disputed"), and `note` says why.
    """

    actor: str
    since: str
    needs: str
    first_to_finish: tuple[str, ...]
    note: str
    excuse: ExcuseKind | None = None


class ChangeRow(Struct, frozen=True, kw_only=True):
    """What became of a finding, and when. `stuck`: how many were members of it, or blocked behind, just then."""

    at: str
    change: ChangeKind
    id: str
    verdict: Verdict
    summary: str
    stuck: int = 0
    idle_gpus: int = 0


class WindowRow(Struct, frozen=True, kw_only=True):
    """The part of the history that was asked for; `history` and resolved findings are of this part alone.

    `open_before`: what had opened before the start and was open then, each as it was last told, `at` when it opened.
    """

    start: str
    end: str
    open_before: tuple[ChangeRow, ...]


class RemarkRow(Struct, frozen=True, kw_only=True):
    """What has to be said beside findings."""

    kind: RemarkKind
    subject: str
    text: str
    citations: tuple[CitationRow, ...]


class Report(Struct, frozen=True, kw_only=True):
    """What one replay says. `as_of` is null where the input holds no time at all, `window` where all was asked for."""

    schema: Literal["knotwatch.report/v1"] = SCHEMA
    as_of: str | None
    sources: tuple[SourceRow, ...]
    findings: tuple[FindingRow, ...]
    waiting: tuple[WaitingRow, ...]
    history: tuple[ChangeRow, ...]
    remarks: tuple[RemarkRow, ...]
    window: WindowRow | None = None


def encode_report(report: Report) -> bytes:
    """The report as JSON, two blanks deep, with a line end at its end; always the same bytes for the same report."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def decode_report(content: bytes) -> Report:
    """The report of these bytes. Raises msgspec.DecodeError, in its words, if they are none."""
    return msgspec.json.decode(content, type=Report)
