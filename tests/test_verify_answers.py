"""The runner: what each check finds, how judgments follow, and what the command line does."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

import verify_answers
from tests import boundaries
from tests.support import ROOT, as_bytes, baseline, edited, run_alone, run_in_process, run_on

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
    "The source committed no later than the clock, and not longer before it than allowed.",
    "The source committed when the question's interval was over.",
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

    def test_differences_show_both_sides(self) -> None:
        long = [f"reason-{number:03d}" for number in range(100)]
        cases: list[tuple[str, list[str], str]] = [
            ("pass", [], "pass []"),
            ("fail", ["claim_value"], "fail [claim_value]"),
            ("fail", ["claim_value", "claim_unit"], "fail [claim_value, claim_unit]"),
            ("insufficient_evidence", ["claim_unit", "claim_value"], "insufficient_evidence [claim_unit, claim_value]"),
            ("fail", long, f"fail [{', '.join(long[:16])} and 84 more]"),
            ("fail", ["x" * 80, "y" * 80, "z" * 80], f"fail [{'x' * 80}, {'y' * 80} and 1 more]"),
        ]
        document = edited(baseline(), {"claim.value": 1, "claim.unit": "major"})
        for judgment, reasons, shown in cases:
            with self.subTest(shown):
                result = {"id": "complete-answer", "judgment": judgment, "reasonCodes": reasons, "explanation": "x"}
                expected = {"schemaVersion": "1.0.0", "fixtureSetId": document["fixtureSetId"], "results": [result]}
                run = run_on(as_bytes(document), as_bytes(expected))
                self.assertEqual(run.status, 1)
                self.assertEqual(
                    run.err,
                    f"complete-answer: expected {shown}, observed fail [claim_unit, claim_value]\n"
                    "1 cases: 0 pass, 1 fail, 0 insufficient_evidence; 0 of 1 as expected\n",
                )
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
        for length in (500, 535, 536, 537, 538, 560, 700):
            line = run_in_process("x/" * (length // 2) + "y" * (length % 2)).err
            self.assertLessEqual(len(line.rstrip("\n")), 600, length)
            self.assertTrue(line.endswith(": cannot be read: No such file or directory\n"), line)

    def test_usage(self) -> None:
        help = "(--help explains the options)"
        cases = [
            (["cases.json", "--frobnicate"], f'unknown argument "--frobnicate" {help}'),
            (["cases.json", "other.json\x1b"], f'unknown argument "other.json\\u001b" {help}'),
            (["cases.json", "--veri", "x"], f'unknown argument "--veri" {help}'),
            (["--format", "xml\u202e"], f'argument --format: must be json or text, not "xml\\u202e" {help}'),
            (["--format="], f'argument --format: must be json or text, not "" {help}'),
            (["--verify", "expected.json"], f"argument --verify: needs CASES too {help}"),
            (["-", "--verify", "-"], f"argument --verify: standard input is CASES already {help}"),
            (["cases.json", "--verify"], f"argument --verify: expected one argument {help}"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments):
                self.assertEqual(run_in_process(*arguments), (2, "", f"verify_answers: {message}\n"))

    def test_usage_messages_of_argparse_are_one_safe_line(self) -> None:
        status, out, err = run_in_process("--help=\x1b\n\u202e\u00e9" + "x" * 5000)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(
            err, r"^verify_answers: argument -h/--help: ignored explicit argument [\x20-\x7e\u202e\u00e9]*\n$"
        )
        self.assertEqual(len(err), 601)

    def test_a_bug_is_a_traceback_and_70(self) -> None:
        with mock.patch.object(verify_answers, "judge", side_effect=KeyError("\x1b[31m\u202e")):
            run = run_in_process(str(ROOT / "cases.json"))
        self.assertEqual((run.status, run.out), (70, ""))
        self.assertEqual(run.err.splitlines()[0], "Traceback (most recent call last):")
        self.assertEqual(run.err.splitlines()[-1], "KeyError: '\\x1b[31m\\u202e'")


class CommandLine(unittest.TestCase):
    """The program as a process of its own."""

    def test_help_and_version(self) -> None:
        run = run_alone("--help")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        for words in (
            b"usage: verify_answers.py",
            b"--verify EXPECTED",
            b"--format FORMAT",
            b"exit status:",
            b"examples:",
        ):
            self.assertIn(words, run.stdout)
        self.assertEqual(run_alone("-h").stdout, run.stdout)
        run = run_alone("--version")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, b"verify_answers 1.0.0\n", b""))

    def test_cases_beside_the_program_are_the_default(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = run_alone(cwd=folder)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertEqual(run.stdout, run_alone(str(ROOT / "cases.json")).stdout)

    def test_standard_input(self) -> None:
        cases, expected = ((ROOT / name).read_bytes() for name in ("cases.json", "expected.json"))
        summary = b"12 cases: 1 pass, 9 fail, 2 insufficient_evidence; 12 of 12 as expected\n"
        for arguments, data in (
            (["-", "--verify", str(ROOT / "expected.json")], cases),
            ([str(ROOT / "cases.json"), "--verify", "-"], expected),
        ):
            run = run_alone(*arguments, input=data, stdin=None)
            self.assertEqual((run.returncode, run.stderr), (0, summary))
        run = run_alone("-", input=b"{", stdin=None)
        self.assertEqual((run.returncode, run.stdout), (2, b""))
        self.assertRegex(run.stderr, rb"^verify_answers: -: line 1 column 2: not JSON: [ -~]+\n$")

    def test_files_that_cannot_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run = run_alone(folder)
            self.assertEqual(run.stderr, f"verify_answers: {folder}: cannot be read: Is a directory\n".encode())
            self.assertEqual((run.returncode, run.stdout), (2, b""))
            locked = os.path.join(folder, "locked.json")
            pathlib.Path(locked).write_bytes(b"{}")
            os.chmod(locked, 0)
            if os.access(locked, os.R_OK):
                print("\nnot run: an unreadable file, which this user can read all the same", file=sys.stderr)
            else:
                run = run_alone(locked)
                self.assertEqual(run.stderr, f"verify_answers: {locked}: cannot be read: Permission denied\n".encode())
                self.assertEqual((run.returncode, run.stdout), (2, b""))
            os.chmod(locked, stat.S_IRWXU)

    def test_standard_output_that_cannot_be_written(self) -> None:
        for arguments in (
            [],
            ["--help"],
            ["--version"],
            [str(ROOT / "cases.json"), "--verify", str(ROOT / "expected.json")],
        ):
            with self.subTest(arguments):
                with open("/dev/full", "wb") as full:
                    run = run_alone(*arguments, stdout=full)
                self.assertEqual(run.returncode, 2)
                self.assertEqual(
                    run.stderr, b"verify_answers: standard output: cannot be written: No space left on device\n"
                )
                run = run_alone(*arguments, preexec_fn=lambda: os.close(1))
                self.assertEqual(run.returncode, 2)
                self.assertEqual(
                    run.stderr, b"verify_answers: standard output: cannot be written: Bad file descriptor\n"
                )

    def test_standard_error_that_cannot_be_written_changes_nothing(self) -> None:
        published = (str(ROOT / "cases.json"), "--verify", str(ROOT / "expected.json"))
        for arguments, status in ((published, 0), (("nothing.json",), 2), (("--nonsense",), 2)):
            with self.subTest(arguments):
                usual = run_alone(*arguments)
                self.assertEqual(usual.returncode, status)
                run = run_alone(*arguments, preexec_fn=lambda: os.close(2))
                self.assertEqual((run.returncode, run.stdout), (status, usual.stdout))
                with open("/dev/full", "wb") as full:
                    run = run_alone(*arguments, stderr=full)
                self.assertEqual((run.returncode, run.stdout), (status, usual.stdout))

    def test_a_reader_that_goes_away(self) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        run = run_alone(stdout=writer)
        os.close(writer)
        self.assertEqual((run.returncode, run.stderr), (-signal.SIGPIPE, b""))

    def test_an_interrupted_run(self) -> None:
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "verify_answers.py"), "-"],
            stdin=reader,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.close(reader)
        # A full pipe that drains shows that the program reads, and so that it is past its start.
        os.set_blocking(writer, False)
        sent = 0
        while sent < 200_000:
            try:
                sent += os.write(writer, b" " * 4096)
            except BlockingIOError:
                pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        os.close(writer)
        self.assertEqual((process.returncode, out, err), (-signal.SIGINT, b"", b""))


if __name__ == "__main__":
    unittest.main()
