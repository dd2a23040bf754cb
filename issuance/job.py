"""The job: one JSON file that says what to query, what to compute, and what has to hold of the report.

It belongs to the evaluator: it may name files and SQL. Paths in it are relative to its folder and stay under it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple, Union

import answer_format
from answer_format import ID, Leaf, Number, Problems, array, one_of, quoted, text_of, unique
from issuance.formats import BOOLEAN, MAX_BYTES, NAME, VERSION, anything, is_decimal, mapping, parse, record_with

KINDS = ("sqlite", "sqlite_script", "csv", "result", "mcp_result")
SAVED = ("result", "mcp_result")
LATER = ("report", "fields")
MAX_TIMEOUT = 3_600
MAX_ROWS = 10_000_000
Input = Union[str, int]


class Source(NamedTuple):
    id: str
    kind: str
    path: str | dict[str, str]  # of a file; for csv, of the file of each table
    masked: list[str]  # TABLE.COLUMN as it is written


class Query(NamedTuple):
    id: str
    name: str  # Q1, Q2, ... in the job's order
    source: str
    sql: str | None
    role: str
    timeout: float  # seconds
    max_rows: int
    unmasked: list[str]


class Contract(NamedTuple):
    required: list[str]
    expected: list[str]
    strict: bool
    allow: list[str]


class Job(NamedTuple):
    data: bytes  # the file as it is
    id: str
    title: str
    mode: str
    level: str
    inputs: dict[str, Input]
    sources: dict[str, Source]
    queries: dict[str, Query]
    card: str
    version: int | None  # the pinned one
    on_version_bump: str | None
    knowledge: list[str]
    narrative: str | None
    contract: Contract | None


def load(path: str, problems: Problems) -> Job | None:
    """The job of a file, every path in it looked at; None, and problems, where it cannot be used."""
    problems.file = path
    try:
        data = answer_format.read_bytes(path, MAX_BYTES)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return None
    job = read(data, path, problems)
    if job is not None:
        for where, named in paths(job):
            if complaint := unusable(os.path.dirname(path), named):
                problems.add(where, complaint, named)
    return None if problems.count else job


def read(data: bytes, file: str, problems: Problems) -> Job | None:
    """The job of a file's bytes, its paths aside; None, and problems, where it cannot be used."""
    before = problems.count
    content = parse(data, JOB, file, problems)
    return None if problems.count > before else job_of(data, content)


def job_of(data: bytes, content: dict[str, Any]) -> Job:
    caliber, contract = content["caliber"], content.get("contract")
    return Job(
        data,
        content["id"],
        content["title"],
        content.get("mode", "exploratory"),
        content.get("level", "published"),
        content.get("inputs", {}),
        {source["id"]: source_of(source) for source in content["sources"]},
        {query["id"]: query_of(number, query) for number, query in enumerate(content["queries"], 1)},
        caliber["card"],
        int(caliber["version"]) if "version" in caliber else None,
        caliber.get("on_version_bump"),
        content.get("knowledge", []),
        content.get("narrative"),
        None
        if contract is None
        else Contract(
            contract.get("required", []),
            contract.get("expected", []),
            contract.get("strict", True),
            contract.get("allow", []),
        ),
    )


def source_of(item: dict[str, Any]) -> Source:
    (kind,) = (kind for kind in KINDS if kind in item)
    return Source(item["id"], kind, item[kind], item.get("mask_columns", []))


def query_of(number: int, item: dict[str, Any]) -> Query:
    timeout = float(item.get("timeout_seconds", 10))  # a limit for a clock, no figure of a report
    role, most = item.get("evidence_role", "source"), item.get("max_rows", 10_000)
    return Query(
        item["id"], f"Q{number}", item["source"], item.get("sql"), role, timeout, most, item.get("unmasked", [])
    )


def paths(job: Job) -> Iterator[tuple[answer_format.Path, str]]:
    """Every path that a job names, and where it stands."""
    for index, source in enumerate(job.sources.values()):
        where = (((), "sources"), index)
        if isinstance(source.path, str):
            yield (where, source.kind), source.path
        else:
            for table, path in source.path.items():
                yield ((where, source.kind), table), path
    yield (((), "caliber"), "card"), job.card
    for index, path in enumerate(job.knowledge):
        yield (((), "knowledge"), index), path
    if job.narrative is not None:
        yield ((), "narrative"), job.narrative


def unusable(folder: str, path: str) -> str:
    """What is wrong with a path of a job, empty for nothing."""
    local = within(folder, path)
    if "\0" in path or os.path.isabs(path) or not is_under(folder, local):
        return "must stay under the job's folder, not"
    try:
        os.stat(local)
    except OSError as fault:
        return f"names a file that cannot be read: {fault.strerror}:"
    return "" if os.path.isfile(local) else "must name a regular file, not"


def within(folder: str, path: str) -> str:
    """A path of a job as this system's files are named, whatever the locale."""
    return os.path.join(folder, os.fsdecode(path.encode("utf-8")))


def is_under(folder: str, path: str) -> bool:
    """Whether a path leads to something in a folder, links followed."""
    top, real = os.path.realpath(folder or "."), os.path.realpath(path)
    return real != top and os.path.commonpath([top, real]) == top


def override(job: Job, argument: str) -> Job:
    """The job with the input of an --input NAME=VALUE. Raises ValueError with a sentence."""
    name, equals, value = argument.partition("=")
    if not equals or name not in job.inputs:
        known = ", ".join(job.inputs) or "there is none"
        raise ValueError(f"must be NAME=VALUE with an input that the job declares ({known}), not {quoted(argument)}")
    if isinstance(job.inputs[name], int):
        if not WHOLE(value):
            raise ValueError(f"{name} must be a whole number of at most 16 digits, not {quoted(value)}")
        return job._replace(inputs={**job.inputs, name: int(value)})
    if not answer_format.TEXT.accepts(value):
        raise ValueError(f"{name} must be {answer_format.TEXT.phrase}, not {quoted(value)}")
    return job._replace(inputs={**job.inputs, name: value})


WHOLE = re.compile("-?(?:0|[1-9][0-9]{0,15})").fullmatch


def is_timeout(value: Any) -> bool:
    return is_decimal(value) and (type(value) is int or isinstance(value, Number)) and 0 < Decimal(value) <= MAX_TIMEOUT


def one_kind(source: dict[str, Any], path: answer_format.Path, problems: Problems) -> None:
    if sum(kind in source for kind in KINDS) != 1:
        problems.add(path, f"must have exactly one of {', '.join(KINDS)}")


def fits_together(job: dict[str, Any], path: answer_format.Path, problems: Problems) -> None:
    """The rules between the parts of a job: what queries need of their sources, and one kind of text."""
    for name in LATER:
        if name in job:
            problems.add((path, name), "is not supported by this version")
    sources = {
        source["id"]: next((kind for kind in KINDS if kind in source), "")
        for source in items_of(job, "sources")
        if isinstance(source.get("id"), str)
    }
    for index, query in enumerate(items_of(job, "queries")):
        where, source = (((path, "queries"), index)), query.get("source")
        if not isinstance(source, str) or not sources:
            continue
        if source not in sources:
            problems.add((where, "source"), "must be the id of a source, not", source)
        elif sources[source] in SAVED and "sql" in query:
            problems.add((where, "sql"), f"must not be there: {source} is a saved result")
        elif sources[source] in KINDS and sources[source] not in SAVED and "sql" not in query:
            problems.add((where, "sql"), "is missing")


def items_of(job: dict[str, Any], name: str) -> list[dict[str, Any]]:
    items = job.get(name)
    return [item if isinstance(item, dict) else {} for item in items] if isinstance(items, list) else []


PATH = answer_format.TEXT
SHORT = text_of(256)
SQL = text_of(100_000)
INPUT = Leaf(
    "a whole number of at most 16 digits or text of 1 to 4096 code points without lone surrogates",
    lambda value: type(value) is int and abs(value) < 10**16 or answer_format.TEXT.accepts(value),
)
TABLE = answer_format.matching("the name of a table ([A-Za-z_][A-Za-z0-9_]*)", "[A-Za-z_][A-Za-z0-9_]*")
MASKED = Leaf(
    "TABLE.COLUMN", lambda value: SHORT.accepts(value) and all(part for part in [*value.rpartition(".")])
)
SOURCE = record_with(
    {"id": ID},
    {
        "sqlite": PATH,
        "sqlite_script": PATH,
        "csv": mapping(TABLE, PATH, 1, 1_000),
        "result": PATH,
        "mcp_result": PATH,
        "mask_columns": array(MASKED, 0, 1_000, unique()),
    },
    one_kind,
)
QUERY = record_with(
    {"id": NAME, "source": ID},
    {
        "sql": SQL,
        "evidence_role": one_of("source", "compute"),
        "timeout_seconds": Leaf(f"a number of seconds above 0 and up to {MAX_TIMEOUT}", is_timeout),
        "max_rows": Leaf(f"an integer from 1 to {MAX_ROWS}", lambda most: type(most) is int and 0 < most <= MAX_ROWS),
        "unmasked": array(SHORT, 0, 1_000, unique()),
    },
)
CALIBER = record_with(
    {"card": PATH}, {"version": VERSION, "on_version_bump": one_of("recompute", "dual", "incomparable")}
)
CONTRACT = record_with(
    {},
    {
        "required": array(NAME, 0, 100_000, unique()),
        "expected": array(NAME, 0, 100_000, unique()),
        "strict": BOOLEAN,
        "allow": array(SHORT, 0, 10_000, unique()),
    },
)
JOB = record_with(
    {
        "job_version": one_of("1"),
        "id": ID,
        "title": answer_format.TEXT,
        "sources": array(SOURCE, 0, 1_000, unique("id")),
        "queries": array(QUERY, 0, 10_000, unique("id")),
        "caliber": CALIBER,
    },
    {
        "mode": one_of("formal", "exploratory"),
        "level": one_of("published", "governed"),
        "inputs": mapping(NAME, INPUT, 0),
        "knowledge": array(PATH, 0, 10_000, unique()),
        "report": anything,
        "fields": anything,
        "narrative": PATH,
        "contract": CONTRACT,
    },
    fits_together,
)
