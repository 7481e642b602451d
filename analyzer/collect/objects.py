"""Kubernetes objects without what is secret: by the place in the object first, by what the text looks like second.

Two tables decide: keys that go whatever they hold, and annotations that may stay. Environment variables keep their
names, command lines the words that look like names (`words.py`), messages lose what looks like a credential
(`texts.py`). Any other text that is long, or has several lines, is somebody's file and goes.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from analyzer.collect.texts import MASK, is_credential, masked
from analyzer.collect.words import kept_arguments, kept_words

_TEXT_MAX = 1024
_MESSAGE_MAX = 8192
_DEPTH_MAX = 100

_SECRET_KINDS = frozenset({"Secret", "SecretList", "ConfigMap", "ConfigMapList"})

_LEFT_OUT = frozenset(
    {
        "managedFields",  # large, and repeats names of keys
        "data",  # of a Secret or ConfigMap
        "stringData",
        "binaryData",
        "caBundle",
        "envFrom",
        "httpHeaders",  # of a probe
        "volumeAttributes",  # of a CSI driver
        "mountOptions",
        "images",  # of a node: half of its size, and nobody reads it
        "runtimeEnvYAML",  # Ray
        "manifest",  # Argo: a whole object as text
    }
)
_LEFT_OUT_IF_MAPPING = frozenset({"parameters", "options", "opaque"})
"""Of storage classes, drivers and device configurations. Argo's parameters are a list."""
_LEFT_OUT_IF_TEXT = frozenset({"result", "source", "script", "value"})
"""Argo's scripts, what they printed, and parameters. An event's source is a mapping; a taint's `value` decides."""

_ANNOTATIONS_LEFT_OUT = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
_ANNOTATION_DOMAINS = (
    "k8s.io",
    "kubernetes.io",
    "argoproj.io",
    "karpenter.sh",
    "knotwatch.dev",
    "koordinator.sh",
    "kubeflow.org",
    "nvidia.com",
    "ray.io",
    "run.ai",
    "volcano.sh",
)
"""Of whom annotations stay as they are, with all below: schedulers, controllers, the API itself."""
_ANNOTATIONS_KEPT = frozenset({"pod-group-name"})

_KEPT_BESIDE = frozenset({"key", "operator", "effect"})
"""Beside one of them a `value` is that of a taint, a toleration or a selector."""
_QUANTITY = re.compile(r"\d{1,7}(?:[kMGTPE]i?|m)?")
"""A `value` of this shape is the capacity of a device."""


def redacted(value: Any) -> Any:
    """A copy of a decoded JSON value, an object or a part of one, that may be given away."""
    return _walked(value, 0)


def _walked(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return MASK if depth > _DEPTH_MAX else _mapping(value, depth)
    if isinstance(value, list):
        return [_walked(each, depth + 1) for each in value]
    return value


def _mapping(whole: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if whole.get("kind") in _SECRET_KINDS and "apiVersion" in whole:
        return {"apiVersion": whole["apiVersion"], "kind": whole["kind"]}
    kept: dict[str, Any] = {}
    for key, value in whole.items():
        if key in _LEFT_OUT or (key in _LEFT_OUT_IF_MAPPING and isinstance(value, dict)):
            continue
        special = _BY_KEY.get(key)
        if special is not None:
            kept[key] = special(value, depth + 1)
        elif not isinstance(value, str):
            kept[key] = _walked(value, depth + 1)
        elif key in _LEFT_OUT_IF_TEXT and _KEPT_BESIDE.isdisjoint(whole) and _QUANTITY.fullmatch(value) is None:
            kept[key] = MASK
        else:
            kept[key] = MASK if is_credential(key) else _plain(value)
    return kept


def _plain(text: str) -> str:
    return MASK if len(text) > _TEXT_MAX or "\n" in text else masked(text)


def _environment(value: Any, depth: int) -> Any:
    """Names only: of a list of variables, or of a mapping of them."""
    if isinstance(value, list):
        return [
            {"name": each["name"]} for each in value if isinstance(each, dict) and isinstance(each.get("name"), str)
        ]
    return dict.fromkeys(value, MASK) if isinstance(value, dict) else _walked(MASK, depth)


def _command_line(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return kept_arguments(value)
    return kept_words(value) if isinstance(value, str) else _walked(value, depth)


def _annotations(value: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        return _walked(value, depth)
    return {key: _annotation(key, each) for key, each in value.items() if key not in _ANNOTATIONS_LEFT_OUT}


def _annotation(key: str, value: Any) -> Any:
    domain, slash, _ = key.partition("/")
    known = key in _ANNOTATIONS_KEPT or any(
        slash and (domain == each or domain.endswith((f".{each}", f"-{each}"))) for each in _ANNOTATION_DOMAINS
    )
    return _plain(value) if known and isinstance(value, str) and not is_credential(key) else MASK


def _message(value: Any, depth: int) -> Any:
    return masked(value[:_MESSAGE_MAX]) if isinstance(value, str) else _walked(value, depth)


def _ended(value: Any, depth: int) -> Any:
    """A container's end without its message: that is what the program wrote last."""
    return _walked(
        {key: each for key, each in value.items() if key != "message"} if isinstance(value, dict) else value, depth
    )


_BY_KEY: Mapping[str, Callable[[Any, int], Any]] = MappingProxyType(
    {
        "env": _environment,
        "envVars": _environment,  # Spark
        "env_vars": _environment,  # Ray
        "command": _command_line,
        "args": _command_line,
        "arguments": _command_line,  # Spark's are a list, Argo's a mapping
        "entrypoint": _command_line,
        "annotations": _annotations,
        "message": _message,
        "note": _message,
        "terminated": _ended,
    }
)
"""Keys whose values have a shape of their own, wherever they stand."""
