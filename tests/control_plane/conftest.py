"""One real control plane for all tests of this folder, and for each test a place of its own in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane.cluster import ControlPlane, running
from tests.control_plane.site import Site


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who asks for the control plane needs its programs, and runs on the worker that has it."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "control_plane" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs("control-plane"))
            item.add_marker(pytest.mark.xdist_group("control-plane"))


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with default settings, started once."""
    with running(tmp_path_factory.mktemp("control-plane")) as plane:
        yield plane


@pytest.fixture
def site(control_plane: ControlPlane) -> Iterator[Site]:
    """An empty cluster: what a test makes in it is gone afterwards."""
    made = Site(control_plane)
    yield made
    made.clear()
