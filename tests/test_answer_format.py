"""The format: what of the input is taken, and each refusal with its whole message."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import re
import tempfile
import threading
import unittest

import answer_format
from tests import boundaries
from tests.support import as_bytes, baseline, edited, row, run_on


def problems(data: bytes) -> list[str]:
    """The problems of a case file as "WHERE: WHAT"."""
    found = answer_format.Problems()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.json")
        pathlib.Path(path).write_bytes(data)
        answer_format.load(path, answer_format.CASE_FILE, found)
    return [": ".join(part for part in problem[1:] if part is not None) for problem in found.first]


class Documents(unittest.TestCase):
    def test_values_that_fit(self) -> None:
        for path, values in boundaries.FITTING.items():
            for name, value in values.items():
                with self.subTest(f"{path}-{name}"):
                    self.assertEqual(problems(as_bytes(edited(baseline(), {path: value}))), [])

    def test_problems_in_whole_and_in_order(self) -> None:
        for case in boundaries.REFUSED:
            with self.subTest(case.id):
                self.assertEqual(problems(as_bytes(edited(baseline(), case.edits))), case.problems)

    def test_ids_are_unique(self) -> None:
        ids = [case.id for case in boundaries.REFUSED] + [case.id for case in boundaries.REFUSED_EXPECTATIONS]
        ids += [case.id for case in boundaries.NOT_JSON + boundaries.NOT_OF_THE_FORMAT]
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_field_of_the_page_is_in_the_baseline(self) -> None:
        self.assertEqual((len(boundaries.FIELDS), len(boundaries.OBJECTS)), (68, 12))

    def test_null_is_refused_unless_the_format_says_otherwise(self) -> None:
        allowed = []
        for path in boundaries.FIELDS:
            with self.subTest(path):
                found = problems(as_bytes(edited(baseline(), {path: None})))
                if found:
                    self.assertRegex(found[0], rf"^{re.escape(path)}: must be .*, not null$")
                else:
                    allowed.append(path.rpartition(".")[2])
        self.assertEqual(allowed, ["queryId", "lastSuccessAt", "truncated"])

    def test_sixty_four_cases_and_one_more(self) -> None:
        document = baseline()
        document["cases"] = [{**document["cases"][0], "id": f"case-{number}"} for number in range(64)]
        self.assertEqual(problems(as_bytes(document)), [])
        document["cases"].append({**document["cases"][0], "id": "case-0", "title": ""})
        self.assertEqual(
            problems(as_bytes(document)),
            ["cases: must have 1 to 64 items, not 65"],
        )

    def test_arrays_of_the_largest_length(self) -> None:
        ids = boundaries.ids(256)
        rows = [row(id, value=0) for id in ids]
        claims = [{"evidenceId": id, "field": "status", "value": "x"} for id in ids]
        edits = {
            "evidence.datasetIds": ids,
            "evidence.rows": rows,
            "claim.evidenceIds": ids,
            "claim.recordClaims": claims,
        }
        self.assertEqual(
            problems(as_bytes(edited(baseline(), {**edits, "questionContract.requiredDatasetIds": ids}))), []
        )

    def test_order_of_fields_does_not_matter(self) -> None:
        self.assertEqual(problems(json.dumps(baseline(), sort_keys=True).encode()), [])

    def test_problems_in_a_repeated_field_are_those_of_its_last_value(self) -> None:
        data = boundaries.replaced('"value": 500000,', '"value": -1, "value": -2,')
        self.assertEqual(
            problems(data),
            [
                "cases[0].claim.value: must stand once in its object, not 2 times",
                f"cases[0].claim.value: {boundaries.AMOUNT}-2",
            ],
        )

    def test_rules_across_fields_see_the_last_value_of_a_repeated_field(self) -> None:
        data = boundaries.replaced('"start": "2026', '"start": 1, "start": "2027')
        self.assertEqual(
            problems(data),
            [
                "questionContract.interval.start: must stand once in its object, not 2 times",
                'questionContract.interval.endExclusive: must be later than start, not "2026-09-01T00:00:00Z"',
            ],
        )


class ReadingJson(unittest.TestCase):
    def test_what_is_no_json_is_refused_with_line_and_column(self) -> None:
        for case in boundaries.NOT_JSON:
            with self.subTest(case.id):
                found = problems(case.data)
                self.assertEqual(len(found), 1, found)
                self.assertEqual(found[0][: len(case.problem)], case.problem)
                self.assertRegex(found[0][len(case.problem) :], r"^(: not JSON: [A-Z][\x20-\x7e]+)?$")

    def test_what_is_json_and_not_of_the_format(self) -> None:
        for case in boundaries.NOT_OF_THE_FORMAT:
            with self.subTest(case.id):
                self.assertEqual(problems(case.data)[0], case.problem)

    def test_size(self) -> None:
        data = as_bytes(baseline())
        room = answer_format.MAX_BYTES - len(data)
        self.assertEqual(problems(data + b" " * room), [])
        self.assertEqual(problems(data + b" " * (room + 1)), ["is larger than 524288 bytes"])
        self.assertEqual(problems(b"[" * (answer_format.MAX_BYTES + 1)), ["is larger than 524288 bytes"])

    def test_values_come_as_they_are(self) -> None:
        text = '{"a": [1, -2, true, null, "\\ud83d\\ude00 \\u0041"], "b": {}, "c": 9007199254740993}'
        found = answer_format.parse_json(text.encode())
        self.assertEqual(found, {"a": [1, -2, True, None, "\U0001f600 A"], "b": {}, "c": 9007199254740993})

    def test_no_more_than_the_largest_size_and_a_byte_is_read(self) -> None:
        reader, writer = os.pipe()
        size = 3 * answer_format.MAX_BYTES
        left: list[int] = []

        def feed() -> None:
            with open(writer, "wb", buffering=0) as pipe:
                try:
                    sent = 0
                    while sent < size:
                        sent += pipe.write(b" " * min(4096, size - sent)) or 0
                except BrokenPipeError:
                    pass

        thread = threading.Thread(target=feed)
        thread.start()
        try:
            with self.assertRaises(answer_format.Unreadable) as caught:
                answer_format.read_bytes(f"/dev/fd/{reader}")
            self.assertEqual(caught.exception.args, (None, "is larger than 524288 bytes"))
            while chunk := os.read(reader, 65536):
                left.append(len(chunk))
        finally:
            os.close(reader)
            thread.join()
        self.assertEqual(sum(left), size - answer_format.MAX_BYTES - 1)


class Days(unittest.TestCase):
    def test_days_are_numbered_as_in_the_standard_library(self) -> None:
        for year in range(1, 10_000):
            for month, day in ((1, 1), (2, 28), (2, 29), (3, 1), (12, 31), (1 + year % 12, 1 + year % 31)):
                try:
                    number = datetime.date(year, month, day).toordinal()
                except ValueError:
                    number = 0
                self.assertEqual(answer_format.day_number(f"{year:04}-{month:02}-{day:02}"), number)

    def test_seconds_between_timestamps(self) -> None:
        for later, earlier, between in (
            ("2026-09-10T12:00:00Z", "2026-09-10T11:59:59Z", 1),
            ("2026-09-10T00:00:00Z", "2026-09-09T00:00:00Z", 86_400),
            ("2026-01-01T00:00:00Z", "2025-12-31T22:58:57Z", 3663),
            ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", 315_537_897_599),
        ):
            self.assertEqual(answer_format.seconds(later) - answer_format.seconds(earlier), between)


class Quoting(unittest.TestCase):
    def test_quoted(self) -> None:
        cases: list[tuple[object, str]] = [
            ("plain", '"plain"'),
            ('\u202e\x1b[31m\n"\\', '"\\u202e\\u001b[31m\\n\\"\\\\"'),
            ("x" * 58, '"' + "x" * 58 + '"'),
            ("x" * 59, '"' + "x" * 55 + '"...'),
            ("\u202e" * 9, '"' + "\\u202e" * 9 + '"'),
            ("\u202e" * 10, '"' + "\\u202e" * 9 + '"...'),
            ("\\" * 30, '"' + "\\\\" * 27 + '"...'),
            ("\U0001f600" * 5, '"' + "\\ud83d\\ude00" * 4 + '"...'),
            (True, "true"),
            (None, "null"),
            (12, "12"),
            ([1], "an array"),
            ({}, "an object"),
            (answer_format.Number("1" * 60), "1" * 60),
            (answer_format.Number("1" * 61), "1" * 57 + "..."),
        ]
        for value, text in cases:
            with self.subTest(text):
                self.assertEqual(answer_format.quoted(value), text)


class ExpectedFile(unittest.TestCase):
    def test_each_refusal(self) -> None:
        for case in boundaries.REFUSED_EXPECTATIONS:
            with self.subTest(case.id):
                run = run_on(as_bytes(baseline()), as_bytes({**boundaries.EXPECTED, **case.edit}))
                self.assertEqual((run.status, run.out), (2, ""))
                self.assertEqual(run.err.replace("verify_answers: EXPECTED: ", "").splitlines(), case.problems)

    def test_problems_of_both_files_the_cases_first(self) -> None:
        cases = as_bytes(edited(baseline(), {"title": ""}))
        run = run_on(cases, as_bytes({**boundaries.EXPECTED, "fixtureSetId": "other", "schemaVersion": "2"}))
        self.assertEqual(run.status, 2)
        self.assertEqual(
            run.err,
            f'verify_answers: CASES: cases[0].title: {boundaries.TEXT}""\n'
            'verify_answers: EXPECTED: schemaVersion: must be "1.0.0", not "2"\n'
            'verify_answers: EXPECTED: fixtureSetId: must be that of the case file, not "other"\n',
        )

    def test_what_the_case_file_has_is_compared_as_far_as_it_is_an_id(self) -> None:
        other = as_bytes({**boundaries.EXPECTED, "fixtureSetId": "other"})
        cases: list[tuple[bytes, list[str]]] = [
            (b"[]", ["root: must be an object, not an array"]),
            (as_bytes(edited(baseline(), {"fixtureSetId": "A"})), [f'fixtureSetId: {boundaries.ID}"A"']),
            (
                as_bytes(edited(baseline(), {"cases": []})),
                ["cases: must have 1 to 64 items, not 0", 'fixtureSetId: must be that of the case file, not "other"'],
            ),
            (
                as_bytes(edited(baseline(), {"id": 5})),
                [f"cases[0].id: {boundaries.ID}5", 'fixtureSetId: must be that of the case file, not "other"'],
            ),
            (
                as_bytes(edited(baseline(), {"id": "b"})),
                [
                    'fixtureSetId: must be that of the case file, not "other"',
                    'results[0].id: must be the id of a case, not "complete-answer"',
                    'results: must have a result for "b"',
                ],
            ),
        ]
        for data, messages in cases:
            with self.subTest(messages):
                run = run_on(data, other)
                self.assertEqual(run.status, 2)
                lines = [line.split(": ", 2)[2] for line in run.err.splitlines()]
                self.assertEqual(lines, messages)

    def test_ids_in_any_order(self) -> None:
        document = baseline()
        document["cases"].append({**document["cases"][0], "id": "another"})
        results = boundaries.results({**boundaries.RESULT, "id": "another"}, boundaries.RESULT)
        expected = {**boundaries.EXPECTED, **results}
        self.assertEqual(run_on(as_bytes(document), as_bytes(expected)).status, 0)


if __name__ == "__main__":
    unittest.main()
