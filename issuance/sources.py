"""The sources of a job: databases, scripts, CSV files and saved results, opened so that they can only be read.

A source that queries run on is one SQLite connection in one read transaction, so that all of them see the same state.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import answer_format
from answer_format import Number, Problems, quoted, record, unique
from issuance import job, schemas
from issuance.formats import BOOLEAN, MAX_BYTES, anything, is_decimal, parse
from issuance.snapshots import MAX_ROWS, Result

BUSY_SECONDS = 2.0  # so long a locked database is waited for
INTEGER = re.compile("0|-?[1-9][0-9]{0,17}").fullmatch
SETTINGS = frozenset(  # that a script may make, as those do into which databases are dumped
    "application_id auto_vacuum defer_foreign_keys encoding foreign_keys journal_mode page_size synchronous "
    "user_version".split()
)
FORBIDDEN = ("load_extension", "readfile", "writefile", "fts3_tokenizer", "edit")  # functions
LINE = "line of the file"  # the column that brings a row's line along; no header of a file can be it
csv.field_size_limit(MAX_BYTES)


class SourceFault(Exception):
    """A source cannot be used; raised with its file, a place in it (or None) and a sentence."""


class FailedResult(Exception):
    """A saved result is that of a query that failed; raised with a sentence."""


class Source:
    """An open source: a connection or a saved result, its schema as it is stored, and what is masked in it."""

    def __init__(self, spec: job.Source, folder: str) -> None:
        self.spec = spec
        self.folder = folder
        self.connection: sqlite3.Connection | None = None
        self.saved: Result | str | None = None  # a result, or why there is none
        self.files: dict[str, str] = {}  # of each table of a CSV source
        self.about: dict[str, Any] = {}
        self.tables: list[dict[str, Any]] = []
        OPENERS[spec.kind](self)
        if self.connection:
            self.read_schema(self.connection)

    def path(self, named: str) -> str:
        return os.path.join(self.folder, named)

    @property
    def file(self) -> str:
        """The one file of a source of one, for messages; else the source's id."""
        return self.path(self.spec.path) if isinstance(self.spec.path, str) else self.spec.id

    def read_schema(self, connection: sqlite3.Connection) -> None:
        """The tables and views with their columns and declared types; the read transaction starts here."""
        try:
            connection.execute("BEGIN")
            tables = connection.execute(
                "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            ).fetchall()
        except sqlite3.Error as fault:
            raise SourceFault(self.file, None, f"cannot be read: {fault}") from None
        room = schemas.MAX_COLUMNS
        for name, kind in tables:
            columns = [{"name": column, "type": declared} for column, declared in columns_of(connection, name)]
            file = {"file": self.files[name]} if name in self.files else {}
            self.tables.append({"name": name, "kind": kind, **file, "columns": columns[:room]})
            room -= len(self.tables[-1]["columns"])
            if not room:
                break
        self.about["truncated"] = not room

    def schema(self) -> bytes:
        """The schema as it is stored."""
        return schemas.encode(self.spec, self.tables, **self.about)

    def views(self) -> set[str]:
        return {table["name"].lower() for table in self.tables if table["kind"] == "view"}

    def fractional(self) -> set[str]:
        """The columns whose declared type does not say that they hold integers, in lower case."""
        return {
            column["name"].lower()
            for table in self.tables
            for column in table["columns"]
            if "INT" not in column["type"].upper()
        }

    def close(self) -> None:
        if self.connection:
            self.connection.close()


def columns_of(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """The columns of a table or view and their declared types; none for a view that does not work."""
    try:
        return connection.execute("SELECT name, type FROM pragma_table_xinfo(?)", (table,)).fetchall()
    except sqlite3.OperationalError:
        return []


def connect(name: str) -> sqlite3.Connection:
    return sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=0)


def open_sqlite(source: Source) -> None:
    try:
        source.connection = connect(f"file:{quote(os.path.abspath(source.file))}?mode=ro")
        source.connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as fault:
        raise SourceFault(source.file, None, f"cannot be read: {fault}") from None


def open_script(source: Source) -> None:
    """Build a database in memory from a file of SQL, which may name no other file."""
    text = read_text(source.file)
    if "\0" in text:
        raise SourceFault(source.file, f"line {text[: text.index(chr(0))].count(chr(10)) + 1}", "holds a NUL")
    source.about["sha256"] = hashlib.sha256(text.encode("utf-8")).hexdigest()
    connection = source.connection = connect(":memory:")
    connection.set_authorizer(builds)
    for line, statement in script_statements(text):
        try:
            connection.execute(statement)
        except sqlite3.Error as fault:
            raise SourceFault(source.file, f"line {line}", f"cannot be run: {fault}") from None
    connection.set_authorizer(allows)  # before Python 3.11, None would deny everything
    try:
        if connection.in_transaction:
            connection.execute("COMMIT")
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as fault:
        raise SourceFault(source.file, None, f"cannot be run: {fault}") from None


def builds(action: int, first: str | None, second: str | None, *_: object) -> int:
    """The authorizer of scripts: no other file, no extension, and only the settings that a dump makes."""
    barred = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    barred = barred or action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in SETTINGS
    barred = barred or action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FORBIDDEN
    return sqlite3.SQLITE_DENY if barred else sqlite3.SQLITE_OK


def allows(*_: object) -> int:
    return sqlite3.SQLITE_OK


BREAK = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)|;", re.DOTALL)
SPACE = re.compile(r"\s*")


def script_statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a script, each with the line on which it starts."""
    start, line, counted = after_space(text, 0), 1, 0
    for match in BREAK.finditer(text):
        if match[0] == ";" and sqlite3.complete_statement(text[start : match.end()]):
            line, counted = line + text.count("\n", counted, start), start
            yield line, text[start : match.end()]
            start = after_space(text, match.end())
    if start < len(text):
        yield line + text.count("\n", counted, start), text[start:]


def after_space(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return space.end() if space else at


def open_csv(source: Source) -> None:
    assert isinstance(source.spec.path, dict)
    connection = source.connection = connect(":memory:")
    source.about["files"] = {}
    for table, named in source.spec.path.items():
        path = source.path(named)
        text = read_text(path)
        source.files[table] = named
        source.about["files"][named] = hashlib.sha256(text.encode("utf-8")).hexdigest()
        load_table(connection, table, path, text)
    connection.execute("PRAGMA query_only = ON")


def load_table(connection: sqlite3.Connection, table: str, path: str, text: str) -> None:
    """A CSV file as a table whose rowid is the line on which each row begins.

    A column of integers holds integers; every other one holds its text as it is written. An empty field is NULL.
    """
    header, lines, rows = read_csv(path, text)
    whole = [all(not cell or INTEGER(cell) for cell in cells) and any(cells) for cells in zip(*rows)] if rows else []
    types = ["INTEGER" if index < len(whole) and whole[index] else "TEXT" for index in range(len(header))]
    columns = ", ".join(f"{identifier(name)} {type}" for name, type in zip(header, types))
    names = ", ".join(["_rowid_", *map(identifier, header)])
    marks = ", ".join("?" * (len(header) + 1))
    try:
        connection.execute(f"CREATE TABLE {identifier(table)} ({columns})")
        connection.execute("BEGIN")
        connection.executemany(
            f"INSERT INTO {identifier(table)} ({names}) VALUES ({marks})",
            ((line, *(cell or None for cell in row)) for line, row in zip(lines, rows)),
        )
        connection.execute("COMMIT")
    except sqlite3.Error as fault:
        raise SourceFault(path, None, f"cannot be loaded as the table {table}: {fault}") from None


def identifier(name: str) -> str:
    """A name in SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def read_csv(path: str, text: str) -> tuple[list[str], list[int], list[list[str]]]:
    """The header of a CSV file, its rows, and the line on which each begins. Raises SourceFault."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    lines: list[int] = []
    rows: list[list[str]] = []
    begins = 1
    try:
        for row in reader:
            if not header:
                check_header(path, row)
                header = row
            elif len(row) != len(header) and (row or len(header) > 1):
                counts = f"has {len(row)} fields, but the header has {len(header)}"
                raise SourceFault(path, f"line {begins}", counts)
            else:
                lines.append(begins)
                rows.append(row or [""])
            begins = reader.line_num + 1
    except csv.Error as fault:
        raise SourceFault(path, f"line {begins}", f"is no CSV: {fault}") from None
    if not header:
        raise SourceFault(path, None, "is empty: its first line has to name the columns")
    return header, lines, rows


def check_header(path: str, header: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in header:
        if not name.strip() or "\0" in name:
            raise SourceFault(path, "line 1", "must name every column")
        if name.lower() in seen or name.lower() == "_rowid_":
            raise SourceFault(path, "line 1", f"must have another name for each column, not twice {quoted(name)}")
        seen[name.lower()] = name
    if header and all(map(is_decimal, header)):
        raise SourceFault(path, "line 1", "must name the columns, not hold numbers")
    if not header:
        raise SourceFault(path, "line 1", "must name the columns, not be empty")


def read_text(path: str) -> str:
    """The text of a UTF-8 file without a byte order mark. Raises SourceFault."""
    try:
        return answer_format.decode(answer_format.read_bytes(path, MAX_BYTES))
    except answer_format.Unreadable as fault:
        raise SourceFault(path, *fault.args) from None


def open_result(source: Source) -> None:
    """A saved result: {"columns": [...], "rows": [...], "truncated": false}."""
    content = read_saved(source, RESULT)
    source.saved = result_of(source, content, "")


def open_mcp_result(source: Source) -> None:
    """A saved answer of an MCP tool. An error in it is a query that failed, never one without rows."""
    content = read_saved(source, anything)
    problems = Problems()
    problems.file = source.file
    is_error = content.get("isError", False) if isinstance(content, dict) else False
    if is_error is not False:
        source.saved = f"the tool answered with an error{error_text(content)}"
        return
    MCP_ANSWER(content, (), problems)
    raise_first(problems)
    data = content["structuredContent"]["data"]
    result = result_of(source, data, "structuredContent.data.")
    count = data.get("rowCount", len(data["rows"]))
    if count != len(data["rows"]) and not data["truncated"]:
        source.saved = f"the saved answer says {quoted(count)} rows, but {len(data['rows'])} are there"
    else:
        source.saved = result._replace(receipt=data["receiptId"] if TEXT.accepts(data.get("receiptId")) else None)


def error_text(content: dict[str, Any]) -> str:
    """What an MCP tool said of its error, quoted."""
    parts = content.get("content")
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            return f": {quoted(part['text'])}"
    return ""


def read_saved(source: Source, kind: answer_format.Kind) -> Any:
    problems = Problems()
    try:
        data = answer_format.read_bytes(source.file, MAX_BYTES)
    except answer_format.Unreadable as fault:
        raise SourceFault(source.file, *fault.args) from None
    source.about["sha256"] = hashlib.sha256(data).hexdigest()
    content = parse(data, kind, source.file, problems)
    raise_first(problems)
    return content


def raise_first(problems: Problems) -> None:
    """Raise a SourceFault with the first of some problems, and how many more there are."""
    if problems.count:
        file, where, sentence = problems.first[0]
        more = f" (and {problems.count - 1} more)" if problems.count > 1 else ""
        raise SourceFault(file, where, sentence + more)


def result_of(source: Source, content: dict[str, Any], at: str) -> Result:
    """The result that a checked document holds, its columns of masked names without their values."""
    names = [column if isinstance(column, str) else column["name"] for column in content["columns"]]
    if len(set(names)) < len(names):
        raise SourceFault(source.file, f"{at}columns", "must be unique")
    hidden = {column for _, column in source.spec.masked}
    masked = frozenset(name for name in names if name.lower() in hidden)
    rows = []
    for index, row in enumerate(content["rows"]):
        if isinstance(row, dict):
            if row.keys() != set(names):
                raise SourceFault(source.file, f"{at}rows[{index}]", "must have a field for each column and no other")
            row = [row[name] for name in names]
        if len(row) != len(names):
            raise SourceFault(source.file, f"{at}rows[{index}]", f"must have {len(names)} cells, not {len(row)}")
        for place, cell in enumerate(row):
            if not is_cell(cell):
                where = f"{at}rows[{index}][{place}]"
                raise SourceFault(source.file, where, f"must be text, a number or null, not {quoted(cell)}")
        rows.append([None if name in masked else stored(cell) for name, cell in zip(names, row)])
    source.about["truncated"] = False
    source.tables = [{"name": source.spec.id, "kind": "result", "columns": [{"name": n, "type": ""} for n in names]}]
    return Result(names, rows, content["truncated"], masked, file=str(source.spec.path))


def is_cell(cell: Any) -> bool:
    if isinstance(cell, str):
        return is_decimal(cell) if isinstance(cell, Number) else not answer_format.has_surrogates(cell)
    return cell is None or isinstance(cell, (int, bool))


def stored(cell: Any) -> Any:
    """A cell of a saved result; true and false, which SQLite does not know, as text."""
    return ("true" if cell else "false") if isinstance(cell, bool) else cell


OPENERS = {
    "sqlite": open_sqlite,
    "sqlite_script": open_script,
    "csv": open_csv,
    "result": open_result,
    "mcp_result": open_mcp_result,
}
COLUMN = TEXT = answer_format.TEXT


def is_row(row: Any, path: answer_format.Path, problems: Problems) -> None:
    if not isinstance(row, (list, dict)):
        problems.add(path, "must be an array or an object, not", row)


def column(value: Any, path: answer_format.Path, problems: Problems) -> None:
    """A column of an MCP answer: its name, or an object that has one."""
    COLUMN(value["name"] if isinstance(value, dict) and "name" in value else value, path, problems)


RESULT = record(
    columns=answer_format.array(COLUMN, 1, 2_000, unique()),
    rows=answer_format.array(is_row, 0, MAX_ROWS),
    truncated=BOOLEAN,
)


def having(**fields: answer_format.Kind) -> answer_format.Kind:
    """Objects with these fields and any others, as documents of another program have."""

    def check(value: Any, path: answer_format.Path, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "must be an object, not", value)
            return
        for name, kind in fields.items():
            if name not in value:
                problems.add((path, name), "is missing")
            else:
                kind(value[name], (path, name), problems)

    return check


MCP_ANSWER = having(
    structuredContent=having(
        data=having(
            columns=answer_format.array(column, 1, 2_000),
            rows=answer_format.array(is_row, 0, MAX_ROWS),
            truncated=BOOLEAN,
        )
    )
)
