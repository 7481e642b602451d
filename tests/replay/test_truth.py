"""The judge itself: what it must object to, and what it must not accept as a statement."""

from typing import Any

import pytest

from tests.replay.truth import compare, parse_truth, parts_of


def _finding(**changes: Any) -> dict[str, Any]:
    finding = {
        "verdict": "DEADLOCK",
        "state": "open",
        "strength": "hard",
        "certainty": "proven",
        "members": ["gang/a/x", "gang/b/y"],
        "blocked_behind": ["pod/c/z"],
        "root": None,
        "idle_gpus": 8,
        "actions": [{"actor": "gang/b/y", "then_runs": ["gang/a/x"]}],
        "summary": "They wait\nfor each other.",
    }
    return {**finding, **changes}


def _report(*findings: dict[str, Any]) -> dict[str, Any]:
    waiting = [{"actor": "pod/d/w", "first_to_finish": ["pod/e/v"]}]
    return {"findings": list(findings), "waiting": waiting, "remarks": [{"kind": "disagreement", "subject": "pod/d/w"}]}


@pytest.mark.parametrize(
    "truth",
    [
        "DEADLOCK {gang/a/x, gang/b/y, pod/c/z}",
        "LIVELOCK|DEADLOCK hard proven {gang/*, pod/c/z} members {gang/a/x, gang/b/y}",
        "DEADLOCK {gang/a/x, gang/b/y} may {pod/c/*}  # a comment",
        "quiet\nmay DEADLOCK",
        "DEADLOCK {*}\nwaits pod/d/w for pod/e/*, pod/f/u\nwaits pod/d/*\nnever names pod/d/w",
        "DEADLOCK {*}\nevict gang/b/y then gang/a/x\nremark disagreement pod/d/*\nidle 8",
        "DEADLOCK {*}\nsays wait for each other",
    ],
)
def test_it_accepts_the_truth(truth: str) -> None:
    assert compare(parse_truth(truth), _report(_finding())) == []


@pytest.mark.parametrize(
    "truth",
    [
        "quiet",
        "DEADLOCK {gang/a/x, gang/b/y}",
        "DEADLOCK {gang/a/x, gang/b/y, pod/c/z, pod/c/more}",
        "DEADLOCK soft {*}",
        "DEADLOCK suspected {*}",
        "DEADLOCK {*} members {*, pod/c/z}",
        "DEADLOCK {*} members {gang/a/x}",
        "DEADLOCK {*} root gang/a/x",
        "LIVELOCK {*}",
        "DEADLOCK {*}\nDEADLOCK {*}",
        "quiet\nresolved DEADLOCK {*}",
        "DEADLOCK {*}\nwaits pod/d/w for pod/f/u",
        "DEADLOCK {*}\nwaits pod/x/y",
        "DEADLOCK {*}\nnever names pod/c/z",
        "DEADLOCK {*}\nevict gang/a/x then gang/b/y",
        "DEADLOCK {*}\nremark blind_spot *",
        "DEADLOCK {*}\nidle 9",
        "DEADLOCK {*}\nsays something else",
    ],
)
def test_it_objects_to_all_else(truth: str) -> None:
    assert compare(parse_truth(truth), _report(_finding())) != []


def test_a_resolved_finding_is_no_alarm() -> None:
    resolved = _finding(state="resolved")
    assert compare(parse_truth("quiet"), _report(resolved)) == []
    assert compare(parse_truth("quiet\nresolved DEADLOCK {*}"), _report(resolved)) == []
    assert compare(parse_truth("DEADLOCK {*}"), _report(resolved)) != []


@pytest.mark.parametrize(
    "typo", ["", "DEADLOCK", "quite", "DEADLOCK {*} root", "waits", "quiet\nDEADLOCK {*}", "DEADLOCK {*} x {y}"]
)
def test_a_typing_error_proves_nothing(typo: str) -> None:
    with pytest.raises(ValueError, match=r"say either|not a statement|not understood|waits"):
        parse_truth(typo)


def test_a_story_needs_its_divider() -> None:
    with pytest.raises(ValueError, match="needs a line"):
        parts_of("node gpu-0\nquiet\n")
