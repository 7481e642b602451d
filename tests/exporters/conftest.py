"""The fake driver library, built once for each process of the tests, and a fresh state of it for each test."""

from pathlib import Path

import pytest

from tests.exporters.fake_nvml.build import build
from tests.exporters.fake_nvml.fake import FakeNvml


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library. The process loads it once, so it may be built only once; such tests need `c-compiler`."""
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def fake_nvml(fake_library: Path, tmp_path: Path) -> FakeNvml:
    """A machine without any GPU yet."""
    fake = FakeNvml(fake_library, tmp_path / "nvml-state")
    fake.instant()
    return fake
