"""What the entries of a facts file mean, and what a wrong one costs: itself, with one sentence."""

import json

import pytest

from analyzer.codec.times import parse_time
from analyzer.model.events import ActorObserved, Certainty, ExcuseKind, Lifetime
from analyzer.model.ids import ActorId, ResourceId
from analyzer.model.requests import Arrivals, Done, KOutOfN, Never, Pods, Request, Units
from tests.facts.reading import DECLARED, actor, complaints, events, recording

SINCE = parse_time("2026-01-14T08:00:00Z")


def waiting(needs: str) -> str:
    wait = f"waits: {{since: 2026-01-14T08:00:00Z, needs: {needs}}}"
    return DECLARED + f"actors:\n  a: {{lifetime: endless, holds: {{gpu/n1: 4}},\n    {wait}}}\n  b: {{}}\n"


@pytest.mark.parametrize(
    ("needs", "request_"),
    [
        ("{units: gpu/n1, count: 4}", Units(ResourceId("gpu/n1"), 4)),
        ("{pods: 2, each: {gpu: 4, cpu: 1}, among: [n2, n1]}", Pods(2, (("cpu", 1), ("gpu", 4)), ("n1", "n2"))),
        ("{pods: 2, each: {gpu: 4}, among: [n1], per_node_max: 1}", Pods(2, (("gpu", 4),), ("n1",), 1)),
        ("{pods: 1, each: {gpu: 1}, among: []}", Pods(1, (("gpu", 1),), ())),
        ("{done: pod/x/y}", Done(ActorId("pod/x/y"))),
        ("{ready: [c, b, c]}", Arrivals((ActorId("b"), ActorId("c")), 2)),
        ("{ready: [c, b], quorum: 1}", Arrivals((ActorId("b"), ActorId("c")), 1)),
        ("{never: it was deleted}", Never("it was deleted")),
        ("{all: [{done: x}, {done: y}]}", KOutOfN(2, (Done(ActorId("x")), Done(ActorId("y"))))),
        ("[{done: x}, {done: y}]", KOutOfN(2, (Done(ActorId("x")), Done(ActorId("y"))))),
        ("{any: [{done: x}, {done: y}]}", KOutOfN(1, (Done(ActorId("x")), Done(ActorId("y"))))),
        ("{any: [{done: x}]}", Done(ActorId("x"))),
        ("{all: []}", KOutOfN(0, ())),
        (
            "{at_least: {k: 2, of: [{done: x}, {done: y}, {done: z}]}}",
            KOutOfN(2, (Done(ActorId("x")), Done(ActorId("y")), Done(ActorId("z")))),
        ),
        ("{at_least: 1, of: [{done: x}, {done: y}]}", KOutOfN(1, (Done(ActorId("x")), Done(ActorId("y"))))),
        ("{all: [{any: [{all: [{done: x}]}]}]}", Done(ActorId("x"))),
    ],
)
def test_needs_become_requests(needs: str, request_: Request) -> None:
    wait = actor(waiting(needs)).wait
    assert wait is not None
    assert wait.request == request_
    assert wait.since_ns == SINCE


@pytest.mark.parametrize(
    ("needs", "sentence"),
    [
        ("{units: gpu/n1}", 'a: how many units are needed? Add "count".'),
        ('{units: gpu/n1, count: "4"}', 'a: "count" must be a whole number without quotes, not the text "4".'),
        ("{units: gpu/n1, count: 4.5}", 'a: "count" must be a whole number without quotes, not 4.5.'),
        ("{units: gpu/n1, count: .nan}", 'a: "count" must be a whole number without quotes, not the text ".nan".'),
        ("{units: gpu/n1, count: true}", 'a: "count" must be a whole number without quotes, not true.'),
        ("{units: gpu/n1, count: -1}", 'a: "count" must be 0 or more, not -1.'),
        ("{units: gpu/n1, count: 99999999999999999}", 'a: "count" is larger than 9007199254740992, the most that is'),
        ("{units: gpu/n1, counts: 4}", 'a: the key "counts" is not known here; did you mean "count"?'),
        ("{units: gpu/n3, count: 4}", "a: resource gpu/n3 is needed but not declared: add it under resources."),
        (
            "{pods: 1, each: {gpu: 1}, among: [n3]}",
            "a: node n3 is a candidate but not declared: add it under resources",
        ),
        ("{pods: 1, among: [n1]}", 'a: pods need "each": what one pod takes.'),
        ("{pods: 1, each: {gpu: 1}, among: n1}", 'a: "among" must be a list, not the text "n1".'),
        ("{unit: gpu/n1, count: 1}", 'a: this request says none of the things that can be waited for; did you mean "u'),
        ("{}", "a: this request says none of the things that can be waited for; known are units,"),
        ("{done: x, never: y}", "a: one request says one thing, here done and never: write them as a list."),
        ("{ready: [x], quorum: 2}", "a: the quorum of 2 is more than the 1 actors listed."),
        ("{any: []}", 'a: one of nothing can never be met: list the ways, or say {never: "why"}.'),
        ("{at_least: {k: 3, of: [{done: x}]}}", "a: at least 3 of 1 can never be met: list more, or ask for fewer."),
        ("nothing", 'a: "needs" must be a mapping of keys to values, not the text "nothing".'),
        ("{units: gpu/n1, count: 1, count: 2}", 'a: "count" must be a whole number without quotes, not a key that sta'),
        ("[" * 40 + "]" * 40, "a: needs are nested more than 32 levels deep."),
    ],
)
def test_a_wrong_need_costs_its_wait_and_one_sentence(needs: str, sentence: str) -> None:
    text = waiting(needs)
    told = complaints(text)
    assert len(told) == 1
    assert told[0].text.startswith(sentence)
    assert told[0].text.endswith(" Its wait is not judged.")
    assert told[0].line in (5, 6), "the actor's line, or the one where the wrong value stands"
    found = actor(text)
    assert found.wait is not None
    assert found.wait.excuse is not None
    assert (found.wait.excuse.kind, found.wait.since_ns) == (ExcuseKind.BLIND, SINCE)
    assert (found.holds, found.lifetime) == ((("gpu/n1", 4),), Lifetime.ENDLESS), "what it holds stays held"
    assert actor(text, "b").wait is None


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("hold: {gpu/n1: 1}", 'a: the key "hold" is not known here; did you mean "holds"?'),
        ("holds: {gpu/node-9: 1}", "a: resource gpu/node-9 is held but not declared: add it under resources."),
        ("holds: [gpu/n1]", 'a: "holds" must be a mapping of keys to values, not a list.'),
        ("lifetime: forever", "a: a lifetime is finite, endless, unknown or {until: TIME}."),
        ("lifetime: {until: soon}", 'a: "until" must be a time such as 2026-01-14T09:00:00Z, not the text "soon".'),
        ("certainty: maybe", "a: certainty is proven or suspected."),
        ("preemptible: 1", 'a: "preemptible" must be true or false, not 1.'),
        ("priority: high", 'a: "priority" must be a whole number without quotes, not the text "high".'),
        ("waits: {since: 2026-01-14T08:00:00Z}", 'a: a wait needs "needs": what must be there for it to go on.'),
        ("waits: {since: 1768377600, needs: {done: b}}", 'a: "since" must be a time such as 2026-01-14T09:00:00Z, not'),
        ("gpus: !!python/object/apply:os.system [ls]", 'a: "gpus" must be a whole number without quotes, not a list.'),
        ("gpus: !!binary aGVsbG8=", 'a: "gpus" must be a whole number without quotes, not a value with the tag binary'),
        ("gpus: 0x10", 'a: "gpus" must be a whole number without quotes, not the text "0x10".'),
        ("gpus: 1:30", 'a: "gpus" must be a whole number without quotes, not the text "1:30".'),
    ],
)
def test_a_wrong_field_costs_itself_and_one_sentence(entry: str, sentence: str) -> None:
    text = DECLARED + f"actors:\n  a:\n    {entry}\n  b: {{}}\n"
    told = complaints(text)
    assert len(told) == 1
    assert told[0].text.startswith(sentence)
    assert told[0].line in (5, 6)
    found = actor(text)
    assert found.wait is None or found.wait.excuse is not None
    assert actor(text, "b").wait is None


def test_an_actor_has_the_defaults_of_the_format() -> None:
    found = actor(DECLARED + "actors: {a: {holds: {gpu/n1: 2, lock/a: 1, gpu/n2: 0}}}")
    assert found.holds == (("gpu/n1", 2), ("lock/a", 1))
    assert (found.lifetime, found.gpus, found.priority, found.preemptible) == (Lifetime.FINITE, 2, 0, False)
    assert (found.certainty, found.wait, found.progress) == (Certainty.PROVEN, None, None)


def test_every_field_is_read() -> None:
    found = actor(
        DECLARED
        + """actors:
  a:
    lifetime: {until: 2026-01-14T10:00:00Z}
    gpus: 456
    priority: -5
    preemptible: true
    recreated: true
    certainty: suspected
    running_since: 2026-01-14T07:00:00Z
    checkpoint: "2026-01-14T07:30:00+00:00"
    progress: 7
    owner: Job  team-red/pretrain
    holds: {nvidia.com/gpu: 1}
    waits: {since: 2026-01-14 08:00:00, needs: {done: b}, said: "0/4 nodes\\n are available"}
""".replace("nvidia.com/gpu", "gpu/n1")
    )
    assert found.lifetime is Lifetime.DATED
    assert found.until_ns == parse_time("2026-01-14T10:00:00Z")
    assert (found.gpus, found.priority, found.preemptible, found.recreated) == (456, -5, True, True)
    assert found.certainty is Certainty.SUSPECTED
    assert found.running_since_ns == parse_time("2026-01-14T07:00:00Z")
    assert found.checkpoint_ns == parse_time("2026-01-14T07:30:00Z")
    assert (found.progress, found.owner) == (7, "Job team-red/pretrain")
    assert found.wait is not None
    assert (found.wait.since_ns, found.wait.said, found.wait.preempts) == (SINCE, "0/4 nodes are available", True)


def test_a_wait_preempts_only_with_a_priority_and_unless_it_is_said_that_it_does_not() -> None:
    wait = "waits: {since: 2026-01-14T08:00:00Z, needs: {done: b}%s}"
    for entry, preempts in (
        (wait % "", False),
        ("priority: 1, " + wait % "", True),
        ("priority: 1, " + wait % ", preempts: false", False),
    ):
        found = actor(DECLARED + f"actors: {{a: {{{entry}}}}}")
        assert found.wait is not None
        assert found.wait.preempts is preempts


def test_json_and_yaml_say_the_same() -> None:
    state = {
        "schema": "knotwatch.facts/v1",
        "as_of": "2026-01-14T09:00:00Z",
        "resources": {"gpu/n1": 8},
        "actors": {
            "a": {"holds": {"gpu/n1": 4}, "waits": {"since": "2026-01-14T08:00:00Z", "needs": {"done": "b"}}},
            "b": {"lifetime": "endless"},
        },
    }
    import yaml

    assert (
        events(json.dumps(state))
        == events(json.dumps(state, indent=1))
        == events(yaml.safe_dump(state, sort_keys=False))
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_lines_of_json_places(indent: int | None) -> None:
    text = json.dumps(
        {"schema": "knotwatch.facts/v1", "resources": {"gpu/n1": 8}, "actors": {"a": {}, "b": {"gpus": -1}}},
        indent=indent,
    )
    told = complaints(text)
    where = next(number for number, line in enumerate(text.split("\n"), 1) if "gpus" in line)
    assert [complaint.line for complaint in told] == [where]
    found = recording(text)
    cited = {
        event.actor: event.citations[0]
        for batch in found.batches
        for event in batch.events
        if isinstance(event, ActorObserved)
    }
    assert found.line_of(*cited[ActorId("a")]) == next(
        number for number, line in enumerate(text.split("\n"), 1) if '"a"' in line
    )


def test_a_key_that_stands_twice_leaves_nothing_sure_of_what_it_names() -> None:
    for text in (
        DECLARED + "actors:\n  a: {}\n  a: {gpus: 1}\n  b: {}\n",
        '{"schema": "knotwatch.facts/v1",\n"actors": {\n"a": {},\n"a": {"gpus": 1},\n"b": {}}}',
    ):
        told = complaints(text)
        assert len(told) == 1
        assert "stands twice" in told[0].text
        found = actor(text)
        assert (found.holds, found.wait, found.lifetime) == ((), None, Lifetime.UNKNOWN)
        assert actor(text, "b").lifetime is Lifetime.FINITE


def test_aliases_that_grow_beyond_all_bounds_are_refused() -> None:
    lines = ["schema: knotwatch.facts/v1", "actors:", "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert complaints("\n".join(lines))[0].text == "grows beyond all bounds where its aliases are written out."


def test_an_alias_to_itself_is_refused() -> None:
    told = complaints(DECLARED + "actors:\n  a: &a {waits: *a}\n  b: {}\n")
    assert len(told) == 1
    assert "nested" in told[0].text or "known" in told[0].text


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("schema: knotwatch.facts/v1\nactors: [\n", 3, "is not valid YAML:"),
        ("schema: knotwatch.facts/v1\nactors:\n\ta: {}\n", 3, "is not valid YAML:"),
        ('{"schema": "knotwatch.facts/v1",\n"actors": {"a": {},\n', 3, "breaks off here: is the file complete?"),
        ('{"schema": "knotwatch.facts/v1",\n"actors": {"a" {}}}\n', 2, "is not valid JSON:"),
        (
            "schema: knotwatch.facts/v2\nactors: {}\n",
            1,
            'this reads "schema: knotwatch.facts/v1", not the text "knotwa',
        ),
        ("schema: knotwatch.facts/v1\nactor: {}\n", 2, 'the key "actor" is not known here; did you mean "actors"?'),
        ("schema: knotwatch.facts/v1\nactors: [a]\n", 2, '"actors" must be a mapping of keys to values, not a list.'),
        ("schema: knotwatch.facts/v1\nas_of: noon\n", 2, '"as_of" must be a time such as 2026-01-14T09:00:00Z, not'),
        (
            "schema: knotwatch.facts/v1\nresources: {gpu/n1: 1.5}\n",
            2,
            '"gpu/n1" must be a whole number without quotes,',
        ),
        ("schema: knotwatch.facts/v1\nresources: {gpu/n1: x\x01}\n", 2, "holds a character that YAML does not allow."),
    ],
)
def test_a_broken_document_costs_one_sentence_with_its_line(text: str, line: int, sentence: str) -> None:
    told = complaints(text)
    assert [complaint.line for complaint in told] == [line]
    assert told[0].text.startswith(sentence)


def test_two_documents_of_one_stream_are_both_read() -> None:
    text = DECLARED + "actors: {a: {}}\n---\nschema: knotwatch.facts/v1\nactors: {b: {}}\n---\nother: 1\n"
    assert [event.actor for event in events(text) if isinstance(event, ActorObserved)] == ["a", "b"]
    assert len(complaints(text)) == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_the_schema_may_come_last_of_much(as_json: bool) -> None:  # noqa: FBT001  pytest passes it by name
    import yaml

    state = {"actors": {f"a{n}": {} for n in range(9000)}, "resources": {}, "schema": "knotwatch.facts/v1"}
    text = json.dumps(state, indent=1) if as_json else yaml.dump(state, Dumper=yaml.CSafeDumper)
    assert len(text) > 1 << 16
    assert len(events(text)) == 9000


@pytest.mark.parametrize("text", ["actors: {a: {}}\n", '{"actors": {"a": {}}}'])
def test_a_text_of_ours_without_a_schema_is_told_so(text: str) -> None:
    told = complaints(text)
    assert told[0].text == '"schema: knotwatch.facts/v1" is missing: the document is left out until it says so.'


@pytest.mark.parametrize(
    "text",
    [
        "resources: [deployment.yaml]\nkind: Kustomization\n",
        "kind: List\nitems: []\n",
        '{"apiVersion": "v1", "data": {"f": "schema: knotwatch.facts/v1"}}',
        "kind: ConfigMap\ndata:\n  facts: |\n    schema: knotwatch.facts/v1\n",
        "I0114 09:00:00.000000 1 main.go:1] schema: knotwatch.facts/v1\n",
        '{"at": 1}\n',
        "",
    ],
)
def test_other_texts_are_not_taken_for_facts(text: str) -> None:
    from analyzer.sources.facts.source import SOURCE
    from analyzer.sources.recording import Document

    assert SOURCE.recognises(Document(0, "x", text.encode())) is None


@pytest.mark.parametrize(
    ("entry", "holds", "lifetime"),
    [
        ("holds: {gpu/n1: 4, gpu/n2: four}", (("gpu/n1", 4),), Lifetime.UNKNOWN),
        ("holds: {gpu/n1: 4}, prioritty: 1", (("gpu/n1", 4),), Lifetime.UNKNOWN),
        ("holds: {gpu/n1: 4}, preemptible: 1", (("gpu/n1", 4),), Lifetime.UNKNOWN),
        ("holds: {gpu/n1: 4}, progress: much", (("gpu/n1", 4),), Lifetime.ENDLESS),
        ("holds: {gpu/n1: 4}, gpus: many", (("gpu/n1", 4),), Lifetime.ENDLESS),
    ],
)
def test_what_was_understood_of_an_actor_stays(
    entry: str, holds: tuple[tuple[str, int], ...], lifetime: Lifetime
) -> None:
    """A figure may be wrong; but who may have been misread gives back what it holds, and its wait is not judged."""
    wait = "waits: {since: 2026-01-14T08:00:00Z, needs: {units: gpu/n2, count: 8}}"
    found = actor(DECLARED + f"actors: {{a: {{lifetime: endless, {entry}, {wait}}}}}")
    assert (found.holds, found.lifetime) == (holds, lifetime)
    assert found.wait is not None
    assert found.wait.excuse is not None


def test_a_resource_that_was_misread_decides_nothing() -> None:
    text = (
        DECLARED.replace("lock/a: 1", "lock/a: one") + "actors: {a: {waits: {since: 2026-01-14T08:00:00Z, needs: %s}}}"
    )
    for needs, sure in (
        ("{units: lock/a, count: 1}", False),
        ("{pods: 1, each: {gpu: 1}, among: [n1]}", True),
    ):
        found = actor(text % needs)
        assert found.wait is not None
        assert (found.wait.excuse is None) is sure


def test_an_entry_without_a_time_makes_its_actor_unsure() -> None:
    """The entry may have ended it: what older entries say must not stand as if it were the last word."""
    lines = [
        {"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}},
        {"at": "2026-01-14T08:00:00Z", "actor": "a", "lifetime": "endless", "holds": {"gpu/n1": 8}},
        {"at": "2026-01-14T08:00:00Z", "actor": "b", "waits": {"needs": {"units": "gpu/n1", "count": 8}}},
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    assert actor(text).lifetime is Lifetime.ENDLESS
    damaged = f'{text}\n{{"at": "later", "actor": "a", "ended": true}}\n{{"at": "soon", "actor": "b"}}\n'
    assert actor(damaged).lifetime is Lifetime.UNKNOWN
    found = actor(damaged, "b")
    assert found.wait is not None
    assert found.wait.excuse is not None
    assert len(complaints(damaged)) == 2


def test_a_restatement_that_was_misread_replaces_the_older_one() -> None:
    lines = [
        {"at": "2026-01-14T08:00:00Z", "resources": {"gpu/n1": 8}},
        {"at": "2026-01-14T08:00:00Z", "actor": "a", "waits": {"needs": {"never": "x"}}},
        {"at": "2026-01-14T08:00:01Z", "actor": "a", "hold": {"gpu/n1": 4}},
    ]
    assert actor("\n".join(json.dumps(line) for line in lines)).wait is None


@pytest.mark.parametrize(
    "actors",
    [
        '{"a": {}, "a": {"gpus": 1}, "b" : {}}',
        '{"a" : {}, "a" : {"gpus": 1}, "b": {}}',
        '{"a": {"holds": {}, "holds": {}}, "b": {}, "c\\":": {}}',
        '{"a": {}, "a": {}, "b\\":": {}}',
    ],
)
def test_a_json_key_that_stands_twice_is_seen_however_it_is_written(actors: str) -> None:
    told = complaints(f'{{"schema": "knotwatch.facts/v1", "resources": {{}}, "actors": {actors}}}')
    assert len(told) == 1
    assert "stands twice" in told[0].text
