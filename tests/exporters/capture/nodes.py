"""A simulated node as the command sees it: read it, capture it, and read the capture instead."""

import re
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

from exporters.cli import main
from exporters.nvml.driver import Pynvml
from exporters.nvml.node import NODE
from tests.exporters.demo.simulation import Simulation, paths_of
from tests.exporters.fake_nvml.fake import FakeNvml
from tests.exporters.trees import Trees

Page = Mapping[tuple[str, frozenset[tuple[str, str]]], float]

OF_THE_MOMENT = re.compile(
    r"knotwatch_exporter_|process_|python_|.*_timestamp_seconds|.*_window_seconds|.*_duration_seconds|.*_seconds$"
)
"""Families that say how long and when: they differ from look to look."""


class Node:
    """A node in a folder, and what it takes to run the command on it. `simulation` moves when a test says so."""

    def __init__(self, fake: FakeNvml, folder: Path) -> None:
        self.fake = fake
        self.folder = folder
        self.trees = Trees(folder / "node")
        self.simulation = Simulation(fake, self.trees)
        self.file = folder / "node.capture.json"

    def run(self, *arguments: str) -> Result:
        """The command with the node's paths. The driver library is asked anew, as in a process of its own."""
        NODE.answered_by(Pynvml)
        return run(arguments[0], *paths_of(self.trees, self.folder), *arguments[1:])

    def page(self, *arguments: str) -> Page:
        return page_of(self.run("once", "--within", "30", *arguments).stdout)

    def capture(self, *arguments: str) -> str:
        """Take a capture; its text."""
        result = self.run("capture", "-o", str(self.file), *arguments)
        assert result.exit_code == 0, result.stderr
        return self.file.read_text(encoding="utf-8")

    def replayed(self, *arguments: str) -> Page:
        return page_of(run("once", "--within", "30", "--replay", str(self.file), *arguments).stdout)


def run(*arguments: str) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, arguments, prog_name="knotwatch-exporter")


def page_of(text: str) -> Page:
    """Every series of a page, as Prometheus' own parser reads it."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def lasting(page: Page, *without: str) -> Page:
    """What does not depend on when it was read, without these labels and without what the exporter says of itself."""
    return {
        (name, frozenset((label, value) for label, value in labels if label not in without)): number
        for (name, labels), number in page.items()
        if not OF_THE_MOMENT.match(name)
    }
