"""Takes the picture of the page that the documents show: `python -m docs.picture`, where Chromium is installed.

It is not compared by a test: fonts differ from machine to machine. Take it anew when the page looks different.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from analyzer.run import replay
from analyzer.sinks.page import page_html
from tests.parts import where_is

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "page.png"
INCIDENT = ROOT / "tests" / "data" / "k8s" / "partial_gang"
SIZE = "1240,1150"


def take() -> None:
    """Write the picture, or say what is missing."""
    program = where_is("chromium")
    if program is None:
        raise SystemExit("the picture needs chromium: apt-get install chromium")
    done = replay([str(INCIDENT)])
    with TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_bytes(page_html(done.report, done.engine.view()))
        PICTURE.parent.mkdir(exist_ok=True)
        flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}")
        subprocess.run(  # noqa: S603  the program of the table of parts
            [program, *flags, f"--user-data-dir={folder}/profile", f"--screenshot={PICTURE}", page.as_uri()],
            check=True,
            capture_output=True,
        )
    sys.stdout.write(f"wrote {PICTURE.relative_to(ROOT)}, {PICTURE.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    take()
