"""Real parts: a test whose part is missing is skipped by name, and fails where the part is required."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest, parts


def needing(part: str) -> Any:
    """A test that needs the part, as far as the hook looks at it."""
    return SimpleNamespace(iter_markers=lambda _name: [pytest.mark.needs(part).mark])


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(parts, "MISSING", {"wings": lambda: "wings not found.", "legs": lambda: None})
    monkeypatch.delenv(parts.REQUIRE, raising=False)
    return "wings"


def test_a_missing_part_is_a_skip_with_its_name(absent: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=r"wings: wings not found\."):
        conftest.pytest_runtest_setup(needing(absent))
    conftest.pytest_runtest_setup(needing("legs"))


def test_a_missing_part_that_is_required_is_a_failure(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parts.REQUIRE, "legs, wings")
    with pytest.raises(pytest.fail.Exception, match=r"wings is required .* and missing: wings not found"):
        conftest.pytest_runtest_setup(needing(absent))
    conftest.pytest_runtest_setup(needing("legs"))


def test_a_part_that_is_none_is_a_slip_of_the_pen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parts.REQUIRE, "control-plain")
    with pytest.raises(ValueError, match="control-plain is no part; known are control-plane, "):
        parts.required()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any of the parts, and a record of what apt-get is asked for."""
    monkeypatch.setattr(parts, "where_is", lambda _name: None)
    apt = tmp_path / "apt-get"
    apt.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n[ ! -e {tmp_path}/broken ] || {{ echo no route; exit 1; }}\n'
    )
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_root_gets_what_is_missing(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert parts.main() == 0
    update, install = (bare / "asked").read_text().splitlines()
    assert update.startswith("update")
    assert install.startswith("install --yes")
    assert install.endswith(
        "chromium gcc libc6-dev munge openssl prometheus prometheus-node-exporter slurm-client slurmctld slurmd"
    )


def test_others_get_a_sentence(bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert parts.main() == 0
    assert not (bare / "asked").exists()
    assert "to run them too: apt-get install chromium gcc libc6-dev munge" in capsys.readouterr().err


def test_without_a_network_it_goes_on(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (bare / "broken").touch()
    assert parts.main() == 0
    assert "`apt-get update` failed, going on without: no route" in capsys.readouterr().err


def test_apt_is_left_alone_where_nothing_is_missing(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "where_is", lambda name: f"/usr/bin/{name}")
    assert parts.main() == 0
    assert not (bare / "asked").exists()
