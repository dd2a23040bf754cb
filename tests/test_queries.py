"""Queries: their outcomes with whole messages, what they may do, their limits, exact cells, masks and warnings."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from unittest import mock

from answer_format import Problems
from issuance import job, queries, snapshots
from issuance.files import SourceFault
from issuance.queries import Outcome
from issuance.sources import Source
from tests.issuance_support import CARD, DROP, SQL, card, command, job_folder, metric, query, write
from tests.support import ROOT

SCRIPT = """CREATE TABLE t (a INTEGER, f REAL, d DECIMAL(10,2), n);
INSERT INTO t VALUES (1, 0.1, '1.10', NULL), (2, 1e300, 2, 'x'), (3, 0.1, 3, 9007199254740993);
"""
ABOUT = {
    "query": "q", "name": "Q1", "source": "s", "role": "source", "sql": "SELECT", "parameters": {},
    "at": "2026-09-14T00:00:00Z", "schema": "b" * 64,
}  # fmt: skip
ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c)"
PLAIN = "only reading and plain functions are allowed, not"
BLOB = "holds a BLOB, which no report can cite"
TWICE = "has two result columns of one name, {}: a cell must have one place"


def setUpModule() -> None:
    """Nothing here is about surviving a power failure, and waiting for a disk takes most of the time."""
    without_waiting = mock.patch("os.fsync")
    without_waiting.start()
    unittest.addModuleCleanup(without_waiting.stop)


@contextlib.contextmanager
def opened(script: str = SCRIPT, masked: Iterable[str] = (), kind: str = "sqlite_script") -> Iterator[Source]:
    """An open source that a script makes, in memory or as a database."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "shop")
        if kind == "sqlite":
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.executescript(script)
        else:
            path.write_text(script)
        with contextlib.closing(Source(job.Source("shop", kind, "shop", list(masked)), folder)) as source:
            yield source


def asked(source: Source, sql: str, inputs: Mapping[str, job.Input] | None = None, **limits: Any) -> Outcome:
    usual = job.Query("q", "Q1", "shop", sql, "source", 10.0, 10_000, [])
    return queries.run(usual._replace(**limits), source, inputs or {})


def wait_until_busy(process: int) -> None:
    """Wait until a process has loaded SQLite and then used so much time that it must be within its query."""
    used = None
    for _ in range(2_000):
        ticks = int(pathlib.Path(f"/proc/{process}/stat").read_text().split()[13])
        if used is None and "_sqlite3" in pathlib.Path(f"/proc/{process}/maps").read_text():
            used = ticks
        if used is not None and ticks > used + 80:
            return
        time.sleep(0.01)


def brief(outcome: Outcome) -> tuple[str, str]:
    return outcome.status, outcome.message


def rows_of(outcome: Outcome) -> Any:
    return outcome.result.rows if outcome.result else brief(outcome)


def words(sql: str) -> str:
    """What this version of SQLite, and of its module, says of a statement over the table t."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCRIPT)
        try:
            connection.execute(sql, {}).fetchall()
        except sqlite3.Error as fault:
            return str(fault)
    raise AssertionError(sql)


class Outcomes(unittest.TestCase):
    maxDiff = None

    def test_whole_messages(self) -> None:
        not_prepared = ("SELECT a FRM t", "SELECT a FROM none", "SELECT nope FROM t", "SELECT a FROM t WHERE", "SELECT none(a) FROM t",
                        "SELECT a FROM t, t AS u", "SELECT COUNT(COUNT(a)) FROM t", "SELECT :none AS w")  # fmt: skip
        failing = ("SELECT abs(-9223372036854775807 - 1) AS a", "SELECT SUM(a) AS s FROM (SELECT 9223372036854775807 AS a UNION ALL SELECT 1)",
                   "SELECT CAST(x'ff' AS TEXT) AS a")  # fmt: skip
        cases: list[tuple[str, str, str]] = [
            ("SELECT a FROM t", "success", ""),
            ("SELECT a FROM t WHERE 0", "success", ""),
            ("  ", "refused", "has no statement"),
            (";", "refused", "has no statement"),
            ("-- only\n/* this */", "refused", "has no statement"),
            ("SELECT 1 AS a; SELECT 2 AS a", "refused", "has 2 statements, not one"),
            ("(SELECT 1)", "refused", "does not read: it begins with '('"),
            ("TABLE t", "refused", "does not read: it begins with 'TABLE'"),
            ("selec a FROM t", "refused", "does not read: it begins with 'SELEC'"),
            ("x" * 50, "refused", f"does not read: it begins with '{'X' * 20}'"),
            *((sql, "refused", f"does not prepare: {words(sql)}") for sql in not_prepared),
            *((sql, "failed", words(sql)) for sql in failing),
            ("SELECT load_extension('x') AS a", "denied", f'{PLAIN} "load_extension"'),
            ("SELECT a, a FROM t", "failed", TWICE.format('"a"')),
            ("SELECT 1 AS b, t.a, u.a FROM t, t AS u", "failed", TWICE.format('"a"')),
            ("SELECT 1 AS a, 2 AS A", "success", ""),
            ("SELECT x'00' AS \"\u540d\"", "failed", f'the column "\\u540d" {BLOB}'),
            ("SELECT zeroblob(1) AS b WHERE 1", "failed", f'the column "b" {BLOB}'),
            ("SELECT a, CASE a WHEN 3 THEN x'' END AS b FROM t", "failed", f'the column "b" {BLOB}'),
            ("SELECT 9e999 AS a", "failed", 'the column "a" holds an infinite number'),
            ("SELECT a, CASE a WHEN 3 THEN -9e999 ELSE f END AS b FROM t", "failed", 'the column "b" holds an infinite number'),
        ]
        with opened() as source:
            for sql, status, message in cases:
                with self.subTest(sql):
                    outcome = asked(source, sql)
                    self.assertEqual(brief(outcome), (status, message))
                    self.assertEqual(outcome.result is not None, status == "success")

    def test_without_a_result_there_are_no_zero_rows(self) -> None:
        changes: dict[str, Any] = {"narrative": DROP, "contract": {}, "inputs": DROP, "title": "Rows"}
        files = {"shop.sql": SCRIPT, CARD: card(metric("rows", "count(q, 'a')"))}
        for sql, missing in (
            ("SELECT a FROM t WHERE 0", None),
            ("SELECT a FROM none", "refused: does not prepare: no such table: none"),
            ("SELECT load_extension(a) AS a FROM t", f'denied: {PLAIN} "load_extension"'),
            ("SELECT x'00' AS a", f'failed: the column "a" {BLOB}'),
        ):
            with self.subTest(sql), job_folder(files, queries=[query("q", sql)], **changes) as folder:
                found = json.loads(command("issue", "job.json", cwd=folder).out)
                reason = f"missing: the query q has no result: {missing}"
                self.assertEqual(found["missing"], [{"metric": "rows", "reason": reason}] if missing else [])


class Guards(unittest.TestCase):
    maxDiff = None

    def test_nothing_but_reading(self) -> None:
        begins = [
            *((f"would write: it begins with '{text.split()[0]}'", text) for text in (
                "INSERT INTO t VALUES (9, 9, 9, 9)", "INSERT INTO t DEFAULT VALUES RETURNING a", "UPDATE t SET a = 5",
                "DELETE FROM t", "REPLACE INTO t VALUES (1, 1, 1, 1)", "CREATE TABLE u (a)", "CREATE TEMP TABLE u (a)",
                "CREATE VIEW u AS SELECT 1", "CREATE INDEX i ON t (a)", "CREATE TABLE u AS SELECT 1 AS a",
                "CREATE VIRTUAL TABLE u USING fts5(a)", "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1", "DROP TABLE t",
                "ALTER TABLE t RENAME TO u", "VACUUM", "VACUUM INTO 'x'", "REINDEX", "ANALYZE",
            )),
            *((f"does not read: it begins with '{text.split()[0]}'", text) for text in (
                "ATTACH 'x.db' AS x", "ATTACH DATABASE ':memory:' AS x", "DETACH main", "PRAGMA query_only = OFF",
                "PRAGMA table_info(t)", "PRAGMA writable_schema = ON", "BEGIN", "COMMIT", "ROLLBACK", "END", "SAVEPOINT s",
                "RELEASE s", "EXPLAIN SELECT a FROM t", "EXPLAIN QUERY PLAN SELECT a FROM t", "EXPLAIN DELETE FROM t",
            )),
        ]  # fmt: skip
        cases: list[tuple[str, str, str]] = [("refused", message, text) for message, text in begins]
        cases += [("refused", message, f"-- c\n/* d */ {text.swapcase()} ;") for message, text in begins]
        for name, text in (
            ("INSERT", "INSERT INTO t SELECT 1, 1, 1, 1"),
            ("INSERT", "REPLACE INTO t SELECT x, x, x, x FROM c"),
            ("INSERT", "INSERT INTO t SELECT 1, 1, 1, 1 RETURNING a"),
            ("DELETE", "DELETE FROM t WHERE a IN c"),
            ("UPDATE", "UPDATE t SET a = 1"),
        ):
            cases.append(("denied", f'{PLAIN} "{name}"', f"WITH c(x) AS (SELECT 1) {text}"))
            cases.append(("denied", f'{PLAIN} "{name}"', f"/* SELECT */ with recursive c(x) as (SELECT 1) {text};"))
        for text in (
            "SELECT load_extension('x') AS a",
            "SELECT load_extension('x', 'y') AS a",
            "WITH c AS (SELECT load_extension('x') AS a) SELECT a FROM c",
            "SELECT a FROM t WHERE load_extension('x')",
            "SELECT a FROM t ORDER BY (SELECT load_extension('x'))",
        ):
            cases.append(("denied", f'{PLAIN} "load_extension"', text))
        cases.append(("denied", f'{PLAIN} "fts3_tokenizer"', "SELECT fts3_tokenizer('simple') AS a"))
        for kind in ("sqlite_script", "sqlite"):
            with opened(kind=kind) as source:
                assert source.connection is not None
                before = pathlib.Path(source.file).read_bytes(), source.connection.total_changes
                for status, message, text in cases:
                    with self.subTest(text, kind=kind):
                        self.assertEqual(asked(source, text), Outcome(status, message, None, []))
                self.assertEqual(rows_of(asked(source, "SELECT a FROM t")), [(1,), (2,), (3,)])
                after = pathlib.Path(source.file).read_bytes(), source.connection.total_changes
                self.assertEqual(after, before)
                self.assertEqual(os.listdir(source.folder), ["shop"])

    def test_functions_of_the_shell_and_capitals(self) -> None:
        with opened() as source:
            for text in ("SELECT readfile('/etc/hostname') AS a", "SELECT writefile('x', 'y') AS a", "SELECT edit('x') AS a"):
                with self.subTest(text):
                    self.assertEqual(brief(asked(source, text)), ("refused", f"does not prepare: {words(text)}"))
            self.assertEqual(asked(source, "SELECT LOAD_EXTENSION('x') AS a").status, "denied")

    def test_pragmas_as_tables(self) -> None:
        for kind in ("sqlite_script", "sqlite"):
            with opened(kind=kind) as source:
                for text in (
                    "SELECT name FROM pragma_table_info('t')",
                    "SELECT name FROM pragma_database_list",
                    "SELECT a, name FROM t, pragma_function_list",
                    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM pragma_query_only)",
                ):
                    with self.subTest(text, kind=kind):
                        outcome = asked(source, text)
                        self.assertEqual((outcome.status, outcome.result), ("denied", None))

    def test_one_statement(self) -> None:
        with opened() as source:
            for text, count in (
                ("SELECT a FROM t;", 1),
                ("SELECT a FROM t; -- end; no other", 1),
                ("/* ; */ SELECT a /* ; SELECT 2 */ FROM t -- ; SELECT 3", 1),
                ("SELECT a FROM t WHERE ';' <> '; DROP TABLE t'", 1),
                ('SELECT a FROM t AS "u;v"', 1),
                ("SELECT a FROM t AS [u;v]", 1),
                ("SELECT a FROM t AS `u;v`;\n\n", 1),
                ("SELECT a FROM t WHERE n IS NULL OR 'it''s; ' <> 'x'", 1),
                ("SELECT a FROM t; SELECT a FROM t", 2),
                ("SELECT a FROM t; DROP TABLE t", 2),
                ("SELECT a FROM t;;/* */; DELETE FROM t;", 2),
                ("SELECT '--'; DROP TABLE t; -- '", 2),
                ("SELECT a FROM t; INSERT INTO t (a) VALUES (1); SELECT a FROM t", 3),
            ):
                with self.subTest(text):
                    found = asked(source, text)
                    expected = Outcome("refused", f"has {count} statements, not one", None, [])
                    self.assertEqual(rows_of(found) if count == 1 else found, [(1,), (2,), (3,)] if count == 1 else expected)

    def test_what_a_query_may_do(self) -> None:
        with opened(kind="sqlite") as source:
            for text, rows in (
                ("VALUES (1, 'x'), (2, NULL)", [(1, "x"), (2, None)]),
                ("with c as (select a from t) select max(a) as a from c", [(3,)]),
                (f"{ENDLESS} SELECT i FROM c WHERE i < 3 LIMIT 2", [(1,), (2,)]),
                ("SELECT upper('x') || char(66) AS x, json_extract('{\"a\": [5]}', '$.a[0]') AS j", [("XB", 5)]),
                ("SELECT a FROM t WHERE a IN (SELECT MAX(a) FROM t) UNION SELECT 1 ORDER BY a", [(1,), (3,)]),
                ("SELECT a, row_number() OVER (ORDER BY a DESC) AS r FROM t WHERE a > 1", [(3, 1), (2, 2)]),
                ("SELECT name FROM sqlite_master", [("t",)]),
                ("SELECT 1 AS \"insert\", 'DELETE FROM t' AS \"drop table t; --\"", [(1, "DELETE FROM t")]),
                ("SELECT replace('abc', 'b', 'x') AS r", [("axc",)]),
            ):
                with self.subTest(text):
                    self.assertEqual(rows_of(asked(source, text)), rows)


class Inputs(unittest.TestCase):
    maxDiff = None

    def test_bound(self) -> None:
        injection = "'; DROP TABLE t; --"
        otherwise = ("refused", "binds an input otherwise than by :name")
        unbound = ("refused", f"does not prepare: {words('SELECT :none AS w')}")
        cases: tuple[tuple[str, dict[str, job.Input], object], ...] = (
            ("SELECT :week AS w", {"week": "W37", "n": 1}, [("W37",)]),
            ("SELECT :n AS w", {"n": -7}, [(-7,)]),
            ("SELECT typeof(:n) AS x, typeof(:week) AS y", {"n": 7, "week": "7"}, [("integer", "text")]),
            ("SELECT :week AS w", {"week": injection}, [(injection,)]),
            ("SELECT :week || :week AS w", {"week": "a"}, [("aa",)]),
            ("SELECT ':week' AS w, \":n\" AS x FROM (SELECT 1 AS \":n\")", {"week": "a", "n": 5}, [(":week", 1)]),
            ("SELECT '?' AS w -- ? $x @y", {}, [("?",)]),
            ("SELECT a FROM t WHERE a = :n", {"n": 2}, [(2,)]),
            ("SELECT a FROM t WHERE a > :n ORDER BY a LIMIT :n", {"n": 1}, [(2,)]),
            ("SELECT :none AS w", {"week": "a"}, unbound),
            ("SELECT ? AS w", {"week": "a"}, otherwise),
            ("SELECT ?1 AS w", {"week": "a"}, otherwise),
            ("SELECT @week AS w", {"week": "a"}, otherwise),
            ("SELECT $week AS w", {"week": "a"}, otherwise),
            ("SELECT :week AS w, $week AS x", {"week": "a"}, otherwise),
        )
        with opened() as source:
            for sql, inputs, expected in cases:
                with self.subTest(sql):
                    self.assertEqual(rows_of(asked(source, sql, inputs)), expected)

    def test_a_whole_snapshot_with_the_inputs_that_its_query_names(self) -> None:
        inputs = {"week": "W37", "other": "not named"}
        with job_folder(inputs=inputs, queries=[query("regions", SQL, evidence_role="compute")]) as folder:
            command("issue", "job.json", cwd=folder)
            (run,) = pathlib.Path(folder, "data", "runs").iterdir()
            (event,) = [
                json.loads(line) for line in run.joinpath("events.jsonl").read_bytes().splitlines() if b'"query.snapshotted"' in line
            ]
            hash = event["snapshot"]
            stored = json.loads(pathlib.Path(folder, "data", "artifacts", hash[:2], hash).read_bytes())
            columns = [
                {"name": "region", "classes": ["text"], "masked": False},
                {"name": "cents", "classes": ["integer"], "masked": False},
            ]
            self.assertEqual(
                stored,
                {
                    "query": "regions", "name": "Q1", "source": "shop", "role": "compute", "sql": SQL,
                    "parameters": {"week": "W37"}, "at": event["at"], "schema": event["schema"], "columns": columns,
                    "truncated": False, "lines": None, "file": None, "receipt": None, "row_count": 2,
                    "rows": [["North", 375050], ["South", 124950]],
                },
            )  # fmt: skip


class Texts(unittest.TestCase):
    def test_semicolons_and_space(self) -> None:
        with opened() as source:
            for sql in ("SELECT 1 AS a;", "SELECT 1 AS a;;", "SELECT 1 AS a; ; -- c", ";SELECT 1 AS a", ";; /* c */ SELECT 1 AS a\f;", "SELECT 1 AS a -- c"):
                with self.subTest(sql):
                    self.assertEqual(rows_of(asked(source, sql)), [(1,)])
            for sql in ("SELECT 1 AS a;\u00a0", "SELECT 1 AS a; x", "SELECT 1 AS a; SELECT 2 AS b", "SELECT 1 AS a;\x1c"):
                with self.subTest(sql):
                    self.assertEqual(brief(asked(source, sql)), ("refused", "has 2 statements, not one"))

    def test_a_nul(self) -> None:
        with opened() as source:
            for sql in ("SELECT 1 AS a\0", "\0", "SELECT '\0' AS a"):
                self.assertEqual(brief(asked(source, sql)), ("refused", "holds a NUL"))

    def test_names_that_no_report_can_cite(self) -> None:
        with opened() as source:
            for length, expected in ((4_096, ("success", "")), (4_097, ("failed", "has a result column whose name is longer than 4096 code points"))):
                self.assertEqual(brief(asked(source, f"SELECT 1 AS {'a' * length}")), expected)
        script = (
            "CREATE TABLE t (a); PRAGMA writable_schema = ON;"
            "UPDATE sqlite_master SET sql = CAST(x'435245415445205441424C4520742028FF29' AS TEXT);"  # CREATE TABLE t (\xff)
        )
        with opened(script, kind="sqlite") as source:
            said = ("failed", "has a result column whose name is not UTF-8")
            self.assertEqual(brief(asked(source, "SELECT * FROM t")), said)

    def test_messages_that_sound_like_a_broken_source(self) -> None:
        with opened() as source:
            for sql, status in (
                ("SELECT * FROM locked_orders", "refused"),
                ("SELECT readonly FROM t", "refused"),
                ("SELECT malformed FROM t", "refused"),
                ("SELECT json_extract('x', '$.a') AS a", "failed"),
            ):
                with self.subTest(sql):
                    self.assertEqual(asked(source, sql).status, status)


class Limits(unittest.TestCase):
    maxDiff = None

    def test_the_time_limit_stops(self) -> None:
        with opened(masked=["t.n"]) as source:
            for limit, said in ((0.02, "0.02"), (0.05, "0.05")):
                for sql in (
                    f"{ENDLESS} SELECT COUNT(*) AS n FROM c",
                    f"{ENDLESS} SELECT i FROM c",
                    f"{ENDLESS} SELECT i FROM c WHERE i < 0",
                    f"{ENDLESS} SELECT i FROM c ORDER BY i DESC",
                    f"{ENDLESS} SELECT n FROM t WHERE a > (SELECT SUM(i) FROM c)",
                    "SELECT COUNT(*) AS n FROM " + ", ".join(f"t AS t{number}" for number in range(30)),
                ):
                    with self.subTest(sql, limit=limit):
                        began = time.monotonic()
                        outcome = asked(source, sql, timeout=limit, max_rows=10**7)
                        took = time.monotonic() - began
                        message = f"stopped after its time limit of {said} seconds"
                        self.assertEqual(outcome, Outcome("failed", message, None, []))
                        self.assertTrue(limit <= took < limit + 2, took)
            self.assertEqual(rows_of(asked(source, "SELECT a FROM t")), [(1,), (2,), (3,)])  # it can be used on

    def test_a_call_that_does_not_stop_is_left_behind(self) -> None:
        """A function of SQLite is not interrupted while it runs, but the run goes on."""
        slow = "SELECT instr(zeroblob(500000), zeroblob(250000) || x'01') AS i"
        with opened() as source:
            began = time.monotonic()
            outcome = asked(source, slow, timeout=0.05)
            self.assertLess(time.monotonic() - began, 2)
            self.assertEqual(brief(outcome), ("failed", "stopped after its time limit of 0.05 seconds"))
            if source.busy:
                said = "its source is still busy with a query that was stopped after its time limit"
                self.assertEqual(brief(asked(source, "SELECT 1 AS a")), ("failed", said))
            while source.busy:
                time.sleep(0.01)

    def test_preparing_has_a_limit_too(self) -> None:
        tables = ["a0 AS (SELECT 1 AS x)"]
        tables += [f"a{n} AS (SELECT x FROM a{n - 1} UNION ALL SELECT x FROM a{n - 1})" for n in range(1, 18)]
        with opened() as source:
            began = time.monotonic()
            outcome = asked(source, f"WITH {', '.join(tables)} SELECT COUNT(*) AS n FROM a17", timeout=0.05)
            self.assertEqual(brief(outcome), ("failed", "stopped after its time limit of 0.05 seconds"))
            self.assertLess(time.monotonic() - began, 2)
            while source.busy:
                time.sleep(0.01)
            self.assertEqual(rows_of(asked(source, "SELECT 1 AS a")), [(1,)])  # it can be used again

    def test_the_look_at_the_columns_has_a_limit_too(self) -> None:
        endless = (
            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c), d AS MATERIALIZED (SELECT COUNT(*) AS n FROM c) "
            "SELECT d.n AS x, email FROM orders, d, d AS e"
        )
        sources = [{"id": "shop", "sqlite_script": "shop.sql", "mask_columns": ["orders.email"]}]
        both = [query("slow", endless, timeout_seconds=0.05), query("regions", SQL)]
        with job_folder(sources=sources, queries=both) as folder:
            said = [{"query": "slow", "level": "error", "message": "stopped after its time limit of 0.05 seconds"}]
            run = command("check", "job.json", cwd=folder)
            self.assertEqual((run.status, json.loads(run.out)["sql"]), (1, said))
            run = command("issue", "job.json", cwd=folder)
            self.assertEqual(json.loads(run.out)["reasons"][0]["code"], "sql_errors")

    def test_an_interrupt_is_no_time_limit(self) -> None:
        job_sources = [{"id": "shop", "sqlite_script": "shop.sql"}]
        endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i FROM c) SELECT MAX(i) AS a FROM c"
        for files, asked_queries in (
            ({}, [query("slow", endless)]),
            ({}, [query("slow", "SELECT instr(zeroblob(1500000), zeroblob(750000) || x'01') AS i")]),
            ({"shop.sql": f"CREATE TABLE t (a); INSERT INTO t {endless};"}, []),
        ):
            with self.subTest(files), job_folder(files, sources=job_sources, queries=asked_queries, contract={}) as folder:
                write(folder, {CARD: card(metric("a", "1"))})
                line = [sys.executable, "-m", "issuance", "issue", "job.json"]
                environment = {**os.environ, "PYTHONPATH": str(ROOT)}
                with subprocess.Popen(line, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                    wait_until_busy(process.pid)
                    process.send_signal(signal.SIGINT)
                    out, err = process.communicate(timeout=20)
                self.assertEqual((process.returncode, out, err), (-signal.SIGINT, b"", b""))
                self.assertEqual(list(pathlib.Path(folder).rglob("run.json")), [])

    def test_a_stopped_query_leaves_a_run_with_its_other_queries(self) -> None:
        slow = query("slow", f"{ENDLESS} SELECT COUNT(*) AS n FROM c", timeout_seconds=0.02)
        with job_folder(queries=[slow, query("regions", SQL)]) as folder:
            run = command("issue", "job.json", cwd=folder)
            found = json.loads(run.out)
            self.assertEqual((run.status, found["tier"], found["missing"]), (1, "degraded", []))
            (reason,) = found["reasons"]
            said = "slow: failed: stopped after its time limit of 0.02 seconds"
            self.assertEqual((reason["code"], reason["message"].partition(": ")[2]), ("sql_errors", said))

    def test_checking_does_not_run_a_query(self) -> None:
        sources = [{"id": "shop", "sqlite_script": "shop.sql", "mask_columns": ["orders.email"]}]
        endless = [query("slow", f"{ENDLESS} SELECT COUNT(*) AS n FROM c"), query("long", f"{ENDLESS} SELECT email FROM orders, c")]
        with job_folder(sources=sources, queries=[*endless, query("regions", SQL)]) as folder:
            run = command("check", "job.json", cwd=folder)
            self.assertEqual((run.status, run.err, json.loads(run.out)["sql"]), (0, "", []))

    def test_the_row_cap(self) -> None:
        with opened() as source:
            for rows, most, kept, truncated in (
                (0, 1, 0, False),
                (1, 1, 1, False),
                (2, 1, 1, True),
                (3, 4, 3, False),
                (999, 999, 999, False),
                (1000, 999, 999, True),
                (1000, 1000, 1000, False),
                (1001, 1000, 1000, True),
                (2000, 2000, 2000, False),
                (2001, 2000, 2000, True),
                (2500, 1000, 1000, True),
                (2500, 2501, 2500, False),
            ):
                with self.subTest(rows=rows, most=most):
                    found = asked(source, f"{ENDLESS} SELECT i FROM c WHERE i > 0 LIMIT {rows}", max_rows=most).result
                    assert found is not None
                    self.assertEqual((found.rows, found.truncated), ([(i + 1,) for i in range(kept)], truncated))
            endless = asked(source, f"{ENDLESS} SELECT i FROM c", max_rows=3)
            self.assertEqual(endless, Outcome("success", "", snapshots.Result(["i"], [(1,), (2,), (3,)], True), []))


class Cells(unittest.TestCase):
    maxDiff = None

    def test_as_stored(self) -> None:
        with opened() as source:
            for sql, stored in (
                ("SELECT 0.1 AS a", "0.1"),
                ("SELECT 0.1 + 0.2 AS a", "0.30000000000000004"),
                ("SELECT 1.0 AS a", "1.0"),
                ("SELECT 1e300 * 1e8 AS a", "1e+308"),
                ("SELECT 1e16 AS a", "1e+16"),
                ("SELECT 1e-7 AS a", "1e-07"),
                ("SELECT 100 / 3.0 AS a", "33.333333333333336"),
                ("SELECT 9007199254740993 AS a", "9007199254740993"),
                ("SELECT 9223372036854775807 AS a", "9223372036854775807"),
                ("SELECT -9223372036854775807 - 1 AS a", "-9223372036854775808"),
                ("SELECT 9223372036854775807 + 1 AS a", "9.223372036854776e+18"),
                ("SELECT NULL AS a", "null"),
                ("SELECT '' AS a", '""'),
                ("SELECT '1.10' AS a", '"1.10"'),
                ("SELECT '\u540d\"' || char(0, 10) AS a", '"\\u540d\\"\\u0000\\n"'),
                ("SELECT 1 = 1 AS a", "1"),
                ("SELECT 1 / 0 AS a", "null"),
                ("SELECT d AS a FROM t WHERE a = 1", "1.1"),
                ("SELECT f AS a FROM t WHERE a = 2", "1e+300"),
            ):
                with self.subTest(sql):
                    found = asked(source, sql).result
                    assert found is not None
                    self.assertEqual(snapshots.encode(found).partition(b'"rows": ')[2].decode(), f"[\n[{stored}]\n]}}\n")

    def test_storage_classes(self) -> None:
        with opened() as source:
            for sql, classes in (
                ("SELECT a, f, d, n FROM t", [["integer"], ["real"], ["integer", "real"], ["integer", "null", "text"]]),
                ("SELECT a, n FROM t WHERE a = 1", [["integer"], ["null"]]),
                ("SELECT a FROM t WHERE 0", [[]]),
                ("SELECT a + 9223372036854770000 AS big, 1 AS small FROM t", [["integer"], ["integer"]]),
                ("SELECT -9223372036854775807 - a AS least FROM t WHERE a = 1", [["integer"]]),
                ("SELECT 9223372036854775807 UNION ALL SELECT 1 UNION ALL SELECT 0.5", [["integer", "real"]]),
                ("SELECT 10000000000000000 UNION ALL SELECT NULL", [["integer", "null"]]),
                ("SELECT 9223372036854775807 + 1 AS a", [["real"]]),
            ):
                with self.subTest(sql):
                    found = asked(source, sql).result
                    assert found is not None
                    stored = snapshots.encode(found, **ABOUT)
                    self.assertEqual([column["classes"] for column in json.loads(stored)["columns"]], classes)
                    problems = Problems()
                    snapshots.decode(stored, "stored", problems)
                    self.assertEqual(problems.lines("test"), [])


MASKED_SCRIPT = """CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, email TEXT, phone TEXT);
INSERT INTO orders VALUES (1, 'N', 'SECRET1', 'SECRET-p1'), (2, 'S', 'SECRET2', 'SECRET-p2');
CREATE TABLE emails (email TEXT, kind TEXT);
INSERT INTO emails VALUES ('SECRET3', 'home');
CREATE VIEW renamed AS SELECT id, email AS contact, region FROM orders;
CREATE VIEW swapped AS SELECT email AS region, region AS email FROM orders;
CREATE VIEW view_of_names AS SELECT id, email FROM orders;
CREATE VIEW inside AS WITH z AS (SELECT email AS x, email FROM orders) SELECT x, email FROM z;
CREATE TABLE codes (code TEXT);
INSERT INTO codes VALUES ('SECRET1'), ('SECRET2'), ('SECRET9');
CREATE TABLE made (email TEXT, dom TEXT AS (substr(email, 1)), kept TEXT AS (email) STORED, far TEXT AS (dom), price INTEGER, total INTEGER AS (price * 2));
INSERT INTO made (email, price) VALUES ('SECRET4', 3);
"""
MASK_COLUMNS = ["orders.email", "Orders.PHONE", "emails.email", "made.email"]
N2, N3 = [[None], [None]], [[None], [None], [None]]
# SQL, unmasked, columns, rows and the columns that are masked.
KEPT: tuple[tuple[str, list[str], list[str], Sequence[Sequence[Any]], set[str]], ...] = (
    ("SELECT id, region FROM orders", [], ["id", "region"], [(1, "N"), (2, "S")], set()),
    ("SELECT COUNT(*) AS n FROM orders", [], ["n"], [(2,)], set()),
    ("SELECT kind AS email FROM emails", [], ["email"], [("home",)], set()),
    ("SELECT 'email' AS email, region FROM orders", [], ["email", "region"], [("email", "N"), ("email", "S")], set()),
    ("SELECT email FROM orders", [], ["email"], N2, {"email"}),
    ("SELECT EMAIL AS EMail FROM ORDERS", [], ["EMail"], N2, {"EMail"}),
    ("SELECT DISTINCT email, id FROM orders;", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT ALL email, id FROM orders -- c", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT email AS email FROM orders", [], ["email"], N2, {"email"}),
    ("SELECT id, email FROM orders", [], ["id", "email"], [[1, None], [2, None]], {"email"}),
    ('SELECT id, "email" FROM orders', [], ["id", "email"], [[1, None], [2, None]], {"email"}),
    ("SELECT id, [email] FROM orders", [], ["id", "email"], [[1, None], [2, None]], {"email"}),
    ("SELECT id, `email` FROM orders", [], ["id", "email"], [[1, None], [2, None]], {"email"}),
    ("SELECT o.email,\n-- c\no.id FROM orders AS o", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT main.orders.email, id FROM orders", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT * FROM orders WHERE id = 1", [], ["id", "region", "email", "phone"], [[1, "N", None, None]], {"email", "phone"}),
    ("SELECT o.*, 5 AS x FROM orders AS o WHERE id = 1", [], ["id", "region", "email", "phone", "x"], [[1, "N", None, None, 5]],
     {"email", "phone"}),
    ("SELECT email, region FROM orders WHERE email = 'x'", [], ["email", "region"], [], {"email"}),
    ("SELECT email, region FROM orders WHERE email > '' ORDER BY email", [], ["email", "region"], [[None, "N"], [None, "S"]], {"email"}),
    ("SELECT email, id FROM (SELECT email, id FROM orders)", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("WITH c AS (SELECT email, id FROM orders) SELECT email, id FROM c", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT emails.email, kind, id FROM orders JOIN emails ON emails.email = orders.email", [], ["email", "kind", "id"], [], {"email"}),
    ("SELECT o.email, length(code) AS n FROM orders o JOIN codes ON 1 WHERE o.email IS NOT NULL AND code LIKE '%9' ORDER BY o.email", [],
     ["email", "n"], [[None, 7]] * 2, {"email"}),
    ("SELECT o.email, COUNT(*) AS n FROM orders o JOIN codes ON 1 WHERE o.email <> 'x' GROUP BY o.email", [], ["email", "n"],
     [[None, 3]] * 2, {"email"}),
    ("SELECT price, total FROM made", [], ["price", "total"], [(3, 6)], set()),
    ("SELECT email, phone FROM orders", [], ["email", "phone"], [[None, None]] * 2, {"email", "phone"}),
    ("SELECT upper(email) AS email FROM orders", [], ["email"], N2, {"email"}),
    ("SELECT group_concat(email) AS email FROM orders", [], ["email"], [[None]], {"email"}),
    ("SELECT email FROM orders UNION SELECT email FROM emails", [], ["email"], N3, {"email"}),
    ("SELECT email FROM swapped", [], ["email"], N2, {"email"}),
    ("SELECT COUNT(email) AS n FROM orders", ["n"], ["n"], [(2,)], set()),
    ("SELECT COUNT(email) AS n FROM orders", ["N"], ["n"], [(2,)], set()),
    ("SELECT COUNT(*) AS n FROM orders WHERE email > ''", ["n", "other"], ["n"], [(2,)], set()),
    ("SELECT region, COUNT(email) AS n FROM orders GROUP BY region", ["n", "region"], ["region", "n"], [("N", 1), ("S", 1)], set()),
    ("SELECT region, id FROM orders ORDER BY email", ["region", "id"], ["region", "id"], [("N", 1), ("S", 2)], set()),
    ("SELECT upper(email) AS email, region FROM orders", ["region"], ["email", "region"], [[None, "N"], [None, "S"]], {"email"}),
    ("SELECT email, length(email) AS n FROM orders", ["n"], ["email", "n"], [[None, 7], [None, 7]], {"email"}),
    ("SELECT email FROM orders", ["email"], ["email"], N2, {"email"}),
    ("SELECT * FROM (SELECT a.email, b.email FROM orders AS a JOIN orders AS b USING (id))", [], ["email", "email:1"], [[None, None]] * 2,
     {"email", "email:1"}),
    ("SELECT dom, kept FROM made", [], ["dom", "kept"], [[None, None]], {"dom", "kept"}),
    ("SELECT id, email FROM view_of_names", [], ["id", "email"], [[1, None], [2, None]], {"email"}),
    ("SELECT o.email AS email, id FROM orders o", [], ["email", "id"], [[None, 1], [None, 2]], {"email"}),
    ("SELECT max(email) AS email, COUNT(*) AS n FROM orders", [], ["email", "n"], [[None, 2]], {"email"}),
)  # fmt: skip
# SQL, unmasked, the masked column that is read, and the result column that may hold its values.
NOT_KEPT: tuple[tuple[str, list[str], str, str], ...] = (
    ("SELECT email AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email x FROM orders", [], "orders.email", "x"),
    ("SELECT phone AS email FROM orders", [], "orders.phone", "email"),
    ('SELECT email AS "email " FROM orders', [], "orders.email", "email "),
    ("SELECT email AS region, region AS email FROM orders", [], "orders.email", "region"),
    ("SELECT email, email AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email, (email) AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email, upper(email) AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email, email||'' FROM orders", [], "orders.email", "email||''"),
    ("SELECT email, CASE WHEN 1 THEN \"email\" END AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email COLLATE NOCASE FROM orders", [], "orders.email", "email COLLATE NOCASE"),
    ("SELECT email, (SELECT email FROM orders) AS x FROM orders", [], "orders.email", "x"),
    ("SELECT email, lag(email) OVER (ORDER BY id) AS x FROM orders", [], "orders.email", "x"),
    ("SELECT contact FROM renamed", [], "orders.email", "contact"),
    ("SELECT region, contact FROM renamed", [], "orders.email", "region"),
    ("SELECT region, email FROM swapped", [], "orders.email", "region"),
    ("SELECT x FROM (SELECT email AS x FROM orders)", [], "orders.email", "x"),
    ("SELECT region, email FROM (SELECT email AS region, region AS email FROM orders)", [], "orders.email", "region"),
    ("WITH c AS (SELECT email AS x FROM orders) SELECT x FROM c", [], "orders.email", "x"),
    ("WITH c(x, email) AS (SELECT email, region FROM orders) SELECT x, email FROM c", [], "orders.email", "x"),
    ('WITH "c" (x, email) AS MATERIALIZED (SELECT email, region FROM orders) SELECT email, x FROM c', [], "orders.email", "x"),
    ("SELECT region FROM orders UNION SELECT email FROM orders", [], "orders.email", "region"),
    ("SELECT region, email FROM orders UNION ALL SELECT email, region FROM orders", [], "orders.email", "region"),
    ("SELECT region FROM orders EXCEPT SELECT email FROM orders", [], "orders.email", "region"),
    ("SELECT region FROM orders INTERSECT SELECT email FROM orders", [], "orders.email", "region"),
    ("VALUES ((SELECT email FROM orders))", [], "orders.email", "column1"),
    ("SELECT COUNT(email) AS n FROM orders", [], "orders.email", "n"),
    ("SELECT COUNT(email) AS n FROM orders", ["m"], "orders.email", "n"),
    ("SELECT COUNT(*) AS n FROM orders WHERE email > ''", [], "orders.email", "n"),
    ("SELECT region FROM orders WHERE email = 'x'", [], "orders.email", "region"),
    ("SELECT region, id FROM orders ORDER BY email", ["id"], "orders.email", "region"),
    ("SELECT region, COUNT(email) AS n FROM orders GROUP BY region", ["n"], "orders.email", "region"),
    ("SELECT phone FROM orders WHERE email > ''", [], "orders.email", "phone"),
    ("WITH c AS (SELECT email FROM orders) SELECT email, (SELECT * FROM c) AS x FROM c", [], "orders.email", "x"),
    ("SELECT o.email, v.column1 FROM orders o, (VALUES ((SELECT email FROM orders LIMIT 1))) v", [], "orders.email", "column1"),
    ("WITH 'c'(x, email) AS (SELECT email, region FROM orders) SELECT x, email FROM c", [], "orders.email", "x"),
    ("WITH t AS (SELECT email, email FROM orders) SELECT \"email:1\" AS x, email FROM t", [], "orders.email", "x"),
    ("SELECT email, email \u00a0 FROM orders", [], "orders.email", "\u00a0"),
    ("SELECT email, 1 IS NOT DISTINCT FROM 1 AS y, email AS x FROM orders", [], "orders.email", "x"),
    ("SELECT x, email FROM inside", [], "orders.email", "x"),
    ("SELECT code AS x, email FROM orders JOIN codes ON code = email", [], "orders.email", "x"),
    ("SELECT code AS x, email FROM orders, codes WHERE code = email", [], "orders.email", "x"),
    ("SELECT dom AS x FROM made", [], "made.dom", "x"),
    ("SELECT far AS x FROM made", [], "made.far", "x"),
    ("SELECT kept AS x, email FROM made", [], "made.kept", "x"),
    ("SELECT id AS x, email FROM orders WHERE email IN (SELECT code FROM codes)", [], "orders.email", "x"),
    ("SELECT email, kind FROM emails WHERE EXISTS (SELECT 1 FROM orders WHERE phone > '')", [], "orders.phone", "kind"),
)


class Masks(unittest.TestCase):
    maxDiff = None

    def test_each_form(self) -> None:
        for kind in ("sqlite_script", "sqlite"):
            with opened(MASKED_SCRIPT, MASK_COLUMNS, kind) as source:
                for sql, unmasked, columns, rows, hidden in KEPT:
                    with self.subTest(sql, unmasked=unmasked, kind=kind):
                        outcome = asked(source, sql, unmasked=unmasked)
                        assert outcome.result is not None, outcome.message
                        found = outcome.result
                        self.assertEqual((found.columns, found.rows, found.masked), (columns, rows, hidden))
                        stored = snapshots.encode(found)
                        self.assertNotIn(b"SECRET", stored)
                        marks = [entry["name"] for entry in json.loads(stored)["columns"] if entry["masked"]]
                        self.assertEqual(set(marks), hidden)
                for sql, unmasked, column, name in NOT_KEPT:
                    with self.subTest(sql, unmasked=unmasked, kind=kind):
                        said = f"reads the masked column {column}, whose values may be in the result column {json.dumps(name)}"
                        outcome = asked(source, sql, unmasked=unmasked)
                        expected = f"{said}: list in unmasked the columns that are safe to keep"
                        self.assertEqual((*brief(outcome), outcome.result), ("denied", expected, None))

    def test_no_masked_value_stands_in_any_byte_of_the_store(self) -> None:
        sources: list[dict[str, Any]] = [
            {"id": "shop", "sqlite_script": "shop.sql", "mask_columns": MASK_COLUMNS},
            {"id": "files", "csv": {"orders": "orders.csv"}, "mask_columns": MASK_COLUMNS[:2]},
            {"id": "saved", "result": "saved.json", "mask_columns": MASK_COLUMNS[:1]},
            {"id": "tool", "mcp_result": "tool.json", "mask_columns": MASK_COLUMNS[:1]},
        ]
        asks = [form[:2] for form in KEPT] + [form[:2] for form in NOT_KEPT]
        on_files = [(sql, unmasked) for sql, unmasked in asks if not any(name in sql for name in ("emails", "renamed", "swapped", "codes", "made", "inside", "view_of"))]
        result = {"columns": ["id", "email"], "rows": [[1, "SECRET1"], [2, "SECRET2"]], "truncated": False}
        asked_queries = [query(f"s{number}", sql, unmasked=unmasked) for number, (sql, unmasked) in enumerate(asks)]
        asked_queries += [{**query(f"f{number}", sql, unmasked=unmasked), "source": "files"} for number, (sql, unmasked) in enumerate(on_files)]
        asked_queries += [{"id": name, "source": name} for name in ("saved", "tool")]
        files = {
            "shop.sql": MASKED_SCRIPT,
            "orders.csv": "id,region,email,phone\n1,N,SECRET1,SECRET-p1\n2,S,SECRET2,SECRET-p2\n",
            "saved.json": result,
            "tool.json": {"structuredContent": {"data": result}},
            CARD: card(metric("emails", "count(s4, 'email')"), metric("ids", "count(saved, 'id')")),
        }
        with job_folder(files, sources=sources, queries=asked_queries, narrative=DROP, contract={}) as folder:
            run = command("issue", "job.json", cwd=folder)
            self.assertEqual((run.err, json.loads(run.out)["status"]), ("", "finished"))
            stored = [path for path in pathlib.Path(folder, "data").rglob("*") if path.is_file()]
            self.assertGreater(len(stored), len(KEPT))
            for path in stored:
                self.assertNotIn(b"SECRET", path.read_bytes(), path)
            self.assertNotIn("SECRET", run.out)
            reason = "failed: the column 'email' of s4 is masked"
            self.assertEqual(json.loads(run.out)["missing"], [{"metric": "emails", "reason": reason}])
            for name in ("verify latest", "audit latest", "runs"):
                shown = command(*name.split(), cwd=folder)
                self.assertNotIn("SECRET", shown.out + shown.err)

    def test_joins_that_read_unnoticed(self) -> None:
        said = "joins by NATURAL or by USING a masked column, which SQLite reads without saying so: join by ON"
        script = MASKED_SCRIPT + (
            "CREATE VIEW joined AS SELECT kind, id FROM orders JOIN emails USING (email);"
            "CREATE TABLE other (id INTEGER, email TEXT); INSERT INTO other VALUES (1, 'SECRET1');"
        )
        with opened(script, MASK_COLUMNS) as source:
            for sql, denied in (
                ("SELECT other.email AS x FROM orders JOIN other USING (email)", True),
                ("SELECT other.email AS x FROM orders NATURAL JOIN other", True),
                ('SELECT o.id FROM orders AS o JOIN emails USING ("EMAIL")', True),
                ("SELECT kind FROM joined", True),
                ("SELECT region FROM orders JOIN other USING (id)", False),
            ):
                with self.subTest(sql):
                    outcome = asked(source, sql)
                    self.assertEqual(brief(outcome), ("denied", said) if denied else ("success", ""))
        with opened(script) as source:
            self.assertEqual(asked(source, "SELECT other.email AS x FROM orders NATURAL JOIN other").status, "success")

    def test_full_text_of_a_masked_column(self) -> None:
        script = MASKED_SCRIPT + (
            "CREATE VIRTUAL TABLE f USING fts5(email, content='orders', content_rowid='id');"
            "INSERT INTO f(f) VALUES ('rebuild');"
        )
        try:
            with opened(script, MASK_COLUMNS) as source:
                for sql in ("SELECT email AS x FROM f", "SELECT highlight(f, 0, '', '') AS x, email FROM f", "SELECT x FROM (SELECT email AS x, email FROM f)"):
                    with self.subTest(sql):
                        self.assertEqual(asked(source, sql).status, "denied")
                self.assertEqual(rows_of(asked(source, "SELECT email FROM f")), [[None], [None]])
        except SourceFault as fault:
            self.skipTest(fault.args[2])

    def test_keys_that_are_told_otherwise(self) -> None:
        script = "CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO p VALUES (987654321);"
        for masked, status in (["p.id"], "denied"), ([], "success"):
            with opened(script, masked) as source:
                for sql in ("SELECT last_insert_rowid() AS x", "SELECT seq AS x FROM sqlite_sequence"):
                    self.assertEqual(asked(source, sql).status, status)

    def test_a_temporary_table_of_the_same_name(self) -> None:
        script = (
            "CREATE TABLE o (secret TEXT, g TEXT AS (secret)); INSERT INTO o (secret) VALUES ('SECRET1');"
            "CREATE TEMP TABLE o (secret TEXT);"
        )
        with opened(script, ["o.secret"]) as source:
            self.assertEqual(asked(source, "SELECT g AS x FROM main.o").status, "denied")

    def test_an_error_of_a_script_is_not_repeated(self) -> None:
        for masked, said in ((["t.a"], "cannot be run"), ([], 'cannot be run: near "SECRET": syntax error')):
            with self.assertRaises(SourceFault) as caught, opened("CREATE TABLE t (a); INSERT INTO t VALUES ('it''s'SECRET);", masked):
                pass
            self.assertEqual(caught.exception.args[1:], ("line 1", said))

    def test_a_temporary_view(self) -> None:
        script = f"{MASKED_SCRIPT} CREATE TEMP VIEW tv AS SELECT region, email, email AS x FROM orders;"
        with opened(script, MASK_COLUMNS) as source:
            self.assertEqual(asked(source, "SELECT region, email, x FROM tv").status, "denied")
            self.assertEqual(rows_of(asked(source, "SELECT region, email FROM tv")), [["N", None], ["S", None]])
            self.assertIn("tv", [table["name"] for table in source.tables])

    def test_words_that_repeat_a_masked_value(self) -> None:
        said = "failed on masked values, which SQLite's words might repeat"
        script = MASKED_SCRIPT + "INSERT INTO emails VALUES (CAST(x'534543524554ff' AS TEXT), 'bad');"
        with opened(script, MASK_COLUMNS) as source:
            for sql, unmasked in (
                ("SELECT COUNT(*) AS n FROM orders WHERE json_extract('{}', email) IS NULL", ["n"]),
                ("SELECT email FROM emails WHERE kind = 'bad'", []),
            ):
                self.assertEqual(brief(asked(source, sql, unmasked=unmasked)), ("failed", said))

    def test_tables_that_hold_samples(self) -> None:
        script = MASKED_SCRIPT + "CREATE INDEX i ON orders (email); ANALYZE;"
        for masked, expected in ((MASK_COLUMNS, ("denied", f'{PLAIN} "sqlite_stat1"')), ([], ("success", ""))):
            with opened(script, masked) as source:
                self.assertEqual(brief(asked(source, "SELECT tbl, idx FROM sqlite_stat1")), expected)

    def test_a_masked_key_is_masked_as_the_rowid_too(self) -> None:
        with opened(MASKED_SCRIPT, ["orders.id"]) as source:
            for name in ("rowid", "oid", "_rowid_"):
                with self.subTest(name):
                    self.assertEqual(asked(source, f"SELECT {name} AS x, region FROM orders").status, "denied")
            self.assertEqual(rows_of(asked(source, "SELECT id, region FROM orders")), [[None, "N"], [None, "S"]])


ROUND = "ROUND: rounding belongs in the card"
STAR = "SELECT * takes whatever columns there are: name them"
LIMIT = "LIMIT without ORDER BY takes any rows"


def default(name: str) -> str:
    return f"{name} with a literal: a default belongs in the card"


def fractions(name: str) -> str:
    return f"{name} of fractions is binary floating point: sum in the card"


WARNINGS: tuple[tuple[str, list[str]], ...] = (
    ("SELECT ROUND(a, 1) AS x FROM t", [ROUND]),
    ("SELECT round (f) AS x FROM t", [ROUND]),
    ("SELECT ROUND(a) AS x, ROUND(f) AS y FROM t", [ROUND]),
    ("SELECT a FROM t WHERE a = ROUND(a)", [ROUND]),
    ("SELECT 'ROUND(a)' AS x FROM t -- ROUND(a)", []),
    ('SELECT a AS "round" FROM t', []),
    ("SELECT abs(a) AS x FROM t", []),
    ("SELECT COALESCE(a, 0) AS x FROM t", [default("COALESCE")]),
    ("SELECT COALESCE(a, d, -1.5) AS x FROM t", [default("COALESCE")]),
    ("SELECT COALESCE(MAX(a), 0) AS x FROM t", [default("COALESCE")]),
    ("SELECT ifnull(n, 'none') AS x FROM t", [default("IFNULL")]),
    ("SELECT IFNULL(a, 0) AS x, COALESCE(a, 0) AS y FROM t", [default("IFNULL"), default("COALESCE")]),
    ("SELECT COALESCE(a, d) AS x FROM t", []),
    ("SELECT IFNULL(a, NULL) AS x FROM t", []),
    ("SELECT COALESCE(a, d + 0) AS x FROM t", []),
    ("SELECT COALESCE(a, abs(5)) AS x FROM t", []),
    ("SELECT COALESCE(a, :n) AS x FROM t", []),
    ("SELECT nullif(a, 0) AS x FROM t", []),
    ("SELECT SUM(f) AS x FROM t", [fractions("SUM")]),
    ("SELECT avg(f) AS x FROM t", [fractions("AVG")]),
    ("SELECT SUM(u.d) AS x FROM t AS u", [fractions("SUM")]),
    ('SELECT SUM("F") AS x FROM t', [fractions("SUM")]),
    ("SELECT SUM(DISTINCT n) AS x FROM t", [fractions("SUM")]),
    ("SELECT SUM(a + f) AS x FROM t", [fractions("SUM")]),
    ("SELECT SUM(a * 0.5) AS x FROM t", [fractions("SUM")]),
    ("SELECT SUM(1e2) AS x FROM t", [fractions("SUM")]),
    ("SELECT SUM(CASE WHEN a > 1 THEN f ELSE 0 END) AS x FROM t", [fractions("SUM")]),
    ("SELECT SUM(f) AS x, AVG(f) AS y, SUM(d) AS z FROM t", [fractions("SUM"), fractions("AVG")]),
    ("SELECT SUM(a) AS x FROM t", []),
    ("SELECT SUM(a * 2) AS x FROM t", []),
    ("SELECT AVG(a) AS x FROM t", []),
    ("SELECT SUM(CASE WHEN f > 0.5 THEN 1 ELSE 0 END) AS x FROM t", []),
    ("SELECT SUM(CASE f WHEN 0.1 THEN a END) AS x FROM t", []),
    ("SELECT MAX(f) AS x, COUNT(f) AS y, MIN(0.5) AS z FROM t", []),
    ("SELECT SUM(a) / 2.0 AS x FROM t", []),
    ("SELECT * FROM t", [STAR]),
    ("SELECT t.* FROM t", [STAR]),
    ("SELECT 5 AS x, t.* FROM t", [STAR]),
    ("SELECT DISTINCT * FROM t", [STAR]),
    ("SELECT a FROM (SELECT * FROM t)", [STAR]),
    ("SELECT COUNT(*) AS x FROM t", []),
    ("SELECT a * 2 AS x, 2 * a AS y, (a) * a AS z FROM t", []),
    ("SELECT '*' AS x FROM t /* SELECT * */", []),
    ("SELECT a FROM t LIMIT 1", [LIMIT]),
    ("SELECT a FROM t LIMIT 1 OFFSET 1", [LIMIT]),
    ("SELECT a FROM t ORDER BY a LIMIT 1", []),
    ("SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 1", []),
    ("SELECT a FROM (SELECT a FROM t ORDER BY a) LIMIT 1", [LIMIT]),
    ("SELECT a FROM (SELECT a FROM t LIMIT 1) ORDER BY a", [LIMIT]),
    ("SELECT a FROM t WHERE a IN (SELECT a FROM t LIMIT 1) ORDER BY a LIMIT 1", [LIMIT]),
    ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1)", []),
    ("SELECT a FROM t UNION SELECT a FROM t ORDER BY 1 LIMIT 1", []),
    ("SELECT row_number() OVER (ORDER BY a) AS x FROM t LIMIT 1", [LIMIT]),
    ('SELECT a AS "limit" FROM t -- LIMIT 1', []),
    ("SELECT *, ROUND(SUM(f)) AS x, COALESCE(a, 0) AS y FROM t LIMIT 1",
     [STAR, ROUND, fractions("SUM"), default("COALESCE"), LIMIT]),
)  # fmt: skip


class Warned(unittest.TestCase):
    maxDiff = None

    def test_each_on_both_sides(self) -> None:
        for kind in ("sqlite_script", "sqlite"):
            with opened(kind=kind) as source:
                for sql, warnings in WARNINGS:
                    with self.subTest(sql, kind=kind):
                        outcome = asked(source, sql, {"n": 1})
                        self.assertEqual((*brief(outcome), outcome.warnings), ("success", "", warnings))

    def test_check_and_issue_say_them(self) -> None:
        sql = "SELECT region, SUM(cents) AS cents FROM orders GROUP BY region LIMIT 9"
        texts = [query("regions", sql), query("none", "SELECT * FROM gone"), query("wipe", "DELETE FROM orders")]
        with job_folder(queries=texts) as folder:
            run = command("check", "job.json", cwd=folder)
            said = (
                ("regions", "warning", LIMIT),
                ("none", "error", "does not prepare: no such table: gone"),
                ("none", "warning", STAR),
                ("wipe", "error", "would write: it begins with 'DELETE'"),
            )
            expected = [dict(zip(("query", "level", "message"), one)) for one in said]
            self.assertEqual((run.status, json.loads(run.out)["sql"]), (1, expected))
            command("issue", "job.json", cwd=folder)
            (path,) = pathlib.Path(folder, "data", "runs").iterdir()
            events = [json.loads(line) for line in path.joinpath("events.jsonl").read_bytes().splitlines()]
            found = {event["query"]: event["warnings"] for event in events if event["type"] == "query.snapshotted"}
            self.assertEqual(found, {"regions": [LIMIT], "none": [STAR], "wipe": []})


if __name__ == "__main__":
    unittest.main()
