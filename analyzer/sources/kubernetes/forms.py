"""Which form a document has, judged by its first bytes: names of files tell nothing."""

import re
from enum import StrEnum

from analyzer.sources.kubernetes.decoding import Buffer
from analyzer.sources.kubernetes.describe_text import is_described
from analyzer.sources.kubernetes.klog import STAMPED
from analyzer.sources.kubernetes.log_forms import is_log
from analyzer.sources.kubernetes.tables import is_table

_PEEK_BYTES = 1 << 16
_API_VERSION = re.compile(rb'"apiVersion"\s*:\s*"([^"\\]*)"')
_KIND = re.compile(rb'"kind"\s*:\s*"[A-Z]')
_JSON_LOG = re.compile(rb'\s*\{\s*"(?:level|ts|severity|time|v)"\s*:\s*(?:"(?!Metadata|Request)|[0-9])')
_VALUE_AT_LINE_START = re.compile(rb"^[{\[]", re.MULTILINE)
_YAML_VERSION = re.compile(rb"^(?:- |  )?apiVersion:[ \t]+\S", re.MULTILINE)
_YAML_KIND = re.compile(rb"^(?:- |  )?kind:[ \t]+[\"']?[A-Z]", re.MULTILINE)
_AUDIT = b"audit.k8s.io/"
_TEXT_BEFORE_JSON_BYTES = 4096


class Form(StrEnum):
    """How the document is written; the value is what the report calls it until it has been read."""

    JSON = "kubernetes objects"
    YAML = "kubernetes objects as YAML"
    AUDIT = "kubernetes audit log"
    KLOG = "klog text"
    DESCRIBED = "kubectl describe"
    TABLE = "kubernetes table"


def form_of(content: Buffer) -> Form | None:
    """The form of the document; None if it is none of ours. Looks at the first 64 KiB."""
    head = bytes(content[:_PEEK_BYTES])
    start = _json_start(head)
    form = _json_form(head[start:]) if start is not None else None
    if form is not None:
        return form
    if is_log(head):
        return Form.KLOG
    if is_described(head):
        return Form.DESCRIBED
    if is_table(head):
        return Form.TABLE
    if start is None and _YAML_VERSION.search(head) is not None and _YAML_KIND.search(head) is not None:
        return Form.YAML
    return None


def _json_start(head: bytes) -> int | None:
    """Where the first JSON value begins; warnings of kubectl may stand before it."""
    if head.lstrip()[:1] in (b"{", b"["):
        return len(head) - len(head.lstrip())
    found = _VALUE_AT_LINE_START.search(head, 0, _TEXT_BEFORE_JSON_BYTES)
    if found is None or (STAMPED.match(head) is not None and _API_VERSION.search(head) is None):
        return None
    return found.start()


def _json_form(head: bytes) -> Form | None:
    if _JSON_LOG.match(head) is not None:
        return None
    version = _API_VERSION.search(head)
    if version is None or _KIND.search(head) is None:
        return None
    return Form.AUDIT if version[1].startswith(_AUDIT) else Form.JSON
