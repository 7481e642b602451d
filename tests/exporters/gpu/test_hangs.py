"""Calls that do not return: each costs its GPU, and neither the others, the library, nor a thread more."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from exporters.collectors.gpu import GpuOptions
from exporters.collectors.gpu_roster import subjects
from exporters.config import Settings, Web
from exporters.followers.gpu_roster import GpuRoster
from exporters.nvml import library
from exporters.nvml.devices import Devices
from exporters.nvml.driver import Pynvml
from exporters.nvml.library import Library, Refusal
from exporters.nvml.quarantine import Quarantine
from exporters.subject import Reading
from exporters.working.office import Office
from exporters.working.page import Form, Page, Print
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import ANY, FakeNvml
from tests.exporters.gpu.rig import Rig

pytestmark = pytest.mark.needs("c-compiler")

MakeRig = Callable[..., Rig]
POWER = "nvmlDeviceGetPowerUsage"
WITHIN_S = 20.0


class Aside:
    """A read in a thread of its own, waited for at the end."""

    def __init__(self, read: Callable[[], Reading[Any]]) -> None:
        self.reading: Reading[Any] | None = None
        self._thread = threading.Thread(target=self._run, args=(read,), daemon=True)
        self._thread.start()

    def _run(self, read: Callable[[], Reading[Any]]) -> None:
        self.reading = read()

    def join(self) -> Reading[Any]:
        self._thread.join(WITHIN_S)
        assert self.reading is not None, "it has not come back"
        return self.reading


def blocked(rig: Rig, slot: int, call: str) -> Aside:
    """A look at a GPU that hangs in the call."""
    rig.fake.block(slot, call)
    rig.time.now_s += 5  # so that it is time for another sample
    aside = Aside(lambda: rig.reading(hopper.uuid(slot)))
    wait_for_the_block(rig.fake)
    return aside


def wait_for_the_block(fake: FakeNvml) -> None:
    pause = threading.Event()
    for _ in range(10_000):
        if fake.waiting():
            return
        pause.wait(0.001)
    pytest.fail("nothing has come to the call")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that waits for nobody."""
    monkeypatch.setattr(library, "QUIET_WAIT_S", 0.01)


@pytest.mark.parametrize("call", [POWER, "nvmlDeviceGetFieldValues", "nvmlGpmSampleGet", "nvmlDeviceGetMemoryInfo_v2"])
def test_a_call_that_hangs_costs_its_gpu_alone(make_rig: MakeRig, call: str) -> None:
    rig = make_rig(3)
    rig.run(20)
    aside = blocked(rig, 1, call)
    for other in (0, 2):
        found = rig.reading(hopper.uuid(other))
        assert found.value is not None
        assert found.value.points
    assert rig.devices.look(rig.time.moment()).up
    rig.fake.withdraw(1, call)
    assert aside.join().up


@pytest.mark.usefixtures("impatient")
def test_the_library_is_not_stopped_under_a_call(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(20)
    aside = blocked(rig, 1, POWER)
    assert not rig.devices.library.stop(Refusal("999"), rig.time.now_s)
    assert rig.fake.calls("nvmlShutdown") == 0
    assert rig.reading(hopper.uuid(0)).value is not None, "and asked as before"
    rig.fake.set(1, POWER, 300_000)
    aside.join()
    assert rig.devices.library.stop(Refusal("999"), rig.time.now_s)
    assert rig.fake.calls("nvmlShutdown") == 1


def test_a_handle_of_an_earlier_start_is_refused(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(20)
    known = rig.devices.find(hopper.uuid(0))
    assert known is not None
    assert rig.devices.library.stop(Refusal("999"), rig.time.now_s, retry_s=0.0)
    assert rig.devices.library.ensure(rig.time.now_s) is None
    before = rig.fake.calls("*", 0)
    assert rig.devices.library.ask(POWER, known.handle) == Refusal("stale")
    assert rig.fake.calls("*", 0) == before
    found = rig.reading(hopper.uuid(0))
    assert found.up
    assert [error.code for error in found.errors] == ["stale"], "one look is lost, and no more"
    rig.run(15)
    assert rig.value("gpu_power_watts", hopper.uuid(0)) == 627.4


def test_stopping_may_hang_and_nobody_waits_for_it(make_rig: MakeRig) -> None:
    rig = make_rig(2)
    rig.run(20)
    rig.fake.block(ANY, "nvmlShutdown")
    rig.fake.fail(ANY, "nvmlDeviceGetCount_v2", 999, times=1)
    aside = Aside(lambda: rig.devices.look(rig.time.moment()))
    wait_for_the_block(rig.fake)
    found = rig.reading(hopper.uuid(0))
    assert found.value is None
    assert [error.code for error in found.errors] == ["stale"]
    rig.fake.withdraw(ANY, "nvmlShutdown")
    assert not aside.join().up
    rig.run(60)
    assert rig.value("gpu_power_watts", hopper.uuid(0)) == 627.4


def test_starting_may_hang_too(fake_nvml: FakeNvml) -> None:
    hopper.node(fake_nvml, 1)
    fake_nvml.block(ANY, "nvmlInitWithFlags")
    rig = Rig(fake_nvml)
    aside = Aside(lambda: rig.devices.look(rig.time.moment()))
    wait_for_the_block(fake_nvml)
    assert rig.devices.known() == ()
    assert rig.devices.library.ask(POWER) == Refusal("1")
    fake_nvml.withdraw(ANY, "nvmlInitWithFlags")
    assert aside.join().up


def test_seven_of_eight_are_served_by_real_threads_and_none_is_added(fake_nvml: FakeNvml) -> None:
    """utkuozdemir/nvidia_gpu_exporter#89, #405, leptonai/gpud#117: each scrape added another stuck one."""
    hopper.node(fake_nvml, 8)
    devices = Devices(Library(Pynvml()), Quarantine())
    source = subjects(devices, GpuOptions(interval_s=0.05, deadline_s=0.1))
    office = Office(Settings(web=Web(page_interval_s=0.1)), {"gpu": source}, [GpuRoster()])
    seen, stop = threading.Event(), threading.Event()
    wanted: dict[str, int] = {"knotwatch_gpu_up": 8, "knotwatch_gpu_power_watts": 8}
    stuck = f'knotwatch_gpu_down_reason{{reason="timeout",uuid="{hopper.uuid(5)}"}}'

    def look(page: Page) -> None:
        copy = page.copy(Print(Form.TEXT), office.clock())
        text = (copy or b"").decode()
        if all(text.count(f"\n{name}{{") == count for name, count in wanted.items()) and (
            (stuck in text) == (wanted["knotwatch_gpu_power_watts"] == 7)
        ):
            seen.set()

    rounds = threading.Thread(target=office.rounds, args=(stop, look), daemon=True)
    rounds.start()
    try:
        assert seen.wait(WITHIN_S)
        before = threading.active_count()
        fake_nvml.block(5, POWER)
        wanted["knotwatch_gpu_power_watts"] = 7
        seen.clear()
        assert seen.wait(WITHIN_S), "seven of eight, and why the eighth is not"
        for _ in range(3):
            seen.clear()
            assert seen.wait(WITHIN_S)
        assert threading.active_count() <= before
        assert fake_nvml.waiting() == 1
        assert office.accounts.skipped["gpu"] > 0
        wanted["knotwatch_gpu_power_watts"] = 8
        fake_nvml.set(5, POWER, 627_400)
        seen.clear()
        assert seen.wait(WITHIN_S), "and it is back"
    finally:
        stop.set()
        office.crew.bell.set()
        rounds.join(WITHIN_S)
