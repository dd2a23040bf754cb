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
from issuance.formats import BOOLEAN, MAX_BYTES, NAME, VERSION, is_decimal, mapping, parse, record_with

KINDS = ("sqlite", "sqlite_script", "csv", "result", "mcp_result")
SAVED = ("result", "mcp_result")
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


class Caps(NamedTuple):
    """What judging may cost at most, each None for no limit: claims, dollars and seconds."""

    sentences: int | None = 40
    report_usd: Decimal | None = Decimal("0.05")
    report_seconds: Decimal | None = Decimal(30)
    click_usd: Decimal | None = Decimal("0.01")
    day_usd: Decimal | None = Decimal(2)


class Report(NamedTuple):
    """A cited draft, and who repairs and judges it."""

    draft: str
    writer: list[str] | None
    writer_model: str | None
    max_repairs: int
    on_violation: str  # "fail" or "mark"
    claims: str  # "off", "require_citation" or "judge"
    judge: list[str] | None
    on_unsupported: str  # "degrade" or "withhold"
    caps: Caps


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
    fields: str | None
    narrative: str | None
    report: Report | None
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
        content.get("fields"),
        content.get("narrative"),
        report_of(content["report"], content.get("mode", "exploratory")) if "report" in content else None,
        None
        if contract is None
        else Contract(
            contract.get("required", []),
            contract.get("expected", []),
            contract.get("strict", True),
            contract.get("allow", []),
        ),
    )


def report_of(item: dict[str, Any], mode: str) -> Report:
    said = item.get("caps", {})
    usual = Caps()
    usd_and_seconds = (
        decimal_or_none(said.get(name, getattr(usual, name)))
        for name in ("report_usd", "report_seconds", "click_usd", "day_usd")
    )
    caps = Caps(said.get("sentences", usual.sentences), *usd_and_seconds)
    return Report(
        item["draft"],
        item.get("writer"),
        item.get("writer_model"),
        item.get("max_repairs", 1),
        item.get("on_violation", "fail" if mode == "formal" else "mark"),
        item.get("claims", "off"),
        item.get("judge"),
        item.get("on_unsupported", "degrade"),
        caps,
    )


def decimal_or_none(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))


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
    if job.fields is not None:
        yield ((), "fields"), job.fields
    if job.narrative is not None:
        yield ((), "narrative"), job.narrative
    if job.report is not None:
        yield (((), "report"), "draft"), job.report.draft


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
    if "report" in job and "narrative" in job:
        problems.add((path, "narrative"), "must not be there beside report: a text is checked in one way")
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


def judged(report: dict[str, Any], path: answer_format.Path, problems: Problems) -> None:
    if report.get("claims") == "judge" and "judge" not in report:
        problems.add((path, "judge"), "is missing, and claims says judge")


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
COMMAND = array(text_of(4_096), 1, 1_000)
SENTENCES = Leaf(
    "a whole number up to 100000 or null", lambda cap: cap is None or type(cap) is int and 0 <= cap <= 100_000
)
CAP = Leaf(
    "a number from 0 to 1000000 or null",
    lambda cap: cap is None
    or is_decimal(cap) and (type(cap) is int or isinstance(cap, Number)) and 0 <= Decimal(cap) <= 1_000_000,
)
REPORT = record_with(
    {"draft": PATH},
    {
        "writer": COMMAND,
        "writer_model": SHORT,
        "max_repairs": answer_format.integer_to(100),
        "on_violation": one_of("fail", "mark"),
        "claims": one_of("off", "require_citation", "judge"),
        "judge": COMMAND,
        "on_unsupported": one_of("degrade", "withhold"),
        "caps": record_with(
            {},
            {"sentences": SENTENCES, "report_usd": CAP, "report_seconds": CAP, "click_usd": CAP, "day_usd": CAP},
        ),
    },
    judged,
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
        "report": REPORT,
        "fields": PATH,
        "narrative": PATH,
        "contract": CONTRACT,
    },
    fits_together,
)
