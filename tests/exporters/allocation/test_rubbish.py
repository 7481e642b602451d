"""Whatever kubelets, prologs and cgroups may say: no exception, no series twice, no pod that nobody named."""

from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.collectors.cgroup_paths import owner_in
from exporters.collectors.device_names import device_name
from exporters.collectors.slurm_jobs import JobReading, devices_in, jobs_in
from exporters.kubelet.checkpoint import noted_in
from exporters.kubelet.holding import Claimed, Held
from tests.exporters.allocation.readings import A, B, gpu, part
from tests.exporters.allocation.rig import Rig

SPELLED = st.one_of(
    st.sampled_from(
        [A, B, f"{A}::0", f"{B}::1", "0", "1", "9", "nvidia0", "nvidia1/gi1", "MIG-a", "MIG-a::2", "tegra"]
    ),
    st.text(max_size=12),
)
WORDS = st.sampled_from(["one", "two", "three"])
HELD = st.builds(
    Held,
    namespace=WORDS,
    pod=WORDS,
    container=WORDS,
    resource=st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "amd.com/gpu", "x"]),
    ids=st.lists(SPELLED, max_size=4, unique=True).map(lambda ids: tuple(sorted(ids))),
)
CLAIMED = st.builds(
    Claimed,
    namespace=WORDS,
    pod=WORDS,
    container=WORDS,
    claim_namespace=WORDS,
    claim=WORDS,
    driver=st.sampled_from(["gpu.nvidia.com", "other"]),
    pool=WORDS,
    device=st.one_of(st.sampled_from(["gpu-0", "gpu-1", "gpu-0-mig-1-2-3", "gpu-"]), st.text(max_size=6)),
    cdi=st.lists(st.one_of(SPELLED, SPELLED.map(lambda each: f"k/d={each}")), max_size=2).map(tuple),
)


@settings(max_examples=150)
@given(
    held=st.lists(HELD, max_size=6),
    claimed=st.lists(CLAIMED, max_size=4).map(tuple),
    jobs=st.lists(st.tuples(SPELLED, st.text(max_size=12)), max_size=4),
)
def test_any_words_make_a_page(held: list[Held], claimed: tuple[Claimed, ...], jobs: list[tuple[str, str]]) -> None:
    rig = Rig()
    rig.tell("gpu", B, gpu(B, mig=(part("MIG-a", 1),), minor=1), 0)
    rig.kubelet(*held, claimed=claimed)
    files = tuple(each for name, text in jobs for each in jobs_in(name, text))
    rig.tell("slurm", "x", JobReading(held=files, complete=True), 0)
    page = rig.page()
    named = {(each.namespace, each.pod) for each in held} | {(each.namespace, each.pod) for each in claimed}
    for labels in page.get("gpu_allocation_info", {}):
        assert labels[0] in {A, B}
        assert labels[4:6] in named
    ids = sum(len(each.ids) for each in held) + sum(each.driver == "gpu.nvidia.com" for each in claimed)
    placed = sum(int(labels[10]) for labels in page.get("gpu_allocation_info", {}))
    assert placed + sum(page["pod_mapping_unmapped_devices"].values()) == ids, "each id is either placed or counted"


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    device_name(text)
    owner_in(text)
    noted_in(text)
    devices_in(text, {})
    jobs_in(text, text)
