"""Debian's headless Chromium, driven over its DevTools protocol through two pipes; it needs no library and no port."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
TIMEOUT_S = 60.0
SWITCHES = (
    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, "")}


class BrowserError(Exception):
    """What the browser said no to, or an exception in the page."""


class Browser:
    """One running Chromium; `page` opens a tab. Everything that it tells is kept, tab by tab, in `Page.events`."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="memttl-chromium-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # above 9, so that the shell can put them at 3 and 4 without one overwriting the other
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)
        shell = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-'
        command = ["bash", "-c", shell, "bash", CHROMIUM, *SWITCHES, f"--user-data-dir={self._folder}"]
        self._process = subprocess.Popen(
            [*command, "about:blank"], pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self._folder},
        )  # fmt: skip
        for fd in ends:
            os.close(fd)
        self._buffer = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.pages: dict[str, Page] = {}

    def close(self) -> None:
        """End it, and remove all that it wrote."""
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Give the result of one command."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._out, left) :]
        ends_at = time.monotonic() + TIMEOUT_S
        while number not in self._answers:
            self.listen(ends_at - time.monotonic(), method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def listen(self, patience_s: float, what: str) -> None:
        """Take in what comes next."""
        if patience_s <= 0 or not select.select([self._in], [], [], patience_s)[0]:
            raise BrowserError(f"no answer to {what}")
        came = os.read(self._in, 1 << 20)
        if not came:
            raise BrowserError(f"the browser ended before it answered {what}")
        *whole, self._buffer = (self._buffer + came).split(b"\0")
        for message in map(json.loads, whole):
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].events.append(message)

    @contextmanager
    def page(
        self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False, media: str = "",
        javascript: bool = True, scale: int = 1,
    ) -> Iterator[Page]:  # fmt: skip
        """Open a page in a tab of its own and wait until it is loaded."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        try:
            for domain in ("Page", "Runtime", "Network", "Log", "Security"):
                page.call(f"{domain}.enable")
            page.look(dark=dark, media=media)
            page.call("Emulation.setScriptExecutionDisabled", value=not javascript)
            page.resize(width, height, scale=scale)
            page.open(url)
            yield page
        finally:
            del self.pages[session]
            self.call("Target.disposeBrowserContext", browserContextId=context)


class Page:
    """One tab; `events` is all that was told of it."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Give the result of one command to this tab."""
        return self._browser.call(method, self._session, **params)

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """Give what was told under these names."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def open(self, url: str) -> None:
        """Go to a page and wait until it is loaded."""
        before = len(self.told("Page.loadEventFired"))
        self.call("Page.navigate", url=url)
        ends_at = time.monotonic() + TIMEOUT_S
        while len(self.told("Page.loadEventFired")) == before:
            self._browser.listen(ends_at - time.monotonic(), url)

    def look(self, *, dark: bool = False, media: str = "") -> None:
        """Show it as a person's settings, or paper, would have it."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def resize(self, width: int, height: int = 900, *, scale: int = 1) -> None:
        """Give the window another size, in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    def evaluate(self, expression: str) -> Any:
        """Give the value of an expression of the page's language; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true, a moment of the page's at a time."""
        promise = f"""new Promise((done) => {{
            const ends = performance.now() + 10000;
            const go_on = () => performance.now() > ends ? done(false) : setTimeout(look, 5);
            const look = () => ({expression}) ? done(true) : go_on();
            look();
        }})"""
        if not self.evaluate(promise):
            raise BrowserError(f"it never came to be that {expression}")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        code, text = KEYS[key]
        sent = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **sent, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **sent)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, expression: str) -> None:
        """Click with the mouse into the middle of an element, after it was scrolled to."""
        x, y = self.evaluate(f"""(() => {{
            const element = {expression};
            element.scrollIntoView({{block: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, *, whole: bool = True) -> bytes:
        """Give a PNG of the page, or of what is in the window."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        return base64.b64decode(answer["data"])

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def pdf(self) -> bytes:
        """Give the page as it would be printed on A4."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(answer["data"])


@contextmanager
def running() -> Iterator[Browser]:
    """Start the browser, and end it."""
    browser = Browser()
    try:
        yield browser
    finally:
        browser.close()


def url_of(path: Path) -> str:
    """The address of a file."""
    return path.resolve().as_uri()
