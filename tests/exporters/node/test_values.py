"""What the node's files say, each broken file for itself, and the same values from Debian's node_exporter."""

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from exporters.collectors import cpu, memory, network, numa, pressure
from exporters.collectors.cpu import CpuTimes
from exporters.rooted import read_bytes, tree_at
from exporters.subject import ReadError
from tests.exporters.node.proc import look_at, parts_of, series_of, stat, whole
from tests.exporters.rdma import node_exporter
from tests.exporters.trees import Trees


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return whole(Trees(tmp_path))


def test_processors_are_summed_in_seconds(trees: Trees) -> None:
    found = look_at(trees)
    assert found["cpu_seconds_total", "user"] == pytest.approx(40.06)
    assert found["cpu_seconds_total", "iowait"] == pytest.approx(28.0)
    assert found["cpu_seconds_total", "steal"] == pytest.approx(3.6)
    assert (found["cpus",], found["processes_blocked",], found["boot_timestamp_seconds",]) == (4, 2, 1796048311)


def test_a_long_line_of_interrupts_costs_nothing(trees: Trees) -> None:
    """Debian's node_exporter gives up on one of 64 kB, which machines with hundreds of processors have."""
    before = look_at(trees)
    trees.write_proc("stat", stat().replace("intr ", "intr " + "0 " * 100_000))
    assert look_at(trees) == before


def test_a_small_step_back_is_held_and_a_fall_is_a_reset(trees: Trees) -> None:
    """prometheus/node_exporter#1686, #1903: idle and iowait step back a little, which rate() takes for a reset."""
    times = CpuTimes(tree_at(trees.procfs), 100)

    def iowait(text: str) -> float:
        trees.write_proc("stat", text)
        reading = times.look()
        assert reading.value is not None
        return reading.value.seconds["iowait"]

    assert iowait(stat(iowait=700)) == 28.0
    assert iowait(stat(iowait=690)) == 28.0
    assert iowait(stat(iowait=720)) == 28.8
    assert iowait(stat(iowait=10)) == pytest.approx(0.4)


def test_memory_is_bytes_and_pages_are_pages(trees: Trees) -> None:
    found = look_at(trees)
    assert found["memory_total_bytes",] == 1000 * 1024
    assert found["memory_shared_bytes",] == 1084 * 1024
    assert found["memory_huge_pages", "free"] == 1140
    assert found["memory_huge_page_bytes",] == 1154 * 1024
    assert found["out_of_memory_kills_total",] == 5


def test_pressure_is_seconds_without_what_means_nothing(trees: Trees) -> None:
    found = {key[1:]: value for key, value in look_at(trees).items() if key[0] == "pressure_seconds_total"}
    assert found == {
        ("cpu", "some"): 1.5,
        ("io", "some"): 1.500001,
        ("io", "full"): 0.700001,
        ("memory", "some"): 1.500002,
        ("memory", "full"): 0.700002,
        ("irq", "full"): 0.000042,
    }


def test_interfaces_of_containers_are_left_out(trees: Trees) -> None:
    found = look_at(trees)
    assert {key[1] for key in found if key[0] == "network_receive_bytes_total"} == {"eth0", "ib0"}
    assert found["network_receive_bytes_total", "ib0"] == 9223372036854775, "no blank after the colon"
    assert found["network_transmit_drops_total", "eth0"] == 12
    assert found["network_speed_bytes_per_second", "eth0"] == 25e9
    assert found["network_numa_node", "eth0"] == 1
    assert (found["network_up", "eth0"], found["network_up", "ib0"]) == (1, 0)
    assert ("network_speed_bytes_per_second", "ib0") not in found, "-1 is no speed"


def test_which_interfaces_is_a_setting(trees: Trees) -> None:
    found = look_at(trees, include="eth.*|veth.*", exclude="eth1")
    assert {key[1] for key in found if key[0] == "network_receive_bytes_total"} == {"eth0", "veth12ab"}


def test_the_node_s_interfaces_are_read_not_those_of_our_namespace(trees: Trees) -> None:
    trees.write_proc("1/net/dev", "eth9: " + " ".join(["1"] * 16))
    assert {key[1] for key in look_at(trees) if key[0] == "network_receive_bytes_total"} == {"eth9"}


def test_numa_nodes_have_processors_and_memory(trees: Trees) -> None:
    found = look_at(trees)
    assert found["numa_cpus", "1"] == 2
    assert found["numa_memory_total_bytes", "1"] == 5001 * 1024
    assert found["numa_memory_free_bytes", "0"] == 300 * 1024


FILES = {
    "stat": ("cpu", "node/stat"),
    "meminfo": ("memory", "node/meminfo"),
    "vmstat": ("memory", "node/vmstat"),
    "pressure/io": ("pressure", "node/pressure_io"),
    "net/dev": ("network", "node/net_dev"),
}


@pytest.mark.parametrize("file", FILES)
def test_one_unreadable_file_costs_what_it_says(trees: Trees, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look_at(trees)

    def refusing(path: str, at_most: int) -> bytes:
        if path == str(trees.procfs / file):
            raise OSError(errno.EIO, "refused")
        return read_bytes(path, at_most)

    monkeypatch.setattr("exporters.collectors.node.tree_at", lambda root: tree_at(root, refusing))
    part, call = FILES[file]
    found, readings = series_of(list(parts_of(trees).values()))
    errors = {key.name: reading.errors for key, reading in readings.items() if reading.errors}
    assert errors == {part: (ReadError(call, "EIO"),)}
    lost = {key[0] for key in before.keys() - found.keys()}
    assert lost
    assert found == {key: value for key, value in before.items() if key in found}


def test_pressure_that_is_switched_off_is_no_error(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    """prometheus/node_exporter#1961: with psi=0 the files are there and refuse to be read."""

    def refusing(path: str, at_most: int) -> bytes:
        if "/pressure/" in path:
            raise OSError(errno.EOPNOTSUPP, "switched off")
        return read_bytes(path, at_most)

    monkeypatch.setattr("exporters.collectors.node.tree_at", lambda root: tree_at(root, refusing))
    _, readings = series_of([parts_of(trees)["pressure"]])
    assert [(reading.value, reading.errors) for reading in readings.values()] == [((), ())]


def test_kernels_that_count_less_are_no_error(trees: Trees) -> None:
    """prometheus/node_exporter#3051, #3259: no `full` line of processors, and no file of interrupts."""
    (trees.procfs / "pressure/irq").unlink()
    trees.write_proc("pressure/cpu", "some avg10=1.50 avg60=2.00 avg300=3.00 total=1500000")
    found, readings = series_of([parts_of(trees)["pressure"]])
    assert all(reading.errors == () for reading in readings.values())
    assert found["pressure_seconds_total", "cpu", "some"] == 1.5


def test_a_node_without_any_of_it_has_no_values_and_says_which_files_lack(tmp_path: Path) -> None:
    found, readings = series_of(list(parts_of(Trees(tmp_path)).values()))
    assert found == {}
    assert {key.name for key, reading in readings.items() if reading.errors} == {"cpu", "memory", "network"}


@given(st.text(max_size=400) | st.binary(max_size=400).map(lambda raw: raw.decode("utf-8", "replace")))
def test_rubbish_is_nothing_and_never_an_error_of_ours(text: str) -> None:
    cpu.parsed(f"cpu {text}\n{text}", 100)
    memory.parsed(text)
    memory.kills_in(f"oom_kill {text}")
    network.parsed(f"a: {text}\n{text}")
    pressure.parsed("io", f"some total={text}\n{text}")
    numa.cpus_in(text)


def published(trees: Trees) -> dict[tuple[str, ...], float]:
    """What Debian's node_exporter says of the same files: (name, labels in order of their names) to the value."""
    page = node_exporter.page(
        trees.sysfs,
        f"--path.procfs={trees.procfs}",
        *(f"--collector.{name}" for name in ("cpu", "meminfo", "meminfo_numa", "pressure", "netdev", "netclass")),
        *("--collector.stat", "--collector.vmstat", "--no-collector.netdev.netlink"),
    )
    found: dict[tuple[str, ...], float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels = (value for name, value in sorted(sample.labels.items()) if name != "cpu")
            key = (sample.name.removeprefix("node_"), *labels)
            found[key] = found.get(key, 0.0) + sample.value if sample.name == "node_cpu_seconds_total" else sample.value
    return found


@pytest.mark.needs("node-exporter")
def test_the_values_are_those_of_debian_s_node_exporter(trees: Trees) -> None:
    ours, theirs = look_at(trees), published(trees)
    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        *((("cpu_seconds_total", mode), ("cpu_seconds_total", mode)) for mode in cpu.MODES),
        (("processes_blocked",), ("procs_blocked",)),
        (("boot_timestamp_seconds",), ("boot_time_seconds",)),
        (("out_of_memory_kills_total",), ("vmstat_oom_kill",)),
        (("pressure_seconds_total", "cpu", "some"), ("pressure_cpu_waiting_seconds_total",)),
        (("pressure_seconds_total", "io", "some"), ("pressure_io_waiting_seconds_total",)),
        (("pressure_seconds_total", "io", "full"), ("pressure_io_stalled_seconds_total",)),
        (("pressure_seconds_total", "memory", "full"), ("pressure_memory_stalled_seconds_total",)),
        (("network_speed_bytes_per_second", "eth0"), ("network_speed_bytes", "eth0")),
        (("network_carrier_changes_total", "eth0"), ("network_carrier_changes_total", "eth0")),
        (("network_up", "eth0"), ("network_up", "eth0")),
        (("numa_memory_total_bytes", "1"), ("memory_numa_MemTotal", "1")),
        (("numa_memory_free_bytes", "0"), ("memory_numa_MemFree", "0")),
    ]
    for name, key in (("total", "MemTotal"), ("available", "MemAvailable"), ("committed", "Committed_AS")):
        pairs.append(((f"memory_{name}_bytes",), (f"memory_{key}_bytes",)))
    pairs += [
        ((f"network_{way}_{name}_total", interface), (f"network_{way}_{key}_total", interface))
        for way in ("receive", "transmit")
        for name, key in (("bytes", "bytes"), ("packets", "packets"), ("errors", "errs"), ("drops", "drop"))
        for interface in ("eth0", "ib0")
    ]
    assert {key: ours[key] for key, _ in pairs} == pytest.approx({key: theirs[other] for key, other in pairs})
