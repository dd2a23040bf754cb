"""Saved results: what a query returned elsewhere, as a file of columns and rows, or as a saved answer of an MCP tool.

    {"columns": ["region", "amount"], "rows": [["North", 12.5]], "truncated": false}
    {"structuredContent": {"data": {"columns": [...], "rows": [...], "truncated": false, "rowCount": 1}}}

A row is an array, or an object with a field for each column. An answer that says it is an error is a query that failed,
never one without rows.
"""

from __future__ import annotations

import hashlib
from typing import Any, Union

import answer_format
from answer_format import Leaf, Number, Problems, Repeating, array, quoted, record, text_of, unique
from issuance.files import SourceFault, read_bytes
from issuance.formats import BOOLEAN, anything, is_decimal, parse
from issuance.snapshots import MAX_ROWS, Result

CELL = "text, a number with an exponent of at most three digits, or null"
Saved = Union[Result, str]  # a result, or why there is none


def read(path: str, kind: answer_format.Kind) -> tuple[Any, str]:
    """The content of a saved file and the SHA-256 of its bytes. Raises SourceFault."""
    problems = Problems()
    data = read_bytes(path)
    content = parse(data, kind, path, problems)
    raise_first(problems)
    return content, hashlib.sha256(data).hexdigest()


def read_result(path: str, masked: frozenset[str]) -> tuple[Saved, list[str], str]:
    """A saved result, its columns, and the SHA-256 of the file; masked names columns in lower case."""
    content, hash = read(path, RESULT)
    result = result_of(path, content, "", masked)
    return result, result.columns, hash


def read_mcp_answer(path: str, masked: frozenset[str]) -> tuple[Saved, list[str], str]:
    """The same of a saved answer of an MCP tool."""
    content, hash = read(path, anything)
    problems = Problems()
    problems.file = path
    if isinstance(content, dict) and content.get("isError", False) is not False:
        BOOLEAN(content["isError"], ((), "isError"), problems)
        raise_first(problems)
        return f"the tool answered with an error{'' if masked else error_text(content)}", [], hash
    MCP_ANSWER(content, (), problems)
    raise_first(problems)
    data = content["structuredContent"]["data"]
    result = result_of(path, data, "structuredContent.data.", masked)._replace(receipt=data.get("receiptId"))
    count = data.get("rowCount")
    if count is not None and count != len(data["rows"]) and not data["truncated"]:
        return f"the saved answer says {count} rows, but {len(data['rows'])} are there", result.columns, hash
    return result, result.columns, hash


def error_text(content: dict[str, Any]) -> str:
    """What an MCP tool said of its error, quoted."""
    parts = content.get("content")
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            return f": {quoted(part['text'])}"
    return ""


def raise_first(problems: Problems) -> None:
    """Raise a SourceFault with the first of some problems, and how many more there are."""
    if problems.count:
        file, where, sentence = problems.first[0]
        more = f" (and {problems.count - 1} more)" if problems.count > 1 else ""
        raise SourceFault(file, where, sentence + more)


def result_of(path: str, content: dict[str, Any], at: str, masked: frozenset[str]) -> Result:
    """The result that a checked document holds, its masked columns without their values. Raises SourceFault."""
    names = [column if isinstance(column, str) else column["name"] for column in content["columns"]]
    if len(set(names)) < len(names):
        raise SourceFault(path, f"{at}columns", "must be unique")
    hidden = frozenset(name for name in names if name.lower() in masked)
    rows = []
    for index, row in enumerate(content["rows"]):
        if isinstance(row, dict):
            if row.keys() != set(names):
                raise SourceFault(path, f"{at}rows[{index}]", "must have a field for each column and no other")
            row = [row[name] for name in names]
        if len(row) != len(names):
            raise SourceFault(path, f"{at}rows[{index}]", f"must have {len(names)} cells, not {len(row)}")
        for place, (name, cell) in enumerate(zip(names, row)):
            if not is_cell(cell):
                said = f"must be {CELL}" + ("" if name in hidden else f", not {quoted(cell)}")
                raise SourceFault(path, f"{at}rows[{index}][{place}]", said)
        rows.append([None if name in hidden else stored(cell) for name, cell in zip(names, row)])
    return Result(names, rows, content["truncated"], hidden)


def is_cell(cell: Any) -> bool:
    if isinstance(cell, str):
        return is_decimal(cell) if isinstance(cell, Number) else not answer_format.has_surrogates(cell)
    return cell is None or isinstance(cell, (int, bool))


def stored(cell: Any) -> Any:
    """A cell of a saved result; true and false, which SQLite does not know, as text."""
    return ("true" if cell else "false") if isinstance(cell, bool) else cell


COLUMN = answer_format.TEXT


def is_row(row: Any, path: answer_format.Path, problems: Problems) -> None:
    if not isinstance(row, (list, dict)):
        problems.add(path, "must be an array or an object, not", row)
    elif isinstance(row, Repeating):
        for name, times in row.times.items():
            problems.add((path, name), f"must stand once in its object, not {times} times")


def column(value: Any, path: answer_format.Path, problems: Problems) -> None:
    """A column of an MCP answer: its name, or an object that has one."""
    COLUMN(value["name"] if isinstance(value, dict) and "name" in value else value, path, problems)


RESULT = record(
    columns=array(COLUMN, 1, 2_000, unique()),
    rows=array(is_row, 0, MAX_ROWS),
    truncated=BOOLEAN,
)


def having(optional: dict[str, answer_format.Kind], **fields: answer_format.Kind) -> answer_format.Kind:
    """Objects with these fields and any others, as documents of another program have; null is as good as none."""

    def check(value: Any, path: answer_format.Path, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "must be an object, not", value)
            return
        for name, kind in fields.items():
            if name not in value:
                problems.add((path, name), "is missing")
            else:
                kind(value[name], (path, name), problems)
        for name, kind in optional.items():
            if value.get(name) is not None:
                kind(value[name], (path, name), problems)

    return check


COUNT = Leaf("a whole number", lambda value: type(value) is int and value >= 0)
MCP_ANSWER = having(
    {},
    structuredContent=having(
        {},
        data=having(
            {"rowCount": COUNT, "receiptId": text_of(4_096)},
            columns=array(column, 1, 2_000),
            rows=array(is_row, 0, MAX_ROWS),
            truncated=BOOLEAN,
        ),
    ),
)
