"""One real Slurm for all tests of this folder; each test finds it with an empty queue."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm_cluster.cluster import SlurmCluster


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who asks for Slurm needs its programs, and runs on the worker that has it."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "slurm" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs("slurm"))
            item.add_marker(pytest.mark.xdist_group("slurm"))


@pytest.fixture(scope="session")
def slurm_started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """A Slurm of four nodes, started once."""
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def slurm(slurm_started: SlurmCluster) -> Iterator[SlurmCluster]:
    """The cluster, with nothing in its queue; what a test leaves there is cancelled."""
    yield slurm_started
    slurm_started.clear()
