"""Numbers and names before they are believed: pure functions, for any input."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.nvml.driver import Fault, Pynvml
from exporters.nvml.plausible import BLANKS, instance, number, pci_address, ratio, text

ANYTHING = st.one_of(st.none(), st.booleans(), st.text(), st.binary(), st.integers(), st.floats())


@given(ANYTHING)
def test_a_number_is_finite_and_no_blank(value: object) -> None:
    found = number(value)
    assert found is None or (math.isfinite(found) and 0 <= found < 2**63 - 32 and value not in BLANKS)


@given(st.integers(-(2**70), 2**70), st.integers(-100, 100), st.integers(0, 1000))
def test_a_number_is_within_its_bounds_and_as_it_was(value: int, low: int, width: int) -> None:
    found = number(value, low, low + width)
    assert found is None or found == value
    assert (found is not None) == (low <= value <= low + width)


@given(ANYTHING)
def test_a_ratio_is_a_share(value: object) -> None:
    found = ratio(value)
    assert found is None or 0 <= found <= 1


@given(ANYTHING)
def test_a_text_can_be_a_label(value: object) -> None:
    found = text(value)
    assert len(found) <= 96
    assert found == found.strip()
    assert found.isprintable()
    found.encode()


@pytest.mark.parametrize("value", [-1, 0xFFFFFFFF, 4096, None, "1"])
def test_no_instance_is_none(value: object) -> None:
    assert instance(value) is None


def test_an_instance_is_its_number() -> None:
    assert [instance(value) for value in (0, 7)] == [0, 7]


@pytest.mark.parametrize(
    ("shape", "address"),
    [
        ("00000000:B3:00.0", "0000:b3:00.0"),
        ("0000:b3:00.0", "0000:b3:00.0"),
        ("0000:b3:00", "0000:b3:00.0"),
        ("b3:00.1", "0000:b3:00.1"),
        ("00010000:01:00.0", "10000:01:00.0"),
        ("", ""),
        ("GPU-1", ""),
        ("0000:b3:00.0:1", ""),
    ],
)
def test_an_address_is_as_sysfs_writes_it(shape: str, address: str) -> None:
    assert pci_address(shape) == address


def test_a_node_without_pynvml_lacks_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(Fault, match="12"):
        Pynvml().open()


def test_nothing_is_asked_of_a_library_that_is_not_open() -> None:
    with pytest.raises(Fault, match=r"^1$"):
        Pynvml().ask("nvmlDeviceGetCount", None)
