"""The HTML exports in a real browser: what opens, by click, key and address; what is flagged; what hostile text does."""

from __future__ import annotations

import base64
import hashlib
import pathlib
import re
import shutil
import tempfile

from tests.browser import BrowserTest, Page
from tests.issuance_support import CARD, DROP, SCRIPT, card, job_folder, metric, query
from tests.test_cited_runs import report_folder
from tests.test_exports import HOSTILE, exported, issued

STATE = "document.getElementById('verification').dataset.state"
CHOSEN = "document.getElementById('chosen-text').textContent"
OPEN = "[...document.querySelectorAll('#evidence > section')].filter((one) => one.checkVisibility()).map((one) => one.id)"
MARKED = "[...document.querySelectorAll('.marked')].filter((one) => one.checkVisibility()).map((one) => one.textContent)"
ROWS = "[...document.querySelectorAll('tr[data-row]')].filter((one) => one.checkVisibility()).map((one) => Number(one.dataset.row))"
FOCUS = "document.activeElement.id"

DRAFT = """# Week [[i:week]]

Sales were [[m:sales]], and the **North** had [[m:north_share]] of them; its cell says [[v:Q1.r0.cents]].
The plan: [[q:K1|keep the regions]]. They are in `orders.region`.

[[table:Q1 cols=region,cents rows=0-6]]
"""
ROWS_OF_REGIONS = "".join(f"('W37', 'Z{number}', {1000 + number}, ''),\n" for number in range(9))
REGIONS = SCRIPT.replace("INSERT INTO orders VALUES\n", f"INSERT INTO orders VALUES\n{ROWS_OF_REGIONS}")


def settled(page: Page) -> str:
    """What a bundle's own check came to."""
    return str(page.wait(f"{STATE} !== 'checking' && {STATE}"))


class Exported(BrowserTest):
    folder: str
    report: str
    bundle: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def kept(self, made: str, kind: str, name: str) -> str:
        """An export of the latest run in a job's folder, kept for the class."""
        return str(shutil.copy(exported(made, kind), pathlib.Path(self.folder, name)))

    def changed(self, file: str, before: str, after: str, count: int = 1) -> str:
        text = pathlib.Path(file).read_text(encoding="utf-8")
        self.assertIn(before, text)
        other = pathlib.Path(self.folder, "changed.html")
        other.write_text(text.replace(before, after, count), encoding="utf-8")
        return str(other)


class Evidence(Exported):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        files = {"shop.sql": REGIONS, "plan.txt": "We keep the regions as they are."}
        with issued(report_folder(DRAFT, files, knowledge=["plan.txt"])) as made:
            cls.report = str(shutil.copy(exported(made), pathlib.Path(cls.folder, "report.html")))
            cls.bundle = str(shutil.copy(exported(made, "bundle"), pathlib.Path(cls.folder, "bundle.html")))

    def test_a_click_opens_the_chain_down_to_the_marked_cell(self) -> None:
        with self.browser.open(self.report) as page:
            page.click("#n1")
            self.assertEqual(page.wait(CHOSEN), "$5,090.36")
            self.assertEqual(page.evaluate(OPEN), ["m-sales", "q-regions", "seal"])
            self.assertIn("sum(regions, 'cents') / 100", page.text("#m-sales"))
            self.assertEqual(page.evaluate("location.hash"), "#n1")
            page.click("#n3")
            page.wait(f"{CHOSEN} === '375,050'")
            self.assertEqual(page.evaluate(OPEN), ["q-regions", "seal"])
            self.assertEqual(page.evaluate(MARKED), ["375050"])
            self.assertEqual(page.evaluate(ROWS), [0, 1, 2])
            self.assertEqual(page.messages, [])

    def test_each_kind_of_citation(self) -> None:
        kinds = {
            "a.quote": ["k-K1", "seal"],
            "a.name[data-evidence='name-1']": ["names", "seal"],
            "a.value[data-evidence^='i-']": ["inputs", "seal"],
            "td a.value": ["q-regions", "seal"],
            "#n2": ["m-sales", "m-north", "m-north_share", "q-regions", "seal"],
        }
        with self.browser.open(self.report) as page:
            for selector, expected in kinds.items():
                with self.subTest(selector):
                    page.click(f"#report {selector}")
                    page.wait(f"document.querySelector({selector!r}).matches('[aria-current]')")
                    self.assertEqual(page.evaluate(OPEN), expected)
            self.assertEqual(page.evaluate("document.querySelector('.first').id"), "m-north_share")

    def test_the_address_opens_a_number(self) -> None:
        for fragment, chosen in (("n2", "73.7%"), ("n3", "375,050"), ("m-sales", ""), ("nonsense%", ""), ("", "")):
            with self.subTest(fragment), self.browser.open(self.report, fragment) as page:
                self.assertEqual(page.evaluate(CHOSEN), chosen)
                opened = page.evaluate("document.getElementById('evidence').classList.contains('chosen')")
                self.assertEqual(opened, fragment in ("n2", "n3", "m-sales"))

    def test_keys_alone(self) -> None:
        with self.browser.open(self.report) as page:
            page.press("Tab")
            self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
            page.evaluate("document.getElementById('n1').focus()")
            page.press("Enter")
            self.assertEqual(page.wait(CHOSEN), "$5,090.36")
            page.wait(f"{FOCUS} === 'evidence'")
            page.press("Tab")
            self.assertEqual(page.evaluate(FOCUS), "before")
            page.press("Tab")
            page.press("Enter")
            page.wait(f"{CHOSEN} === '73.7%'")
            page.press("Escape")
            page.wait(f"{FOCUS} === 'n2'")
            self.assertNotIn("m-sales", page.evaluate(OPEN))
            self.assertEqual(page.evaluate("location.hash"), "")

    def test_without_scripts_every_number_links_to_its_evidence(self) -> None:
        with self.browser.open(self.bundle, scripts=False) as page:
            self.assertIn("m-sales", page.evaluate(OPEN))
            page.click("#n3")
            self.assertEqual(page.evaluate("location.hash"), "#v-regions-0-1")
            self.assertEqual(page.evaluate("document.querySelector(':target').textContent"), "375050")
            self.assertIn("This file can check itself where scripts may run.", page.text("#verification"))
            self.assertEqual(page.evaluate("document.getElementById('verify').checkVisibility()"), False)

    def test_light_dark_phone_and_print(self) -> None:
        paper = "getComputedStyle(document.getElementById('report')).backgroundColor"
        with self.browser.open(self.report) as page:
            self.assertEqual(page.evaluate(paper), "rgb(255, 255, 255)")
        with self.browser.open(self.report, dark=True) as page:
            self.assertEqual(page.evaluate(paper), "rgb(23, 28, 31)")
        with self.browser.open(self.report, "n1", width=390, height=800) as page:
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, 390)
            below = page.evaluate("document.getElementById('evidence').offsetTop > document.getElementById('report').offsetTop")
            self.assertTrue(below)
        with self.browser.open(self.report, media="print") as page:
            self.assertEqual(page.evaluate("[...document.querySelectorAll('#evidence > section')].every((one) => one.checkVisibility())"), True)
            self.assertEqual(page.evaluate("document.getElementById('chosen').checkVisibility()"), False)
            self.assertTrue(page.pdf().startswith(b"%PDF"))

    def test_contrast_of_text(self) -> None:
        for dark in (False, True):
            with self.browser.open(self.bundle, dark=dark) as page:
                settled(page)
                found = page.evaluate(CONTRAST)
                self.assertEqual(found, [])

    def test_a_run_that_is_not_issued_says_so_on_screen_and_in_print(self) -> None:
        with issued(job_folder({"narrative.md": "Sales were $1.00."})) as made:
            file = self.kept(made, "report", "withheld.html")
        for media in ("", "print"):
            with self.browser.open(file, media=media) as page:
                self.assertEqual(page.text("#banner"), "NOT ISSUED")
                self.assertTrue(page.evaluate("document.getElementById('banner').checkVisibility()"))
        with self.browser.open(file, media="print") as page:
            self.assertEqual(page.evaluate("getComputedStyle(document.body, '::after').content"), '"NOT ISSUED"')


CONTRAST = """(() => {
  const channel = (value) => (value /= 255, value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3]) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    if (!element.checkVisibility() || ![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const pair = [light(numbers(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) poor.push(element.outerHTML.slice(0, 80));
  }
  return poor;
})()"""


class Check(Exported):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        files = {"shop.sql": REGIONS, "plan.txt": "We keep the regions as they are."}
        draft = DRAFT + "\nIt is **[[m:sales|k]]** &amp; a \\* [link](https://example.org), ![alt](x.png) <b>bold</b>\n\n1. one\n2. `SELECT`\n\n> quoted\n\n```sql\nSELECT region\n```\n"
        with issued(report_folder(draft, files, {"claims": "require_citation"}, knowledge=["plan.txt"])) as made:
            exported(made)
            cls.bundle = str(shutil.copy(exported(made, "bundle"), pathlib.Path(cls.folder, "bundle.html")))

    def parts(self, file: str) -> dict[str, str]:
        """The state of a bundle's check, and each part that differs with what is said of it."""
        with self.browser.open(file) as page:
            state = settled(page)
            said = page.evaluate("[...document.querySelectorAll('#verification-parts li')].map((one) => one.textContent)")
            self.assertEqual(page.messages, [])
        found = dict(one.split(": ", 1) for one in said)
        self.assertEqual(list(found), ["page", "run record", "document", "numbers"])
        self.assertEqual(state, "holds" if set(found.values()) == {"holds"} else "differs")
        return {part: one for part, one in found.items() if one != "holds"}

    def test_what_was_exported_holds_and_can_be_checked_again(self) -> None:
        self.assertEqual(self.parts(self.bundle), {})
        with self.browser.open(self.bundle) as page:
            settled(page)
            page.evaluate("document.getElementById('n1').textContent = '$1.00'")
            page.click("#verify")
            page.wait(f"{STATE} === 'differs'")

    def test_every_kind_of_run_holds(self) -> None:
        narrative = "# 周报\n\n销售额 **5,000**.00 美元；the North had 75.0%.\n\n- 1,000,000 of them\n"
        kinds = {
            "by value": job_folder({"narrative.md": narrative}),
            "metrics only": job_folder(narrative=DROP),
            "no contract": job_folder(contract=DROP),
            "failed": report_folder("Sales were [[m:sales]], up 12%, of `nothing`.\n"),
            "marked": report_folder("Sales were [[m:sales]], up 12%, of `nothing`.\n", report={"on_violation": "mark"}),
            "missing": job_folder({CARD: card(metric("sales", "cell(regions, 9, 'cents')"), metric("north_share", "1 / 0"))}),
            "failed query": job_folder(queries=[query("regions", "SELECT nothing FROM nowhere")]),
            "exploratory": job_folder(mode="exploratory"),
        }
        for name, made in kinds.items():
            with self.subTest(name), issued(made) as folder:
                self.assertEqual(self.parts(self.kept(folder, "bundle", "kind.html")), {})

    def test_what_is_shown_differs(self) -> None:
        for before, after, part in (
            (">$5,090.36<", ">$5,090.37<", "document"),
            ("the <strong>North", "the <strong>South", "document"),
            (">formal<", ">degraded<", "run record"),
            (">ISSUED<", ">NOT ISSUED<", "run record"),
            ("Weekly sales</h1>", "Monthly sales</h1>", "run record"),
            (">north / sales<", ">sales / north<", "numbers"),
            (">1003<", ">1004<", "numbers"),
            ('data-status="traced"', 'data-status="untraced"', "numbers"),
            (">keep the regions</mark>", ">close the regions</mark>", "numbers"),
            ("GROUP BY region ORDER", "GROUP BY week ORDER", "numbers"),
            ('data-evidence="m-sales"', 'data-evidence="m-north"', "numbers"),
        ):
            with self.subTest(before):
                self.assertIn(part, self.parts(self.changed(self.bundle, before, after)))

    def test_what_is_added_hidden_or_turned_to_something_else_differs(self) -> None:
        for before, after in (
            ('<h1 data-from="started.title">Weekly', "<h1>Weakly"),
            (' data-row="0"', ""),
            (' data-snapshot="regions"', ' data-snapshot="none"'),
            (">Nothing is missing:", ">Audited by others:"),
            (", holds</dd>", ", DOES NOT HOLD</dd>"),
            ("<title>Weekly", "<title>Monthly"),
            ("tier_follows: pass", "certified: pass"),
            (", as recorded", ", as planned"),
            ('title="reads as', 'title="is certified as'),
            ('<section id="seal"', '<section id="warnings"><h2>Warnings</h2><p>None.</p></section><section id="seal"'),
            (">keep the regions</mark>", ">keep the</mark> regions"),
            ('<main id="report" lang="">', '<main id="report" lang="" hidden>'),
            ('<main id="report" lang="">', '<p>Sales were $9,999,999.</p><main id="report" lang="">'),
            ('<div id="banner">', '<div id="banner" hidden>'),
            ('class="bundle issued"', 'class="bundle not-issued"'),
            ("<p>Sales were", '<p hidden="">Sales were'),
            ("<p>Sales were", '<img alt="NOT"><p>Sales were'),
            ("<p>Sales were", "<p><!-- not -->Sales were"),
            ("<title>", '<meta http-equiv="refresh" content="60;url=https://example.org"><title>'),
            ('<a class="number" id="n1" href="#m-sales"', '<a class="number" id="n1" href="https://example.org"'),
            ('id="v-regions-0-1"', 'id="v-regions-1-1"'),
            ('<section id="m-sales"', '<section id="m-sales"><h2>Sales</h2><p>$9</p></section><section id="m-sales"'),
            ('<script type="application/octet-stream"', '<script type="application/octet-stream" data-name="run.json">e30=</script><script type="application/octet-stream"'),
            ("</body>", "<p>Approved.</p></body>"),
            ("</html>", "</html><p>Approved.</p>"),
        ):  # fmt: skip
            with self.subTest(before, after=after):
                self.assertEqual(self.parts(self.changed(self.bundle, before, after))["page"], "differs: something in it is not as it was written")

    def test_words_that_read_as_markup_hold(self) -> None:
        """A page must not take for changed what an honest run shows."""
        for word in ("7<b>", "&euro;", "A<B 5", "R&amp;D", "5\\x41 \\u", "a\rb", "\u202e7", "`7`", "*7*", "\\", "[7](x)", "7\u2028"):
            card_of = card(metric("sales", "sum(regions, 'cents') / 100", unit=word if word.isprintable() else "$"), metric("north_share", "1 / 4"))
            quoted = word.replace("'", "''")
            sql = f"SELECT region, cents, '{quoted}' AS word FROM orders WHERE :week = :week ORDER BY region"
            draft = "Sales were [[m:sales]]; the word is [[v:Q1.r0.word]], the week [[i:week]].\n"
            kinds = {
                "cited": report_folder(draft, {CARD: card_of}, {"on_violation": "mark"}, inputs={"week": word}, queries=[query("regions", sql)]),
                "by value": job_folder({"narrative.md": f"Sales were 5,000 {word}; {word}\r\nmore.\rAnd more &#13; &#x2028; &lt;b> \\*.\n", CARD: card_of}, inputs={"week": word}),
            }  # fmt: skip
            for name, made in kinds.items():
                with self.subTest(word, kind=name), issued(made) as folder:
                    self.assertEqual(self.parts(self.kept(folder, "bundle", "word.html")), {})

    def test_what_is_stored_differs(self) -> None:
        text = pathlib.Path(self.bundle).read_text(encoding="utf-8")
        for name, old, new in (
            ("events.jsonl", b'"tier": "formal"', b'"tier": "withheld"'),
            ("events.jsonl", b"2026-", b"2025-"),
            ("run.json", b'"seal"', b'"Seal"'),
            ("[0-9a-f]{64}", b"375050", b"375051"),
            ("[0-9a-f]{64}", b"north / sales", b"sales / north"),
            ("[0-9a-f]{64}", b"We keep", b"We lose"),
        ):
            packed = re.findall(f'data-name="{name}">([^<]*)<', text)
            pairs = [(one, base64.b64encode(base64.b64decode(one).replace(old, new)).decode()) for one in packed]
            before, after = next(pair for pair in pairs if pair[0] != pair[1])
            with self.subTest(name, new=new):
                self.assertIn("run record", self.parts(self.changed(self.bundle, before, after)))

    def test_broken_beyond_reading(self) -> None:
        for before, after in (('data-name="events.jsonl">', 'data-name="events">'), ('data-name="run.json">', 'data-name="run.json">*'), ('id="runs">[[', 'id="runs">[[[')):
            with self.subTest(before):
                self.assertIn("run record", self.parts(self.changed(self.bundle, before, after)))

    def test_hashes_are_those_of_every_length(self) -> None:
        with self.browser.open(self.bundle) as page:
            settled(page)
            found = page.evaluate("Promise.all([0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 600000].map((size) => sha256(new Uint8Array(size).map((_, index) => index % 251))))")
        expected = [hashlib.sha256(bytes(index % 251 for index in range(size))).hexdigest() for size in (0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 600000)]
        self.assertEqual(found, expected)


class Hostile(Exported):
    def test_hostile_text_in_every_field_does_nothing(self) -> None:
        name, text = HOSTILE.replace('"', '""'), HOSTILE.replace("'", "''")
        sql = f"""SELECT region, cents, '{text}' AS "{name}" FROM orders WHERE :week = :week ORDER BY region"""
        cards = card(metric("sales", "sum(regions, 'cents') / 100", unit="$", name=HOSTILE))
        words = HOSTILE.replace("alert(1)", "alert(x)")
        draft = f"# {words}\n\nSales were [[m:sales]]. [x](javascript:alert) ![{words}](javascript:x)\n\n[[table:Q1]]\n\n[[q:K1|{words}]]\n"
        with issued(report_folder(draft, {CARD: cards, "k.txt": words}, {"on_violation": "mark"}, mode="exploratory", title=HOSTILE,
                                  knowledge=["k.txt"], inputs={"week": HOSTILE}, queries=[query("regions", sql)], contract={"required": ["sales"]})) as made:  # fmt: skip
            files = [self.kept(made, kind, f"hostile-{kind}.html") for kind in ("report", "bundle")]
        for file in files:
            with self.browser.open(file) as page:
                if "bundle" in file:
                    self.assertEqual(settled(page), "holds", page.text("#verification-parts"))
                for selector in ("#n1", "#report a.value", "#report a.name"):
                    page.click(selector)
                self.assertEqual(page.messages, [])


class Large(Exported):
    def test_ten_thousand_cited_numbers_open_and_hold(self) -> None:
        values = ",\n".join(f"('W37', 'R{number}', {number + 100000}, '')" for number in range(10_000))
        script = SCRIPT.partition("INSERT")[0] + f"INSERT INTO orders VALUES\n{values};\n"
        queries = [query("regions", "SELECT region, cents FROM orders WHERE week = :week ORDER BY cents")]
        draft = "".join(f"- Region [[v:Q1.r{number}.cents]]\n" for number in range(10_000))
        files = {"shop.sql": script, CARD: card(metric("sales", "sum(regions, 'cents')"))}
        with issued(report_folder(draft, files, queries=queries, contract={"required": ["sales"]})) as made:
            file = self.kept(made, "bundle", "large.html")
        with self.browser.open(file, "n9000") as page:
            self.assertEqual(page.wait(CHOSEN), "108,999")
            self.assertEqual(page.evaluate(ROWS), [8997, 8998, 8999, 9000, 9001])
            self.assertEqual(settled(page), "holds")


del Exported
