"""What the tests of issuance share: a small job in a folder of its own, edits of it, and the command line in process."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from unittest import mock

import issuance.__main__
from tests.support import DROP as DROP

SCRIPT = """CREATE TABLE orders (week TEXT, region TEXT, cents INTEGER, email TEXT);
INSERT INTO orders VALUES
('W37', 'North', 375050, 'ann@example.org'),
('W37', 'South', 124950, 'bob@example.org'),
('W36', 'North', 400000, 'eve@example.org');
"""
SQL = "SELECT region, SUM(cents) AS cents FROM orders WHERE week = :week GROUP BY region ORDER BY region"
CARD = "cards/sales@1.json"
NARRATIVE = "Sales were $5,000.00. The North had 75.0% of them.\n"


class Run(NamedTuple):
    status: int
    out: str
    err: str


def command(*arguments: str, cwd: str | os.PathLike[str] = ".") -> Run:
    """Run the command line in this process and in a folder, and return what came of it."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before = os.getcwd()
    os.chdir(cwd)
    try:
        with mock.patch.multiple(sys, argv=["x", *arguments], stdout=out, stderr=err):
            try:
                status = issuance.__main__.run()
            except SystemExit as ended:  # --help
                status = int(ended.code or 0)
    finally:
        os.chdir(before)
    return Run(status, out.buffer.getvalue().decode(), err.getvalue())


def metric(id: str, expression: str, **fields: Any) -> dict[str, Any]:
    """A metric of a card, with some fields otherwise."""
    return {
        "id": id, "name": id, "unit": "", "decimals": 2, "format": "plain", "expression": expression, **fields
    }  # fmt: skip


def card(*metrics: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Version 1 of the card sales with these metrics, or with those of the small job; with some fields otherwise."""
    usual = (
        metric("sales", "sum(regions, 'cents') / 100", unit="$"),
        metric("north", "cell(regions, 0, 'cents') / 100", unit="$"),
        metric("north_share", "north / sales", decimals=1, format="percent"),
    )
    return {"card_version": "1", "name": "sales", "version": "1", "metrics": list(metrics or usual), **changes}


def query(id: str, sql: str | None = None, **fields: Any) -> dict[str, Any]:
    """A query on the source shop; without SQL, as on a saved result."""
    return {"id": id, "source": "shop", **({} if sql is None else {"sql": sql}), **fields}


def job(**changes: Any) -> dict[str, Any]:
    """The small job, with other values of some keys; DROP removes one."""
    whole = {
        "job_version": "1",
        "id": "weekly",
        "title": "Weekly sales",
        "mode": "formal",
        "inputs": {"week": "W37"},
        "sources": [{"id": "shop", "sqlite_script": "shop.sql"}],
        "queries": [query("regions", SQL)],
        "caliber": {"card": CARD, "version": "1"},
        "narrative": "narrative.md",
        "contract": {"required": ["sales"], "expected": ["north_share"]},
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not DROP}


def write(folder: str | os.PathLike[str], files: Mapping[str, Any]) -> None:
    """Write files: bytes and texts as they are, anything else as JSON; DROP removes one."""
    for name, content in files.items():
        path = pathlib.Path(folder, name)
        if content is DROP:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else "" if isinstance(content, bytes) else json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else text.encode("utf-8"))


@contextlib.contextmanager
def job_folder(files: Mapping[str, Any] | None = None, /, **changes: Any) -> Iterator[str]:
    """The path of a temporary folder with the small job, which is formal: job.json and all that it names.

    changes are other values of keys of the job, DROP to leave one out; files are written over those of the job, see
    write(), such as {"narrative.md": "None.", "cards/sales@2.json": card(version="2"), "shop.sql": DROP}.
    """
    with tempfile.TemporaryDirectory() as folder:
        usual = {"shop.sql": SCRIPT, CARD: card(), "narrative.md": NARRATIVE, "job.json": job(**changes)}
        write(folder, {name: content for name, content in {**usual, **(files or {})}.items() if content is not DROP})
        yield folder


def edited(document: Any, edits: Mapping[str, Any]) -> Any:
    """A copy with other values at some paths, such as sources[0].id; DROP removes what is there."""
    document = copy.deepcopy(document)
    for path, value in edits.items():
        *steps, last = (int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path))
        place = document
        for step in steps:
            place = place[step]
        if value is DROP:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(copy.deepcopy(value))
        else:
            place[last] = copy.deepcopy(value)
    return document
