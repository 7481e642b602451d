"""The catalogue as a whole: every file is in it, names do not clash, and the document lists them all."""

import pkgutil
import re

import pytest

from exporters import catalog
from exporters.catalog import FAMILIES, MODULES, catalogued, declared
from exporters.catalog.family import UNITS, Family, Group, Kind
from exporters.catalog.page import HEADINGS, metrics_page

NO_FAMILIES = {"family", "page"}


def test_every_file_of_families_is_in_the_catalogue() -> None:
    files = {module.name for module in pkgutil.iter_modules(catalog.__path__)} - NO_FAMILIES
    assert {module.__name__.rpartition(".")[2] for module in MODULES} == files


def test_no_two_families_are_one_to_openmetrics() -> None:
    """Without the suffix of its kind a counter must not be what another family is called."""
    bare = [family.name.removesuffix("_total").removesuffix("_info") for family in FAMILIES]
    assert sorted({name for name in bare if bare.count(name) > 1}) == []


def test_two_families_of_one_name_are_an_error() -> None:
    module = type(catalog)("toy")
    one = Family(name="knotwatch_toy", kind=Kind.GAUGE, group=Group.GPU, text="a", source="a")
    module.one, module.same = one, {"b": (one,)}  # type: ignore[attr-defined]  # a module of our making
    assert list(declared(vars(module)))[:2] == [one, one]
    assert catalogued([module]) == (one,)
    module.other = Family(name="knotwatch_toy", kind=Kind.GAUGE, group=Group.GPU, text="b", source="a")  # type: ignore[attr-defined]  # as above
    with pytest.raises(ValueError, match="declared twice"):
        catalogued([module])


def test_every_family_says_what_it_is_in_a_sentence() -> None:
    assert [family.name for family in FAMILIES if not family.text.rstrip().endswith(".")] == []
    assert [family.name for family in FAMILIES if not family.source.strip()] == []


def test_units_are_base_units_in_their_place() -> None:
    wrong = re.compile(r"_(?:percent|milli\w+|kilo\w+|mega\w+|gib|mib|kib|mhz|ms|us|ns|mw|minutes|hours|words)(?:_|$)")
    assert [family.name for family in FAMILIES if wrong.search(family.name)] == []
    assert all(unit == unit.lower() for unit in UNITS)


def test_the_document_has_every_family_under_its_heading() -> None:
    assert set(HEADINGS) == set(Group)
    page = metrics_page()
    assert [family.name for family in FAMILIES if page.count(f"| `{family.name}` |") != 1] == []
