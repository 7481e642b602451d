"""Whose a process is, by the cgroup that it is in: a pod's container, a container, a job of Slurm, or nobody's. Pure.

The shapes are those of kubelets (both cgroup drivers), containerd, CRI-O, Docker, Podman and slurmd. A path that is
seen from within another cgroup namespace shows only a part, or a way up and down again (`/../`): it is unknown then,
since a part of a path may name the wrong pod.
"""

import re

from msgspec import Struct

PATHS_MAX = 64
PATH_MAX = 1024

KUBEPODS = "kubepods"
"""Part of a name above every pod, whatever the kubelet's own root is called."""

_POD = re.compile(
    r"(?:^|[/-])pod(?P<uid>[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?=[/:]|$)"
)
"""With the systemd driver, dashes of the UID are underscores. A static pod's is 32 digits without dashes."""

_CONTAINER = re.compile(r"(?:^|[/:-])(?P<id>[0-9a-f]{64})(?:\.scope)?(?=[/:]|$)")

_JOB = re.compile(
    r"(?:^|/)[^/]*slurm[^/]*/(?:(?!uid_)[^/]+/)?(?:uid_(?P<uid>[0-9]{1,10})/)?job_(?P<job>[0-9]{1,10})(?:/step_(?P<step>[^/]{1,32}))?(?=/|$)"
)
"""v1: /slurm[_NODE]/uid_U/job_J/step_S. v2: /system.slice/[NODE_]slurmstepd.scope/[NODE/]job_J/step_S/user/task_T."""

_RUNTIMES = (("cri-containerd", "containerd"), ("crio", "cri-o"), ("docker", "docker"), ("libpod", "podman"))


class Owner(Struct, frozen=True, kw_only=True):
    """Whose a process is; all empty: of the node itself. `slurm_user`: a user's number."""

    pod_uid: str = ""
    container_id: str = ""
    runtime: str = ""
    slurm_job: str = ""
    slurm_step: str = ""
    slurm_user: str = ""


NOBODY = Owner()
"""A process of the node's own: a service, a login."""


def owner_in(text: str) -> Owner | None:
    """Whose the process with this /proc/PID/cgroup is; None if that cannot be told. O(its length)."""
    paths = []
    for line in text.splitlines()[:PATHS_MAX]:
        number, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not number.isdigit() or not path.startswith("/") or len(path) > PATH_MAX:
            continue
        if ".." in path.split("/"):
            return None  # seen from another cgroup namespace
        paths.append((controllers, path.removesuffix(" (deleted)")))
    found = {owner for _, path in paths if (owner := owner_of_path(path)) != NOBODY}
    if len(found) > 1:
        return _agreed(found)
    if found:
        return next(iter(found))
    # In its root a process may be the node's own, or in a container with a namespace of its own.
    return NOBODY if any(path != "/" for _, path in paths) else None


def _agreed(found: set[Owner]) -> Owner | None:
    """What several controllers say of one process, if they do not contradict each other."""
    fields: dict[str, str] = {}
    for name in Owner.__struct_fields__:
        values = {getattr(owner, name) for owner in found} - {""}
        if len(values) > 1:
            return None
        fields[name] = next(iter(values), "")
    return Owner(**fields)


def owner_of_path(path: str) -> Owner:
    """Whose one cgroup is. Of pods within pods, and of containers within containers, the outermost counts."""
    if path.startswith("/user.slice/"):
        return NOBODY  # users may make cgroups of any name there
    pod, job = _POD.search(path), _JOB.search(path)
    if pod and KUBEPODS not in path[: pod.start("uid")]:
        pod = None
    # What is above the pod is the machine's affair: a node may itself be a container.
    container = _CONTAINER.search(path, pod.end() if pod else 0)
    uid = pod["uid"].replace("_", "-") if pod else ""
    return Owner(
        pod_uid=uid,
        container_id=container["id"] if container else "",
        runtime=_runtime(path[: container.start("id")]) if container else "",
        slurm_job=job["job"] if job else "",
        slurm_step=(job["step"] or "") if job else "",
        slurm_user=(job["uid"] or "") if job else "",
    )


def _runtime(before: str) -> str:
    """The container runtime, from what stands before the container's id: `docker-`, `cri-containerd:`, `/docker/`."""
    last = before.rstrip("-:/").rpartition("/")[2]
    return next((name for mark, name in _RUNTIMES if last == mark or last.endswith((f":{mark}", f"-{mark}"))), "")
