"""A proposal in words: what is done, to whom, what it frees and costs, and when a command may stand below it."""

from pathlib import Path

import pytest

from analyzer.codec.report import ActionRow, CostRow
from analyzer.model.findings import ActionKind
from analyzer.run import replay
from analyzer.sinks.phrases import action_text, clock, commands, joined, names, plural


def action(actor: str, *together_with: str, hours: float | None = 2.0, useless: bool = False) -> ActionRow:
    return ActionRow(
        kind=ActionKind.EVICT,
        actor=actor,
        frees={"cpu/n1": 4, "gpu/n1": 8},
        then_runs=("gang/x/y",),
        cost=CostRow(gpu_hours_lost=hours, gpus=8, priority=0, useless=useless),
        together_with=together_with,
    )


def test_only_what_somebody_waits_for_is_named_as_freed() -> None:
    assert action_text(action("gang/x/a"), {"gpu"}, orphan=False) == (
        "Stop gang/x/a\nfrees 8 gpu on n1; then gang/x/y can go on\nprice: 2.0 GPU-hours of work on 8 GPUs"
    )
    freed = action_text(action("gang/x/a"), {"lock"}, orphan=False)
    assert "frees 8 gpu on n1;" in freed, "nobody waits for any of it: cards are told before all else"


@pytest.mark.parametrize(
    ("actor", "orphan", "first", "command"),
    [
        ("pod/ns/p", False, "Stop pod/ns/p", ["kubectl delete pod p --namespace ns"]),
        ("gang/ns/g", False, "Stop gang/ns/g", []),
        ("pod/ns/p", True, "Release what is held by pod/ns/p", ["kubectl delete pod p --namespace ns"]),
        ("quota/ns/q", True, "Have the books of quota/ns/q counted anew", []),
    ],
)
def test_the_act_fits_the_actor_and_a_command_does_exactly_that(
    actor: str,
    orphan: bool,  # noqa: FBT001  pytest passes it by name
    first: str,
    command: list[str],
) -> None:
    assert action_text(action(actor), {"gpu"}, orphan=orphan).split("\n")[0] == first
    assert commands(action(actor)) == command


@pytest.mark.parametrize("actor", ["pod/ns/--all", "pod/ns/p; reboot", "pod/$(reboot)/p", "pod/ns/", "drain/node/-l"])
def test_a_name_that_a_shell_would_take_for_something_else_makes_no_command(actor: str) -> None:
    assert commands(action(actor)) == []


def test_a_useless_act_says_so_and_offers_no_command() -> None:
    useless = action("pod/ns/p", useless=True)
    assert "useless by itself" in action_text(useless, {"gpu"}, orphan=False)
    assert commands(useless) == []


def test_what_helps_only_together_is_one_proposal_with_one_price() -> None:
    (one,) = joined([action("a", "b"), action("b", "a")])
    assert (one.frees, one.cost.gpu_hours_lost, one.cost.gpus) == ({"cpu/n1": 8, "gpu/n1": 16}, 4.0, 16)
    assert action_text(one, {"gpu"}, orphan=False).startswith("Stop a, together with b\n")
    (unknown,) = joined([action("a", "b"), action("b", "a", hours=None)])
    assert unknown.cost.gpu_hours_lost is None
    assert [row.actor for row in joined([action("a"), action("b")])] == ["a", "b"]


def test_small_words() -> None:
    assert clock("2026-01-14T09:00:00Z") == "2026-01-14 09:00 UTC"
    assert clock("2026-01-14T09:00:05.25Z") == "2026-01-14 09:00:05 UTC"
    assert names(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert names(["a", "b"], 2) == "a and b"
    assert plural("request that can never be met", 2) == "requests that can never be met"


def test_who_loops_is_not_said_to_go_on(tmp_path: Path) -> None:
    lines = ['{"schema": "knotwatch.facts/v1", "resources": {"gpu/n1": 8}}']
    for minute in range(0, 40, 8):
        for who, other, at in (("a", "b", minute), ("b", "a", minute + 4)):
            time = f'"at": "2026-01-14T08:{at:02d}:00Z"'
            lines.append(f'{{{time}, "actor": "{who}", "holds": {{"gpu/n1": 8}}}}')
            lines.append(f'{{{time}, "actor": "{other}", "waits": {{"needs": {{"units": "gpu/n1", "count": 8}}}}}}')
    (tmp_path / "loop.jsonl").write_text("\n".join(lines))
    report = replay([str(tmp_path)]).report
    assert [row.verdict for row in report.findings if row.state == "open"] == ["LIVELOCK"]
    assert report.waiting == ()
