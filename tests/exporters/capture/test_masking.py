"""What leaves the node is disguised, each thing the same wherever it stands, and nothing that matters is lost."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.capture.masking import Mask
from tests.exporters.capture.nodes import Node
from tests.exporters.fake_nvml import hopper

KEY = b"a key of a test"
UID = "6c5f3038-adfc-485d-9943-3fd5e825300d"


def masked(text: str, **options: bool) -> str:
    return Mask(KEY, **options).text(text)


@pytest.mark.parametrize(
    ("secret", "shape"),
    [
        ("a0:88:c2:03:ab:0f", r"[0-9a-f]{2}(:[0-9a-f]{2}){5}"),
        ("a088:c203:00ab:0001", r"[0-9a-f]{4}(:[0-9a-f]{4}){3}"),
        ("fe80:0000:0000:0000:a288:c2ff:fe03:ab0f", r"[0-9a-f]{4}(:[0-9a-f]{4}){7}"),
        ("10.20.30.40", r"\d\d\.\d\d\.\d\d\.\d\d"),
        (UID, r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        (f"GPU-{UID}", r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        (f"MIG-{UID.upper()}", r"MIG-[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"),
        (f"kubepods-pod{UID.replace('-', '_')}.slice", r"kubepods-pod[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}\.slice"),
        (f"cri-containerd-{'5e' * 32}.scope", r"cri-containerd-[0-9a-f]{64}\.scope"),
        ("enxa088c203ab0f", r"enx[0-9a-f]{12}"),
    ],
)
def test_a_secret_becomes_another_of_its_shape(secret: str, shape: str) -> None:
    for text in (secret, f"before {secret} after", f"before\t{secret}\nafter"):
        found = masked(text)
        assert secret not in found
        assert re.search(shape, found)
        assert len(found) == len(text)


@pytest.mark.parametrize(
    "word",
    [
        "0000:17:00.0",
        "00000000:1B:00.0",
        "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/infiniband/mlx5_0",
        "28.41.1000",
        "96.00.A5.00.03",
        "12.570.133.20",
        "0000:0000:0000:0000",
        "00:00:00:00:00:00",
        "MT_0000000838",
        "400 Gb/sec (4X NDR)",
        "NVIDIA H100 80GB HBM3",
        "12345678901234567890",
        "0x10de",
    ],
)
def test_what_is_no_secret_stays(word: str) -> None:
    assert masked(word) == word


def test_one_thing_has_one_disguise_however_it_is_spelled() -> None:
    dashes, low = masked(UID), masked(UID.replace("-", "_"))
    assert low == dashes.replace("-", "_")
    assert masked(UID.upper()) == dashes.upper()
    assert masked("a0:88:c2:03:ab:0f").replace(":", "") == masked("enxa088c203ab0f")[3:]
    assert Mask(b"another key").text(UID) != dashes


def test_uuids_of_gpus_stay_if_wanted_and_others_do_not() -> None:
    text = f"GPU-{UID} MIG-GPU-{UID}/1/0 pod{UID}"
    kept = masked(text, keep_uuids=True)
    assert kept.startswith(f"GPU-{UID} MIG-GPU-{UID}/1/0 pod")
    assert f"pod{UID}" not in kept


def test_a_name_is_disguised_where_it_stands_by_itself() -> None:
    mask = Mask(KEY)
    mask.host("gpu-07.example.org")
    assert re.fullmatch(r"node-[0-9a-f]{6}", mask.text("gpu-07"))
    assert mask.text("gpu-07.example.org") == f"{mask.text('gpu-07')}.invalid"
    assert mask.text("gpu-070 xgpu-07") == "gpu-070 xgpu-07"
    assert mask.text("kthreadd") == "kthreadd"


@given(st.text(alphabet="0123456789abcdefABCDEF:-_. \ngpux", max_size=200))
def test_whatever_the_text_is_its_shape_stays(text: str) -> None:
    def shape(of: str) -> str:
        return re.sub(r"[0-9a-zA-Z]", "x", of)

    assert shape(masked(text)) == shape(text)


@pytest.mark.needs("c-compiler")
def test_nothing_of_the_node_s_own_is_in_its_capture(node: Node) -> None:
    trees = node.trees
    trees.write_proc("sys/kernel/hostname", "fir-gpu-07.cluster.example")
    trees.write_proc("driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module 570.1 (root@fir-gpu-07)")
    trees.write_proc(
        "4000/stat", (trees.procfs / "4000/stat").read_text().replace("python3", "secret-model (v2)").strip()
    )
    trees.write_proc("modules", "nvidia_peermem 16384 0 - Live 0xffffffffc0a12000")
    trees.write_proc("4000/cmdline", "python3 --token=hunter2")
    trees.write_proc("4000/environ", "TOKEN=hunter2")
    text = node.capture()
    found = json.loads(text)
    secrets = [
        *(hopper.uuid(number)[4:] for number in range(1, 8)),
        *(f"165402100{number:04d}" for number in range(8)),
        *("fir-gpu-07", "cluster.example", "secret-model", "hunter2", "python3", "ffffffffc0a12000"),
        *("a088:c203:00ab", "6c5f3038_adfc", "1111111111111111", "0101A8C0"),
    ]
    assert [secret for secret in secrets if secret.lower() in text.lower()] == []
    assert "kthreadd" in found["procfs"]["files"]["2/stat"]
    assert "serial numbers" in found["masked"]
    assert "UUIDs of GPUs" in found["masked"]


@pytest.mark.needs("c-compiler")
def test_what_belonged_together_still_does(node: Node) -> None:
    """A disguised capture joins GPUs, processes, pods and RDMA devices as the node does."""

    def joined(page: object) -> list[tuple[str, int]]:
        assert isinstance(page, dict)
        families = ("knotwatch_gpu_process_info", "knotwatch_rdma_nearest_gpu_info", "knotwatch_gpu_info")
        return sorted((family, sum(name == family for name, _ in page)) for family in families)

    names = ("gpu", "rdma", "topology", "processes")
    before = joined(node.page(*names))
    node.capture()
    page = node.replayed(*names)
    assert joined(page) == before
    uuids = {dict(labels)["uuid"] for name, labels in page if name == "knotwatch_gpu_info"}
    assert {dict(labels)["uuid"] for name, labels in page if "uuid" in dict(labels)} <= uuids


@pytest.mark.needs("c-compiler")
def test_two_captures_of_one_node_cannot_be_matched(node: Node) -> None:
    serials = []
    for _ in range(2):
        node.capture()
        found = json.loads(node.file.read_text())
        serials.append([each["answers"][0]["value"] for each in found["nvml"] if each["call"] == "nvmlDeviceGetSerial"])
    assert all(re.fullmatch(r"\d{13}", serial) for serial in serials[0])
    assert not set(serials[0]) & set(serials[1])
