"""A simulated node for each test that asks for one."""

from pathlib import Path

import pytest

from tests.exporters.capture.nodes import Node
from tests.exporters.fake_nvml.fake import FakeNvml


@pytest.fixture
def node(fake_nvml: FakeNvml, tmp_path: Path) -> Node:
    """Eight GPUs and nine RDMA devices, standing still."""
    return Node(fake_nvml, tmp_path)
