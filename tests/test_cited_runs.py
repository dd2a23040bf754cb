"""Runs with a cited report: reading the job, repairs, failing and marking, tiers, verifying, audits, upgrades and judging."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from unittest import mock

import issuance.__main__
from answer_format import Problems
from issuance import job as jobs
from issuance import numerals, programs, seal, store
from tests import issuance_support
from tests.issuance_support import CARD, DROP, SQL, Run, card, command, edited, job_folder, metric, query, write
from tests.support import ROOT
from tests.test_store_and_seal import (
    Edit,
    artifact,
    artifacts_of,
    forge,
    not_passed,
    put,
    reseal,
    run_folders,
    swap,
    verified,
)

TEXT = "must be text of 1 to 4096 code points without lone surrogates, not"
CAP = "must be a number from 0 to 1000000 or null, not"
DRAFT = "# Week [[i:week]]\n\nSales were [[m:sales]]. The North had [[m:north_share]] of them.\n"
COMPOSED = "# Week W37\n\nSales were $5,000.00. The North had 75.0% of them.\n"
WRONG = "Sales were [[m:sales]], up 12%.\n"
BARE = {"kind": "bare_number", "start": 27, "end": 30, "text": "12%", "message": "the number 12% is cited by no marker"}
SAID = "1 violation of the report's rules: bare_number '12%': the number 12% is cited by no marker"
FAILING = "1 violation of the report's rules, the first: bare_number '12%': the number 12% is cited by no marker"
EXPLORATORY = ("exploratory", "an exploratory run is at best degraded")


def setUpModule() -> None:
    one_parser = functools.lru_cache(maxsize=None)(issuance.__main__.parser)
    for quicker in (mock.patch("os.fsync"), mock.patch("issuance.__main__.parser", one_parser)):
        quicker.start()
        unittest.addModuleCleanup(quicker.stop)


@contextlib.contextmanager
def report_folder(draft: str = DRAFT, files: Any = None, report: Any = None, **changes: Any) -> Iterator[str]:
    """The small job with a cited draft in the place of its narrative, with some keys of the report and of the job."""
    whole = {"draft": "draft.md", **(report or {})}
    with job_folder({"draft.md": draft, **(files or {})}, **{"narrative": DROP, "report": whole, **changes}) as folder:
        yield folder


def issue(folder: str) -> tuple[int, dict[str, Any]]:
    run = command("issue", "job.json", cwd=folder)
    assert run.err == "", run.err
    return run.status, json.loads(run.out)


def reasons(content: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["code"], one["message"]) for one in content["reasons"]]


def warnings(content: dict[str, Any]) -> list[str]:
    return [one["message"] for one in content.get("warnings", [])]


def latest(folder: str) -> pathlib.Path:
    return run_folders(folder)[-1]


def events(run: pathlib.Path, type: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    return [event for event in found if event["type"] == type]


def stored(folder: str, what: str) -> bytes:
    return artifact(folder, artifacts_of(latest(folder))[what]).read_bytes()


REPORT: dict[str, Any] = {"draft": "draft.md"}
REFUSED: tuple[tuple[Any, list[str]], ...] = (
    (None, ["report: must be an object, not null"]),
    ("draft.md", ['report: must be an object, not "draft.md"']),
    ({}, ["report.draft: is missing"]),
    ({**REPORT, "also": 1}, ['report: has the unknown field "also"']),
    ({"draft": ""}, [f'report.draft: {TEXT} ""']),
    ({"draft": "none.md"}, ['report.draft: names a file that cannot be read: No such file or directory: "none.md"']),
    ({"draft": "../draft.md"}, ['report.draft: must stay under the job\'s folder, not "../draft.md"']),
    ({"draft": "/draft.md"}, ['report.draft: must stay under the job\'s folder, not "/draft.md"']),
    ({"draft": "cards"}, ['report.draft: must name a regular file, not "cards"']),
    ({**REPORT, "writer": "cat"}, ['report.writer: must be an array, not "cat"']),
    ({**REPORT, "writer": []}, ["report.writer: must have 1 to 1000 items, not 0"]),
    ({**REPORT, "writer": ["cat", 1]}, [f"report.writer[1]: {TEXT} 1"]),
    ({**REPORT, "writer_model": ""}, ['report.writer_model: must be text of 1 to 256 code points without lone surrogates, not ""']),
    ({**REPORT, "max_repairs": -1}, ["report.max_repairs: must be an integer from 0 to 100, without fraction or exponent, not -1"]),
    ({**REPORT, "max_repairs": 101}, ["report.max_repairs: must be an integer from 0 to 100, without fraction or exponent, not 101"]),
    ({**REPORT, "max_repairs": True}, ["report.max_repairs: must be an integer from 0 to 100, without fraction or exponent, not true"]),
    ({**REPORT, "on_violation": "warn"}, ['report.on_violation: must be "fail" or "mark", not "warn"']),
    ({**REPORT, "claims": "on"}, ['report.claims: must be "off" or "require_citation" or "judge", not "on"']),
    ({**REPORT, "claims": "judge"}, ["report.judge: is missing, and claims says judge"]),
    ({**REPORT, "judge": "cat"}, ['report.judge: must be an array, not "cat"']),
    ({**REPORT, "on_unsupported": "fail"}, ['report.on_unsupported: must be "degrade" or "withhold", not "fail"']),
    ({**REPORT, "caps": []}, ["report.caps: must be an object, not an array"]),
    ({**REPORT, "caps": {"week_usd": 1}}, ['report.caps: has the unknown field "week_usd"']),
    ({**REPORT, "caps": {"sentences": 1.5}}, ["report.caps.sentences: must be a whole number up to 100000 or null, not 1.5"]),
    ({**REPORT, "caps": {"sentences": -1}}, ["report.caps.sentences: must be a whole number up to 100000 or null, not -1"]),
    ({**REPORT, "caps": {"sentences": 100_001}}, ["report.caps.sentences: must be a whole number up to 100000 or null, not 100001"]),
    *(({**REPORT, "caps": {name: value}}, [f"report.caps.{name}: {CAP} {text}"])
      for name in ("report_usd", "report_seconds", "click_usd", "day_usd")
      for value, text in ((-0.01, "-0.01"), ("1", '"1"'), (True, "true"), (1_000_001, "1000001"))),
)  # fmt: skip
ACCEPTED: tuple[dict[str, Any], ...] = (
    {"max_repairs": 0}, {"max_repairs": 100}, {"claims": "judge", "judge": ["x"]}, {"judge": ["x"]}, {"writer": ["x"], "writer_model": "m" * 256},
    {"caps": {}}, {"caps": {"sentences": 0, "report_usd": 0, "report_seconds": 0, "click_usd": 0, "day_usd": 0}},
    {"caps": {"sentences": 100_000, "report_usd": 1_000_000, "report_seconds": 0.001, "click_usd": None, "day_usd": None}},
)  # fmt: skip


class Reading(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        for report, problems in REFUSED:
            with self.subTest(report), job_folder({"draft.md": DRAFT}, narrative=DROP, report=report) as folder:
                lines = "".join(f"issuance: job.json: {problem}\n" for problem in problems)
                self.assertEqual(command("check", "job.json", cwd=folder), Run(2, "", lines))
        with job_folder({"draft.md": DRAFT}, report=REPORT) as folder:
            said = "narrative: must not be there beside report: a text is checked in one way"
            self.assertEqual(command("issue", "job.json", cwd=folder), Run(2, "", f"issuance: job.json: {said}\n"))

    def test_accepted(self) -> None:
        for report in ACCEPTED:
            with self.subTest(report), report_folder(report=report) as folder:
                self.assertEqual(command("check", "job.json", cwd=folder).status, 0)

    def test_defaults(self) -> None:
        for mode, on_violation in (("formal", "fail"), ("exploratory", "mark"), (DROP, "mark")):
            content = json.dumps(issuance_support.job(mode=mode, narrative=DROP, report=REPORT)).encode()
            found = jobs.read(content, "job", Problems())
            assert found is not None
            caps = jobs.Caps(40, Decimal("0.05"), Decimal(30), Decimal("0.01"), Decimal(2))
            expected = jobs.Report("draft.md", None, None, 1, on_violation, "off", None, "degrade", caps)
            self.assertEqual(found.report, expected)

    def test_a_draft_that_is_no_text(self) -> None:
        for data in (b"a\xff", "a\ud800".encode("utf-8", "surrogatepass")):
            with self.subTest(data), report_folder(files={"draft.md": data}) as folder:
                self.assertEqual(command("issue", "job.json", cwd=folder), Run(2, "", "issuance: draft.md: line 1 column 2: not UTF-8\n"))


def writing(*drafts: str) -> str:
    """A writer that gives one draft after the other, and keeps what it is asked."""
    cases = "".join(f"{number}) printf %s {shlex.quote(draft)};; " for number, draft in enumerate(drafts))
    number = "n=0; while [ -e asked$n.json ]; do n=$((n + 1)); done; cat > asked$n.json"
    return f"{number}; case $n in {cases}*) exit 1;; esac"


WRITER = {"writer": ["sh", "writer.sh"]}


class Repairs(unittest.TestCase):
    maxDiff = None

    def test_how_often(self) -> None:
        worse = "Sales were 7 and 8.\n"
        for most, draft, drafts, repaired, left in (
            (0, WRONG, [DRAFT], [], [BARE]),
            (1, DRAFT, [WRONG], [], []),
            (1, WRONG, [DRAFT, WRONG], [1], []),
            (DROP, WRONG, [DRAFT, WRONG], [1], []),
            (1, WRONG, [WRONG, DRAFT], [1], [BARE]),
            (2, WRONG, [worse, DRAFT], [1, 2], []),
            (2, WRONG, [worse, WRONG, DRAFT], [1, 2], [BARE]),
            (3, WRONG, [DRAFT, WRONG], [1], []),
        ):
            spec = {name: value for name, value in {**WRITER, "max_repairs": most}.items() if value is not DROP}
            with self.subTest(most, drafts=drafts), report_folder(draft, {"writer.sh": writing(*drafts)}, spec) as folder:
                status, content = issue(folder)
                found = events(latest(folder), "report.repaired")
                self.assertEqual([event["violations"] for event in found], repaired)
                self.assertEqual([event["attempt"] for event in found], list(range(1, len(repaired) + 1)))
                self.assertEqual((content.get("violations", []), status), (left, int(bool(left))))
                self.assertEqual(stored(folder, "draft").decode(), [draft, *drafts][len(repaired)])
                self.assertTrue(verified(folder)["holds"])

    def test_what_a_writer_gets(self) -> None:
        spec = {**WRITER, "max_repairs": 2}
        files = {"writer.sh": writing("Sales were [[m:salse]].\n", DRAFT), "plan.txt": "A plan.\n\nOf two."}
        with report_folder(WRONG, files, spec, knowledge=["plan.txt"]) as folder:
            issue(folder)
            first, second = (json.loads(pathlib.Path(folder, f"asked{number}.json").read_text()) for number in (0, 1))
            found = [event["draft"] for event in events(latest(folder), "report.repaired")]
            self.assertEqual([artifact(folder, hash).read_text() for hash in found], [WRONG, "Sales were [[m:salse]].\n"])
        self.assertEqual((first["draft"], first["violations"], sorted(first)), (WRONG, [BARE], ["catalog", "draft", "violations"]))
        catalog = dict(first["catalog"])
        names = catalog.pop("names")
        self.assertLessEqual({"orders", "orders.week", "regions", "sales"}, set(names))
        self.assertEqual(
            catalog,
            {
                "metrics": [
                    {"id": "sales", "name": "sales", "rendered": "$5,000.00"},
                    {"id": "north", "name": "north", "rendered": "$3,750.50"},
                    {"id": "north_share", "name": "north_share", "rendered": "75.0%"},
                ],
                "missing": [], "inputs": {"week": "W37"},
                "queries": [{"name": "Q1", "id": "regions", "columns": ["region", "cents"], "rows": 2}],
                "chunks": [{"name": "K1", "text": "A plan."}, {"name": "K2", "text": "Of two."}],
            },
        )  # fmt: skip
        message = "there is no metric salse; the closest are sales"
        self.assertEqual(
            second["violations"], [{"kind": "unresolved", "start": 11, "end": 22, "text": "[[m:salse]]", "message": message}]
        )
        self.assertEqual((second["draft"], second["catalog"]), ("Sales were [[m:salse]].\n", first["catalog"]))

    def test_broken_writers(self) -> None:
        time_limit = "the writer was stopped after its time limit of 0.1 seconds"
        for name, line, body, said in (
            ("crashing", ["sh", "writer.sh"], "echo no key >&2; exit 1", 'the writer ended with exit status 1: "no key"'),
            ("killed", ["sh", "writer.sh"], "kill -9 $$", "the writer ended with signal 9"),
            ("hanging", ["sh", "writer.sh"], "sleep 60", time_limit),
            ("no text", ["sh", "writer.sh"], "printf 'a\\377'", "the writer printed no text: line 1 column 2: not UTF-8"),
            ("not there", ["no-such-program-here"], "", 'the writer cannot be started: "no-such-program-here": No such file or directory'),
        ):
            spec = {"writer": line, "max_repairs": 3}
            with self.subTest(name), report_folder(WRONG, {"writer.sh": body}, spec) as folder:
                with mock.patch.object(programs, "SECONDS", 0.1 if name == "hanging" else 60):
                    status, content = issue(folder)
                self.assertEqual((status, content["status"], content["tier"]), (1, "failed", None))
                self.assertEqual((warnings(content), content["violations"]), ([said], [BARE]))
                (event,) = events(latest(folder), "report.repaired")
                self.assertEqual((event["attempt"], event["violations"], event["answer"], event["message"]), (1, 1, None, said))
                self.assertEqual(stored(folder, "draft").decode(), WRONG)
                self.assertTrue(verified(folder)["holds"])

    def test_nonsense(self) -> None:
        for printed, kind, status in (
            ("", "", "finished"), ("{}", "", "finished"), ('{"draft": 5}', "bare_number", "failed"), ("[[", "bad_marker", "failed"),
        ):  # fmt: skip
            with self.subTest(printed), report_folder(WRONG, {"writer.sh": writing(printed)}, WRITER) as folder:
                _, content = issue(folder)
                self.assertEqual([one["kind"] for one in content.get("violations", [])], [kind] if kind else [])
                self.assertEqual(content["status"], status)
                empty = [("check_incomplete", "the report is empty")] if printed in ("", "{}") else []
                self.assertEqual(reasons(content), empty)


class OnViolation(unittest.TestCase):
    maxDiff = None

    def test_failing_and_marking(self) -> None:
        free = {"required": ["sales"], "strict": False}
        for mode, on_violation, contract, status, tier, expected in (
            ("formal", DROP, free, "failed", None, []),
            ("formal", "fail", free, "failed", None, []),
            ("formal", "mark", free, "finished", "degraded", [("violations", SAID)]),
            ("formal", "mark", {"required": ["sales"]}, "finished", "withheld", [("violations", SAID)]),
            ("exploratory", DROP, free, "finished", "degraded", [("violations", SAID), EXPLORATORY]),
            ("exploratory", DROP, {}, "finished", "withheld", [("violations", SAID), EXPLORATORY]),
            ("exploratory", "fail", free, "failed", None, []),
        ):
            spec = {} if on_violation is DROP else {"on_violation": on_violation}
            with self.subTest(mode, on_violation=on_violation), report_folder(WRONG, report=spec, mode=mode, contract=contract) as folder:
                exit, content = issue(folder)
                self.assertEqual((exit, content["status"], content["tier"], reasons(content)), (1, status, tier, expected))
                self.assertEqual(content["violations"], [BARE])
                self.assertEqual(content["numbers"], {"total": 2, "traced": 1, "untraced": 1, "allowed": 0})
                document = json.loads(stored(folder, "document"))
                self.assertEqual(document["text"], "Sales were $5,000.00, up 12% [unchecked].\n")
                self.assertTrue(verified(folder)["holds"])

    def test_an_allowed_number_is_no_violation(self) -> None:
        with report_folder(WRONG, contract={"allow": ["12%"]}) as folder:
            status, content = issue(folder)
            self.assertEqual((status, content["tier"], content["numbers"]["allowed"]), (0, "formal", 1))

    def test_a_failed_run(self) -> None:
        with report_folder(WRONG) as folder:
            _, content = issue(folder)
            run = latest(folder)
            self.assertEqual(events(run, "run.failed")[0]["message"], FAILING)
            self.assertEqual([events(run, type) for type in ("contract.decided", "run.finished", "claims.judged")], [[]] * 3)
            self.assertRegex(content["seal"], "\\A[0-9a-f]{64}\\Z")
            found = verified(folder)
            self.assertEqual((found["holds"], found["sealed"], found["seal"]), (True, True, content["seal"]))
            self.assertEqual(found["checks"][-1]["message"], f"what was found gives no tier: {FAILING}")
            record = json.loads((run / "run.json").read_bytes())
            self.assertEqual((record["status"], record["tier"], record["violations"]), ("failed", None, 1))
            (listed,) = json.loads(command("runs", cwd=folder).out)["runs"]
            self.assertEqual((listed["tier"], listed["seal"], listed["note"]), (None, content["seal"], ""))
            self.assertEqual(command("export", "latest", "--text", "o.md", cwd=folder), Run(0, "", ""))
            lines = pathlib.Path(folder, "o.md").read_text().splitlines()
            escaped = FAILING.replace("_", "\\_")
            self.assertEqual((lines[0], lines[4]), ("> **NOT ISSUED: failed**  ", f"> {escaped}  "))
            self.assertEqual(lines[5:], ["", "Sales were $5,000.00, up 12% [unchecked]."])
            text = command("issue", "job.json", "--format", "text", cwd=folder).out.splitlines()
            self.assertEqual((text[0], text[7]), ("failed: Weekly sales", "  bare_number at 27: 12%: the number 12% is cited by no marker"))

    def test_a_cited_report_that_holds(self) -> None:
        with report_folder() as folder:
            status, content = issue(folder)
            self.assertEqual((status, content["status"], content["tier"], content["reasons"]), (0, "finished", "formal", []))
            self.assertEqual(content["numbers"], {"total": 2, "traced": 2, "untraced": 0, "allowed": 0})
            self.assertFalse({"violations", "claims", "warnings"} & set(content))
            self.assertEqual(command("export", "latest", "--text", "o.md", cwd=folder), Run(0, "", ""))
            data = pathlib.Path(folder, "o.md").read_text()
            self.assertTrue(data.startswith("> **ISSUED: formal**  \n"))
            self.assertTrue(data.endswith(f"> seal {content['seal']}  \n\n{COMPOSED}"))
            messages = {one["code"]: one["message"] for one in verified(folder)["checks"]}
            self.assertEqual(messages["document_recomposes"], "the document is what the draft and the snapshots give")
            self.assertEqual(messages["numbers_retrace"], "2 numbers of the text trace the same")


def judging(verdict: str = "supported", **changes: Any) -> dict[str, Any]:
    """A file judge.sh that gives one verdict."""
    said = {"verdict": verdict, "reason": "so it is", "model": "judge-1", "cost_usd": 0.01, **changes}
    return {"judge.sh": f"echo '{json.dumps(said)}'"}


JUDGE = {"claims": "judge", "judge": ["sh", "judge.sh"]}
NO_ROW = "the result of regions has no row 9, only 2"
GONE = card(
    metric("sales", "sum(regions, 'cents') / 100", unit="$"), metric("gone", "cell(regions, 9, 'cents')"),
    metric("north_share", "cell(regions, 0, 'cents') / 100 / sales", decimals=1, format="percent"),
)  # fmt: skip


class Tiers(unittest.TestCase):
    maxDiff = None

    def tier(self, draft: str, files: Any, report: Any, **changes: Any) -> tuple[str | None, list[tuple[str, str]]]:
        """Tier and reasons of a run that verifies."""
        with report_folder(draft, files, report, **changes) as folder:
            status, content = issue(folder)
            self.assertEqual(status, int(content["tier"] != "formal"))
            self.assertTrue(verified(folder)["holds"])
            self.warned = warnings(content)
            return content["tier"], reasons(content)

    def test_of_claims(self) -> None:
        gap, both = "Sales rose. They were [[m:sales]].\n", "It rose to [[m:sales]]. It is [[m:north]].\n"
        one, two = "1 claim without a citation: S1", "2 claims without a citation: S1; S2"
        for draft, files, report, tier, expected in (
            (gap, {}, {}, "formal", []),
            (gap, {}, {"claims": "off"}, "formal", []),
            (gap, {}, {"claims": "require_citation"}, "degraded", [("claim_gaps", one)]),
            ("Sales rose. They fell.\n", {}, {"claims": "require_citation"}, "degraded", [("claim_gaps", two)]),
            ("Sales rose [[see:m:sales]].\n", {}, {"claims": "require_citation"}, "formal", []),
            (both, {}, {"claims": "require_citation"}, "formal", []),
            (gap, judging(), JUDGE, "degraded", [("claim_gaps", one)]),
            (both, judging(), JUDGE, "formal", []),
            (both, judging("partially_supported"), JUDGE, "formal", []),
            (both, judging("not_a_claim"), JUDGE, "formal", []),
            (both, judging("unsupported"), JUDGE, "degraded", [("unsupported_claims", "2 unsupported claims: S1: so it is; S2: so it is")]),
            ("It is [[m:sales]].", judging("unsupported"), {**JUDGE, "on_unsupported": "degrade"}, "degraded",
             [("unsupported_claims", "1 unsupported claim: S1: so it is")]),
            ("It is [[m:sales]].", judging("unsupported"), {**JUDGE, "on_unsupported": "withhold"}, "withheld",
             [("unsupported_claims", "1 unsupported claim: S1: so it is")]),
            (both, judging("partially_supported"), {**JUDGE, "on_unsupported": "withhold"}, "formal", []),
            (gap, judging(), {**JUDGE, "on_unsupported": "withhold"}, "degraded", [("claim_gaps", one)]),
        ):  # fmt: skip
            with self.subTest(draft, report=report, expected=expected):
                self.assertEqual(self.tier(draft, files, report), (tier, expected))

    def test_of_what_was_not_judged(self) -> None:
        def left(*parts: str) -> list[tuple[str, str]]:
            what = "claim that was not judged" if len(parts) == 1 else "claims that were not judged"
            return [("check_incomplete", f"{len(parts)} {what}: {'; '.join(parts)}")]

        both = "It rose to [[m:sales]]. It is [[m:north]].\n"
        for files, caps, expected in (
            (judging(), {"sentences": 2}, []),
            (judging(), {"sentences": 1}, left("S2: the cap of 1 sentence is reached")),
            (judging(), {"report_usd": 0.011}, []),
            (judging(), {"report_usd": 0.01}, left("S2: the cap of 0.01 USD for a report is reached")),
            (judging(), {"report_usd": None}, []),
            (judging(), {"report_seconds": 0}, left(*(f"S{n}: the cap of 0 seconds for a report is reached" for n in (1, 2)))),
            (judging(), {"day_usd": 0.02}, []),
            (judging(), {"day_usd": 0.019}, left("S2: the cap of 0.019 USD for a day is reached")),
            (judging(), {"day_usd": None, "report_usd": None, "sentences": None, "report_seconds": None, "click_usd": None}, []),
            ({"judge.sh": "echo 5"}, {}, left(*(f"S{n}: the judge printed no verdict: root: must be an object, not 5" for n in (1, 2)))),
            ({"judge.sh": "exit 4"}, {}, left(*(f"S{n}: the judge ended with exit status 4" for n in (1, 2)))),
        ):
            with self.subTest(files, caps=caps):
                tier = "degraded" if expected else "formal"
                self.assertEqual(self.tier(both, files, {**JUDGE, "caps": caps}), (tier, expected))

    def test_of_everything_else(self) -> None:
        two = "2 violations of the report's rules: bare_number '12%': the number 12% is cited by no marker; bare_number '13': the number 13 is cited by no marker"
        incomplete = [("check_incomplete", "there is no contract")]
        for draft, files, changes, tier, expected in (
            (DRAFT, {}, {}, "formal", []),
            (DRAFT, {}, {"contract": DROP}, "degraded", incomplete),
            (DRAFT, {}, {"mode": "exploratory"}, "degraded", [EXPLORATORY]),
            ("", {}, {}, "degraded", [("check_incomplete", "the report is empty")]),
            ("<!-- nothing -->\n", {}, {}, "degraded", [("check_incomplete", "the report is empty")]),
            ("None.\n", {}, {}, "formal", []),
            ("Up 12% on 13.\n", {}, {"mode": "exploratory"}, "withheld", [("violations", two), EXPLORATORY]),
            (DRAFT, {}, {"queries": [query("regions", SQL), query("bad", "SELECT nix FROM orders")]}, "degraded",
             [("sql_errors", "1 query without a result: bad: refused: does not prepare: no such column: nix")]),
            (DRAFT, {CARD: GONE}, {"contract": {"expected": ["gone"]}}, "degraded", [("expected_missing", f"1 metric: gone missing: {NO_ROW}")]),
            (DRAFT, {CARD: GONE}, {"contract": {"required": ["gone"]}}, "withheld", [("required_missing", f"1 metric: gone missing: {NO_ROW}")]),
            (DRAFT, {CARD: GONE}, {}, "formal", []),
            (DRAFT, {}, {"queries": [query("regions", SQL, max_rows=1)]}, "degraded",
             [("truncated_source", "2 metrics over a truncated snapshot: sales aggregates regions; north_share aggregates regions")]),
        ):  # fmt: skip
            with self.subTest(draft, changes=changes):
                self.assertEqual(self.tier(draft, files, {}, **changes), (tier, expected))

    def test_a_judge_of_the_writers_model(self) -> None:
        said = "the judge is the writer's model, judge-1: it judges its own words"
        for model, expected in (("judge-1", [said]), ("judge-2", []), (DROP, [])):
            report = {name: value for name, value in {**JUDGE, "writer_model": model}.items() if value is not DROP}
            with self.subTest(model):
                self.assertEqual(self.tier("It is [[m:sales]]. So is [[m:north]].", judging(), report), ("formal", []))
                self.assertEqual(self.warned, expected)

    def test_costly_claims(self) -> None:
        click, whole = "S{} cost {} USD, more than the 0.01 USD for one claim", "the claims cost 0.06 USD, more than the cap of 0.05 USD"
        for cost, caps, expected in (
            (0.01, {}, []),
            (0.03, {}, [click.format(1, "0.03"), click.format(2, "0.03"), whole]),
            (0.03, {"click_usd": None}, [whole]),
            (0.03, {"click_usd": 0.03}, [whole]),
            (0.03, {"click_usd": 0.03, "report_usd": 0.06}, []),
            (0.03, {"click_usd": 0.03, "report_usd": None}, []),
            (0.011, {}, [click.format(1, "0.011"), click.format(2, "0.011")]),
        ):
            with self.subTest(cost, caps=caps):
                report = {**JUDGE, "caps": caps}
                self.assertEqual(self.tier("It is [[m:sales]]. So is [[m:north]].", judging(cost_usd=cost), report), ("formal", []))
                self.assertEqual(self.warned, expected)

    def test_an_exploratory_run_judges_on_demand(self) -> None:
        with report_folder("It is [[m:sales]]. It rose.\n", {"judge.sh": ": > asked"}, JUDGE, mode="exploratory") as folder:
            _, content = issue(folder)
            self.assertFalse(pathlib.Path(folder, "asked").exists())
            demand = "an exploratory run's claims are judged on demand"
            unjudged = [{"sentence": "S1", "reason": demand}]
            self.assertEqual(content["claims"], {"ids": ["S1", "S2"], "gaps": ["S2"], "verdicts": [], "unjudged": unjudged, "warnings": []})
            incomplete = ("check_incomplete", f"1 claim that was not judged: S1: {demand}")
            self.assertEqual(reasons(content), [("claim_gaps", "1 claim without a citation: S2"), incomplete, EXPLORATORY])
            self.assertTrue(verified(folder)["holds"])

    def test_a_truncated_schema_leaves_names_open(self) -> None:
        invented = "It is `weird_name`, `orders` and `other`, and [[m:sales]].\n"
        open_names = [("check_incomplete", "2 names in a truncated schema: weird_name; other")]
        for most, draft, expected in (
            (3, invented, ("degraded", open_names)),
            (3, "It is `orders`, and [[m:sales]].\n", ("formal", [])),
            (4, "It is `orders`, and [[m:sales]].\n", ("formal", [])),
        ):
            with self.subTest(most, draft=draft), mock.patch("issuance.schemas.MAX_COLUMNS", most):
                self.assertEqual(self.tier(draft, {}, {}), expected)
        with mock.patch("issuance.schemas.MAX_COLUMNS", 4), report_folder(invented) as folder:
            _, content = issue(folder)
            found = [(one["kind"], one["text"]) for one in content["violations"]]
            self.assertEqual((content["status"], found), ("failed", [("unknown_name", "`weird_name`"), ("unknown_name", "`other`")]))

    def test_a_damaged_snapshot(self) -> None:
        second = 1_790_000_000 * 10**9  # at which both runs are made, so that their snapshots are the same
        for on_violation, tier in (("mark", "withheld"), ("fail", None)):
            spec = {"on_violation": on_violation}
            made = report_folder("It is [[v:Q1.r0.cents]].\n", report=spec, contract={"strict": False})
            with self.subTest(on_violation), mock.patch("time.time_ns", return_value=second), made as folder:
                self.assertEqual(issue(folder)[1]["tier"], "formal")
                path = artifact(folder, artifacts_of(latest(folder))["snapshot of Q1"])
                path.write_bytes(path.read_bytes().replace(b"375050", b"375051"))
                _, content = issue(folder)
                message = "the snapshot of regions does not match its hash"
                self.assertEqual([(one["kind"], one["message"]) for one in content["violations"]], [("hash_mismatch", message)])
                self.assertEqual(content["tier"], tier)
                codes = ["violations", "hash_mismatch"] if tier else []
                self.assertEqual([code for code, _ in reasons(content)], codes)


METRICS, DOCUMENT, NUMBERS, TIER = "metrics_recompute", "document_recomposes", "numbers_retrace", "tier_follows"
OTHER_DOCUMENT = "the document is not what the draft and the snapshots give"
OTHER_REASONS = "the reasons are not those that what was found gives"
KNOWLEDGE = "We shall sell more in the North.\n\nAll of it.\n"
RICH = "Sales grew to [[m:sales]], up 12%: [[q:K1|sell more]]. They rose.\nCents: [[v:Q1.r0.cents]] of `orders`. It fell [[see:Q1,K2]].\n"
FORGERIES: tuple[tuple[str, str, Edit, str, str], ...] = (
    ("the draft", "draft", swap("Cents", "Euros"), DOCUMENT, OTHER_DOCUMENT),
    ("the draft's number", "draft", swap("12%", "13%"), DOCUMENT, OTHER_DOCUMENT),
    ("another metric", "draft", swap("m:sales", "m:north"), DOCUMENT, OTHER_DOCUMENT),
    ("the draft's basis", "draft", swap("Q1,K2", "Q1,K1"), DOCUMENT, OTHER_DOCUMENT),
    ("the text of the document", "document", swap('"Sales grew', '"Sales shrank'), DOCUMENT, OTHER_DOCUMENT),
    ("a citation", "document", swap('"kind": "metric", "metric": "sales"', '"kind": "metric", "metric": "north"'), DOCUMENT, OTHER_DOCUMENT),
    ("a violation", "document", swap('"kind": "bare_number"', '"kind": "bad_marker"'), DOCUMENT, OTHER_DOCUMENT),
    ("a byte more", "document", lambda data: data + b" ", DOCUMENT, OTHER_DOCUMENT),
    ("the knowledge that is quoted", "knowledge 1", swap("sell more", "sell less"), DOCUMENT, OTHER_DOCUMENT),
    ("the place of the quote", "knowledge 1", swap("We shall", "We will"), DOCUMENT, OTHER_DOCUMENT),
    ("a chunk of the basis", "knowledge 1", swap("\n\nAll of it", " All of it"), DOCUMENT, OTHER_DOCUMENT),
    ("how many violations", "report.checked", put(violations=0), DOCUMENT, "the report has other violations than the events say"),
    ("that there is a draft", "report.checked", put(draft=None), DOCUMENT, "the events have no draft and document, but the job has a report"),
    ("that there is a narrative", "report.checked", lambda event: event.update(narrative=event["draft"]), DOCUMENT,
     "the events have no draft and document, but the job has a report"),
    ("that there is knowledge", "run.started", put(knowledge=[]), METRICS, "the events have other files than the job"),
    ("a cited cell", "snapshot of Q1", swap("375050", "375051"), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("the numbers", "numbers", swap('"status": "untraced"', '"status": "allowed"'), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("a count of numbers", "report.checked", lambda event: event["summary"].update(untraced=0, allowed=1), NUMBERS, "the counts of the numbers are not what they trace to"),
    ("a gap", "claims.judged", put(gaps=[]), TIER, "the claims of the report are not those that the events name"),
    ("another gap", "claims.judged", put(gaps=["S1"]), TIER, "the claims of the report are not those that the events name"),
    ("the claims", "claims.judged", lambda event: event["ids"].pop(), TIER, "the claims of the report are not those that the events name"),
    ("a verdict", "claims.judged", lambda event: event["verdicts"][0].update(verdict="supported"), TIER, OTHER_REASONS),
    ("the reason of a verdict", "claims.judged", lambda event: event["verdicts"][0].update(reason="it is not"), TIER, OTHER_REASONS),
    ("a verdict that is gone", "claims.judged", lambda event: event["verdicts"].pop(), TIER, "the verdicts are not on the claims of the report"),
    ("a verdict on another sentence", "claims.judged", lambda event: event["verdicts"][0].update(sentence="S2"), TIER, "the verdicts are not on the claims of the report"),
    ("a verdict twice", "claims.judged", lambda event: event["verdicts"].append(event["verdicts"][0]), TIER, "the verdicts are not on the claims of the report"),
    ("a verdict that was never given", "claims.judged", lambda event: event.update(unjudged=[{"sentence": "S1", "reason": "x"}]), TIER, "the verdicts are not on the claims of the report"),
    ("that claims were judged", "job", swap('"claims": "judge", ', ""), TIER, "the events have claims judged otherwise than the job says"),
    ("that a violation fails", "job", swap('"on_violation": "mark"', '"on_violation": "fail"'), TIER, "the run did not fail, which what was found does not give"),
    ("what unsupported claims do", "job", swap('"on_unsupported": "degrade"', '"on_unsupported": "withhold"'), TIER, "the tier is degraded, but what was found gives withheld"),
    ("how strict it is", "job", swap('"strict": false', '"strict": true'), TIER, "the tier is degraded, but what was found gives withheld"),
    ("what it allows", "job", swap('"allow": ["7"]', '"allow": ["12%"]'), DOCUMENT, OTHER_DOCUMENT),
    ("a cost over the cap of a claim", "claims.judged", lambda event: event["verdicts"][0].update(cost_usd="0.02"), TIER, "the warnings are not those that the verdicts give"),
    ("a cost over the cap of the report", "claims.judged", lambda event: event["verdicts"][-1].update(cost_usd="9"), TIER, "the warnings are not those that the verdicts give"),
    ("a warning", "claims.judged", put(warnings=["all is well"]), TIER, "the warnings are not those that the verdicts give"),
    ("a warning of a sum", "claims.judged", put(warnings=["the claims cost 0.06 USD, more than the cap of 0.05 USD"]), TIER, "the warnings are not those that the verdicts give"),
    ("a warning of the report", "report.checked", put(warnings=["all is well"]), DOCUMENT, "the events warn of other things than the repairs"),
    ("how many claims may be judged", "job", swap('"claims": "judge"', '"claims": "judge", "caps": {"sentences": 0}'), TIER, "more claims were judged than the cap of sentences allows"),
    ("what judging may cost", "job", swap('"claims": "judge"', '"claims": "judge", "caps": {"report_usd": 0}'), TIER, "a claim was judged when the cap of the report was reached"),
    ("that a writer could repair it", "job", swap('"claims": "judge"', '"claims": "judge", "writer": ["sh"]'), DOCUMENT, "there were fewer repairs than the violations ask for"),
    ("the tier", "contract.decided", put(tier="formal", reasons=[]), TIER, "the tier is formal, but what was found gives degraded"),
    ("a reason", "contract.decided", lambda event: event["reasons"].pop(0), TIER, OTHER_REASONS),
)  # fmt: skip


class Ending(unittest.TestCase):
    def test_signals_end_the_programs_of_a_job_too(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            spec = {**JUDGE, "caps": {"day_usd": 1}}
            with self.subTest(number), report_folder("Sales grew to [[m:sales]].\n", {"judge.sh": "echo $$ > pid; sleep 60"}, spec) as folder:
                line = [sys.executable, "-m", "issuance", "issue", "job.json"]
                process = subprocess.Popen(
                    line, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    preexec_fn=functools.partial(signal.signal, number, signal.SIG_DFL),
                )  # fmt: skip
                deadline = time.monotonic() + 30
                while not (pid := pathlib.Path(folder, "pid")).exists() or not pid.read_text().strip():
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.01)
                time.sleep(0.2)  # until the run knows that it has started it
                process.send_signal(number)
                self.assertEqual(process.wait(30), -number)
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(pid.read_text()), 0)
                with contextlib.closing(sqlite3.connect(f"{folder}/data/spending.sqlite")) as file:
                    self.assertEqual(file.execute("SELECT until FROM calls").fetchall(), [(0,)])


class Verifying(unittest.TestCase):
    maxDiff = None

    def assert_noticed(self, folder: str, forgeries: tuple[tuple[str, str, Edit, str, str], ...]) -> None:
        (run,) = run_folders(folder)
        self.assertTrue(verified(folder)["holds"])
        kept = {name: (run / name).read_bytes() for name in ("events.jsonl", "run.json")}
        for name, part, change, code, said in forgeries:
            with self.subTest(name):
                forge(folder, run, part, change)
                self.assertEqual(next(iter(not_passed(verified(folder)).items())), (code, said))
            for file, data in kept.items():
                (run / file).write_bytes(data)
        self.assertTrue(verified(folder)["holds"])

    def test_a_forged_run(self) -> None:
        spec = {"on_violation": "mark", "claims": "judge", "judge": ["sh", "judge.sh"], "on_unsupported": "degrade"}
        contract = {"required": ["sales"], "strict": False, "allow": ["7"]}
        files = {**judging("unsupported"), "plan.txt": KNOWLEDGE}
        with report_folder(RICH, files, spec, contract=contract, knowledge=["plan.txt"]) as folder:
            _, content = issue(folder)
            self.assertEqual([code for code, _ in reasons(content)], ["violations", "claim_gaps", "unsupported_claims"])
            self.assert_noticed(folder, FORGERIES)

    def test_what_a_verdict_must_say(self) -> None:
        verdict = {"sentence": "S1", "verdict": "supported", "reason": "it is", "model": "m", "cost_usd": "0.01"}
        said = "must be the decimal of a cost, not"
        for change, where in (
            ({"cost_usd": None}, f"verdicts[0].cost_usd: {said} null"),
            ({"cost_usd": "-1"}, f'verdicts[0].cost_usd: {said} "-1"'),
            ({"cost_usd": "1e"}, f'verdicts[0].cost_usd: {said} "1e"'),
            ({"cost_usd": 1}, f"verdicts[0].cost_usd: {said} 1"),
            ({"verdict": "true"}, 'verdicts[0].verdict: must be "supported" or "partially_supported" or "unsupported" or "not_a_claim", not "true"'),
            ({}, ""),
        ):  # fmt: skip
            event = {"seq": 1, "at": "2026-09-14T00:00:00Z", "type": "claims.judged", "ids": [], "gaps": [], "warnings": [], "unjudged": []}
            line = json.dumps({**event, "verdicts": [{**verdict, **change}]}).encode()
            with self.subTest(change):
                if where:
                    with self.assertRaises(seal.Malformed) as caught:
                        seal.event_of(1, line)
                    self.assertEqual(caught.exception.args[0], f"event 1: {where}")
                else:
                    self.assertEqual(seal.event_of(1, line)["verdicts"], [verdict])
        for name in ("reason", "model", "cost_usd"):
            line = json.dumps({**event, "verdicts": [{key: value for key, value in verdict.items() if key != name}]}).encode()
            with self.subTest(name), self.assertRaises(seal.Malformed) as caught:
                seal.event_of(1, line)
            self.assertIn(f"{name}", caught.exception.args[0])

    def test_exploratory_runs_have_no_verdicts_before_their_seal(self) -> None:
        verdict = {"sentence": "S1", "verdict": "supported", "reason": "it is", "model": "m", "cost_usd": "0"}
        with report_folder("Sales grew to [[m:sales]].\n", {}, {**JUDGE}, mode="exploratory") as folder:
            issue(folder)
            self.assert_noticed(
                folder,
                (
                    ("a verdict", "claims.judged", put(verdicts=[verdict], unjudged=[]), TIER, "the claims of an exploratory run are judged on demand, and not before its seal"),
                    ("another reason", "claims.judged", lambda event: event["unjudged"][0].update(reason="no time"), TIER,
                     "the claims of an exploratory run are judged on demand, and not before its seal"),
                ),
            )  # fmt: skip

    def test_a_report_that_other_number_rules_composed(self) -> None:
        with report_folder(DRAFT) as folder:
            issue(folder)
            (run,) = run_folders(folder)
            forge(folder, run, "run.started", put(number_rules="999"))
            self.assertEqual([check["status"] for check in verified(folder)["checks"][4:]], ["pass", "not_checked", "not_checked"])
            forge(folder, run, "document", swap("Sales", "Sale"))
            found = {check["code"]: check for check in verified(folder)["checks"]}[DOCUMENT]
            said = f"it was checked by version 999 of the number rules, this is {numerals.VERSION}"
            self.assertEqual((found["status"], found["message"]), ("not_checked", said))

    def test_a_forged_draft_of_a_repair(self) -> None:
        with report_folder(WRONG, {"writer.sh": writing(DRAFT)}, WRITER) as folder:
            issue(folder)
            (run,) = run_folders(folder)
            self.assertEqual(set(artifacts_of(run)) & {"draft 1", "draft 2", "draft"}, {"draft 1", "draft 2", "draft"})
            path = artifact(folder, artifacts_of(run)["draft 1"])
            path.write_text(WRONG.replace("12", "13"))
            said = f"draft 1: the artifact {path.name} does not have the bytes that its name says"
            self.assertEqual(not_passed(verified(folder)), {"artifact_hashes": said})

    def test_forged_repairs(self) -> None:
        first, second = "repair 1 is not as the events say", "repair 2 is not as the events say"
        following, more = "repair {} did not give the draft that follows", "there were more repairs than the job allows"
        with report_folder(WRONG, {"writer.sh": writing("Sales were 7 and 8.\n", DRAFT)}, {**WRITER, "max_repairs": 2}) as folder:
            issue(folder)
            (run,) = run_folders(folder)
            one, two = events(run, "report.repaired")
            self.assert_changes_noticed(
                folder,
                (
                    ("an attempt", 0, {"attempt": 2}, first),
                    ("an attempt before the first", 0, {"attempt": 0}, first),
                    ("an attempt again", 1, {"attempt": 1}, second),
                    ("no violations", 0, {"violations": 0}, first),
                    ("more violations", 0, {"violations": 2}, first),
                    ("fewer violations", 1, {"violations": 1}, second),
                    ("a message", 0, {"message": "x"}, first),
                    ("a message of the last", 1, {"message": "x"}, second),
                    ("no answer", 0, {"answer": None}, first),
                    ("no answer of the last", 1, {"answer": None}, second),
                    ("a failure that another repair follows", 0, {"answer": None, "message": "x"}, following.format(1)),
                    ("a failure of the last", 1, {"answer": None, "message": "x"}, following.format(2)),
                    ("the answer of another", 0, {"answer": two["answer"]}, following.format(1)),
                    ("its own draft as its answer", 1, {"answer": two["draft"]}, following.format(2)),
                    ("the draft of another", 0, {"draft": two["draft"]}, first),
                    ("a draft without violations", 0, {"draft": two["answer"]}, first),
                    ("the first draft again", 1, {"draft": one["draft"]}, following.format(1)),
                    ("the first is gone", 0, None, first),
                    ("the last is gone", 1, None, following.format(1)),
                ),
            )
            self.assert_noticed(
                folder,
                (
                    ("a first draft that holds", "draft 1", swap("12%", "many"), DOCUMENT, first),
                    ("a second draft with one fault", "draft 2", swap("7 and 8", "7"), DOCUMENT, second),
                    ("how many are allowed", "job", swap('"max_repairs": 2', '"max_repairs": 1'), DOCUMENT, more),
                    ("that there is a writer", "job", swap('"writer"', '"judge"'), DOCUMENT, more),
                ),
            )
        spec = {**WRITER, "max_repairs": 2, "on_violation": "mark"}
        with report_folder(WRONG, {"writer.sh": "exit 1"}, spec, contract={"strict": False}) as folder:
            issue(folder)
            (one,) = events(latest(folder), "report.repaired")
            self.assert_changes_noticed(
                folder,
                (
                    ("no message", 0, {"message": ""}, first),
                    ("an answer beside a message", 0, {"answer": one["draft"]}, first),
                ),
            )
            found = [json.loads(line) for line in (latest(folder) / "events.jsonl").read_text().splitlines()]
            at = found.index(one)
            found.insert(at + 1, {**one, "attempt": 2})  # although nothing is asked again after a failure
            reseal(latest(folder), [{**event, "seq": number} for number, event in enumerate(found, 1)])
            self.assertEqual(next(iter(not_passed(verified(folder)).items())), (DOCUMENT, following.format(1)))

    def assert_changes_noticed(self, folder: str, changes: tuple[tuple[str, int, dict[str, Any] | None, str], ...]) -> None:
        """Changes of fields of one of the repairs of a run, None to leave it out, and what verify then says."""
        (run,) = run_folders(folder)
        kept = {name: (run / name).read_bytes() for name in ("events.jsonl", "run.json")}
        for name, which, change, said in changes:
            with self.subTest(name):
                found = [json.loads(line) for line in kept["events.jsonl"].splitlines()]
                event = [event for event in found if event["type"] == "report.repaired"][which]
                if change is None:
                    found.remove(event)
                event.update(change or {})
                reseal(run, [{**event, "seq": number} for number, event in enumerate(found, 1)])
                self.assertEqual(next(iter(not_passed(verified(folder)).items())), (DOCUMENT, said))
            for file, data in kept.items():
                (run / file).write_bytes(data)
        self.assertTrue(verified(folder)["holds"])

    def test_a_forged_failure(self) -> None:
        with report_folder(WRONG) as folder:
            issue(folder)
            self.assert_noticed(
                folder,
                (
                    ("why", "run.failed", put(message="no reason"), TIER, "the run failed for another reason than the events say"),
                    ("that it should", "job", swap('"mode": "formal"', '"mode": "exploratory"'), METRICS, "the events have another mode than the job"),
                ),
            )
            (run,) = run_folders(folder)
            forge(folder, run, "job", swap('{"draft": "draft.md"}', '{"draft": "draft.md", "on_violation": "mark"}'))
            self.assertEqual(not_passed(verified(folder)), {TIER: "the run failed, which what was found does not give"})

    def test_neither_the_draft_nor_its_folder_matters(self) -> None:
        with report_folder(files={"plan.txt": KNOWLEDGE}, knowledge=["plan.txt"]) as folder:
            issue(folder)
            write(folder, {"draft.md": "Nothing.", "plan.txt": DROP, "shop.sql": DROP, "job.json": DROP})
            self.assertTrue(verified(folder)["holds"])


class Audits(unittest.TestCase):
    maxDiff = None

    def test_groups(self) -> None:
        draft = (
            "Sales of [[i:week]] were [[m:sales]], not 124,950 or 9,876: 7.\n\n[[v:Q1.r0.cents]] in `orders`, not `orderz`: "
            "[[q:K1|sell more]] [[m:nix]].\n"
        )
        contract = {"strict": False, "allow": ["7"]}
        with report_folder(draft, {"plan.txt": KNOWLEDGE}, {"on_violation": "mark"}, contract=contract, knowledge=["plan.txt"]) as folder:
            issue(folder)
            run = command("audit", "latest", cwd=folder)
            content = json.loads(run.out)
            text = json.loads(stored(folder, "document"))["text"]
            groups = ("has_provenance", "allowed", "guessed", "no_evidence", "suspicious_name")
            for entry in (entry for group in groups for entry in content[group] if entry["kind"] != "marker"):
                self.assertEqual(text[entry["start"] : entry["end"]], entry["text"])
            found = {group: [(one["kind"], one["text"], one["reason"]) for one in content[group]] for group in groups}
            bare = "cited by no marker"
            self.assertEqual(
                found,
                {
                    "has_provenance": [
                        ("input", "W37", ""), ("metric", "$5,000.00", ""), ("cell", "375,050", ""), ("name", "`orders`", ""), ("quote", "“sell more”", ""),
                    ],
                    "allowed": [("number", "7", "")],
                    "guessed": [("number", "124,950", bare)],
                    "no_evidence": [("number", "9,876", bare), ("marker", "[[m:nix]]", "unresolved: there is no metric nix; nothing comes close")],
                    "suspicious_name": [("name", "`orderz`", "")],
                },
            )  # fmt: skip
            snapshot = artifacts_of(latest(folder))["snapshot of Q1"]
            sources = [one["sources"] for one in content["has_provenance"]]
            expression = "sum(regions, 'cents') / 100"
            inputs = [{"query": "regions", "column": "cents", "artifact": snapshot, "aggregate": "sum", "rows": [0, 2]}]
            self.assertEqual(
                sources,
                [
                    [{"source": "inputs.week"}],
                    [{"source": "sales", "value": "5000", "expression": expression, "inputs": inputs}],
                    [{"source": "regions.r0.cents", "artifact": snapshot}],
                    [{"source": "orders", "is": "table"}],
                    [{"source": "K1"}],
                ],
            )
            label = "guessed source, not evidence"
            self.assertEqual(content["guessed"][0]["sources"], [{"source": "Q1.r1.cents", "label": label}])
            self.assertEqual((run.status, list(content["summary"].values())), (1, [5, 1, 1, 2, 1]))
            rows = list(csv.reader(io.StringIO(command("audit", "latest", "--format", "csv", cwd=folder).out, newline="")))
            self.assertEqual(rows[0], ["group", "kind", "text", "start", "end", "value", "unit", "sources", "reason"])
            self.assertEqual([row[1] for row in rows[1:]], [kind for group in groups for kind, _, _ in found[group]])
            self.assertEqual(rows[2][7], f"sales = {expression}")

    def test_exit_statuses(self) -> None:
        for draft, status in ((DRAFT, 0), ("A [[m:sales]] of 7.", 0), ("A `fake_name`.", 1), ("A 9,876.", 1), ("A 5,000.", 1), ("A [[m:nix]].", 1), ("None.", 0)):
            with self.subTest(draft), report_folder(draft, contract={"allow": ["7"]}) as folder:
                issue(folder)
                self.assertEqual(command("audit", "latest", cwd=folder).status, status)


class Checks(unittest.TestCase):
    maxDiff = None

    def checked(self, draft: str, report: Any, **changes: Any) -> tuple[int, dict[str, str], dict[str, str]]:
        """The status of check, and the messages of the checks that pass and that fail."""
        with report_folder(draft, report=report, **changes) as folder:
            run = command("check", "job.json", cwd=folder)
            found = json.loads(run.out)["checks"]
            refused = command("issue", "job.json", cwd=folder)
            self.refused = refused.err
            messages = {status: {one["code"]: one["message"] for one in found if one["status"] == status} for status in ("pass", "fail")}
            return run.status, messages["pass"], messages["fail"]

    def test_the_markers_of_a_draft(self) -> None:
        unpaired = "[[ begins no marker: one is written [[kind:what]] on one line"
        for draft, said in (
            (DRAFT, ""),
            ("", ""),
            ("[[m:nix]] [[v:Q9.r0.a]]", ""),
            ("[[m:Sales]]", "[[m:Sales]]: a metric is cited as [[m:id]] or [[m:id|conversion]]"),
            ("[[x:a]]", "[[x:a]]: there is no marker x: there are m, i, v, table, t, c, q, see"),
            ("[[m:sales", f"[[: {unpaired}"),
            ("m:sales]]", "]]: ]] ends no marker"),
            ("`[[m:Sales]]` ``[[x:a]]``", ""),
            ("```\n[[m:Sales]]\n]]\n```\n", ""),
            ("```\n[[x:a]]\n```\n[[m:Sales]] `[[x:a]]`", "[[m:Sales]]: a metric is cited as [[m:id]] or [[m:id|conversion]]"),
            ("`a` [[m:Sales]] `b`", "[[m:Sales]]: a metric is cited as [[m:id]] or [[m:id|conversion]]"),
            ("[[ [[m:a|x]]", f"[[: {unpaired}; [[m:a|x]]: there is no conversion 'x': there are 万, 亿, k, M, bn, pct, int, .0, .1 and so on"),
        ):
            with self.subTest(draft):
                status, passing, failing = self.checked(draft, {})
                self.assertEqual((status, failing), (int(bool(said)), {"draft_markers": said} if said else {}))
                if not said:
                    self.assertEqual(passing["draft_markers"], "every marker of the draft can be read")

    def test_gates(self) -> None:
        off, mark = "report.claims is off", "report.on_violation is not fail"
        for report, changes, failing in (
            ({"claims": "require_citation"}, {}, {}),
            ({"claims": "judge", "judge": ["x"], "on_violation": "fail"}, {}, {}),
            ({}, {}, {"G3": off}),
            ({"claims": "off"}, {}, {"G3": off}),
            ({"claims": "require_citation", "on_violation": "mark"}, {}, {"G3": mark}),
            ({"on_violation": "mark"}, {}, {"G3": mark}),
            ({"claims": "require_citation"}, {"contract": DROP}, {"G1": "the contract has no required metric", "G2": "the report is checked by no contract"}),
            ({"claims": "require_citation"}, {"title": "Up 999%"}, {"G2": "the title states '999%', which nothing checks"}),
            ({"claims": "require_citation"}, {"title": "Up 999%", "contract": {"required": ["sales"], "allow": ["999%"]}}, {}),
        ):
            with self.subTest(report, changes=changes):
                status, passing, found = self.checked(DRAFT, report, level="governed", **changes)
                self.assertEqual((status, found), (int(bool(failing)), failing))
                lines = [f"issuance: job.json: level: governed, but {code} does not hold: {said}\n" for code, said in failing.items()]
                self.assertEqual(self.refused, "".join(lines))
                if not failing:
                    self.assertEqual(passing["G3"], "violations fail the report, and its claims need a citation")


NARRATIVE = "Sales were $5,000.00, 75.0% in the North: 124,950 cents.\nNot 9,876, but 7.\n"
UPGRADED = "Sales were $[[m:sales]], [[m:north_share]] in the North: [[v:Q1.r1.cents]] cents.\nNot 9,876, but 7.\n"


def lefts(run: Run) -> list[str]:
    """The lines in which upgrade says what is left, without their beginning."""
    lines = run.err.splitlines()
    assert all(line.startswith("issuance: narrative.md: ") for line in lines), lines
    return [line[len("issuance: narrative.md: ") :] for line in lines]


class Upgrades(unittest.TestCase):
    maxDiff = None

    def test_the_difference(self) -> None:
        for left in (False, True):
            text = NARRATIVE if left else NARRATIVE.replace("9,876", "many")
            with self.subTest(left), job_folder({"narrative.md": text}, contract={"required": ["sales"], "allow": ["7"]}) as folder:
                before = {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
                run = command("upgrade", "job.json", cwd=folder)
                said = ["61: 9,876 is left: no metric has this value"] if left else []
                self.assertEqual((run.status, lefts(run)), (int(left), said))
                job, narrative = run.out.split("--- narrative.md\n")
                self.assertRegex(job, '\\A--- job.json\n\\+\\+\\+ job.json\n@@ -1 \\+1 @@\n-.*"narrative": "narrative.md".*\n')
                self.assertEqual(job.count('"report": {"draft": "narrative.md"}'), 1)
                first, *rest = text.splitlines()
                expected = ["+++ narrative.md", "@@ -1,2 +1,2 @@", f"-{first}", f"+{UPGRADED.splitlines()[0]}", *(f" {line}" for line in rest)]
                self.assertEqual(narrative.splitlines(), expected)
                self.assertEqual({path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}, before)

    def test_writing_and_what_it_gives(self) -> None:
        with job_folder({"narrative.md": NARRATIVE.replace("9,876", "many")}, contract={"required": ["sales"], "allow": ["7"]}) as folder:
            shown = command("upgrade", "job.json", cwd=folder)
            self.assertEqual(command("upgrade", "job.json", "--write", cwd=folder), shown)
            draft = UPGRADED.replace("9,876", "many")
            self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), draft)
            found = json.loads(pathlib.Path(folder, "job.json").read_text())
            self.assertEqual((found["report"], "narrative" in found), ({"draft": "narrative.md"}, False))
            files = {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
            for option in ([], ["--write"]):
                self.assertEqual(command("upgrade", "job.json", *option, cwd=folder), Run(0, "", ""))
            self.assertEqual({path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}, files)
            status, content = issue(folder)
            self.assertEqual((status, content["tier"]), (0, "formal"))
            self.assertEqual(json.loads(stored(folder, "document"))["text"], NARRATIVE.replace("9,876", "many"))

    def test_which_numbers_are_left(self) -> None:
        cards = card(metric("a", "1200 + 0"), metric("b", "1200.4 + 0"), metric("c", "375050 + 0"), metric("d", "0.127 + 0", format="percent"))
        for text, upgraded, said in (
            ("It is 1,200.", "It is 1,200.", "6: 1,200 is left: it traces to a and b"),
            ("It is 1,200.4.", "It is [[m:b]].", ""),
            ("It is 375,050.", "It is [[m:c]].", ""),
            ("It is 375,050.00.", "It is [[m:c]].", ""),
            ("It is 12.7%.", "It is [[m:d]].", ""),
            ("It is 12.70%.", "It is [[m:d]].", ""),
            ("It is 375k.", "It is [[m:c|k|.0]].", ""),
            ("It is 124,950.", "It is [[v:Q1.r1.cents]].", ""),
            ("It is 37.5万.", "It is [[m:c|万|.1]].", ""),
            ("It is 99.", "It is 99.", "6: 99 is left: no metric has this value"),
        ):
            with self.subTest(text), job_folder({"narrative.md": text, CARD: cards}, contract={}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual((run.status, lefts(run)), (int(bool(said)), [said] if said else []))
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), upgraded)

    def test_markers_that_do_not_fit_where_they_would_stand(self) -> None:
        cards = card(metric("a", "1200 + 0"), metric("c", "375050 + 0"), metric("d", "0.127 + 0", format="percent"))
        for text, upgraded, *said in (
            ("±1,200", "±[[m:a]]"),
            ("+1,200", "[[m:a]]"),
            ("+-1,200", "+-1,200", "2: 1,200 is left: [[m:a]] does not fit the words beside it"),
            ("--1,200", "--1,200", "2: 1,200 is left: [[m:a]] does not fit the words beside it"),
            ("1,200&nbsp;007", "1,200&nbsp;007", "0: 1,200 is left: [[m:a]] does not fit the words beside it"),
            ("1,200 and --1,200", "[[m:a]] and --1,200", "12: 1,200 is left: [[m:a]] does not fit the words beside it"),
            ("--1,200 and 1,200", "--1,200 and [[m:a]]", "2: 1,200 is left: [[m:a]] does not fit the words beside it"),
            ("1,200/7", "1,200/7", "0: 1,200 is left: [[m:a]] does not fit the words beside it", "6: 7 is left: no metric has this value"),
            ("12.7%375,050", "12.7%375,050", "0: 12.7% is left: [[m:d]] does not fit the words beside it",
             "5: 375,050 is left: [[m:c]] does not fit the words beside it"),
            ("1,200:375,050", "1,200:375,050", "0: 1,200 is left: [[m:a]] does not fit the words beside it",
             "6: 375,050 is left: [[m:c]] does not fit the words beside it"),
            ("1,200×100", "1,200×100", "0: 1,200 is left: [[m:a]] does not fit the words beside it", "6: 100 is left: no metric has this value"),
            ("≈1,200", "≈[[m:a]]"),
            ("1,200-375,050", "[[m:a]]-[[m:c]]"),
            ("1,200/375,050", "1,200/375,050", "0: 1,200 is left: [[m:a]] does not fit the words beside it",
             "6: 375,050 is left: [[m:c]] does not fit the words beside it"),
            ("(1,200; 375,050)", "([[m:a]]; [[m:c]])"),
            ("<b>1,200</b>", "<b>[[m:a]]</b>"),
        ):  # fmt: skip
            with self.subTest(text), job_folder({"narrative.md": text, CARD: cards}, contract={}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual((run.status, lefts(run)), (int(bool(said)), said))
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), upgraded)
                if not said:
                    self.assertEqual(issue(folder)[1]["tier"], "formal")

    def test_numbers_that_the_draft_would_still_state(self) -> None:
        for text, upgraded, *said in (
            ("`99`", "`99`", "1: 99 is left: the number 99 is cited by no marker"),
            ("`7` and 5", "`7` and 5", "8: 5 is left: no metric has this value"),
            ("```\n99\n```\n1,200", "```\n99\n```\n[[m:a]]", "4: 99 is left: the number 99 is cited by no marker"),
            ("[^98] `99` 1,200", "[^98] `99` [[m:a]]", "2: 98 is left: the number 98 is cited by no marker",
             "7: 99 is left: the number 99 is cited by no marker"),
            ("[^1] 1,200\n\n[^1]: x", "[^1] [[m:a]]\n\n[^1]: x"),
        ):  # fmt: skip
            files = {"narrative.md": text, CARD: card(metric("a", "1200 + 0"))}
            with self.subTest(text), job_folder(files, contract={"allow": ["7"]}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual((run.status, lefts(run)), (int(bool(said)), said))
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), upgraded)

    def test_more_than_a_number(self) -> None:
        cards = card(metric("a", "1200 + 0"), metric("c", "375050 + 0"))
        for text, upgraded in (
            ("1,200元", "[[m:a]]元"), ("多1,200元", "多[[m:a]]元"), *((text, "") for text in ("1,200多元", "1,200余元", "37.5万多元", "1,200 odd", "1,200-odd"))
        ):  # fmt: skip
            number = text if text.isascii() else text[:-1]
            said = f"0: {json.dumps(number)[1:-1]} is left: no marker gives a number that stands for the same as {json.dumps(number)[1:-1]}"
            with self.subTest(text), job_folder({"narrative.md": text, CARD: cards}, contract={}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual((run.status, lefts(run)), (int(not upgraded), [] if upgraded else [said]))
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), upgraded or text)

    def test_percentage_points(self) -> None:
        cards = card(metric("d", "0.127 + 0", format="percent"), metric("e", "5.5 + 0", unit="%", decimals=1))
        for text, upgraded in (
            ("12.7%", "[[m:d]]"), ("12.7 percent", "[[m:d]]"), ("12.7 per cent", "[[m:d]]"), ("5.5%", "[[m:e]]"),
            *((text, "") for text in ("12.7 percentage points", "12.7pp", "5.5 percentage points", "5.5 points")),
            *((text, "") for text in ("5.5个百分点", "550bp", "550 basis points")),
        ):  # fmt: skip
            with self.subTest(text), job_folder({"narrative.md": f"Up {text}.", CARD: cards}, contract={}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), f"Up {upgraded or text}.")
                self.assertEqual((run.status, len(lefts(run))), (int(not upgraded), int(not upgraded)))

    def test_only_if_check_then_passes(self) -> None:
        off = "G3: report.claims is off"
        failing = "sql_checks: bad: does not prepare: no such column: nix"
        queries = [query("regions", SQL), query("bad", "SELECT nix FROM orders")]
        for changes, said in (({"queries": queries}, failing), ({"level": "governed"}, off), ({"level": "governed", "queries": queries}, f"{failing}; {off}")):
            with self.subTest(said), job_folder(**changes) as folder:
                files = {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
                shown = command("upgrade", "job.json", cwd=folder)
                self.assertEqual((shown.status, shown.err), (0, ""))
                line = f"issuance: job.json: is not written, as check does not pass: {said}\n"
                self.assertEqual(command("upgrade", "job.json", "--write", cwd=folder), Run(1, shown.out, line))
                self.assertEqual({path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}, files)

    def test_a_narrative_that_is_another_file_of_the_job(self) -> None:
        for narrative in ("job.json", CARD, "shop.sql", "./shop.sql", "linked.sql"):
            with self.subTest(narrative), job_folder(narrative=narrative) as folder:
                os.symlink("shop.sql", f"{folder}/linked.sql")
                kept = {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
                said = "issuance: job.json: narrative: is also another file of the job, which would be changed\n"
                for write_too in ([], ["--write"]):
                    run = command("upgrade", "job.json", *write_too, cwd=folder)
                    self.assertEqual(run, Run(2, "", said))
                self.assertEqual({path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}, kept)

    def test_a_job_that_cannot_be_written(self) -> None:
        with job_folder() as folder:
            kept = {path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}
            whole = store.write_whole

            def failing(path: str, data: bytes, before: Any = lambda: None) -> None:
                if path.endswith("job.json"):
                    raise OSError(28, "No space left on device")
                whole(path, data, before)

            with mock.patch.object(store, "write_whole", failing):
                run = command("upgrade", "job.json", "--write", cwd=folder)
            self.assertEqual((run.status, run.err), (2, "issuance: job.json: cannot be written: No space left on device\n"))
            self.assertEqual({path: path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}, kept)

    def test_nothing_to_upgrade(self) -> None:
        with job_folder(narrative=DROP) as folder:
            self.assertEqual(command("upgrade", "job.json", cwd=folder), Run(0, "", ""))
        with report_folder(WRONG) as folder:
            left = "27: 12% is left: the number 12% is cited by no marker"
            for option in ([], ["--write"]):
                self.assertEqual(command("upgrade", "job.json", *option, cwd=folder), Run(1, "", f"issuance: draft.md: {left}\n"))
        with report_folder("Sales were [[m:sales]].\n") as folder:
            self.assertEqual(command("upgrade", "job.json", "--write", cwd=folder), Run(0, "", ""))

    def test_a_marker_of_a_cell_or_metric_says_what_the_words_said(self) -> None:
        """The report that the draft becomes shows the same number, in the same unit, or the number is left."""
        cards = card(metric("rate", "-0.05 + 0", format="percent"), metric("fee", "30 + 0", unit="$"))
        for text, upgraded, said in (
            ("Down 5.0%.", "Down 5.0%.", "5: 5.0% is left: [[m:rate]] would show -5.00% for 5.0%"),
            ("It was -5.0%.", "It was [[m:rate]].", ""),
            ("It rose 5.0%.", "It rose 5.0%.", "8: 5.0% is left: rate is -0.05, the text says it rose"),
            ("The fee is $30.00.", "The fee is $[[m:fee]].", ""),
            ("The fee is 30.", "The fee is 30.", "11: 30 is left: the report would add the unit of fee, $"),
            ("The fee is 30.00 EUR.", "The fee is 30.00 EUR.", "11: 30.00 is left: the metric's unit is $, not EUR"),
            ("They have 124,950.", "They have [[v:Q1.r1.cents]].", ""),
            ("They have 124,950 EUR.", "They have [[v:Q1.r1.cents]] EUR.", ""),
            ("They have 124,951.", "They have 124,951.", "10: 124,951 is left: no metric has this value"),
            ("They have 125k.", "They have 125k.", "10: 125k is left: no metric has this value"),
            ("They have `124,950`.", "They have `124,950`.", "11: 124,950 is left: the number 124,950 is cited by no marker"),
            ("On 2026-11-30 it was $30.00.", "On 2026-11-30 it was $[[m:fee]].", ""),
        ):  # fmt: skip
            with self.subTest(text), job_folder({"narrative.md": text, CARD: cards}, contract={}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                self.assertEqual((lefts(run), run.status), ([said] if said else [], int(bool(said))))
                self.assertEqual(pathlib.Path(folder, "narrative.md").read_text(), upgraded)

    def test_cells_of_one_value_and_of_masked_columns(self) -> None:
        sql = "SELECT cents AS a, cents AS b, cents AS c, cents AS d, region FROM orders WHERE :week = :week ORDER BY region"
        narrative = "They have 124,950.\n"
        queries = [query("regions", sql)]
        with job_folder({"narrative.md": narrative, CARD: card(metric("one", "1 + 0"))}, queries=queries, contract={}) as folder:
            run = command("upgrade", "job.json", cwd=folder)
            where = "Q1.r2.a and Q1.r2.b and Q1.r2.c and 1 more"
            self.assertEqual(lefts(run), [f"10: 124,950 is left: it has the value of {where}"])

    def test_a_narrative_with_markers_is_neither_upgraded_nor_formal(self) -> None:
        for text, held in (
            ("Sales were [[m:sales]].\n", "[[m:sales]]"), ("Sales were [[m:none]].\n", "[[m:none]]"), ("It is [[v:Q1]].\n", "[[v:Q1]]"),
            ("Sales were `[[m:sales]]`.\n", ""), ("See [[wiki]].\n", ""), ("See [[x:y]].\n", ""),
        ):  # fmt: skip
            with self.subTest(text), job_folder({"narrative.md": text}) as folder:
                run = command("upgrade", "job.json", "--write", cwd=folder)
                said = f'issuance: job.json: narrative: holds citation markers already, the first: "{held}"\n'
                if held:
                    self.assertEqual(run, Run(2, "", said))
                else:
                    self.assertNotEqual(run.status, 2)
            with self.subTest(text), job_folder({"narrative.md": text}) as folder:
                status, content = issue(folder)
                reasons = [reason["message"] for reason in content["reasons"] if reason["code"] == "check_incomplete"]
                self.assertEqual((status, reasons), (1, [f"1 citation marker in the narrative: '{held}'"]) if held else (0, []))

    def test_a_written_job_keeps_its_form(self) -> None:
        text = json.dumps(edited(issuance_support.job(), {"title": '"narrative": "narrative.md"'}), indent=4, ensure_ascii=False)
        with job_folder({"job.json": text}) as folder:
            self.assertEqual(command("upgrade", "job.json", "--write", cwd=folder).status, 0)
            lines = zip(text.splitlines(), pathlib.Path(folder, "job.json").read_text().splitlines())
            changed = [pair for pair in lines if pair[0] != pair[1]]
            self.assertEqual(changed, [('    "narrative": "narrative.md",', '    "report": {"draft": "narrative.md"},')])


class Judging(unittest.TestCase):
    maxDiff = None

    @contextlib.contextmanager
    def issued(self, files: Any, **report: Any) -> Iterator[tuple[str, pathlib.Path]]:
        with report_folder("Good. It is [[m:sales]].\n", files, {**JUDGE, **report}, mode="exploratory") as folder:
            issue(folder)
            yield folder, latest(folder)

    def test_a_verdict_is_appended(self) -> None:
        for verdict, status in (("supported", 0), ("not_a_claim", 0), ("partially_supported", 1), ("unsupported", 1)):
            with self.subTest(verdict), self.issued(judging(verdict)) as (folder, run):
                before, tier = (run / "events.jsonl").read_bytes(), (run / "run.json").read_bytes()
                said = {"verdict": verdict, "reason": "so it is", "model": "judge-1", "cost_usd": "0.01"}
                content = {"run_id": run.name, "sentence": "S2", "text": "It is $5,000.00.", **said}
                expected = Run(status, json.dumps(content, indent=2) + "\n", "")
                self.assertEqual(command("judge", "latest", "S2", cwd=folder), expected)
                after = (run / "events.jsonl").read_bytes()
                self.assertEqual((after[: len(before)], (run / "run.json").read_bytes()), (before, tier))
                event = json.loads(after[len(before) :])
                self.assertEqual({name: event[name] for name in event if name not in ("seq", "at")}, {"type": "claim.judged", "sentence": "S2", **said})
                self.assertEqual(event["seq"], before.count(b"\n") + 1)
                found = verified(folder)
                self.assertEqual((found["holds"], found["appended"]), (True, ["claim.judged"]))
                text = f"{verdict}: It is $5,000.00.\nso it is\n"
                self.assertEqual(command("judge", run.name, "S2", "--format", "text", cwd=folder), Run(status, text, ""))

    def test_warnings(self) -> None:
        own, costly = "the judge is the writer's model, judge-1: it judges its own words", "S2 cost 0.011 USD, more than the 0.01 USD for one claim"
        for cost, model, expected in ((0.01, "x", None), (0.011, "x", [costly]), (0.01, "judge-1", [own]), (0.011, "judge-1", [costly, own])):
            with self.subTest(cost, model=model), self.issued(judging(cost_usd=cost), writer_model=model) as (folder, _):
                self.assertEqual(json.loads(command("judge", "latest", "S2", cwd=folder).out).get("warnings"), expected)

    def test_what_is_not_judged(self) -> None:
        with self.issued(judging()) as (folder, run):
            for arguments, said in (
                (["S1"], f'data/runs/{run.name}: has no claim "S1"'),
                (["S3"], f'data/runs/{run.name}: has no claim "S3"'),
                (["S2", "--folder", "none"], '--folder must be a folder, not "none"'),
            ):
                with self.subTest(arguments):
                    self.assertEqual(command("judge", "latest", *arguments, cwd=folder), Run(2, "", f"issuance: {said}\n"))
            self.assertEqual(command("judge", NONE, "S2", cwd=folder), Run(2, "", f"issuance: data: holds no run {NONE}\n"))
            self.assertEqual(verified(folder)["appended"], [])
        for changes, report, said in (
            ({"mode": "formal"}, JUDGE, "is a formal run, whose verdicts are sealed"),
            ({"mode": "exploratory"}, {"claims": "require_citation"}, "its job names no judge"),
        ):
            with self.subTest(said), report_folder("It is [[m:sales]].\n", judging(), report, **changes) as folder:
                issue(folder)
                expected = Run(2, "", f"issuance: data/runs/{latest(folder).name}: {said}\n")
                self.assertEqual(command("judge", "latest", "S1", cwd=folder), expected)
        with job_folder(mode="exploratory") as folder:
            issue(folder)
            self.assertEqual(command("judge", "latest", "S1", cwd=folder).err, f"issuance: data/runs/{latest(folder).name}: its job names no judge\n")

    def test_no_verdict(self) -> None:
        for body, said in (
            ("echo 5", "the judge printed no verdict: root: must be an object, not 5"),
            ("echo", "the judge printed no verdict: line 2 column 1: not JSON: Expecting value"),
            ("printf 'no\\033 key' >&2; exit 1", 'the judge ended with exit status 1: "no\\u001b key"'),
        ):
            with self.subTest(body), self.issued({"judge.sh": body}) as (folder, run):
                for options in ([], ["--format", "text"]):
                    expected = Run(1, "", f"issuance: data/runs/{run.name}: S2: {said}\n")
                    self.assertEqual(command("judge", "latest", "S2", *options, cwd=folder), expected)
                self.assertEqual((verified(folder)["appended"], events(run, "claim.judged")), ([], []))

    def test_what_gave_no_verdict_counts_for_the_day(self) -> None:
        with self.issued({"judge.sh": "echo 5"}, caps={"day_usd": 0.03, "click_usd": 0.01}) as (folder, run):
            where = f"issuance: data/runs/{run.name}: S2: "
            said = [command("judge", "latest", "S2", cwd=folder).err for _ in range(4)]
            broken = f"{where}the judge printed no verdict: root: must be an object, not 5\n"
            self.assertEqual(said, [broken] * 3 + [f"{where}the cap of 0.03 USD for a day is reached\n"])

    def test_the_cap_of_the_day(self) -> None:
        with self.issued(judging(), caps={"day_usd": 0.02, "sentences": 0, "report_usd": 0}) as (folder, run):
            self.assertEqual([command("judge", "latest", "S2", cwd=folder).status for _ in range(2)], [0, 0])
            third = command("judge", "latest", "S2", cwd=folder)
            self.assertEqual(third, Run(1, "", f"issuance: data/runs/{run.name}: S2: the cap of 0.02 USD for a day is reached\n"))
            self.assertEqual(len(verified(folder)["appended"]), 2)


NONE = "20260101-000000-000000-00000000"
