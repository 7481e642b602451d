"""The bar: on a terminal only, on standard error, and not for a short run."""

import time

import pytest

from analyzer.cli import progress


@pytest.mark.parametrize(
    ("terminal", "quiet_s", "shown"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_a_bar_shows_on_a_terminal_when_it_lasts(
    terminal: bool,  # noqa: FBT001  pytest passes it by name
    quiet_s: float,
    shown: bool,  # noqa: FBT001  pytest passes it by name
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(progress, "_QUIET_S", quiet_s)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress() as tell:
        if shown:
            time.sleep(0.3)  # the timer that draws it is due at once
        tell("reading", 0)
        tell("replaying", 12_000)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("replaying" in captured.err) == shown
    assert ("12,000 events" in captured.err) == shown
