"""The scheduler's messages, taken apart: wordings of many versions, seen in public reports (names replaced)."""

import pytest

from analyzer.sources.kubernetes.messages import parse, parse_refusal

FORMS: list[tuple[str, int | None, list[tuple[str, int | None, str]], bool | None]] = [
    (
        (
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. no new claims to deallocate, "
            "preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."
        ),
        4,
        [("short", 4, "nvidia.com/gpu")],
        False,
    ),
    (
        (
            "0/10 nodes are available: 1 Insufficient nvidia.com/gpu, 9 node(s) didn't match Pod's node "
            "affinity/selector. "
            "preemption: 0/10 nodes are available: 1 No preemption victims found for incoming pod, "
            "9 Preemption is not helpful for scheduling.."
        ),
        10,
        [("short", 1, "nvidia.com/gpu"), ("candidate", 9, "")],
        False,
    ),
    (
        (
            "0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod "
            "didn't tolerate, "
            "2 Insufficient memory."
        ),
        3,
        [("candidate", 1, ""), ("short", 2, "memory")],
        None,
    ),
    (
        (
            "No nodes are available that match all of the following predicates:: Insufficient cpu (15), "
            "Insufficient memory (17), MatchNodeSelector (18)."
        ),
        None,
        [("short", 15, "cpu"), ("short", 17, "memory"), ("candidate", 18, "")],
        None,
    ),
    ("no nodes available to schedule pods", None, [], None),
    ("0/6 nodes are available: 6 Too many pods.", 6, [("short", 6, "pods")], None),
    (
        "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.",
        3,
        [("ports", 3, "")],
        None,
    ),
    (
        "0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
        6,
        [("volume", None, "")],
        None,
    ),
    (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict.",
        3,
        [("short", 1, "cpu"), ("volume", 2, "")],
        None,
    ),
    (
        (
            "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) didn't match Pod's node "
            "affinity/selector. "
            "still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        ),
        2,
        [("unmodelled", 1, ""), ("candidate", 1, "")],
        False,
    ),
    (
        (
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. "
            "preemption: not eligible due to a terminating pod on the nominated node."
        ),
        4,
        [("short", 4, "nvidia.com/gpu")],
        True,
    ),
    (
        (
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: not eligible due to "
            "preemptionPolicy=Never."
        ),
        4,
        [("short", 4, "nvidia.com/gpu")],
        False,
    ),
    (
        "0/10 nodes are available: 1 Reservation(s) Insufficient cpu, requested: 4000, used: 30000, capacity: 32000.",
        10,
        [("unmodelled", 1, "")],
        None,
    ),
    (
        "0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 node(s) resource fit failed.",
        3,
        [("unmodelled", 1, ""), ("unmodelled", 2, "")],
        None,
    ),
    (
        (
            "0/20 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, "
            "19 node(s) didn't match node selector."
        ),
        20,
        [("company", 1, ""), ("candidate", 19, "")],
        None,
    ),
]


@pytest.mark.parametrize(("text", "nodes", "reasons", "victims"), FORMS)
def test_message(
    text: str, nodes: int | None, reasons: list[tuple[str, int | None, str]], *, victims: bool | None
) -> None:
    said = parse(text)
    assert said.nodes == nodes
    assert [(reason.kind.value, reason.count, reason.resource) for reason in said.reasons] == reasons
    assert said.victims is victims


@pytest.mark.parametrize("text", ["", "0/", "preemption:", "0/x nodes are available: y", "\x00", "1" * 5000])
def test_any_text_is_taken(text: str) -> None:
    assert parse(text).reasons == ()


def test_refusal_by_quota() -> None:
    refusal = parse_refusal(
        '(combined from similar events): Error creating: pods "a-0" is forbidden: exceeded quota: gpus, requested: '
        "cpu=4,requests.nvidia.com/gpu=8, used: cpu=1,requests.nvidia.com/gpu=8, "
        "limited: cpu=4,requests.nvidia.com/gpu=8"
    )
    assert refusal is not None
    assert refusal.quota == "gpus"
    assert refusal.requested == (("cpu", "4"), ("requests.nvidia.com/gpu", "8"))
    assert refusal.limited == (("cpu", "4"), ("requests.nvidia.com/gpu", "8"))
    assert parse_refusal('pods "x" is forbidden: violates PodSecurity "restricted:latest"') is None
