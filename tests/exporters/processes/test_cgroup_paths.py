"""Whose a process is by its cgroup, in every shape that kubelets, runtimes and slurmd make."""

import pytest

from exporters.collectors.cgroup_paths import NOBODY, Owner, owner_in

UID = "6c5f3038-adfc-485d-9943-3fd5e825300d"
UNDERSCORES = UID.replace("-", "_")
SLICE = f"pod{UNDERSCORES}.slice"
TOP = "/kubepods.slice/kubepods"
ID = "0123456789abcdef" * 4
OTHER = "f" * 64
STATIC = "1d2c3b4a" * 4


@pytest.mark.parametrize(
    ("path", "runtime"),
    [
        (f"{TOP}-burstable.slice/kubepods-burstable-{SLICE}/cri-containerd-{ID}.scope", "containerd"),
        (f"{TOP}-{SLICE}/cri-containerd-{ID}.scope", "containerd"),
        (f"{TOP}-besteffort.slice/kubepods-besteffort-{SLICE}/crio-{ID}.scope/container", "cri-o"),
        (f"{TOP}-{SLICE}/docker-{ID}.scope", "docker"),
        (f"/kubepods/burstable/pod{UID}/{ID}", ""),
        (f"/kubepods/pod{UID}/{ID}", ""),
        (f"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-{SLICE}/cri-containerd-{ID}.scope", "containerd"),
        (f"/system.slice/containerd.service/kubepods-burstable-{SLICE}:cri-containerd:{ID}", "containerd"),
        (f"/docker/{OTHER}/kubelet/kubepods/burstable/pod{UID}/{ID}", ""),
        (f"{TOP}-{SLICE}/cri-containerd-{ID}.scope/init.scope", "containerd"),
        (f"{TOP}-{SLICE}/cri-containerd-{ID}.scope (deleted)", "containerd"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["0::{}\n", "12:pids:{0}\n3:cpu,cpuacct:{0}\n1:name=systemd:{0}\n0::/\n"])
def test_a_container_of_a_pod(path: str, runtime: str, shape: str) -> None:
    assert owner_in(shape.format(path)) == Owner(pod_uid=UID, container_id=ID, runtime=runtime)


def test_a_static_pod_has_a_uid_without_dashes() -> None:
    assert owner_in(f"0::/kubepods/pod{STATIC}/{ID}") == Owner(pod_uid=STATIC, container_id=ID)


def test_of_pods_within_pods_the_outer_one_is_the_node_s() -> None:
    inner = "9c5f3038-adfc-485d-9943-3fd5e825300d"
    found = owner_in(f"0::/kubepods/pod{UID}/{ID}/kubepods/pod{inner}/{OTHER}")
    assert found == Owner(pod_uid=UID, container_id=ID)


@pytest.mark.parametrize(
    ("path", "runtime"),
    [
        (f"/system.slice/docker-{ID}.scope", "docker"),
        (f"/docker/{ID}", "docker"),
        (f"/machine.slice/libpod-{ID}.scope/container", "podman"),
        (f"/default/{ID}", ""),
    ],
)
def test_a_container_of_no_pod(path: str, runtime: str) -> None:
    assert owner_in(f"0::{path}") == Owner(container_id=ID, runtime=runtime)


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("/slurm/uid_1000/job_4242/step_0/task_0", Owner(slurm_job="4242", slurm_step="0", slurm_user="1000")),
        ("/slurm_node01/uid_1000/job_4242", Owner(slurm_job="4242", slurm_user="1000")),
        ("/system.slice/slurmstepd.scope/job_4242/step_batch/user/task_0", Owner(slurm_job="4242", slurm_step="batch")),
        ("/system.slice/slurmstepd.scope/node01/job_4242/step_extern", Owner(slurm_job="4242", slurm_step="extern")),
        ("/system.slice/n1_slurmstepd.scope/job_7/step_interactive", Owner(slurm_job="7", slurm_step="interactive")),
    ],
)  # fmt: skip
def test_a_job_of_slurm(path: str, owner: Owner) -> None:
    assert owner_in(f"5:devices:{path}\n0::/\n" if path.startswith("/slurm") else f"0::{path}\n") == owner


def test_a_container_in_a_job_is_both() -> None:
    found = owner_in(f"0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/libpod-{ID}")
    assert found == Owner(container_id=ID, runtime="podman", slurm_job="7", slurm_step="0")


@pytest.mark.parametrize(
    "text",
    [
        "0::/\n",
        "0::/../../kubepods-burstable.slice/kubepods-burstable-pod"
        + UNDERSCORES
        + f".slice/cri-containerd-{ID}.scope\n",
        f"0::/../cri-containerd-{ID}.scope\n",
        f"4:memory:/\n0::/../../pod{UID}/{ID}\n",
        "",
        "rubbish",
        "0::relative/path",
        "5:devices:/slurm/uid_1/job_1/step_0\n4:memory:/slurm/uid_1/job_2/step_0",
        "0::/" + "x" * 5000,
    ],
)
def test_what_cannot_be_told_is_unknown_and_never_a_wrong_pod(text: str) -> None:
    assert owner_in(text) is None


@pytest.mark.parametrize(
    "path",
    [
        "/system.slice/sshd.service",
        "/user.slice/user-1000.slice/session-3.scope",
        "/init.scope",
        f"/user.slice/user-1000.slice/user@1000.service/kubepods/pod{UID}/{ID}",
        "/user.slice/user-1000.slice/user@1000.service/slurm/uid_0/job_1",
        f"/system.slice/pod{UID}.service",
        "/kubepods.slice/kubepods-pod123.slice",
        "/system.slice/slurmd.service",
    ],
)
def test_what_the_node_runs_itself_is_nobody_s(path: str) -> None:
    """And what users call their own cgroups does not make them a pod."""
    assert owner_in(f"0::{path}\n") == NOBODY
