"""A real Chromium, driven over its DevTools pipe: no driver program, no port, and whatever a page asks for is seen."""

import json
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

from tests.parts import where_is

_WITHIN_S = 60.0
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)

_LAUNCH = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page. `asked` are the addresses that it asked for, `complaints` what its console says went wrong."""

    def __init__(self, say: int, hear: int) -> None:
        self._say, self._hear = say, hear
        self._heard = b""
        self._number = 0
        self._session = ""
        self.scripts_off = False
        self.asked: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask the browser; its answer, or AssertionError with its words if it refuses."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._say, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._next()
            if heard.get("id") == self._number:
                assert "error" not in heard, f"{method}: {heard['error']}"
                answer: dict[str, Any] = heard["result"]
                return answer

    def open(self, path: Path, fragment: str = "", *, width: int = 1280, height: int = 900) -> None:
        """Load the file and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url="about:blank")
        self.asked.clear()
        self.complaints.clear()
        self.call("Page.navigate", url=path.as_uri() + fragment)
        while self.evaluate("document.readyState + location.protocol") != "completefile:":
            pass
        self.settle()

    def settle(self) -> None:
        """Wait for two frames: whatever a click or a load started has been drawn."""
        if not self.scripts_off:
            self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def scripts(self, *, off: bool) -> None:
        """Forbid the page to run scripts (DevTools itself still may)."""
        self.scripts_off = off
        self.call("Emulation.setScriptExecutionDisabled", value=off)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, waited for if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        """A click of the left button at a place in the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)
        self.settle()

    def picture(self, *, whole: bool = False) -> bytes:
        """What can be seen, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return b64decode(answer["data"])

    def _next(self) -> dict[str, Any]:
        end_s = monotonic() + _WITHIN_S
        while b"\0" not in self._heard:
            ready, _, _ = select([self._hear], [], [], max(0.0, end_s - monotonic()))
            assert ready, f"the browser said nothing for {_WITHIN_S:.0f} s"
            more = os.read(self._hear, 1 << 20)
            assert more, "the browser has gone"
            self._heard += more
        first, _, self._heard = self._heard.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.asked.append(parameters["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.complaints.append(str(parameters["args"]))
            case "Page.javascriptDialogOpening":
                self.complaints.append(f"a dialogue: {parameters['message']}")
            case _:
                pass


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own below the folder; ended with its processes afterwards."""
    program = where_is("chromium")
    assert program is not None
    read_here, write_there = os.pipe()
    read_there, write_here = os.pipe()
    # The browser listens on descriptor 3 and answers on 4; beyond 10 nothing of ours is in their way.
    theirs = [fcntl(each, F_DUPFD, 10) for each in (read_there, write_there)]
    process = subprocess.Popen(  # noqa: S603  the program of the table of parts
        [sys.executable, "-c", _LAUNCH, *map(str, theirs), program, *_FLAGS, f"--user-data-dir={folder}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=theirs,
    )
    for each in (*theirs, read_there, write_there):
        os.close(each)
    try:
        yield Browser(write_here, read_here)
    finally:
        process.terminate()
        process.wait(_WITHIN_S)
        os.close(write_here)
        os.close(read_here)
