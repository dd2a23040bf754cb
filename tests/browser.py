"""Chromium without a window, for tests of one HTML file: started, driven and ended with the standard library alone.

The browser is spoken to in the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/) through
`--remote-debugging-pipe`: JSON messages that end with a NUL byte, read by the browser on descriptor 3 and written on 4.
Nothing listens on a port, and no name resolves: what a page asks of the network is recorded and fails.

Every question to the browser has a time limit; a browser that hangs, ends or crashes is a `BrowserFault`, which is a
failure of the test and not an error in it. Leaving the `with` block of a `Browser` kills its process group.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
NOT_FOUND = "no Chromium found: set BROWSER_FOR_TESTS to its path"

FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --disable-breakpad --disable-extensions
    --disable-background-timer-throttling --disable-backgrounding-occluded-windows --disable-renderer-backgrounding
    --hide-scrollbars --no-proxy-server --remote-debugging-pipe
""".split()
NO_NAME_RESOLVES = "--host-resolver-rules=MAP * ~NOTFOUND"

# The pipes come as standard input and output, so that no descriptor has to be given a number in this process.
ON_THREE_AND_FOUR = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'

# Seconds: generous, because a test machine may be busy with other things.
START_LIMIT = 60.0
ANSWER_LIMIT = 40.0
SCRIPT_LIMIT = 30.0
POLL = 0.05

SHIFT = 8
KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "Space": (32, " "),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}

Fields = dict[str, Any]
Listener = Callable[[str, Fields], None]


class BrowserFault(AssertionError):
    """The browser did not do what it was asked, or not in time."""


class Refusal(BrowserFault):
    """The browser answered a command with an error."""


class Silence(BrowserFault):
    """The browser gave no answer in time."""


class ScriptFault(AssertionError):
    """An expression threw, was refused or ran too long: the message is the page's."""


def found() -> str | None:
    """The path of the browser: BROWSER_FOR_TESTS alone if it is set, else the first of NAMES on PATH."""
    named = os.environ.get("BROWSER_FOR_TESTS")
    paths = [shutil.which(name) for name in ((named,) if named else NAMES)]
    return next((path for path in paths if path), None)


class Connection:
    """Messages to and from a browser over two pipes, each with a time limit."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._unread = bytearray()
        self._messages: list[Fields] = []
        self._number = 0
        self.listeners: dict[str, Listener] = {}
        os.set_blocking(to_browser, False)

    def post(self, method: str, session: str | None = None, **parameters: Any) -> int:
        """Send a command and do not wait for its answer; the number of the command."""
        self._number += 1
        message: Fields = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._write(json.dumps(message).encode() + b"\0", method)
        return self._number

    def ask(self, method: str, session: str | None = None, seconds: float = ANSWER_LIMIT, **parameters: Any) -> Fields:
        """The result of a command; events that come first are heard."""
        number = self.post(method, session, **parameters)
        deadline = time.monotonic() + seconds
        while True:
            message = self._next(f"answer to {method}", deadline, seconds)
            if message.get("id") == number:
                break
            self._hear(message)
        if "error" in message:
            raise Refusal(f"{method}: {message['error']['message']}")
        result: Fields = message["result"]
        return result

    def until(self, done: Callable[[], bool], what: str, seconds: float = ANSWER_LIMIT) -> None:
        """Hear events until `done`; `what` names what is waited for."""
        deadline = time.monotonic() + seconds
        while not done():
            self._hear(self._next(what, deadline, seconds))

    def _hear(self, message: Fields) -> None:
        """Give an event to who listens to its session; an answer that nobody waits for is dropped."""
        session = message.get("sessionId")
        if "method" in message and session in self.listeners:
            self.listeners[session](message["method"], message["params"])

    def _next(self, what: str, deadline: float, seconds: float) -> Fields:
        """The next message, waited for until the deadline."""
        while not self._messages:
            if not select.select([self._from_browser], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Silence(f"no {what} from the browser in {seconds:g} seconds")
            self._take(what)
        return self._messages.pop(0)

    def _take(self, what: str) -> None:
        """Read what the browser has written."""
        data = os.read(self._from_browser, 1 << 20)
        if not data:
            raise BrowserFault(f"no {what}: the browser has ended")
        self._unread += data
        if 0 in data:
            *whole, self._unread = self._unread.split(b"\0")
            self._messages += [json.loads(message) for message in whole]

    def _write(self, data: bytes, method: str) -> None:
        """Write all of a command; what the browser writes meanwhile is taken, so that neither waits for the other."""
        deadline = time.monotonic() + ANSWER_LIMIT
        while data:
            left = max(0.0, deadline - time.monotonic())
            readable, writable, _ = select.select([self._from_browser], [self._to_browser], [], left)
            if not readable and not writable:
                raise Silence(f"the browser did not take {method} in {ANSWER_LIMIT:g} seconds")
            if readable:
                self._take(f"answer to {method}")
            if writable:
                try:
                    data = data[os.write(self._to_browser, data) :]
                except BrokenPipeError:
                    raise BrowserFault(f"no answer to {method}: the browser has ended") from None


class Browser:
    """One browser process for many pages. A page has storage of its own, and sees nothing of the others."""

    def __init__(self, path: str | None = None) -> None:
        self._path = path or found()
        self._folder = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Browser:
        if self._path is None:
            raise BrowserFault(NOT_FOUND)
        self._folder = tempfile.mkdtemp(prefix="browser-")
        try:
            self._start(self._path)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _start(self, path: str) -> None:
        profile = f"--user-data-dir={os.path.join(self._folder, 'profile')}"
        errors = os.path.join(self._folder, "errors")
        with open(errors, "wb") as stderr:
            self._process = process = subprocess.Popen(
                ["/bin/sh", "-c", ON_THREE_AND_FOUR, path, *FLAGS, NO_NAME_RESOLVES, profile, "about:blank"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, "TMPDIR": self._folder},
                start_new_session=True,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        self._connection = Connection(process.stdin.fileno(), process.stdout.fileno())
        try:
            self._connection.ask("Browser.getVersion", seconds=START_LIMIT)
        except BrowserFault as fault:
            said = pathlib.Path(errors).read_text(encoding="utf-8", errors="replace")[-2000:]
            raise BrowserFault(f"{path} did not start: {fault}\n{said}") from None

    def _end(self) -> None:
        """Kill every process of the browser and remove what it wrote. May be called twice."""
        process, self._process = self._process, None
        if process is not None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait(ANSWER_LIMIT)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        remove(self._folder)

    def open(
        self,
        path: str,
        fragment: str = "",
        *,
        scripts: bool = True,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        media: str = "",
    ) -> Page:
        """The file in a page of its own, after its load event.

        `fragment` comes without "#"; `width` and `height` are CSS pixels; `media` is "print", "screen" or nothing.
        Without `scripts` the page's own scripts and handlers do not run and `noscript` shows, as in a browser with
        scripts turned off. All that a `Page` offers works then too, `evaluate` included; only what an expression
        leaves for later (a timer, an event listener, an animation frame) is never called.
        """
        page = Page(self._connection, width, height)
        try:
            page._prepare(scripts, dark, media)
            page._navigate(pathlib.Path(path).resolve().as_uri(), fragment)
        except BaseException:
            page.close()
            raise
        return page


class Page:
    """One file in a tab. Made by `Browser.open`."""

    def __init__(self, connection: Connection, width: int, height: int) -> None:
        self._connection = connection
        self._width, self._height = width, height
        self._heard: list[str] = []
        self._loaded: set[str] = set()
        self._url = ""
        self._crashed = False
        self._context: str | None = connection.ask("Target.createBrowserContext")["browserContextId"]
        target = connection.ask(
            "Target.createTarget", url="about:blank", browserContextId=self._context, newWindow=True
        )["targetId"]
        self._session: str = connection.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._sessions = [self._session]
        connection.listeners[self._session] = self._hear

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the tab, with all it opened. The messages stay readable."""
        if self._context is None:
            return
        context, self._context = self._context, None
        try:
            self._connection.ask("Target.disposeBrowserContext", browserContextId=context)
        finally:
            for session in self._sessions:
                del self._connection.listeners[session]

    @property
    def messages(self) -> list[str]:
        """What a quiet page has none of, in order of arrival, each as "KIND: TEXT".

        "console" for console.error and failed assertions; "exception" for one that nothing caught; "security" for a
        violation of the content security policy, and the source of any other error in the browser's log; "dialog" for
        one that was opened (it is dismissed at once); "request" for an address other than the file's and data:, even
        if it comes to nothing; "page" for another that was opened; "crash". A page that is still at work may add more:
        `wait` for the end of its work first.
        """
        if self._context is not None and not self._crashed:
            self._ask("Runtime.evaluate", expression="0")
        return list(self._heard)

    def evaluate(self, expression: str) -> Any:
        """The JSON value of an expression, promises awaited; None for undefined, NaN and the infinities.

        Runs in the page's own world, beside its variables, also in a page without scripts.
        """
        return self._evaluate(expression, SCRIPT_LIMIT)

    def wait(self, expression: str, seconds: float = 20) -> Any:
        """The value of an expression, once it is true for JavaScript. One that throws is not yet true."""
        deadline = time.monotonic() + seconds
        truth = f"Promise.resolve(({expression}\n)).then(value => [Boolean(value), value])"
        while True:
            left = max(POLL, deadline - time.monotonic())
            try:
                true, value = self._evaluate(truth, left)
            except ScriptFault as fault:
                true, value = False, fault
            if true:
                return value
            if time.monotonic() > deadline:
                last = str(value) if isinstance(value, ScriptFault) else json.dumps(value)
                raise AssertionError(f"not true in {seconds:g} seconds: {expression} (last: {last})")
            time.sleep(POLL)

    def click(self, selector: str) -> None:
        """Click with the mouse at the middle of the first element that matches, scrolled into view first."""
        x, y = self._middle(selector)
        place = {"x": x, "y": y}
        self._ask("Input.dispatchMouseEvent", type="mouseMoved", **place)
        self._ask("Input.dispatchMouseEvent", type="mousePressed", button="left", buttons=1, clickCount=1, **place)
        self._ask("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **place)

    def press(self, key: str, shift: bool = False) -> None:
        """Press and release a key of KEYS, or one character, in whatever has the focus."""
        fields = key_fields(key, shift)
        down = "keyDown" if "text" in fields else "rawKeyDown"
        self._ask("Input.dispatchKeyEvent", type=down, **fields)
        fields.pop("text", None)
        self._ask("Input.dispatchKeyEvent", type="keyUp", **fields)

    def text(self, selector: str) -> str:
        """The visible text (innerText) of the first element that matches."""
        element = f"document.querySelector({json.dumps(selector)})"
        text = self.evaluate(f"{element} && ({element}.innerText ?? {element}.textContent)")
        if text is None:
            raise BrowserFault(f"no element matches {selector}")
        return str(text)

    def screenshot(self, path: str, whole: bool = False) -> None:
        """Write what is in view as a PNG, one pixel for a CSS pixel; with `whole` the full height of the page."""
        extent: Fields = {}
        if whole:
            height = self._ask("Page.getLayoutMetrics")["cssContentSize"]["height"]
            clip = {"x": 0, "y": 0, "width": self._width, "height": max(height, self._height), "scale": 1}
            extent = {"captureBeyondViewport": True, "clip": clip}
        picture = self._ask("Page.captureScreenshot", format="png", **extent)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def pdf(self) -> bytes:
        """The page as printed, on the paper its style sheet names, else US Letter; backgrounds are not printed."""
        return base64.b64decode(self._ask("Page.printToPDF", preferCSSPageSize=True)["data"])

    def _ask(self, method: str, seconds: float = ANSWER_LIMIT, **parameters: Any) -> Fields:
        if self._crashed:
            raise BrowserFault(f"no answer to {method}: the page has crashed")
        return self._connection.ask(method, self._session, seconds, **parameters)

    def _prepare(self, scripts: bool, dark: bool, media: str) -> None:
        """Turn on the reports and the emulation, before the file is opened."""
        for domain in ("Page", "DOM", "Inspector"):
            self._ask(f"{domain}.enable")
        self._ask("Page.setLifecycleEventsEnabled", enabled=True)
        self._report(self._session)
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=self._width,
            height=self._height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self._ask("Emulation.setScriptExecutionDisabled", value=not scripts)

    def _report(self, session: str) -> None:
        """Have a page, a frame or a worker report what `messages` holds, and let it run."""
        for domain in ("Network", "Log", "Runtime"):
            self._connection.post(f"{domain}.enable", session)
        self._connection.post(
            "Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True
        )
        self._connection.post("Runtime.runIfWaitingForDebugger", session)

    def _navigate(self, url: str, fragment: str) -> None:
        self._url = url
        result = self._ask("Page.navigate", url=f"{url}#{fragment}" if fragment else url)
        if "errorText" in result:
            raise BrowserFault(f"{url}: {result['errorText']}")
        self._connection.until(lambda: result["loaderId"] in self._loaded, f"load event of {url}")

    def _evaluate(self, expression: str, seconds: float) -> Any:
        """`seconds` end a script that does not come to rest; a promise has a little longer for its answer."""
        try:
            result = self._ask(
                "Runtime.evaluate",
                seconds + 1,
                expression=expression,
                returnByValue=True,
                awaitPromise=True,
                timeout=seconds * 1000,
            )
        except (Refusal, Silence) as fault:
            raise ScriptFault(f"{fault}: {expression}") from None
        if "exceptionDetails" in result:
            raise ScriptFault(thrown(result["exceptionDetails"]))
        return result["result"].get("value")

    def _middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is, once it is in view and stands still: a page may scroll smoothly."""
        root = self._ask("DOM.getDocument", depth=0)["root"]["nodeId"]
        node = self._ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        if not node:
            raise BrowserFault(f"no element matches {selector}")
        deadline = time.monotonic() + ANSWER_LIMIT
        before = None
        while time.monotonic() < deadline:
            try:
                self._ask("DOM.scrollIntoViewIfNeeded", nodeId=node)
                quads = self._ask("DOM.getContentQuads", nodeId=node)["quads"]
            except Refusal as fault:
                raise BrowserFault(f"{selector} cannot be clicked: {fault}") from None
            if not quads:
                raise BrowserFault(f"{selector} cannot be clicked: it is not shown")
            x, y = sum(quads[0][0::2]) / 4, sum(quads[0][1::2]) / 4
            if (x, y) == before and 0 <= x < self._width and 0 <= y < self._height:
                return x, y
            before = x, y
            time.sleep(POLL)
        raise BrowserFault(f"{selector} cannot be clicked: it does not come into view and stand still")

    def _hear(self, method: str, event: Fields) -> None:
        """Keep what an event tells."""
        if method == "Page.lifecycleEvent" and event["name"] == "load":
            self._loaded.add(event["loaderId"])
        elif method == "Page.javascriptDialogOpening":
            self._dismiss(event)
        elif method == "Target.attachedToTarget":
            self._attach(event)
        elif method == "Inspector.targetCrashed":
            self._crashed = True
            self._heard.append("crash: the page has crashed")
            raise BrowserFault("the page has crashed")
        else:
            self._heard += told(method, event, self._url)

    def _dismiss(self, event: Fields) -> None:
        """Answer a dialog with no, but let a page go that asks whether it may."""
        self._heard.append(f"dialog: {event['type']}: {event['message']}")
        leaving = event["type"] == "beforeunload"
        self._connection.post("Page.handleJavaScriptDialog", self._session, accept=leaving)

    def _attach(self, event: Fields) -> None:
        """Listen to a frame or a worker of the page too."""
        session = event["sessionId"]
        self._sessions.append(session)
        self._connection.listeners[session] = self._hear
        self._report(session)


def told(method: str, event: Fields, url: str) -> list[str]:
    """What an event adds to the messages of the page at `url`: one or none."""
    if method == "Runtime.exceptionThrown":
        return [f"exception: {thrown(event['exceptionDetails'])}"]
    if method == "Runtime.consoleAPICalled" and event["type"] in ("error", "assert"):
        return [f"console: {' '.join(shown(argument) for argument in event['args'])}"]
    if method == "Log.entryAdded":
        return logged(event["entry"])
    if method == "Network.requestWillBeSent":
        address = event["request"]["url"]
        return [] if address == url or address.startswith("data:") else [f"request: {address}"]
    if method == "Page.windowOpen":
        return [f"page: {event['url']}"]
    return []


def logged(entry: Fields) -> list[str]:
    """An entry of the browser's log. Failed requests are left out: each request is a message already."""
    if entry["source"] == "network" or (entry["level"] != "error" and entry["source"] != "security"):
        return []
    return [f"{entry['source']}: {entry['text'].strip()}"]


def thrown(details: Fields) -> str:
    """An exception's class and message, or the thrown value, without the stack."""
    if "exception" not in details:
        return str(details["text"])
    return shown(details["exception"])


def shown(remote: Fields) -> str:
    """A value of the page as the console shows it, an error without its stack."""
    if "value" in remote:
        return remote["value"] if isinstance(remote["value"], str) else json.dumps(remote["value"])
    return str(remote.get("description", remote["type"])).partition("\n    at ")[0]


def key_fields(key: str, shift: bool) -> Fields:
    """A key as the Input domain takes it."""
    if key in KEYS:
        number, text = KEYS[key]
        fields = {"key": text if key == "Space" else key, "code": key}
    elif len(key) == 1:
        text = key.upper() if shift else key
        number = ord(key.upper()) if key.isascii() and key.isalnum() else 0
        code = f"Key{key.upper()}" if key.isalpha() else f"Digit{key}"
        fields = {"key": text, "code": code if number else ""}
    else:
        raise ValueError(f"no key is called {key}: {', '.join(KEYS)} or one character")
    if text:
        fields["text"] = text
    return {**fields, "windowsVirtualKeyCode": number, "modifiers": SHIFT if shift else 0}


def remove(folder: str) -> None:
    """Remove a folder in which a killed process may still be writing."""
    deadline = time.monotonic() + 10
    while os.path.exists(folder) and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)


class BrowserTest(unittest.TestCase):
    """Tests that share one browser, `self.browser`; skipped where there is none, unless BROWSER_REQUIRED is set."""

    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if found() is None:
            raise AssertionError(NOT_FOUND) if os.environ.get("BROWSER_REQUIRED") else unittest.SkipTest(NOT_FOUND)
        cls.browser = Browser()
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__, None, None, None)
