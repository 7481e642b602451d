"""What an operator would read of a scenario, as text: changes with their summary, then who waits and will go on."""

from analyzer.engine import Engine
from analyzer.model.events import Certainty
from analyzer.model.findings import ChangeKind, Finding, FindingChange, Hardness, Waiting
from analyzer.model.limits import SECOND_NS


def change_text(change: FindingChange) -> str:
    """One line on what changed; for a finding that opens or changes its summary on the next."""
    finding = change.finding
    text = (
        f"{_time(change.at_ns):>5}  {change.kind:<8} {finding.rule} {{{', '.join(finding.members)}}}{_marks(finding)}"
    )
    if change.kind is ChangeKind.RESOLVED:
        return text + "\n"
    return f"{text}\n       {finding.summary}\n"


def end_text(engine: Engine) -> str:
    """Who waits at the end and will go on, and who must finish first; remarks."""
    rows = "".join(_row(row) for row in engine.waiting())
    return rows + "".join(f"  end  remark   {remark.subject}: {remark.text}\n" for remark in engine.remarks)


def _marks(finding: Finding) -> str:
    parts = []
    if finding.root is not None:
        parts.append(f"root {finding.root}")
    if finding.blocked_behind:
        parts.append(f"behind {{{', '.join(finding.blocked_behind)}}}")
    if finding.strength is Hardness.SOFT:
        parts.append("soft" + (f" until {_time(finding.dissolves_ns)}" if finding.dissolves_ns is not None else ""))
    if finding.certainty is Certainty.SUSPECTED:
        parts.append("suspected")
    if finding.idle_gpus:
        parts.append(f"{finding.idle_gpus} idle GPUs")
    if finding.cycle and len(finding.cycle) > 1:
        parts.append(" -> ".join((*finding.cycle, finding.cycle[0])))
    parts += [f"evicting {action.actor} frees {', '.join(action.then_runs)}" for action in finding.actions]
    return "".join(f"; {part}" for part in parts)


def _row(row: Waiting) -> str:
    first = ", ".join(row.first_to_finish) or ("nobody" if row.note else "nobody, it could start now")
    note = f" ({row.note})" if row.note else ""
    return f"  end  waits    {row.actor} for {row.needs}; first: {first}{note}\n"


def _time(at_ns: int) -> str:
    seconds = at_ns / SECOND_NS
    return f"{seconds:.0f}s" if seconds == int(seconds) else f"{seconds:g}s"
