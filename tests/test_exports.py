"""The HTML exports as files: what they hold, what they escape, what a bundle is verified by. No browser is needed."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import html.parser
import json
import os
import pathlib
import random
import re
import shutil
import tempfile
import unittest
from collections.abc import Iterator
from unittest import mock

import issuance.__main__
from issuance.exports import page
from tests.issuance_support import CARD, DROP, SQL, card, command, job_folder, metric, query
from tests.test_cited_runs import report_folder
from tests.test_store_and_seal import run_folders

HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(1)>"'&amp;<!-- ]]> </title></style> \u202e javascript:alert(1)"""
VOID = {"meta", "br", "hr"}


def setUpModule() -> None:
    one_parser = functools.lru_cache(maxsize=None)(issuance.__main__.parser)
    for quicker in (mock.patch("os.fsync"), mock.patch("issuance.__main__.parser", one_parser)):
        quicker.start()
        unittest.addModuleCleanup(quicker.stop)


class Reader(html.parser.HTMLParser):
    """A page's elements in order, each with its attributes and all of its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self.within: list[tuple[str, dict[str, str], list[str]]] = []
        self.loose: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element: tuple[str, dict[str, str], list[str]] = (tag, {name: value or "" for name, value in attrs}, [])
        self.elements.append(element)
        if tag not in VOID:
            self.within.append(element)

    def handle_endtag(self, tag: str) -> None:
        found, _, _ = self.within.pop()
        assert found == tag, f"{tag} closes {found}"

    def handle_data(self, data: str) -> None:
        for _, _, text in self.within:
            text.append(data)

    def handle_comment(self, data: str) -> None:
        self.loose.append(data)

    def all(self, tag: str = "", **wanted: str) -> list[tuple[str, dict[str, str], str]]:
        named = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
        return [
            (found, attributes, "".join(text))
            for found, attributes, text in self.elements
            if tag in ("", found) and named.items() <= attributes.items()
        ]

    def text(self, id: str) -> str:
        ((_, _, text),) = self.all(id=id)
        return text


def exported(folder: str, kind: str = "report", *options: str, run: str = "latest") -> pathlib.Path:
    """The export of a run in a job's folder."""
    file = pathlib.Path(folder, f"{kind}.html")
    said = command("export", run, f"--{kind}", file.name, *options, cwd=folder)
    assert (said.status, said.out, said.err) == (0, "", ""), said
    return file


@contextlib.contextmanager
def issued(folder: contextlib.AbstractContextManager[str]) -> Iterator[str]:
    """A job's folder, with its job issued into the store data."""
    with folder as path:
        assert command("issue", "job.json", cwd=path).err == ""
        yield path


def read(file: pathlib.Path) -> Reader:
    return Reader(file.read_text(encoding="utf-8"))


def verified(file: pathlib.Path, *options: str) -> tuple[int, dict[str, str], str]:
    """The exit status of verifying a bundle, each check's status, and the last check's message."""
    said = command("verify", file.name, *options, cwd=file.parent)
    assert said.err == "", said.err
    checks = json.loads(said.out)["checks"]
    return said.status, {check["code"]: check["status"] for check in checks}, checks[-1]["message"]


class Pages(unittest.TestCase):
    def test_the_policy_lets_only_the_own_style_and_script_in(self) -> None:
        with issued(job_folder()) as folder:
            for kind in ("report", "bundle"):
                reader = read(exported(folder, kind))
                ((_, policy, _),) = reader.all("meta", http_equiv="Content-Security-Policy")
                (style,), (script,) = reader.all("style"), reader.all("script")[-1:]
                hashes = [
                    base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style[2], script[2])
                ]
                self.assertEqual(
                    policy["content"],
                    f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
                    "base-uri 'none'; form-action 'none'",
                )
                self.assertEqual([one for one in reader.all("script") if "type" not in one[1]], [script])

    def test_head_says_verdict_and_how_the_data_stands(self) -> None:
        with issued(job_folder()) as folder:
            reader = read(exported(folder))
            record = json.loads((run_folders(folder)[-1] / "run.json").read_text())
        self.assertEqual((reader.text("verdict"), reader.text("tier"), reader.text("banner")), ("ISSUED", "formal", ""))
        self.assertEqual(reader.text("declaration"), "Nothing is missing: 3 metrics are there, and every check ran and held.")
        facts = [text for _, _, text in reader.all("dd")]
        self.assertEqual(facts, [record["started_at"], "sales version 1", "2 traced", f"{record['run_id']} of weekly", f"{record['seal']}, holds"])

    def test_numbers_have_their_ids_and_statuses_and_link_to_what_backs_them(self) -> None:
        narrative = "Sales were $5,000.00, not 4,999 or 7. The North had 75.0% of them.\n"
        with issued(job_folder({"narrative.md": narrative}, contract={"required": ["sales"], "expected": [], "allow": ["7"]})) as folder:
            reader = read(exported(folder))
        found = [(one[1]["id"], one[2], one[1]["data-status"], one[1]["href"]) for one in reader.all("a", class_="number")]
        self.assertEqual(
            found,
            [
                ("n1", "5,000.00", "traced", "#m-sales"),
                ("n2", "4,999", "untraced", "#e-n2"),
                ("n3", "7", "allowed", "#e-n3"),
                ("n4", "75.0%", "traced", "#m-north_share"),
            ],
        )
        self.assertEqual(reader.text("e-n2"), "4,999: no metric has this value")
        self.assertEqual(reader.text("e-n3"), "7: allowed by the contract, which is no evidence")
        self.assertEqual((reader.text("verdict"), reader.text("tier"), reader.text("banner")), ("NOT ISSUED", "withheld", "NOT ISSUED"))
        self.assertEqual(reader.text("declaration"), "untraced_numbers 1 number of the narrative that traces to no metric: '4,999'")

    def test_every_link_within_the_page_leads_somewhere(self) -> None:
        with issued(report_folder("# Week [[i:week]]\n\nSales [[m:sales]], of [[v:Q1.r0.cents]] in `orders`. [[q:K1|all]]\n", {"plan.txt": "all of it"}, knowledge=["plan.txt"])) as folder:
            reader = read(exported(folder))
        ids = [one[1]["id"] for one in reader.all() if "id" in one[1]]
        self.assertEqual(sorted(ids), sorted(set(ids)))
        links = [one[1]["href"][1:] for one in reader.all("a") if one[1]["href"].startswith("#")]
        self.assertGreater(len(links), 5)
        self.assertEqual([link for link in links if link not in ids], [])
        evidence = [id for one in reader.all() for id in one[1].get("data-evidence", "").split()]
        self.assertEqual([id for id in evidence if id not in ids], [])

    def test_chain_of_a_metric_down_to_the_cell(self) -> None:
        with issued(job_folder()) as folder:
            reader = read(exported(folder))
        self.assertEqual(
            reader.text("m-north_share"),
            "north_share75.0%Caliber card sales version 1, metric north_shareFormula north / salesWith its values 3750.5 / 5000"
            "Recomputed 0.7501, as recordedInputs against the snapshot north = 3750.5, computed by the cardsales = 5000, computed by the card",
        )
        self.assertIn("Inputs against the snapshot regions, row 0, cents = 375050, as in the snapshot", reader.text("m-north"))
        self.assertEqual(reader.text("v-regions-0-1"), "375050")
        self.assertIn(SQL, reader.text("q-regions"))

    def test_cited_row_has_rows_around_it(self) -> None:
        rows = "".join(f"('W37', 'R{number:02}', {number}, ''),\n" for number in range(30))
        script = f"CREATE TABLE orders (week TEXT, region TEXT, cents INTEGER, email TEXT);\nINSERT INTO orders VALUES\n{rows[:-2]};\n"
        for context, expected in (("0", [20]), ("2", [18, 19, 20, 21, 22]), ("30", range(30))):
            cards = card(metric("sales", "cell(regions, 20, 'cents')"))
            with issued(job_folder({"shop.sql": script, CARD: cards, "narrative.md": "It is 20.00."}, contract={"required": ["sales"]})) as folder:
                reader = read(exported(folder, "report", "--context", context))
            shown = [int(one[1]["data-row"]) for one in reader.all("tr") if "data-row" in one[1]]
            self.assertEqual(shown, sorted({*range(5), *expected}))

    def test_masked_cells_say_so_and_null_ones_too(self) -> None:
        sql = "SELECT region, cents, email, NULL AS none FROM orders WHERE week = 'W37' ORDER BY region"
        sources = [{"id": "shop", "sqlite_script": "shop.sql", "mask_columns": ["orders.email"]}]
        with issued(job_folder(sources=sources, queries=[query("regions", sql)])) as folder:
            for kind in ("report", "bundle"):
                file = exported(folder, kind)
                reader = read(file)
                cells = [one[2] for one in reader.all("td")][:4]
                self.assertEqual(cells, ["North", "375050", "Masked", "null"])
                self.assertNotIn("ann@example.org", file.read_text())

    def test_hostile_text_in_every_field_is_text(self) -> None:
        sql = f"""SELECT region, cents, '{HOSTILE.replace("'", "''")}' AS "{HOSTILE.replace('"', '""')}" FROM orders WHERE :week = :week ORDER BY region"""
        cards = card(metric("sales", "sum(regions, 'cents') / 100", unit="$", name=HOSTILE))
        draft = f"# {HOSTILE}\n\nSales were [[m:sales]].\n\n[x](javascript:alert) ![{HOSTILE}](javascript:x) <a href='javascript:x'>y</a>\n\n[[table:Q1]]\n\n[[q:K1|{HOSTILE}]]\n"
        draft = draft.replace("alert(1)", "alert(x)")
        with issued(report_folder(draft, {CARD: cards, "k.txt": HOSTILE}, {"on_violation": "mark"}, mode="exploratory", title=HOSTILE, knowledge=["k.txt"],
                                  inputs={"week": HOSTILE}, queries=[query("regions", sql)], contract={"required": ["sales"]})) as folder:  # fmt: skip
            for kind in ("report", "bundle"):
                reader = read(exported(folder, kind))
                self.assertEqual(reader.loose, [])
                for tag, attributes, _ in reader.all():
                    self.assertNotIn(tag, ("img", "iframe", "object", "embed", "form", "base", "svg", "link"))
                    self.assertFalse([name for name in attributes if name.startswith("on") or name in ("style", "src", "srcdoc")])
                    self.assertRegex(attributes.get("href", "#"), r"\A(?:#|https?://|mailto:)")
                self.assertEqual(len([one for one in reader.all("script") if "type" not in one[1]]), 1)
                self.assertEqual(len(reader.all("title")), 1)
                self.assertNotIn("\u202e", exported(folder, kind).read_text(encoding="utf-8"))

    def test_links_and_images_of_the_text(self) -> None:
        narrative = "Sales were $5,000.00. [a](https://example.org/x) [b](ftp://x) [c](#top) ![chart](chart.png) North 75.0%."
        with issued(job_folder({"narrative.md": narrative})) as folder:
            reader = read(exported(folder))
        self.assertEqual([one[1]["href"] for one in reader.all("a", class_="address")], ["https://example.org/x", "#top"])
        self.assertEqual(reader.text("report"), "Sales were $5,000.00. a [b](ftp://x) c chart North 75.0%.")

    def test_columns_of_amounts_stand_right_with_their_heads(self) -> None:
        table = "| a | b | c | d |\n|---|---|---|---|\n| x | 5,000 | 75.0% | 5,000 |\n| y | — | 75.0% | of them |\n"
        with issued(job_folder({"narrative.md": table})) as folder:
            reader = read(exported(folder))
        found = [*reader.all("th")[:4], *reader.all("td")[:8]]  # the report's, before those of the panel
        right, left = "amount", None
        expected = [("a", left), ("b", right), ("c", right), ("d", left)]
        expected += [("x", left), ("5,000", right), ("75.0%", right), ("5,000", right)]
        expected += [("y", left), ("—", right), ("75.0%", right), ("of them", left)]
        self.assertEqual([(text, attributes.get("class")) for _, attributes, text in found], expected)

    def test_failed_run_is_not_issued(self) -> None:
        with issued(report_folder("Sales were [[m:sales]], up 12%.\n")) as folder:
            reader = read(exported(folder))
        self.assertEqual((reader.text("verdict"), reader.text("tier"), reader.text("banner")), ("NOT ISSUED", "failed", "NOT ISSUED"))
        self.assertEqual(reader.text("declaration"), "1 violation of the report's rules, the first: bare_number '12%': the number 12% is cited by no marker")
        self.assertEqual(reader.text("e-n2"), "12%: cited by no marker")

    def test_metrics_alone(self) -> None:
        with issued(job_folder(narrative=DROP)) as folder:
            file = exported(folder, "bundle")
            reader = read(file)
            self.assertEqual(verified(file)[0], 0)
        self.assertEqual([(one[1]["id"], one[2]) for one in reader.all("a", class_="number")], [("n1", "$5,000.00"), ("n2", "$3,750.50"), ("n3", "75.0%")])

    def test_guesses_are_no_evidence(self) -> None:
        with issued(job_folder(contract=DROP)) as folder:
            reader = read(exported(folder))
        self.assertEqual(
            reader.text("e-n1"),
            "5,000.00: the run has no contract, so that nothing says what it isguessed source, not evidence: sales",
        )


class Unsealed(unittest.TestCase):
    def test_stopped_at_each_event_it_exports_a_report_and_no_bundle(self) -> None:
        with issued(job_folder()) as folder:
            run = run_folders(folder)[-1]
            (run / "run.json").unlink()
            lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
            for count in range(1, len(lines) + 1):
                with self.subTest(events=count):
                    (run / "events.jsonl").write_bytes(b"".join(lines[:count]) + b'{"seq": 9, "at')
                    reader = read(exported(folder))
                    self.assertEqual((reader.text("verdict"), reader.text("banner")), ("NOT SEALED", "NOT SEALED"))
                    self.assertIn("nothing of this has been issued", reader.text("declaration"))
                    self.assertEqual((run / "events.jsonl").read_bytes(), b"".join(lines[:count]) + b'{"seq": 9, "at')
            said = command("export", "latest", "--bundle", "b.html", cwd=folder)
            self.assertEqual((said.status, said.out), (2, ""))
            self.assertEqual(said.err, f"issuance: data/runs/{run.name}: run.json is missing: the run is not sealed\n")
            self.assertFalse(os.path.exists(os.path.join(folder, "b.html")))

    def test_events_of_no_run(self) -> None:
        with issued(job_folder()) as folder:
            run = run_folders(folder)[-1]
            (run / "run.json").unlink()
            (run / "events.jsonl").write_bytes(b"{}\n")
            said = command("export", "latest", "--report", "r.html", cwd=folder)
        self.assertEqual((said.status, said.out), (2, ""))
        self.assertEqual(said.err, f"issuance: data/runs/{run.name}: does not hold: events.jsonl: event 1: root: must be an event of a run\n")


class Arguments(unittest.TestCase):
    def test_refusals(self) -> None:
        for arguments, said in (
            ((), "one of the arguments --text --report --bundle is required"),
            (("--text", "a", "--report", "b"), "argument --report: not allowed with argument --text"),
            (("--report", "a", "--context", "-1"), "argument --context: must be a number from 0 to 1000"),
            (("--report", "a", "--context", "1001"), "argument --context: must be a number from 0 to 1000"),
            (("--report", "a", "--context", "two"), "argument --context: must be a number from 0 to 1000"),
        ):
            run = command("export", "latest", *arguments)
            self.assertEqual((run.status, run.out, run.err), (2, "", f"issuance: {said} (--help explains the usage)\n"))

    def test_exports_are_noted_after_the_seal_and_shown_by_the_next(self) -> None:
        with issued(job_folder()) as folder:
            first = exported(folder)
            digest = hashlib.sha256(first.read_bytes()).hexdigest()
            second = read(exported(folder, "bundle"))
            events = [json.loads(line) for line in (run_folders(folder)[-1] / "events.jsonl").read_bytes().splitlines()]
        self.assertEqual([(event["type"], event["format"]) for event in events[-2:]], [("report.exported", "report"), ("report.exported", "bundle")])
        self.assertEqual(events[-2]["sha256"], digest)
        self.assertIn(digest, second.text("appended"))


class Bundles(unittest.TestCase):
    folder: str
    bundle: pathlib.Path
    seal: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        draft = "# Week [[i:week]]\n\nSales were [[m:sales]], the North had [[m:north_share]] of them.\n\n[[table:Q1]]\n"
        with issued(report_folder(draft)) as made:
            cls.bundle = pathlib.Path(cls.folder, "bundle.html")
            shutil.copy(exported(made, "bundle"), cls.bundle)
            cls.seal = json.loads((run_folders(made)[-1] / "run.json").read_text())["seal"]

    def changed(self, before: str, after: str, count: int = 1) -> pathlib.Path:
        text = self.bundle.read_text(encoding="utf-8")
        self.assertIn(before, text)
        return self.written(text.replace(before, after, count).encode("utf-8"))

    def written(self, data: bytes) -> pathlib.Path:
        file = pathlib.Path(self.folder, "changed.html")
        file.write_bytes(data)
        return file

    def packed(self, name: str, old: bytes, new: bytes) -> pathlib.Path:
        """The bundle with other bytes in one of its files."""
        text = self.bundle.read_text(encoding="utf-8")
        blocks = re.findall(f'data-name="({name})">([^<]*)<', text)
        changed = [(packed, base64.b64encode(base64.b64decode(packed).replace(old, new)).decode()) for _, packed in blocks]
        before, after = next(pair for pair in changed if pair[0] != pair[1])
        return self.changed(before, after)

    def test_a_bundle_is_verified_away_from_its_store(self) -> None:
        status, checks, message = verified(self.bundle)
        self.assertEqual((status, set(checks.values()), len(checks)), (0, {"pass"}, 8))
        self.assertEqual(message, "the file is what its data renders to, byte for byte")
        self.assertEqual(verified(self.bundle, "--seal", self.seal)[0], 0)

    def test_another_seal_than_the_given_one(self) -> None:
        status, checks, _ = verified(self.bundle, "--seal", "0" * 64)
        self.assertEqual((status, [code for code, found in checks.items() if found != "pass"]), (1, ["event_seal"]))

    def test_what_is_shown(self) -> None:
        for before, after in (
            (">$5,000.00<", ">$5,000.01<"),
            (">formal<", ">degraded<"),
            (">ISSUED<", ">NOT ISSUED<"),
            (">north / sales<", ">north / sales * 1<"),
            (">375050<", ">375051<"),
            ("Sales were ", "Losses were "),
            ('data-status="traced"', 'data-status="allowed"'),
            ("const byId", "const  byId"),
            ("--paper: #ffffff", "--paper: #fffffe"),
            ("base-uri 'none'", "base-uri 'self'"),
            ("</body>", "<p>Issued by the board.</p></body>"),
        ):
            with self.subTest(before):
                status, checks, message = verified(self.changed(before, after))
                self.assertEqual((status, checks["bundle_renders"], checks["tier_follows"]), (1, "fail", "pass"))
                self.assertRegex(message, r"\Athe file is not what its data renders to: it differs from byte [0-9]+ on(?:, after the element .*)?\Z")

    def test_what_is_stored(self) -> None:
        for name, old, new, code in (
            ("events.jsonl", b'"tier": "formal"', b'"tier": "formaL"', "run_record"),
            ("events.jsonl", b'"at": "2', b'"at": "3', "run_record"),
            ("run.json", b'"formal"', b'"degraded"', "run_record"),
            ("[0-9a-f]{64}", b"375050", b"375051", "artifact_hashes"),
            ("[0-9a-f]{64}", b"north / sales", b"sales / north", "artifact_hashes"),
        ):
            with self.subTest(name, new=new):
                status, checks, _ = verified(self.packed(name, old, new))
                self.assertEqual((status, next(found for found in checks if checks[found] != "pass")), (1, code))

    def test_any_byte(self) -> None:
        data, choose = self.bundle.read_bytes(), random.Random(7)
        for _ in range(60):
            at = choose.randrange(len(data))
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            with self.subTest(at=at, near=data[max(at - 20, 0) : at + 20]):
                said = command("verify", self.written(changed).name, cwd=self.folder)
                self.assertIn(said.status, (1, 2))

    def test_what_is_added_or_missing(self) -> None:
        data = self.bundle.read_bytes()
        for changed in (data + b"\n", data + b"<p>More.</p>", data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data):
            self.assertEqual(verified(self.written(changed))[0], 1)
        block = re.search(rb'<script type="application/octet-stream" data-name="[0-9a-f]{64}">[^<]*</script>\n', data)
        assert block
        status, checks, _ = verified(self.written(data.replace(block[0], b"")))
        self.assertEqual((status, checks["artifact_hashes"], checks["bundle_renders"]), (1, "fail", "not_checked"))

    def test_another_version_of_the_page_is_not_compared(self) -> None:
        status, checks, message = verified(self.changed('data-page="1"', 'data-page="2"'))
        self.assertEqual((status, checks["bundle_renders"]), (1, "not_checked"))
        self.assertEqual(message, "it was written by version 2 of the page, this is 1")

    def test_files_that_are_no_bundles(self) -> None:
        with issued(job_folder()) as folder:
            report = exported(folder).read_bytes()
        for data, said in (
            (report, "is a report, which holds no data to verify: export the run with --bundle"),
            (b"", "is no file that export has written"),
            (b"<html>", "is no file that export has written"),
            (bytes(range(256)), "is no file that export has written"),
        ):
            run = command("verify", self.written(data).name, cwd=self.folder)
            self.assertEqual((run.status, run.out, run.err), (2, "", f"issuance: changed.html: {said}\n"))

    def test_the_same_data_renders_to_the_same_bytes_in_every_locale(self) -> None:
        with mock.patch.dict(os.environ, {"LC_ALL": "C", "PYTHONHASHSEED": "7"}):
            self.assertEqual(verified(self.bundle)[0], 0)
        self.assertEqual(page.VERSION, "1")


if __name__ == "__main__":
    unittest.main()
