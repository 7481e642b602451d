"""The whole service with real threads, a real socket and real signals; and the real Prometheus that scrapes it."""

import json
import os
import re
import signal
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import msgspec
import pytest

from exporters.catalog import FAMILIES
from exporters.catalog.family import PREFIX, Group, Sample
from exporters.config import Settings, Textfile, Web
from exporters.serving.service import Service, stopped_by_signals
from exporters.subject import Key, Moment, Reading
from exporters.working.page import Form, Print
from exporters.working.worker import system_clock
from tests.exporters.working.toys import Toy
from tests.parts import where_is

SETTINGS = Settings(web=Web(listen="127.0.0.1:0", page_interval_s=0.2))
WITHIN_S = 60.0


@contextmanager
def running(service: Service) -> Iterator[Service]:
    """The service in a thread of its own, until the end of the block."""
    thread = Thread(target=service.run)
    thread.start()
    try:
        yield service
    finally:
        service.end()
        thread.join(WITHIN_S)
        assert not thread.is_alive()


def got(service: Service, path: str) -> str:
    url = f"http://127.0.0.1:{service.listener.port}{path}"
    with urllib.request.urlopen(url, timeout=WITHIN_S) as answer:
        return str(answer.read(), "utf-8")


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until it holds; fail if that takes far longer than it may."""
    until_s = monotonic() + WITHIN_S
    while not holds():
        assert monotonic() < until_s, "it never came to pass"
        Event().wait(0.02)


def test_one_subject_that_hangs_leaves_the_others_served_and_the_process_small() -> None:
    release = Event()
    hung = Toy("GPU-0", lambda _now_s: release.wait(WITHIN_S), interval_s=0.05, deadline_s=0.05)
    fine = [Toy(f"GPU-{n}", interval_s=0.05, deadline_s=30.0) for n in range(1, 8)]
    before = threading.active_count()
    with running(Service(SETTINGS, {"toys": lambda: [hung, *fine]}, [], lambda _sentence: None)) as service:
        eventually(lambda: service.office.page.made is not None)
        eventually(lambda: 'down_reason{reason="timeout",uuid="GPU-0"} 1.0' in got(service, "/metrics"))
        page = got(service, "/metrics")
        assert [n for n in range(8) if f'knotwatch_gpu_up{{uuid="GPU-{n}"}} 1.0' in page] == list(range(1, 8))
        for _ in range(100):
            got(service, "/metrics")
        assert threading.active_count() <= before + 1 + 1 + 9 + 8  # the service, http, workers, requests that end
        assert len(hung.reads_s) == 1
        release.set()
        eventually(lambda: 'knotwatch_gpu_up{uuid="GPU-0"} 1.0' in got(service, "/metrics"))


def test_the_textfile_is_written_and_goes_with_a_clean_stop(tmp_path: Path) -> None:
    path = tmp_path / "knotwatch.prom"
    settings = msgspec.structs.replace(SETTINGS, textfile=Textfile(path=str(path)))
    with running(Service(settings, {"toys": lambda: [Toy("GPU-a")]}, [], lambda _sentence: None)):
        eventually(path.exists)
        assert 'knotwatch_gpu_up{uuid="GPU-a"} 1.0' in path.read_text()
    assert list(tmp_path.iterdir()) == []


def test_a_textfile_that_cannot_be_written_is_said_once_and_serving_goes_on(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(SETTINGS, textfile=Textfile(path=str(tmp_path / "absent" / "knotwatch.prom")))
    said: list[str] = []
    with running(Service(settings, {"toys": lambda: [Toy("GPU-a", interval_s=0.1)]}, [], said.append)) as service:
        eventually(lambda: service.office.page.made is not None)
        first = service.office.page.made
        eventually(lambda: service.office.page.made is not first)
        assert got(service, "/healthz") == "ok\n"
    assert len(said) == 1
    assert "knotwatch.prom cannot be written: no such file or directory." in said[0]


def test_a_web_configuration_that_broke_is_said_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text("http_server_config: {http2: false}\n")
    settings = Settings(web=Web(listen="127.0.0.1:0", page_interval_s=0.1, config_file=str(path)))
    said: list[str] = []
    with running(Service(settings, {"toys": lambda: [Toy("GPU-a", interval_s=0.1)]}, [], said.append)) as service:
        eventually(lambda: "knotwatch_exporter_web_config_current 1.0" in got(service, "/metrics"))
        path.write_text("htp_server_config: {}\n")
        eventually(lambda: "knotwatch_exporter_web_config_current 0.0" in got(service, "/metrics"))
        eventually(lambda: bool(said))
    assert len(said) == 1
    assert "did you mean http_server_config?" in said[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_order(number: signal.Signals) -> None:
    service = Service(SETTINGS, {"toys": lambda: [Toy("GPU-a")]}, [], lambda _sentence: None)

    def kill() -> None:
        eventually(lambda: service.office.page.made is not None)
        os.kill(os.getpid(), number)

    killer, before = Thread(target=kill), signal.getsignal(number)
    with stopped_by_signals(service):
        killer.start()
        service.run()
    killer.join()
    assert signal.getsignal(number) == before


class Everything:
    """A subject whose samples are one of each family of the catalogue whose name begins so."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    key = Key("gpu", "GPU-a")
    interval_s = 1.0
    deadline_s = 10.0

    def read(self, now: Moment) -> Reading[float]:
        return Reading(value=now.wall_s)

    def samples(self, value: float) -> Iterator[Sample]:  # noqa: ARG002  each is 1
        for family in FAMILIES:
            if family.group is not Group.EXPORTER and family.name.startswith(self.prefix):
                yield Sample(family, tuple(f"a {label}" for label in family.labels), 1)


@pytest.mark.needs("prometheus")
def test_promtool_has_nothing_to_say_of_any_family_of_ours() -> None:
    """Those of other names are as DCGM has them."""
    service = Service(SETTINGS, {"all": lambda: [Everything(PREFIX)]}, [], lambda _sentence: None)
    assert service.office.once(WITHIN_S)
    service.listener.server_close()
    page = service.office.page.copy(Print(Form.TEXT), system_clock())
    assert page is not None
    check = [where_is("promtool") or "", "check", "metrics"]
    told = subprocess.run(check, input=page, capture_output=True, timeout=WITHIN_S, check=False)  # noqa: S603  the program of the table of parts
    assert (told.stdout.decode(), told.stderr.decode()) == ("", "")


@pytest.mark.needs("prometheus")
def test_the_real_prometheus_scrapes_every_series(tmp_path: Path) -> None:
    with running(Service(SETTINGS, {"all": lambda: [Everything()]}, [], lambda _sentence: None)) as service:
        eventually(lambda: service.office.page.made is not None)
        config = tmp_path / "prometheus.yml"
        target = f"127.0.0.1:{service.listener.port}"
        config.write_text(
            "scrape_configs: [{job_name: k, scrape_interval: 1s, scrape_timeout: 1s, "
            f"static_configs: [{{targets: ['{target}']}}]}}]\n"
        )
        command = [
            where_is("prometheus") or "",
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            "--web.listen-address=127.0.0.1:0",
            "--log.level=debug",
        ]
        with (
            (tmp_path / "log").open("wb") as log,
            subprocess.Popen(command, stderr=log, stdout=log) as prometheus,  # noqa: S603  the program of the table of parts
        ):
            try:
                api = f"http://127.0.0.1:{listening_port(prometheus, tmp_path / 'log')}/api/v1"
                eventually(lambda: answer(api, "up") == {(): 1.0})
                eventually(lambda: answer(api, "scrape_samples_scraped") == {(): series_of(got(service, "/metrics"))})
                kept = answer(api, "scrape_samples_post_metric_relabeling")
                assert kept == answer(api, "scrape_samples_scraped")
                up = answer(api, 'knotwatch_gpu_up{uuid="GPU-a"}')
                assert list(up.values()) == [1.0]
                assert "duplicate" not in (tmp_path / "log").read_text()
            finally:
                prometheus.terminate()


def series_of(page: str) -> float:
    """How many series are on a page."""
    return float(sum(not line.startswith("#") for line in page.splitlines()))


def listening_port(prometheus: subprocess.Popen[bytes], log: Path) -> int:
    """The port that a Prometheus was given, from its log."""
    address = re.compile(r"address=(?:\[::\]|127\.0\.0\.1):([1-9]\d*)")
    eventually(lambda: prometheus.poll() is not None or bool(address.search(log.read_text())))
    found = address.search(log.read_text())
    assert found, log.read_text()
    return int(found[1])


def answer(api: str, query: str) -> dict[tuple[tuple[str, str], ...], float]:
    """What a query gives now: labels that are not the target's, and values."""
    try:
        with urllib.request.urlopen(  # noqa: S310  an address of our own
            f"{api}/query?query={urllib.parse.quote(query)}", timeout=WITHIN_S
        ) as reply:
            rows = json.loads(reply.read())["data"]["result"]
    except OSError:
        return {}
    target = {"__name__", "job", "instance"}
    return {
        tuple(sorted((name, value) for name, value in row["metric"].items() if name not in target)): float(
            row["value"][1]
        )
        for row in rows
    }
