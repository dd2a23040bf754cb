"""Running the queries of a job, each read-only, within its limits, and with an outcome of its own.

A query that is refused, denied or fails has no result; that is never taken for one without rows.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from answer_format import quoted
from issuance import job, sql
from issuance.snapshots import MAX_COLUMNS, Result
from issuance.sources import FORBIDDEN, LINE, Source, SourceFault

STEPS = 1_000  # of SQLite's machine between two looks at the clock
BATCH = 1_000  # rows
ACTIONS = {
    getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ")
    for name in "INSERT UPDATE DELETE ATTACH DETACH PRAGMA CREATE_TABLE DROP_TABLE ALTER_TABLE REINDEX ANALYZE".split()
}
NOT_A_QUERYS_FAULT = ("malformed", "not a database", "locked", "disk i/o", "unable to open", "readonly")


class Outcome(NamedTuple):
    """What came of a query: "success" with a result; "refused" by the SQL checks and not run; "denied"; "failed"."""

    status: str
    message: str
    result: Result | None
    warnings: list[str]


class Refused(Exception):
    """A query is not to be run, or its result not to be kept; raised with a status and a sentence."""


class Guard:
    """An authorizer that lets a query read and call plain functions, and notes what it reads."""

    def __init__(self) -> None:
        self.reads: set[tuple[str, str]] = set()  # tables and columns in lower case
        self.through: set[str] = set()  # views and common tables through which something is read
        self.denied = ""

    def __call__(self, action: int, first: str | None, second: str | None, _: object, through: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            self.reads.add(((first or "").lower(), (second or "").lower()))
            self.through.add((through or "").lower())
            return sqlite3.SQLITE_OK
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in FORBIDDEN:
            return sqlite3.SQLITE_OK
        what = second if action == sqlite3.SQLITE_FUNCTION else ACTIONS.get(action)
        self.denied = self.denied or what or "this"
        return sqlite3.SQLITE_DENY


def run(query: job.Query, source: Source, inputs: Mapping[str, job.Input]) -> Outcome:
    """Check and run one query. Raises SourceFault where it is the source that cannot be read."""
    if query.sql is None or source.connection is None:
        return saved(query, source)
    found: list[str] = []
    try:
        guard = check(query, source, inputs, found)
        return Outcome("success", "", fetch(query, source, inputs, guard), found)
    except Refused as fault:
        return Outcome(fault.args[0], fault.args[1], None, found)


def saved(query: job.Query, source: Source) -> Outcome:
    if not isinstance(source.saved, Result):
        return Outcome("failed", str(source.saved), None, [])
    rows = source.saved.rows
    cut = len(rows) > query.max_rows
    result = source.saved._replace(rows=rows[: query.max_rows], truncated=source.saved.truncated or cut)
    return Outcome("success", "", result, [])


def check(query: job.Query, source: Source, inputs: Mapping[str, job.Input], found: list[str]) -> Guard:
    """The SQL checks, and what the query reads. Raises Refused; found gets the warnings."""
    assert query.sql is not None and source.connection is not None
    if complaint := sql.errors(query.sql):
        raise Refused("refused", complaint)
    found += sql.warnings(query.sql, source.fractional())
    guard = Guard()
    try:
        execute(source.connection, guard, f"EXPLAIN {query.sql}", inputs).close()
        if guard.reads & set(source.spec.masked):
            text = f"SELECT * FROM ({bare(query.sql)}) LIMIT 0"  # for the columns' names, before the query is run
            cursor = execute(source.connection, Guard(), text, inputs)
            mask(query, source, guard, [entry[0] for entry in cursor.description])
    except sqlite3.Error as fault:
        raise_source_fault(fault, source)
        if guard.denied:
            said = f"only reading and plain functions are allowed, not {quoted(guard.denied)}"
            raise Refused("denied", said) from None
        raise Refused("refused", f"does not prepare: {fault}") from None
    return guard


def bare(text: str) -> str:
    """A statement without the semicolon after it, followed by a line's end in case a comment ends it."""
    marks = [token for token in sql.tokens(text) if token.is_mark(";")]
    for token in reversed(marks):
        text = text[: token.start] + " " + text[token.end :]
    return text + "\n"


def mask(query: job.Query, source: Source, guard: Guard, names: Sequence[str]) -> frozenset[str]:
    """The result columns whose values must not be kept. Raises Refused where others could hold such values."""
    hidden = sorted(set(source.spec.masked) & guard.reads)
    masked = {name for name in names for _, column in hidden if name.lower() == column}
    safe = {name.lower() for name in query.unmasked}
    for table, column in hidden:
        named = any(name.lower() == column for name in names)
        if named and sql.keeps_names(query.sql or "", column) and not guard.through & source.views():
            continue
        unsure = [name for name in names if name not in masked and name.lower() not in safe]
        if unsure or not named and not safe:
            raise Refused(
                "denied",
                f"reads the masked column {table}.{column}, whose values may be in the result column "
                f"{quoted(unsure[0] if unsure else names[0])}: list in unmasked the columns that are safe to keep",
            )
    return frozenset(masked)


def execute(
    connection: sqlite3.Connection, guard: Guard, text: str, inputs: Mapping[str, job.Input]
) -> sqlite3.Cursor:
    """Start a statement under a guard, which stays, with the inputs bound. Raises sqlite3.Error and Refused."""
    connection.set_authorizer(guard)
    try:
        return connection.execute(text, dict(inputs))
    except ValueError:
        raise Refused("refused", "holds a NUL") from None


def raise_source_fault(fault: sqlite3.Error, source: Source) -> None:
    """Raise SourceFault where what went wrong is not the query's fault."""
    if any(words in str(fault).lower() for words in NOT_A_QUERYS_FAULT):
        raise SourceFault(source.file, None, f"cannot be read: {fault}") from None


def fetch(query: job.Query, source: Source, inputs: Mapping[str, job.Input], guard: Guard) -> Result:
    """The rows of a query that has been checked. Raises Refused."""
    connection = source.connection
    assert connection is not None and query.sql is not None
    deadline = time.monotonic() + query.timeout
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        cursor, has_lines = start(query.sql, connection, inputs, source)
        names = [entry[0] for entry in cursor.description]
        rows: list[Any] = []
        while len(rows) <= query.max_rows and (batch := cursor.fetchmany(BATCH)):
            rows += batch
            if time.monotonic() > deadline:
                raise sqlite3.OperationalError("interrupted")
        cursor.close()
    except sqlite3.Error as fault:
        if str(fault) == "interrupted":
            raise Refused("failed", f"stopped after its time limit of {query.timeout:g} seconds") from None
        raise_source_fault(fault, source)
        raise Refused("failed", str(fault)) from None
    finally:
        connection.set_progress_handler(None, 0)
    truncated = len(rows) > query.max_rows
    del rows[query.max_rows :]
    lines = None
    if has_lines:
        names.pop()
        lines = [row[-1] for row in rows]
        rows = [row[:-1] for row in rows]
    masked = mask(query, source, guard, names)
    check_cells(names, rows)
    if masked:
        hidden = [name in masked for name in names]
        rows = [[None if hide else cell for hide, cell in zip(hidden, row)] for row in rows]
    return Result(names, rows, truncated, masked, lines, file_read(query, source) if has_lines else None)


def start(
    text: str, connection: sqlite3.Connection, inputs: Mapping[str, job.Input], source: Source
) -> tuple[sqlite3.Cursor, bool]:
    """A running query, and whether it also gives each row's line of a CSV file."""
    if source.files and (longer := sql.with_line(text, LINE)):
        try:
            return execute(connection, Guard(), longer, inputs), True
        except sqlite3.Error:
            pass
    return execute(connection, Guard(), text, inputs), False


def check_cells(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Raise Refused where a result has what no report could cite: two columns of one name, a BLOB, an infinity."""
    if len(names) > MAX_COLUMNS or len(set(names)) < len(names):
        twice = next((name for index, name in enumerate(names) if name in names[:index]), "")
        raise Refused("failed", f"has two result columns of one name, {quoted(twice)}: a cell must have one place")
    for name, cells in zip(names, zip(*rows)):
        kinds = set(map(type, cells))
        if bytes in kinds:
            raise Refused("failed", f"the column {quoted(name)} holds a BLOB, which no report can cite")
        if float in kinds and not {float("inf"), float("-inf")}.isdisjoint(cells):
            raise Refused("failed", f"the column {quoted(name)} holds an infinite number")


def file_read(query: job.Query, source: Source) -> str | None:
    """The CSV file that a query reads row by row, by the name after its FROM."""
    found = sql.tokens(query.sql or "")
    for token, after in zip(found, found[1:]):
        if token.is_name("from") and token.depth == 0:
            named = {table.lower(): file for table, file in source.files.items()}
            return named.get(after.text.lower())
    return None
