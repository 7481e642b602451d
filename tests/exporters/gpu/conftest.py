"""A node of eight healthy Hopper cards, or of fewer, and an exporter over it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.gpu.rig import Rig

MakeRig = Callable[..., Rig]


@pytest.fixture
def make_rig(fake_nvml: FakeNvml) -> MakeRig:
    """Makes an exporter over so many cards; what is given beside is the rig's."""

    def make(count: int = 1, **options: Any) -> Rig:
        hopper.node(fake_nvml, count)
        return Rig(fake_nvml, **options)

    return make


@pytest.fixture
def rig(make_rig: MakeRig) -> Rig:
    """One healthy card."""
    return make_rig(1)
