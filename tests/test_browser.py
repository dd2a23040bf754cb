"""Each method of the interface to the browser, tried on a small file."""

from __future__ import annotations

import os
import pathlib
import signal
import tempfile
import unittest
from typing import Any
from unittest import mock

from tests import browser
from tests.browser import Browser, BrowserFault, BrowserTest, Page, ScriptFault

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>before</title>
<style>
  html { scroll-behavior: smooth }
  @media print { .screen { display: none } }
  @page { size: 100mm 100mm }
</style>
<body>
<noscript><p id="still">scripts are off</p></noscript>
<p id="said">nothing <span hidden>at all</span></p>
<p class="screen">on a screen</p>
<input id="field"> <a id="link" href="#below">below</a>
<button id="button" onclick="said.textContent = 'clicked ' + event.isTrusted">press</button>
<details id="more"><summary>more</summary><p>detail</p></details>
<p id="hidden" hidden>hidden</p>
<div style="height: 3000px"></div>
<button id="below" onclick="said.textContent = 'clicked below'">below</button>
<script>document.title = "after"; const keys = []; onkeydown = event => keys.push((event.shiftKey ? "+" : "") + event.key)</script>
"""


class InAFolder(BrowserTest):
    folder: str

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def page(self, text: str = PAGE, fragment: str = "", **how: Any) -> Page:
        path = os.path.join(self.folder, "page é.html")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        page = self.browser.open(path, fragment, **how)
        self.addCleanup(page.close)
        return page

    def picture(self, page: Page, whole: bool = False) -> tuple[int, int]:
        """Width and height of a screenshot (PNG specification, sections 5.2 and 11.2.1)."""
        path = os.path.join(self.folder, "picture.png")
        page.screenshot(path, whole)
        data = pathlib.Path(path).read_bytes()
        self.assertEqual((data[:8], data[12:16], data[-8:-4]), (b"\x89PNG\r\n\x1a\n", b"IHDR", b"IEND"))
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


class Opening(InAFolder):
    def test_a_quiet_page_has_run_and_says_nothing(self) -> None:
        with self.page() as page:
            self.assertEqual(page.evaluate("document.title"), "after")
            self.assertEqual(page.messages, [])
        self.assertEqual(page.messages, [])

    def test_a_fragment_scrolls_and_is_in_the_location(self) -> None:
        page = self.page(fragment="below")
        self.assertEqual(page.evaluate("location.hash"), "#below")
        self.assertEqual(page.evaluate("document.querySelector(':target').id"), "below")
        self.assertGreater(page.wait("scrollY > 1000 && scrollY"), 1000)
        self.assertEqual(page.messages, [])

    def test_a_file_that_is_not_there(self) -> None:
        path = os.path.join(self.folder, "none.html")
        with self.assertRaises(BrowserFault) as caught:
            self.browser.open(path)
        self.assertEqual(str(caught.exception), f"{pathlib.Path(path).resolve().as_uri()}: net::ERR_FILE_NOT_FOUND")

    def test_without_scripts(self) -> None:
        page = self.page(fragment="below", scripts=False)
        self.assertEqual(page.evaluate("[document.title, location.hash, innerWidth]"), ["before", "#below", 1280])
        self.assertEqual(page.text("#still"), "scripts are off")
        page.click("#button")
        self.assertEqual(page.text("#said"), "nothing")
        page.click("#link")
        page.click("summary")
        self.assertEqual(page.text("#more p"), "detail")
        page.press("Tab")
        self.assertEqual(page.wait("document.activeElement.id"), "below")
        self.assertEqual(page.evaluate("Promise.resolve(3)"), 3)
        self.assertEqual(page.messages, [])

    def test_size_scheme_and_medium(self) -> None:
        seen = (
            "[innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('print').matches]"
        )
        self.assertEqual(self.page().evaluate(seen), [1280, 900, False, False])
        page = self.page(width=400, height=300, dark=True, media="print")
        self.assertEqual(page.evaluate(seen), [400, 300, True, True])
        self.assertEqual(page.evaluate("document.querySelector('.screen').offsetHeight"), 0)

    def test_pages_have_storage_of_their_own(self) -> None:
        one, other = self.page(), self.page()
        one.evaluate("localStorage.setItem('a', 'b')")
        self.assertEqual(one.evaluate("localStorage.getItem('a')"), "b")
        self.assertIsNone(other.evaluate("localStorage.getItem('a')"))


class Asking(InAFolder):
    def test_values(self) -> None:
        page = self.page()
        for expression, value in {
            "1 + 1": 2,
            "[1.5, 'é', null, {a: true}]": [1.5, "é", None, {"a": True}],
            "undefined": None,
            "new Promise(done => setTimeout(() => done('late'), 50))": "late",
            "'x'.repeat(3000000).length": 3000000,
        }.items():
            with self.subTest(expression):
                self.assertEqual(page.evaluate(expression), value)
        self.assertEqual(len(page.evaluate("'é'.repeat(3000000)")), 3000000)
        self.assertEqual(page.evaluate(f"'{'é' * 300000}'.length"), 300000)

    def test_faults(self) -> None:
        page = self.page()
        for expression, message in {
            "null.length": "TypeError: Cannot read properties of null (reading 'length')",
            "(() => { throw 'a word' })()": "a word",
            "Promise.reject(new RangeError('too far'))": "RangeError: too far",
            "1 +": "SyntaxError: Unexpected end of input",
        }.items():
            with self.subTest(expression):
                with self.assertRaises(ScriptFault) as caught:
                    page.evaluate(expression)
                self.assertEqual(str(caught.exception), message)
        self.assertEqual(page.messages, [])

    def test_a_script_that_does_not_end_is_ended(self) -> None:
        page = self.page()
        with mock.patch.object(browser, "SCRIPT_LIMIT", 0.5):
            with self.assertRaisesRegex(ScriptFault, r": for \(;;\);$"):
                page.evaluate("for (;;);")
            with self.assertRaises(ScriptFault) as caught:
                page.evaluate("new Promise(() => 0)")
        self.assertEqual(
            str(caught.exception),
            "no answer to Runtime.evaluate from the browser in 1.5 seconds: new Promise(() => 0)",
        )
        self.assertEqual(page.evaluate("2"), 2)

    def test_waiting(self) -> None:
        page = self.page()
        page.evaluate("void setTimeout(() => { window.later = [1] }, 300)")
        self.assertEqual(page.wait("later"), [1])
        self.assertEqual(page.wait("Promise.resolve({a: 1})"), {"a": 1})

    def test_waiting_in_vain(self) -> None:
        page = self.page()
        for expression, last in {"''": '""', "nowhere.x": "ReferenceError: nowhere is not defined"}.items():
            with self.subTest(expression):
                with self.assertRaises(AssertionError) as caught:
                    page.wait(expression, 0.2)
                self.assertEqual(str(caught.exception), f"not true in 0.2 seconds: {expression} (last: {last})")

    def test_visible_text(self) -> None:
        page = self.page()
        self.assertEqual(page.text("#said"), "nothing")
        with self.assertRaises(BrowserFault) as caught:
            page.text("#none")
        self.assertEqual(str(caught.exception), "no element matches #none")


class Acting(InAFolder):
    def test_clicks(self) -> None:
        page = self.page()
        page.click("#button")
        self.assertEqual(page.text("#said"), "clicked true")
        page.click("#below")
        self.assertEqual(page.text("#said"), "clicked below")
        page.click("#link")
        self.assertEqual(page.wait("location.hash"), "#below")
        page.click("#button")
        self.assertEqual(page.text("#said"), "clicked true")

    def test_what_moves_is_clicked_where_it_comes_to_rest(self) -> None:
        page, ask, shifts = self.page(), Page._ask, [300, 200, 100]

        def moving(page: Page, method: str, **parameters: Any) -> dict[str, Any]:
            result = ask(page, method, **parameters)
            if method == "DOM.getContentQuads" and shifts:
                shift = shifts.pop(0)
                return {"quads": [[place + shift for place in quad] for quad in result["quads"]]}
            return result

        with mock.patch.object(Page, "_ask", moving):
            page.click("#button")
        self.assertEqual((page.text("#said"), shifts), ("clicked true", []))

    def test_what_cannot_be_clicked(self) -> None:
        page = self.page()
        for selector, message in {
            "#none": "no element matches #none",
            "#hidden": "#hidden cannot be clicked: DOM.scrollIntoViewIfNeeded: Node does not have a layout object",
        }.items():
            with self.subTest(selector):
                with self.assertRaises(BrowserFault) as caught:
                    page.click(selector)
                self.assertEqual(str(caught.exception), message)

    def test_tab_goes_through_the_page_and_back(self) -> None:
        page = self.page()
        order = []
        for _ in range(5):
            page.press("Tab")
            order.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        self.assertEqual(order, ["field", "link", "button", "SUMMARY", "below"])
        page.press("Tab", shift=True)
        self.assertEqual(page.evaluate("document.activeElement.tagName"), "SUMMARY")
        page.press("Enter")
        self.assertTrue(page.wait("more.open"))
        page.press("Space")
        self.assertTrue(page.wait("!more.open"))

    def test_keys_arrive_and_letters_are_typed(self) -> None:
        page = self.page()
        page.click("#field")
        for key in ["ArrowDown", "ArrowUp", "a", "ArrowLeft", "/", "ArrowRight", "Space", "7", "Escape"]:
            page.press(key)
        page.press("b", shift=True)
        self.assertEqual(page.evaluate("field.value"), "/a 7B")
        self.assertEqual(
            page.evaluate("keys"),
            ["ArrowDown", "ArrowUp", "a", "ArrowLeft", "/", "ArrowRight", " ", "7", "Escape", "+B"],
        )

    def test_a_key_without_a_name_here(self) -> None:
        with self.assertRaises(ValueError) as caught:
            browser.key_fields("Del", False)
        self.assertEqual(
            str(caught.exception),
            "no key is called Del: Tab, Enter, Escape, Space, ArrowLeft, ArrowUp, ArrowRight, ArrowDown or one character",
        )

    def test_pictures(self) -> None:
        page = self.page(width=500, height=400)
        self.assertEqual(self.picture(page), (500, 400))
        width, height = self.picture(page, whole=True)
        self.assertEqual((width, height), (500, page.evaluate("document.documentElement.scrollHeight")))
        self.assertGreater(height, 3000)
        self.assertEqual(page.evaluate("[innerWidth, innerHeight, scrollY]"), [500, 400, 0])

    def test_paper(self) -> None:
        data = self.page().pdf()
        self.assertEqual((data[:5], data.rstrip()[-5:]), (b"%PDF-", b"%%EOF"))
        self.assertIn(b"/MediaBox [0 0 28", data)  # 100 mm are 283 points


class Messages(InAFolder):
    def messages(self, text: str, done: str = "true") -> list[str]:
        page = self.page("<!doctype html>" + text)
        page.wait(done)
        return page.messages

    def test_console_and_exceptions(self) -> None:
        self.assertEqual(
            self.messages("<script>console.log('a'); console.error('b', 1, {}); console.assert(false, 'c')</script>"),
            ["console: b 1 Object", "console: c"],
        )
        self.assertEqual(
            self.messages("<script>setTimeout(() => { window.done = 1 }); null.x</script>", "done"),
            ["exception: TypeError: Cannot read properties of null (reading 'x')"],
        )
        self.assertEqual(
            self.messages("<script>setTimeout(() => { window.done = 1 }, 50); Promise.reject('no')</script>", "done"),
            ["exception: no"],
        )

    def test_dialogs_are_dismissed(self) -> None:
        page = self.page(
            "<button onclick=\"alert('a'); this.textContent = confirm('b') + String(prompt('c'))\">?</button>"
        )
        page.click("button")
        self.assertEqual(page.text("button"), "falsenull")
        self.assertEqual(page.messages, ["dialog: alert: a", "dialog: confirm: b", "dialog: prompt: c"])

    def test_requests(self) -> None:
        fetched = "<script>fetch('https://one.example/a').catch(() => { window.done = 1 }); fetch('data:,x')</script>"
        self.assertEqual(self.messages(fetched, "done"), ["request: https://one.example/a"])
        self.assertEqual(self.messages("<img src='http://192.0.2.1/i.png'>"), ["request: http://192.0.2.1/i.png"])
        missing = pathlib.Path(self.folder, "style.css").resolve().as_uri()
        self.assertEqual(self.messages("<link rel=stylesheet href=style.css>"), [f"request: {missing}"])
        self.assertEqual(
            self.messages("<iframe src='https://two.example/'></iframe>"), ["request: https://two.example/"]
        )

    def test_requests_of_a_worker(self) -> None:
        script = "fetch('https://three.example/').catch(() => postMessage(1))"
        page = self.page(
            f'<script>const worker = new Worker(URL.createObjectURL(new Blob(["{script}"])));'
            "worker.onmessage = () => { window.done = 1 }</script>"
        )
        page.wait("window.done")
        own, other = page.messages
        self.assertRegex(own, "^request: blob:")
        self.assertEqual(other, "request: https://three.example/")

    def test_other_pages(self) -> None:
        page = self.page("<a href='https://four.example/' target=_blank>out</a>")
        page.click("a")
        self.assertEqual(page.messages, ["page: https://four.example/"])

    def test_violations_of_the_policy(self) -> None:
        policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
        inline, picture = self.messages(f"{policy}<script>document.title = 1</script><img src='data:image/png,x'>")
        self.assertRegex(inline, "^security: Executing inline script violates the following Content Security Policy")
        self.assertRegex(picture, "^security: Loading the image 'data:image/png,x' violates the following Content")

    def test_a_crash_is_a_fault_at_once(self) -> None:
        page = self.page()
        for _ in range(2):
            with self.assertRaises(BrowserFault):
                page._ask("Page.crash")
        with self.assertRaises(BrowserFault) as caught:
            page.wait("false")
        self.assertEqual(str(caught.exception), "no answer to Runtime.evaluate: the page has crashed")
        self.assertEqual(page.messages, ["crash: the page has crashed"])


class Ending(BrowserTest):
    def test_nothing_is_left(self) -> None:
        with Browser() as own:
            process, folder = own._process, own._folder
            assert process is not None
            self.assertTrue(os.path.exists(folder))
        self.assertFalse(os.path.exists(folder))
        self.assertEqual(process.returncode, -9)

    def test_a_browser_that_has_ended(self) -> None:
        with Browser() as own:
            own._connection.ask("Browser.getVersion")
            assert own._process is not None
            os.killpg(own._process.pid, signal.SIGKILL)
            with self.assertRaisesRegex(BrowserFault, "^no answer to .*: the browser has ended$"):
                own.open("page.html")


class Starting(unittest.TestCase):
    def test_a_program_that_is_no_browser(self) -> None:
        with self.assertRaises(BrowserFault) as caught, Browser("/bin/false"):
            pass
        self.assertEqual(
            str(caught.exception), "/bin/false did not start: no answer to Browser.getVersion: the browser has ended\n"
        )

    def test_a_program_that_says_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "silent")
            pathlib.Path(path).write_text("#!/bin/sh\necho warming up >&2\nexec sleep 60\n", encoding="utf-8")
            os.chmod(path, 0o755)
            with mock.patch.object(browser, "START_LIMIT", 1.0), self.assertRaises(BrowserFault) as caught:
                Browser(path).__enter__()
        self.assertEqual(
            str(caught.exception),
            f"{path} did not start: no answer to Browser.getVersion from the browser in 1 seconds\nwarming up\n",
        )

    def test_finding(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "google-chrome")
            with mock.patch.dict(os.environ, {"PATH": folder, "BROWSER_FOR_TESTS": ""}):
                self.assertIsNone(browser.found())
                pathlib.Path(path).touch(0o755)
                self.assertEqual(browser.found(), path)
            with mock.patch.dict(os.environ, {"BROWSER_FOR_TESTS": path}):
                self.assertEqual(browser.found(), path)
            with mock.patch.dict(os.environ, {"BROWSER_FOR_TESTS": path + "-2"}):
                self.assertIsNone(browser.found())

    def test_no_browser_skips_and_fails_where_one_is_required(self) -> None:
        message = "no Chromium found: set BROWSER_FOR_TESTS to its path"
        kinds: dict[str, type[Exception]] = {"": unittest.SkipTest, "1": AssertionError}
        for required, kind in kinds.items():
            with self.subTest(required=required):
                surroundings = {"BROWSER_FOR_TESTS": "/nowhere", "BROWSER_REQUIRED": required}
                with mock.patch.dict(os.environ, surroundings), self.assertRaises(kind) as caught:
                    BrowserTest.setUpClass()
                self.assertEqual(str(caught.exception), message)
