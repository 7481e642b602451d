"""A container that cannot be started is told of half an hour after its turn came, and not after its pod was placed."""

import pytest

from tests.kubernetes.translating.making import MINUTE_NS, START_NS, node, pod, time, world


@pytest.mark.parametrize(("ended_s", "told"), [(600, True), (2400, False)], ids=["long ago", "just now"])
def test_the_half_hour_begins_when_the_container_before_has_ended(ended_s: int, *, told: bool) -> None:
    fetched = {"terminated": {"exitCode": 0, "finishedAt": time(ended_s)}}
    stuck = pod(
        "a",
        on="n-0",
        ready=False,
        phase="Pending",
        status={
            "initContainerStatuses": [{"name": "fetch", "state": fetched}],
            "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
        },
    )
    wait = world(node("n-0"), stuck, at_s=3000).actors["pod/team/a"].wait
    assert (wait is not None) is told
    assert wait is None or wait.since_ns == START_NS + 10 * MINUTE_NS
