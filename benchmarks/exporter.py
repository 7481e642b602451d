"""Row 8: the exporter of a node of 8 GPUs with 18 NVLinks each and 8 InfiniBand devices.

A scrape is asked for over HTTP and answered by the exporter's own listener, in this process, so that its whole cost
counts, the client's included. The yardstick prints as many series that never change with prometheus_client. How soon
the page tells of a GPU that is lost, or whose driver call does not return, is taken from the real command, from
outside, with the settings that it has by default.
"""

import http.client
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event
from time import monotonic

from msgspec.structs import replace
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as Registry

from benchmarks import exporter_node as node
from benchmarks.ratio import Work, compare
from benchmarks.rows import Figure, Row, Scale, figure
from benchmarks.truth import WrongAnswerError
from exporters.collectors import COLLECTORS
from exporters.config import Gpu, Paths, Settings, Web
from exporters.followers import FOLLOWERS
from exporters.serving.http import Listener
from exporters.serving.web_config import Keeper
from exporters.working.office import Office
from exporters.working.page import Form, Print
from tests.exporters.fake_nvml import hopper
from tests.exporters.fake_nvml.fake import FakeNvml

RATIO_MAX = 1.0
SERIES_MAX = 2500
LOST_WITHIN_S = 15.0
HUNG_WITHIN_S = 16.0
"""An interval of 10 s, a deadline of 5 s, and the page."""
ROOT = Path(__file__).parents[1]
READ = ("gpu", "rdma", "topology", "processes")
PATIENCE_S = 120.0
LABELS_OF_A_FAMILY = 8
"""Series of one family of the yardstick, as there are GPUs."""
UPS = re.compile(r'^knotwatch_gpu_up\{uuid="([^"]*)"\} (\S+)$', re.MULTILINE)


def settings_of(folder: Path, *, each_link: bool) -> Settings:
    """By default but for the places of files and, if wanted, one series for each link."""
    paths = Paths(sysfs=str(folder / "sys"), procfs=str(folder / "proc"))
    return replace(Settings(), path=paths, gpu=Gpu(each_link=each_link), web=Web(listen="127.0.0.1:0"))


def read_once(settings: Settings) -> Office:
    """An exporter that has read the node twice and made its page."""
    sources = {each.name: each.source(settings) for each in COLLECTORS if each.name in READ}
    office = Office(settings, sources, [made for make in FOLLOWERS if (made := make(settings)) is not None])
    if not office.once(PATIENCE_S, over_s=1.2):
        raise WrongAnswerError("the simulated node was not read")
    return office


def page_of(office: Office) -> str:
    """The page as text. Raises WrongAnswerError where it does not tell of the whole node."""
    page = (office.page.copy(Print(Form.TEXT), office.clock()) or b"").decode()
    for family, count in (
        ("knotwatch_gpu_sm_active_ratio", node.CARDS),
        ("knotwatch_gpu_nvlink_transmit_bytes_total", node.CARDS),
        ("knotwatch_rdma_port_transmit_bytes_total", node.HCAS + 1),
    ):
        found = page.count(f"\n{family}{{")
        if found != count:
            raise WrongAnswerError(f"{found} series of {family}, not {count}")
    return page


class Constant(Registry):
    """So many gauges that were made before."""

    def __init__(self, series: int) -> None:
        self._families: list[Metric] = []
        for number in range(0, series, LABELS_OF_A_FAMILY):
            family = GaugeMetricFamily(f"yardstick_{number}_bytes", "A gauge.", labels=["uuid", "gpu"])
            for card in range(min(LABELS_OF_A_FAMILY, series - number)):
                family.add_metric([hopper.uuid(card), str(card)], 1e9 * number + card)
            self._families.append(family)

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


@contextmanager
def listening(office: Office) -> Iterator[Callable[[], bytes]]:
    """What asks the exporter's own listener for the page, over one connection."""
    listener = Listener("127.0.0.1:0", office.page, Keeper(None), concurrent_max=8)
    listener.start()
    connection = http.client.HTTPConnection("127.0.0.1", listener.port, timeout=PATIENCE_S)
    try:
        yield partial(scrape, connection)
    finally:
        connection.close()
        listener.stop()


def scrape(connection: http.client.HTTPConnection) -> bytes:
    """One answer."""
    connection.request("GET", "/metrics")
    return connection.getresponse().read()


def prepared(work: Work) -> Callable[[], Work]:
    """Work that needs nothing made ready."""
    return lambda: work


@contextmanager
def serving(fake: FakeNvml, folder: Path) -> Iterator[Callable[[], str]]:
    """The command in a process of its own, as it is by default; gives what asks it for its page."""
    command = [sys.executable, "-m", "exporters", "serve", "--listen", "127.0.0.1:0"]
    paths = ["--path.sysfs", str(folder / "sys"), "--path.procfs", str(folder / "proc")]
    with subprocess.Popen(  # noqa: S603  our own command
        [*command, *paths], stderr=subprocess.PIPE, text=True, cwd=ROOT, env={"PATH": "", **fake.environment()}
    ) as process:
        try:
            lines = islice(process.stderr or (), 20)
            port = next((found[1] for line in lines if (found := re.search(r"on port (\d+)", line))), None)
            if port is None:
                raise WrongAnswerError("the exporter did not begin to serve")
            yield lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
        finally:
            process.kill()


def seconds_until(page: Callable[[], str], ups: dict[str, float]) -> float:
    """How long until the page has these GPUs up. Raises WrongAnswerError where it never has."""
    begun_s = monotonic()
    while {uuid: float(up) for uuid, up in UPS.findall(page())} != ups:
        if monotonic() - begun_s > PATIENCE_S:
            raise WrongAnswerError(f"the page never said {ups}")
        Event().wait(0.05)
    return monotonic() - begun_s


def told_of(folder: Path, fake: FakeNvml) -> Iterator[Figure]:
    """How soon what has gone wrong is told, while the others are served."""
    ups = {hopper.uuid(number): 1.0 for number in range(node.CARDS)}
    with serving(fake, folder) as page:
        seconds_until(page, ups)
        fake.lose(5)
        lost_s = seconds_until(page, {**ups, hopper.uuid(5): 0.0})
        yield Figure(case="a lost GPU is told of", value=lost_s, unit="s", bar=LOST_WITHIN_S)
        fake.withdraw(5, "*")
        seconds_until(page, ups)
        fake.block(3, "nvmlDeviceGetPowerUsage")
        hung_s = seconds_until(page, {**ups, hopper.uuid(3): 0.0})
        powered = page().count("\nknotwatch_gpu_power_watts{")
        if powered != node.CARDS - 1:
            raise WrongAnswerError(f"{powered} GPUs were served while one call blocked")
        yield Figure(case="a call that blocks is told of, 7 of 8 served", value=hung_s, unit="s", bar=HUNG_WITHIN_S)


def measure(scale: Scale) -> Sequence[Figure]:
    """All figures of one simulated node."""
    folder = Path(scale.folder) / "exporter"
    folder.mkdir(exist_ok=True)
    fake = node.make_node(folder)
    office = read_once(settings_of(folder, each_link=True))
    page = page_of(office)
    series = sum(1 for line in page.splitlines() if not line.startswith("#"))
    constant = Constant(series)
    runs = max(scale.runs, 20)
    with listening(office) as ask:
        if ask().count(b"\n") != page.count("\n"):
            raise WrongAnswerError("the listener serves another page")
        asked = compare(prepared(ask), prepared(lambda: generate_latest(constant)), runs)
    made = compare(
        prepared(lambda: office.page.make(office.clock())), prepared(lambda: generate_latest(constant)), runs
    )
    default = page_of(read_once(settings_of(folder, each_link=False)))
    count = sum(1 for line in default.splitlines() if line.startswith("knotwatch_"))
    return [
        figure(f"scrape of {series:,} series", asked, RATIO_MAX),
        figure(f"making the page of {series:,} series, each 5 s", made, None),
        Figure(case="series by default", value=count, unit="series", bar=SERIES_MAX),
        *told_of(folder, fake),
    ]


ROW = Row(
    command="exporter",
    what="a scrape at 8 GPUs x 18 links + 8 HCAs",
    yardstick="prometheus_client printing as many constant series",
    bar="1.0x",
    measure=measure,
)
