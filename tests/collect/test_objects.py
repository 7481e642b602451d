"""Objects: a planted secret never comes out, wherever it stands, and what the analyzer reads does."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.collect.objects import redacted

PLANTED = "Zx9-hunter2-Qk7"

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "labels": {"app": "train"},
        "annotations": {"knotwatch.dev/min-available": "4", "batch.kubernetes.io/job-completion-index": "0"},
    },
    "spec": {
        "nodeName": "n-1",
        "containers": [
            {
                "name": "c",
                "image": "train:1",
                "command": ["torchrun", "--nnodes=4", "train.py"],
                "env": [{"name": "WORLD_SIZE"}],
                "resources": {"limits": {"nvidia.com/gpu": "8"}},
            }
        ],
        "tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}],
        "volumes": [{"name": "v", "secret": {"secretName": "tls"}}],
        "imagePullSecrets": [{"name": "registry"}],
    },
    "status": {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/4 nodes are available: 4 Insufficient"}
        ],
    },
}

PLACES: dict[str, Any] = {
    "environment": {"env": [{"name": "TOKEN", "value": PLANTED}]},
    "environment by reference": {"env": [{"name": "A", "valueFrom": {"x": PLANTED}}]},
    "environment as a mapping": {"env": {"TOKEN": PLANTED}},
    "environment of Spark": {"driver": {"envVars": {"A": PLANTED}}},
    "arguments of Spark": {"arguments": ["--input", PLANTED]},
    "what a script printed": {"outputs": {"result": PLANTED}},
    "argument": {"args": ["--token=" + PLANTED]},
    "argument after its option": {"args": ["--password", PLANTED]},
    "plain argument": {"command": ["run", PLANTED]},
    "script in an argument": {"command": ["sh", "-c", f"export A={PLANTED} && run"]},
    "entrypoint": {"entrypoint": f"python x.py --key {PLANTED}"},
    "command of a probe": {"livenessProbe": {"exec": {"command": ["redis-cli", "-a", PLANTED]}}},
    "header of a probe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": PLANTED}]}},
    "last applied configuration": {
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"x": PLANTED})}
    },
    "annotation of a stranger": {"annotations": {"example.com/note": PLANTED}},
    "annotation without a domain": {"annotations": {"note": PLANTED}},
    "annotation that names itself": {"annotations": {"x.kubernetes.io/token": PLANTED}},
    "managed fields": {"managedFields": [{"fieldsV1": {"f:x": PLANTED}}]},
    "last message of a program": {"terminated": {"exitCode": 1, "message": f"cannot log in with {PLANTED}"}},
    "key that names itself": {"redisPassword": PLANTED},
    "credential in a message": {"message": f"login failed: password={PLANTED}"},
    "credential in a note": {"note": f"Authorization: Bearer {PLANTED}"},
    "user in an address": {"url": f"https://user:{PLANTED}@host/x"},
    "query of an address": {"url": f"https://host/x?sig={PLANTED}"},
    "bundle of certificates": {"clientConfig": {"caBundle": PLANTED}},
    "text of several lines": {"anything": f"first\n{PLANTED}\nlast"},
    "long text": {"anything": "x" * 2000 + PLANTED},
    "attributes of a volume": {"csi": {"volumeAttributes": {"x": PLANTED}}},
    "parameters of a class": {"parameters": {"adminId": PLANTED}},
    "options of a mount": {"mountOptions": ["user=x", PLANTED]},
    "configuration of a device": {"opaque": {"parameters": {"x": PLANTED}}},
    "parameter of a workflow": {"arguments": {"parameters": [{"name": "x", "value": PLANTED}]}},
    "script of a workflow": {"script": {"source": PLANTED}},
    "manifest in a workflow": {"resource": {"manifest": PLANTED}},
    "a Secret": {"apiVersion": "v1", "kind": "Secret", "data": {"x": PLANTED}, "immutable": PLANTED},
    "a ConfigMap": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": PLANTED}},
    "data of anything": {"data": {"x": PLANTED}, "stringData": {"x": PLANTED}, "binaryData": {"x": PLANTED}},
}


@pytest.mark.parametrize("place", PLACES)
def test_a_planted_secret_never_comes_out(place: str) -> None:
    assert PLANTED not in json.dumps(redacted(PLACES[place]))


def test_what_the_analyzer_reads_comes_out_as_it_was() -> None:
    assert redacted(POD) == POD


def test_values_that_decide_stay() -> None:
    for kept in (
        {"taints": [{"key": "gpu", "value": "Zx9Qk7", "effect": "NoSchedule"}]},
        {"capacity": {"memory": {"value": "80Gi"}}, "counters": {"slices": {"value": "7"}}},
        {"source": {"component": "kubelet"}},
        {"value": 1000, "globalDefault": False},
        {"synchronization": {"mutex": {"name": "deploy"}}},
    ):
        assert redacted(kept) == kept


WRAPPINGS = st.lists(
    st.sampled_from(["spec", "template", "status", "items", "containers", "replicaSpecs", "a", "list"]), max_size=6
)
WORDS = st.text(st.sampled_from("abcXYZ019-_.=/: "), min_size=0, max_size=8)


@given(place=st.sampled_from(sorted(PLACES)), around=WRAPPINGS, beside=st.dictionaries(WORDS, WORDS, max_size=3))
def test_however_deep_and_beside_whatever(place: str, around: list[str], beside: dict[str, str]) -> None:
    value: Any = {**beside, **PLACES[place]}
    for name in around:
        value = [value] if name == "list" else {"before": "x", name: value}
    assert PLANTED not in json.dumps(redacted(value))


RANDOM = st.text(st.sampled_from("abcdefgXYZQK0123456789+/"), min_size=16, max_size=60).filter(
    lambda text: sum(a.isdigit() != b.isdigit() for a, b in pairwise(text)) > 6
)
"""What credentials look like when machines make them."""


@given(token=RANDOM, before=WORDS, after=WORDS)
def test_no_random_word_of_a_command_line_comes_out(token: str, before: str, after: str) -> None:
    assert token not in json.dumps(redacted({"args": [f"{before} {token} {after}", token, f"--x={token}"]}))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *"abc",
                    "env",
                    "args",
                    "annotations",
                    "kind",
                    "apiVersion",
                    "value",
                    "terminated",
                    "message",
                    "parameters",
                    "data",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_any_json_gives_json_and_again_the_same(value: Any) -> None:
    once = redacted(value)
    assert json.loads(json.dumps(once)) == once
    assert redacted(once) == once
