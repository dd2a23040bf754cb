"""Random inputs from a seed: valid files against a naive judge, and broken bytes against the rules of output.

The judge below is written from the contract's page alone, a step at a time and in no way like the program, so
that the two can disagree. What a seed gives is the same everywhere: so many files and so many broken ones, and more only where
GENERATED_SECONDS in the environment asks for them.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import re
import time
import unittest
from typing import Any

from tests import boundaries
from tests.support import as_bytes, baseline, edited, run_on

SECONDS = float(os.environ.get("GENERATED_SECONDS", "0"))
SEED = int(os.environ.get("GENERATED_SEED", "20260910"))
if "GENERATED_SEED" in os.environ:
    print(f"generated cases from seed {SEED}, {SECONDS:g} seconds a test")


def naive_statuses(question: dict[str, Any], case: dict[str, Any]) -> dict[str, str]:
    """The status of each of the 22 checks, by the page's table from top to bottom."""
    evidence, claim = case["evidence"], case["claim"]
    status: dict[str, str] = {}

    def say(code: str, holds: bool, otherwise: str = "fail") -> None:
        status[code] = "pass" if holds else otherwise

    def when(text: str) -> datetime.datetime:
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")

    asked_start, asked_end = when(question["interval"]["start"]), when(question["interval"]["endExclusive"])
    complete = claim["population"] == "complete"
    by_claim = "fail" if complete else "insufficient_evidence"

    say("evidence_account", evidence["accountId"] == question["accountId"])
    say("claim_account", claim["accountId"] == question["accountId"])
    say("claim_metric", claim["metric"] == question["metric"])
    missing = [name for name in question["requiredDatasetIds"] if evidence["datasetIds"].count(name) == 0]
    say("required_datasets", missing == [], "insufficient_evidence")
    for side, part in (("evidence", evidence), ("claim", claim)):
        same = when(part["interval"]["start"]) == asked_start and when(part["interval"]["endExclusive"]) == asked_end
        say(f"{side}_interval", same)
        say(f"{side}_timezone", part["interval"]["timezone"] == question["interval"]["timezone"])
    say("claim_currency", claim["currency"] == question["currency"])
    say("claim_unit", claim["unit"] == question["unit"])
    if evidence["lastSuccessAt"] is None:
        status["source_freshness"] = "insufficient_evidence"
        status["interval_closed"] = "not_checked"
    else:
        committed = when(evidence["lastSuccessAt"])
        age = (when(question["asOf"]) - committed).total_seconds()
        say("source_freshness", 0 <= age <= question["maxSourceAgeSeconds"])
        say("interval_closed", not committed < asked_end, by_claim)
    say("evidence_coverage", evidence["coverage"] == "complete", "insufficient_evidence")
    if evidence["truncated"] is None:
        status["result_truncation"] = "insufficient_evidence"
    else:
        say("result_truncation", not evidence["truncated"], by_claim)
    say("population", complete, "insufficient_evidence")
    say("query_outcome", evidence["outcome"] == "success")
    say("query_reference", evidence["queryId"] is not None, "insufficient_evidence")
    in_scope = True
    for row in evidence["rows"]:
        in_scope = in_scope and row["accountId"] == evidence["accountId"]
        in_scope = in_scope and row["datasetId"] in evidence["datasetIds"]
        in_scope = in_scope and row["currency"] == question["currency"] and row["unit"] == question["unit"]
    say("row_scope", in_scope)
    known = [row["id"] for row in evidence["rows"]]
    resolved = True
    for name in claim["evidenceIds"] + [record["evidenceId"] for record in claim["recordClaims"]]:
        resolved = resolved and name in known
    say("citation_resolution", resolved)
    contradicted = False
    for record in claim["recordClaims"]:
        for row in evidence["rows"]:
            if row["id"] == record["evidenceId"] and row[record["field"]] != record["value"]:
                contradicted = True
    status["record_claims"] = "fail" if contradicted else "pass" if resolved else "not_checked"
    ground = all(
        status[code] == "pass"
        for code in (
            "query_outcome",
            "required_datasets",
            "evidence_account",
            "row_scope",
            "evidence_interval",
            "evidence_timezone",
        )
    )
    total, qualifying = 0, []
    for row in evidence["rows"]:
        wanted = row["status"] == "paid" and row["datasetId"] in question["requiredDatasetIds"]
        if wanted and asked_start <= when(row["paidAt"]) < asked_end:
            total += row["value"]
            qualifying.append(row["id"])
    if not ground:
        status["cited_population"] = status["claim_value"] = "not_checked"
    else:
        say("cited_population", sorted(qualifying) == sorted(claim["evidenceIds"]))
        say("claim_value", claim["value"] == total)
        if not resolved:
            status["cited_population"] = "not_checked"
    return status


def naive_judgment(status: dict[str, str]) -> str:
    values = list(status.values())
    if values.count("fail"):
        return "fail"
    return "insufficient_evidence" if values.count("insufficient_evidence") else "pass"


CODES = """evidence_account claim_account claim_metric required_datasets evidence_interval evidence_timezone claim_interval
claim_timezone claim_currency claim_unit source_freshness interval_closed evidence_coverage result_truncation population
query_outcome query_reference row_scope citation_resolution record_claims cited_population claim_value"""
ORDER = re.findall("[a-z_]+", CODES)


class Generator:
    """Valid files: an answer that would pass, then some independent faults in any of its fields."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def moment(self, near: str) -> str:
        """A timestamp at, just beside or anywhere around another one."""
        base = datetime.datetime.strptime(near, "%Y-%m-%dT%H:%M:%SZ")
        offset = self.random.choice([0, 0, -1, 1, -86400, 86400, self.random.randrange(-(10**7), 10**7)])
        return (base + datetime.timedelta(seconds=offset)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def interval(self, near: dict[str, str]) -> dict[str, str]:
        start, end = sorted([self.moment(near["start"]), self.moment(near["endExclusive"])])
        zone = self.random.choice(["UTC", "UTC", "Etc/UTC", "America/New_York"])
        return {"start": start, "endExclusive": end, "timezone": zone} if start < end else near

    def question(self) -> dict[str, Any]:
        question: dict[str, Any] = baseline()["questionContract"]
        question["requiredDatasetIds"] = self.random.choice([["paid-invoices"], ["paid-invoices", "card"], ["card"]])
        question["maxSourceAgeSeconds"] = self.random.choice([0, 1, 86400, 2678400])
        question["asOf"] = self.moment(self.random.choice([question["asOf"], question["interval"]["endExclusive"]]))
        return question

    def case(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        """An answer that passes, of up to six rows, with up to four faults."""
        choice, rows = self.random.choice, []
        for number in range(self.random.randrange(7)):
            row = dict(baseline()["cases"][0]["evidence"]["rows"][0], id=f"row-{number}", value=choice([0, 1, 250000]))
            row["datasetId"] = choice(question["requiredDatasetIds"])
            row["paidAt"] = choice([question["interval"]["start"], "2026-08-15T00:00:00Z", "2026-08-31T23:59:59Z"])
            rows.append(row)
        committed = max(question["asOf"], question["interval"]["endExclusive"]) if choice([0, 1]) else question["asOf"]
        datasets = [*question["requiredDatasetIds"], "extra"]
        case = edited(
            baseline(),
            {
                "id": name,
                "evidence.rows": rows,
                "evidence.datasetIds": datasets,
                "evidence.lastSuccessAt": committed,
                "claim.value": sum(row["value"] for row in rows),
                "claim.evidenceIds": [row["id"] for row in rows],
                "claim.recordClaims": [],
            },
        )["cases"][0]
        for _ in range(choice([0, 1, 1, 2, 3, 4])):
            self.fault(case, question)
        self.random.shuffle(case["evidence"]["rows"])
        found: dict[str, Any] = case
        return found

    def fault(self, case: dict[str, Any], question: dict[str, Any]) -> None:
        """Change one field; the change may also leave everything as it should be."""
        choice, evidence, claim, rows = self.random.choice, case["evidence"], case["claim"], case["evidence"]["rows"]
        kinds = ["evidence", "claim", "row", "citations", "records"]
        kind = choice(kinds)
        if kind == "evidence":
            values: dict[str, list[Any]] = {
                "accountId": ["account-b", "account-acme"],
                "datasetIds": [[], ["card"], ["paid-invoices"], ["card", "paid-invoices"]],
                "queryId": [None],
                "outcome": ["access_denied", "error"],
                "interval": [self.interval(question["interval"])],
                "lastSuccessAt": [
                    None,
                    self.moment(question["asOf"]),
                    self.moment(question["interval"]["endExclusive"]),
                ],
                "coverage": ["partial", "unknown"],
                "truncated": [None, True],
            }
            name = choice(list(values))
            evidence[name] = choice(values[name])
        elif kind == "claim":
            values = {
                "accountId": ["account-b"],
                "interval": [self.interval(question["interval"])],
                "currency": ["EUR"],
                "unit": ["major"],
                "value": [0, min(claim["value"] + 1, 2**53 - 1), max(0, claim["value"] - 1), 2**53 - 1],
                "population": ["partial"],
            }
            name = choice(list(values))
            claim[name] = choice(values[name])
        elif kind == "row" and rows:
            values = {
                "accountId": ["account-b"],
                "datasetId": ["extra", "card", "paid-invoices", "unqueried"],
                "paidAt": [
                    self.moment(question["interval"]["start"]),
                    self.moment(question["interval"]["endExclusive"]),
                ],
                "status": ["open", "void"],
                "currency": ["EUR"],
                "unit": ["major"],
                "value": [0, 7],
            }
            name = choice(list(values))
            choice(rows)[name] = choice(values[name])
        elif kind == "citations":
            ids = claim["evidenceIds"]
            if ids and choice([0, 1]):
                ids.remove(choice(ids))
            elif "row-9" not in ids:
                ids.append("row-9")
            self.random.shuffle(ids)
        elif kind == "records":
            row = choice([*rows, {"id": "row-8", "status": "paid", "currency": "USD", "accountId": "account-acme"}])
            field = choice(["status", "currency", "accountId"])
            if all((old["evidenceId"], old["field"]) != (row["id"], field) for old in claim["recordClaims"]):
                value = choice([row[field], row[field], "open"])
                claim["recordClaims"].append({"evidenceId": row["id"], "field": field, "value": value})

    def document(self) -> dict[str, Any]:
        question = self.question()
        cases = [self.case(f"case-{number}", question) for number in range(16)]
        return {**baseline(), "questionContract": question, "cases": cases}

    def mutated(self, data: bytes) -> bytes:
        """The bytes with a few of them flipped, cut, inserted, repeated or nested."""
        pieces = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"NaN", b"-0", b"1.5", b"1e9", b"9" * 30, b"null", b"\xff",
                  b"\xed\xa0\x80", b"\\ud800", b"\x00", b"\x1b", b"[" * 20, b'"a":1,', b"\xef\xbb\xbf", b"true", b"{}", b"[]", b'""']  # fmt: skip
        for _ in range(self.random.choice([1, 1, 1, 2, 5])):
            at, size = self.random.randrange(len(data) + 1), self.random.choice([1, 1, 2, 10, 200])
            kind = self.random.randrange(6)
            if kind == 0 and at < len(data):
                data = data[:at] + bytes([data[at] ^ (1 << self.random.randrange(8))]) + data[at + 1 :]
            elif kind == 1:
                data = data[:at] + data[at + size :]
            elif kind == 2:
                data = data[:at] + self.random.choice(pieces) + data[at:]
            elif kind == 3:
                data = data[:at] + data[max(0, at - size) : at] + data[at:]
            else:
                data = self.value_replaced(data, pieces)
        return data

    def value_replaced(self, data: bytes, pieces: list[bytes]) -> bytes:
        """The bytes with a member or a value replaced, so that they often stay JSON."""
        found = list(re.finditer(rb'"[a-zA-Z]+": ("[^"]*"|[0-9]+|true|null|false|\[\]|\{\})', data))
        if not found:
            return data
        member = self.random.choice(found)
        new = self.random.choice(
            [member[0] + b", " + member[0], member[0].partition(b":")[0] + b": " + self.random.choice(pieces)]
        )
        return data[: member.start()] + new + data[member.end() :]


class Generated(unittest.TestCase):
    def test_the_program_and_a_naive_judge_agree(self) -> None:
        generator, until = Generator(SEED), time.monotonic() + SECONDS
        judgments: list[str] = []
        seen: set[tuple[str, str]] = set()
        while time.monotonic() < until or len(judgments) < 1280:
            document = generator.document()
            run = run_on(as_bytes(document))
            self.assertEqual((run.status, run.err), (0, ""), document)
            for case, result in zip(document["cases"], json.loads(run.out)["results"]):
                expected = naive_statuses(document["questionContract"], case)
                found = {check["code"]: check["status"] for check in result["checks"]}
                self.assertEqual(found, expected, case)
                self.assertEqual(list(found), ORDER)
                self.assertEqual(result["judgment"], naive_judgment(expected), case)
                reasons = [code for code in ORDER if expected[code] in ("fail", "insufficient_evidence")]
                self.assertEqual([reason["code"] for reason in result["reasons"]], reasons, case)
                judgments.append(result["judgment"])
                seen |= set(expected.items())
        self.assertEqual(set(judgments), {"pass", "fail", "insufficient_evidence"})
        self.assertGreater(min(judgments.count(name) for name in set(judgments)), len(judgments) // 50)
        self.assertEqual(seen, {(code, status) for code in ORDER for status in GIVEN.get(code, ["pass", "fail"])})

    def test_broken_bytes_are_judged_or_refused(self) -> None:
        generator, until = Generator(SEED), time.monotonic() + SECONDS
        statuses: list[int] = []
        data = as_bytes(edited(baseline(), {"title": "caf\u00e9"})).replace(b"caf\\u00e9", "caf\u00e9".encode())
        expected = as_bytes(boundaries.EXPECTED)
        while time.monotonic() < until or len(statuses) < 1500:
            verify = len(statuses) % 4 == 0
            broken = generator.mutated(expected if verify else data)
            run = run_on(data, broken) if verify else run_on(broken)
            statuses.append(run.status)
            lines = run.err.splitlines()
            if run.status != 2:
                self.assertIn(run.status, (0, 1) if verify else (0,), (broken, run.err))
                self.assertEqual(json.loads(run.out)["summary"]["total"], 1, broken)
                self.assertEqual(len(lines), run.status + 1 if verify else 0, broken)
                continue
            self.assertEqual(run.out, "", broken)
            self.assertTrue(1 <= len(lines) <= 21, (broken, lines))
            for line in lines:
                self.assertLessEqual(len(line), 600)
                self.assertRegex(line, LINE, broken)
        self.assertLessEqual({0, 2}, set(statuses))


WEIGHED, MISSING = ["pass", "fail", "insufficient_evidence"], ["pass", "insufficient_evidence"]
GIVEN = {
    "claim_metric": ["pass"],
    "required_datasets": MISSING,
    "source_freshness": WEIGHED,
    "interval_closed": [*WEIGHED, "not_checked"],
    "evidence_coverage": MISSING,
    "result_truncation": WEIGHED,
    "population": MISSING,
    "query_reference": MISSING,
    "record_claims": ["pass", "fail", "not_checked"],
    "cited_population": ["pass", "fail", "not_checked"],
    "claim_value": ["pass", "fail", "not_checked"],
}
PLACE = r"line [0-9]+ column [0-9]+|root|[A-Za-z]+(\[[0-9]+\]|\.[A-Za-z]+)*"
LINE = rf"^(verify_answers: (CASES|EXPECTED): ({PLACE}): [\x20-\x7e]+|\.\.\. and [0-9]+ more)$"


if __name__ == "__main__":
    unittest.main()
