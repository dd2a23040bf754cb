"""The README says what the program does, and its commands work where it says they do."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import verify_answers
from issuance import evidence, markers, report
from issuance.numerals.finding import find
from issuance.numerals.plain import Plain
from issuance.tracing import written
from tests import boundaries
from tests.command_lines import run_line
from tests.support import DOWNLOAD, ROOT, run_on

README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """The lines of the README that a shell is to run."""
    return [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def check_rows() -> str:
    """The table of checks, from the program's own table."""
    lines = ["| # | code | passes when | otherwise |", "| --- | --- | --- | --- |"]
    for number, check in enumerate(verify_answers.CHECKS, 1):
        needs = f"; not_checked unless {', '.join(check.needs)} passed" if check.needs else ""
        lines.append(f"| {number} | `{check.code}` | {check.holds} | {check.otherwise}{needs} |")
    return "\n".join(lines)


class Readme(unittest.TestCase):
    maxDiff = None

    def test_the_table_of_checks(self) -> None:
        begin, end = "<!-- checks: made from the table in verify_answers.py -->\n", "\n<!-- /checks -->"
        self.assertEqual(README.split(begin)[1].split(end)[0], check_rows())

    def test_the_table_of_cases(self) -> None:
        rows = re.findall(r"^\| `([a-z-]+)` \| .* \| (pass|fail|insufficient_evidence) \|(.*)\|$", README, re.MULTILINE)
        listed = [(id, judgment, re.findall(r"`(\w+)`", reasons)) for id, judgment, reasons in rows]
        expected = json.loads((ROOT / "expected.json").read_bytes())["results"]
        self.assertEqual(listed, [(result["id"], result["judgment"], result["reasonCodes"]) for result in expected])

    def test_the_first_command_in_a_folder_with_the_download_only(self) -> None:
        summary = re.search(r"```text\n(12 cases: .*\n)```", README)
        assert summary is not None
        with tempfile.TemporaryDirectory() as folder:
            for name in DOWNLOAD:
                shutil.copyfile(ROOT / name, os.path.join(folder, name))
            command = commands()[0].replace("python3", f"'{sys.executable}'", 1)
            run = subprocess.run(command, shell=True, cwd=folder, capture_output=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stdout, run.stderr.decode()), (0, b"", summary[1]))
            observed = json.loads((pathlib.Path(folder) / "observed.json").read_bytes())
        self.assertEqual(observed["summary"], {"total": 12, "pass": 1, "fail": 9, "insufficient_evidence": 2})

    def test_the_failing_transcript(self) -> None:
        transcript = re.search(r"```text\n(altered-number: .*\n12 cases: .*\n)```", README)
        assert transcript is not None
        expected = (ROOT / "expected.json").read_bytes().replace(b"claim_value", b"claim_unit")
        run = run_on((ROOT / "cases.json").read_bytes(), expected)
        self.assertEqual((run.status, run.err), (1, transcript[1]))

    def test_the_look_at_a_case(self) -> None:
        look = re.search(r"```text\n(altered-number  .*\n    .*\n)```", README)
        assert look is not None
        self.assertIn(look[1], run_on((ROOT / "cases.json").read_bytes(), None, "--format", "text").out)

    def test_the_lines_for_ci_are_those_of_a_run(self) -> None:
        lines = re.findall(r"^(?:- run: )?(python3 verify_answers\.py cases\.json --verify .*)$", README, re.MULTILINE)
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertEqual(run_line(line).status, 0, line)

    def test_the_comparison_of_hashes(self) -> None:
        line = re.search(r"^python3 -c .*$", README, re.MULTILINE)
        assert line is not None
        run = run_line(f"cd '{ROOT}'; {line[0]}")
        self.assertEqual((run.status, run.out.count("True ")), (0, 6), run)

    def test_the_format_names_every_field_of_the_baseline(self) -> None:
        table = README.split("## The format")[1].split("## Keep the question")[0]
        for path in boundaries.FIELDS:
            self.assertIn(f"`{path.rpartition('.')[2]}`", table)

    def test_the_second_command_runs_the_tests(self) -> None:
        self.assertEqual(commands()[1:], ["python3 -m unittest discover -s tests"])
        found = unittest.defaultTestLoader.discover(str(ROOT / "tests")).countTestCases()
        self.assertGreater(found, 40)

    def test_the_usage(self) -> None:
        usage = re.search(r"```text\n(python3 verify_answers.py .*\n)(python3 .*\n)```", README)
        assert usage is not None
        self.assertTrue(verify_answers.HELP.startswith(f"usage: {usage[1]}       {usage[2]}\n"))

    def test_the_message(self) -> None:
        message = re.search(r"for the file `\[\]` it is\n`([^`]*)`\.", README)
        assert message is not None
        self.assertEqual(run_on(b"[]").err.replace("CASES", "cases.json"), f"{message[1]}\n")


def block(name: str) -> str:
    """The text block of the README that has this name in a comment before it."""
    found = re.search(rf"<!-- {re.escape(name)} -->\n```text\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1]


class Issuance(unittest.TestCase):
    maxDiff = None

    def test_the_transcripts_of_the_example_in_a_folder_with_the_package_only(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "issuance", os.path.join(folder, "issuance"))
            shutil.copy(ROOT / "answer_format.py", folder)
            for name, status in (("issue", 0), ("withheld", 1), ("verify", 0), ("cited", 0), ("bundle", 0)):
                command, _, expected = block(name).partition("\n")
                if name == "bundle":
                    for line in re.findall(r"^python3 (-m issuance export .*)$", README, re.MULTILINE):
                        subprocess.run([sys.executable, *line.split()], cwd=folder, timeout=60, check=True)
                run = subprocess.run(
                    [sys.executable, *command.split()[2:]],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                out = re.sub("[0-9]{8}-[0-9]{6}-[0-9]{6}-[0-9a-f]{8}", "RUN", run.stdout)
                out = re.sub("[0-9a-f]{64}", "SEAL", out)
                self.assertEqual((run.returncode, out, run.stderr), (status, expected, ""))

    def test_the_draft_that_is_shown_is_that_of_the_example(self) -> None:
        self.assertIn(block("draft"), (ROOT / "issuance/example/cited.md").read_text(encoding="utf-8"))

    def test_the_markers_and_violations_that_are_listed_are_those_there_are(self) -> None:
        section = README.split("### A cited report")[1].split("### The tiers")[0]
        kinds = re.findall(r"^\| (?:`|<code>)\[\[([a-z]+):", section, re.MULTILINE)
        self.assertEqual([*kinds[:4], *kinds[4:5], "c", *kinds[5:]], list(markers.READERS))
        listed = [kind for row in re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|", section, re.MULTILINE) for kind in re.findall(r"[a-z_]+", row)]
        named = {value for module in (evidence, report) for name, value in vars(module).items() if name.isupper() and isinstance(value, str) and re.fullmatch("[a-z]+_[a-z]+|unresolved|contradiction", value)}
        self.assertEqual(set(listed), named)

    def test_the_metric_that_is_shown_is_one_of_the_example(self) -> None:
        shown = re.search(r'```text\n(\{"id": "week_on_week".*?)```', README, re.DOTALL)
        assert shown is not None
        card = json.loads((ROOT / "issuance/example/cards/weekly-sales@2.json").read_text(encoding="utf-8"))
        self.assertIn(json.loads(shown[1]), card["metrics"])


class NumbersInProse(unittest.TestCase):
    maxDiff = None

    def test_the_transcript(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("report.md", "metrics.json"):
                pathlib.Path(folder, name).write_text(block(name), encoding="utf-8")
            command = re.search(r"`python3 -m (issuance trace [^`]*--format text)` prints", README)
            assert command is not None
            run = subprocess.run(
                [sys.executable, "-m", *command[1].split()],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                timeout=60,
                check=False,
            )
        self.assertEqual((run.returncode, run.stdout.decode(), run.stderr), (1, block("trace"), b""))

    def test_every_example_of_a_number_is_found_whole(self) -> None:
        examples = re.findall(r"`([^`]+)`", README.split("- **Found**")[1].split("Week 37")[0])
        self.assertGreater(len(examples), 12)
        for example in examples:
            found = [one.text for one in find(Plain(example))]
            self.assertEqual("".join(found), re.sub(r"^\$|(?<=5)-(?=20)", "", example), example)

    def test_the_examples_of_precision(self) -> None:
        for number, low, high in (("12.3", "12.25", "12.35"), ("3.5万", "34500", "35500")):
            (one,) = find(Plain(number))
            self.assertEqual((written(one.low), written(one.high)), (low, high))
            self.assertIn(f"`{number}` stands for", README)
        self.assertFalse(find(Plain("1,200"))[0].high >= 1204)
        self.assertTrue(find(Plain("1.2k"))[0].high >= 1204)


class Published(unittest.TestCase):
    def test_the_top_level_is_what_it_should_be(self) -> None:
        allowed = {
            *DOWNLOAD,
            "observed.json",
            "run-metadata.json",
            "validation-results.json",
            "tests",
            "issuance",
            "README.md",
            "LICENSE",
        }
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
        if names.returncode != 0:
            print("\nnot run: the names at the top level, since this is no checkout", file=sys.stderr)
            return
        tops = {name.split("/")[0] for name in names.stdout.splitlines()}
        self.assertEqual({name for name in tops - allowed if not name.startswith(".")}, set())

    def test_the_twelve_cases_differ_from_the_first_as_the_readme_says(self) -> None:
        cases = json.loads((ROOT / "cases.json").read_bytes())["cases"]
        changed = {case["id"]: sorted(differing(cases[0], case)) for case in cases}
        self.assertEqual(
            changed,
            {
                "complete-answer": [],
                "wrong-account": ["evidence.accountId", "evidence.rows[0].accountId", "evidence.rows[1].accountId"],
                "missing-dataset": ["claim.evidenceIds", "claim.recordClaims", "evidence.datasetIds", "evidence.rows"],
                "wrong-window": [f"claim.interval.{name}" for name in ("endExclusive", "start", "timezone")],
                "altered-number": ["claim.value"],
                "wrong-currency-unit": ["claim.currency", "claim.unit"],
                "stale-source": ["evidence.lastSuccessAt"],
                "truncated-population": ["evidence.truncated"],
                "access-error-zero": [
                    "claim.evidenceIds",
                    "claim.recordClaims",
                    "claim.value",
                    "evidence.outcome",
                    "evidence.rows",
                ],
                "missing-citation": ["claim.evidenceIds"],
                "contradictory-citation": ["claim.recordClaims[1].value"],
                "missing-metadata": ["evidence.coverage", "evidence.lastSuccessAt", "evidence.truncated"],
            },
        )


def differing(first: object, second: object, path: str = "") -> list[str]:
    """The paths at which two cases differ, their labels aside."""
    if isinstance(first, dict) and isinstance(second, dict):
        names = [name for name in first if path or name not in ("id", "title", "question", "answer")]
        return [found for name in names for found in differing(first[name], second[name], f"{path}.{name}".lstrip("."))]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second))
        return [found for index, pair in pairs for found in differing(*pair, f"{path}[{index}]")]
    return [] if first == second else [path]


if __name__ == "__main__":
    unittest.main()
