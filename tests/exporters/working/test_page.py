"""The page: checked samples, no duplicates, a bound on series, forms as they are asked for. Parsers are the judges."""

import gzip
import math
from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from exporters.catalog.family import Family, Group, Kind, Sample
from exporters.config import Limit, Settings
from exporters.subject import Key, Moment, Reading, Reason
from exporters.working.office import Office
from exporters.working.page import Form, Print, negotiated
from exporters.working.sheet import KEPT, laid_out, part_of
from tests.exporters.working.toys import HEAT, Toy, VirtualTime, lines_of

BYTES = Family(
    name="knotwatch_rdma_toy_bytes_total",
    kind=Kind.COUNTER,
    group=Group.RDMA,
    text="A\ntoy.",
    source="none",
    labels=("device",),
)
WHO = Family(
    name="knotwatch_gpu_toy_info",
    kind=Kind.IDENTITY,
    group=Group.GPU,
    text="A toy.",
    source="none",
    labels=("uuid", "name"),
)


class Says:
    """A follower that says what it is given."""

    def __init__(self, *samples: Sample) -> None:
        self.given: Iterable[Sample] = samples

    def note(self, key: Key, reading: Reading[Any], at: Moment) -> None:
        """Nothing."""

    def forget(self, key: Key) -> None:
        """Nothing."""

    def samples(self, now: Moment) -> Iterable[Sample]:  # noqa: ARG002  the protocol gives the time
        return self.given


def office_that_says(*samples: Sample, settings: Settings | None = None) -> Office:
    time = VirtualTime()
    office = time.office({}, [Says(*samples)], settings)
    office.page.make(time.moment())
    return office


def page_of(office: Office, form: Form = Form.TEXT, *, zipped: bool = False) -> bytes:
    page = office.page.copy(Print(form, zipped), office.clock())
    assert page is not None
    return page


def test_both_forms_parse_and_say_the_same() -> None:
    office = office_that_says(
        Sample(BYTES, ("mlx5_0",), 2.0**60), Sample(HEAT, ("GPU-a",), 40), Sample(WHO, ("GPU-a", 'quo"te\\ \n'), 1)
    )
    text = page_of(office).decode()
    openmetrics = page_of(office, Form.OPENMETRICS).decode()
    read = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse_text(text)
        for sample in family.samples
    }
    again = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse_openmetrics(openmetrics)  # type: ignore[no-untyped-call]  # prometheus_client has no type
        for sample in family.samples
    }
    assert read == again
    assert read["knotwatch_rdma_toy_bytes_total", (("device", "mlx5_0"),)] == 2.0**60
    assert read["knotwatch_gpu_toy_info", (("name", 'quo"te\\ \n'), ("uuid", "GPU-a"))] == 1
    assert "# TYPE knotwatch_rdma_toy_bytes_total counter" in text
    assert "# TYPE knotwatch_rdma_toy_bytes counter\n# UNIT knotwatch_rdma_toy_bytes bytes" in openmetrics
    assert openmetrics.endswith("# EOF\n")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "N/A"])
def test_what_is_no_number_is_left_out_and_counted(value: Any) -> None:
    """telegraf#7659, docker-prometheus-nvidiasmi#4: `N/A` as a value made Prometheus refuse the whole page."""
    page = lines_of(office_that_says(Sample(HEAT, ("GPU-a",), value), Sample(HEAT, ("GPU-b",), 1)))
    assert [series for series in page if "toy_heat" in series] == ['knotwatch_gpu_toy_heat_celsius{uuid="GPU-b"}']
    office = office_that_says(Sample(HEAT, ("GPU-a",), value))
    office.page.make(office.clock())
    assert lines_of(office)["knotwatch_exporter_rejected_samples_total"] == 1


def test_labels_that_are_not_the_family_s_are_left_out() -> None:
    office = office_that_says(Sample(HEAT, (), 1), Sample(HEAT, ("a", "b"), 1), Sample(HEAT, (None,), 1))  # type: ignore[arg-type]  # what a slip gives
    assert not any("toy_heat" in series for series in lines_of(office))


def test_a_label_value_of_any_bytes_becomes_text_of_a_bounded_length() -> None:
    """A name decoded with surrogateescape made prometheus_client answer HTTP 500."""
    rubbish = b"\xff\xfe name".decode("utf-8", "surrogateescape")
    page = page_of(office_that_says(Sample(HEAT, (rubbish,), 1), Sample(HEAT, ("x" * 1000,), 2))).decode()
    values = [
        sample.labels["uuid"] for family in parse_text(page) for sample in family.samples if "heat" in sample.name
    ]
    assert values == ["?? name", "x" * 256]


def test_a_sample_given_twice_is_there_once_and_counted() -> None:
    office = office_that_says(Sample(HEAT, ("GPU-a",), 1), Sample(HEAT, ("GPU-a",), 2), Sample(HEAT, ("y" * 300,), 1))
    assert lines_of(office)['knotwatch_gpu_toy_heat_celsius{uuid="GPU-a"}'] == 1
    office.page.make(office.clock())
    assert lines_of(office)["knotwatch_exporter_duplicate_samples_total"] == 1


def test_too_many_series_cost_whole_families_and_never_what_tells_of_it() -> None:
    office = office_that_says(
        *(Sample(BYTES, (f"mlx5_{n}",), n) for n in range(100)),
        *(Sample(HEAT, (f"GPU-{n}",), n) for n in range(100)),
        settings=Settings(limit=Limit(series_max=150)),
    )
    office.page.make(office.clock())
    page = lines_of(office)
    assert sum("toy_heat" in series for series in page) == 100
    assert sum("toy_bytes" in series for series in page) == 0
    assert page['knotwatch_exporter_series_dropped_total{group="rdma"}'] == 100
    assert page["knotwatch_exporter_series"] == len(page)


def test_a_part_without_end_costs_itself() -> None:
    office = office_that_says(Sample(BYTES, ("mlx5_0",), 1), settings=Settings(limit=Limit(series_max=500)))
    endless = Says()
    endless.given = (Sample(HEAT, (str(n),), 1) for n in count())
    office.followers.append(endless)
    office.page.make(office.clock())
    page = lines_of(office)
    assert not any("toy_heat" in series for series in page)
    assert page['knotwatch_rdma_toy_bytes_total{device="mlx5_0"}'] == 1


def test_every_group_has_its_place_when_there_are_too_many() -> None:
    assert sorted(KEPT) == sorted(Group)


@given(
    st.permutations(
        [Sample(HEAT, (f"GPU-{n}",), n) for n in range(4)] + [Sample(BYTES, (f"m{n}",), n) for n in range(4)]
    )
)
def test_the_order_in_which_samples_come_does_not_show(samples: list[Sample]) -> None:
    sheet = laid_out([part_of([sample], 256, 100) for sample in samples], 100)
    ordered = laid_out([part_of(sorted(samples, key=lambda each: (each.family.name, each.labels)), 256, 100)], 100)
    assert sheet == ordered


def test_a_subject_whose_values_cannot_be_said_costs_itself() -> None:
    class Breaks(Toy):
        def samples(self, value: float) -> Iterable[Sample]:
            yield Sample(HEAT, ("half",), 1)
            raise ZeroDivisionError(value)

    time = VirtualTime()
    office = time.office({"toys": lambda: [Breaks("GPU-a"), Toy("GPU-b")]})
    time.run(office, 1)
    page = lines_of(office)
    assert [series for series in page if "toy_heat" in series] == ['knotwatch_gpu_toy_heat_celsius{uuid="GPU-b"}']
    office.page.make(time.moment())
    assert lines_of(office)['knotwatch_exporter_broken_total{part="gpu"}'] >= 1


def test_what_a_reading_says_is_worked_out_once() -> None:
    said = []

    class Counts(Toy):
        def samples(self, value: float) -> Iterable[Sample]:
            said.append(value)
            return super().samples(value)

    time = VirtualTime()
    office = time.office({"toys": lambda: [Counts("GPU-a", interval_s=20.0)]})
    time.run(office, 19)
    assert len(said) == 1
    time.run(office, 2)
    assert len(said) == 2


def test_the_textfile_has_no_process_series_since_node_exporter_has_its_own() -> None:
    office = office_that_says(Sample(HEAT, ("GPU-a",), 1))
    assert b"process_cpu_seconds_total" in page_of(office)
    assert b"\nprocess_" not in page_of(office, Form.TEXTFILE)
    assert b"toy_heat" in page_of(office, Form.TEXTFILE)


def test_a_form_is_printed_before_it_is_asked_for_if_it_was_lately() -> None:
    time = VirtualTime()
    office = time.office({}, [Says(Sample(HEAT, ("GPU-a",), 1))])
    zipped = Print(Form.OPENMETRICS, zipped=True)
    office.page.make(time.moment())
    assert office.page._printed is not None
    assert office.page._printed.copies == {}
    plain = gzip.decompress(page_of(office, Form.OPENMETRICS, zipped=True))
    assert plain == page_of(office, Form.OPENMETRICS)
    office.page.make(time.moment())
    assert zipped in office.page._printed.copies
    time.now_s += 3600
    office.page.make(time.moment())
    assert office.page._printed.copies == {}


@pytest.mark.parametrize(
    ("accept", "encoding", "wanted"),
    [
        ("", "", Print(Form.TEXT)),
        ("*/*", "gzip, deflate, br", Print(Form.TEXT, zipped=True)),
        ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "identity", Print(Form.TEXT)),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75",
            "gzip;q=0",
            Print(Form.OPENMETRICS),
        ),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6",
            "GZIP;q=1.0",
            Print(Form.OPENMETRICS, zipped=True),
        ),
        ("application/openmetrics-text; version=a.b.c", "", Print(Form.TEXT)),
        ("application/openmetrics-text; version=" + "9" * 50, "", Print(Form.OPENMETRICS)),
    ],
)
def test_what_a_client_asks_for(accept: str, encoding: str, wanted: Print) -> None:
    assert negotiated(accept, encoding) == wanted


def test_who_goes_down_or_comes_back_does_not_wait_for_the_page_s_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    time = VirtualTime()
    lost: Reading[float] = Reading(value=None, up=False, reason=Reason.LOST)
    toy = Toy("GPU-a", lambda now_s: lost if 1012 <= now_s < 1018 else 42.0, interval_s=1.0)
    office = time.office({"toys": lambda: [toy]})
    made: list[float] = []
    make = office.page.make

    def noted(now: Moment) -> None:
        made.append(now.mono_s)
        make(now)

    monkeypatch.setattr(office.page, "make", noted)
    time.run(office, 21)
    assert [at_s for at_s in made if at_s > 1000.5] == [1005.5, 1010.5, 1012, 1017, 1018, 1021]
