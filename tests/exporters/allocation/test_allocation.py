"""What is published of who holds what: one series for each holder, values of a device never copied, words that age."""

import pytest

from exporters.collectors.cgroup_paths import Owner
from exporters.collectors.gpu_names import Numbers
from exporters.collectors.pod_uids import Named, UidReading
from exporters.followers.allocation import SERIES_MAX
from exporters.kubelet.holding import Claimed, Noted
from exporters.subject import Reason
from tests.exporters.allocation.readings import GIB, A, B, C, alive, gpu, moment, node, part, process, processes
from tests.exporters.allocation.rig import UIDS, Page, Rig, given_to


def holders(page: Page) -> list[tuple[str, ...]]:
    """UUID, instance, compute instance, pod, sharing and replicas of each allocation."""
    return [
        (labels[0], labels[2], labels[3], labels[5], labels[9], labels[10])
        for labels in sorted(page.get("gpu_allocation_info", {}))
    ]


def test_a_whole_gpu_of_one_pod(rig: Rig) -> None:
    rig.kubelet(given_to("train-0", B))
    assert list(rig.page()["gpu_allocation_info"]) == [
        (B, "1", "", "", "team", "train-0", "", "main", "nvidia.com/gpu", "exclusive", "1")
    ]


def test_pods_that_share_a_gpu_have_a_series_each_and_it_says_so(rig: Rig) -> None:
    """Neither the last writer wins, nor does each get the device's value: NVIDIA/dcgm-exporter#151, #201, #432."""
    rig.kubelet(given_to("one", f"{A}::0", f"{A}::2"), given_to("two", f"{A}::1"))
    assert holders(rig.page()) == [(A, "", "", "one", "shared", "2"), (A, "", "", "two", "shared", "1")]
    assert rig.page()["gpu_holders"][A, "0"] == 2


def test_a_hundred_replicas_are_a_hundred_series_and_no_values(rig: Rig) -> None:
    """Each replica multiplied every metric: NVIDIA/dcgm-exporter#536."""
    rig.kubelet(*(given_to(f"pod-{number:03}", f"{A}::{number}") for number in range(100)))
    page = rig.page()
    assert len(page["gpu_allocation_info"]) == 100
    assert sum(len(series) for series in page.values()) < 100 + 30


def test_a_mig_device_is_its_gpu_and_instances(rig: Rig) -> None:
    """Resolved by UUID to the parent, the instance and the compute instance: NVIDIA/dcgm-exporter#272, #544, #577."""
    mig = (part("MIG-one", 1), part("MIG-two", 2, 0), part("MIG-three", 2, 1))
    rig.tell("gpu", B, gpu(B, mig=mig, minor=1), 0)
    resource = "nvidia.com/mig-3g.40gb"
    rig.kubelet(
        given_to("one", "MIG-one", resource=resource),
        given_to("two", "MIG-two", resource=resource),
        given_to("three", "MIG-three::1", resource=resource),
    )
    assert holders(rig.page()) == [
        (B, "1", "0", "one", "mig", "1"),
        (B, "2", "0", "two", "mig", "1"),
        (B, "2", "1", "three", "mig_shared", "1"),
    ]


def test_ids_that_lead_nowhere_are_counted_by_reason(rig: Rig) -> None:
    """Never silent: NVIDIA/dcgm-exporter#150, #188, #477, #529."""
    rig.kubelet(
        given_to("one", A, "GPU-other-node", "what-is-this", "MIG-none"),
        given_to("two", "0000:03:00.0", resource="amd.com/gpu"),
        given_to("three", "65", resource="nvidia.com/GH100_H100"),
    )
    page = rig.page()
    assert holders(page) == [(A, "", "", "one", "exclusive", "1")]
    assert page["pod_mapping_unmapped_devices"] == {
        ("unknown_spelling",): 2,
        ("unknown_gpu",): 1,
        ("unknown_instance",): 1,
        ("ambiguous_number",): 0,
        ("other_vendor",): 1,
        ("claim",): 0,
    }


@pytest.mark.parametrize(("resource", "known"), [("example.com/a100", True), ("vendor.com/pgpu", False)])
def test_a_number_counts_for_a_resource_that_is_known_to_be_a_gpu(resource: str, *, known: bool) -> None:
    """A passed-through device has a number, too, and it is that of a group of the IOMMU."""
    rig = Rig(resources=r"example\.com/.*")
    rig.kubelet(given_to("one", "1", resource=resource))
    assert [each[0] for each in holders(rig.page())] == ([B] if known else [])


class TestTheKubeletFallsSilent:
    def test_its_last_word_stands_for_a_while_and_it_is_said_that_it_is_silent(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        rig.silence(30)
        page = rig.page(100)
        assert len(holders(page)) == 1
        assert page["pod_mapping_up"][()] == 0
        assert page["pod_mapping_last_success_timestamp_seconds"][()] == moment(0).wall_s

    def test_then_no_pod_is_named_any_more(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        rig.silence(30)
        page = rig.page(181)
        assert holders(page) == []
        assert page["pod_mapping_up"][()] == 0
        assert "gpu_holders" not in page, "nobody knows who holds it, which is not nobody"

    def test_a_call_that_hangs_is_silence(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        rig.silence(30, Reason.TIMEOUT)
        assert rig.page(40)["pod_mapping_up"][()] == 0

    def test_it_comes_back(self, rig: Rig) -> None:
        rig.silence(0)
        assert rig.page(5)["pod_mapping_up"][()] == 0
        rig.kubelet(given_to("one", A), at_s=10)
        page = rig.page(15)
        assert (page["pod_mapping_up"][()], len(holders(page))) == (1, 1)

    def test_a_node_that_never_had_one_says_nothing_of_pods(self, rig: Rig) -> None:
        assert not [name for name in rig.page() if name.startswith("pod_")]


def test_the_holder_of_a_gpu_that_is_lost_is_told_on(rig: Rig) -> None:
    rig.kubelet(given_to("one", A))
    rig.tell("gpu", A, None, 5, up=False, reason=Reason.LOST)
    assert len(holders(rig.page(6))) == 1


class TestClaims:
    """NVIDIA/dcgm-exporter#569, #718: no labels under DRA, and GPUs without a claim vanished."""

    @staticmethod
    def claimed(device: str, pod: str = "one", **more: object) -> Claimed:
        fields: dict[str, object] = {"driver": "gpu.nvidia.com", "pool": "node-1", "claim": "c", **more}
        return Claimed(namespace="team", pod=pod, container="main", claim_namespace="team", device=device, **fields)  # type: ignore[arg-type]  # fields of the struct

    def test_a_device_by_its_minor_number(self, rig: Rig) -> None:
        rig.kubelet(claimed=(self.claimed("gpu-1"),))
        page = rig.page()
        assert holders(page) == [(B, "", "", "one", "exclusive", "1")]
        assert len(page["pod_claim_info"]) == 1

    def test_a_device_by_a_uuid_in_its_cdi_name(self, rig: Rig) -> None:
        rig.kubelet(claimed=(self.claimed("what", cdi=(f"nvidia.com/gpu={A}",)),))
        assert holders(rig.page()) == [(A, "", "", "one", "exclusive", "1")]

    def test_a_part_that_only_the_api_server_could_name_keeps_its_claim(self, rig: Rig) -> None:
        rig.kubelet(claimed=(self.claimed("gpu-0-mig-19-0-1"),))
        page = rig.page()
        assert holders(page) == []
        assert page["pod_mapping_unmapped_devices"]["claim",] == 1
        assert len(page["pod_claim_info"]) == 1

    def test_two_pods_with_one_claim_share(self, rig: Rig) -> None:
        rig.kubelet(claimed=(self.claimed("gpu-0"), self.claimed("gpu-0", "two")))
        assert [each[3:5] for each in holders(rig.page())] == [("one", "shared"), ("two", "shared")]

    def test_a_claim_of_another_driver_is_no_gpu(self, rig: Rig) -> None:
        rig.kubelet(claimed=(self.claimed("gpu-0", driver="dra.net"),))
        page = rig.page()
        assert holders(page) == []
        assert page["pod_mapping_unmapped_devices"]["claim",] == 0

    def test_a_gpu_that_nobody_claims_is_there_all_the_same(self, rig: Rig) -> None:
        rig.kubelet()
        assert rig.page()["gpu_holders"] == {(A, "0"): 0, (B, "1"): 0}


class TestUids:
    def uid_of(self, rig: Rig, noted: tuple[Noted, ...] | None, named: tuple[Named, ...]) -> str:
        rig.tell("kubelet", "pod_uids", UidReading(noted=noted, named=named), 0)
        (labels,) = rig.page()["gpu_allocation_info"]
        return labels[6]

    def noted(self, uid: str, *ids: str) -> Noted:
        return Noted(pod_uid=uid, container="main", resource="nvidia.com/gpu", ids=ids)

    def test_by_the_same_devices_in_the_checkpoint(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        assert self.uid_of(rig, (self.noted(UIDS[0], A), self.noted(UIDS[1], B)), ()) == UIDS[0]

    def test_by_the_name_of_its_log_folder(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        assert self.uid_of(rig, None, (Named("team", "one", UIDS[0]),)) == UIDS[0]

    def test_of_two_pods_of_one_name_the_checkpoint_tells_which(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        named = (Named("team", "one", UIDS[0]), Named("team", "one", UIDS[1]))
        assert self.uid_of(rig, (self.noted(UIDS[1], A),), named) == UIDS[1]

    def test_hints_that_contradict_each_other_say_nothing(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        assert self.uid_of(rig, (self.noted(UIDS[1], A),), (Named("team", "one", UIDS[0]),)) == ""

    def test_a_checkpoint_with_a_pod_that_is_gone_says_nothing(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        assert self.uid_of(rig, (self.noted(UIDS[0], A), self.noted(UIDS[1], A)), ()) == ""


class TestJobs:
    def jobs(self, page: Page) -> list[tuple[str, ...]]:
        return [(each[0], each[4], each[5], each[6], each[7]) for each in sorted(page.get("gpu_job_info", {}))]

    def test_a_gpu_that_is_held_with_no_process_has_its_job(self, rig: Rig) -> None:
        """Exactly the worst waste was invisible: guilbaults/slurm-job-exporter#65."""
        rig.slurm((A, "4242"))
        assert self.jobs(rig.page()) == [(A, "4242", "1000", "prolog", "uuid")]

    def test_two_jobs_on_one_gpu_are_two_series(self, rig: Rig) -> None:
        rig.slurm((A, "123"), (A, "456"))
        assert [each[1] for each in self.jobs(rig.page())] == ["123", "456"]

    def test_the_key_that_was_used_is_told(self, rig: Rig) -> None:
        rig.slurm(("0", "1"), ("nvidia1", "2"))
        assert [each[-1] for each in self.jobs(rig.page())] == ["number", "minor"]

    def test_a_number_of_two_meanings_is_counted_and_not_guessed(self) -> None:
        """PrincetonUniversity/jobstats#34, guilbaults/slurm-job-exporter#63."""
        rig = Rig()
        rig.tell("nvml", "", node((A, B, C), minors=(2, 0, 1)), 0)
        rig.slurm(("0", "4242"))
        page = rig.page()
        assert self.jobs(page) == []
        assert page["slurm_mapping_unmapped_devices"]["ambiguous_number",] == 1

    @pytest.mark.parametrize(("numbers", "uuid"), [(Numbers.INDEX, A), (Numbers.MINOR, B)])
    def test_unless_the_settings_say_which(self, numbers: Numbers, uuid: str) -> None:
        rig = Rig(numbers)
        rig.tell("nvml", "", node((A, B, C), minors=(2, 0, 1)), 0)
        rig.slurm(("0", "4242"))
        assert [each[0] for each in self.jobs(rig.page())] == [uuid]

    def test_a_process_tells_of_its_job_where_nobody_else_does(self, rig: Rig) -> None:
        rig.tell("gpu", A, gpu(A, used=4 * GIB, processes=(process(7, GIB),)), 1)
        rig.tell("processes", "", processes(alive(7, Owner(slurm_job="99", slurm_user="1001"))), 1)
        page = rig.page(2)
        assert self.jobs(page) == [(A, "99", "1001", "process", "pid")]
        assert page["slurm_mapping_complete"][()] == 0
        assert (B, "1") not in page["gpu_holders"], "a job may hold it and run nothing there"

    def test_of_two_sources_the_more_direct_one_is_told(self, rig: Rig) -> None:
        rig.slurm((A, "99"))
        rig.tell("gpu", A, gpu(A, used=4 * GIB, processes=(process(7, GIB),)), 1)
        rig.tell("processes", "", processes(alive(7, Owner(slurm_job="99"))), 1)
        assert self.jobs(rig.page(2)) == [(A, "99", "1000", "prolog", "uuid")]

    def test_a_folder_that_is_not_read_any_more_is_dropped(self, rig: Rig) -> None:
        rig.slurm((A, "99"))
        assert self.jobs(rig.page(119)) != []
        assert self.jobs(rig.page(121)) == []


class TestUnallocatedMemory:
    def test_memory_that_no_pod_holds(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A))
        assert rig.page()["gpu_memory_unallocated_bytes"] == {(B, "1"): 20 * GIB}

    def test_quiet_while_the_kubelet_never_answered(self, rig: Rig) -> None:
        rig.silence(0)
        assert "gpu_memory_unallocated_bytes" not in rig.page()

    def test_quiet_while_an_id_leads_nowhere(self, rig: Rig) -> None:
        rig.kubelet(given_to("one", A), given_to("two", "what-is-this"))
        assert "gpu_memory_unallocated_bytes" not in rig.page()

    def test_quiet_on_a_node_without_any_books(self, rig: Rig) -> None:
        assert "gpu_memory_unallocated_bytes" not in rig.page()

    def test_quiet_while_only_processes_tell_of_jobs(self, rig: Rig) -> None:
        rig.kubelet()
        rig.tell("processes", "", processes(alive(7, Owner(slurm_job="99"))), 0)
        assert "gpu_memory_unallocated_bytes" not in rig.page()


def test_however_many_pods_come_and_go_little_is_kept(rig: Rig) -> None:
    """A cache of names without a bound: NVIDIA/dcgm-exporter#574."""
    for cycle in range(200):
        rig.kubelet(*(given_to(f"pod-{cycle}-{number}", f"{A}::{number}") for number in range(1000)), at_s=cycle)
        rig.page(cycle)
    known = rig.follower._known
    assert known.pod_word is not None
    assert len(known.pod_word.value.held) == 1000
    assert len(known.job_words) == 0


def test_more_than_is_published_is_counted(rig: Rig) -> None:
    rig.kubelet(*(given_to(f"pod-{number:05}", f"{A}::{number}") for number in range(SERIES_MAX + 7)))
    page = rig.page()
    assert len(page["gpu_allocation_info"]) == SERIES_MAX
    assert page["allocations_left_out"][()] == 7
