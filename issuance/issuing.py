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
from issuance import caliber, contract, listing, numerals, queries, runs, seal, snapshots, sql, store, tracing
from issuance.caliber import Caliber, Snapshots
from issuance.cards import Card
from issuance.contract import Findings
from issuance.job import Contract, Input, Query
from issuance.plan import Plan
from issuance.sources import Source
from issuance.store import Log, Store, create_run, write_whole
from issuance.tracing import Traced

Progress = Callable[[str], None]


class Issued(NamedTuple):
    run_id: str
    record: dict[str, Any]
    caliber: Caliber
    traced: list[Traced]
    bump: dict[str, Any] | None


def now() -> str:
    """The present time in UTC, as events have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def new_run_id() -> str:
    """An id that sorts by time, and that no other run has."""
    moment = time.time_ns()
    day = time.strftime("%Y%m%d-%H%M%S", time.gmtime(moment // 10**9))
    return f"{day}-{moment // 1000 % 10**6:06}-{secrets.token_hex(4)}"


class Clock:
    """Times that never go back, also where the machine's do."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self) -> str:
        self.last = max(self.last, now())
        return self.last


def issue(plan: Plan, sources: dict[str, Source], into: Store, progress: Progress) -> Issued:
    """Run a plan, seal the run and return what came of it. Raises StoreFault, and SourceFault of a source."""
    job, clock, run_id = plan.job, Clock(), new_run_id()
    into.prepare()
    log = create_run(into, run_id)
    log.append(
        clock(), "run.started", run_id=run_id, job_id=job.id, title=job.title, mode=job.mode, level=job.level,
        job=into.put(job.data), inputs=job.inputs, number_rules=numerals.VERSION,
    )  # fmt: skip
    found: dict[str, snapshots.Snapshot | str] = {}
    schemas = {id: into.put(source.schema()) for id, source in sources.items()}
    for query in job.queries.values():
        progress(f"query {query.name} of {len(job.queries)}: {query.id}")
        source = sources[query.source]
        found[query.id] = take(query, source, schemas[query.source], job.inputs, into, log, clock)
    progress("metrics")
    computed = Caliber(plan.card.card, found, job.inputs)
    card = into.put(plan.card.data)
    bump = bumped(plan, found, into)
    log.append(
        clock(), "metrics.computed", card=card, name=plan.card.card.name, version=str(plan.card.card.version),
        pinned=None if job.version is None else str(job.version), metric_set=into.put(caliber.encode(computed, card)),
        missing=computed.missing(), on_version_bump=bump and bump["policy"],
        pinned_card=into.put(plan.pinned.data) if plan.pinned else None,
        bump=bump and into.put(encoded(bump)),
    )  # fmt: skip
    progress("numbers")
    narrative = into.put(plan.narrative[0]) if plan.narrative else None
    text = plan.narrative[1] if plan.narrative else None
    traced = trace(job.title if text is None else text, computed, job.contract)
    log.append(
        clock(), "report.checked", narrative=narrative, document=narrative, numbers=into.put(listing.as_stored(traced)),
        summary=listing.summary(traced), damaged=into.damaged,
    )  # fmt: skip
    findings = Findings(
        job.mode, job.contract, computed, unusable(found), truncated(found), text, traced, into.damaged
    )
    decision = contract.decide(findings)
    log.append(clock(), "contract.decided", tier=decision.tier, reasons=decision.reasons)
    log.append(clock(), seal.FINISHED)
    record = finish(into, run_id)
    return Issued(run_id, record, computed, traced, bump)


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
        data = snapshots.encode(
            outcome.result, query=query.id, name=query.name, source=query.source, role=query.role, sql=query.sql,
            parameters=sql.bound(query.sql, inputs), at=at, schema=schema,
        )  # fmt: skip
        hash = into.put(data)
        found = decoded(data, hash)
    log.append(
        at, "query.snapshotted", query=query.id, name=query.name, source=query.source, outcome=outcome.status,
        message=outcome.message, snapshot=hash, schema=schema, warnings=outcome.warnings,
        rows=0 if isinstance(found, str) else len(found.rows),
        truncated=False if isinstance(found, str) else found.truncated,
    )  # fmt: skip
    return found


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


def bumped(plan: Plan, found: Snapshots, into: Store) -> dict[str, Any] | None:
    """What the job's policy says where a newer version computes than the pinned one; else None."""
    if plan.pinned is None:
        return None
    old, new = plan.pinned.card, plan.card.card
    head = {"policy": plan.job.on_version_bump, "pinned": str(old.version), "newest": str(new.version)}
    if plan.job.on_version_bump == "dual":
        return {**head, "values": side_by_side(old, new, found, plan.job.inputs)}
    if plan.job.on_version_bump == "recompute":
        return {**head, "runs": runs.earlier(into, plan.job.id, new)}
    return {**head, "comparable": False}


def side_by_side(old: Card, new: Card, found: Snapshots, inputs: Mapping[str, Input]) -> list[dict[str, Any]]:
    """The values of both versions of a card from the same data, null where one has none."""
    before, after = Caliber(old, found, inputs), Caliber(new, found, inputs)
    return [
        {"metric": id, "pinned": before.value_text(id), "newest": after.value_text(id)}
        for id in dict.fromkeys([*old.metrics, *new.metrics])
    ]

