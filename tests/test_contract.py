"""The contract: each row of the table of tiers on both sides, reasons whole and in order; gates and the command check."""

from __future__ import annotations

import json
import pathlib
import unittest
from collections.abc import Mapping
from typing import Any, NamedTuple
from unittest import mock

from issuance.contract import CODES
from tests.issuance_support import CARD, DROP, SQL, Run, card, command, job_folder, metric, query

S = metric("sales", "sum(regions, 'cents') / 100", unit="$")
NORTH = metric("north", "cell(regions, 0, 'cents') / 100", unit="$")
SHARE = metric("north_share", "north / sales", decimals=1, format="percent")
GONE = metric("gone", "cell(regions, 9, 'cents')")
DIV = metric("div", "1 / (sales - sales)")
BARE = metric("bare", "2 * 3")
MORE = metric("more", "bare + 1")
GIVEN = metric("given", "inputs.week")
LATE = metric("late", "count(late, 'cents')")
WIDE: dict[str, Any] = {CARD: card(S, NORTH, SHARE, GONE, DIV)}
NO_ROW = "gone missing: the result of regions has no row 9, only 2"
ZERO = "div failed: division by zero"
NO_COLUMN = "bad: refused: does not prepare: no such column: nix"
BAD = query("bad", "SELECT nix FROM orders")
ALL = query("regions", SQL)

Words = tuple[str, str]
METRICS: Words = ("metric", "metrics")
BASELESS: Words = ("metric that rests on no cell and no input", "metrics that rest on no cell and no input")
UNTRACED: Words = ("number of the narrative that traces to no metric", "numbers of the narrative that trace to no metric")
UNTRACED_TITLE: Words = ("number of the title that traces to no metric", "numbers of the title that trace to no metric")
UNUSABLE: Words = ("query without a result", "queries without a result")
CUT: Words = ("metric over a truncated snapshot", "metrics over a truncated snapshot")
DAMAGED: Words = ("artifact that is not what its name says", "artifacts that are not what their names say")
EXPLORATORY = ("exploratory", "an exploratory run is at best degraded")


def said(words: Words, *items: str, more: str = "") -> str:
    """A message that counts things and names the first of them."""
    count = len(items) + int(more or 0)
    return f"{count} {words[count > 1]}: {'; '.join(items)}{more and f'; and {more} more'}"


class Case(NamedTuple):
    name: str
    tier: str
    reasons: tuple[tuple[str, str], ...]
    files: Mapping[str, Any] = {}
    job: Mapping[str, Any] = {}


REQUIRED = {"required": ["sales"]}
LAX = {"required": ["sales"], "strict": False}
WRONG = {"narrative.md": "Sales were $5,000.01."}
RIGHT = {"narrative.md": "Sales were $5,000."}
ONE_WRONG = ("untraced_numbers", said(UNTRACED, "'5,000.01'"))
QUIET = {"narrative.md": "All is well.\n"}
TITLE_WRONG = ("untraced_numbers", said(UNTRACED_TITLE, "'6,000'"))
LONG = tuple(f"'1,23{digit}'" for digit in range(9))
SAVED = {"saved.json": {"columns": ["region", "cents"], "rows": [["North", 5], ["South", 6]], "truncated": True}}
SAVED_JOB = {"sources": [{"id": "shop", "result": "saved.json"}], "queries": [query("regions")]}
EVERYTHING: dict[str, Any] = {
    "mode": "exploratory",
    "queries": [ALL, query("late", SQL, max_rows=1), BAD],
    "contract": {"required": ["gone"], "expected": ["div", "late"]},
}
EVERY_FILE = {CARD: card(S, GONE, DIV, LATE), "narrative.md": "1,234 and 5,678"}
EVERY_REASON = (
    ("required_missing", said(METRICS, NO_ROW)),
    ("expected_missing", said(METRICS, ZERO)),
    ("untraced_numbers", said(UNTRACED, "'1,234'", "'5,678'")),
    ("sql_errors", said(UNUSABLE, NO_COLUMN)),
    ("truncated_source", said(CUT, "late aggregates late")),
    EXPLORATORY,
)

CASES = (
    Case("everything holds", "formal", ()),
    # A required metric; an expected one; neither.
    Case("required, missing", "withheld", (("required_missing", said(METRICS, NO_ROW)),), WIDE, {"contract": {"required": ["sales", "gone"]}}),
    Case("required, failed", "withheld", (("required_missing", said(METRICS, ZERO)),), WIDE, {"contract": {"required": ["div"]}}),
    Case("required without strict", "withheld", (("required_missing", said(METRICS, ZERO)),), WIDE, {"contract": {"required": ["div"], "strict": False}}),
    Case("expected, missing", "degraded", (("expected_missing", said(METRICS, NO_ROW)),), WIDE, {"contract": {**REQUIRED, "expected": ["gone"]}}),
    Case("expected, failed", "degraded", (("expected_missing", said(METRICS, ZERO)),), WIDE, {"contract": {"expected": ["div", "sales"]}}),
    Case("neither required nor expected", "formal", (), WIDE),
    Case("both, in the contract's order", "withheld",
         (("required_missing", said(METRICS, NO_ROW, ZERO)), ("expected_missing", said(METRICS, ZERO, NO_ROW))),
         WIDE, {"contract": {"required": ["gone", "div"], "expected": ["div", "gone"]}}),
    # A number of the text that traces to nothing.
    Case("traced", "formal", (), RIGHT),
    Case("untraced, strict by default", "withheld", (ONE_WRONG,), WRONG, {"contract": REQUIRED}),
    Case("untraced, strict", "withheld", (ONE_WRONG,), WRONG, {"contract": {**REQUIRED, "strict": True}}),
    Case("untraced, not strict", "degraded", (ONE_WRONG,), WRONG, {"contract": LAX}),
    Case("traced, not strict", "formal", (), RIGHT, {"contract": LAX}),
    Case("untraced, no contract", "degraded", (ONE_WRONG, ("check_incomplete", "there is no contract")), WRONG, {"contract": DROP}),
    Case("allowed", "formal", (), WRONG, {"contract": {**REQUIRED, "allow": ["$5,000.01"]}}),
    Case("another one allowed", "withheld", (ONE_WRONG,), WRONG, {"contract": {**REQUIRED, "allow": ["$5,000.02"]}}),
    Case("five are named", "withheld", (("untraced_numbers", said(UNTRACED, *LONG[:5])),), {"narrative.md": " and ".join(LONG[:5])}),
    Case("a sixth is counted", "withheld", (("untraced_numbers", said(UNTRACED, *LONG[:5], more="1")),), {"narrative.md": " and ".join(LONG[:6])}),
    Case("so are nine", "withheld", (("untraced_numbers", said(UNTRACED, *LONG[:5], more="4")),), {"narrative.md": " and ".join(LONG)}),
    # Checks that could not run whole.
    Case("no contract", "degraded", (("check_incomplete", "there is no contract"),), {}, {"contract": DROP}),
    Case("an empty narrative", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": ""}),
    Case("a narrative of spaces", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": " \n\u3000\n"}),
    Case("a narrative of a byte order mark", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": "\ufeff\n"}),
    Case("a narrative that does not show", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": "\u200b\u2060\n"}),
    Case("a narrative of comments", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": "<!-- x --> <!-- y\n"}),
    *(Case(f"a narrative of {text!a}", "degraded", (("check_incomplete", "the narrative is empty"),), {"narrative.md": text})
      for text in ("&nbsp;", "&#8203;", "<br>", "---\n", "# \n> \n", "** **", "<div></div>", "[a]: http://x.org\n", "\u3164", "\u2800", "```\n```")),
    Case("a narrative behind a definition", "formal", (), {"narrative.md": "[a]: http://x.org\nAll is well."}),
    Case("a narrative of one letter", "formal", (), {"narrative.md": "<!-- x -->a\n"}),
    Case("a narrative without a number", "formal", (), QUIET),
    Case("a card without metrics", "degraded", (("check_incomplete", "the card has no metrics"),), {CARD: {**card(), "metrics": []}, **QUIET}, {"contract": {}}),
    Case("all of them at once", "degraded", (("check_incomplete", "there is no contract; the narrative is empty; the card has no metrics"),),
         {CARD: {**card(), "metrics": []}, "narrative.md": ""}, {"contract": DROP}),
    # An exploratory run.
    Case("exploratory", "degraded", (EXPLORATORY,), {}, {"mode": "exploratory"}),
    Case("exploratory by default", "degraded", (EXPLORATORY,), {}, {"mode": DROP}),
    Case("exploratory and untraced", "withheld", (ONE_WRONG, EXPLORATORY), WRONG, {"mode": "exploratory"}),
    # Queries with an SQL check error are not run; failed ones have no result either.
    Case("an SQL error under no metric", "degraded", (("sql_errors", said(UNUSABLE, NO_COLUMN)),), {}, {"queries": [ALL, BAD]}),
    Case("two statements and a write", "degraded",
         (("sql_errors", said(UNUSABLE, "two: refused: has 2 statements, not one", "wipe: refused: would write: it begins with 'DELETE'")),),
         {}, {"queries": [ALL, query("two", "SELECT 1 AS a; SELECT 2 AS a"), query("wipe", "DELETE FROM orders")]}),
    Case("a query that fails", "degraded", (("sql_errors", said(UNUSABLE, "over: failed: integer overflow")),),
         {}, {"queries": [ALL, query("over", "SELECT abs(-9223372036854775807 - 1) AS a")]}),
    Case("an SQL error under a metric that nobody needs", "degraded", (("sql_errors", said(UNUSABLE, NO_COLUMN)),),
         {CARD: card(S, NORTH, SHARE, metric("idle", "cell(bad, 0, 'nix')"))}, {"queries": [ALL, BAD]}),
    Case("an SQL error under a required metric", "withheld",
         (("required_missing", said(METRICS, "idle missing: the query bad has no result: refused: does not prepare: no such column: nix")),
          ("sql_errors", said(UNUSABLE, NO_COLUMN))),
         {CARD: card(S, NORTH, SHARE, metric("idle", "cell(bad, 0, 'nix')"))}, {"queries": [ALL, BAD], "contract": {"required": ["idle"]}}),
    Case("a query that writes to no rows is no error", "formal", (), {}, {"queries": [ALL, query("none", "SELECT cents FROM orders WHERE 0")]}),
    Case("cited outside the contract", "degraded", (("truncated_source", said(CUT, "sales aggregates regions")),),
         {"narrative.md": "Sales were $3,750.50.", CARD: card(S)}, {"queries": [query("regions", SQL, max_rows=1)], "contract": {}}),
    # A truncated snapshot under an aggregate of a contract metric.
    Case("as many rows as allowed", "formal", (), {}, {"queries": [query("regions", SQL, max_rows=2)]}),
    Case("one row too many", "degraded",
         (("truncated_source", said(CUT, "sales aggregates regions", "north_share aggregates regions")),),
         QUIET, {"queries": [query("regions", SQL, max_rows=1)]}),
    Case("aggregated through another metric, expected", "degraded",
         (("truncated_source", said(CUT, "north_share aggregates regions")),),
         QUIET, {"queries": [query("regions", SQL, max_rows=1)], "contract": {"required": ["north"], "expected": ["north_share"]}}),
    Case("required and expected is said once", "degraded", (("truncated_source", said(CUT, "sales aggregates regions")),),
         QUIET, {"queries": [query("regions", SQL, max_rows=1)], "contract": {"required": ["sales"], "expected": ["sales"]}}),
    Case("only a cell of it", "formal", (), QUIET, {"queries": [query("regions", SQL, max_rows=1)], "contract": {"required": ["north"]}}),
    Case("aggregated outside the contract", "formal", (), QUIET, {"queries": [query("regions", SQL, max_rows=1)], "contract": {}}),
    Case("a cell and an aggregate of one query", "degraded", (("truncated_source", said(CUT, "both aggregates regions")),),
         {CARD: card(metric("both", "cell(regions, 0, 'cents') + max(regions, 'cents')")), **QUIET},
         {"queries": [query("regions", SQL, max_rows=1)], "contract": {"required": ["both"]}}),
    *(
        Case(f"{function} of a saved result that says so", "degraded", (("truncated_source", said(CUT, "one aggregates regions")),),
             {**SAVED, **QUIET, CARD: card(metric("one", f"{function}(regions, 'cents')"))}, {**SAVED_JOB, "contract": {"required": ["one"]}})
        for function in ("sum", "avg", "min", "max", "count")
    ),
    # Metrics only: required metrics rest on data, numbers of the title trace.
    Case("metrics only", "formal", (), {}, {"narrative": DROP}),
    Case("metrics only, a required one missing", "withheld", (("required_missing", said(METRICS, NO_ROW)),), WIDE, {"narrative": DROP, "contract": {"required": ["gone"]}}),
    Case("metrics only, a number in the title", "formal", (), {}, {"narrative": DROP, "title": "Sales of $5,000"}),
    Case("metrics only, a wrong number in the title", "withheld", (TITLE_WRONG,), {}, {"narrative": DROP, "title": "Sales of $6,000"}),
    Case("the same without strict", "degraded", (TITLE_WRONG,), {}, {"narrative": DROP, "title": "Sales of $6,000", "contract": LAX}),
    Case("the same, allowed", "formal", (), {}, {"narrative": DROP, "title": "Sales of $6,000", "contract": {**REQUIRED, "allow": ["$6,000"]}}),
    Case("metrics only, required from inputs", "formal", (), {CARD: card(S, GIVEN)},
         {"narrative": DROP, "inputs": {"week": 37}, "contract": {"required": ["given"]}}),
    Case("metrics only, required from nothing", "withheld", (("required_missing", said(BASELESS, "bare", "more")),),
         {CARD: card(S, BARE, MORE)}, {"narrative": DROP, "contract": {"required": ["sales", "bare", "more"]}}),
    Case("metrics only, missing and from nothing", "withheld",
         (("required_missing", f"{said(METRICS, NO_ROW)}; {said(BASELESS, 'bare')}"),),
         {CARD: card(S, BARE, GONE)}, {"narrative": DROP, "contract": {"required": ["bare", "gone"]}}),
    Case("metrics only, no contract", "degraded", (("check_incomplete", "there is no contract"),), {}, {"narrative": DROP, "contract": DROP}),
    # Several at once, in one order.
    Case("everything at once", "withheld", EVERY_REASON, EVERY_FILE, EVERYTHING),
    Case("everything that does not withhold", "degraded", EVERY_REASON[1:], EVERY_FILE,
         {**EVERYTHING, "contract": {"required": ["sales"], "expected": ["div", "late"], "strict": False}}),
)  # fmt: skip


def setUpModule() -> None:
    """Nothing here is about surviving a power failure, and waiting for a disk takes most of the time."""
    without_waiting = mock.patch("os.fsync")
    without_waiting.start()
    unittest.addModuleCleanup(without_waiting.stop)


def issued(folder: str, *options: str) -> tuple[int, dict[str, Any]]:
    run = command("issue", "job.json", *options, cwd=folder)
    assert not run.err, run.err
    content: dict[str, Any] = json.loads(run.out)
    return run.status, content


def reasons_of(content: dict[str, Any]) -> list[tuple[str, str]]:
    return [(reason["code"], reason["message"]) for reason in content["reasons"]]


class Tiers(unittest.TestCase):
    maxDiff = None

    def test_the_table(self) -> None:
        for case in CASES:
            with self.subTest(case.name), job_folder(case.files, **case.job) as folder:
                status, content = issued(folder)
                self.assertEqual((content["tier"], reasons_of(content)), (case.tier, list(case.reasons)))
                self.assertEqual((status, content["status"]), (int(case.tier != "formal"), "finished"))

    def test_it_has_both_sides_of_every_reason(self) -> None:
        built = ["required_missing", "expected_missing", "untraced_numbers", "sql_errors", "truncated_source"]
        built += ["check_incomplete", "exploratory"]
        self.assertEqual([code for code in CODES if any(code in dict(case.reasons) for case in CASES)], built)
        for tier in ("formal", "degraded", "withheld"):
            self.assertGreater(len([case for case in CASES if case.tier == tier]), 9, tier)

    def test_an_artifact_that_is_not_what_its_name_says(self) -> None:
        for name, content in (("narrative", b""), ("card", b"{}"), ("narrative", b"Sales were $5,000.00!")):
            with self.subTest(name, content=content), job_folder() as folder:
                _, first = issued(folder)
                record = json.loads(pathlib.Path(folder, first["run"], "run.json").read_bytes())
                hash = record["artifacts"][name]
                path = pathlib.Path(folder, "data", "artifacts", hash[:2], hash)
                path.write_bytes(content)
                for _ in range(2):
                    status, again = issued(folder)
                    self.assertEqual((status, again["tier"]), (1, "withheld"))
                    self.assertEqual(reasons_of(again), [("hash_mismatch", said(DAMAGED, hash))])
                self.assertEqual(path.read_bytes(), content)  # what is there is not overwritten
                path.unlink()
                self.assertEqual(issued(folder)[1]["tier"], "formal")


FREE: dict[str, Any] = {"caliber": {"card": CARD}}  # no version pinned
MADE = {"queries": [query("regions", SQL, evidence_role="compute")]}
BOTH = {"queries": [ALL, query("made", SQL, evidence_role="compute")]}
FROM_MADE = metric("of_made", "cell(made, 0, 'cents')")
HOLDING = {
    "strict_reading": "the job and all that it names can be used",
    "sql_checks": "every query prepares and only reads",
    "caliber_versions": "no version is left undecided",
    "G1": "the contract has a required metric",
    "G2": "no text reaches the output unchecked",
    "G3": "there is no cited report whose violations or claims could pass",
    "G4": "no metric rests on a compute query",
    "G5": "every metric traces to raw data",
    "G6": "the card's version is pinned",
}
G1, G2 = "the contract has no required metric", "the narrative is checked by no contract"
GATES: tuple[tuple[str, dict[str, str], dict[str, Any], dict[str, Any]], ...] = (
    ("all hold", {}, {}, {}),
    ("metrics only", {}, {}, {"narrative": DROP}),
    ("no contract", {"G1": G1, "G2": G2}, {}, {"contract": DROP}),
    ("metrics only without a contract", {"G1": G1}, {}, {"contract": DROP, "narrative": DROP}),
    ("only expected metrics", {"G1": G1}, {}, {"contract": {"required": [], "expected": ["sales"]}}),
    ("a compute query under nothing", {}, {}, BOTH),
    ("a compute query beside a source query", {"G4": "mixed rests on made"},
     {CARD: card(S, NORTH, SHARE, metric("mixed", "sales + cell(made, 0, 'cents')"))}, BOTH),
    ("an aggregate of a compute query", {"G4": "mixed rests on made"},
     {CARD: card(S, NORTH, SHARE, metric("mixed", "sales + count(made, 'cents')"))}, BOTH),
    ("a compute query under all", {"G4": "sales rests on regions (and 3 more)", "G5": "sales rests on no cell of a source query (and 2 more)"}, {}, MADE),
    ("through another metric", {"G4": "of_made rests on made (and 1 more)", "G5": "of_made rests on no cell of a source query"},
     {CARD: card(S, NORTH, SHARE, FROM_MADE, metric("sum_of_both", "of_made + sales"))}, BOTH),
    ("constants", {"G5": "bare rests on no cell of a source query (and 1 more)"}, {CARD: card(S, NORTH, SHARE, BARE, MORE)}, {}),
    ("a title with a number", {"G2": "the title states '999%', which nothing checks"}, {}, {"title": "Up 999% in week 37"}),
    ("a title with a date", {}, {}, {"title": "Week 37 of 2026-W37, Q3 2026"}),
    ("a title with a number that is allowed", {}, {}, {"title": "Up 999%", "contract": {"required": ["sales"], "allow": ["999%"]}}),
    ("a title with a number that traces", {}, {}, {"title": "Sales of $5,000", "narrative": DROP}),
    ("no pinned version", {"G6": "caliber.version pins no version"}, {}, FREE),
    ("several", {"G1": G1, "G5": "bare rests on no cell of a source query", "G6": "caliber.version pins no version"},
     {CARD: card(S, NORTH, SHARE, BARE)}, {"contract": {}, **FREE}),
)  # fmt: skip


def checks(*failing: tuple[str, str], level: str = "governed") -> list[dict[str, str]]:
    """The checks of a job in which some fail."""
    found = []
    for code, holds in HOLDING.items():
        if code.startswith("G") and level == "published":
            found.append({"code": code, "status": "not_checked", "message": "the level is published, not governed"})
        else:
            complaint = dict(failing).get(code, "")
            found.append({"code": code, "status": "fail" if complaint else "pass", "message": complaint or holds})
    return found


class Gates(unittest.TestCase):
    maxDiff = None

    def test_check_and_issue(self) -> None:
        for name, failing, files, changes in GATES:
            with self.subTest(name), job_folder(files, **changes, level="governed") as folder:
                run = command("check", "job.json", cwd=folder)
                expected = {"holds": not failing, "checks": checks(*failing.items()), "sql": []}
                self.assertEqual((run.status, json.loads(run.out), run.err), (int(bool(failing)), expected, ""))
                refused = command("issue", "job.json", cwd=folder)
                lines = [
                    f"issuance: job.json: level: governed, but {code} does not hold: {complaint}\n"
                    for code, complaint in failing.items()
                ]
                if lines:
                    self.assertEqual(refused, Run(2, "", "".join(lines)))
                    self.assertFalse(pathlib.Path(folder, "data").exists())
                else:
                    self.assertEqual((refused.status, json.loads(refused.out)["tier"]), (0, "formal"))

    def test_only_a_governed_job_has_to_pass_them(self) -> None:
        for level in (DROP, "published"):
            with job_folder(contract=DROP, level=level) as folder:
                run = command("check", "job.json", cwd=folder)
                expected = {"holds": True, "checks": checks(level="published"), "sql": []}
                self.assertEqual((run.status, json.loads(run.out)), (0, expected))
                self.assertEqual(command("issue", "job.json", cwd=folder).status, 1)

    def test_every_gate_fails_once(self) -> None:
        failing = {code for _, failing, _, _ in GATES for code in failing}
        self.assertEqual(sorted(failing), ["G1", "G2", "G4", "G5", "G6"])


class Check(unittest.TestCase):
    maxDiff = None

    def test_sql_errors_fail_and_warnings_do_not(self) -> None:
        round_ = {"query": "rounds", "level": "warning", "message": "ROUND: rounding belongs in the card"}
        star = {"query": "star", "level": "warning", "message": "SELECT * takes whatever columns there are: name them"}
        limit = {"query": "star", "level": "warning", "message": "LIMIT without ORDER BY takes any rows"}
        error = {"query": "bad", "level": "error", "message": "does not prepare: no such column: nix"}
        denied = "only reading and plain functions are allowed, not \"load_extension\""
        two = {"query": "two", "level": "error", "message": denied}
        warned = [ALL, query("rounds", "SELECT ROUND(cents) AS c FROM orders"), query("star", "SELECT * FROM orders LIMIT 1")]
        wrong = [BAD, query("two", "SELECT load_extension('x') AS a")]
        failing = ("sql_checks", f"bad: does not prepare: no such column: nix; two: {denied}")
        for queries, said, failed in (
            (warned, [round_, star, limit], ()),
            ([ALL, *wrong], [error, two], (failing,)),
            ([*warned, *wrong], [round_, star, limit, error, two], (failing,)),
        ):
            with self.subTest(queries=len(queries)), job_folder(queries=queries) as folder:
                run = command("check", "job.json", cwd=folder)
                expected = {"holds": not failed, "checks": checks(*failed, level="published"), "sql": said}
                self.assertEqual((run.status, json.loads(run.out), run.err), (len(failed), expected, ""))

    def test_a_saved_error_is_a_query_without_a_result(self) -> None:
        answer = {"isError": True, "content": [{"type": "text", "text": "no such table"}]}
        files = {"answer.json": answer, CARD: card(metric("one", "count(regions, 'cents')"))}
        changes = {"sources": [{"id": "shop", "mcp_result": "answer.json"}], "queries": [query("regions")], "contract": {}}
        with job_folder(files, **changes) as folder:
            said = 'the tool answered with an error: "no such table"'
            run = command("check", "job.json", cwd=folder)
            expected = [{"query": "regions", "level": "error", "message": said}]
            self.assertEqual((run.status, json.loads(run.out)["sql"]), (1, expected))
            self.assertEqual(json.loads(run.out)["checks"], checks(("sql_checks", f"regions: {said}"), level="published"))

    def test_a_version_that_is_left_undecided(self) -> None:
        newer = {"cards/sales@2.json": card(version="2"), "cards/sales@10.json": card(version="10")}
        complaint = "must say recompute, dual or incomparable, as sales@10.json is newer than the pinned version 1"
        caliber = {"card": CARD, "version": "1"}
        for decided in (None, "recompute", "dual", "incomparable"):
            extra = {} if decided is None else {"on_version_bump": decided}
            with self.subTest(decided), job_folder(newer, caliber={**caliber, **extra}) as folder:
                failing = [] if decided else [("caliber_versions", f"caliber.on_version_bump {complaint}")]
                run = command("check", "job.json", cwd=folder)
                self.assertEqual(json.loads(run.out)["checks"], checks(*failing, level="published"))
                self.assertEqual(run.status, len(failing))
                refused = command("issue", "job.json", cwd=folder)
                if failing:
                    said = f"issuance: job.json: caliber.on_version_bump: {complaint}\n"
                    self.assertEqual(refused, Run(2, "", said))
                else:
                    self.assertEqual(refused.status, 0)
        with job_folder(newer, caliber={"card": CARD, "version": "10"}) as folder:
            self.assertEqual(command("check", "job.json", cwd=folder).status, 0)

    def test_text(self) -> None:
        queries = [ALL, query("star", "SELECT * FROM orders"), BAD]
        with job_folder(queries=queries, level="governed", contract=DROP) as folder:
            run = command("check", "job.json", "--format", "text", cwd=folder)
        failing = {"sql_checks": "bad: does not prepare: no such column: nix", "G1": G1, "G2": G2}
        lines = [f"{check['status']:<12} {check['code']}: {check['message']}" for check in checks(*failing.items())]
        lines.append("warning: star: SELECT * takes whatever columns there are: name them")
        self.assertEqual(run, Run(1, "".join(f"{line}\n" for line in lines), ""))

    def test_nothing_is_run_and_nothing_written(self) -> None:
        slow = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) AS n FROM t"
        with job_folder(queries=[ALL, query("slow", slow, timeout_seconds=3600)]) as folder:
            before = sorted(path.name for path in pathlib.Path(folder).rglob("*"))
            self.assertEqual(command("check", "job.json", cwd=folder).status, 0)
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).rglob("*")), before)

    def test_bad_input(self) -> None:
        unknown = "the job has no query \"regoins\""
        typo = {CARD: card(metric("sales", "cell(regoins, 0, 'cents')"), metric("north_share", "sales"))}
        for files, changes, said in (
            ({}, {"titel": "x"}, 'job.json: root: has the unknown field "titel"'),
            (typo, {}, f"{CARD}: metrics[0].expression: column 1: {unknown}"),
            ({}, {"contract": {"required": ["slaes"]}}, 'job.json: contract.required[0]: must be a metric of the card, not "slaes"'),
        ):
            with self.subTest(said), job_folder(files, **changes) as folder:
                self.assertEqual(command("check", "job.json", cwd=folder), Run(2, "", f"issuance: {said}\n"))
        gone = "issuance: gone.json: cannot be read: No such file or directory\n"
        self.assertEqual(command("check", "gone.json"), Run(2, "", gone))
