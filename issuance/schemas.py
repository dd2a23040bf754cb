"""Schemas: the tables of a source with their columns and declared types, as they are stored beside its snapshots."""

from __future__ import annotations

import json
from typing import Any

from answer_format import ID, Leaf, Problems, array, one_of, record, text_of
from issuance import job
from issuance.formats import BOOLEAN, HASH, mapping, parse, record_with

MAX_COLUMNS = 20_000  # of all the tables of a source together


def encode(source: job.Source, tables: list[dict[str, Any]], **about: Any) -> bytes:
    """The bytes of a schema; about says whether it is truncated, and has the hashes of the files that were read."""
    content = {"source": source.id, "kind": source.kind, "masked": source.masked, **about, "tables": tables}
    return (json.dumps(content, indent=1) + "\n").encode("ascii")


def decode(data: bytes, problems: Problems) -> dict[str, Any] | None:
    """The content of a stored schema; None, and problems, where it is none."""
    before = problems.count
    content: dict[str, Any] = parse(data, SCHEMA, "schema", problems)
    return None if problems.count > before else content


NAMED = Leaf("text", lambda value: type(value) is str)
COLUMN = record(name=NAMED, type=NAMED)
TABLE = record_with(
    {"name": NAMED, "kind": one_of("table", "view", "result"), "columns": array(COLUMN, 0, MAX_COLUMNS)},
    {"file": NAMED},
)
SCHEMA = record_with(
    {
        "source": ID,
        "kind": one_of(*job.KINDS),
        "masked": array(text_of(1_000), 0, 1_000),
        "truncated": BOOLEAN,
        "tables": array(TABLE, 0, 1_000_000),
    },
    {"sha256": HASH, "files": mapping(NAMED, HASH, 1, 1_000)},
)
