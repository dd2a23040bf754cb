"""The sources of a job: databases, scripts, CSV files and saved results, opened so that they can only be read.

A source that queries run on is one SQLite connection in one read transaction, so that all of them see the same state.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from answer_format import quoted
from issuance import csv_files, databases, job, saved_results, schemas, sql
from issuance.databases import identifier
from issuance.files import SourceFault, read_text
from issuance.snapshots import Result

LINE = "line of the file"  # the column that brings a row's line along; no header of a file can be it
GENERATED = (2, 3)  # what table_xinfo says of columns that are computed from others
TABLES = """
SELECT 'main', name, type, CAST(sql AS BLOB) FROM sqlite_master WHERE type IN ('table', 'view')
UNION ALL SELECT 'temp', name, type, CAST(sql AS BLOB) FROM sqlite_temp_master WHERE type IN ('table', 'view')
ORDER BY name
"""


class Source:
    """An open source: a connection or a saved result, its schema as it is stored, and what is masked in it."""

    def __init__(self, spec: job.Source, folder: str) -> None:
        self.spec = spec
        self.folder = folder
        self.connection: sqlite3.Connection | None = None
        self.busy = False  # with a query that did not stop
        self.saved: Result | str | None = None  # a result, or why there is none
        self.files: dict[str, str] = {}  # of each table of a CSV source
        self.about: dict[str, Any] = {"truncated": False}
        self.tables: list[dict[str, Any]] = []
        self.virtual: set[str] = set()  # tables
        self.unnoticed: set[str] = set()  # views that join in a way by which masked columns are read unnoticed
        self.ambiguous: dict[str, str] = {}  # columns of CSV files with several texts of one decimal, and two of those
        self.decimal: set[str] = set()  # columns of CSV files that hold decimals as text, in lower case
        self.masked: set[tuple[str, str]] = set()  # tables and columns in lower case, also those generated from them
        try:
            OPENERS[spec.kind](self)
            if self.connection:
                self.read_schema(self.connection)
        except BaseException:
            self.close()
            raise

    def path(self, named: str) -> str:
        return job.within(self.folder, named)

    @property
    def file(self) -> str:
        """The one file of a source of one, for messages; else the source's id."""
        return self.path(self.spec.path) if isinstance(self.spec.path, str) else self.spec.id

    def read_schema(self, connection: sqlite3.Connection) -> None:
        """The tables and views with their columns and declared types; the read transaction starts here."""
        try:
            connection.execute("BEGIN")
            tables = connection.execute(TABLES).fetchall()
        except sqlite3.Error as fault:
            raise databases.unreadable(self.file, fault) from None
        room = schemas.MAX_COLUMNS
        hidden = {column for name in self.spec.masked for column in ends(name.lower())}
        known: dict[str, dict[str, set[str]]] = {}  # tables and columns in lower case, and what each is generated from
        for database, name, kind, stored in tables:
            definition = (stored or b"").decode("utf-8", "replace")
            columns = columns_of(connection, database, name)
            made = {column.lower(): sql.names_in_definition(definition, column) for column, _, new in columns if new}
            here = known.setdefault(name.lower(), {})
            here.update({column.lower(): made.get(column.lower(), set()) for column, _, _ in columns})
            if sql.is_virtual(definition):
                self.virtual.add(name.lower())
            if kind == "view" and sql.joins_unnoticed(definition, hidden):
                self.unnoticed.add(name.lower())
            if room > 0:
                file = {"file": self.files[name]} if name in self.files else {}
                shown = [{"name": column, "type": declared} for column, declared, _ in columns[:room]]
                self.tables.append({"name": name, "kind": kind, **file, "columns": shown})
            room -= len(columns)
        self.about["truncated"] = room < 0
        for name in self.spec.masked:
            self.mask(name, known)

    def mask(self, name: str, known: dict[str, dict[str, set[str]]]) -> None:
        """Mask TABLE.COLUMN, and whatever the table generates from it. Raises SourceFault."""
        parts = name.lower().split(".")
        pairs = ((".".join(parts[:place]), ".".join(parts[place:])) for place in range(1, len(parts)))
        table, column = next((pair for pair in pairs if pair[1] in known.get(pair[0], ())), ("", ""))
        if not table:
            raise SourceFault(self.file, None, f"has no column {quoted(name)}, which mask_columns names")
        if table in self.virtual:
            raise SourceFault(self.file, None, f"{quoted(name)} cannot be masked: its table is a virtual one")
        hidden = {column}
        while more := {other for other, names in known[table].items() if names & hidden} - hidden:
            hidden |= more
        self.masked |= {(table, other) for other in hidden}

    def schema(self) -> bytes:
        """The schema as it is stored."""
        return schemas.encode(self.spec, self.tables, **self.about)

    def fractional(self) -> set[str]:
        """The columns whose declared type does not say that they hold integers, in lower case."""
        return {
            column["name"].lower()
            for table in self.tables
            for column in table["columns"]
            if "INT" not in column["type"].upper()
        }

    def close(self) -> None:
        """Close the connection, unless a query that did not stop still has it."""
        if self.connection and not self.busy:
            self.connection.close()


def columns_of(connection: sqlite3.Connection, database: str, table: str) -> list[tuple[str, str, bool]]:
    """A table's or view's columns: name, declared type, whether generated. None for a view that does not work."""
    try:
        found = connection.execute(f"PRAGMA {database}.table_xinfo({identifier(table)})").fetchall()
    except sqlite3.OperationalError:
        return []
    return [(name, declared, hidden in GENERATED) for _, name, declared, _, _, _, hidden in found]


def open_sqlite(source: Source) -> None:
    source.connection = databases.opened(source.file)


def open_script(source: Source) -> None:
    text = read_text(source.file)
    source.about["sha256"] = hashlib.sha256(text.encode("utf-8")).hexdigest()
    source.connection = databases.built(source.file, text, bool(source.spec.masked))


def open_csv(source: Source) -> None:
    assert isinstance(source.spec.path, dict)
    source.files = source.spec.path
    paths = {table: source.path(named) for table, named in source.files.items()}
    source.connection, loaded = csv_files.loaded(paths)
    source.about["files"] = {source.files[table]: one.hash for table, one in loaded.items()}
    for one in loaded.values():
        source.decimal |= one.decimal
        source.ambiguous.update(one.ambiguous)


def open_result(source: Source) -> None:
    take_saved(source, saved_results.read_result)


def open_mcp_result(source: Source) -> None:
    take_saved(source, saved_results.read_mcp_answer)


def take_saved(source: Source, read: Reader) -> None:
    """Read a saved result. A mask names a column of it, whatever its table is called."""
    masked = {name: set(ends(name.lower())) for name in source.spec.masked}
    source.saved, columns, source.about["sha256"] = read(source.file, frozenset().union(*masked.values()))
    if isinstance(source.saved, Result):
        source.saved = source.saved._replace(file=str(source.spec.path))
    for name, possible in masked.items():
        if columns and possible.isdisjoint(map(str.lower, columns)):
            raise SourceFault(source.file, None, f"has no column {quoted(name)}, which mask_columns names")
    described = [{"name": name, "type": ""} for name in columns]
    source.tables = [{"name": source.spec.id, "kind": "result", "columns": described}]


def ends(name: str) -> Iterator[str]:
    """What may be the column of TABLE.COLUMN, as either may have dots."""
    parts = name.split(".")
    return (".".join(parts[place:]) for place in range(1, len(parts)))


Reader = Callable[[str, frozenset[str]], tuple[saved_results.Saved, list[str], str]]
OPENERS: dict[str, Callable[[Source], None]] = {
    "sqlite": open_sqlite,
    "sqlite_script": open_script,
    "csv": open_csv,
    "result": open_result,
    "mcp_result": open_mcp_result,
}
