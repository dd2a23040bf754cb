"""Sources: all five kinds, their schemas as stored, what is refused of each and where, and that none is written to."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Union
from unittest import mock

from answer_format import Number
from issuance import databases, job, queries, schemas, snapshots, sources
from issuance.files import SourceFault
from issuance.snapshots import Result
from issuance.sources import Source
from tests import issuance_support
from tests.issuance_support import CARD, DROP, card, command, job_folder, metric, query

Path = Union[str, dict[str, str]]
NAMES = {"sqlite_script": "s.sql", "sqlite": "s.db", "result": "r.json", "mcp_result": "r.json"}
QUERY = job.Query("q", "Q1", "shop", None, "source", 10.0, 10_000, [])
TEXT = "must be text of 1 to 4096 code points without lone surrogates, not"
CELL = "must be text, a number with an exponent of at most three digits, or null, not"
ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)"


def setUpModule() -> None:
    """Nothing here is about surviving a power failure, and waiting for a disk takes most of the time."""
    without_waiting = mock.patch("os.fsync")
    without_waiting.start()
    unittest.addModuleCleanup(without_waiting.stop)


@contextlib.contextmanager
def opened(
    kind: str, files: Mapping[str, Any], path: Path = "", masked: Collection[str] = ()
) -> Iterator[Source]:
    """An open source of some kind in a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        issuance_support.write(folder, files)
        source = Source(job.Source("shop", kind, path or NAMES[kind], list(masked)), folder)
        with contextlib.closing(source):
            yield source


def refusal(kind: str, content: Any) -> tuple[str | None, str]:
    """Where and why a source of one file cannot be used, or what it is instead; the file must be named."""
    name: Path = {"t": "t.csv"} if kind == "csv" else NAMES[kind]
    file = "t.csv" if isinstance(name, dict) else name
    try:
        with opened(kind, {file: content}, name) as source:
            return "opened", repr(source.saved)
    except SourceFault as fault:
        named, where, sentence = fault.args
        return (where, sentence) if os.path.basename(named) == file else ("another file", named)


def asked(source: Source, sql: str) -> Result:
    """The result of a query on a source."""
    outcome = queries.run(QUERY._replace(sql=sql), source, {})
    assert outcome.result is not None, outcome
    return outcome.result


def words(*statements: str, barred: Collection[int] = (), file: str = ":memory:") -> str:
    """What this version of SQLite says of the last of some statements."""

    def allows(action: int, *_: object) -> int:
        return sqlite3.SQLITE_DENY if action in barred else sqlite3.SQLITE_OK

    done = 0
    try:
        with contextlib.closing(sqlite3.connect(file, uri=True, timeout=0, isolation_level=None)) as connection:
            connection.set_authorizer(allows)
            for statement in statements:
                done += 1
                connection.execute(statement).fetchall()
    except sqlite3.Error as fault:
        assert done in (0, len(statements)), fault
        return str(fault)
    raise AssertionError(statements)


def made(path: str, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def database(*statements: str) -> bytes:
    """The bytes of a database."""
    with tempfile.TemporaryDirectory() as folder:
        made(f"{folder}/x", *statements)
        return pathlib.Path(folder, "x").read_bytes()


def sha256(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def column(name: str, type: str = "") -> dict[str, str]:
    return {"name": name, "type": type}


MASKS = {"sqlite_script": "u.b", "sqlite": "u.b", "csv": "orders.ID", "result": "u.a", "mcp_result": "x.y.b"}


class Schemas(unittest.TestCase):
    maxDiff = None

    def test_as_stored(self) -> None:
        script = (
            "CREATE TABLE u (a INTEGER, b, c DECIMAL(10,2), g AS (a + 1));"
            "CREATE VIEW T AS SELECT c, a + 1 AS x FROM u; CREATE VIEW broken AS SELECT nope FROM gone;"
            "CREATE INDEX i ON u (a); CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID;"
        )
        tables = [
            {"name": "T", "kind": "view", "columns": [column("c", "DECIMAL(10,2)"), column("x")]},
            {"name": "broken", "kind": "view", "columns": []},
            {"name": "u", "kind": "table",
             "columns": [column("a", "INTEGER"), column("b"), column("c", "DECIMAL(10,2)"), column("g")]},
            {"name": "w", "kind": "table", "columns": [column("k", "TEXT")]},
        ]  # fmt: skip
        saved = json.dumps({"columns": ["a", "b"], "rows": [], "truncated": True})
        answer = json.dumps({"structuredContent": {"data": {**json.loads(saved), "columns": [{"name": "a"}, "b"]}}})
        result = [{"name": "shop", "kind": "result", "columns": [column("a"), column("b")]}]
        data = "Id,\u540d\n1,x\n"
        files = {"one.csv": data, "sub/two.csv": "k\n1.5\n"}
        paths = {"orders": "one.csv", "Regions": "sub/two.csv", "again": "one.csv"}
        orders = [column("Id", "INTEGER"), column("\u540d", "TEXT")]
        loaded = [
            {"name": "Regions", "kind": "table", "file": "sub/two.csv", "columns": [column("k", "TEXT")]},
            {"name": "again", "kind": "table", "file": "one.csv", "columns": orders},
            {"name": "orders", "kind": "table", "file": "one.csv", "columns": orders},
        ]
        hashes = {"one.csv": sha256(data), "sub/two.csv": sha256("k\n1.5\n")}
        cases: tuple[tuple[str, dict[str, Any], Path, dict[str, Any]], ...] = (
            ("sqlite_script", {"s.sql": script}, "s.sql", {"sha256": sha256(script), "tables": tables}),
            ("sqlite", {"s.db": database(*script.split(";"))}, "s.db", {"tables": tables}),
            ("csv", files, paths, {"files": hashes, "tables": loaded}),
            ("result", {"r": saved}, "r", {"sha256": sha256(saved), "tables": result}),
            ("mcp_result", {"r": answer}, "r", {"sha256": sha256(answer), "tables": result}),
        )
        for kind, files, path, expected in cases:
            with self.subTest(kind), opened(kind, files, path, [MASKS[kind]]) as source:
                stored = source.schema()
                found = json.loads(stored)
                head = {"source": "shop", "kind": kind, "masked": [MASKS[kind]], "truncated": False}
                self.assertEqual(found, {**head, **expected})
                self.assertEqual(stored, (json.dumps(found, indent=1) + "\n").encode("ascii"))

    def test_no_more_columns_than_a_schema_holds(self) -> None:
        script = {"s.sql": "CREATE TABLE t (a, b); CREATE TABLE u (c, d); CREATE TABLE v (e);"}
        for most, kept, truncated in (
            (6, {"t": "ab", "u": "cd", "v": "e"}, False),
            (3, {"t": "ab", "u": "c"}, True),
            (2, {"t": "ab"}, True),
        ):
            with self.subTest(most), mock.patch.object(schemas, "MAX_COLUMNS", most), opened("sqlite_script", script) as source:
                found = json.loads(source.schema())
                names = {table["name"]: "".join(entry["name"] for entry in table["columns"]) for table in found["tables"]}
                self.assertEqual((names, found["truncated"]), (kept, truncated))


class Scripts(unittest.TestCase):
    maxDiff = None

    def test_run(self) -> None:
        begin = "CREATE TABLE t (a);"
        for script, rows in (
            (f"{begin}\nINSERT INTO t VALUES (1);\n", [1]),
            (f"{begin} INSERT INTO t VALUES (1)", [1]),
            (f"{begin} INSERT INTO t VALUES (1); -- no ; end", [1]),
            (f"{begin} INSERT INTO t VALUES (1); /* left open; ", [1]),
            (f";; {begin};;INSERT INTO t VALUES (1);;", [1]),
            (f"{begin}\r\nINSERT INTO t\r\nVALUES (1);\r\n", [1]),
            (f"{begin} INSERT INTO t VALUES ('a;\nb''; --'), ('/*;');", ["a;\nb'; --", "/*;"]),
            ('CREATE TABLE "x;y" ([a;b], `c;d`, "e"";"); CREATE TABLE t AS SELECT COUNT(*) FROM "x;y";', [0]),
            (f"{begin} -- it's; one\nINSERT /* ; ' */ INTO t VALUES (1);", [1]),
            (
                f"{begin} CREATE TRIGGER r AFTER INSERT ON t BEGIN\nUPDATE t SET a = a + 1;\nSELECT CASE 1 WHEN 1 THEN 2 END;\nEND;"
                "INSERT INTO t VALUES (1);",
                [2],
            ),
            (f"BEGIN; {begin} INSERT INTO t VALUES (1); COMMIT;", [1]),
            (f"BEGIN; {begin} INSERT INTO t VALUES (1);", [1]),
            (f"{begin} INSERT INTO t VALUES (1); BEGIN; DELETE FROM t; ROLLBACK;", [1]),
            (f"{begin} SELECT * FROM t; INSERT INTO t VALUES (upper('a'));", ["A"]),
            (f"{begin} INSERT INTO t SELECT value FROM json_each('[1, 2]');", [1, 2]),
            (f"{begin} INSERT INTO t VALUES ('\u540d');", ["\u540d"]),
            (f"PRAGMA page_size = 4096; PRAGMA user_version = 5; PRAGMA foreign_keys = OFF; {begin}", []),
        ):
            with self.subTest(script), opened("sqlite_script", {"s.sql": script}) as source:
                self.assertEqual([row[0] for row in asked(source, "SELECT * FROM t").rows], rows)

    def test_dumps(self) -> None:
        trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM gone; SELECT ';'; END"
        script = (
            "CREATE TABLE t (a INTEGER PRIMARY KEY{}, b TEXT);\nCREATE INDEX i ON t (b);\n"
            "INSERT INTO t VALUES(7,'x;y''\n--z');\nINSERT INTO t VALUES(9,NULL);\n"
            f"CREATE VIEW v AS SELECT b FROM t;\n{trigger};\n"
        )
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(script.format(""))
            python = "\n".join(connection.iterdump())
        sequence = "DELETE FROM sqlite_sequence;\nINSERT INTO sqlite_sequence VALUES('t',9);\n"
        shell = f"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n{script.format(' AUTOINCREMENT')}{sequence}COMMIT;\n"
        for dump, tables in ((python, ["t", "v"]), (shell, ["sqlite_sequence", "t", "v"])):
            with self.subTest(dump), opened("sqlite_script", {"s.sql": dump}) as source:
                self.assertEqual(asked(source, "SELECT a, b FROM t ORDER BY a").rows, [(7, "x;y'\n--z"), (9, None)])
                self.assertEqual(asked(source, "SELECT sql FROM sqlite_master WHERE name = 'r'").rows, [(trigger,)])
                self.assertEqual(asked(source, "SELECT b FROM v WHERE b IS NULL").rows, [(None,)])
                self.assertEqual([table["name"] for table in source.tables], tables)

    def test_refused(self) -> None:
        begin = "CREATE TABLE t (a);"
        attach = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
        functions = {sqlite3.SQLITE_FUNCTION}
        unauthorized = words("PRAGMA x", barred={sqlite3.SQLITE_PRAGMA})
        cases: list[tuple[str, str | None, str]] = [
            (f"{begin}\n\nINSRT INTO t VALUES (1);", "line 3", words("INSRT INTO t")),
            (f"\n\n{begin} INSERT INTO u VALUES (1);", "line 3", words("INSERT INTO u VALUES (1)")),
            (f"{begin}\nINSERT INTO t\nVALUES (1, 2);\n", "line 2", words(begin, "INSERT INTO t VALUES (1, 2)")),
            (f"{begin} INSERT INTO t VALUES ('a;\n\nb');\nBAD;", "line 4", words("BAD")),
            (f"{begin}\nCREATE TRIGGER r AFTER INSERT ON t BEGIN\nDELETE FROM t;\nEND;\nBAD", "line 5", words("BAD")),
            (f"{begin}\r\nBAD;\r\n", "line 2", words("BAD")),
            (f"{begin}\nINSERT INTO t VALUES (1", "line 2", words(begin, "INSERT INTO t VALUES (1")),
            (f"{begin}\n\nINSERT INTO t VALUES ('1;\n", "line 3", words(begin, "INSERT INTO t VALUES ('1;\n")),
            (f"{begin}\nCREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1;", "line 2",
             words(begin, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1;")),
            ("CREATE TABLE t (a UNIQUE);\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);", "line 3",
             words("CREATE TABLE t (a UNIQUE)", "INSERT INTO t VALUES (1), (1)")),
            (f"{begin}\nINSERT INTO t VALUES (:x);", "line 2", words(begin, "INSERT INTO t VALUES (:x)")),
            (".mode csv\n", "line 1", words(".mode csv")),
            (f"{begin}\nATTACH 'x.db' AS x;", "line 2", words("ATTACH 'x.db' AS x", barred=attach)),
            ("ATTACH ':memory:' AS x;", "line 1", words("ATTACH 'x.db' AS x", barred=attach)),
            ("DETACH main;", "line 1", words("DETACH main", barred=attach)),
            ("VACUUM INTO 'x.db';", "line 1", words("VACUUM INTO 'x.db'", barred=attach)),
            ("SELECT load_extension('x');", "line 1", words("SELECT load_extension('x')", barred=functions)),
            ("SELECT LOAD_EXTENSION('x', 'y');", "line 1", words("SELECT LOAD_EXTENSION('x', 'y')", barred=functions)),
            ("SELECT readfile('x');", "line 1", words("SELECT readfile('x')")),
            *((f"{begin}\nPRAGMA {setting};", "line 2", unauthorized) for setting in (
                "query_only = OFF", "writable_schema = ON", "temp_store_directory = 'x'", "table_info(t)", "trusted_schema = ON",
            )),
            ("CREATE TABLE p (i PRIMARY KEY); CREATE TABLE c (i REFERENCES p DEFERRABLE INITIALLY DEFERRED);"
             "PRAGMA foreign_keys = ON; BEGIN; INSERT INTO c VALUES (1);", None, "FOREIGN KEY constraint failed"),
        ]  # fmt: skip
        for script, line, said in cases:
            with self.subTest(script):
                self.assertEqual(refusal("sqlite_script", script), (line, f"cannot be run: {said}"))

    def test_texts_that_are_none(self) -> None:
        begin = b"CREATE TABLE t (a);\n"
        for content, where, sentence in (
            (begin + b"\0", "line 2", "holds a NUL"),
            (b"-- \0\n" + begin, "line 1", "holds a NUL"),
            (b"\xef\xbb\xbf" + begin, "line 1 column 1", "starts with a byte order mark"),
            (begin + b"-- \xc3\xa9\xff", "line 2 column 5", "not UTF-8"),
        ):
            with self.subTest(content):
                self.assertEqual(refusal("sqlite_script", content), (where, sentence))

    def test_nothing_is_stored_and_no_other_file_touched(self) -> None:
        for script, line, said in (
            ("CREATE TABLE orders (a);\nBAD;", 2, words("BAD")),
            ("ATTACH 'other.db' AS x;", 1, words("ATTACH 'x' AS x", barred={sqlite3.SQLITE_ATTACH})),
        ):
            with self.subTest(script), job_folder({"shop.sql": script}) as folder:
                before = sorted(os.listdir(folder))
                for name in ("issue", "check"):
                    run = command(name, "job.json", cwd=folder)
                    self.assertEqual(run, (2, "", f"issuance: shop.sql: line {line}: cannot be run: {said}\n"))
                self.assertEqual(sorted(os.listdir(folder)), before)


class Csv(unittest.TestCase):
    maxDiff = None

    def test_loaded(self) -> None:
        for data, columns, rows, lines in (
            ("a,b\n1,2\n", ["a", "b"], [(1, 2)], [2]),
            ("a,b\n1,2", ["a", "b"], [(1, 2)], [2]),
            ("a,b\r\n1,x\r\n2,y\r\n", ["a", "b"], [(1, "x"), (2, "y")], [2, 3]),
            ("a,b\n", ["a", "b"], [], []),
            ("a,b\n,5\n6,\n", ["a", "b"], [(None, 5), (6, None)], [2, 3]),
            ('a,b\n"",x\n', ["a", "b"], [(None, "x")], [2]),
            ("a\n1\n\n3\n", ["a"], [(1,), (None,), (3,)], [2, 3, 4]),
            ('a,b\n"x\ny",2\n"z\n\n",3\nw,4\n', ["a", "b"], [("x\ny", 2), ("z\n\n", 3), ("w", 4)], [2, 4, 7]),
            ('a,b\r\n"x\r\ny",2\r\nz,3\r\n', ["a", "b"], [("x\r\ny", 2), ("z", 3)], [2, 4]),
            ('"a\nb",c\n1,2\n', ["a\nb", "c"], [(1, 2)], [3]),
            ('a\n"x, ""y"""\n', ["a"], [('x, "y"',)], [2]),
            ('a\nx"y\n', ["a"], [('x"y',)], [2]),
            ('"a""b", c \n1,2\n', ['a"b', " c "], [(1, 2)], [2]),
            ("1,a\n3,4\n", ["1", "a"], [(3, 4)], [2]),
            ("rowid,oid\n7,8\n", ["rowid", "oid"], [(7, 8)], [2]),
            ("\u540d,\u503c\n\u5317,5\n", ["\u540d", "\u503c"], [("\u5317", 5)], [2]),
            ("a;b\n1;2\n", ["a;b"], [("1;2",)], [2]),
        ):
            with self.subTest(data), opened("csv", {"t.csv": data}, {"t": "t.csv"}) as source:
                found = asked(source, "SELECT * FROM t")
                self.assertEqual((found.columns, found.rows, found.lines), (columns, rows, lines))

    def test_integers_and_texts_are_kept_exactly(self) -> None:
        for cells, whole in (
            (["0", "-1", "5"], True),
            (["5", "", "6"], True),
            (["9" * 18, "-" + "9" * 18], True),
            (["9" * 19], False),
            (["1", "2.50"], False),
            (["0.10"], False),
            (["1e3"], False),
            (["007"], False),
            (["-0"], False),
            (["+5"], False),
            ([" 5"], False),
            (["1", "x"], False),
            (["1,234"], False),
            (["\u0665"], False),
            (["12345678901234567890.123456789012345678901234567890"], False),
            (["", ""], False),
        ):
            data = "id,a\n" + "".join(f'1,"{cell}"\n' for cell in cells)
            with self.subTest(cells), opened("csv", {"t.csv": data}, {"t": "t.csv"}) as source:
                expected = [(None if not cell else int(cell) if whole else cell,) for cell in cells]
                self.assertEqual(asked(source, "SELECT a FROM t").rows, expected)
                self.assertEqual(source.tables[0]["columns"][1], column("a", "INTEGER" if whole else "TEXT"))

    def test_refused(self) -> None:
        names, twice = "must name every column, in at most 4096 code points", "must have another name for each column, not twice"
        numbers, empty = "must name the columns, not hold numbers", "must name the columns, not be empty"
        cases: tuple[tuple[bytes, str | None, str], ...] = (
            (b"", None, "is empty: its first line has to name the columns"),
            (b"\n", "line 1", empty),
            (b"\na,b\n1,2\n", "line 1", empty),
            (b"1,2\n3,4\n", "line 1", numbers),
            (b"2026\n1\n", "line 1", numbers),
            (b"-1.5,2e3\n3,4\n", "line 1", numbers),
            (b"a,\n1,2\n", "line 1", names),
            (b"a, \n1,2\n", "line 1", names),
            (b"a,a\n1,2\n", "line 1", f'{twice} "a"'),
            (b"a,b,A\n1,2,3\n", "line 1", f'{twice} "A"'),
            (b"a,b\n1\n", "line 2", "has 1 fields, but the header has 2"),
            (b"a,b\n1,2\n1,2,3\n", "line 3", "has 3 fields, but the header has 2"),
            (b"a,b\n1,2\n\n", "line 3", "has 0 fields, but the header has 2"),
            (b"a\n1,2\n", "line 2", "has 2 fields, but the header has 1"),
            (b'a,b\n"x\ny",2\n"z\n\n\n",3\n5\n', "line 8", "has 1 fields, but the header has 2"),
            (b'a,b\n"x\r\ny",2\r\n"z\r\n",3,4\r\n', "line 4", "has 3 fields, but the header has 2"),
            (b'a,b\n1,2\n"x\n,2\n', "line 3", "is no CSV: unexpected end of data"),
            (b'a,b\n"x"y,2\n', "line 2", "is no CSV: ',' expected after '\"'"),
            (b"\xef\xbb\xbfa,b\n1,2\n", "line 1 column 1", "starts with a byte order mark"),
            (b"a,b\n\xff,2\n", "line 2 column 1", "not UTF-8"),
            (b"a,b\n1,2\n\xc3\xa93,\xe9\n", "line 3 column 4", "not UTF-8"),
            ("a,b\n".encode("utf-16"), "line 1 column 1", "not UTF-8"),
        )
        for data, where, sentence in cases:
            with self.subTest(data):
                self.assertEqual(refusal("csv", data), (where, sentence))

    def test_the_file_at_fault_is_named(self) -> None:
        paths = {"orders": "one.csv", "regions": "sub/two.csv"}
        files = {"one.csv": "a\n1\n", "sub/two.csv": "a,b\n1\n"}
        with job_folder(files, sources=[{"id": "shop", "csv": paths}]) as folder:
            run = command("issue", "job.json", cwd=folder)
            line = "issuance: sub/two.csv: line 2: has 1 fields, but the header has 2\n"
            self.assertEqual(run, (2, "", line))

    def test_provenance(self) -> None:
        files = {"one.csv": 'a,b\n5,"x\ny"\n6,z\n', "sub/two.csv": "x,y\n5,8\n"}
        paths = {"t": "one.csv", "select": "sub/two.csv"}
        with opened("csv", files, paths) as source:
            for sql, lines, file in (
                ("SELECT a FROM t", [2, 4], "one.csv"),
                ("SELECT a FROM T;", [2, 4], "one.csv"),
                ("SELECT u.a, b AS c FROM t AS u", [2, 4], "one.csv"),
                ("SELECT a -- c\nFROM t -- d", [2, 4], "one.csv"),
                ("SELECT a FROM t WHERE a > 5", [4], "one.csv"),
                ("SELECT a FROM t ORDER BY a DESC", [4, 2], "one.csv"),
                ("SELECT a FROM t WHERE a > 9", [], "one.csv"),
                ("SELECT 'x from select' AS a, a AS b FROM [t]", [2, 4], "one.csv"),
                ('SELECT x FROM "select"', [2], "sub/two.csv"),
                ("SELECT max(a, 9) AS m, substr(b, 1, 1) AS s FROM t WHERE a = 6", None, None),
                ("SELECT COUNT(*) AS n FROM t", None, None),
                ("SELECT SUM (a) AS n FROM t", None, None),
                ("SELECT DISTINCT a FROM t", None, None),
                ("SELECT a FROM t GROUP BY a", None, None),
                ("SELECT a FROM t UNION ALL SELECT a FROM t", None, None),
                ('SELECT a FROM t, "select"', None, None),
                ('SELECT a FROM t JOIN "select" ON x = a', None, None),
                ("SELECT a FROM (SELECT a FROM t)", None, None),
                ("WITH c AS (SELECT a FROM t) SELECT a FROM c", None, None),
                ("SELECT row_number() OVER (ORDER BY a) AS n FROM t", None, None),
                ("SELECT 1 AS a", None, None),
            ):
                with self.subTest(sql):
                    found = asked(source, sql)
                    self.assertEqual((found.lines, found.file), (lines, file))
                    self.assertNotIn(sources.LINE, found.columns)


class Databases(unittest.TestCase):
    maxDiff = None

    def test_read(self) -> None:
        data = database("CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2.5), ('x'), (NULL)", "CREATE VIEW v AS SELECT a FROM t")
        for name in ("s.db", "a b?c#d%20\u00e9.db", "x'y\".db", "file:s.db"):
            for table in "tv":
                with self.subTest(name, table=table), opened("sqlite", {name: data}, name) as source:
                    self.assertEqual(asked(source, f"SELECT a FROM {table}").rows, [(1,), (2.5,), ("x",), (None,)])

    def test_refused(self) -> None:
        large = database("CREATE TABLE t (a)", f"INSERT INTO t {ENDLESS} SELECT 'row ' || i FROM c")
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/folder")
            issuance_support.write(
                folder,
                {
                    "text": "This is a text, and a long one at that, but no database. " * 20,
                    "cut": large[:-4096],
                    "header": large[:100],
                    "scrambled": large[:28] + b"\xff" * 40 + large[68:],
                },
            )
            for name in ("text", "cut", "header", "scrambled", "missing", "folder"):
                with self.subTest(name):
                    said = words("SELECT * FROM sqlite_master", file=f"file:{folder}/{name}?mode=ro")
                    with self.assertRaises(SourceFault) as caught:
                        Source(job.Source("shop", "sqlite", name, []), folder)
                    self.assertEqual(caught.exception.args, (f"{folder}/{name}", None, f"cannot be read: {said}"))
            self.assertFalse(os.path.exists(f"{folder}/missing"))

    def test_files_of_other_kinds_that_cannot_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/x")
            for kind in ("sqlite_script", "csv", "result", "mcp_result"):
                for name, said in (("none", "No such file or directory"), ("x", "Is a directory")):
                    with self.subTest(kind, name=name), self.assertRaises(SourceFault) as caught:
                        Source(job.Source("shop", kind, {"t": name} if kind == "csv" else name, []), folder)
                    self.assertEqual(caught.exception.args, (f"{folder}/{name}", None, f"cannot be read: {said}"))

    def test_damage_that_only_a_query_meets(self) -> None:
        data = database("CREATE TABLE t (a)", f"INSERT INTO t {ENDLESS} SELECT 'row ' || i FROM c", "CREATE TABLE u AS SELECT 7 AS b")
        data = data[:12288] + b"\xff" * 40960 + data[53248:]
        with opened("sqlite", {"s.db": data}) as source:
            self.assertEqual(asked(source, "SELECT b FROM u").rows, [(7,)])
            said = words("SELECT SUM(length(a)) FROM t", file=f"file:{source.file}?mode=ro")
            with self.assertRaises(SourceFault) as caught:
                queries.run(QUERY._replace(sql="SELECT SUM(length(a)) AS n FROM t"), source, {})
            self.assertEqual(caught.exception.args, (source.file, None, f"cannot be read: {said}"))

    def test_locked(self) -> None:
        self.assertEqual(databases.BUSY_SECONDS, 2)
        usual: dict[str, Any] = {"sources": [{"id": "shop", "sqlite": "s.db"}], "narrative": DROP}
        data = database(*issuance_support.SCRIPT.split(";"))
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(databases, "BUSY_SECONDS", 0.01))
            folder = stack.enter_context(job_folder({"s.db": data}, **usual))
            other = stack.enter_context(contextlib.closing(sqlite3.connect(f"{folder}/s.db", isolation_level=None)))
            other.execute("BEGIN EXCLUSIVE")
            for name in ("issue", "check"):
                run = command(name, "job.json", cwd=folder)
                self.assertEqual(run, (2, "", "issuance: s.db: cannot be read: database is locked\n"))
            self.assertFalse(os.path.exists(f"{folder}/data"))
            other.execute("ROLLBACK")
            other.execute("BEGIN IMMEDIATE")  # a writer that does not lock readers out yet
            other.execute("DELETE FROM orders")
            self.assertEqual(command("issue", "job.json", cwd=folder)[::2], (0, ""))
            other.execute("ROLLBACK")

    def test_all_queries_see_one_state(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made(f"{folder}/s.db", "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)")
            with contextlib.closing(sqlite3.connect(f"{folder}/s.db", isolation_level=None)) as other:
                other.execute("INSERT INTO t VALUES (1)")  # stands in the log only
                for rows in ([(1,)], [(1,), (2,)]):
                    spec = job.Source("shop", "sqlite", "s.db", [])
                    with contextlib.closing(Source(spec, folder)) as source:
                        other.execute("INSERT INTO t VALUES (2)")
                        for _ in range(2):
                            self.assertEqual(asked(source, "SELECT a FROM t").rows, rows)

    def test_read_only(self) -> None:
        files = {"s.db": database("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")}
        kinds: tuple[tuple[str, dict[str, Any], Path], ...] = (
            ("sqlite", files, "s.db"),
            ("sqlite_script", {"s.sql": "CREATE TABLE t (a); INSERT INTO t VALUES (1);"}, "s.sql"),
            ("csv", {"t.csv": "a\n1\n"}, {"t": "t.csv"}),
        )
        for kind, files, path in kinds:
            with opened(kind, files, path) as source:
                assert source.connection is not None
                for statement in ("INSERT INTO t VALUES (2)", "UPDATE t SET a = 2", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a)"):
                    with self.subTest(kind, statement=statement), self.assertRaises(sqlite3.OperationalError) as caught:
                        source.connection.execute(statement)
                    self.assertEqual(str(caught.exception), "attempt to write a readonly database")
                self.assertEqual(asked(source, "SELECT a FROM t").rows, [(1,)])

    def test_nothing_is_written_to_a_database(self) -> None:
        usual: dict[str, Any] = {"sources": [{"id": "shop", "sqlite": "sub/s.db"}], "narrative": DROP}
        data = database(*issuance_support.SCRIPT.split(";"))
        with job_folder({"sub/s.db": data}, **usual) as folder:
            os.utime(f"{folder}/sub/s.db", (1, 1))
            for name in ("check", "issue"):
                self.assertEqual(command(name, "job.json", cwd=folder)[::2], (0, ""))
            self.assertEqual(os.listdir(f"{folder}/sub"), ["s.db"])
            self.assertEqual(pathlib.Path(folder, "sub", "s.db").read_bytes(), data)
            self.assertEqual(os.stat(f"{folder}/sub/s.db").st_mtime, 1)


def result(**changes: Any) -> dict[str, Any]:
    whole = {"columns": ["a", "b"], "rows": [[1, "x"]], "truncated": False, **changes}
    return {name: value for name, value in whole.items() if value is not DROP}


def answer(data: Any = None, /, **changes: Any) -> dict[str, Any]:
    """An MCP answer with other values of some keys of its data, or with other data."""
    usual = result(rows=[{"a": 1, "b": "x"}, {"b": "y", "a": 2}], **{"rowCount": 2, "receiptId": "rcpt-1", **changes})
    return {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"data": usual if data is None else data}}


class DecimalText(unittest.TestCase):
    """A column of decimals holds text, and compares as numbers."""

    def test_order_and_comparison(self) -> None:
        numbers = ["9.5", "10.5", "-3", "100", "10.50", "1000000000000000000000", "0.1"]
        with opened("csv", {"t.csv": "a\n" + "\n".join(numbers) + "\n"}, {"t": "t.csv"}) as source:
            for sql, expected in (
                ("SELECT MAX(a) AS a FROM t", ["1000000000000000000000"]),
                ("SELECT MIN(a) AS a FROM t", ["-3"]),
                ("SELECT a FROM t ORDER BY a LIMIT 3", ["-3", "0.1", "9.5"]),
                ("SELECT a FROM t WHERE a > 10 ORDER BY a DESC, _rowid_", ["1000000000000000000000", "100", "10.5", "10.50"]),
                ("SELECT a FROM t WHERE a < 9.6 ORDER BY a", ["-3", "0.1", "9.5"]),
                ("SELECT a FROM t WHERE a = 10.5", ["10.5", "10.50"]),
                ("SELECT a FROM t WHERE a BETWEEN 9 AND 10.5 ORDER BY _rowid_", ["9.5", "10.5", "10.50"]),
                ("SELECT COUNT(DISTINCT a) AS a FROM t", [6]),
                ("SELECT a FROM t WHERE a > 'x'", []),
                ("SELECT typeof(a) AS a FROM t LIMIT 1", ["text"]),
            ):
                with self.subTest(sql):
                    self.assertEqual([row[0] for row in asked(source, sql).rows], expected)

    def test_several_texts_of_one_value_are_said(self) -> None:
        counts = "SELECT {} AS w, COUNT(*) AS n FROM t GROUP BY 1"
        for cells, name, said in (
            ("4.1,4.10,4.2", "v", ["v holds one decimal in several texts (4.1 and 4.10), which are equal"]),
            ("4.1,4.10,4.2", "'x'", []),
            ("4.1,4.3,4.2", "v", []),
            ("4.10,4.30,4.20", "v", []),
            ("1e2,100", "v", []),
        ):
            data = "v\n" + cells.replace(",", "\n") + "\n"
            with self.subTest(cells), opened("csv", {"t.csv": data}, {"t": "t.csv"}) as source:
                self.assertEqual(queries.run(QUERY._replace(sql=counts.format(name)), source, {}).warnings, said)

    def test_functions_of_decimals_are_said(self) -> None:
        with opened("csv", {"t.csv": "v,n\n4.1,1\n10.5,2\n"}, {"t": "t.csv"}) as source:
            said = "{} of a column of decimals gives a text, which compares as text"
            for sql, expected in (
                ("SELECT COUNT(*) AS n FROM t WHERE NULLIF(v, 0) > 9", [said.format("NULLIF")]),
                ("SELECT substr(v, 1) AS n FROM t", [said.format("SUBSTR")]),
                ("SELECT NULLIF(n, 0) AS n FROM t WHERE v > 9", []),
                ("SELECT COUNT(v) AS n FROM t WHERE CAST(v AS REAL) > 9", []),
            ):
                self.assertEqual(queries.run(QUERY._replace(sql=sql), source, {}).warnings, expected)

    def test_other_columns_compare_as_text(self) -> None:
        for cells in ("9.5,10.5x", "01,9", "1e5000,9", "9;5,10"):
            first, second = cells.split(",")
            with self.subTest(cells), opened("csv", {"t.csv": f"a\n{first}\n{second}\n"}, {"t": "t.csv"}) as source:
                self.assertEqual(list(asked(source, "SELECT MAX(a) AS a FROM t").rows), [(max(first, second),)])


class Saved(unittest.TestCase):
    maxDiff = None

    def test_results(self) -> None:
        numbers = '{"columns":["a"],"rows":[[1.10],[1e3],[12345678901234567890],[-0],[0.1e-5]],"truncated":false}'
        cases: tuple[tuple[Any, list[str], list[Any], bool], ...] = (
            (result(), ["a", "b"], [[1, "x"]], False),
            (result(rows=[]), ["a", "b"], [], False),
            (result(truncated=True), ["a", "b"], [[1, "x"]], True),
            (result(rows=[[None, ""], [True, False]]), ["a", "b"], [[None, ""], ["true", "false"]], False),
            (result(rows=[{"b": "x", "a": 1}]), ["a", "b"], [[1, "x"]], False),
            (result(columns=["\u540d", " "]), ["\u540d", " "], [[1, "x"]], False),
            (numbers, ["a"], [["1.10"], ["1e3"], ["12345678901234567890"], ["-0"], ["0.1e-5"]], False),
        )
        for content, columns, rows, truncated in cases:
            with self.subTest(content), opened("result", {"r.json": content}) as source:
                expected = Result(columns, rows, truncated, file="r.json")
                self.assertEqual(queries.run(QUERY, source, {}), queries.Outcome("success", "", expected, []))

    def test_decimals_stay_numbers_in_the_snapshot(self) -> None:
        content = '{"columns":["a"],"rows":[[1.10],["1.10"],[7],[true],[12345678901234567890]],"truncated":false}'
        with opened("result", {"r.json": content}) as source:
            found = queries.run(QUERY, source, {}).result
            assert found is not None
            self.assertEqual([type(row[0]) for row in found.rows], [Number, str, int, str, Number])
            stored = snapshots.encode(found)
            self.assertTrue(stored.endswith(b'"rows": [\n[1.10],\n["1.10"],\n[7],\n["true"],\n[12345678901234567890]\n]}\n'))
            classes = json.loads(stored)["columns"][0]["classes"]
            self.assertEqual(classes, ["decimal", "integer", "text"])

    def test_decimals_add_up_exactly(self) -> None:
        rows = '{"columns":["a"],"rows":[[0.1],[0.2],[1e30],[-1e30]],"truncated":false}'
        changes: dict[str, Any] = {"sources": [{"id": "shop", "result": "r.json"}], "queries": [query("regions")], "narrative": DROP}
        changes["contract"] = {"required": ["total"]}
        files = {"r.json": rows, CARD: card(metric("total", "sum(regions, 'a')", format="raw", decimals=1))}
        with job_folder(files, **changes, title="A total of 0.3") as folder:
            self.assertEqual(command("issue", "job.json", cwd=folder)[::2], (0, ""))

    def test_refused_results(self) -> None:
        fields = "must have a field for each column and no other"
        cases: tuple[tuple[Any, str, str], ...] = (
            (result(columns=[]), "columns", "must have 1 to 2000 items, not 0"),
            (result(columns=["a"] * 2), "columns[1]", 'must be unique, but [0] also has "a"'),
            (result(columns=["a", 5]), "columns[1]", f"{TEXT} 5"),
            (result(columns=["a", ""]), "columns[1]", f'{TEXT} ""'),
            (result(columns=["a", {"name": "b"}]), "columns[1]", f"{TEXT} an object"),
            (result(columns=DROP), "columns", "is missing"),
            (result(rows=DROP), "rows", "is missing"),
            (result(truncated=DROP), "truncated", "is missing"),
            (result(truncated="no"), "truncated", 'must be true or false, not "no"'),
            (result(truncated=0), "truncated", "must be true or false, not 0"),
            (result(extra=1), "root", 'has the unknown field "extra"'),
            (result(rows=DROP, truncated=DROP), "rows", "is missing (and 1 more)"),
            (result(rows={}), "rows", "must be an array, not an object"),
            (result(rows=[[1, 2], 5]), "rows[1]", "must be an array or an object, not 5"),
            (result(rows=[None]), "rows[0]", "must be an array or an object, not null"),
            (result(rows=[[1, 2], [1]]), "rows[1]", "must have 2 cells, not 1"),
            (result(rows=[[1, 2, 3]]), "rows[0]", "must have 2 cells, not 3"),
            (result(rows=[{"a": 1}]), "rows[0]", fields),
            (result(rows=[{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}]), "rows[1]", fields),
            (result(rows=[{"a": 1, "B": 2}]), "rows[0]", fields),
            (result(rows=[[1, [2]]]), "rows[0][1]", f"{CELL} an array"),
            (result(rows=[[1, 2], [{"x": 1}, 2]]), "rows[1][0]", f"{CELL} an object"),
            (result(rows=[["\ud800", 1]]), "rows[0][0]", f'{CELL} "\\ud800"'),
            ([], "root", "must be an object, not an array"),
            ("", "line 1 column 1", "not JSON: Expecting value"),
            ('{"columns":["a"],"rows":[[NaN]],"truncated":false}', "line 1 column 27", "not JSON: NaN is no number"),
            ('{"columns":["a"],"rows":[],"rows":[[1]],"truncated":false}', "rows", "must stand once in its object, not 2 times"),
            (b'{\n"\xff', "line 2 column 2", "not UTF-8"),
            (b"\xef\xbb\xbf{}", "line 1 column 1", "starts with a byte order mark"),
        )
        for content, where, sentence in cases:
            with self.subTest(content):
                self.assertEqual(refusal("result", content), (where, sentence))

    def test_answers(self) -> None:
        usual = [[1, "x"], [2, "y"]]
        cases: tuple[tuple[Any, list[Any], bool, str | None], ...] = (
            (answer(), usual, False, "rcpt-1"),
            ({**answer(), "isError": False, "_meta": {"x": [1]}}, usual, False, "rcpt-1"),
            (answer(also=5), usual, False, "rcpt-1"),
            (answer(columns=[{"name": "a", "type": "INT"}, {"name": "b"}]), usual, False, "rcpt-1"),
            (answer(result(rows=[[1, "x"]], rowCount=1, receiptId="r")), [[1, "x"]], False, "r"),
            (answer(result(rows=[], rowCount=0)), [], False, None),
            (answer(receiptId=DROP), usual, False, None),
            (answer(truncated=True), usual, True, "rcpt-1"),
            (answer(rowCount=3, truncated=True), usual, True, "rcpt-1"),
            ('{"structuredContent":{"data":{"columns":["a"],"rows":[[0.10],[true]],"rowCount":2,"truncated":false}}}',
             [["0.10"], ["true"]], False, None),
        )  # fmt: skip
        for content, rows, truncated, receipt in cases:
            with self.subTest(content), opened("mcp_result", {"r.json": content}) as source:
                columns = ["a", "b"][: len(rows[0]) if rows else 2]
                expected = Result(columns, rows, truncated, file="r.json", receipt=receipt)
                self.assertEqual(queries.run(QUERY, source, {}), queries.Outcome("success", "", expected, []))

    def test_answers_of_failed_queries(self) -> None:
        error = "the tool answered with an error"
        for content, said in (
            ({"isError": True}, error),
            ({"isError": True, "content": "x"}, error),
            ({"isError": True, "content": [5, {"type": "image"}, {"text": "no such table"}]}, f'{error}: "no such table"'),
            ({"isError": True, "content": [{"text": "a\u202e\nb"}]}, f'{error}: "a\\u202e\\nb"'),
            ({"isError": True, "content": [{"text": "y" * 100}]}, f'{error}: "{"y" * 55}"...'),
            ({**answer(), "isError": True}, f'{error}: "ok"'),
            ({**answer(result(rows=[], rowCount=0)), "isError": True}, f'{error}: "ok"'),
            (answer(rowCount=3), "the saved answer says 3 rows, but 2 are there"),
            (answer(rowCount=1), "the saved answer says 1 rows, but 2 are there"),
            (answer(result(rows=[], rowCount=5)), "the saved answer says 5 rows, but 0 are there"),
        ):
            with self.subTest(content), opened("mcp_result", {"r.json": content}) as source:
                self.assertEqual(queries.run(QUERY, source, {}), queries.Outcome("failed", said, None, []))

    def test_a_failed_query_is_never_one_without_rows(self) -> None:
        changes: dict[str, Any] = {"sources": [{"id": "shop", "mcp_result": "r.json"}], "queries": [query("regions")]}
        changes.update(narrative=DROP, contract={"required": ["rows"]})
        error = 'failed: the tool answered with an error: "ok"'
        none = answer(result(rows=[], rowCount=0))
        for content, missing, status in (
            ({**none, "isError": True}, [{"metric": "rows", "reason": f"missing: the query regions has no result: {error}"}], 1),
            (none, [], 0),
        ):
            files = {"r.json": content, CARD: card(metric("rows", "count(regions, 'a')"))}
            with self.subTest(status), job_folder(files, **changes) as folder:
                run = command("issue", "job.json", cwd=folder)
                self.assertEqual((run.status, json.loads(run.out)["missing"]), (status, missing))
                checked = json.loads(command("check", "job.json", cwd=folder).out)["sql"]
                said = {"query": "regions", "level": "error", "message": error.partition(" ")[2]}
                self.assertEqual(checked, [said] if status else [])

    def test_refused_answers(self) -> None:
        data = "structuredContent.data"
        fields = "must have a field for each column and no other"
        cases: tuple[tuple[Any, str, str], ...] = (
            ([], "root", "must be an object, not an array"),
            (5, "root", "must be an object, not 5"),
            ({}, "structuredContent", "is missing"),
            ({"content": [{"type": "text", "text": "{}"}]}, "structuredContent", "is missing"),
            ({"jsonrpc": "2.0", "id": 1, "result": answer()}, "structuredContent", "is missing"),
            ({"structuredContent": None}, "structuredContent", "must be an object, not null"),
            ({"structuredContent": {}}, data, "is missing"),
            (answer([]), data, "must be an object, not an array"),
            (answer({}), f"{data}.columns", "is missing (and 2 more)"),
            (answer(truncated=DROP), f"{data}.truncated", "is missing"),
            (answer(truncated=None), f"{data}.truncated", "must be true or false, not null"),
            (answer(columns=[]), f"{data}.columns", "must have 1 to 2000 items, not 0"),
            (answer(columns=["a", "a"]), f"{data}.columns", "must be unique"),
            (answer(columns=[{"type": "INT"}, "b"]), f"{data}.columns[0]", f"{TEXT} an object"),
            (answer(columns=[{"name": 5}, "b"]), f"{data}.columns[0]", f"{TEXT} 5"),
            (answer(columns=["a"]), f"{data}.rows[0]", fields),
            (answer(result(rows=[[1, "x"], [1]])), f"{data}.rows[1]", "must have 2 cells, not 1"),
            (answer(result(rows=[[1, []]])), f"{data}.rows[0][1]", f"{CELL} an array"),
            (answer(result(rows=["x"])), f"{data}.rows[0]", 'must be an array or an object, not "x"'),
            ('{"isError":true,"isError":false}', "isError", "must stand once in its object, not 2 times"),
            ('{"structuredContent":{"data":{"columns":["a"],"rows":[{"a":1,"a":2}],"truncated":false}}}',
             f"{data}.rows[0].a", "must stand once in its object, not 2 times"),
            ("{", "line 1 column 2", "not JSON: Expecting property name enclosed in double quotes"),
        )  # fmt: skip
        for content, where, sentence in cases:
            with self.subTest(content):
                self.assertEqual(refusal("mcp_result", content), (where, sentence))

    def test_masked_columns(self) -> None:
        rows: list[Any] = [["SECRET1", 1], ["SECRET2", None]]
        for columns, hidden in (
            (["email", "a"], ["email"]),
            (["EMail", "a"], ["EMail"]),
        ):
            whole = result(columns=columns, rows=rows)
            objects = {**whole, "rows": [dict(zip(columns, row)) for row in rows]}
            for kind, content in (("result", whole), ("result", objects), ("mcp_result", answer(whole)), ("mcp_result", answer(objects))):
                with self.subTest(columns, kind=kind), opened(kind, {"r.json": content}, masked=["orders.email"]) as source:
                    found = queries.run(QUERY, source, {}).result
                    assert found is not None
                    self.assertEqual((found.columns, found.masked), (columns, frozenset(hidden)))
                    self.assertEqual(found.rows, [[None, 1], [None, None]])
                    self.assertNotIn(b"SECRET", snapshots.encode(found))

    def test_a_wrong_cell_of_a_masked_column_is_not_quoted(self) -> None:
        for cell in ('"SECRET\\ud800"', "123456e4321", '["SECRET"]'):
            content = f'{{"columns": ["a", "email"], "rows": [[1, {cell}]], "truncated": false}}'.encode()
            for kind, at in (("result", ""), ("mcp_result", "structuredContent.data.")):
                data = content if kind == "result" else b'{"structuredContent": {"data": ' + content + b"}}"
                masked = opened(kind, {"r.json": data}, masked=["orders.email"])
                with self.subTest(cell, kind=kind), self.assertRaises(SourceFault) as caught, masked:
                    pass
                self.assertEqual(caught.exception.args[1:], (f"{at}rows[0][1]", CELL[: -len(", not")]))

    def test_a_mask_that_names_nothing(self) -> None:
        tables = ("CREATE TABLE orders (email, [o.a.b])", "CREATE VIEW v AS SELECT email AS e FROM orders")
        sources: tuple[tuple[str, dict[str, Any], Path], ...] = (
            ("sqlite_script", {"s.sql": ";".join(tables)}, "s.sql"),
            ("sqlite", {"s.db": database(*tables)}, "s.db"),
            ("csv", {"o.csv": "email,o.a.b\n1,2\n"}, {"orders": "o.csv"}),
            ("result", {"r.json": result(columns=["email", "o.a.b"])}, "r.json"),
        )
        for kind, files, path in sources:
            for mask, fits in (
                ("orders.email", True), ("ORDERS.EMail", True), ("orders.o.a.b", True), ("orders.emial", False),
                ("orders. email", False), ('orders."email"', False), ("main.orders.email", kind == "result"),
                ("order.email", kind == "result"), ("v.e", kind.startswith("sqlite")),
            ):  # fmt: skip
                with self.subTest(mask, kind=kind):
                    said = None
                    try:
                        with opened(kind, files, path, [mask]):
                            pass
                    except SourceFault as fault:
                        said = fault.args[1:]
                    message = f"has no column {json.dumps(mask)}, which mask_columns names"
                    self.assertEqual(said, None if fits else (None, message))

    def test_a_virtual_table_cannot_be_masked(self) -> None:
        script = {"s.sql": "CREATE VIRTUAL TABLE docs USING fts5(email, words);"}
        with self.assertRaises(SourceFault) as caught, opened("sqlite_script", script, masked=["docs.email"]):
            pass
        if "no such module" in caught.exception.args[2]:
            self.skipTest("this SQLite has no full-text search")
        self.assertEqual(caught.exception.args[2], '"docs.email" cannot be masked: its table is a virtual one')

    def test_repeated_keys_and_wrong_types(self) -> None:
        twice = b'{"columns": ["a"], "rows": [{"a": 1, "a": 2}], "truncated": false}'
        within = b'{"structuredContent": {"data": ' + twice + b"}}"
        said = "must stand once in its object, not 2 times"
        self.assertEqual(refusal("result", twice), ("rows[0].a", said))
        self.assertEqual(refusal("mcp_result", within), ("structuredContent.data.rows[0].a", said))
        for name, value, said in (
            ("rowCount", True, "must be a whole number, not true"),
            ("rowCount", "1", 'must be a whole number, not "1"'),
            ("rowCount", -1, "must be a whole number, not -1"),
            ("receiptId", 5, "must be text of 1 to 4096 code points without lone surrogates, not 5"),
        ):
            content = answer(result(rows=[[1, 2]], **{name: value}))
            self.assertEqual(refusal("mcp_result", content), (f"structuredContent.data.{name}", said))
        for flag, text in ((None, "null"), (0, "0"), ("false", '"false"')):
            content = {**answer(result(rows=[[1, 2]])), "isError": flag}
            self.assertEqual(refusal("mcp_result", content), ("isError", f"must be true or false, not {text}"))

    def test_the_row_cap(self) -> None:
        for kind, content in (("result", result(rows=[[1, 2]] * 3)), ("mcp_result", answer(result(rows=[[1, 2]] * 3)))):
            for most, kept, truncated in ((4, 3, False), (3, 3, False), (2, 2, True)):
                with self.subTest(kind, most=most), opened(kind, {"r.json": content}) as source:
                    found = queries.run(QUERY._replace(max_rows=most), source, {}).result
                    assert found is not None
                    self.assertEqual((found.rows, found.truncated), ([[1, 2]] * kept, truncated))


if __name__ == "__main__":
    unittest.main()
