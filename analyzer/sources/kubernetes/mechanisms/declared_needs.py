"""What an init container waits for, read from its command, and what an annotation says that a pod waits for.

Only words that name a host, a Job or pods are taken; what is not understood is no need, which makes us more silent.
The command itself may hold passwords and is kept nowhere.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from analyzer.sources.kubernetes.objects import Container

ANNOTATION = "knotwatch.dev/waits-for"
"""What a pod needs before it can get ready, as its owner says it: `service/db, job/other/seed, pod/web-0`."""


class Sort(StrEnum):
    """What of the thing is waited for."""

    NAME = "name"  # that the host's name resolves
    CONNECTION = "connection"  # that somebody answers there
    SERVICE = "service"
    POD = "pod"
    PODS = "pods"  # all that have the labels, written as `a=b,c=d`
    JOB = "job"  # its end
    READY = "ready"  # a Deployment, StatefulSet or DaemonSet with ready pods


class Need(Struct, frozen=True, order=True):
    """One thing that is waited for. `namespace` "": that of the pod. `name`: a host, a name, or labels."""

    sort: Sort
    namespace: str
    name: str


_HOST = r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)"
_OPTIONS = r"(?:-[\w-]+(?:[ =]\d+)?\s+)*"
_WITHIN = r"[^;&|\n]*?"
_HOSTS = (
    (Sort.NAME, re.compile(rf"\b(?:nslookup|dig|getent\s+a?hosts)\s+(?:[-+]\S+\s+)*{_HOST}")),
    (Sort.CONNECTION, re.compile(rf"\b(?:nc|ncat|netcat)\s+{_OPTIONS}{_HOST}[\s:]+\d+")),
    (Sort.CONNECTION, re.compile(rf"\bwait-for(?:-it)?(?:\.sh)?\s+{_OPTIONS}(?:tcp://)?{_HOST}:\d+")),
    (Sort.CONNECTION, re.compile(rf"\bwait-for-it(?:\.sh)?\s{_WITHIN}(?:-h\s+|--host=){_HOST}")),
    (Sort.CONNECTION, re.compile(rf"-wait[= ]+(?:tcp|https?)://{_HOST}")),
    (Sort.CONNECTION, re.compile(rf"\bwait4x\s+tcp\s+{_HOST}:\d+")),
    (
        Sort.CONNECTION,
        re.compile(
            rf"\b(?:pg_isready|psql|redis-cli|mysqladmin|mysql|mariadb-admin|mongosh?)\b{_WITHIN}"
            rf"(?:-h\s*|--host[= ]){_HOST}"
        ),
    ),
    (Sort.CONNECTION, re.compile(rf"/dev/tcp/{_HOST}/\d+")),
)
"""Commands that go on once a host is there."""

_FETCH = re.compile(rf"\b(?:curl|wget)\b{_WITHIN}https?://(?:[^@\s/'\"]*@)?{_HOST}")
_LOOP = re.compile(r"\b(?:until|while)\b")
"""Fetching from a host may take long; only in a loop it means that somebody waits for the host."""

_CONDITIONAL = re.compile(r"\b(?:if|case)\b|hostname|HOSTNAME|ordinal")

_HERE = frozenset({"localhost"})

_KUBECTL_WAIT = re.compile(r"\bkubectl\b(?P<words>[^;&|\n]*?\bwait\b[^;&|\n]*)")
_ROLLOUT = re.compile(r"\bkubectl\b(?P<words>[^;&|\n]*?\brollout\s+status\b[^;&|\n]*)")
_NAMESPACE = re.compile(r"(?:-n|--namespace)[= ]\s*([a-z0-9-]+)")
_TARGET = re.compile(r"(?<!\S)([a-z]+)(?:\.[a-z0-9.]+)?/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?!\S)")
_LABELS = re.compile(r"(?<!\S)pods?\s.*?(?:-l|--selector)[= ]?\s*([\w./-]+=[\w.-]+(?:,[\w./-]+=[\w.-]+)*)")
_WAITED = {
    "job": Sort.JOB,
    "jobs": Sort.JOB,
    "pod": Sort.POD,
    "pods": Sort.POD,
    "po": Sort.POD,
    "deployment": Sort.READY,
    "deployments": Sort.READY,
    "deploy": Sort.READY,
    "statefulset": Sort.READY,
    "sts": Sort.READY,
    "daemonset": Sort.READY,
    "ds": Sort.READY,
    "service": Sort.SERVICE,
    "services": Sort.SERVICE,
    "svc": Sort.SERVICE,
}
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")


def needs_of(container: Container) -> tuple[Need, ...]:
    """All that the container's command waits for, sorted; none if it is not understood."""
    variables = {one.name: one.value for one in container.env if one.value}
    words = _filled_in(" ".join((*container.command, *container.args)), variables)
    if "k8s-wait-for" in container.image:
        return tuple(sorted(set(_wait_for_image(words))))
    found = set(_kubectl(words))
    hosts = [*_HOSTS, (Sort.CONNECTION, _FETCH)] if _LOOP.search(words) else _HOSTS
    for sort, pattern in hosts:
        found.update(Need(sort, "", host) for match in pattern.finditer(words) if (host := match["host"]) not in _HERE)
    return tuple(sorted(found))


def is_conditional(container: Container) -> bool:
    """Whether the command may do without what it names, depending on something else: on the pod's own name, say."""
    return _CONDITIONAL.search(" ".join((*container.command, *container.args))) is not None


def declared(text: str) -> tuple[Need, ...]:
    """What the annotation says, sorted: `KIND/NAME` or `KIND/NAMESPACE/NAME`, divided by commas."""
    found = []
    for part in text.split(","):
        kind, _, name = part.strip().partition("/")
        namespace, _, name = name.rpartition("/")
        sort = _WAITED.get(kind.lower())
        if sort is not None and name:
            found.append(Need(sort, namespace, name))
    return tuple(sorted(set(found)))


def _filled_in(words: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[2] or match[3], match[0])

    return _VARIABLE.sub(value, words)


def _kubectl(words: str) -> Iterator[Need]:
    for match in _KUBECTL_WAIT.finditer(words):
        told = match["words"]
        if re.search(r"--for[= ]condition=", told):
            yield from _targets(told)
    for match in _ROLLOUT.finditer(words):
        told = re.sub(r"\b(deployment|statefulset|daemonset|deploy|sts|ds)\s+(?=[a-z0-9])", r"\1/", match["words"])
        yield from _targets(told)


def _targets(told: str) -> Iterator[Need]:
    place = _NAMESPACE.search(told)
    namespace = place[1] if place is not None else ""
    for kind, name in _TARGET.findall(told):
        if kind in _WAITED:
            yield Need(_WAITED[kind], namespace, name)
    labels = _LABELS.search(told)
    if labels is not None:
        yield Need(Sort.PODS, namespace, labels[1])


def _wait_for_image(words: str) -> Iterator[Need]:
    """The words of the image `groundnuty/k8s-wait-for`: `job NAME`, `pod -lapp=db`, `service NAME`."""
    place = _NAMESPACE.search(words)
    namespace = place[1] if place is not None else ""
    match = re.search(r"\b(pod|job|service)(?:-wr|-we)?\s+(-l\s*)?(\S+)", words)
    if match is not None:
        kind, by_label, name = match.groups()
        if not by_label:
            yield Need(_WAITED[kind], namespace, name)
        elif kind == "pod" and "=" in name:
            yield Need(Sort.PODS, namespace, name)
