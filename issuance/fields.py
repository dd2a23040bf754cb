"""Fields: what an agent says that it read, each with the cell that it names. The cell wins.

A value other than the cell's is a warning. A cell that is not there, or is null, makes the field null, never zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import answer_format
from answer_format import Leaf, Problems, quoted
from issuance.formats import MAX_BYTES, NAME, is_decimal, mapping, parse, record_with
from issuance.job import Job
from issuance.markers import CELL
from issuance.snapshots import Snapshot


class Field(NamedTuple):
    value: Any  # as the agent says it
    place: str  # as it is written: Q1.r0.gmv
    query: str  # the id of the query; as it is written where there is no such query
    row: int
    column: str


def load(path: str, job: Job, problems: Problems) -> tuple[bytes, dict[str, Field]]:
    """The bytes and the fields of a file; no fields, and problems, where it cannot be used."""
    problems.file = path
    try:
        data = answer_format.read_bytes(path, MAX_BYTES)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return b"", {}
    return data, read(data, path, job, problems)


def read(data: bytes, file: str, job: Job, problems: Problems) -> dict[str, Field]:
    """The fields of a file's bytes."""
    before = problems.count
    content = parse(data, FIELDS, file, problems)
    if problems.count > before:
        return {}
    queries = {name: query.id for query in job.queries.values() for name in (query.name, query.id)}
    found = {}
    for name, item in content.items():
        place = CELL(item["from"])
        assert place is not None
        query = queries.get(place[1])
        if query is None:
            problems.add(((), name), "is from a query that the job does not have:", item["from"])
        else:
            found[name] = Field(item["value"], item["from"], query, int(place[2]), place[3])
    return found


def warning(name: str, field: Field, snapshot: Snapshot | str | None) -> str:
    """What is to be said of a field against its cell; empty for nothing."""
    if not isinstance(snapshot, Snapshot) or field.column not in snapshot.places or field.row >= len(snapshot.rows):
        return f"the field {name} is from {field.place}, which is not there"
    if field.column in snapshot.masked:
        return f"the field {name} is from {field.place}, which is masked"
    cell = snapshot.rows[field.row][snapshot.places[field.column]]
    if same(field.value, cell):
        return ""
    return f"the field {name} is {quoted(field.value)} to the agent, but {field.place} is {quoted(cell)}"


def same(said: Any, cell: Any) -> bool:
    """Whether two values are the same number, the same text or both null; a text of the agent's is no number."""
    if said is None or cell is None or isinstance(said, bool):
        return said is None and cell is None
    if is_number(said) and is_decimal(cell):  # which may be the text of a decimal
        return Decimal(said) == Decimal(cell)
    return type(said) is type(cell) is str and said == cell


def is_number(value: Any) -> bool:
    return (type(value) is int or isinstance(value, answer_format.Number)) and is_decimal(value)


def warnings(fields: Mapping[str, Field], snapshots: Mapping[str, Snapshot | str]) -> Iterator[str]:
    for name, field in fields.items():
        if said := warning(name, field, snapshots.get(field.query)):
            yield said


VALUE = Leaf(
    "text, a number, true, false or null",
    lambda value: value is None or isinstance(value, (bool, int)) or is_number(value) or type(value) is str,
)
FROM = Leaf("a cell such as Q1.r0.gmv", lambda value: type(value) is str and len(value) <= 4_096 and bool(CELL(value)))
FIELDS = mapping(NAME, record_with({"value": VALUE, "from": FROM}, {}), 0, 100_000)
