"""Issuing a run: from a plan and its open sources to a sealed run in the store.

Every step is stored by its SHA-256 and recorded as an event when it is done. What decides the tier is computed from the
stored bytes by the same functions with which verify computes it again.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from answer_format import Problems
from issuance import (
    caliber,
    contract,
    drafting,
    fields,
    knowledge,
    listing,
    numerals,
    queries,
    report,
    runs,
    seal,
    snapshots,
    sql,
    store,
    tracing,
)  # fmt: skip
from issuance.caliber import Caliber, Snapshots
from issuance.cards import Card
from issuance.claims import Claims
from issuance.contract import Findings
from issuance.evidence import Evidence
from issuance.job import Contract, Input, Job, Query
from issuance.listing import counted
from issuance.pieces import Violation
from issuance.plan import Plan
from issuance.queries import Outcome
from issuance.snapshots import Result
from issuance.sources import Source
from issuance.store import Damaged, Log, Store, create_run, write_whole
from issuance.tracing import Traced

Progress = Callable[[str], None]
Record = Callable[..., None]  # appends an event: its type and what it is about


class Checked(NamedTuple):
    """What checking the text of a run has found."""

    text: str | None  # None for metrics only
    traced: list[Traced]
    violations: list[Violation]
    unchecked: list[str]  # names that a truncated schema leaves open
    claims: Claims | None


class Issued(NamedTuple):
    run_id: str
    record: dict[str, Any]
    caliber: Caliber
    checked: Checked
    bump: dict[str, Any] | None


def now() -> str:
    """The present time in UTC, as events have it."""
    return time_of(time.time_ns() // 10**9)


def time_of(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


def new_run() -> tuple[str, str]:
    """The time of a new run, and its id, which begins with that time and is no other run's."""
    second, rest = divmod(time.time_ns(), 10**9)
    at = time_of(second)
    return at, f"{seal.stamp(at)}-{rest // 1000:06}-{secrets.token_hex(4)}"


class Clock:
    """Times that never go back, also where the machine's do."""

    def __init__(self, first: str) -> None:
        self.last = first

    def __call__(self) -> str:
        self.last = max(self.last, now())
        return self.last


def issue(plan: Plan, sources: dict[str, Source], into: Store, progress: Progress) -> Issued:
    """Run a plan, seal the run and return what came of it. Raises StoreFault, and SourceFault of a source."""
    job = plan.job
    started, run_id = new_run()
    clock = Clock(started)
    into.prepare()
    log = create_run(into, run_id)
    log.append(
        started, "run.started", run_id=run_id, job_id=job.id, title=job.title, mode=job.mode, level=job.level,
        job=into.put(job.data), inputs=job.inputs, number_rules=numerals.VERSION,
        fields=into.put(plan.fields[0]) if plan.fields else None,
        knowledge=[into.put(data) for data, _ in plan.knowledge],
    )  # fmt: skip
    found: dict[str, snapshots.Snapshot | str] = {}
    schemas = {id: source.schema() for id, source in sources.items()}
    schema_hashes = {id: into.put(schema) for id, schema in schemas.items()}
    for query in job.queries.values():
        progress(f"query {query.name} of {len(job.queries)}: {query.id}")
        source = sources[query.source]
        found[query.id] = take(query, source, schema_hashes[query.source], job.inputs, into, log, clock)
    progress("metrics")
    known_fields = plan.fields[1] if plan.fields else {}
    computed = Caliber(plan.card.card, found, job.inputs, known_fields)
    card = into.put(plan.card.data)
    bump = None
    if plan.pinned and job.on_version_bump:
        bump = bumped(job.on_version_bump, plan.pinned.card, computed, into, job.id)
    log.append(
        clock(), "metrics.computed", card=card, name=plan.card.card.name, version=str(plan.card.card.version),
        pinned=None if job.version is None else str(job.version), metric_set=into.put(caliber.encode(computed, card)),
        missing=computed.missing(), on_version_bump=bump and bump["policy"],
        pinned_card=into.put(plan.pinned.data) if plan.pinned else None,
        bump=bump and into.put(encoded(bump)), warnings=list(fields.warnings(known_fields, found)),
    )  # fmt: skip

    def record(type: str, **about: Any) -> None:
        log.append(clock(), type, **about)

    if plan.draft:
        checked = cited(plan, computed, schemas, into, record, progress)
    else:
        checked = by_value(plan, computed, into, record, progress)
    if job.report and job.report.on_violation == "fail" and checked.violations:
        record(seal.FAILED, message=failing(checked.violations))
    else:
        decision = contract.decide(
            Findings(job, computed, unusable(found), truncated(found), checked.text, checked.traced, into.damaged,
                     checked.violations, checked.unchecked, checked.claims)
        )  # fmt: skip
        record("contract.decided", tier=decision.tier, reasons=decision.reasons)
        record(seal.FINISHED)
    return Issued(run_id, finish(into, run_id), computed, checked, bump)


def failing(violations: list[Violation]) -> str:
    """Why a run fails whose report may have no violation."""
    first = f"{violations[0].kind} {ascii(violations[0].text)}: {violations[0].message}"
    return f"{counted(len(violations), 'violation', 'violations')} of the report's rules, the first: {first}"


def by_value(plan: Plan, computed: Caliber, into: Store, record: Record, progress: Progress) -> Checked:
    """Check the narrative by value; without one, the title."""
    progress("numbers")
    narrative = into.put(plan.narrative[0]) if plan.narrative else None
    text = plan.narrative[1] if plan.narrative else None
    traced = trace(plan.job.title if text is None else text, computed, plan.job.contract)
    record(
        "report.checked", narrative=narrative, draft=None, document=narrative,
        numbers=into.put(listing.as_stored(traced)), summary=listing.summary(traced), violations=0, warnings=[],
        damaged=into.damaged,
    )  # fmt: skip
    return Checked(text, traced, [], [], None)


def cited(
    plan: Plan, computed: Caliber, schemas: Mapping[str, bytes], into: Store, record: Record, progress: Progress
) -> Checked:
    """Compose the report of a draft, and have its claims judged."""
    job = plan.job
    assert job.report is not None and plan.draft is not None
    texts = [(path, text) for path, (_, text) in zip(job.knowledge, plan.knowledge)]
    evidence = evidence_of(job, computed, schemas, texts, into)
    allow = job.contract.allow if job.contract else []
    progress("report")
    drafted = drafting.settle(job.report, plan.folder, plan.draft[1], evidence, allow, into, record)
    made = drafted.report
    record(
        "report.checked", narrative=None, draft=drafted.draft, document=into.put(report.encode(made)),
        numbers=into.put(listing.as_stored(made.numbers)), summary=listing.summary(made.numbers),
        violations=len(made.violations), warnings=drafted.warnings, damaged=into.damaged,
    )  # fmt: skip
    found = None
    if job.report.claims != "off" and not (made.violations and job.report.on_violation == "fail"):
        progress("claims")
        found = drafting.judged(job.report, job.mode, plan.folder, made, evidence, into)
        record("claims.judged", **found._asdict())
    return Checked(made.text, made.numbers, made.violations, made.unchecked, found)


def evidence_of(
    job: Job, computed: Caliber, schemas: Mapping[str, bytes], texts: list[tuple[str, str]], into: Store | None
) -> Evidence:
    """What the report of a run can cite, from what is stored of it; from what is not stored where into is None."""

    def intact(hash: str) -> bool:
        if into is None:
            return True
        try:
            into.get(hash)
        except Damaged:
            into.damaged.append(hash)
            return False
        return True

    known = [json.loads(schema) for schema in schemas.values()]
    return Evidence(job, computed, known, knowledge.chunks(texts), intact)


def take(
    query: Query,
    source: Source,
    schema: str,
    inputs: dict[str, Input],
    into: Store,
    log: Log,
    clock: Clock,
) -> snapshots.Snapshot | str:
    """Run a query, and store and record what came of it: its snapshot, or why there is none."""
    outcome = queries.run(query, source, inputs)
    at = clock()
    found: snapshots.Snapshot | str = f"{outcome.status}: {outcome.message}"
    hash = None
    if outcome.result is not None:
        data = encoded_result(outcome.result, query, inputs, at, schema)
        hash = into.put(data)
        found = decoded(data, hash)
    log.append(
        at, "query.snapshotted", query=query.id, name=query.name, source=query.source, outcome=outcome.status,
        message=outcome.message, snapshot=hash, schema=schema, warnings=outcome.warnings,
        rows=0 if isinstance(found, str) else len(found.rows),
        truncated=False if isinstance(found, str) else found.truncated,
    )  # fmt: skip
    return found


def encoded_result(result: Result, query: Query, inputs: dict[str, Input], at: str, schema: str) -> bytes:
    """The bytes of a query's snapshot."""
    return snapshots.encode(
        result, query=query.id, name=query.name, source=query.source, role=query.role, sql=query.sql,
        parameters=sql.bound(query.sql, inputs), at=at, schema=schema,
    )  # fmt: skip


def snapshot_of(outcome: Outcome, query: Query, inputs: dict[str, Input]) -> snapshots.Snapshot | str:
    """The snapshot of a query that is not to be stored, or why there is none."""
    if outcome.result is None:
        return f"{outcome.status}: {outcome.message}"
    return decoded(encoded_result(outcome.result, query, inputs, now(), "0" * 64), "0" * 64)


def decoded(data: bytes, hash: str) -> snapshots.Snapshot:
    """The snapshot of bytes that were just encoded."""
    problems = Problems()
    found = snapshots.decode(data, hash, problems)
    assert found is not None, problems.lines("snapshot")
    return found


def trace(text: str, computed: Caliber, agreed: Contract | None) -> list[Traced]:
    """The numbers of a text, each against the metrics and what the contract allows."""
    return tracing.trace(text, computed.metrics(), agreed.allow if agreed else ())


def unusable(found: Snapshots) -> dict[str, str]:
    return {query: snapshot for query, snapshot in found.items() if isinstance(snapshot, str)}


def truncated(found: Snapshots) -> frozenset[str]:
    return frozenset(
        query for query, snapshot in found.items() if not isinstance(snapshot, str) and snapshot.truncated
    )


def encoded(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode("ascii")


def finish(into: Store, run_id: str) -> dict[str, Any]:
    """Write the run record, which only a sealed run has."""
    folder = into.folder(run_id)
    with store.faults(folder, "cannot be sealed"):
        sealed = seal.read(store.read_whole(f"{folder}/{store.EVENTS}"))
        write_whole(f"{folder}/{store.RECORD}", seal.record_bytes(sealed))
    return seal.record_of(sealed)


def bumped(policy: str, pinned: Card, computed: Caliber, into: Store, job_id: str) -> dict[str, Any]:
    """What a job's policy says where a newer version has computed than the pinned one."""
    newest = computed.card
    head: dict[str, Any] = {"policy": policy, "pinned": str(pinned.version), "newest": str(newest.version)}
    if policy == "dual":
        return {**head, "values": side_by_side(pinned, computed)}
    if policy == "recompute":
        return {**head, "runs": runs.earlier(into, job_id, newest)}
    return {**head, "comparable": False}


def side_by_side(pinned: Card, computed: Caliber) -> list[dict[str, Any]]:
    """The values of both versions of a card from the same data, null where one has none."""
    before = Caliber(pinned, computed.snapshots, computed.inputs)
    return [
        {"metric": id, "pinned": before.value_text(id), "newest": computed.value_text(id)}
        for id in dict.fromkeys([*pinned.metrics, *computed.card.metrics])
    ]

