"""CSV files as tables in memory whose rowid is the line on which each row begins.

A column of integers holds integers. Every other one holds its text as it is written; where all of it is decimals, it
compares and sorts by their exact values, so that two texts of one value are equal. An empty field is NULL.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import re
import sqlite3
from decimal import Decimal
from typing import NamedTuple

from answer_format import quoted
from issuance.databases import connect, identifier
from issuance.files import SourceFault, read_text
from issuance.formats import MAX_BYTES, is_decimal
from issuance.snapshots import MAX_NAME

DECIMAL_TEXT = "TEXT COLLATE DECIMAL"
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch
INTEGER = re.compile("0|-?[1-9][0-9]{0,17}").fullmatch
csv.field_size_limit(MAX_BYTES)


class Loaded(NamedTuple):
    """What is known of a file: the SHA-256 of its text, its columns of decimals as text in lower case, and those of
    them in which several texts have one value, with two such texts."""

    hash: str
    decimal: set[str]
    ambiguous: dict[str, str]


def loaded(paths: dict[str, str]) -> tuple[sqlite3.Connection, dict[str, Loaded]]:
    """A database of files by the names of their tables, and what is known of each. Raises SourceFault."""
    connection = connect(":memory:")
    connection.create_collation("DECIMAL", compare)
    found = {}
    try:
        for table, path in paths.items():
            text = read_text(path)
            hash = hashlib.sha256(text.encode("utf-8")).hexdigest()
            found[table] = Loaded(hash, *load_table(connection, table, path, text))
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection, found


def load_table(
    connection: sqlite3.Connection, table: str, path: str, text: str
) -> tuple[set[str], dict[str, str]]:
    """Load a file, and return its columns of decimals as text and those of them that are ambiguous."""
    header, lines, rows = read(path, text)
    types = [type_of(cells) for cells in zip(*rows)] if rows else ["TEXT"] * len(header)
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
    decimal = {name.lower(): place for place, (name, type) in enumerate(zip(header, types)) if type == DECIMAL_TEXT}
    twice = {name: same_value({row[place] for row in rows if row[place]}) for name, place in decimal.items()}
    return set(decimal), {name: texts for name, texts in twice.items() if texts}


def same_value(texts: set[str]) -> str:
    """Two of these decimals that have one value; empty if each has its own."""
    seen: dict[Decimal, str] = {}
    for text in sorted(texts):
        other = seen.setdefault(Decimal(text), text)
        if other != text:
            return f"{other} and {text}"
    return ""


def type_of(cells: tuple[str, ...]) -> str:
    """The declared type of a column with these cells."""
    present = [cell for cell in cells if cell]
    if present and all(map(INTEGER, present)):
        return "INTEGER"
    return DECIMAL_TEXT if present and all(map(DECIMAL, present)) else "TEXT"


def compare(one: str, other: str) -> int:
    """How two texts sort: decimals by their values, before everything else."""
    first, second = sort_key(one), sort_key(other)
    return (first > second) - (first < second)


@functools.lru_cache(100_000)
def sort_key(text: str) -> tuple[bool, Decimal, str]:
    return (False, Decimal(text), "") if DECIMAL(text) or is_decimal(text) else (True, Decimal(0), text)


def read(path: str, text: str) -> tuple[list[str], list[int], list[list[str]]]:
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
    """Raise SourceFault where a header does not give each column a name of its own."""

    def refuse(sentence: str) -> None:
        raise SourceFault(path, "line 1", sentence)

    if not header:
        refuse("must name the columns, not be empty")
    if all(map(is_decimal, header)):
        refuse("must name the columns, not hold numbers")
    seen: set[str] = set()
    for name in header:
        if not name.strip() or len(name) > MAX_NAME:
            refuse(f"must name every column, in at most {MAX_NAME} code points")
        if name.lower() == "_rowid_":
            refuse("must have another name for the column _rowid_, which SQLite has already")
        if name.lower() in seen:
            refuse(f"must have another name for each column, not twice {quoted(name)}")
        seen.add(name.lower())
