"""One unreadable file costs one series; what refuses on and on is left alone; what is excluded is not touched."""

import errno
import os
from pathlib import Path

import pytest

from exporters.collectors.pauses import PAUSE_MAX_S, PAUSE_S, REFUSALS_UNTIL_PAUSE, Pauses
from exporters.subject import ReadError, Reason
from tests.exporters.rdma.looking import INTERVAL_S, Reads, at, devices_of, look, look_at, subject_of
from tests.exporters.trees import Trees, h100

FILES = [
    ("VL15_dropped", "port_management_drops_total"),
    ("port_xmit_data", "port_transmit_bytes_total"),
    ("local_ack_timeout_err", "port_local_ack_timeouts_total"),
    ("rate", "port_rate_bytes_per_second"),
    ("state", "port_state"),
    ("phys_state", "port_physical_state"),
    ("lifespan", "port_hardware_lifespan_seconds"),
]
LOST_WITH = {"rate": {"port_lanes"}, "state": {"port_state_changes_total", "port_link_up"}}
"""What else the file tells."""


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return h100(Trees(tmp_path))


@pytest.mark.parametrize(("file", "family"), FILES)
@pytest.mark.parametrize("error", [errno.EINVAL, errno.EIO, errno.EACCES, errno.ETIMEDOUT])
def test_one_unreadable_file_costs_one_series(trees: Trees, file: str, family: str, error: int) -> None:
    """node_exporter#3265, procfs#704, rdma-core#239: EINVAL on one file took every RDMA series of the node."""
    whole = look_at(trees, "mlx5_0")
    reads = Reads(**{file: error})
    series, reading = look(subject_of(devices_of(trees, read=reads)(), "mlx5_0"))
    missing = {key[0] for key in whole.keys() - series.keys()} - {"port_info"}
    assert missing == {family} | LOST_WITH.get(file, set())
    assert {key: value for key, value in whole.items() if key in series} == {
        key: value for key, value in series.items() if key in whole
    }
    assert reading.up
    assert reading.errors == (ReadError(f"rdma/{file}", errno.errorcode[error]),)


@pytest.mark.parametrize("kind", ["pipe", "folder", "long"])
def test_something_odd_in_place_of_a_file_costs_one_series(trees: Trees, kind: str) -> None:
    whole = look_at(trees, "mlx5_0")
    place = trees.sysfs / "class/infiniband/mlx5_0/ports/1/counters/symbol_error"
    place.unlink()
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case _:
            place.write_bytes(b"0" * 10_000_000)
    series, reading = look(subject_of(devices_of(trees)(), "mlx5_0"))
    assert whole.keys() - series.keys() == {("port_symbol_errors_total", "mlx5_0", "1")}
    assert [error.call for error in reading.errors] == ["rdma/symbol_error"]


def test_an_excluded_device_is_not_touched(trees: Trees) -> None:
    """node_exporter#3434, #3823, procfs#854, gpud#1164: excluding after reading fills the kernel's log all the same."""
    reads = Reads()
    for subject in devices_of(trees, exclude="mlx5_[0-6]", read=reads)():
        subject.read(at(0.0))
    touched = {
        name for name in (f"mlx5_{index}" for index in range(8)) if any(f"/{name}/" in path for path in reads.paths)
    }
    assert touched == {"mlx5_7"}


def test_only_what_is_included_is_touched_and_exclusion_wins(trees: Trees) -> None:
    listed = devices_of(trees, include="mlx5_[0-3]", exclude="mlx5_1")()
    assert [each.key.name for each in listed] == ["", "mlx5_0", "mlx5_2", "mlx5_3"]


def test_a_pattern_is_for_the_whole_name(trees: Trees) -> None:
    assert len(list(devices_of(trees, exclude="mlx5")())) == 10
    assert len(list(devices_of(trees, exclude="mlx5.*")())) == 1
    assert len(list(devices_of(trees, include="mlx5")())) == 1


def test_a_series_does_not_change_its_source_while_the_first_refuses(trees: Trees) -> None:
    """The narrow register in place of the wide one would look like a reset, and back again like a jump."""
    trees.write("class/infiniband/mlx5_0/ports/1/counters_ext/port_xmit_data_64", "50000000000")
    reads = Reads()
    subject = subject_of(devices_of(trees, read=reads)(), "mlx5_0")
    key = ("port_transmit_bytes_total", "mlx5_0", "1")
    found = []
    for second, error in ((0.0, None), (20.0, errno.EINVAL), (40.0, None)):
        reads.refused = {} if error is None else {"port_xmit_data_64": error}
        found.append(look(subject, second)[0].get(key))
    assert found == [200_000_000_000, None, 200_000_000_000]


def test_na_in_the_first_place_lets_the_next_one_speak(trees: Trees) -> None:
    trees.write("class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "N/A (no PMA)")
    trees.write("class/infiniband/mlx5_0/ports/1/hw_counters/rx_bytes", "77")
    assert look_at(trees, "mlx5_0")["port_receive_bytes_total", "mlx5_0", "1"] == 77


def test_a_file_that_keeps_refusing_is_left_alone_and_tried_again_later(trees: Trees) -> None:
    """Firmware that writes a line into the kernel's log for each refused read writes few of them."""
    reads = Reads(VL15_dropped=errno.EINVAL)
    subject = subject_of(devices_of(trees, read=reads)(), "mlx5_0")

    def asked(first: int, beyond: int) -> int:
        before = len([path for path in reads.paths if path.endswith("VL15_dropped")])
        for second in range(first, beyond):
            look(subject, float(second))
        return len([path for path in reads.paths if path.endswith("VL15_dropped")]) - before

    assert asked(0, 3 * int(INTERVAL_S)) == REFUSALS_UNTIL_PAUSE
    assert asked(3 * int(INTERVAL_S), 3 * int(INTERVAL_S) + 45) == 0
    assert asked(75, 100) == 1
    series, reading = look(subject, 100.5)
    assert reading.errors == ()
    assert ("port_symbol_errors_total", "mlx5_0", "1") in series
    del reads.refused["VL15_dropped"]
    assert asked(101, 300) > 1
    assert ("port_management_drops_total", "mlx5_0", "1") in look(subject, 300.0)[0]


def test_pauses_grow_to_an_hour_and_end_with_the_first_answer() -> None:
    pauses = Pauses()
    second, waits = 0.0, []
    for _ in range(12):
        pauses.refused("file", second)
        begin = second
        while not pauses.over("file", second):
            second += 1.0
        waits.append(second - begin)
    assert waits[: REFUSALS_UNTIL_PAUSE - 1] == [0.0] * (REFUSALS_UNTIL_PAUSE - 1)
    assert waits[REFUSALS_UNTIL_PAUSE - 1 :][:3] == [PAUSE_S, 2 * PAUSE_S, 4 * PAUSE_S]
    assert max(waits) == PAUSE_MAX_S
    pauses.answered("file")
    pauses.refused("file", second)
    assert pauses.over("file", second)


def test_a_device_that_lets_nobody_read_is_down_for_permission(trees: Trees) -> None:
    class Denies(Reads):
        def __call__(self, path: str, at_most: int) -> bytes:
            raise PermissionError(errno.EACCES, path, at_most)

    reading = look(subject_of(devices_of(trees, read=Denies())(), "mlx5_0"))[1]
    assert (reading.value, reading.up, reading.reason) == (None, False, Reason.PERMISSION)


def test_a_device_that_answers_nothing_has_no_value_and_a_neighbour_all(trees: Trees) -> None:
    class Breaks(Reads):
        def __call__(self, path: str, at_most: int) -> bytes:
            if "/mlx5_3/" in path:
                raise OSError(errno.EIO, "dead")
            return super().__call__(path, at_most)

    source = devices_of(trees, read=Breaks())
    reading = look(subject_of(source(), "mlx5_3"))[1]
    assert reading.value is None
    assert {error.code for error in reading.errors} == {"EIO"}
    assert look(subject_of(source(), "mlx5_4"))[0] == look_at(trees, "mlx5_4")


def test_a_device_that_goes_on_answering_nothing_is_down_and_comes_back(trees: Trees) -> None:
    """Its files are left alone by then, so no further error is seen; that must not look like a device in order."""

    class Breaks(Reads):
        broken = True

        def __call__(self, path: str, at_most: int) -> bytes:
            if self.broken and "/mlx5_3/" in path:
                raise OSError(errno.EIO, "dead")
            return super().__call__(path, at_most)

    reads = Breaks()
    subject = subject_of(devices_of(trees, read=reads)(), "mlx5_3")
    for second in range(100):
        reading = look(subject, float(second))[1]
        assert reading.value is None
        assert reading.errors or (reading.up, reading.reason) == (False, Reason.ERRORS)
    reads.broken = False
    back = next(second for second in range(100, 5000) if look(subject, float(second))[1].value is not None)
    assert look(subject, back + INTERVAL_S)[1].up


def test_a_port_whose_state_refuses_costs_its_state_only(trees: Trees) -> None:
    subject = subject_of(devices_of(trees, read=Reads(state=errno.EIO, phys_state=errno.EIO))(), "mlx5_3")
    for second in range(60):
        series, reading = look(subject, float(second))
        assert reading.up
        assert ("port_transmit_bytes_total", "mlx5_3", "1") in series
        assert ("port_state", "mlx5_3", "1") not in series
