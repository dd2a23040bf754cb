"""Fields: what an agent says that it read. The cell that it names wins; what is not there is null, never zero."""

from __future__ import annotations

import functools
import json
import pathlib
import unittest
from typing import Any
from unittest import mock

import issuance.__main__
from issuance.store import Store
from tests.issuance_support import CARD, DROP, SQL, Run, card, command, job_folder, metric, query
from tests.test_store_and_seal import Edit, artifacts_of, forge, not_passed, put, run_folders, swap, verified

CELLS: dict[str, Any] = {
    "columns": ["n", "text", "none", "big", "dotted.name"],
    "rows": [[5, "North", None, "12345678901234567890.5", 1], [0, "7", None, "0.10", 2]],
    "truncated": False,
}
SAVED: dict[str, Any] = {
    "sources": [{"id": "shop", "result": "saved.json"}],
    "queries": [query("regions")],
    "narrative": DROP,
    "contract": DROP,
    "fields": "fields.json",
}
NUMBER_OR_TEXT = "must be text, a number, true, false or null, not"
CELL = "must be a cell such as Q1.r0.gmv, not"
NAME = "must have names that are a name ([a-z][a-z0-9_]{0,79}) that is no function's, not"


def field(value: Any, place: Any) -> dict[str, Any]:
    return {"value": value, "from": place}


def setUpModule() -> None:
    one_parser = functools.lru_cache(maxsize=None)(issuance.__main__.parser)
    for quicker in (mock.patch("os.fsync"), mock.patch("issuance.__main__.parser", one_parser)):
        quicker.start()
        unittest.addModuleCleanup(quicker.stop)


def issued(said: Any, *expressions: str) -> dict[str, Any]:
    """The run record of a job over the saved cells with such fields, and its metric set, after verifying the run."""
    metrics = [metric(f"m{number}", text) for number, text in enumerate(expressions, 1)]
    files = {"saved.json": CELLS, "fields.json": said, CARD: card(*metrics or [metric("m1", "1 + 0")])}
    with job_folder(files, **SAVED) as folder:
        run = command("issue", "job.json", cwd=folder)
        assert run.err == "", run.err
        content = json.loads(run.out)
        (found,) = run_folders(folder)
        assert verified(folder)["holds"]
        record: dict[str, Any] = json.loads((found / "run.json").read_bytes())
        warnings = [warning["message"] for warning in content.get("warnings", [])]
        assert record["warnings"] == warnings
        text = command("issue", "job.json", "--format", "text", cwd=folder).out.splitlines()
        assert [line for line in text if line.startswith("warning: ")] == [f"warning: {one}" for one in warnings]
        data = pathlib.Path(folder, "data", "artifacts")
        hash = record["artifacts"]["metric set"]
        record["metrics"] = {
            one["id"]: one for one in json.loads((data / hash[:2] / hash).read_bytes())["metrics"]
        }
        return record


class Reading(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        for said, problems in (
            ("[]", ["root: must be an object, not an array"]),
            ("{", ["line 1 column 2: not JSON: Expecting property name enclosed in double quotes"]),
            ({"a": 5}, ["a: must be an object, not 5"]),
            ({"a": {}}, ["a.value: is missing", "a.from: is missing"]),
            ({"a": {"from": "Q1.r0.n"}}, ["a.value: is missing"]),
            ({"a": {**field(5, "Q1.r0.n"), "also": 1}}, ['a: has the unknown field "also"']),
            ({"a": field([5], "Q1.r0.n")}, [f"a.value: {NUMBER_OR_TEXT} an array"]),
            ({"a": field({}, "Q1.r0.n")}, [f"a.value: {NUMBER_OR_TEXT} an object"]),
            ({"A": field(5, "Q1.r0.n")}, [f'root: {NAME} "A"']),
            ({"sum": field(5, "Q1.r0.n")}, [f'root: {NAME} "sum"']),
            ('{"a": {"value": 1, "from": "Q1.r0.n"}, "a": {"value": 2, "from": "Q1.r0.n"}}',
             ["a: must stand once in its object, not 2 times"]),
            ({"a": field(5, "Q2.r0.n")}, ['a: is from a query that the job does not have: "Q2.r0.n"']),
            ({"a": field(5, "orders.r0.n"), "b": field(5, "Q0.r0.n")}, [f'b.from: {CELL} "Q0.r0.n"']),
            *(({"a": field(5, place)}, [f"a.from: {CELL} {json.dumps(place)}"])
              for place in ("", "n", "Q1", "Q1.r0", "Q1.r0.", "Q1.0.n", "Q1.r00.n", "Q1.r-1.n", "q1 .r0.n", "Q1.r1000000000.n")),
            ({"a": field(5, 7)}, [f"a.from: {CELL} 7"]),
        ):  # fmt: skip
            with self.subTest(said), job_folder({"saved.json": CELLS, "fields.json": said, CARD: card(metric("m", "1 + 0"))}, **SAVED) as folder:
                expected = Run(2, "", "".join(f"issuance: fields.json: {problem}\n" for problem in problems))
                self.assertEqual(command("issue", "job.json", cwd=folder), expected)
                self.assertEqual(command("check", "job.json", cwd=folder), expected)
                self.assertFalse(pathlib.Path(folder, "data").exists())

    def test_the_path(self) -> None:
        for name, said in (
            ("../fields.json", 'must stay under the job\'s folder, not "../fields.json"'),
            ("none.json", 'names a file that cannot be read: No such file or directory: "none.json"'),
            ("cards", 'must name a regular file, not "cards"'),
        ):
            with self.subTest(name), job_folder({"saved.json": CELLS}, **{**SAVED, "fields": name}) as folder:
                self.assertEqual(command("check", "job.json", cwd=folder), Run(2, "", f"issuance: job.json: fields: {said}\n"))

    def test_a_card_that_names_a_field_that_is_not_there(self) -> None:
        files = {"saved.json": CELLS, "fields.json": {"a": field(5, "Q1.r0.n")}, CARD: card(metric("m", "1 + fields.b"))}
        for fields in ("fields.json", DROP):
            with job_folder(files, **{**SAVED, "fields": fields}) as folder:
                said = f'issuance: {CARD}: metrics[0].expression: column 5: the job has no field "b"\n'
                self.assertEqual(command("check", "job.json", cwd=folder), Run(2, "", said))

    def test_no_field_is_needed(self) -> None:
        self.assertEqual(issued({})["warnings"], [])


def otherwise(said: str, cell: str, place: str = "Q1.r0.n") -> str:
    return f"the field a is {said} to the agent, but {place} is {cell}"


VALUES: tuple[tuple[Any, str, str], ...] = (
    (5, "Q1.r0.n", ""),
    (5, "regions.r0.n", ""),
    (5.0, "Q1.r0.n", ""),
    (6, "Q1.r0.n", otherwise("6", "5")),
    (5.0000001, "Q1.r0.n", otherwise("5.0000001", "5")),
    ("5", "Q1.r0.n", otherwise('"5"', "5")),
    (None, "Q1.r0.n", otherwise("null", "5")),
    (True, "Q1.r0.n", otherwise("true", "5")),
    (False, "Q1.r1.n", otherwise("false", "0", "Q1.r1.n")),
    (0, "Q1.r1.n", ""),
    ("North", "Q1.r0.text", ""),
    ("north", "Q1.r0.text", otherwise('"north"', '"North"', "Q1.r0.text")),
    (None, "Q1.r0.none", ""),
    (0, "Q1.r0.none", otherwise("0", "null", "Q1.r0.none")),
    ("", "Q1.r0.none", otherwise('""', "null", "Q1.r0.none")),
    (False, "Q1.r0.none", otherwise("false", "null", "Q1.r0.none")),
    (1, "Q1.r0.dotted.name", ""),
    (5, "Q1.r2.n", "the field a is from Q1.r2.n, which is not there"),
    (None, "Q1.r2.n", "the field a is from Q1.r2.n, which is not there"),
    (5, "Q1.r0.N", "the field a is from Q1.r0.N, which is not there"),
    (5, "regions.r999999999.n", "the field a is from regions.r999999999.n, which is not there"),
)


class TheCellWins(unittest.TestCase):
    maxDiff = None

    def test_a_different_value_is_a_warning(self) -> None:
        said = {f"a{number}": field(value, place) for number, (value, place, _) in enumerate(VALUES)}
        expected = [text.replace("field a ", f"field a{number} ") for number, (_, _, text) in enumerate(VALUES) if text]
        self.assertEqual(issued(said)["warnings"], expected)

    def test_the_metric_has_the_value_of_the_cell(self) -> None:
        no_row = "the result of regions has no row 2, only 2"
        null = "the cell 'none' in row 0 of regions is null"
        for value, place, expression, expected in (
            (5, "Q1.r0.n", "fields.a * 2", ("computed", "10")),
            (6, "Q1.r0.n", "fields.a * 2", ("computed", "10")),
            (None, "Q1.r0.n", "fields.a * 2", ("computed", "10")),
            ("x", "regions.r1.n", "fields.a", ("computed", "0")),
            (5, "Q1.r2.n", "fields.a + 1", ("missing", no_row)),
            (0, "Q1.r0.none", "fields.a + 1", ("missing", null)),
            (None, "Q1.r0.none", "fields.a * 0", ("missing", null)),
            (5, "Q1.r0.N", "fields.a", ("missing", "the result of regions has no column 'N'")),
        ):
            with self.subTest(value=value, place=place):
                found = issued({"a": field(value, place)}, expression)
                (one,) = found["metrics"].values()
                if expected[0] == "computed":
                    self.assertEqual((one["status"], one["value"], found["missing"]), ("computed", expected[1], []))
                else:
                    self.assertEqual((one["status"], one["value"], one["reason"]), ("missing", None, expected[1]))
                    self.assertEqual(found["missing"], [{"metric": "m1", "reason": f"missing: {expected[1]}"}])

    def test_the_provenance(self) -> None:
        found = issued({"a": field(6, "regions.r0.n"), "b": field(0, "Q1.r1.n")}, "fields.a + fields.b")
        cell = {"query": "regions", "column": "n", "artifact": found["artifacts"]["snapshot of Q1"], "file": "saved.json"}
        warning = "the field a is 6 to the agent, but regions.r0.n is 5"
        one = found["metrics"]["m1"]
        self.assertEqual(
            one["inputs"],
            [{"field": "a", **cell, "row": 0, "warning": warning}, {"field": "b", **cell, "row": 1}],
        )
        self.assertEqual((one["expression"], one["substituted"]), ("fields.a + fields.b", "5 + 0"))

    def test_long_numbers_are_exact(self) -> None:
        text = '{"a": {"value": %s, "from": "Q1.r0.n"}}'
        files = {"saved.json": json.dumps(CELLS).replace("[5,", "[12345678901234567890123.5,"), CARD: card(metric("m", "1 + 0"))}
        for said, warned in (("12345678901234567890123.5", 0), ("12345678901234567890123.50", 0), ("12345678901234567890123.6", 1)):
            with self.subTest(said), job_folder({**files, "fields.json": text % said}, **SAVED) as folder:
                content = json.loads(command("issue", "job.json", cwd=folder).out)
                self.assertEqual(len(content.get("warnings", [])), warned)

    def test_queries_without_a_result(self) -> None:
        broken = {"queries": [query("regions", "SELECT nix FROM orders")], "narrative": DROP, "contract": {"required": ["m"]}}
        files = {"fields.json": {"a": field(0, "Q1.r0.n")}, CARD: card(metric("m", "fields.a"))}
        with job_folder(files, **broken, fields="fields.json") as folder:
            content = json.loads(command("issue", "job.json", cwd=folder).out)
            self.assertEqual(content["warnings"], [{"message": "the field a is from Q1.r0.n, which is not there"}])
            self.assertEqual((content["tier"], content["missing"][0]["metric"]), ("withheld", "m"))
            self.assertTrue(verified(folder)["holds"])

    def test_masked_cells(self) -> None:
        mask = {
            "sources": [{"id": "shop", "sqlite_script": "shop.sql", "mask_columns": ["orders.cents"]}],
            "queries": [query("regions", "SELECT region, cents FROM orders")],
        }
        for value in (375050, None):
            files = {"fields.json": {"a": field(value, "Q1.r0.cents")}, CARD: card(metric("m", "fields.a"))}
            with self.subTest(value), job_folder(files, **mask, fields="fields.json", narrative=DROP, contract=DROP) as folder:
                content = json.loads(command("issue", "job.json", cwd=folder).out)
                self.assertEqual(content["warnings"], [{"message": "the field a is from Q1.r0.cents, which is masked"}])
                self.assertEqual([one["metric"] for one in content["missing"]], ["m"])
                self.assertTrue(verified(folder)["holds"])


class TheGates(unittest.TestCase):
    def test_through_fields(self) -> None:
        queries = [query("regions", SQL), query("made", SQL, evidence_role="compute")]
        of_source, of_made = field(375050, "Q1.r0.cents"), field(375050, "made.r0.cents")
        for said, expression, failing in (
            ({"a": of_source}, "fields.a / 100", {}),
            ({"a": of_made}, "fields.a / 100", {"G4": "sales rests on made", "G5": "sales rests on no cell of a source query"}),
            ({"a": of_source, "b": of_made}, "fields.a + fields.b", {"G4": "sales rests on made"}),
            ({"a": of_source, "b": of_made}, "fields.a + 0", {}),
            ({"a": of_made}, "fields.a + cell(regions, 0, 'cents')", {"G4": "sales rests on made"}),
        ):
            files = {"fields.json": said, CARD: card(metric("sales", expression))}
            changes: dict[str, Any] = {"contract": {"required": ["sales"]}, "narrative": DROP, "queries": queries}
            changes.update(fields="fields.json", level="governed")
            with self.subTest(said, expression=expression), job_folder(files, **changes) as folder:
                checked = json.loads(command("check", "job.json", cwd=folder).out)
                found = {one["code"]: one["message"] for one in checked["checks"] if one["status"] == "fail"}
                self.assertEqual(found, failing)
                lines = [f"issuance: job.json: level: governed, but {code} does not hold: {text}\n" for code, text in failing.items()]
                run = command("issue", "job.json", cwd=folder)
                self.assertEqual((run.status, run.err), (2 if failing else 0, "".join(lines)))


class Verifying(unittest.TestCase):
    maxDiff = None

    def test_a_changed_field_is_noticed(self) -> None:
        said = {"a": field(6, "Q1.r0.cents"), "b": field("North", "Q1.r0.region")}
        other, warned = "the metric set is not what the card gives from the snapshots", "the events warn of other fields than the agent's"
        changes: tuple[tuple[str, str, Edit, str, str], ...] = (
            ("the cell", "fields", swap("Q1.r0.cents", "Q1.r1.cents"), "metrics_recompute", other),
            ("the name of the query", "fields", swap("Q1.r0.cents", "regions.r0.cents"), "metrics_recompute", other),
            ("the value", "fields", swap("6", "7"), "metrics_recompute", other),
            ("the value of a field that no metric uses", "fields", swap('"North"', '"South"'), "metrics_recompute", warned),
            ("no warnings", "metrics.computed", put(warnings=[]), "metrics_recompute", warned),
            ("a field that is gone", "fields", lambda data: b"{}", "metrics_recompute",
             'card and job do not fit: card: metrics[0].expression: column 1: the job has no field "a"'),
            ("what is no field", "fields", lambda data: b"[]", "metrics_recompute", "fields: root: must be an object, not an array"),
            ("that there were fields", "run.started", put(fields=None), "metrics_recompute", "the events have other files than the job"),
        )  # fmt: skip
        files = {"fields.json": said, CARD: card(metric("sales", "fields.a + 0"))}
        with job_folder(files, fields="fields.json", narrative=DROP, contract={"required": ["sales"]}) as folder:
            self.assertEqual(command("issue", "job.json", cwd=folder).status, 0)
            (run,) = run_folders(folder)
            self.assertIn("fields", artifacts_of(run))
            kept = {name: (run / name).read_bytes() for name in ("events.jsonl", "run.json")}
            for name, part, change, code, message in changes:
                with self.subTest(name):
                    forge(folder, run, part, change)
                    self.assertEqual(not_passed(verified(folder)), {code: message})
                for file, data in kept.items():
                    (run / file).write_bytes(data)
            self.assertTrue(verified(folder)["holds"])
            hash = artifacts_of(run)["fields"]
            path = pathlib.Path(Store(f"{folder}/data").artifact(hash))
            path.write_bytes(path.read_bytes().replace(b"6", b"7"))
            damaged = f"fields: the artifact {hash} does not have the bytes that its name says"
            self.assertEqual(not_passed(verified(folder)), {"artifact_hashes": damaged})
