"""What the READMEs say of tests is so: the files are there, and the tests in them."""

import re

from tests.architecture.source_tree import ROOT

README = (ROOT / "exporters/README.md", ROOT / "tests/exporters/README.md")
NAMED = re.compile(r"`(?P<file>[a-z_]+/test_[a-z_]+\.py)`|(?P<test>\b_?\.*\w*test_\w+|\.\.\._\w+)(?P<more>\.{3})?")


def test_every_test_that_a_readme_names_is_there() -> None:
    missing = []
    for path in README:
        for line in path.read_text(encoding="utf-8").splitlines():
            text = ""
            for found in NAMED.finditer(line) if line.startswith("|") else ():
                if found["file"]:
                    place = ROOT / "tests/exporters" / found["file"]
                    text = place.read_text(encoding="utf-8") if place.is_file() else ""
                    missing += [] if text else [found["file"]]
                elif not found["test"].startswith("...") and text:
                    wanted = f"def {found['test']}" + ("" if found["more"] else "(")
                    missing += [] if wanted in text else [f"{path.name}: {found['test']}"]
    assert missing == []
