"""Every exception from a rule carries its reason on the same line."""

import io
import re
import tokenize

from tests.architecture.source_tree import python_files, shown

EXCEPTION = re.compile(r"#\s*(?:noqa(?P<codes>:\s*[A-Z0-9, ]+)?|type:\s*ignore(?P<kinds>\[[^\]]*\])?)(?P<rest>.*)$")


def unexplained(comment: str) -> bool:
    """Whether the comment silences a rule without naming the rule and then saying why, in two words or more."""
    found = EXCEPTION.search(comment)
    if found is None:
        return False
    named = found["codes"] or found["kinds"]
    return not named or len(re.findall(r"[A-Za-z]{2,}", found["rest"])) < 2


def test_a_bare_exception_is_seen() -> None:
    assert unexplained("# noqa")
    assert unexplained("# noqa: S301")
    assert unexplained("# type: ignore[arg-type]")
    assert not unexplained("# noqa: S301  the bytes are our own")
    assert not unexplained("# type: ignore[arg-type]  # msgspec checks it")
    assert not unexplained("# an ordinary remark")


def test_every_exception_has_its_reason() -> None:
    found = []
    for path in python_files():
        with tokenize.open(path) as text:
            source = text.read()
        found += [
            f"{shown(path)}:{token.start[0]} {token.string}"
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT and unexplained(token.string)
        ]
    assert found == []
