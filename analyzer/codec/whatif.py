"""The answer of `knotwatch whatif`, `knotwatch.whatif/v1`: a contract for other programs, as the report is.

Fields may be added, never renamed or removed. `docs/whatif.schema.json` is made from these types by `make docs`.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec
from msgspec import Struct

from analyzer.codec.times import format_time
from analyzer.hypothesis import Answer, Fate, FindingFate, Outlook, Turn
from analyzer.model.findings import Finding, Verdict

SCHEMA: Final = "knotwatch.whatif/v1"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class AskedRow(Struct, frozen=True):
    """One change of the hypothesis. `subject` is an actor, a node or a file; `value` a priority, else null."""

    do: Literal["evict", "submit", "drain", "add-node", "priority"]
    subject: str
    value: int | None = None


class ActorRow(Struct, frozen=True, kw_only=True):
    """What becomes of an actor that was named or submitted.

    `units`: what it takes if it starts now, what it frees if it is evicted, else what it holds. `waits_for`: who must
    finish first. `reasons`: why it never goes on, or could not be judged. `change`: the smallest further change that
    would start one that never goes on, "" if none was found.
    """

    actor: str
    fate: Fate
    units: dict[str, int]
    needs: str
    waits_for: tuple[str, ...]
    reasons: tuple[str, ...]
    note: str
    change: str


class TurnRow(Struct, frozen=True, kw_only=True):
    """A finding that would open, remain (as it would then be) or resolve (as it is)."""

    turn: Turn
    id: str
    rule: str
    verdict: Verdict
    members: tuple[str, ...]
    blocked_behind: tuple[str, ...]
    summary: str


class SafetyRow(Struct, frozen=True, kw_only=True):
    """The order in which those who wait can be served, who goes on in none, and whom this order leaves out.

    `exact`: every order was tried, where it matters, and every placement searched.
    """

    order: tuple[str, ...]
    stuck: tuple[str, ...]
    left_over: tuple[str, ...]
    exact: bool


class WhatIf(Struct, frozen=True, kw_only=True):
    """The whole answer. `safe`: all who wait can be served in one order, and the finite ones end.

    `go_on` were stuck and are not any more; `get_stuck` the reverse. `not_asked` are loops over time that are open now:
    a hypothesis about one moment says nothing about them. `unfinished`: drains that cannot end, one sentence each.
    """

    schema: Literal["knotwatch.whatif/v1"] = SCHEMA
    as_of: str
    asked: tuple[AskedRow, ...]
    safe: bool
    actors: tuple[ActorRow, ...]
    findings: tuple[TurnRow, ...]
    go_on: tuple[str, ...]
    get_stuck: tuple[str, ...]
    safety: SafetyRow
    not_asked: tuple[TurnRow, ...]
    unfinished: tuple[str, ...]
    notes: tuple[str, ...]


def whatif_rows(answer: Answer, asked: Sequence[AskedRow], notes: Sequence[str] = ()) -> WhatIf:
    """The answer as rows. `notes` are those of the sources, told before those of the answer."""
    safety = answer.safety
    return WhatIf(
        as_of=format_time(answer.at_ns),
        asked=tuple(asked),
        safe=safety.safe,
        actors=tuple(map(_actor_row, answer.outlooks)),
        findings=tuple(map(_turn_row, answer.findings)),
        go_on=answer.go_on,
        get_stuck=answer.get_stuck,
        safety=SafetyRow(order=safety.order, stuck=safety.stuck, left_over=safety.left_over, exact=safety.exact),
        not_asked=tuple(_finding_row(Turn.REMAINS, finding) for finding in answer.loops),
        unfinished=answer.unfinished,
        notes=tuple(dict.fromkeys((*notes, *answer.notes))),
    )


def _actor_row(outlook: Outlook) -> ActorRow:
    return ActorRow(
        actor=outlook.actor,
        fate=outlook.fate,
        units={str(resource): count for resource, count in outlook.units},
        needs=outlook.needs,
        waits_for=outlook.waits_for,
        reasons=outlook.reasons,
        note=outlook.note,
        change=outlook.change,
    )


def _turn_row(one: FindingFate) -> TurnRow:
    return _finding_row(one.turn, one.finding)


def _finding_row(turn: Turn, finding: Finding) -> TurnRow:
    return TurnRow(
        turn=turn,
        id=finding.id,
        rule=finding.rule,
        verdict=finding.verdict,
        members=finding.members,
        blocked_behind=finding.blocked_behind,
        summary=finding.summary,
    )


def encode_whatif(answer: WhatIf) -> bytes:
    """The answer as JSON, two blanks deep, with a line end at its end."""
    return msgspec.json.format(msgspec.json.encode(answer), indent=2) + b"\n"


def whatif_schema_text() -> str:
    """The JSON Schema, as it is checked in."""
    schema = {"$schema": _DIALECT, "title": SCHEMA} | msgspec.json.schema(WhatIf)
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"
