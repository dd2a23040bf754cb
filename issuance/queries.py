"""Running the queries of a job, each read-only, within its limits, and with an outcome of its own.

A query that is refused, denied or fails has no result; that is never taken for one without rows.

Masked values never leave a query. Result columns of a masked column's name are emptied. Others are kept only if the
job lists them as unmasked; or the query is one plain SELECT in whose list the masked column stands alone or not at
all; or they hold the same when the query is run again over a source in which the masked columns are NULL.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from answer_format import quoted
from issuance import databases, job, sql
from issuance.databases import FORBIDDEN
from issuance.snapshots import MAX_COLUMNS, MAX_NAME, Result
from issuance.sources import LINE, Source

STEPS = 1_000  # of SQLite's machine between two looks at the clock
BATCH = 1_000  # rows
GRACE = 0.5  # seconds that a query has to notice that its time is over, before it is left behind
TELLING = ("sqlite_stat", "sqlite_sequence")  # tables that hold samples of columns, and the last keys
ACTIONS = {
    getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ")
    for name in "INSERT UPDATE DELETE ATTACH DETACH PRAGMA CREATE_TABLE DROP_TABLE ALTER_TABLE REINDEX ANALYZE".split()
}
SOURCE_FAULTS = (  # beginnings of SQLite's messages that say that a database cannot be read
    "database disk image is malformed", "malformed database schema", "file is not a database", "database is locked",
    "database table is locked", "database schema is locked", "disk I/O error", "unable to open database file",
    "attempt to write a readonly database",
)  # fmt: skip


UNNOTICED = "joins by NATURAL or by USING a masked column, which SQLite reads without saying so: join by ON"


class Outcome(NamedTuple):
    """What came of a query: "success" with a result; "refused" by the SQL checks and not run; "denied"; "failed"."""

    status: str
    message: str
    result: Result | None
    warnings: list[str]


class Refused(Exception):
    """A query is not to be run, or its result not to be kept; raised with a status and a sentence."""


class Guard:
    """An authorizer that lets a query read and call plain functions, and notes what it reads.

    Columns in blank are read as NULL.
    """

    def __init__(self, source: Source, blank: bool = False) -> None:
        self.masked = source.masked
        self.blank = source.masked if blank else frozenset()
        self.reads: set[tuple[str, str]] = set()  # tables and columns in lower case
        self.through: set[str] = set()  # views and common tables through which something is read
        self.denied = ""
        self.forbidden = (*FORBIDDEN, "last_insert_rowid") if source.masked else FORBIDDEN

    def __call__(self, action: int, first: str | None, second: str | None, _: object, through: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            place = (first or "").lower(), (second or "").lower()
            self.reads.add(place)
            self.through.add((through or "").lower())
            if place in self.blank:
                return sqlite3.SQLITE_IGNORE
            if not (self.masked and place[0].startswith(TELLING)):
                return sqlite3.SQLITE_OK
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in self.forbidden:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version":  # with which full-text search begins
            return sqlite3.SQLITE_OK
        self.denied = self.denied or self.named(action, first, second)
        return sqlite3.SQLITE_DENY

    @staticmethod
    def named(action: int, first: str | None, second: str | None) -> str:
        """What is denied, in a few words."""
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            return "a table-valued function"
        if action == sqlite3.SQLITE_FUNCTION:
            return second or ""
        return first or "" if action == sqlite3.SQLITE_READ else ACTIONS.get(action, "this")


def run(query: job.Query, source: Source, inputs: Mapping[str, job.Input]) -> Outcome:
    """Check and run one query. Raises SourceFault where it is the source that cannot be read."""
    if query.sql is None or source.connection is None:
        return saved(query, source)
    found: list[str] = []
    try:
        statement = Statement(query, source, inputs)
        statement.check(found)
        return Outcome("success", "", statement.fetch(), found)
    except Refused as fault:
        return Outcome(fault.args[0], fault.args[1], None, found)


def check(query: job.Query, source: Source, inputs: Mapping[str, job.Input], found: list[str]) -> None:
    """The SQL checks alone, without running the query. Raises Refused and SourceFault; found gets the warnings."""
    Statement(query, source, inputs).check(found)


def saved(query: job.Query, source: Source) -> Outcome:
    if not isinstance(source.saved, Result):
        return Outcome("failed", str(source.saved), None, [])
    rows = source.saved.rows
    cut = len(rows) > query.max_rows
    result = source.saved._replace(rows=rows[: query.max_rows], truncated=source.saved.truncated or cut)
    return Outcome("success", "", result, [])


class Rows(NamedTuple):
    """What a statement gave: the names of its columns, its rows, and whether there are more."""

    names: list[str]
    rows: list[Any]
    truncated: bool


class Statement:
    """A query on its source, with its time limit."""

    def __init__(self, query: job.Query, source: Source, inputs: Mapping[str, job.Input]) -> None:
        assert query.sql is not None and source.connection is not None
        self.query = query
        self.source = source
        self.connection = source.connection
        self.inputs = dict(inputs)
        self.text = sql.bare(query.sql)
        self.guard = Guard(source)
        self.late: set[tuple[str, str]] = set()  # what is read while the query runs, by a virtual table
        self.deadline = time.monotonic() + query.timeout

    @property
    def hidden(self) -> set[tuple[str, str]]:
        """The masked columns that the query reads."""
        return self.source.masked & (self.guard.reads | self.late)

    def check(self, found: list[str]) -> None:
        """The SQL checks, and what the query reads. Raises Refused; found gets the warnings."""
        if self.source.busy:
            raise Refused("failed", "its source is still busy with a query that was stopped after its time limit")
        if complaint := sql.errors(self.query.sql or ""):
            raise Refused("refused", complaint)
        source = self.source
        found += sql.warnings(self.text, source.fractional(), source.decimal, source.ambiguous)
        columns = {column for _, column in source.masked}
        if columns and sql.joins_unnoticed(self.text, columns):
            raise Refused("denied", UNNOTICED)
        explained = f"EXPLAIN {self.text}"
        self.within_limits(lambda: self.execute(explained, self.guard).close(), "refused", "does not prepare: ")
        if self.guard.through & source.unnoticed:
            raise Refused("denied", UNNOTICED)
        if self.hidden and not self.query.unmasked:
            self.check_listed(self.within_limits(lambda: self.all_rows(f"SELECT * FROM ({self.text}) LIMIT 0").names))

    def execute(self, text: str, guard: Guard) -> sqlite3.Cursor:
        """Start a statement under a guard, which stays. Raises sqlite3.Error and Refused."""
        self.connection.set_authorizer(guard)
        try:
            return self.connection.execute(text, self.inputs)
        except (UnicodeError, sqlite3.Error) as fault:
            if isinstance(fault, UnicodeError) or not str(fault):  # as Python until 3.10 says it
                raise Refused("failed", "has a result column whose name is not UTF-8") from None
            raise

    def refuse(self, fault: sqlite3.Error, status: str, before: str = "") -> None:
        """Raise SourceFault where what went wrong is not the query's fault, else Refused."""
        said = str(fault)
        if said.startswith(SOURCE_FAULTS):
            raise databases.unreadable(self.source.file, fault) from None
        if self.guard.denied:
            allowed = f"only reading and plain functions are allowed, not {quoted(self.guard.denied)}"
            raise Refused("denied", allowed) from None
        if said == "interrupted":
            raise Refused("failed", f"stopped after its time limit of {self.query.timeout:g} seconds") from None
        if self.hidden:
            said = "failed on masked values, which SQLite's words might repeat"
        raise Refused(status, before + said) from None

    def within_limits(self, action: Callable[[], Any], status: str = "failed", before: str = "") -> Any:
        """What an action on the source gives, which is left behind if it does not end in time.

        SQLite stops itself between the steps of its machine; but preparing, or one call of a function, may take long.
        An error of SQLite raises Refused with this status, and with these words before SQLite's.
        """
        ended: list[Any] = []

        def act() -> None:
            try:
                ended.extend([action(), None])
            except BaseException as fault:
                ended.extend([None, fault])
            self.source.busy = False

        thread = threading.Thread(target=act, daemon=True)
        self.connection.set_progress_handler(lambda: time.monotonic() > self.deadline, STEPS)
        self.source.busy = True
        thread.start()
        thread.join(max(self.deadline - time.monotonic(), 0) + GRACE)
        if not ended:
            raise Refused("failed", f"stopped after its time limit of {self.query.timeout:g} seconds")
        thread.join()
        self.connection.set_progress_handler(None, 0)
        result, fault = ended
        if isinstance(fault, sqlite3.Error):
            self.refuse(fault, status, before)
        if fault is not None:
            raise fault
        return result

    def all_rows(self, text: str, blank: bool = False) -> Rows:
        """The rows of a statement, up to one more than are kept; without masked values where blank."""
        guard = Guard(self.source, blank)
        self.guard.denied = ""
        try:
            cursor = self.execute(text, guard)
            names = [entry[0] for entry in cursor.description]
            rows: list[Any] = []
            while len(rows) <= self.query.max_rows and (batch := cursor.fetchmany(BATCH)):
                rows += batch
                if time.monotonic() > self.deadline:
                    raise sqlite3.OperationalError("interrupted")
            cursor.close()
        finally:
            self.guard.denied = guard.denied
            self.late |= guard.reads - self.guard.reads
        truncated = len(rows) > self.query.max_rows
        del rows[self.query.max_rows :]
        return Rows(names, rows, truncated)

    def fetch(self) -> Result:
        """The result of the query, which has been checked. Raises Refused."""
        file, text = file_read(self.text, self.source), self.text
        with_line = bool(file) and self.prepares(longer := sql.with_line(text, LINE) or "")
        names, rows, truncated = self.within_limits(lambda: self.all_rows(longer if with_line else text))
        lines = None
        if with_line:
            names.pop()
            lines, rows = [row[-1] for row in rows], [row[:-1] for row in rows]
        check_columns(names)
        masked = frozenset(filter(self.is_masked, names))
        if self.hidden:
            self.check_others(names, rows)
        check_cells(names, rows)
        if masked:
            hide = [name in masked for name in names]
            rows = [[None if hidden else cell for hidden, cell in zip(hide, row)] for row in rows]
        return Result(names, rows, truncated, masked, lines, file if with_line else None)

    def prepares(self, text: str) -> bool:
        try:
            self.execute(f"EXPLAIN {text}", Guard(self.source)).close()
        except (sqlite3.Error, Refused):
            return False
        return bool(text)

    def is_masked(self, name: str) -> bool:
        """Whether a result column has the name of a masked column that is read, also as SQLite counts equal names."""
        return unnumbered(name) in {column for _, column in self.hidden}

    def check_others(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Raise Refused where a column of another name could hold masked values."""
        self.check_listed(names)
        unsure = self.unsure(names)
        if not unsure or self.is_plain():
            return
        without = self.within_limits(lambda: self.all_rows(self.text, blank=True)).rows
        for place in unsure:
            if len(rows) != len(without) or any(row[place] != other[place] for row, other in zip(rows, without)):
                self.deny_masked(min(self.hidden), names[place])

    def is_plain(self) -> bool:
        """Whether the text of the query shows that masked values stay under their own names: see sql.keeps_names()."""
        plain = self.guard.through <= {""} and not self.late
        plain = plain and not any(table in self.source.virtual for table, _ in self.guard.reads)
        return plain and sql.keeps_names(self.text, {name for _, name in self.hidden})

    def unsure(self, names: Sequence[str]) -> list[int]:
        """The places of result columns that are neither masked nor listed as unmasked."""
        safe = {name.lower() for name in self.query.unmasked}
        return [place for place, name in enumerate(names) if not self.is_masked(name) and name.lower() not in safe]

    def check_listed(self, names: Sequence[str]) -> None:
        """Raise Refused where a masked column is read, no result column has its name, and not all others are listed."""
        named = {unnumbered(name) for name in names}
        for place in sorted(self.hidden):
            unsure = self.unsure(names)
            if place[1] not in named and (unsure or not self.query.unmasked):
                self.deny_masked(place, names[unsure[0]] if unsure else names[0])

    def deny_masked(self, place: tuple[str, str], name: str) -> None:
        table, column = place
        raise Refused(
            "denied",
            f"reads the masked column {table}.{column}, whose values may be in the result column {quoted(name)}: "
            "list in unmasked the columns that are safe to keep",
        )


def unnumbered(name: str) -> str:
    """A result column's name in lower case, without the number that SQLite gives to the second of one name."""
    return re.sub(":[0-9]+$", "", name.lower())


def check_columns(names: Sequence[str]) -> None:
    """Raise Refused where the columns of a result could not be told apart."""
    if len(names) > MAX_COLUMNS:
        raise Refused("failed", f"has more than {MAX_COLUMNS} result columns")
    if any(len(name) > MAX_NAME for name in names):
        raise Refused("failed", f"has a result column whose name is longer than {MAX_NAME} code points")
    if len(set(names)) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise Refused("failed", f"has two result columns of one name, {quoted(twice)}: a cell must have one place")


def check_cells(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Raise Refused where a result has what no report could cite: a BLOB, an infinity."""
    if set(map(type, itertools.chain.from_iterable(rows))) <= {int, str, type(None)}:
        return
    for name, cells in zip(names, zip(*rows)):
        kinds = set(map(type, cells))
        if bytes in kinds:
            raise Refused("failed", f"the column {quoted(name)} holds a BLOB, which no report can cite")
        if float in kinds and not {float("inf"), float("-inf")}.isdisjoint(cells):
            raise Refused("failed", f"the column {quoted(name)} holds an infinite number")


def file_read(text: str, source: Source) -> str | None:
    """The CSV file that a query reads row by row, by the name after its FROM."""
    found = sql.tokens(text)
    for index, token in enumerate(found):
        if token.is_name("from") and token.depth == 0:
            rest = found[index + 1 :]
            name = rest[2] if len(rest) > 2 and rest[1].is_mark(".") else rest[0]
            return {table.lower(): file for table, file in source.files.items()}.get(name.text.strip("'").lower())
    return None
