"""A real Chromium that opens pages for tests, driven by its own debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-port=0"),
)
START_SECONDS, ANSWER_SECONDS = 60, 120
NOISE = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
TIMES = """(async () => {
  while (!performance.getEntriesByType("paint").length) await new Promise((done) => setTimeout(done, 20));
  const [page] = performance.getEntriesByType("navigation"), [paint] = performance.getEntriesByType("paint");
  return { paint: paint.startTime, interactive: page.domInteractive, elements: document.querySelectorAll("*").length };
})()"""


def find_chromium() -> str:
    """Where the browser is; skips the test without one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed (on Debian: apt-get install chromium)")
    return found


class Chromium:
    """One browser with one tab; `open` shows a file in it."""

    def __init__(self) -> None:
        program = find_chromium()
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [program, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._loop = asyncio.new_event_loop()
        self._count = 0
        self.events: list[dict[str, Any]] = []
        self._loop.run_until_complete(self._connect(self._read_port()))

    def close(self) -> None:
        """Ends the browser."""
        self._loop.run_until_complete(self._session.close())
        self._loop.close()
        self._process.terminate()
        self._process.wait(20)
        self._folder.cleanup()

    def open(
        self, path: Path, fragment: str = "", *, width: int = 1440, dark: bool = False, script: bool = True
    ) -> None:
        """Opens a file at this width in CSS pixels, and waits until it is loaded."""
        self.resize(width)
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", media="", features=theme)
        self._call("Emulation.setScriptExecutionDisabled", value=not script)
        self._call("Page.navigate", url="about:blank")
        self._call("Runtime.evaluate", expression="0")
        self.events.clear()
        self._call("Page.navigate", url=f"{path.resolve().as_uri()}{fragment}")
        deadline = time.monotonic() + ANSWER_SECONDS
        while not any(each["method"] == "Page.loadEventFired" for each in self.events):
            assert time.monotonic() < deadline, "the page did not load"
            self._call("Runtime.evaluate", expression="0")
            time.sleep(0.02)

    def resize(self, width: int) -> None:
        """Gives the window this width in CSS pixels."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; waits for a promise."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Presses keys one after another, as a person does: `j`, `Tab`, `Enter`, `Escape` ..."""
        for key in keys:
            code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, ord(key[0]))
            text = {"Enter": "\r", "Tab": "", "Escape": ""}.get(key, key)
            event = {"key": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
            self._call("Input.dispatchKeyEvent", type="keyDown", **event)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def take_picture(self, path: Path) -> None:
        """Writes what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot")["data"]))

    @property
    def times(self) -> dict[str, float]:
        """Milliseconds to the first paint and until the page could be used; the number of elements."""
        return dict(self.evaluate(TIMES))

    @property
    def requests(self) -> list[str]:
        """What the page requested beside itself."""
        sent = [each["params"] for each in self.events if each["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent if each["type"] != "Document"]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """What the page, or the browser about it, wrote to the console."""
        return [each for each in self.events if each["method"] in NOISE]

    async def _connect(self, port: str) -> None:
        self._session = aiohttp.ClientSession()
        async with self._session.get(f"http://127.0.0.1:{port}/json") as answer:
            tab = next(each for each in await answer.json() if each["type"] == "page")
        self._socket = await self._session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0)
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._send(f"{domain}.enable", {})

    def _read_port(self) -> str:
        path = Path(self._folder.name, "DevToolsActivePort")
        deadline = time.monotonic() + START_SECONDS
        while not (path.exists() and path.read_text().count("\n")):
            assert time.monotonic() < deadline, "the browser did not start"
            time.sleep(0.05)
        return path.read_text().splitlines()[0]

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._loop.run_until_complete(asyncio.wait_for(self._send(method, parameters), ANSWER_SECONDS))

    async def _send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        number = self._count
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == number:
                assert "error" not in message, (method, message["error"])
                return dict(message["result"])
            if "method" in message:
                self.events.append(message)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """A browser for the tests of a module."""
    browser = Chromium()
    yield browser
    browser.close()
