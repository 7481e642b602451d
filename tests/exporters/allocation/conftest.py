"""A kubelet on a socket of its own, and a node to tell things to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exporters.allocation.rig import Rig
from tests.exporters.kubelet_server import KubeletServer


@pytest.fixture
def kubelet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeletServer]:
    """Started, with no pods. The folder's name is short, as paths of sockets have to be."""
    folder: Path = tmp_path_factory.mktemp("k")
    server = KubeletServer(folder / "kubelet.sock")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def rig() -> Rig:
    """A node of two GPUs of which nothing has been told yet."""
    return Rig()
