"""Containers that will not run, by what their node says about them."""

from analyzer.model.events import Certainty
from analyzer.sources.kubernetes.objects import Pod
from analyzer.sources.kubernetes.times import SECOND_NS

BROKEN = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "InvalidImageName",
        "ImageInspectError",
        "CreateContainerConfigError",
        "CreateContainerError",
    }
)

"""Why a container does not start at all: only another template, or an object that is missing, helps."""

BROKEN_NS = 300 * SECOND_NS
"""What a node says of a container for less than this may be a registry that is slow, or a ConfigMap that is late."""

CRASHES_MIN = 5
"""Crashes after which a container that never got ready is taken for broken. It may be ready for a moment in between,
so this is suspected."""


def broken(pod: Pod) -> tuple[str, Certainty]:
    """In the node's words, why the pod will not get ready; "" if time may help."""
    for one in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = one.state.waiting if one.state is not None else None
        if waiting is None:
            continue
        words = f"{waiting.reason}: {waiting.message}" if waiting.message else waiting.reason
        if waiting.reason in BROKEN:
            return words, Certainty.PROVEN
        if waiting.reason == "CrashLoopBackOff" and one.restart_count >= CRASHES_MIN:
            return words, Certainty.SUSPECTED
    return "", Certainty.PROVEN
