"""The command: what it serves, what it prints, how it ends."""

import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exporters import cli
from exporters.collectors import Collector
from tests.exporters.working.toys import Toy

COLLECTORS = (
    Collector(name="gpu", text="toys", source=lambda _settings: lambda: [Toy("GPU-a")]),
    Collector(
        name="rdma",
        text="toys",
        source=lambda _settings: lambda: [Toy("mlx5_0", lambda _now_s: OSError(), kind="rdma")],
    ),
    Collector(
        name="node",
        text="toys",
        source=lambda settings: lambda: [Toy(settings.path.procfs, kind="node")],
        on=lambda _settings: False,
    ),
)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "COLLECTORS", COLLECTORS)
    monkeypatch.setattr(cli, "FOLLOWERS", ())


def ran(*arguments: str) -> Result:
    if arguments[0] == "once":
        arguments = (*arguments, "--over", "0")
    return CliRunner().invoke(cli.main, arguments, prog_name="knotwatch-exporter")


def ups(page: str) -> list[str]:
    return re.findall(r'^(knotwatch_\w*up\{(?!kind="roster").*)$', page, re.MULTILINE)


def test_once_prints_all_that_is_on_and_says_what_is_down() -> None:
    result = ran("once")
    assert ups(result.stdout) == ['knotwatch_gpu_up{uuid="GPU-a"} 1.0', 'knotwatch_rdma_up{device="mlx5_0"} 0.0']
    assert result.stderr == "knotwatch-exporter: rdma mlx5_0 is down: every call fails.\n"
    assert result.exit_code == 1


def test_once_with_names_reads_these_alone(tmp_path: Path) -> None:
    result = ran("once", "gpu")
    assert ups(result.stdout) == ['knotwatch_gpu_up{uuid="GPU-a"} 1.0']
    assert (result.stderr, result.exit_code) == ("", 0)
    result = ran("once", "node", "--path.procfs", str(tmp_path))
    assert ups(result.stdout) == [f'knotwatch_exporter_subject_up{{kind="node",name="{tmp_path}"}} 1.0']


def test_what_the_file_turns_off_is_off_and_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    config = tmp_path / "exporter.toml"
    config.write_text('[collect]\noff = ["rdma"]\non = ["node"]\n[path]\nprocfs = "/p"\n')
    assert [line.partition("{")[0] for line in ups(ran("once", "--config", str(config)).stdout)] == [
        "knotwatch_exporter_subject_up",
        "knotwatch_gpu_up",
    ]
    assert len(ups(ran("once", "rdma", "--config", str(config)).stdout)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("once", "gpus"), "gpus is no collector; did you mean gpu?"),
        (("serve", "--collect", "zzz"), "zzz is no collector; known are gpu, rdma, node."),
        (("serve", "--no-collect", "noed"), "noed is no collector; did you mean node?"),
        (("serve", "--listen", "here"), "'here' is no address to listen on"),
        (("serve", "--listen", "192.0.2.1:10941"), "cannot listen on 192.0.2.1:10941: "),
        (("serve", "--config", "absent.toml"), "absent.toml cannot be read: no such file or directory."),
        (("serve", "--web.config.file", "absent.yml"), "absent.yml cannot be read: no such file or directory."),
        (("serve", "--liste", ":1"), "No such option"),
        (("once", "--within", "0"), "Invalid value for '--within'"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence_and_status_two(arguments: tuple[str, ...], said: str) -> None:
    result = ran(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_once_looks_twice_since_activity_is_told_from_a_span(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Toy("GPU-a")
    monkeypatch.setattr(cli, "COLLECTORS", (Collector(name="gpu", text="", source=lambda _settings: lambda: [toy]),))
    assert ran("once").exit_code == 0
    assert len(toy.reads_s) == 1
    assert CliRunner().invoke(cli.main, ["once", "--over", "0.2"]).exit_code == 0
    assert len(toy.reads_s) == 3
    assert toy.reads_s[2] - toy.reads_s[1] >= 0.2


def test_what_takes_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Toy("GPU-a", lambda _now_s: threading.Event().wait(2.0), deadline_s=60.0)
    monkeypatch.setattr(cli, "COLLECTORS", (Collector(name="gpu", text="", source=lambda _settings: lambda: [slow]),))
    result = ran("once", "--within", "0.2")
    assert result.stderr == "knotwatch-exporter: not all was read within 0.2 s.\n"
    assert result.exit_code == 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", int, Path]]:
    """The real command in a process of its own, with its port and textfile."""
    textfile = tmp_path / "knotwatch.prom"
    command = [sys.executable, "-m", "exporters", "serve", "--listen", "127.0.0.1:0", "--textfile", str(textfile)]
    empty = ["--path.sysfs", str(tmp_path), "--path.procfs", str(tmp_path), "--path.rootfs", str(tmp_path)]
    with subprocess.Popen([*command, *empty], stderr=subprocess.PIPE, text=True) as process:  # noqa: S603  our own command
        try:
            assert process.stderr
            said = process.stderr.readline()
            port = re.search(r"on port (\d+)", said)
            assert port, said
            yield process, int(port[1]), textfile
        finally:
            process.kill()


def test_the_real_command_serves_until_it_is_told_to_stop(
    served: tuple["subprocess.Popen[str]", int, Path],
) -> None:
    process, port, textfile = served
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        page = answer.read().decode()
    assert answer.status == 200
    assert "knotwatch_exporter_build_info{" in page
    resident = re.search(r"^process_resident_memory_bytes (\S+)$", page, re.MULTILINE)
    assert resident
    assert float(resident[1]) < 60e6
    assert textfile.exists()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert not textfile.exists()


@pytest.mark.parametrize("heavy", ["rich", "grpc", "analyzer", "networkx", "jinja2", "asyncio"])
def test_what_is_not_needed_is_not_loaded(heavy: str) -> None:
    probe = f"import exporters.cli, sys; sys.exit({heavy!r} in sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], check=False)  # noqa: S603  our own program
    assert run.returncode == 0
