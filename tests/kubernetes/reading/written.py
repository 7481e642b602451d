"""Small API objects, and the many forms in which people hand them over."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from analyzer.sources.kubernetes.incident import Incident
from analyzer.sources.kubernetes.objects import KubeObject
from analyzer.sources.kubernetes.observations import Observation, Seen
from analyzer.sources.options import ReadOptions
from analyzer.sources.recording import Document

Json = dict[str, Any]


def pod(
    name: str, *, version: int = 1, at: str = "2026-01-02T03:00:00Z", namespace: str = "team-red", **more: Any
) -> Json:
    """A pod that was created at `at`; `node` binds it, `metadata`, `spec` and `status` are laid over."""
    metadata: Json = {
        "name": name,
        "namespace": namespace,
        "uid": more.get("uid", f"uid-{name}"),
        "resourceVersion": str(version),
        "creationTimestamp": at,
        **more.get("metadata", {}),
    }
    spec: Json = {"containers": [{"name": "main", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]}
    if "node" in more:
        spec["nodeName"] = more["node"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec | more.get("spec", {}),
        "status": {"phase": "Pending"} | more.get("status", {}),
    }


def node(name: str, *, version: int = 1, at: str = "2026-01-02T02:00:00Z") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), "creationTimestamp": at},
        "spec": {},
        "status": {"allocatable": {"nvidia.com/gpu": "8"}},
    }


def scheduled(status: str, at: str) -> Json:
    return {"type": "PodScheduled", "status": status, "lastTransitionTime": at}


def listed(items: Sequence[Json], **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": list(items), "metadata": {"resourceVersion": ""}} | more


def pretty(value: Any) -> bytes:
    return json.dumps(value, indent=4).encode() + b"\n"


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def typed_list(items: Sequence[Json]) -> bytes:
    """As the API itself answers: items without kind and version."""
    bare = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items]
    return (
        compact({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "99"}, "items": bare}) + b"\n"
    )


def as_yaml(value: Any) -> bytes:
    return bytes(yaml.safe_dump(value, sort_keys=True, encoding="utf-8"))


FORMS: dict[str, Callable[[Sequence[Json]], bytes]] = {
    "pretty list": lambda items: pretty(listed(items)),
    "compact list": lambda items: compact(listed(items)),
    "list as the API answers": typed_list,
    "array": lambda items: pretty(list(items)),
    "array of lists": lambda items: pretty([listed(items[:1]), listed(items[1:])]),
    "pretty objects one after the other": lambda items: b"".join(map(pretty, items)),
    "objects one a line": lambda items: b"\n".join(map(compact, items)),
    "objects without anything between": lambda items: b"".join(map(compact, items)),
    "two lists one after the other": lambda items: pretty(listed(items[:1])) + pretty(listed(items[1:])),
    "unindented objects": lambda items: b"".join(json.dumps(item, indent=0).encode() + b"\n" for item in items),
    "yaml list": lambda items: as_yaml(listed(items)),
    "yaml documents": lambda items: b"---\n".join(map(as_yaml, items)),
    "yaml documents, divided first": lambda items: b"".join(b"---\n" + as_yaml(item) for item in items),
    "yaml sequence": lambda items: as_yaml(list(items)),
}


def watch(*entries: tuple[str, Json], form: Callable[[Any], bytes] = compact) -> bytes:
    return b"\n".join(form({"type": change, "object": one}) for change, one in entries) + b"\n"


def ahead(found: Incident) -> list[Observation]:
    """The pods of its long lists, each by itself."""
    return [
        Seen(listed.at_ns, pod, gone=False, citation=(listed.document, record))
        for listed in found.ahead()
        for pod, record in zip(listed.pods, listed.records, strict=True)
    ]


def incident(*contents: bytes, options: ReadOptions | None = None) -> Incident:
    documents = [Document(index, f"file-{index}", content) for index, content in enumerate(contents)]
    found = Incident(documents, options or ReadOptions())
    assert list(found.ahead()) == []
    found.finish()
    return found


def observed(*contents: bytes, options: ReadOptions | None = None) -> list[Observation]:
    return [one for _, group in incident(*contents, options=options).moments() for one in group]


def objects(*contents: bytes) -> list[KubeObject]:
    return [one.object for one in observed(*contents) if isinstance(one, Seen)]


def complaints(*contents: bytes) -> list[tuple[int, str]]:
    return [(complaint.line, complaint.text) for note in incident(*contents).notes for complaint in note.complaints]


def alive(observations: Sequence[Observation]) -> dict[str, str]:
    """Node by pod, at the end."""
    out: dict[str, str] = {}
    for one in observations:
        if isinstance(one, Seen) and type(one.object).__name__ == "Pod":
            out.pop(one.object.metadata.name, None)
            if not one.gone:
                out[one.object.metadata.name] = one.object.spec.node_name  # type: ignore[union-attr]  # it is a Pod
    return out


def with_nulls(value: Any) -> Any:
    """The same with a null in every place that is empty or absent."""
    changed = copy.deepcopy(value)
    changed["metadata"] |= {"labels": None, "annotations": None, "ownerReferences": None, "deletionTimestamp": None}
    changed["spec"] |= {"nodeSelector": None, "tolerations": None, "affinity": None, "initContainers": None}
    changed["spec"]["containers"][0] |= {"env": None, "command": None, "ports": [None]}
    changed["status"] |= {"conditions": None, "containerStatuses": None, "nominatedNodeName": None}
    return changed
