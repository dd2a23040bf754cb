"""Snapshots: what a query returned, as it is stored and as caliber cards read it.

A snapshot is one JSON object. Integers and text stand in it as they are, a REAL as its shortest decimal that gives it
back, a decimal of a saved result as it was written there. The cells of a masked column are null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import answer_format
from answer_format import ID, TIMESTAMP, Leaf, Number, Problems, array, one_of, or_null, record, text_of, unique
from issuance.expressions import ARITHMETIC, WIDE, Failed, Missing
from issuance.formats import BOOLEAN, HASH, NAME, anything, is_decimal, parse

MAX_COLUMNS = 2_000
MAX_DIGITS = 19  # of SQLite's integers
MAX_NAME = 4_096  # code points of a column's name
MAX_ROWS = 10_000_000
CLASSES = {int: "integer", float: "real", Number: "decimal", str: "text", type(None): "null"}


class Result(NamedTuple):
    """What a query returned: rows of cells that are integers, floats, Numbers, texts or None.

    lines has for each row the line of the CSV file that it came from, where that is known.
    """

    columns: list[str]
    rows: Sequence[Sequence[Any]]
    truncated: bool
    masked: frozenset[str] = frozenset()
    lines: Sequence[int] | None = None
    file: str | None = None
    receipt: str | None = None


def encode(result: Result, **about: Any) -> bytes:
    """The bytes of a snapshot; about has what else it says of its query: see SNAPSHOT."""
    seen = [sorted({CLASSES[kind] for kind in set(map(type, cells))}) for cells in zip(*result.rows)]
    columns = [
        {"name": name, "classes": seen[index] if seen else [], "masked": name in result.masked}
        for index, name in enumerate(result.columns)
    ]
    head = {
        **about,
        "columns": columns,
        "truncated": result.truncated,
        "lines": result.lines,
        "file": result.file,
        "receipt": result.receipt,
        "row_count": len(result.rows),
    }
    exact = any("decimal" in classes for classes in seen)
    rows = ",\n".join(map(row_with_decimals if exact else json.dumps, result.rows))
    return f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}\n'.encode("ascii")


def row_with_decimals(row: Sequence[Any]) -> str:
    """A row as JSON in which a Number is a number again, as it was written."""
    return f"[{', '.join(str(cell) if type(cell) is Number else json.dumps(cell) for cell in row)}]"


class Snapshot:
    """A stored result by its columns, and the values of its cells and ranges."""

    def __init__(self, hash: str, content: dict[str, Any]) -> None:
        self.hash = hash
        self.about = {name: part for name, part in content.items() if name not in ("rows", "lines")}
        self.query: str = content["query"]
        self.truncated: bool = content["truncated"]
        self.names = [column["name"] for column in content["columns"]]
        self.places = {name: place for place, name in enumerate(self.names)}
        self.masked = frozenset(column["name"] for column in content["columns"] if column["masked"])
        self.rows: list[list[Any]] = content["rows"]
        self.file: str | None = content["file"]
        self.lines: list[int] | None = content["lines"]
        self.ranges: dict[tuple[str, str], Decimal] = {}

    def column(self, name: str) -> int:
        """The place of a column. Raises Missing and Failed."""
        if name not in self.places:
            raise Missing(f"the result of {self.query} has no column {name!a}")
        if name in self.masked:
            raise Failed(f"the column {name!a} of {self.query} is masked")
        return self.places[name]

    def cell(self, row: int, name: str) -> Decimal:
        """The value of a cell. Raises Missing and Failed."""
        place = self.column(name)
        if row >= len(self.rows):
            raise Missing(f"the result of {self.query} has no row {row}, only {len(self.rows)}")
        cell = self.rows[row][place]
        if cell is None:
            raise Missing(f"the cell {name!a} in row {row} of {self.query} is null")
        return self.number(cell, row, name)

    def number(self, cell: Any, row: int, name: str) -> Decimal:
        if type(cell) is int or is_decimal(cell):
            return Decimal(cell)
        raise Failed(f"the cell {name!a} in row {row} of {self.query} is text, not a number")

    def aggregate(self, function: str, name: str) -> Decimal:
        """A sum, avg, min, max or count of a column without its null cells, worked out once. Raises as above."""
        if (function, name) not in self.ranges:
            self.ranges[function, name] = self.aggregated(function, name)
        return self.ranges[function, name]

    def aggregated(self, function: str, name: str) -> Decimal:
        place = self.column(name)
        cells = [row[place] for row in self.rows]
        present = [cell for cell in cells if cell is not None]
        if function == "count":
            return Decimal(len(present))
        if not present:
            raise Missing(f"{function} over no values: the column {name!a} of {self.query} has none")
        if not set(map(type, present)) <= {int}:
            for row, cell in enumerate(cells):
                if cell is not None:
                    self.number(cell, row, name)
        if function in ("min", "max"):
            numbers = map(Decimal, present)
            return min(numbers) if function == "min" else max(numbers)
        total = exact_sum(present)
        return ARITHMETIC.divide(total, Decimal(len(present))) if function == "avg" else ARITHMETIC.plus(total)


def exact_sum(numbers: Iterable[Any]) -> Decimal:
    """The sum of integers and decimal texts without any rounding, also of very large and very small ones."""
    whole, rest = 0, Decimal(0)
    for number in numbers:
        if type(number) is int:
            whole += number
        else:
            rest = WIDE.add(rest, Decimal(number))
    return WIDE.add(rest, Decimal(whole))


def decode(data: bytes, hash: str, problems: Problems) -> Snapshot | None:
    """The snapshot of stored bytes; None, and problems, where they are none."""
    before = problems.count
    content = parse(data, SNAPSHOT, hash, problems)
    return None if problems.count > before else Snapshot(hash, content)


def rows_fit(content: dict[str, Any], path: answer_format.Path, problems: Problems) -> None:
    """The rule that every row has a cell for each column, and only cells of the kinds that there are."""
    rows, columns = content.get("rows"), content.get("columns")
    if not isinstance(rows, list) or not isinstance(columns, list):
        return
    if not set(map(type, rows)) <= {list} or not set(map(len, rows)) <= {len(columns)}:
        problems.add((path, "rows"), f"must have {len(columns)} cells in each row")
        return
    cells = list(zip(*rows)) if rows else [()] * len(columns)
    kinds = [set(map(type, column)) for column in cells]
    if not set().union(*kinds) <= {int, Number, str, type(None)}:
        problems.add((path, "rows"), "must have cells that are numbers, texts or null")
    elif any(is_masked(column) and not kind <= {type(None)} for column, kind in zip(columns, kinds)):
        problems.add((path, "rows"), "must have null in every cell of a masked column")
    elif not all(map(classes_fit, columns, kinds, cells)):
        problems.add((path, "columns"), "must have the classes of their cells")
    elif content.get("row_count") != len(rows):
        problems.add((path, "row_count"), f"must be the number of rows, {len(rows)}, not", content.get("row_count"))
    elif isinstance(content.get("lines"), list) and len(content["lines"]) != len(rows):
        problems.add((path, "lines"), f"must have a line for each of the {len(rows)} rows")


def is_masked(column: Any) -> bool:
    return isinstance(column, dict) and column.get("masked") is True


def classes_fit(column: Any, kinds: set[type], cells: Sequence[Any]) -> bool:
    """Whether a column's classes are those of its cells' types.

    A fraction may be real or decimal, and a whole number that is too long for an int of the reader an integer.
    """
    classes = column.get("classes") if isinstance(column, dict) else None
    if not isinstance(classes, list) or any(type(one) is not str for one in classes):
        return True  # which is said elsewhere
    said = {"decimal" if one == "real" else one for one in classes}
    found = {CLASSES[kind] for kind in kinds}
    if Number in kinds and found != said:
        numbers = {"integer" if is_integer(cell) else "decimal" for cell in cells if type(cell) is Number}
        found = found - {"decimal"} | numbers
    return found == said


def is_integer(number: Number) -> bool:
    """Whether a number that the reader keeps as its text is an integer as SQLite has them."""
    digits = number.lstrip("-")
    return digits.isdigit() and len(digits) <= MAX_DIGITS and -(2**63) <= int(number) < 2**63


COLUMN_NAME = Leaf(
    f"text of at most {MAX_NAME} code points", lambda value: type(value) is str and len(value) <= MAX_NAME
)
LINES = Leaf(
    "an array of line numbers or null",
    lambda value: value is None or isinstance(value, list) and all(type(line) is int for line in value),
)
ROWS = Leaf("an array", lambda value: isinstance(value, list))
COLUMN = record(name=COLUMN_NAME, classes=array(one_of(*CLASSES.values()), 0, 5, unique()), masked=BOOLEAN)
SNAPSHOT = record(
    rows_fit,
    query=NAME,
    name=answer_format.LABEL,
    source=ID,
    role=one_of("source", "compute"),
    sql=or_null(text_of(1_000_000)),
    parameters=anything,
    at=TIMESTAMP,
    schema=HASH,
    columns=array(COLUMN, 0, MAX_COLUMNS),
    truncated=BOOLEAN,
    lines=LINES,
    file=or_null(answer_format.TEXT),
    receipt=or_null(text_of(4_096)),
    row_count=answer_format.integer_to(MAX_ROWS),
    rows=ROWS,
)
