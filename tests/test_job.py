"""Jobs: strict reading of every key, defaults, inputs, paths that stay under the folder, and the choice of a card."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import tempfile
import unittest
from typing import Any

from answer_format import Problems
from issuance import job as jobs
from issuance import plan
from tests import issuance_support
from tests.issuance_support import CARD, DROP, card, command, edited, job_folder, metric, query

TEXT = "must be text of 1 to 4096 code points without lone surrogates, not"
SHORT = "must be text of 1 to 256 code points without lone surrogates, not"
ID = "must be an id ([a-z][a-z0-9_-]{0,79}), not"
NAME = "must be a name ([a-z][a-z0-9_]{0,79}) that is no function's, not"
INPUT = "must be a whole number of at most 16 digits or text of 1 to 4096 code points without lone surrogates, not"
SECONDS = "must be a number of seconds above 0 and up to 3600, not"
ROWS = "must be an integer from 1 to 10000000, not"
VERSION = "must be a whole number as text, not"
KINDS = "must have exactly one of sqlite, sqlite_script, csv, result, mcp_result"
EXCEPT_GIVEN = ("job_version", "id", "title", "sources", "queries", "caliber")

REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    (dict.fromkeys(EXCEPT_GIVEN, DROP), [f"{name}: is missing" for name in EXCEPT_GIVEN]),
    ({"job_version": "2"}, ['job_version: must be "1", not "2"']),
    ({"job_version": 1}, ['job_version: must be "1", not 1']),
    ({"id": "Weekly"}, [f'id: {ID} "Weekly"']),
    ({"id": "a" * 81}, [f'id: {ID} "{"a" * 55}"...']),
    ({"id": None}, [f"id: {ID} null"]),
    ({"title": ""}, [f'title: {TEXT} ""']),
    ({"title": "x" * 4097}, [f'title: {TEXT} "{"x" * 55}"...']),
    ({"title": "\ud800"}, [f'title: {TEXT} "\\ud800"']),
    ({"title": ["x"]}, [f"title: {TEXT} an array"]),
    ({"mode": "Formal"}, ['mode: must be "formal" or "exploratory", not "Formal"']),
    ({"level": None}, ['level: must be "published" or "governed", not null']),
    ({"inputs": []}, ["inputs: must be an object, not an array"]),
    ({"inputs.week": 1.5}, [f"inputs.week: {INPUT} 1.5"]),
    ({"inputs.week": True}, [f"inputs.week: {INPUT} true"]),
    ({"inputs.week": ""}, [f'inputs.week: {INPUT} ""']),
    ({"inputs.week": 10**16}, [f"inputs.week: {INPUT} {10**16}"]),
    ({"inputs.week": None}, [f"inputs.week: {INPUT} null"]),
    ({"sources": {}}, ["sources: must be an array, not an object"]),
    ({"sources[0]": "shop"}, ['sources[0]: must be an object, not "shop"']),
    ({"sources[0].path": "x"}, ['sources[0]: has the unknown field "path"']),
    ({"sources[0].sqlite_script": DROP}, [f"sources[0]: {KINDS}"]),
    ({"sources[0].csv": {"orders": "orders.csv"}}, [f"sources[0]: {KINDS}"]),
    ({"sources[0].sqlite_script": 7}, [f"sources[0].sqlite_script: {TEXT} 7"]),
    ({"sources[1]": {"id": "shop", "sqlite": "x"}}, ['sources[1].id: must be unique, but [0] also has "shop"']),
    ({"sources[1]": {"id": "b", "csv": {}}}, ["sources[1].csv: must have 1 to 1000 fields, not 0"]),
    ({"sources[1]": {"id": "b", "csv": "b.csv"}}, ['sources[1].csv: must be an object, not "b.csv"']),
    ({"sources[1]": {"id": "b", "csv": {"b": 5}}}, [f"sources[1].csv.b: {TEXT} 5"]),
    ({"sources[0].mask_columns": "a.b"}, ['sources[0].mask_columns: must be an array, not "a.b"']),
    (
        {"sources[0].mask_columns": ["email", ".email", "orders."]},
        [
            'sources[0].mask_columns[0]: must be TABLE.COLUMN, not "email"',
            'sources[0].mask_columns[1]: must be TABLE.COLUMN, not ".email"',
            'sources[0].mask_columns[2]: must be TABLE.COLUMN, not "orders."',
        ],
    ),
    ({"queries": {}}, ["queries: must be an array, not an object"]),
    ({"queries[0].id": "Q1"}, [f'queries[0].id: {NAME} "Q1"']),
    ({"queries[0].id": "a-b"}, [f'queries[0].id: {NAME} "a-b"']),
    ({"queries[0].source": DROP}, ["queries[0].source: is missing"]),
    ({"queries[0].source": "other"}, ['queries[0].source: must be the id of a source, not "other"']),
    ({"queries[0].sql": DROP}, ["queries[0].sql: is missing"]),
    ({"queries[0].sql": 5}, ["queries[0].sql: must be text of 1 to 100000 code points without lone surrogates, not 5"]),
    (
        {"sources[0]": {"id": "shop", "result": "r.json"}},
        ["queries[0].sql: must not be there: shop is a saved result"],
    ),
    (
        {"sources[0]": {"id": "shop", "mcp_result": "r.json"}},
        ["queries[0].sql: must not be there: shop is a saved result"],
    ),
    (
        {"queries[0].evidence_role": "raw"},
        ['queries[0].evidence_role: must be "source" or "compute", not "raw"'],
    ),
    ({"queries[0].timeout_seconds": 0}, [f"queries[0].timeout_seconds: {SECONDS} 0"]),
    ({"queries[0].timeout_seconds": 3600.1}, [f"queries[0].timeout_seconds: {SECONDS} 3600.1"]),
    ({"queries[0].timeout_seconds": "10"}, [f'queries[0].timeout_seconds: {SECONDS} "10"']),
    ({"queries[0].timeout_seconds": True}, [f"queries[0].timeout_seconds: {SECONDS} true"]),
    ({"queries[0].max_rows": 0}, [f"queries[0].max_rows: {ROWS} 0"]),
    ({"queries[0].max_rows": 10_000_001}, [f"queries[0].max_rows: {ROWS} 10000001"]),
    ({"queries[0].max_rows": 1.0}, [f"queries[0].max_rows: {ROWS} 1.0"]),
    ({"queries[0].max_rows": True}, [f"queries[0].max_rows: {ROWS} true"]),
    ({"queries[0].unmasked": "cents"}, ['queries[0].unmasked: must be an array, not "cents"']),
    ({"queries[0].unmasked": ["a", "a"]}, ['queries[0].unmasked[1]: must be unique, but [0] also has "a"']),
    ({"queries[0].limit": 5}, ['queries[0]: has the unknown field "limit"']),
    ({"queries[1]": query("regions", "SELECT 1 AS a")}, ['queries[1].id: must be unique, but [0] also has "regions"']),
    ({"caliber": "x"}, ['caliber: must be an object, not "x"']),
    ({"caliber": {}}, ["caliber.card: is missing"]),
    ({"caliber.pin": 1}, ['caliber: has the unknown field "pin"']),
    ({"caliber.version": 1}, [f"caliber.version: {VERSION} 1"]),
    ({"caliber.version": "0"}, [f'caliber.version: {VERSION} "0"']),
    ({"caliber.version": "01"}, [f'caliber.version: {VERSION} "01"']),
    (
        {"caliber.on_version_bump": "newest"},
        ['caliber.on_version_bump: must be "recompute" or "dual" or "incomparable", not "newest"'],
    ),
    ({"knowledge": "k.txt"}, ['knowledge: must be an array, not "k.txt"']),
    ({"knowledge": [3]}, [f"knowledge[0]: {TEXT} 3"]),
    ({"narrative": None}, [f"narrative: {TEXT} null"]),
    ({"contract": None}, ["contract: must be an object, not null"]),
    ({"contract.also": []}, ['contract: has the unknown field "also"']),
    ({"contract.required": "sales"}, ['contract.required: must be an array, not "sales"']),
    ({"contract.required": ["Sales"]}, [f'contract.required[0]: {NAME} "Sales"']),
    (
        {"contract.expected": ["sales", "sales"]},
        ['contract.expected[1]: must be unique, but [0] also has "sales"'],
    ),
    ({"contract.strict": 1}, ["contract.strict: must be true or false, not 1"]),
    ({"contract.allow": ["x" * 257]}, [f'contract.allow[0]: {SHORT} "{"x" * 55}"...']),
    (
        {"id": "-", "extra": {"a": 1}, "sources[0].also": 1, "queries[0].max_rows": -1, "contract.strict": "no"},
        [
            f'id: {ID} "-"',
            'sources[0]: has the unknown field "also"',
            f"queries[0].max_rows: {ROWS} -1",
            'contract.strict: must be true or false, not "no"',
            'root: has the unknown field "extra"',
        ],
    ),
]
ACCEPTED: list[dict[str, Any]] = [
    {"id": "a" * 80},
    {"id": "a_b-c"},
    {"title": "x" * 4096},
    {"mode": "exploratory"},
    {"level": "governed"},
    {"inputs.week": 10**16 - 1},
    {"inputs.week": -(10**15) + 1},
    {"inputs.other": "x" * 4096},
    {"sources[0].mask_columns": ["orders.email", "Orders.E.mail"]},
    {"sources[1]": {"id": "b", "csv": {"_B9": "b.csv"}}},
    {"sources[1]": {"id": "b", "sqlite": "b.db"}},
    {"sources[0]": {"id": "shop", "result": "r.json"}, "queries[0].sql": DROP},
    {"queries[0].evidence_role": "compute"},
    {"queries[0].timeout_seconds": 3600},
    {"queries[0].timeout_seconds": 0.001},
    {"queries[0].max_rows": 1},
    {"queries[0].max_rows": 10_000_000},
    {"queries[0].sql": "x" * 100_000},
    {"queries[0].unmasked": ["a", "A"]},
    {"queries": []},
    {"caliber": {"card": "x"}},
    {"caliber.version": "999999999"},
    {"contract": {}},
    {"contract.allow": ["x" * 256]},
    {"knowledge": []},
]
NOT_A_JOB = [
    (b"", "line 1 column 1: not JSON: Expecting value"),
    (b"\xef\xbb\xbf{}", "line 1 column 1: starts with a byte order mark"),
    (b'{\n"a\xff"}', "line 2 column 3: not UTF-8"),
    (b'{"a": NaN}', "line 1 column 7: not JSON: NaN is no number"),
    (b"[" * 17, "line 1 column 17: nested deeper than 16 levels"),
    (b"[]", "root: must be an object, not an array"),
]


def checked(folder: str, name: str = "job.json") -> tuple[int, list[str]]:
    """The status of checking the job in a folder, and what is wrong, without the program and the folder."""
    run = command("check", name, cwd=folder)
    return run.status, run.err.replace("issuance: ", "").replace(folder, "FOLDER").splitlines()


def planned(folder: str, *given: str, decided: bool = True) -> tuple[plan.Plan | None, list[str]]:
    """The plan of the job in a folder, and what is wrong, without the program and the folder."""
    problems = Problems()
    found = plan.load(f"{folder}/job.json", problems, list(given), decided)
    return found, [line.replace("P: ", "", 1).replace(f"{folder}/", "") for line in problems.lines("P")]


def read(document: object) -> tuple[jobs.Job | None, list[str]]:
    problems = Problems()
    found = jobs.read(json.dumps(document).encode(), "job.json", problems)
    return found, problems.lines("P")


class Reading(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        for edits, problems in REFUSED:
            with self.subTest(edits), job_folder({"job.json": edited(issuance_support.job(), edits)}) as folder:
                self.assertEqual(checked(folder), (2, [f"job.json: {problem}" for problem in problems]))

    def test_accepted(self) -> None:
        for edits in ACCEPTED:
            with self.subTest(edits):
                found, problems = read(edited(issuance_support.job(), edits))
                self.assertEqual((found is not None, problems), (True, []))

    def test_names_of_inputs_and_tables(self) -> None:
        for place, name in (
            ("inputs", "Week"),
            ("inputs", "sum"),
            ("inputs", "9"),
            ("sources[0].csv", "a b"),
            ("sources[0].csv", "9a"),
            ("sources[0].csv", "\u5317"),
        ):
            with self.subTest(name):
                sources = [{"id": "shop", "csv": {name: "x"}}]
                changes = {"inputs": {name: "a"}} if place == "inputs" else {"sources": sources}
                found, (line,) = read(issuance_support.job(**changes))
                self.assertIsNone(found)
                self.assertTrue(line.startswith(f"P: job.json: {place}: must have names that are "), line)
                self.assertTrue(line.endswith(f", not {json.dumps(name)}"), line)

    def test_no_function_is_a_name(self) -> None:
        for name in ("cell", "sum", "avg", "min", "max", "count", "abs", "round"):
            found, problems = read(issuance_support.job(queries=[query(name, "SELECT 1 AS a")]))
            self.assertEqual((found, problems), (None, [f'P: job.json: queries[0].id: {NAME} "{name}"']))

    def test_not_a_job(self) -> None:
        for data, problem in NOT_A_JOB:
            with self.subTest(data), job_folder({"job.json": data}) as folder:
                self.assertEqual(checked(folder), (2, [f"job.json: {problem}"]))

    def test_repeated_keys(self) -> None:
        text = json.dumps(issuance_support.job())
        text = text.replace('"id": "weekly"', '"id": "weekly", "i\\u0064": "b", "zz": 1, "zz": 2')
        text = text.replace('"week": "W37"', '"week": "W37", "week": "W36"')
        text = text.replace('"version": "1"', '"version": "1", "version": "2", "version": "1"')
        with job_folder({"job.json": text}) as folder:
            self.assertEqual(
                checked(folder),
                (
                    2,
                    [
                        "job.json: id: must stand once in its object, not 2 times",
                        "job.json: caliber.version: must stand once in its object, not 3 times",
                        "job.json: inputs.week: must stand once in its object, not 2 times",
                        'job.json: root: has repeatedly the unknown field "zz"',
                    ],
                ),
            )

    def test_at_most_twenty_problems_are_told(self) -> None:
        for count, more in ((20, []), (21, ["... and 1 more"])):
            with job_folder(knowledge=[f"none{index}.txt" for index in range(count)]) as folder:
                lines = [
                    f'job.json: knowledge[{index}]: names a file that cannot be read: No such file or directory: "none{index}.txt"'
                    for index in range(20)
                ]
                self.assertEqual(checked(folder), (2, [*lines, *more]))

    def test_files_that_are_no_job(self) -> None:
        with job_folder() as folder:
            os.mkdir(f"{folder}/sub")
            for name, problem in (
                ("none.json", "No such file or directory"),
                ("sub", "Is a directory"),
                ("job.json/", "Not a directory"),
            ):
                self.assertEqual(checked(folder, name), (2, [f"{name}: cannot be read: {problem}"]))

    def test_defaults(self) -> None:
        document = issuance_support.job(mode=DROP, inputs=DROP, narrative=DROP, contract=DROP, caliber={"card": CARD})
        document["queries"].append(query("second", "SELECT 1 AS a"))
        found, _ = read(document)
        assert found is not None
        self.assertEqual((found.mode, found.level, found.inputs), ("exploratory", "published", {}))
        self.assertEqual((found.version, found.on_version_bump, found.knowledge), (None, None, []))
        self.assertEqual((found.narrative, found.contract), (None, None))
        self.assertEqual(found.sources, {"shop": jobs.Source("shop", "sqlite_script", "shop.sql", [])})
        self.assertEqual(
            found.queries["second"], jobs.Query("second", "Q2", "shop", "SELECT 1 AS a", "source", 10.0, 10_000, [])
        )
        found, _ = read({**document, "contract": {}})
        assert found is not None
        self.assertEqual(found.contract, jobs.Contract([], [], True, []))

    def test_what_is_given(self) -> None:
        fields = {"evidence_role": "compute", "timeout_seconds": 2.5, "max_rows": 7, "unmasked": ["n"]}
        agreed = {"required": ["a"], "expected": ["b"], "strict": False, "allow": ["5"]}
        found, _ = read(
            issuance_support.job(
                level="governed",
                inputs={"n": -7, "text": "7"},
                sources=[{"id": "shop", "csv": {"T": "t.csv"}, "mask_columns": ["T.E-Mail", "a.b.C"]}],
                queries=[query("one", "SELECT 1", **fields)],
                caliber={"card": "c", "version": "12", "on_version_bump": "dual"},
                knowledge=["k"],
                contract=agreed,
            )
        )
        assert found is not None
        self.assertEqual((found.mode, found.level, found.inputs), ("formal", "governed", {"n": -7, "text": "7"}))
        masked = ["T.E-Mail", "a.b.C"]
        self.assertEqual(found.sources["shop"], jobs.Source("shop", "csv", {"T": "t.csv"}, masked))
        self.assertEqual(found.queries["one"], jobs.Query("one", "Q1", "shop", "SELECT 1", "compute", 2.5, 7, ["n"]))
        self.assertEqual((found.card, found.version, found.on_version_bump), ("c", 12, "dual"))
        self.assertEqual((found.knowledge, found.narrative), (["k"], "narrative.md"))
        self.assertEqual(found.contract, jobs.Contract(["a"], ["b"], False, ["5"]))


class Inputs(unittest.TestCase):
    maxDiff = None

    def test_overridden(self) -> None:
        for given, value in (
            (["week=W36"], "W36"),
            (["week=a=b"], "a=b"),
            (["week= "], " "),
            (["week=12"], "12"),
            (["week=a", "week=b"], "b"),
            (["n=5"], 5),
            (["n=-5"], -5),
            (["n=0"], 0),
            (["n=9999999999999999"], 9999999999999999),
        ):
            with self.subTest(given), job_folder(inputs={"week": "W37", "n": 1}) as folder:
                found, problems = planned(folder, *given)
                assert found is not None, problems
                self.assertEqual(found.job.inputs, {"week": "W37", "n": 1, given[0].partition("=")[0]: value})

    def test_refused(self) -> None:
        declared = "must be NAME=VALUE with an input that the job declares (week, n), not"
        whole = "n must be a whole number of at most 16 digits, not"
        for given, problem in (
            ("week", f'{declared} "week"'),
            ("none=1", f'{declared} "none=1"'),
            ("WEEK=1", f'{declared} "WEEK=1"'),
            ("=1", f'{declared} "=1"'),
            ("", f'{declared} ""'),
            ("week=", f'week {TEXT} ""'),
            ("week=\ud800", f'week {TEXT} "\\ud800"'),
            ("week=" + "x" * 4097, f'week {TEXT} "{"x" * 55}"...'),
            ("n=1.5", f'{whole} "1.5"'),
            ("n=05", f'{whole} "05"'),
            ("n= 5", f'{whole} " 5"'),
            ("n=+5", f'{whole} "+5"'),
            ("n=", f'{whole} ""'),
            ("n=\u0665", f'{whole} "\\u0665"'),
            ("n=10000000000000000", f'{whole} "10000000000000000"'),
        ):
            with self.subTest(given), job_folder(inputs={"week": "W37", "n": 1}) as folder:
                run = command("issue", "job.json", "--input", given, cwd=folder)
                self.assertEqual(run, (2, "", f"issuance: --input: {problem}\n"))
                self.assertFalse(os.path.exists(f"{folder}/data"))

    def test_all_at_once_and_none_declared(self) -> None:
        none = "--input: must be NAME=VALUE with an input that the job declares (there is none), not"
        with job_folder(inputs=DROP) as folder:
            self.assertEqual(planned(folder, "a=1", "b")[1], [f'{none} "a=1"', f'{none} "b"'])


class Paths(unittest.TestCase):
    maxDiff = None

    def test_narratives(self) -> None:
        stay, gone = "must stay under the job's folder, not", "names a file that cannot be read: No such file or directory:"
        with tempfile.TemporaryDirectory() as outside, job_folder({"sub/x.md": "x", "..md": "x"}) as folder:
            pathlib.Path(outside, "x.md").write_text("x")
            name = os.path.basename(outside)
            for link, target in (
                ("link", "narrative.md"),
                ("sublink", "sub"),
                ("out", f"{outside}/x.md"),
                ("far", f"../{name}/x.md"),
                ("there", outside),
                ("back", f"{outside}/../{os.path.basename(folder)}/narrative.md"),
                ("chain", "out"),
                ("dangling", "none"),
                ("loop", "loop"),
                ("null", "/dev/null"),
            ):
                os.symlink(target, f"{folder}/{link}")
            os.mkfifo(f"{folder}/pipe")
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(f"{folder}/socket")
            for path, problem in (
                ("narrative.md", ""),
                ("./narrative.md", ""),
                ("sub/../narrative.md", ""),
                ("sub/x.md", ""),
                ("..md", ""),
                ("link", ""),
                ("sublink/x.md", ""),
                ("back", ""),
                (f"../{name}/x.md", stay),
                (f"sub/../../{name}/x.md", stay),
                (f"{outside}/x.md", stay),
                (f"{folder}/narrative.md", stay),
                ("/dev/stdin", stay),
                ("out", stay),
                ("far", stay),
                ("chain", stay),
                ("null", stay),
                ("there/x.md", stay),
                ("sublink/../../none", stay),
                (".", stay),
                ("..", stay),
                ("narrative.md\0", stay),
                ("none.md", gone),
                ("dangling", gone),
                ("~", gone),
                ("-", gone),
                ("\u202e\n", gone),
                ("narrative.md/", "names a file that cannot be read: Not a directory:"),
                ("loop", "names a file that cannot be read: Too many levels of symbolic links:"),
                ("x" * 300, "names a file that cannot be read: File name too long:"),
                ("pipe", "must name a regular file, not"),
                ("socket", "must name a regular file, not"),
                ("sub", "must name a regular file, not"),
            ):
                with self.subTest(path):
                    issuance_support.write(folder, {"job.json": issuance_support.job(narrative=path)})
                    shown = json.dumps(path.replace(folder, "FOLDER")) if len(path) < 300 else f'"{"x" * 55}"...'
                    line = f"job.json: narrative: {problem} {shown}"
                    self.assertEqual(checked(folder), (2, [line]) if problem else (0, []))

    def test_every_other_path(self) -> None:
        with tempfile.TemporaryDirectory() as outside, job_folder() as folder:
            pathlib.Path(outside, "x").write_text("x")
            os.symlink(f"{outside}/x", f"{folder}/link")
            sources = [
                {"id": "a", "sqlite": "link"},
                {"id": "b", "sqlite_script": "cards"},
                {"id": "c", "csv": {"one": "shop.sql", "two": f"{outside}/x"}},
                {"id": "d", "result": "none"},
                {"id": "e", "mcp_result": "../x"},
            ]
            changes: dict[str, Any] = {"knowledge": ["narrative.md", "link"], "caliber": {"card": "cards/../link"}}
            document = issuance_support.job(sources=sources, queries=[query("q", "SELECT 1 AS a", source="a")], **changes)
            issuance_support.write(folder, {"job.json": document})
            problems = [
                'sources[0].sqlite: must stay under the job\'s folder, not "link"',
                'sources[1].sqlite_script: must name a regular file, not "cards"',
                f'sources[2].csv.two: must stay under the job\'s folder, not "{outside}/x"',
                'sources[3].result: names a file that cannot be read: No such file or directory: "none"',
                'sources[4].mcp_result: must stay under the job\'s folder, not "../x"',
                'caliber.card: must stay under the job\'s folder, not "cards/../link"',
                'knowledge[1]: must stay under the job\'s folder, not "link"',
            ]
            self.assertEqual(checked(folder), (2, [f"job.json: {problem}" for problem in problems]))

    def test_a_folder_beside_of_a_longer_name(self) -> None:
        with job_folder() as folder:
            os.mkdir(f"{folder}/job")
            os.mkdir(f"{folder}/job2")
            pathlib.Path(folder, "job2", "x").write_text("x")
            self.assertEqual(
                [jobs.is_under(f"{folder}/{name}", f"{folder}/job2/x") for name in ("job", "job2", "")],
                [False, True, True],
            )

    def test_the_jobs_folder_from_elsewhere(self) -> None:
        with job_folder({"sub/x.md": "x"}) as folder, tempfile.TemporaryDirectory() as elsewhere:
            os.symlink(folder, f"{elsewhere}/jobs")
            os.symlink(f"{folder}/job.json", f"{elsewhere}/job.json")
            for cwd, name in ((f"{folder}/sub", "../job.json"), (elsewhere, f"{folder}/job.json"), (elsewhere, "jobs/job.json")):
                self.assertEqual(checked(cwd, name), (0, []))
            self.assertEqual(checked(elsewhere)[0], 2)


class Cards(unittest.TestCase):
    maxDiff = None

    def test_the_card_that_computes(self) -> None:
        one, two, ten = "cards/sales@1.json", "cards/sales@2.json", "cards/sales@10.json"
        both = {two: card(version="2")}
        three = {**both, ten: card(version="10")}
        others = ("sales@02.json", "sales@2.json.bak", "sales@x.json", "sales-old@3.json", "other@2.json", "Sales@2.json")
        newer = "job.json: caliber.on_version_bump: must say recompute, dual or incomparable, as"
        table: tuple[tuple[dict[str, Any], dict[str, Any], object], ...] = (
            # what lies there, the caliber of the job, and (computing, pinned, newer) or what is wrong
            ({}, {"card": one, "version": "1"}, (1, None, None)),
            ({}, {"card": one, "version": "1", "on_version_bump": "dual"}, (1, None, None)),
            ({}, {"card": one}, (1, None, None)),
            ({}, {"card": one, "version": "2"}, f'job.json: caliber.version: there is no sales@2.json beside "{one}"'),
            (both, {"card": one}, (1, None, None)),
            (both, {"card": two, "version": "2"}, (2, None, None)),
            (both, {"card": one, "version": "2"}, (2, None, None)),
            (both, {"card": one, "version": "1"}, f"{newer} sales@2.json is newer than the pinned version 1"),
            (both, {"card": two, "version": "1"}, f"{newer} sales@2.json is newer than the pinned version 1"),
            (both, {"card": one, "version": "1", "on_version_bump": "recompute"}, (2, 1, 2)),
            (both, {"card": two, "version": "1", "on_version_bump": "dual"}, (2, 1, 2)),
            (three, {"card": one, "version": "2", "on_version_bump": "incomparable"}, (10, 2, 10)),
            (three, {"card": one, "version": "2"}, f"{newer} sales@10.json is newer than the pinned version 2"),
            (three, {"card": one, "version": "10"}, (10, None, None)),
            ({f"cards/{name}": "{" for name in others}, {"card": one, "version": "1"}, (1, None, None)),
            (
                {one: card(version="2")},
                {"card": one},
                f"{one}: version: its name and version are sales@2, but the file's are others",
            ),
            (
                {one: card(name="other")},
                {"card": one},
                f"{one}: version: its name and version are other@1, but the file's are others",
            ),
            (
                {two: card(version="3")},
                {"card": one, "version": "2"},
                f"{two}: version: its name and version are sales@3, but the file's are others",
            ),
            ({"c/card.json": card()}, {"card": "c/card.json", "version": "1"}, (1, None, None)),
            (
                {"c/card.json": card(), "c/sales@2.json": card(version="2")},
                {"card": "c/card.json", "version": "1"},
                f"{newer} sales@2.json is newer than the pinned version 1",
            ),
            (
                {two: "{}"},
                {"card": one, "version": "1", "on_version_bump": "dual"},
                f"{two}: card_version: is missing",
            ),
        )
        for files, caliber, expected in table:
            with self.subTest(caliber, files=list(files)), job_folder(files, caliber=caliber) as folder:
                found, problems = planned(folder)
                if isinstance(expected, str):
                    self.assertEqual((found, problems[:1]), (None, [expected]))
                    continue
                assert found is not None, problems
                pinned = found.pinned and found.pinned.card.version
                self.assertEqual((found.card.card.version, pinned, found.newer), expected)

    def test_a_card_beside_a_job_that_is_named_without_a_folder(self) -> None:
        for name in ("card.json", "sales@1.json"):
            with self.subTest(name), job_folder({name: card()}, caliber={"card": name, "version": "1"}) as folder:
                self.assertEqual(checked(folder), (0, []))
                issuance_support.write(folder, {"sales@2.json": card(version="2")})
                self.assertEqual(checked(folder)[0], 1)

    def test_only_a_formal_run_has_to_decide(self) -> None:
        newer = "job.json: caliber.on_version_bump: must say recompute, dual or incomparable, as sales@2.json is newer than the pinned version 1"
        for mode, decided, problems in (("formal", True, [newer]), ("formal", False, []), ("exploratory", True, [])):
            with self.subTest(mode, decided=decided), job_folder({"cards/sales@2.json": card(version="2")}, mode=mode) as folder:
                found, said = planned(folder, decided=decided)
                self.assertEqual((found is None, said), (bool(problems), problems))
                if found:
                    self.assertEqual((found.card.card.version, found.newer), (1, 2))

    def test_a_newer_card_stays_under_the_folder(self) -> None:
        caliber = {"card": CARD, "version": "1", "on_version_bump": "dual"}
        with tempfile.TemporaryDirectory() as outside, job_folder(caliber=caliber) as folder:
            issuance_support.write(outside, {"two.json": card(version="2")})
            os.symlink(f"{outside}/two.json", f"{folder}/cards/sales@2.json")
            self.assertEqual(checked(folder), (2, ["cards/sales@2.json: must stay under the job's folder"]))

    def test_references_to_what_is_not_there(self) -> None:
        metrics = (
            metric("a", "cell(none, 0, 'x') + inputs.none + inputs.week + fields.f"),
            metric("b", "sum(nodes.nope, 'x') - count(regions, 'y') + a"),
        )
        with job_folder({CARD: card(*metrics)}, contract={"required": ["a", "zz"], "expected": ["yy", "b"]}) as folder:
            self.assertEqual(
                checked(folder),
                (
                    2,
                    [
                        f'{CARD}: metrics[0].expression: column 1: the job has no query "none"',
                        f'{CARD}: metrics[0].expression: column 22: the job has no input "none"',
                        f'{CARD}: metrics[0].expression: column 50: the job has no field "f"',
                        f'{CARD}: metrics[1].expression: column 1: the job has no query "nope"',
                        'job.json: contract.required[1]: must be a metric of the card, not "zz"',
                        'job.json: contract.expected[0]: must be a metric of the card, not "yy"',
                    ],
                ),
            )

    def test_the_contract_fits_the_card_that_computes(self) -> None:
        caliber = {"card": CARD, "version": "1", "on_version_bump": "dual"}
        with job_folder({"cards/sales@2.json": card(metric("other", "1"), version="2")}, caliber=caliber) as folder:
            self.assertEqual(
                checked(folder),
                (
                    2,
                    [
                        'job.json: contract.required[0]: must be a metric of the card, not "sales"',
                        'job.json: contract.expected[0]: must be a metric of the card, not "north_share"',
                    ],
                ),
            )

    def test_everything_that_is_wrong_at_once(self) -> None:
        files = {"cards/sales@2.json": card(version="2"), "narrative.md": b"a\n\xff"}
        with job_folder(files, contract={"required": ["zz"]}) as folder:
            self.assertEqual(
                planned(folder, "x=1")[1],
                [
                    '--input: must be NAME=VALUE with an input that the job declares (week), not "x=1"',
                    "job.json: caliber.on_version_bump: must say recompute, dual or incomparable, as sales@2.json is newer than the pinned version 1",
                    'job.json: contract.required[0]: must be a metric of the card, not "zz"',
                    "narrative.md: line 2 column 1: not UTF-8",
                ],
            )


if __name__ == "__main__":
    unittest.main()
