"""Lines and other running text: what looks like a credential is masked, everything else stays as it is.

Known shapes only, since the words of a message decide what the analyzer makes of it: values behind names like
`password`, headers with credentials, users and queries in addresses, keys and tokens that say what they are, values of
exported variables. Quotes around a value stay, so that a line of JSON is one afterwards.
"""

import re
from collections.abc import Callable
from functools import lru_cache

MASK = "***"

_KEYS = "api|access|private|signing|encryption|auth|account|client|storage|licen[sc]e|_"
CREDENTIAL = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|credential|authori[sz]ation"
    r"|(?<![a-z])(?:pass|pw|creds?)(?![a-z])|(?-i:(?<=[a-z])Pass(?![a-z]))"  # DB_PASS, --pass, JobCompPass; no bypass
    rf"|(?:{_KEYS})[-_.]?key(?![a-z]))"
)
"""A part of a name whose value is nobody's business. A `key` alone is none: controllers log `key="namespace/name"`."""

_HARMLESS = r"(?:names?|refs?|namespaces?|paths?|files?|kinds?|types?|seconds|expiry|count|policy|classname)"
_NAME = rf"[\w.-]*{CREDENTIAL}[\w.-]*"
_GIVEN_OUT = (
    r"eyJ[\w-]{8,}(?:\.[\w-]*){0,2}",  # JSON Web Tokens
    r"A(?:KI|SI)A[A-Z0-9]{12,}",
    r"gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}",
    r"xox[abeprs]-[\w-]{10,}",
    r"hf_\w{16,}|sk-[\w-]{16,}|nvapi-[\w-]{16,}|dckr_pat_[\w-]{16,}",
    r"AIza[\w-]{20,}|ya29\.[\w-]{16,}",
)
"""Tokens that carry the mark of who gave them out."""

_VALUE = r"(?P<value>\"(?:[^\"\\]|\\.)*\"|\\+\"(?:[^\"\\]|\\[^\"])*\\+\"|'[^']*'|\\*[\"'].*|"
"""What stands behind a name: in quotes, also in quotes that are quoted themselves or never close; the
bare form is added."""


_EXPORTED = re.compile(r"(?P<name>[\w.%/-]+)(?P<equals>=(?:\"[^\"]*\"|'[^']*'|[^,\"'])*)?")


def _in_its_quotes(found: re.Match[str]) -> str:
    value = found["value"]
    quote = re.match(r"\\*[\"']", value)
    return found["before"] + (quote[0] + MASK + quote[0] if quote else MASK)


def _names_only(found: re.Match[str]) -> str:
    """Of `ALL,A=1,B="2,3"` all but the values."""
    entries = _EXPORTED.finditer(found["value"])
    return found["before"] + ",".join(each["name"] + ("=" + MASK if each["equals"] else "") for each in entries)


def _masked_after(found: re.Match[str]) -> str:
    return found["before"] + MASK


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?P<before>-----BEGIN [A-Z ]+-----).*?(?:-----END [A-Z ]+-----|\Z)", re.DOTALL), _masked_after),
    (
        re.compile(r"(?P<before>\bauthori[sz]ation\\*[\"']?\s*[:=]\s*\[?\\*[\"']?)(?:\w+\s+)?[^\s\"'\\]+", re.I),
        _masked_after,
    ),
    (re.compile(r"(?P<before>\bbearer\s+)[\w.~+/=:-]{6,}", re.I), _masked_after),
    (re.compile(r"(?P<before>\b[Bb]asic\s+)(?=[a-z]*[A-Z0-9])[\w+/=-]{8,}"), _masked_after),
    # scheme://user:password@host, and the whole query of an address: ?X-Amz-Signature=...
    (re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://)[^\s/@\"'<>]+(?=@)", re.I), _masked_after),
    (re.compile(r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://[^\s?\"'<>\\]+\?)[^\s\"'<>\\]+", re.I), _masked_after),
    (re.compile(rf"(?P<before>)(?<![\w-])(?:{'|'.join(_GIVEN_OUT)})"), _masked_after),
    # --export=ALL,NAME=value of Slurm: names stay.
    (re.compile(r"(?P<before>(?<![\w-])--export[= ])(?P<value>(?:[^\s\"']|\"[^\"]*\"|'[^']*')+)"), _names_only),
    # --db-password value
    (re.compile(rf"(?P<before>(?<![\w-])--?{_NAME}\s+){_VALUE}[^\s\"'\\-][^\s\"'\\]*)", re.I), _in_its_quotes),
    # password=value, "clientSecret": "value", TOKEN: value
    (
        re.compile(
            rf"(?P<before>(?<![\w.-])(?!{_NAME}{_HARMLESS}\b)(?:--?)?{_NAME}\\*[\"']?\s*[=:]\s*\[?\s*)"
            rf"{_VALUE}[^\s,;&|\"'(){{}}\[\]\\]+)",
            re.I,
        ),
        _in_its_quotes,
    ),
)

_SUSPECT = re.compile(
    rf"{CREDENTIAL}|://|bearer|basic|-----BEGIN|--export|eyJ|AKIA|ASIA"
    r"|gh[pousr]_|github_pat|glpat|xox|hf_|sk-|nvapi|dckr|AIza|ya29",
    re.I,
)
"""Without one of these no rule can match, so most texts are looked at once."""

_CREDENTIAL_NAME = re.compile(CREDENTIAL, re.I)
_HARMLESS_END = re.compile(rf"{_HARMLESS}$", re.I)


def masked(text: str) -> str:
    """The text without what looks like a credential. It may have many lines."""
    return text if _SUSPECT.search(text) is None else _masked(text)


@lru_cache(maxsize=4096)
def is_credential(name: str) -> bool:
    """Whether a key, option or variable of this name holds something secret, and not merely says where it is kept."""
    return _CREDENTIAL_NAME.search(name) is not None and _HARMLESS_END.search(name) is None


@lru_cache(maxsize=4096)
def _masked(text: str) -> str:
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
