"""Quota larger than the metal, given by the real Kueue: what was collected tells a knot from a queue."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane.cluster import ControlPlane
from tests.control_plane.kueue import kueue_running, queue, queued
from tests.control_plane.site import Site, gang_job
from tests.control_plane.test_collect import collected, members, placed, refused, report_on

pytestmark = pytest.mark.needs("kueue")


@pytest.fixture(scope="module")
def _kueue(control_plane: ControlPlane) -> Iterator[None]:
    with kueue_running(control_plane):
        yield


@pytest.fixture
def queues(site: Site, _kueue: None) -> Iterator[Site]:
    yield site
    site.control_plane.kubectl("delete", "clusterqueues,resourceflavors", "--all", "--wait=false")


def submit(site: Site, namespace: str, *, quota: int) -> None:
    """Two gangs of four pods for four nodes."""
    site.nodes(4)
    site.control_plane.create(*queue("gpus", namespace, gpus=quota))
    site.control_plane.create(*(queued(gang_job(name, namespace, pods=4), "gpus") for name in ("red", "blue")))


def test_quota_for_both_and_nodes_for_one(queues: Site, tmp_path: Path) -> None:
    namespace = queues.namespace("team-red")
    plane = queues.control_plane
    submit(queues, namespace, quota=64)
    for _ in range(12):  # who comes first may get all its nodes: then there is no knot
        plane.wait_until(lambda: refused(plane, namespace) == 4, "four pods to be refused")
        if 0 < placed(plane, namespace, "red") < 4:
            break
        plane.kubectl("delete", "jobs", "--all", "-n", namespace, "--cascade=foreground")
        plane.create(*(queued(gang_job(name, namespace, pods=4), "gpus") for name in ("red", "blue")))
    else:
        pytest.skip("each time one of the Jobs got all its nodes: the scheduler made no knot to look at")
    archive = collected(plane, tmp_path / "knot.tar.gz")
    assert "QuotaReserved" in members(archive)["kubernetes/workloads.kueue.x-k8s.io.json"].decode()
    status, report = report_on(archive)
    assert status == 1
    assert [(row["verdict"], sorted(row["members"])) for row in report["findings"]] == [
        ("DEADLOCK", ["gang/team-red/blue", "gang/team-red/red"])
    ]


def test_quota_for_one_is_a_queue(queues: Site, tmp_path: Path) -> None:
    namespace = queues.namespace("team-red")
    plane = queues.control_plane
    submit(queues, namespace, quota=32)
    plane.wait_until(
        lambda: {placed(plane, namespace, "red"), placed(plane, namespace, "blue")} == {0, 4}, "one job to run whole"
    )
    status, report = report_on(collected(plane, tmp_path / "queue.tar.gz"))
    assert (status, report["findings"]) == (0, [])
