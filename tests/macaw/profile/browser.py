"""Controls a headless Chromium by messages of DevTools over a pipe, without other packages."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

COMMANDS = ("chromium", "chromium-browser", "google-chrome")
CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "Delete": 46}  # keys that the browser itself handles
SECONDS = 60  # that an answer may take


def command() -> str | None:
    """The path of an installed Chromium, or None."""
    return next((path for name in COMMANDS if (path := shutil.which(name))), None)


# A browser is no package that pip brings. .ci/run installs one, and CI lets no test be skipped; at
# home the pages go unopened without it.
needs_browser = pytest.mark.skipif(command() is None, reason="no Chromium here")


class Browser:
    """A running browser: `with Browser() as browser: page = browser.open(path)`."""

    def __enter__(self) -> Self:
        found = command()
        assert found, "no Chromium here"
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()

        def ends() -> None:  # DevTools reads from 3 and writes to 4
            read, write = os.dup(theirs), os.dup(answers)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [
                found, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
                "--disable-dev-shm-usage", f"--user-data-dir={self._home.name}", "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=ends,
            pass_fds=(3, 4),
        )  # fmt: skip
        os.close(theirs)
        os.close(answers)
        self._answers = os.fdopen(self._in, "rb", buffering=0)
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)
        os.close(self._out)
        self._answers.close()
        self._home.cleanup()

    def call(self, method: str, session: str = "", **parameters: Any) -> Any:
        """Call a method of DevTools; return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") != self._number:
                self.events.append(answer)
                continue
            assert "error" not in answer, (method, answer["error"])
            return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], SECONDS)
            assert ready, f"the browser says nothing for {SECONDS} seconds"
            piece = self._answers.read(1 << 16)
            assert piece, "the browser has gone"
            self._rest += piece
        whole, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(whole)
        return found

    def wait(self, method: str) -> dict[str, Any]:
        """Wait for an event and remove it; other events stay in `events`."""
        for event in self.events:
            if event.get("method") == method:
                self.events.remove(event)
                return event
        while True:
            event = self._message()
            if event.get("method") == method:
                return event
            self.events.append(event)

    def open(self, path: Path, width: int = 1280, height: int = 1000) -> Page:
        """Open a new page that shows a file."""
        return Page(self, path, width, height)


class Page:
    """A page of the browser."""

    def __init__(self, browser: Browser, path: Path, width: int, height: int) -> None:
        self.browser = browser
        self.width, self.height = width, height
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        found = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = found["sessionId"]
        browser.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Page.navigate", url=path.resolve().as_uri())
        browser.wait("Page.loadEventFired")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of DevTools in this page."""
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def run(self, expression: str) -> Any:
        """Evaluate an expression after the page is drawn and its background work has ended."""
        drawn = (
            "new Promise(done => { const look = () => document.querySelector('[aria-busy=true]')"
            " ? setTimeout(look) : done(); requestAnimationFrame(() => requestAnimationFrame(look)); })"
        )
        found = self.call(
            "Runtime.evaluate",
            expression=f"{drawn}.then(() => ({expression}))",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Move, press, release, or turn the wheel at a point."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float, count: int = 1) -> None:
        """Click with the left button."""
        self.mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=number)

    def key(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key."""
        more: dict[str, Any] = {"text": key} if len(key) == 1 else {}
        if key in CODES:
            more |= {"windowsVirtualKeyCode": CODES[key], "code": key}
        if key == "Enter":
            more["text"] = "\r"
        if shift:
            more["modifiers"] = 8
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element."""
        found = self.run(
            f"(b => [b.left, b.top, b.width, b.height])"
            f"(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        return tuple(found)

    def troubles(self) -> list[str]:
        """Messages in the page's console, exceptions, and loads that failed since it was opened."""
        self.run("0")
        found = []
        for event in self.browser.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled":
                found.append(f"{parameters['type']}: {parameters['args']}")
            elif method == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif method == "Log.entryAdded":
                found.append(str(parameters["entry"]))
            elif method == "Network.loadingFailed":
                found.append(str(parameters))
        return found

    def requests(self) -> list[str]:
        """The addresses that the page has requested."""
        return [
            event["params"]["request"]["url"]
            for event in self.browser.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
