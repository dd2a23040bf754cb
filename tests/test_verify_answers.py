"""The runner: what each check finds, how judgments follow, and what the command line does."""

from __future__ import annotations

import ast
import contextlib
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import verify_answers
from tests import boundaries, command_lines
from tests.support import ROOT, Run, as_bytes, baseline, edited, run_in_process, run_on

CODES = [
    "evidence_account", "claim_account", "claim_metric", "required_datasets", "evidence_interval", "evidence_timezone",
    "claim_interval", "claim_timezone", "claim_currency", "claim_unit", "source_freshness", "interval_closed",
    "evidence_coverage", "result_truncation", "population", "query_outcome", "query_reference", "row_scope",
    "citation_resolution", "record_claims", "cited_population", "claim_value",
]  # fmt: skip
PASSING = [
    "The evidence has the question's account.",
    "The claim has the question's account.",
    "The claim has the question's metric.",
    "The evidence has every dataset that the question requires.",
    "The evidence has the question's start and end.",
    "The evidence has the question's timezone label.",
    "The claim has the question's start and end.",
    "The claim has the question's timezone label.",
    "The claim has the question's currency.",
    "The claim has the question's unit.",
    "The source committed no later than asOf, and no longer before it than allowed.",
    "The source committed at or after the end of the question's interval.",
    "The evidence says that it is complete.",
    "The result was not truncated.",
    "The claim is of the complete population.",
    "The query succeeded.",
    "The evidence has the id of its query.",
    "Every row has the evidence's account, one of its datasets, and the question's currency and unit.",
    "Every cited id is the id of a row.",
    "Every record claim equals the field of its row.",
    "The claim cites exactly the rows that qualify.",
    "The claimed value is the sum of the rows that qualify.",
]


def observed(edits: dict[str, Any]) -> dict[str, Any]:
    """The one result of the baseline with these edits."""
    run = run_on(as_bytes(edited(baseline(), edits)))
    assert (run.status, run.err) == (0, ""), run
    result: dict[str, Any] = json.loads(run.out)["results"][0]
    return result


class Checks(unittest.TestCase):
    def test_the_table_has_the_22_checks_in_order(self) -> None:
        self.assertEqual([check.code for check in verify_answers.CHECKS], CODES)

    def test_what_a_check_needs_comes_before_it(self) -> None:
        for index, check in enumerate(verify_answers.CHECKS):
            self.assertLessEqual(set(check.needs), set(CODES[:index]), check.code)

    def test_boundaries(self) -> None:
        for case in boundaries.JUDGED:
            with self.subTest(case.id):
                result = observed(case.edits)
                self.assertEqual(result["judgment"], case.judgment)
                self.assertEqual({r["code"]: r["message"] for r in result["reasons"]}, case.reasons)
                self.assertEqual([r["code"] for r in result["reasons"]], list(case.reasons))
                unchecked = {c["code"]: c["message"] for c in result["checks"] if c["status"] == "not_checked"}
                self.assertEqual(unchecked, case.unchecked)
                passing = {c["code"]: c["message"] for c in result["checks"] if c["status"] == "pass"}
                rest = [code for code in CODES if code not in {*case.reasons, *case.unchecked}]
                self.assertEqual(passing, {code: dict(zip(CODES, PASSING))[code] for code in rest})
                self.assertEqual([c["code"] for c in result["checks"]], CODES)

    def test_ids_of_boundaries_are_unique(self) -> None:
        self.assertEqual(len({case.id for case in boundaries.JUDGED}), len(boundaries.JUDGED))

    def test_the_statuses_that_a_check_gives_are_those_that_its_row_names(self) -> None:
        seen: dict[str, set[str]] = {code: set() for code in CODES}
        for case in boundaries.JUDGED:
            for check in observed(case.edits)["checks"]:
                seen[check["code"]].add(check["status"])
        for check in verify_answers.CHECKS:
            with self.subTest(check.code):
                named = {
                    status for status in ("fail", "insufficient_evidence", "not_checked") if status in check.otherwise
                }
                if check.needs:
                    named.add("not_checked")
                if check.code == "claim_metric":  # the format admits no other metric in this version
                    named = set()
                self.assertEqual(seen[check.code], {"pass", *named})

    def test_no_judgment_without_a_report_of_every_check(self) -> None:
        reports = verify_answers.run_checks(baseline()["cases"][0], baseline()["questionContract"])
        self.assertEqual(verify_answers.judge(reports), "pass")
        for bad in (reports[:-1], [*reports, reports[0]], reports[::-1], []):
            with self.assertRaisesRegex(RuntimeError, "^a judgment needs one report of every check$"):
                verify_answers.judge(bad)

    def test_claim_metric_fails_where_another_format_would_admit_another_metric(self) -> None:
        case = edited(baseline(), {"claim.metric": "other"})["cases"][0]
        report = verify_answers.run_checks(case, baseline()["questionContract"])[2]
        self.assertEqual(report["message"], 'The claim has metric "other"; the question needs "paid_invoice_total".')
        self.assertEqual(report["status"], "fail")


F_SETPIPE_SZ = 1031  # Linux; the module fcntl has its name from Python 3.10 on
OBSERVED_TWO = "fail [claim_unit, claim_value]"


class Outputs(unittest.TestCase):
    def test_the_observed_document(self) -> None:
        run = run_on(as_bytes(baseline()))
        document = json.loads(run.out)
        self.assertEqual(list(document), ["schemaVersion", "fixtureSetId", "summary", "results"])
        self.assertEqual(document["summary"], {"total": 1, "pass": 1, "fail": 0, "insufficient_evidence": 0})
        self.assertEqual(list(document["summary"]), ["total", "pass", "fail", "insufficient_evidence"])
        self.assertEqual(list(document["results"][0]), ["id", "judgment", "checks", "reasons"])
        self.assertEqual({tuple(check) for check in document["results"][0]["checks"]}, {("code", "status", "message")})
        self.assertEqual(run.out, json.dumps(document, indent=2) + "\n")
        failing = json.loads(run_on(as_bytes(edited(baseline(), {"claim.value": 1}))).out)["results"][0]
        self.assertEqual({tuple(reason) for reason in failing["reasons"]}, {("code", "message")})

    def test_text(self) -> None:
        document = baseline()
        first = document["cases"][0]
        document["cases"] += [
            {**edited(document, {"claim.value": 1, "claim.unit": "major"})["cases"][0], "id": "b"},
            {**edited(document, {"evidence.queryId": None})["cases"][0], "id": "a-case-of-a-longer-name"},
        ]
        self.assertEqual(first["id"], "complete-answer")
        run = run_on(as_bytes(document), None, "--format", "text")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(
            run.out,
            "complete-answer          pass\n"
            "b                        fail                   claim_unit, claim_value\n"
            '    The claim has unit "major"; the question needs "minor".\n'
            "    The claim says 1; the 2 qualifying rows total 500000 USD minor units.\n"
            "a-case-of-a-longer-name  insufficient_evidence  query_reference\n"
            "    The evidence has no queryId by which its query could be found.\n"
            "3 cases: 1 pass, 1 fail, 1 insufficient_evidence\n",
        )

    def test_junit_without_expectations(self) -> None:
        document = baseline()
        document["cases"] += [
            {**edited(document, {"claim.value": 1, "claim.accountId": "b"})["cases"][0], "id": "b"},
            {**edited(document, {"evidence.queryId": None})["cases"][0], "id": "c"},
        ]
        run = run_on(as_bytes(document), None, "--format", "junit")
        self.assertEqual((run.status, run.err), (0, ""))
        name = "business-answer-verification-v1"
        self.assertEqual(
            run.out,
            "<?xml version='1.0' encoding='us-ascii'?>\n"
            '<testsuites tests="3" failures="2" errors="0" skipped="0">\n'
            f'  <testsuite name="{name}" tests="3" failures="2" errors="0" skipped="0">\n'
            f'    <testcase classname="{name}" name="complete-answer" />\n'
            f'    <testcase classname="{name}" name="b">\n'
            '      <failure type="fail" message="claim_account, claim_value">'
            'claim_account: The claim has accountId "b"; the question needs "account-acme".\n'
            "claim_value: The claim says 1; the 2 qualifying rows total 500000 USD minor units.</failure>\n"
            "    </testcase>\n"
            f'    <testcase classname="{name}" name="c">\n'
            '      <failure type="insufficient_evidence" message="query_reference">'
            "query_reference: The evidence has no queryId by which its query could be found.</failure>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n",
        )

    def test_junit_with_expectations(self) -> None:
        document = edited(baseline(), {"claim.value": 1})
        document["cases"].append({**baseline()["cases"][0], "id": "b"})
        results = [
            {"id": "complete-answer", "judgment": "fail", "reasonCodes": ["claim_value"], "explanation": "x"},
            {"id": "b", "judgment": "insufficient_evidence", "reasonCodes": ["population"], "explanation": "x"},
        ]
        expected = {"schemaVersion": "1.0.0", "fixtureSetId": document["fixtureSetId"], "results": results}
        run = run_on(as_bytes(document), as_bytes(expected), "--format", "junit")
        sides = "expected insufficient_evidence [population], observed pass []"
        self.assertEqual(run.status, 1)
        self.assertEqual(run.err.splitlines()[0], f"b: {sides}")
        root = ElementTree.fromstring(run.out)
        self.assertEqual(root.attrib, {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"})
        cases = {case.attrib["name"]: [(failure.attrib, failure.text) for failure in case] for case in root[0]}
        self.assertEqual(cases, {"complete-answer": [], "b": [({"type": "different", "message": sides}, sides)]})

    def test_junit_of_hostile_labels(self) -> None:
        label = "<\x00\x1b&\"'>]]>\u202e"
        claims = [{"evidenceId": "invoice-001", "field": "status", "value": label}]
        run = run_on(as_bytes(edited(baseline(), {"claim.recordClaims": claims})), None, "--format", "junit")
        failure = ElementTree.fromstring(run.out)[0][0][0]
        shown = json.dumps(label)
        message = f'The claim says that status of "invoice-001" is {shown}; its row says "paid".'
        self.assertEqual(failure.text, f"record_claims: {message}")
        self.assertRegex(run.out, r"^[\x20-\x7e\n]*$")

    def test_differences_show_both_sides(self) -> None:
        long = [f"reason-{number:03d}" for number in range(100)]
        most = [
            *long[:40],
            "r" * (600 - len(f"complete-answer: expected fail [{', '.join(long[:40])}, ], observed {OBSERVED_TWO}")),
        ]
        cases: list[tuple[str, list[str], str, str]] = [
            ("pass", [], "pass []", OBSERVED_TWO),
            ("fail", ["claim_value"], "fail [claim_value]", OBSERVED_TWO),
            ("fail", ["claim_value", "claim_unit"], "fail [claim_value, claim_unit]", OBSERVED_TWO),
            (
                "insufficient_evidence",
                ["claim_unit", "claim_value"],
                "insufficient_evidence [claim_unit, claim_value]",
                OBSERVED_TWO,
            ),
            ("fail", most, f"fail [{', '.join(most)}]", OBSERVED_TWO),
            ("fail", [*most[:-1], most[-1] + "r"], "fail [reason-000, reason-001, 39 more]", OBSERVED_TWO),
            (
                "fail",
                ["claim_unit", *long],
                "fail [1 the same, reason-000, reason-001, 98 more]",
                "fail [1 the same, claim_value]",
            ),
            (
                "fail",
                ["claim_unit", "claim_value", *long],
                "fail [2 the same, reason-000, reason-001, 98 more]",
                "fail [2 the same]",
            ),
        ]
        document = edited(baseline(), {"claim.value": 1, "claim.unit": "major"})
        for judgment, reasons, wanted, found in cases:
            with self.subTest(wanted):
                result = {"id": "complete-answer", "judgment": judgment, "reasonCodes": reasons, "explanation": "x"}
                expected = {"schemaVersion": "1.0.0", "fixtureSetId": document["fixtureSetId"], "results": [result]}
                run = run_on(as_bytes(document), as_bytes(expected))
                self.assertEqual(run.status, 1)
                difference, summary = run.err.splitlines()
                self.assertEqual(difference, f"complete-answer: expected {wanted}, observed {found}")
                self.assertEqual(summary, "1 cases: 0 pass, 1 fail, 0 insufficient_evidence; 0 of 1 as expected")
                self.assertLessEqual(len(difference), 600)
                self.assertEqual(run.out, run_on(as_bytes(document)).out)

    def test_matching_expectations(self) -> None:
        document = edited(baseline(), {"claim.value": 1, "claim.unit": "major"})
        result = {
            "id": "complete-answer",
            "judgment": "fail",
            "reasonCodes": ["claim_unit", "claim_value"],
            "explanation": "x",
        }
        expected = {"schemaVersion": "1.0.0", "fixtureSetId": document["fixtureSetId"], "results": [result]}
        run = run_on(as_bytes(document), as_bytes(expected), "--format", "text")
        self.assertEqual(run.status, 0)
        self.assertEqual(run.err, "1 cases: 0 pass, 1 fail, 0 insufficient_evidence; 1 of 1 as expected\n")


class Problems(unittest.TestCase):
    def test_twenty_problems_and_one_more(self) -> None:
        for count, tail in ((20, []), (21, ["... and 1 more"]), (256, ["... and 236 more"])):
            with self.subTest(count):
                run = run_on(as_bytes(edited(baseline(), {"claim.evidenceIds": [f"X{n}" for n in range(count)]})))
                self.assertEqual((run.status, run.out), (2, ""))
                lines = [
                    f'verify_answers: CASES: cases[0].claim.evidenceIds[{n}]: {boundaries.ID}"X{n}"' for n in range(20)
                ]
                self.assertEqual(run.err.splitlines(), [*lines, *tail])

    def test_a_syntax_error_of_both_files(self) -> None:
        run = run_on(b"[1,", b"\xff")
        self.assertEqual((run.status, run.out), (2, ""))
        first, second = run.err.splitlines()
        self.assertRegex(first, r"^verify_answers: CASES: line 1 column [34]: not JSON: [\x20-\x7e]+$")
        self.assertEqual(second, "verify_answers: EXPECTED: line 1 column 1: not UTF-8")

    def test_paths_in_messages(self) -> None:
        missing = "cannot be read: No such file or directory"
        long = "d/" * 250 + "x"
        cases = [
            ("no such file", f"no such file: {missing}"),
            ('"quoted"', f'"quoted": {missing}'),
            ("", f'"": {missing}'),
            ("a\nb\x1b[31m", f'"a\\nb\\u001b[31m": {missing}'),
            ("f\u00fcr.json", f'"f\\u00fcr.json": {missing}'),
            ("\udcff.json", f'"\\udcff.json": {missing}'),
            (long, f"{long}: {missing}"),
            ("d/" * 300, f'"{"d/" * 27}d"...: {missing}'),
        ]
        for path, line in cases:
            with self.subTest(path):
                self.assertEqual(run_in_process(path), (2, "", f"verify_answers: {line}\n"))

    def test_no_line_is_longer_than_600_characters(self) -> None:
        words = ": cannot be read: No such file or directory"
        room = 600 - len("verify_answers: ") - len(words)
        for length, shown in ((room, ("d/" * room)[:room]), (room + 1, f'"{"d/" * 27}d"...')):
            run = run_in_process(("d/" * length)[:length])
            self.assertEqual(run.err, f"verify_answers: {shown}{words}\n")

    def test_a_bug_is_a_traceback_and_70(self) -> None:
        with mock.patch.object(verify_answers, "judge", side_effect=KeyError("\x1b[31m\u202e")):
            run = run_in_process(str(ROOT / "cases.json"))
        self.assertEqual((run.status, run.out), (70, ""))
        self.assertEqual(run.err.splitlines()[0], "Traceback (most recent call last):")
        self.assertEqual(run.err.splitlines()[-1], "KeyError: '\\x1b[31m\\u202e'")


class CommandLines(unittest.TestCase):
    """The program as a process of its own."""

    def test_lines_for_a_shell(self) -> None:
        runs = command_lines.run_all()
        for case in command_lines.COMMAND_LINES:
            with self.subTest(case.id):
                run = runs[case.id]
                for found, wanted in ((run.out, case.out), (run.err, case.err)):
                    if isinstance(wanted, str):
                        self.assertEqual(found, wanted)
                    self.assertTrue(command_lines.agrees(found, wanted), found)
                self.assertEqual(run.status, case.status)

    def test_help_names_every_option_and_status(self) -> None:
        words = re.findall(r"^  (\S+)", verify_answers.HELP, re.MULTILINE)
        self.assertEqual(
            words, ["CASES", "--verify", "--format", "--version", "-h,", "python3", "python3", "0", "1", "2", "70"]
        )
        for name in verify_answers.FORMATS:
            self.assertIn(name, verify_answers.HELP)
        self.assertLessEqual(max(map(len, verify_answers.HELP.splitlines())), 110)

    def test_ids_are_unique(self) -> None:
        ids = {case.id for case in command_lines.COMMAND_LINES}
        self.assertEqual(len(ids), len(command_lines.COMMAND_LINES))

    def test_a_file_that_the_user_may_not_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "locked.json")
            pathlib.Path(path).write_bytes(b"{}")
            os.chmod(path, 0)
            run = as_nobody(path) if os.geteuid() == 0 else run_in_process(path)
        self.assertEqual(run, (2, "", f"verify_answers: {path}: cannot be read: Permission denied\n"))

    def test_standard_output_that_does_not_block(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        self.assertLess(fcntl.fcntl(writer, F_SETPIPE_SZ, 4096), len(command_lines.OBSERVED))
        process = start("cases.json", stdout=writer)
        os.close(writer)
        time.sleep(0.5)  # the pipe is full by then
        with open(reader, "rb") as pipe:
            out = pipe.read()
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(out.decode("ascii"), command_lines.OBSERVED)

    def test_a_broken_pipe_where_its_signal_is_blocked(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        try:
            process = start("cases.json", stdout=writer)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPIPE})
            os.close(writer)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (141, b""))

    def test_an_interrupted_run(self) -> None:
        with interrupts(signal.default_int_handler):
            process = start("-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        self.wait_until_it_reads(process.stdin.fileno())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (-signal.SIGINT, b"", b""))

    def test_a_run_that_is_started_to_ignore_interrupts(self) -> None:
        with interrupts(signal.SIG_IGN):
            process = start("-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        self.wait_until_it_reads(process.stdin.fileno())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate((ROOT / "cases.json").read_bytes(), timeout=60)
        self.assertEqual((process.returncode, out.decode(), err), (0, command_lines.OBSERVED, b""))

    def wait_until_it_reads(self, pipe: int) -> None:
        """Write blanks until more than a pipe holds is gone, which only the program's reading explains."""
        os.set_blocking(pipe, False)
        sent, until = 0, time.monotonic() + 60
        while sent < 100_000 and time.monotonic() < until:
            try:
                sent += os.write(pipe, b" " * 4096)
            except BlockingIOError:
                time.sleep(0.001)
        os.set_blocking(pipe, True)
        self.assertGreaterEqual(sent, 100_000)


@contextlib.contextmanager
def interrupts(handler: Any) -> Iterator[None]:
    """Start processes that take interrupts, or ignore them, however this one was started."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "verify_answers.py", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, **options)


def as_nobody(path: str) -> Run:
    """What the program says of a path to a user without any rights, in a process that root forks."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            os.write(writer, repr(tuple(run_in_process(path))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return Run(*ast.literal_eval(text))


if __name__ == "__main__":
    unittest.main()
