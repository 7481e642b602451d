"""Every bound of the core has a unit or a kind in its name, and its reason beside it."""

import ast

import pytest

from tests.architecture.source_tree import ROOT, parsed

LIMITS = next(
    node
    for node in parsed(ROOT / "analyzer" / "model" / "limits.py").body
    if isinstance(node, ast.ClassDef) and node.name == "Limits"
)
FIELDS = [
    node.target.id for node in LIMITS.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
]


@pytest.mark.parametrize("name", FIELDS)
def test_a_limit_says_what_it_counts(name: str) -> None:
    assert name.endswith(("_ns", "_s", "_bytes", "_max", "_min")), "a unit, or which end of a count it bounds"


@pytest.mark.parametrize("name", FIELDS)
def test_a_limit_gives_its_reason(name: str) -> None:
    after = {
        node.target.id: following
        for node, following in zip(LIMITS.body, LIMITS.body[1:], strict=False)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    match after.get(name):
        case ast.Expr(value=ast.Constant(value=str(reason))):
            assert len(reason.split()) > 5
        case _:
            pytest.fail(f"{name} has no reason beneath it")
