"""The events of a run, the seal over them, and the run record that is derived from them.

The seal is the SHA-256 of the bytes of the events from the first to the end of the run.finished (or run.failed) line.
Whatever comes after that line is outside the seal. Every artifact that counts is named in a sealed event.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import answer_format
from answer_format import ID, TIMESTAMP, Leaf, Problems, array, one_of, or_null, record
from issuance import claims, contract
from issuance.formats import BOOLEAN, HASH, NAME, VERSION, is_decimal, mapping, parse
from issuance.job import INPUT, MAX_ROWS

MAX_TYPE = 80  # code points of an event's type that are shown
FINISHED, FAILED = "run.finished", "run.failed"
ORDER = re.compile(
    "run.started( query.snapshotted)* metrics.computed( report.repaired)* report.checked"
    "(( claims.judged)? contract.decided run.finished| run.failed)"
).fullmatch
PARTS = (  # of ORDER, which an unsealed run has some of
    "run.started", "query.snapshotted", "metrics.computed", "report.repaired", "report.checked", "claims.judged",
    "contract.decided", FINISHED, FAILED,
)  # fmt: skip
RUN_FIELDS = ("run_id", "job_id", "title", "mode", "level", "inputs", "number_rules")


class Sealed(NamedTuple):
    """The sealed events by their types, the seal, and the lines after it."""

    started: dict[str, Any]
    queries: list[dict[str, Any]]
    repaired: list[dict[str, Any]]
    computed: dict[str, Any] | None
    checked: dict[str, Any] | None
    judged: dict[str, Any] | None
    decided: dict[str, Any] | None
    ended: dict[str, Any]
    seal: str
    appended: list[bytes]


class Unsealed(Exception):
    """A run's events have no end that seals them; raised with a sentence."""


class Malformed(Exception):
    """A run's events are not what a run writes; raised with a sentence."""


def stamp(at: str) -> str:
    """A time as the ids of runs begin with it: YYYYMMDD-HHMMSS."""
    day, clock = re.sub("[-:Z]", "", at).split("T")
    return f"{day}-{clock}"


def sealed_part(data: bytes) -> tuple[list[bytes], list[bytes]]:
    """The sealed lines of an event file and the lines after them. Raises Unsealed."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    for index, line in enumerate(lines):
        if b'"run.f' in line and line.endswith(b"\n") and type_of(line) in (FINISHED, FAILED):
            return lines[: index + 1], lines[index + 1 :]
    raise Unsealed("the run was stopped before its end: it is not sealed")


def type_of(line: bytes) -> str:
    """The type of an event; empty where the line is none."""
    try:
        event = answer_format.parse_json(line)
    except answer_format.Unreadable:
        return ""
    return str(event.get("type", ""))[:MAX_TYPE] if isinstance(event, dict) else ""


def read(data: bytes) -> Sealed:
    """The sealed events of an event file's bytes. Raises Unsealed and Malformed."""
    lines, appended = sealed_part(data)
    events = [event_of(number, line) for number, line in enumerate(lines, 1)]
    order = [event["type"] for event in events]
    if not ORDER(" ".join(order)):
        raise Malformed("the events do not follow each other as those of a run do")
    if any(later["at"] < earlier["at"] for earlier, later in zip(events, events[1:])):
        raise Malformed("an event is earlier than the one before it")
    return by_type(events, hashlib.sha256(b"".join(lines)).hexdigest(), appended)


def read_unsealed(data: bytes) -> Sealed:
    """The events that a run has which was stopped, without a seal. Raises Malformed."""
    whole = re.findall(rb"[^\n]*\n", data)  # the last may have been cut short
    events = [event_of(number, line) for number, line in enumerate(whole, 1)]
    places = [PARTS.index(event["type"]) for event in events]
    if not events or places[0] != 0 or places != sorted(places):
        raise Malformed("the events are not those of a run that has begun")
    return by_type(events, "", [])


def by_type(events: list[dict[str, Any]], seal: str, appended: list[bytes]) -> Sealed:
    rest = {event["type"]: event for event in events}
    queries = [event for event in events if event["type"] == "query.snapshotted"]
    repaired = [event for event in events if event["type"] == "report.repaired"]
    computed, checked = rest.get("metrics.computed"), rest.get("report.checked")
    judged, decided = rest.get("claims.judged"), rest.get("contract.decided")
    return Sealed(events[0], queries, repaired, computed, checked, judged, decided, events[-1], seal, appended)


def event_of(number: int, line: bytes) -> dict[str, Any]:
    """The event of a line. Raises Malformed."""
    type = type_of(line)
    problems = Problems()
    event = parse(line, EVENTS.get(type, never), f"event {number}", problems)
    if not problems.count and event["seq"] != number:
        problems.add("seq", f"must be {number}, not", event["seq"])
    if problems.count:
        file, where, sentence = problems.first[0]
        raise Malformed(f"{file}: {where}: {sentence}")
    return dict(event)


def never(value: Any, path: answer_format.Path, problems: Problems) -> None:
    problems.add(path, "must be an event of a run")


def record_of(sealed: Sealed) -> dict[str, Any]:
    """The run record: what the job was, what came of it, and the seal."""
    computed, checked, decided = sealed.computed or {}, sealed.checked or {}, sealed.decided or {}
    judged = sealed.judged or {}
    return {
        **{name: sealed.started[name] for name in RUN_FIELDS},
        "started_at": sealed.started["at"],
        "ended_at": sealed.ended["at"],
        "status": "finished" if sealed.ended["type"] == FINISHED else "failed",
        "tier": decided.get("tier"),
        "reasons": decided.get("reasons", []),
        "missing": computed.get("missing", []),
        "numbers": checked.get("summary"),
        "card": {name: computed.get(name) for name in ("name", "version", "pinned", "on_version_bump")},
        "queries": [
            {name: event[name] for name in ("name", "query", "outcome", "message", "rows", "truncated", "warnings")}
            for event in sealed.queries
        ],
        "warnings": [*computed.get("warnings", []), *checked.get("warnings", []), *judged.get("warnings", [])],
        "violations": checked.get("violations", 0),
        "claims": judged and {name: len(judged[name]) for name in ("ids", "gaps", "verdicts", "unjudged")},
        "artifacts": dict(artifacts(sealed)),
        "seal": sealed.seal,
    }


def record_bytes(sealed: Sealed) -> bytes:
    return (json.dumps(record_of(sealed), indent=2) + "\n").encode("ascii")


def artifacts(sealed: Sealed) -> Iterator[tuple[str, str]]:
    """What every artifact that a sealed event names is, and its hash."""
    yield "job", sealed.started["job"]
    if sealed.started["fields"]:
        yield "fields", sealed.started["fields"]
    for number, hash in enumerate(sealed.started["knowledge"], 1):
        yield f"knowledge {number}", hash
    for event in sealed.queries:
        yield f"schema of {event['name']}", event["schema"]
        if event["snapshot"]:
            yield f"snapshot of {event['name']}", event["snapshot"]
    for event in sealed.repaired:
        yield f"draft {event['attempt']}", event["draft"]
        if event["answer"]:
            yield f"draft {event['attempt'] + 1}", event["answer"]
    for later, parts in ((sealed.computed, COMPUTED), (sealed.checked, CHECKED)):
        for part in parts:
            if later and later[part]:
                yield part.replace("_", " "), later[part]


COMPUTED = ("card", "pinned_card", "metric_set", "bump")
CHECKED = ("narrative", "draft", "document", "numbers")
TEXT = answer_format.TEXT
MESSAGE = Leaf("text", lambda value: type(value) is str and not answer_format.has_surrogates(value))
COUNT = answer_format.integer_to(MAX_ROWS)
REASON = record(code=one_of(*contract.CODES), message=MESSAGE)
IDS = array(answer_format.LABEL, 0, 1_000_000)
COST = Leaf("the decimal of a cost", lambda value: type(value) is str and is_decimal(value) and value[0] != "-")
VERDICT = record(
    sentence=answer_format.LABEL, verdict=one_of(*claims.VERDICTS), reason=MESSAGE, model=MESSAGE, cost_usd=COST
)
SUMMARY = record(total=COUNT, traced=COUNT, untraced=COUNT, allowed=COUNT)
OUTCOME = one_of("success", "refused", "denied", "failed")
MODES, LEVELS = one_of("formal", "exploratory"), one_of("published", "governed")


def event(type: str, **fields: answer_format.Kind) -> answer_format.Kind:
    return record(seq=answer_format.integer_to(10**9), at=TIMESTAMP, type=one_of(type), **fields)


EVENTS = {
    "run.started": event(
        "run.started",
        run_id=answer_format.LABEL, job_id=ID, title=TEXT, mode=MODES, level=LEVELS, job=HASH,
        inputs=mapping(NAME, INPUT, 0), number_rules=VERSION, fields=or_null(HASH), knowledge=array(HASH, 0, 10_000),
    ),
    "query.snapshotted": event(
        "query.snapshotted",
        query=NAME, name=answer_format.LABEL, source=ID, outcome=OUTCOME, message=MESSAGE, snapshot=or_null(HASH),
        schema=HASH, rows=COUNT, truncated=BOOLEAN, warnings=array(MESSAGE, 0, 100),
    ),
    "metrics.computed": event(
        "metrics.computed",
        card=HASH, name=ID, version=VERSION, pinned=or_null(VERSION), metric_set=HASH,
        missing=array(record(metric=NAME, reason=MESSAGE), 0, 100_000), bump=or_null(HASH), pinned_card=or_null(HASH),
        on_version_bump=or_null(one_of("recompute", "dual", "incomparable")), warnings=array(MESSAGE, 0, 100_000),
    ),
    "report.checked": event(
        "report.checked",
        narrative=or_null(HASH), draft=or_null(HASH), document=or_null(HASH), numbers=HASH, summary=SUMMARY,
        violations=COUNT, warnings=array(MESSAGE, 0, 1_000), damaged=array(HASH, 0, 100_000),
    ),
    "report.repaired": event(
        "report.repaired", attempt=COUNT, draft=HASH, violations=COUNT, answer=or_null(HASH), message=MESSAGE
    ),
    "claims.judged": event(
        "claims.judged",
        ids=IDS, gaps=IDS, verdicts=array(VERDICT, 0, 1_000_000), warnings=array(MESSAGE, 0, 1_000),
        unjudged=array(record(sentence=answer_format.LABEL, reason=MESSAGE), 0, 1_000_000),
    ),
    "contract.decided": event(
        "contract.decided", tier=one_of("formal", "degraded", "withheld"), reasons=array(REASON, 0, 100)
    ),
    FINISHED: event(FINISHED),
    FAILED: event(FAILED, message=MESSAGE),
}  # fmt: skip
