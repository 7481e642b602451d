"""Hypotheses over facts: each loud one with a quiet twin that differs in little."""

from pathlib import Path

from tests.whatif.asking import ask, fates, turns

KNOT = """resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 8}, waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 4}}}
  gang/blue/b: {holds: {gpu/n2: 8}, waits: {since: 2026-01-14T08:10:00Z, needs: {units: gpu/n1, count: 4}}}
  pod/green/c: {waits: {since: 2026-01-14T08:20:00Z, needs: {units: gpu/n1, count: 1}}}
"""
BUSY = """resources: {gpu/n1: 8, gpu/n2: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 8}}
  service/blue/b: {lifetime: endless, holds: {gpu/n2: 6}}
"""


def wanting(needs: str, more: str = "") -> str:
    return f"schema: knotwatch.facts/v1\nactors:\n  gang/green/x: {{waits: {{needs: {needs}}}{more}}}\n"


def test_evicting_a_member_resolves_the_knot(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--evict", "blue/b")
    assert rows["safe"]
    assert turns(rows) == [("resolves", "DEADLOCK", ["gang/blue/b", "gang/red/a"])]
    assert rows["go_on"] == ["gang/red/a", "pod/green/c"]
    assert rows["actors"][0]["units"] == {"gpu/n2": 8}


def test_evicting_a_bystander_does_not(tmp_path: Path) -> None:
    rows = ask(tmp_path, KNOT, "--evict", "green/c")
    assert turns(rows) == [("remains", "DEADLOCK", ["gang/blue/b", "gang/red/a"])]
    assert rows["safety"]["stuck"] == ["gang/blue/b", "gang/red/a"]


def test_who_is_submitted_starts_waits_or_never_goes_on(tmp_path: Path) -> None:
    for needs, fate in (
        ("{units: gpu/n2, count: 2}", "starts_now"),
        ("{units: gpu/n1, count: 2}", "waits"),
        ("{units: gpu/n2, count: 3}", "never"),
        ("{pods: 1, each: {gpu: 4}, among: [n1, n2]}", "waits"),
        ("{done: gang/red/a}", "waits"),
        ("{done: service/blue/b}", "never"),
        ("{ready: [service/blue/b]}", "starts_now"),
        ("{ready: [gang/green/x]}", "never"),
    ):
        rows = ask(tmp_path, BUSY, "--submit", "{extra}", extra=wanting(needs))
        assert fates(rows) == {"gang/green/x": fate}, needs
        assert rows["safe"] == (fate != "never")
        row = rows["actors"][0]
        assert row["waits_for"] == (["gang/red/a"] if fate == "waits" else [])
        assert bool(row["reasons"]) == (fate == "never")


def test_what_one_takes_the_next_does_not_find(tmp_path: Path) -> None:
    both = """schema: knotwatch.facts/v1
actors:
  gang/green/x: {waits: {needs: {units: gpu/n2, count: 2}}}
  gang/green/y: {priority: 5, waits: {needs: {units: gpu/n2, count: 1}}}
"""
    rows = ask(tmp_path, BUSY, "--submit", "{both}", both=both)
    assert fates(rows) == {"gang/green/x": "waits", "gang/green/y": "starts_now"}  # the more important one first
    assert rows["actors"][0]["waits_for"] == ["gang/green/y"]
    endless = both.replace("{priority: 5", "{priority: 5, lifetime: endless")
    rows = ask(tmp_path, BUSY, "--submit", "{both}", both=endless)
    assert fates(rows) == {"gang/green/x": "never", "gang/green/y": "starts_now"}


def test_granting_to_a_service_may_make_others_stuck(tmp_path: Path) -> None:
    needs = "{pods: 2, each: {gpu: 2}, among: [n2]}"
    queue = f"{BUSY}  gang/old/q: {{waits: {{since: 2026-01-14T08:00:00Z, needs: {needs}}}}}\n"
    queue = queue.replace("gpu/n2: 6", "gpu/n2: 4")
    finite = ask(tmp_path, queue, "--submit", "{extra}", extra=wanting("{units: gpu/n2, count: 1}"))
    assert finite["safe"]
    for_good = wanting("{units: gpu/n2, count: 1}", ", lifetime: endless")
    rows = ask(tmp_path, queue, "--submit", "{extra}", extra=for_good)
    assert fates(rows) == {"gang/green/x": "starts_now"}
    assert rows["get_stuck"] == ["gang/old/q"]
    assert turns(rows) == [("opens", "UNPLACEABLE", ["gang/old/q"])]


def test_two_services_for_one_place_are_not_safe(tmp_path: Path) -> None:
    two = "".join(
        f"  service/x/{name}: {{lifetime: endless, "
        "waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 5}}}\n"
        for name in ("one", "two")
    )
    rows = ask(tmp_path, BUSY + two, "--priority", "x/one=0")
    assert not rows["safe"]
    assert rows["findings"] == []
    assert rows["safety"]["left_over"] == ["service/x/two"]
    assert rows["safety"]["exact"]
    quiet = ask(tmp_path, BUSY + two.replace("count: 5", "count: 4"), "--priority", "x/one=0")
    assert quiet["safe"]
    assert quiet["safety"]["order"] == ["service/x/one", "service/x/two"]


def test_the_evicted_are_never_ready_but_have_ended(tmp_path: Path) -> None:
    for needs, safe in (
        ("{ready: [gang/red/a]}", False),
        ("{ready: [gang/red/a, service/blue/b], quorum: 1}", True),
        ("{done: gang/red/a}", True),
    ):
        waiter = f"  job/x/w: {{waits: {{since: 2026-01-14T08:00:00Z, needs: {needs}}}}}\n"
        rows = ask(tmp_path, BUSY + waiter, "--evict", "red/a")
        assert rows["safe"] == safe, needs
        if not safe:
            assert "is evicted" in rows["findings"][0]["summary"]


def test_who_comes_back_is_said(tmp_path: Path) -> None:
    back = KNOT.replace("gang/blue/b: {", "gang/blue/b: {recreated: true, ")
    assert "made anew at once" in ask(tmp_path, back, "--evict", "blue/b")["notes"][0]
    assert ask(tmp_path, KNOT, "--evict", "blue/b")["notes"] == []


def test_who_is_drained_needs_the_same_elsewhere(tmp_path: Path) -> None:
    state = """resources: {gpu/n1: 8, gpu/n2: 8, cpu/n1: 64, cpu/n2: 64}
actors:
  pod/red/a: {holds: {gpu/n1: 6, cpu/n1: 8}}
  service/blue/b: {lifetime: endless, holds: {gpu/n2: 2}}
"""
    rows = ask(tmp_path, state, "--drain", "n1")
    assert fates(rows) == {"pod/red/a": "starts_now"}
    assert rows["safe"]
    rows = ask(tmp_path, state.replace("gpu/n2: 2}", "gpu/n2: 3}"), "--drain", "n1")
    assert fates(rows) == {"pod/red/a": "never"}
    assert turns(rows) == [("opens", "UNPLACEABLE", ["pod/red/a"])]
    rows = ask(tmp_path, state, "--drain", "n2")
    assert fates(rows) == {"service/blue/b": "starts_now"}


def test_a_gang_keeps_the_rest_when_one_node_is_drained(tmp_path: Path) -> None:
    state = """resources: {gpu/n1: 8, gpu/n2: 8, gpu/n3: 8}
actors:
  gang/red/a: {holds: {gpu/n1: 8, gpu/n2: 8}}
  gang/blue/b: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 2, each: {gpu: 8}, among: [n1, n2, n3]}}}
"""
    rows = ask(tmp_path, state, "--drain", "n1")
    assert rows["actors"][0]["units"] == {"gpu/n2": 8}
    assert rows["safe"]  # red moves to n3, ends, and then blue has n2 and n3
    rows = ask(tmp_path, state, "--drain", "n1", "--drain", "n3")
    assert not rows["safe"]


def test_daemons_go_with_their_node(tmp_path: Path) -> None:
    state = """resources: {cpu/n1: 2, cpu/n2: 2}
actors:
  pod/kube/d1: {owner: DaemonSet kube/d, lifetime: endless, holds: {cpu/n1: 2}}
  pod/kube/d2: {owner: DaemonSet kube/d, lifetime: endless, holds: {cpu/n2: 2}}
"""
    assert ask(tmp_path, state, "--drain", "n1")["safe"]
    assert not ask(tmp_path, state.replace("owner: DaemonSet kube/d", "owner: Deployment kube/d"), "--drain", "n1")[
        "safe"
    ]


def test_a_node_that_comes_is_for_those_who_may_go_anywhere(tmp_path: Path) -> None:
    state = """resources: {gpu/n1: 4, gpu/n2: 4}
actors:
  gang/red/a: {waits: {since: 2026-01-14T08:00:00Z, needs: {pods: 3, each: {gpu: 4}, among: [n1, n2]}}}
"""
    node = "schema: knotwatch.facts/v1\nresources: {gpu/n3: 4}\n"
    rows = ask(tmp_path, state, "--add-node", "{node}", node=node)
    assert rows["safe"]
    assert turns(rows) == [("resolves", "UNPLACEABLE", ["gang/red/a"])]
    rows = ask(tmp_path, state.replace("[n1, n2]", "[n1]"), "--add-node", "{node}", node=node)
    assert not rows["safe"]
    assert "names its nodes" in rows["notes"][0]
    rows = ask(tmp_path, state, "--add-node", "{node}", node=node.replace("4", "3"))
    assert not rows["safe"]
    assert rows["notes"] == []


def test_a_higher_priority_may_preempt(tmp_path: Path) -> None:
    state = """resources: {gpu/n1: 8}
actors:
  service/red/a: {lifetime: endless, preemptible: true, priority: 5, holds: {gpu/n1: 8}}
  gang/blue/b: {waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n1, count: 4}}}
"""
    assert fates(ask(tmp_path, state, "--priority", "blue/b=10")) == {"gang/blue/b": "waits"}
    assert fates(ask(tmp_path, state, "--priority", "blue/b=5")) == {"gang/blue/b": "never"}


def test_holding_what_is_not_free_means_asking_for_it(tmp_path: Path) -> None:
    submitted = "schema: knotwatch.facts/v1\nactors:\n  gang/green/x: {holds: {gpu/n1: 4}}\n"
    assert fates(ask(tmp_path, BUSY, "--submit", "{extra}", extra=submitted)) == {"gang/green/x": "waits"}
    assert (
        fates(ask(tmp_path, BUSY, "--submit", "{extra}", "--evict", "red/a", extra=submitted))["gang/green/x"] == "runs"
    )


def test_the_order_of_options_does_not_matter(tmp_path: Path) -> None:
    node = "schema: knotwatch.facts/v1\nresources: {gpu/n3: 4}\n"
    submitted = wanting("{units: gpu/n2, count: 2}")
    one = ask(
        tmp_path,
        KNOT,
        "--drain",
        "n1",
        "--evict",
        "green/c",
        "--add-node",
        "{node}",
        "--submit",
        "{extra}",
        node=node,
        extra=submitted,
    )
    other = ask(
        tmp_path,
        KNOT,
        "--submit",
        "{extra}",
        "--add-node",
        "{node}",
        "--evict",
        "green/c",
        "--drain",
        "n1",
        node=node,
        extra=submitted,
    )
    assert one == other
