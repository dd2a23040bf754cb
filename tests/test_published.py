"""The published records say what the code does now, and their hashes fit the files."""

from __future__ import annotations

import hashlib
import json
import sys
import unittest

import answer_format
from tests import publish
from tests.support import DOWNLOAD, ROOT


class PublishedRecords(unittest.TestCase):
    records: publish.Records

    @classmethod
    def setUpClass(cls) -> None:
        cls.records = publish.make()

    def test_observed(self) -> None:
        self.assertEqual((ROOT / "observed.json").read_bytes(), self.records.observed)

    def test_validation_results(self) -> None:
        self.assertEqual((ROOT / "validation-results.json").read_bytes().decode(), self.records.validation.decode())

    def test_every_case_is_as_specified(self) -> None:
        results = json.loads(self.records.validation)
        self.assertEqual([case["id"] for case in results["checks"] if not case["passed"]], [])
        self.assertEqual(
            (results["total"], results["passed"], results["failed"]), (len(results["checks"]), results["total"], 0)
        )
        self.assertGreaterEqual(results["total"], 90)
        ids = [case["id"] for case in results["checks"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_metadata(self) -> None:
        """All but the times and the machine is what a run now gives, to the byte."""
        text = (ROOT / "run-metadata.json").read_bytes()
        stored, made = json.loads(text), json.loads(self.records.metadata)
        if made["expectationsFixed"] is None:
            print("\nnot run: when the expectations were fixed, since the history is not whole here", file=sys.stderr)
            made["expectationsFixed"] = stored["expectationsFixed"]
        for name in publish.OF_THE_RUN:
            made[name] = stored[name]
        self.assertEqual(text.decode("ascii"), publish.as_document(made).decode("ascii"))
        self.assertEqual(stored["expectationsFixed"]["sha256"], stored["sha256"]["expected.json"])
        self.assertEqual(stored["used"], {"packages": False, "network": False, "account": False, "model": False})
        self.assertEqual(stored["exitCode"], 0)
        self.assertTrue(stored["summary"].endswith("; 12 of 12 as expected"), stored["summary"])

    def test_the_form_of_times_and_machine(self) -> None:
        stored = json.loads((ROOT / "run-metadata.json").read_bytes())
        times = [stored["expectationsFixed"]["committedAt"], stored["startedAt"], stored["endedAt"]]
        for time in times:
            self.assertTrue(answer_format.is_timestamp(time), time)
        self.assertEqual(times, sorted(times))
        self.assertEqual(list(stored["python"]), ["version", "implementation"])
        self.assertRegex(stored["python"]["version"], r"^3\.(9|[1-9][0-9])\.[0-9]+")
        for value in (stored["python"]["implementation"], stored["system"], stored["machine"]):
            self.assertRegex(value, r"^[A-Za-z0-9_]+$")

    def test_hashes(self) -> None:
        hashes = json.loads((ROOT / "run-metadata.json").read_bytes())["sha256"]
        self.assertEqual(list(hashes), [*DOWNLOAD, "observed.json", "validation-results.json"])
        for name, value in hashes.items():
            self.assertEqual(hashlib.sha256((ROOT / name).read_bytes()).hexdigest(), value, name)


if __name__ == "__main__":
    unittest.main()
