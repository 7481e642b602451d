"""The page in a real Chromium: it asks for nothing, it draws, it answers clicks, and nothing in it comes alive."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.html.browser import Browser, browser
from tests.html.pages import HOSTILE, QUOTES, history, hostile, page, queue, ring

pytestmark = pytest.mark.needs("chromium")

CY = "document.getElementById('canvas')._cyreg.cy"  # where the library keeps itself
PANEL = "document.getElementById('panel')"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def loaded(chromium: Browser, tmp_path: Path) -> Iterator[Browser]:
    """The browser with the page of a ring of three and two that wait behind it."""
    yield shown(chromium, tmp_path, ring(3, 2))
    assert chromium.complaints == []


def shown(chromium: Browser, folder: Path, facts: str, fragment: str = "", **size: int) -> Browser:
    path = folder / "page.html"
    path.write_text(page(folder / "in", facts))
    chromium.open(path, fragment, **size)
    return chromium


INCIDENTS = {"two": ring(2), "500": ring(30, 470), "queue": queue(300), "history": history(40), "hostile": hostile()}


@pytest.mark.parametrize("facts", INCIDENTS.values(), ids=INCIDENTS)
def test_it_asks_for_nothing_and_nothing_goes_wrong(chromium: Browser, tmp_path: Path, facts: str) -> None:
    shown(chromium, tmp_path, facts)
    assert chromium.asked == [(tmp_path / "page.html").as_uri()]
    assert chromium.complaints == []
    assert chromium.evaluate(f"{CY}.nodes().length") >= 2


def test_a_request_and_a_broken_policy_would_be_seen(chromium: Browser, tmp_path: Path) -> None:
    facts = ring(2)
    path = tmp_path / "page.html"
    text = page(tmp_path / "in", facts)
    path.write_text(text.replace("<footer>", '<img src="https://elsewhere.example/x.png"><script>1</script><footer>'))
    chromium.open(path)
    assert any("violates" in complaint for complaint in chromium.complaints)
    path.write_text(
        text.replace("Content-Security-Policy", "X-Nothing").replace(
            "<footer>", '<img src="https://elsewhere.example/x.png"><footer>'
        )
    )
    chromium.open(path)
    assert "https://elsewhere.example/x.png" in chromium.asked


def test_names_that_would_be_code_are_shown_as_they_are(chromium: Browser, tmp_path: Path) -> None:
    name = f"pod/<b>bold</b>/{QUOTES}"
    shown(chromium, tmp_path, hostile(), f"#node={quote(name, safe='')}")
    assert chromium.complaints == []
    assert chromium.evaluate("document.querySelectorAll('img, main b b, iframe').length") == 0
    assert chromium.evaluate(f"{PANEL}.title") == name
    assert QUOTES in chromium.evaluate(f"{PANEL}.innerText")
    assert f"gang/{HOSTILE}/" in chromium.evaluate("document.querySelector('#findings').innerText")
    assert HOSTILE in chromium.evaluate(f"{PANEL}.innerText"), "the holder, and what the scheduler says"


def test_all_actors_and_arrows_are_there_and_in_sight(loaded: Browser) -> None:
    assert loaded.evaluate(f"[{CY}.nodes().length, {CY}.edges().length]") == [5, 5]
    outside = f"""{CY}.nodes().filter(node => {{
        const box = node.renderedBoundingBox(), stage = document.getElementById('canvas');
        return box.x1 < 0 || box.y1 < 0 || box.x2 > stage.clientWidth || box.y2 > stage.clientHeight;
    }}).length"""
    assert loaded.evaluate(outside) == 0
    assert loaded.evaluate("getComputedStyle(document.querySelector('.static')).display") == "none"


def place_of(loaded: Browser, actor: str) -> tuple[float, float]:
    x, y = loaded.evaluate(
        f"""(() => {{
            const canvas = document.getElementById('canvas');
            canvas.scrollIntoView({{block: 'center'}});
            const box = canvas.getBoundingClientRect(), at = {CY}.getElementById('{actor}').renderedPosition();
            return [box.x + at.x, box.y + at.y];
        }})()"""
    )
    return x, y


def test_a_click_on_an_actor_shows_what_it_holds_and_needs(loaded: Browser) -> None:
    assert loaded.evaluate(f"{PANEL}.hidden") is True
    loaded.click(*place_of(loaded, "gang/team/train-01"))
    told = loaded.evaluate(f"{PANEL}.innerText")
    for words in (
        "train-01",
        "in a knot",
        "8 gpu on n1",
        "4 gpu on n2",
        "60 min",
        "waits for (1)",
        "is waited for by (2)",
    ):
        assert words in told
    assert loaded.evaluate(f"{CY}.nodes('.faded').map(node => node.id())") == ["pod/team-0/eval"]
    loaded.evaluate(f"[...{PANEL}.querySelectorAll('a')].find(one => one.textContent === 'pod/team-1/eval').click()")
    loaded.settle()
    assert "stuck behind" in loaded.evaluate(f"{PANEL}.innerText")
    loaded.evaluate(f"{PANEL}.querySelector('.close').click()")
    assert loaded.evaluate(f"[{PANEL}.hidden, {CY}.elements('.faded').length, location.hash]") == [True, 0, ""]


def test_a_finding_is_shown_with_its_members_and_its_cycle(loaded: Browser) -> None:
    loaded.evaluate("document.querySelector('button.show').click()")
    loaded.settle()
    assert loaded.evaluate(f"[{CY}.edges('.cycle').length, {CY}.nodes('.faded').length]") == [3, 2]
    everything = "one.value = ''; one.dispatchEvent(new Event('change'));"
    loaded.evaluate(f"(() => {{ const one = document.getElementById('highlight'); {everything} }})()")
    assert loaded.evaluate(f"{CY}.elements('.faded, .cycle').length") == 0


def test_the_wheel_scrolls_until_somebody_clicked_into_it_and_buttons_zoom(loaded: Browser) -> None:
    before = loaded.evaluate(f"{CY}.zoom()")
    assert loaded.evaluate(f"{CY}.userZoomingEnabled()") is False
    loaded.evaluate("document.querySelector('[data-do=in]').click()")
    assert loaded.evaluate(f"{CY}.zoom()") > before
    loaded.evaluate("document.querySelector('[data-do=fit]').click()")
    assert loaded.evaluate(f"{CY}.zoom()") == pytest.approx(before)
    x, y = place_of(loaded, "gang/team/train-00")
    loaded.click(x, y + 60)
    assert loaded.evaluate(f"{CY}.userZoomingEnabled()") is True


def test_one_of_many_alike_is_found_in_its_box(chromium: Browser, tmp_path: Path) -> None:
    shown(chromium, tmp_path, queue(300), f"#node={quote('job/team-3/sweep-123', safe='')}")
    told = chromium.evaluate(f"{PANEL}.innerText")
    assert "job/team-3/sweep-123" in told
    assert "who wait alike" in told
    assert chromium.evaluate(f"{CY}.nodes('.chosen.pile').length") == 1


def test_without_scripts_there_is_the_picture_and_every_table(chromium: Browser, tmp_path: Path) -> None:
    chromium.scripts(off=True)
    try:
        shown(chromium, tmp_path, ring(3, 2))
        assert chromium.evaluate("getComputedStyle(document.querySelector('.static')).display") != "none"
        assert chromium.evaluate("document.querySelector('.static svg').getBoundingClientRect().width") > 200
        hidden = (
            "[...document.querySelectorAll('#canvas, .tools, #panel, button')].every(one => one.offsetParent === null)"
        )
        assert chromium.evaluate(hidden) is True
        assert "Stop gang/team/train-00" in chromium.evaluate("document.body.innerText")
    finally:
        chromium.scripts(off=False)


def test_paper_gets_the_static_picture(loaded: Browser) -> None:
    loaded.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert loaded.evaluate("document.querySelector('.static svg').getBoundingClientRect().width") > 200
        assert loaded.evaluate("document.getElementById('canvas').offsetParent") is None
    finally:
        loaded.call("Emulation.setEmulatedMedia", media="")


def test_those_who_like_it_dark_get_it_dark(loaded: Browser) -> None:
    def light() -> tuple[str, str]:
        look = f"[getComputedStyle(document.body).backgroundColor, {CY}.nodes()[0].style('background-color')]"
        paper, node = loaded.evaluate(look)
        return paper, node

    day = light()
    loaded.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        loaded.settle()
        night = light()
        assert all(one != other for one, other in zip(day, night, strict=True))
        assert sum(map(int, night[0].removeprefix("rgb(").removesuffix(")").split(","))) < 150
    finally:
        loaded.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("width", [360, 800, 1280, 1920])
def test_nothing_sticks_out_at_any_width(chromium: Browser, tmp_path: Path, width: int) -> None:
    for number, facts in enumerate((hostile(), history(30), queue(30))):
        shown(chromium, tmp_path / str(number), facts, width=width)
        assert chromium.evaluate("document.documentElement.scrollWidth") <= width


def test_a_link_to_a_finding_that_is_folded_away_opens_it(chromium: Browser, tmp_path: Path) -> None:
    shown(chromium, tmp_path, history(5))
    first = chromium.evaluate("document.querySelector('details.over').id")
    chromium.evaluate(f"location.hash = '#{first}'")
    chromium.settle()
    assert chromium.evaluate(f"document.getElementById('{first}').open") is True
