"""Verifying a run from the store alone, the same way back.

1. run_record            the events are those of a run, and the run record is what they say
2. event_seal            their SHA-256 is the seal
3. artifact_hashes       every artifact that they name is there and has the bytes of its name
4. metrics_recompute     the card gives the same metric set from the snapshots again
5. document_recomposes   the document is what the narrative gives
6. numbers_retrace       tracing the text again finds the same numbers with the same outcomes
7. tier_follows          all this gives the same tier for the same reasons

A check that cannot run because an earlier one failed is not_checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from answer_format import Problems, Unreadable, parse_json, quoted
from issuance import (
    caliber,
    claims,
    contract,
    drafting,
    fields,
    governance,
    issuing,
    judging,
    numerals,
    plan,
    report,
    seal,
    sql,
)
from issuance import listing as numbers
from issuance.caliber import Caliber
from issuance.cards import Card
from issuance.claims import Claims
from issuance.contract import Findings
from issuance.fields import Field
from issuance.job import Job
from issuance.listing import counted
from issuance.report import Report
from issuance.runs import Held, Run, Unfit, sealed_events
from issuance.seal import FAILED, Malformed, Sealed, Unsealed
from issuance.store import EVENTS, RECORD, Damaged
from issuance.tracing import Traced

PASS, FAIL, NOT_CHECKED = "pass", "fail", "not_checked"
CODES = (
    "run_record event_seal artifact_hashes metrics_recompute document_recomposes numbers_retrace tier_follows"
).split()
Progress = Callable[[str], None]


class Differs(Exception):
    """A check found something else; raised with a sentence."""


class NotChecked(Exception):
    """A check cannot run; raised with a sentence."""


class Verification(NamedTuple):
    run_id: str
    sealed: bool
    seal: str | None
    checks: list[dict[str, str]]
    appended: list[str]  # the types of the events after the seal

    @property
    def holds(self) -> bool:
        return all(check["status"] == PASS for check in self.checks)


class Verifier:
    """A run under verification: what the checks have found so far, and each check's status."""

    def __init__(self, run: Run, given: str | None) -> None:
        self.run = run
        self.given = given
        self.sealed: Sealed | None = None
        self.is_sealed = run.record is not None
        self.statuses: dict[str, str] = {}
        self.job: Job | None = None
        self.caliber: Caliber | None = None
        self.text: str | None = None
        self.report: Report | None = None
        self.traced: list[Traced] = []

    def need(self, *codes: str) -> Held:
        """What the run holds, if these checks passed. Raises NotChecked."""
        for code in codes:
            if self.statuses[code] != PASS:
                raise NotChecked(f"{code} did not pass")
        assert self.sealed is not None
        return Held(self.run.store, self.sealed)

    def need_own_rules(self) -> None:
        """Raise NotChecked where the run was checked by another version of the number rules."""
        assert self.sealed is not None
        version = self.sealed.started["number_rules"]
        if version != numerals.VERSION:
            raise NotChecked(f"it was checked by version {version} of the number rules, this is {numerals.VERSION}")

    def run_record(self) -> str:
        try:
            self.sealed = sealed_events(self.run)
        except Unsealed as fault:
            self.is_sealed = False
            raise Differs(fault.args[0]) from None
        except Malformed as fault:
            raise Differs(f"{EVENTS}: {fault.args[0]}") from None
        run_id, at = self.sealed.started["run_id"], self.sealed.started["at"]
        if run_id != self.run.name:
            raise Differs(f"the folder is called {quoted(self.run.name)}, but the run is {run_id}")
        if not run_id.startswith(f"{seal.stamp(at)}-"):
            raise Differs(f"the run started at {at}, which its id does not say")
        if self.run.record != seal.record_bytes(self.sealed):
            raise Differs(f"{RECORD} is not what the sealed events say")
        return f"the events are those of a run, and {RECORD} is what they say"

    def event_seal(self) -> str:
        if not self.is_sealed:
            raise NotChecked("the run is not sealed")
        found = self.sealed.seal if self.sealed else loose_seal(self.run)
        if found is None:
            raise Differs(f"{EVENTS} has no end that could be sealed")
        if found != recorded_seal(self.run):
            raise Differs(f"the sealed part of {EVENTS} is not what the seal in {RECORD} was made of")
        if self.given is not None and found != self.given:
            raise Differs(f"the seal is {found}, not the given {self.given}")
        return "the events have the seal" if self.given is None else "the events have the seal, which is the given one"

    def artifact_hashes(self) -> str:
        if self.sealed is None:
            raise NotChecked("run_record did not pass")
        count = 0
        for what, hash in seal.artifacts(self.sealed):
            try:
                self.run.store.get(hash)
            except Damaged as fault:
                raise Differs(f"{what}: {fault.args[1]}") from None
            count += 1
        return f"all {count} artifacts have the bytes that their names say"

    def metrics_recompute(self) -> str:
        held = self.need("artifact_hashes")
        assert self.sealed is not None and self.sealed.computed is not None
        event = self.sealed.computed
        self.job = held.job()
        facts_of_job(self.sealed, self.job)
        card = held.card(event["card"])
        self.caliber = held.caliber(card)
        facts_of_queries(self.sealed, self.job, self.caliber)
        facts_of_sources(held, self.job)
        facts_of_card(event, self.job, card, self.caliber.fields)
        if self.run.store.get(event["metric_set"]) != caliber.encode(self.caliber, event["card"]):
            raise Differs("the metric set is not what the card gives from the snapshots")
        if event["missing"] != self.caliber.missing():
            raise Differs("other metrics are missing than the events say")
        if event["warnings"] != list(fields.warnings(self.caliber.fields, self.caliber.snapshots)):
            raise Differs("the events warn of other fields than the agent's")
        earlier = self.check_bump(held, event)
        return f"{counted(len(card.metrics), 'metric comes', 'metrics come')} out the same{earlier}"

    def check_bump(self, held: Held, event: dict[str, Any]) -> str:
        """What was said of both versions, where a newer version was computed beside the pinned one."""
        assert self.caliber is not None
        if event["bump"] is None:
            return ""
        pinned, said = held.card(event["pinned_card"]), held.bump()
        if (pinned.name, str(pinned.version)) != (event["name"], event["pinned"]):
            raise Differs("the pinned card is not the one that the events name")
        policy, job_id = event["on_version_bump"], held.sealed.started["job_id"]
        again = issuing.bumped(policy, pinned, self.caliber, held.store, job_id)
        compared = ""
        if "runs" in said and "runs" in again:  # of which some may be gone or damaged by now, and others new
            now = {run["run_id"]: run for run in again["runs"] if "values" in run}
            there = [run for run in said["runs"] if run["run_id"] in now and "values" in run]
            compared = f", as do those of {len(there)} of {counted(len(said['runs']), 'earlier run', 'earlier runs')}"
            again["runs"] = [now[run["run_id"]] if run in there else run for run in said["runs"]]
        if said != again:
            raise Differs("the values of both versions are not what the cards give")
        return compared

    def document_recomposes(self) -> str:
        held = self.need("artifact_hashes")
        assert self.sealed is not None and self.sealed.checked is not None
        event = self.sealed.checked
        job = held.job()
        if job.report is not None:
            try:
                return self.recompose(held, event)
            except Differs:
                self.need_own_rules()  # which composing rests on
                raise
        named = job.narrative
        if event["draft"] is not None or event["violations"]:
            raise Differs("the events have a draft, but the job has none")
        if event["document"] != event["narrative"] or (named is None) != (event["narrative"] is None):
            raise Differs("the document is not the narrative")
        self.text = held.narrative()
        return "there is no document: metrics only" if self.text is None else "the document is the narrative"

    def check_repairs(self, held: Held, job: Job, compose: Callable[[str], Report]) -> None:
        """What the events say of each draft that went back to the writer. Raises Differs."""
        assert self.sealed is not None and self.sealed.checked is not None and job.report is not None
        repairs, last = self.sealed.repaired, self.sealed.checked["draft"]
        if len(repairs) > (job.report.max_repairs if job.report.writer else 0):
            raise Differs("there were more repairs than the job allows")
        following = [event["draft"] for event in repairs[1:]] + [last]
        for number, (event, after) in enumerate(zip(repairs, following), 1):
            found = len(compose(held.text(f"draft {number}", event["draft"])).violations)
            answered = event["answer"] is not None
            as_said = event["attempt"] == number and event["violations"] == found > 0
            if not as_said or answered == bool(event["message"]):
                raise Differs(f"repair {number} is not as the events say")
            if after != (event["answer"] if answered else event["draft"]) or not answered and number < len(repairs):
                raise Differs(f"repair {number} did not give the draft that follows")
        if self.sealed.checked["warnings"] != [event["message"] for event in repairs if event["message"]]:
            raise Differs("the events warn of other things than the repairs")
        gave_up = bool(repairs) and repairs[-1]["answer"] is None
        asks = job.report.writer and len(repairs) < job.report.max_repairs and not gave_up
        if asks and self.sealed.checked["violations"]:
            raise Differs("there were fewer repairs than the violations ask for")

    def recompose(self, held: Held, event: dict[str, Any]) -> str:
        """Compose the report again from its draft and the snapshots."""
        draft = held.draft()
        if draft is None or event["narrative"] is not None or event["document"] is None:
            raise Differs("the events have no draft and document, but the job has a report")
        job, computed = held.job(), held.computed()

        def compose(text: str) -> Report:
            evidence = issuing.evidence_of(job, computed, held.schemas(), held.knowledge(), held.store)
            return report.compose(text, evidence, job.contract.allow if job.contract else [])

        self.check_repairs(held, job, compose)
        self.report = compose(draft)
        if held.store.get(event["document"]) != report.encode(self.report):
            raise Differs("the document is not what the draft and the snapshots give")
        if event["violations"] != len(self.report.violations):
            raise Differs("the report has other violations than the events say")
        self.text = self.report.text
        return "the document is what the draft and the snapshots give"

    def numbers_retrace(self) -> str:
        held = self.need("metrics_recompute", "document_recomposes")
        assert self.sealed is not None and self.sealed.checked is not None and self.job and self.caliber
        self.need_own_rules()
        text = self.job.title if self.text is None else self.text
        self.traced = self.report.numbers if self.report else issuing.trace(text, self.caliber, self.job.contract)
        event = self.sealed.checked
        if held.store.get(event["numbers"]) != numbers.as_stored(self.traced):
            raise Differs("the numbers of the text do not trace as they were recorded")
        if event["summary"] != numbers.summary(self.traced):
            raise Differs("the counts of the numbers are not what they trace to")
        where = "title" if self.text is None else "text"
        return f"{counted(len(self.traced), f'number of the {where} traces', f'numbers of the {where} trace')} the same"

    def tier_follows(self) -> str:
        self.need("metrics_recompute", "numbers_retrace")
        assert self.sealed is not None and self.sealed.checked is not None
        assert self.job is not None and self.caliber is not None
        for refusal in governance.refusals(self.job, self.caliber.card, self.caliber.fields):
            raise Differs(f"the run should not have started: {refusal}")
        found = self.caliber.snapshots
        violations = self.report.violations if self.report else []
        fails = self.job.report is not None and self.job.report.on_violation == "fail" and bool(violations)
        if fails != (self.sealed.ended["type"] == FAILED):
            raise Differs(f"the run {'did not fail' if fails else 'failed'}, which what was found does not give")
        if fails:
            said = issuing.failing(violations)
            if self.sealed.ended["message"] != said:
                raise Differs("the run failed for another reason than the events say")
            return f"what was found gives no tier: {said}"
        decision = contract.decide(
            Findings(
                self.job, self.caliber, issuing.unusable(found), issuing.truncated(found), self.text, self.traced,
                self.sealed.checked["damaged"], violations, self.report.unchecked if self.report else [], self.claims(),
            )
        )  # fmt: skip
        event = self.sealed.decided
        assert event is not None
        if event["tier"] != decision.tier:
            raise Differs(f"the tier is {event['tier']}, but what was found gives {decision.tier}")
        if event["reasons"] != decision.reasons:
            raise Differs("the reasons are not those that what was found gives")
        return f"what was found gives {decision.tier}"


    def claims(self) -> Claims | None:
        """The claims of the report, found again, with what the judge said of them. Raises Differs."""
        assert self.sealed is not None and self.job is not None
        event = self.sealed.judged
        wanted = self.job.report is not None and self.job.report.claims != "off"
        if wanted != (event is not None):
            raise Differs("the events have claims judged otherwise than the job says")
        if event is None or self.report is None:
            return None
        found = claims.claims(self.report)
        backed = [claim.id for claim in found if not claim.is_gap]
        asked = backed if self.job.report and self.job.report.claims == "judge" else []
        said = [one["sentence"] for one in event["verdicts"]] + [one["sentence"] for one in event["unjudged"]]
        gaps = [claim.id for claim in found if claim.is_gap]
        if (event["ids"], event["gaps"]) != ([claim.id for claim in found], gaps):
            raise Differs("the claims of the report are not those that the events name")
        if sorted(said) != sorted(asked):
            raise Differs("the verdicts are not on the claims of the report")
        left = list(map(drafting.on_demand, asked))
        if self.job.mode == "exploratory" and (event["verdicts"], event["unjudged"]) != ([], left):
            raise Differs("the claims of an exploratory run are judged on demand, and not before its seal")
        spec = self.job.report
        if complaint := judging.inconsistency(event, spec.caps, spec.writer_model) if spec else "":
            raise Differs(complaint)
        return Claims(*(event[name] for name in Claims._fields))


def facts_of_job(sealed: Sealed, job: Job) -> None:
    """Raise Differs where the events say something else of the job than the stored job does."""
    started = sealed.started
    for name, value in (("job_id", job.id), ("title", job.title), ("mode", job.mode), ("level", job.level)):
        if started[name] != value:
            raise Differs(f"the events have another {name.replace('job_', '')} than the job")
    if {name: type(value) for name, value in started["inputs"].items()} != {
        name: type(value) for name, value in job.inputs.items()
    }:
        raise Differs("the events have other inputs than the job")
    if (started["fields"] is None) != (job.fields is None) or len(started["knowledge"]) != len(job.knowledge):
        raise Differs("the events have other files than the job")
    if [event["query"] for event in sealed.queries] != list(job.queries):
        raise Differs("the events have other queries than the job")


def facts_of_card(event: dict[str, Any], job: Job, card: Card, known: Mapping[str, Field]) -> None:
    """Raise Differs where the events say something else of the card than the card and the job do."""
    problems = Problems()
    plan.fit(job, "job", plan.Versioned(card, b"", "card"), problems, known)
    for file, where, sentence in problems.first[:1]:
        raise Differs(f"card and job do not fit: {file}: {where}: {sentence}")
    pinned = None if job.version is None else str(job.version)
    if (card.name, str(card.version)) != (event["name"], event["version"]):
        raise Differs("the card is not the one that the events name")
    if event["pinned"] != pinned or event["on_version_bump"] not in (None, job.on_version_bump):
        raise Differs("the events pin another version than the job")
    bumped = event["on_version_bump"] is not None
    parts = bool(event["bump"]), bool(event["pinned_card"])
    if bumped != (pinned not in (None, event["version"])) or parts != (bumped, bumped):
        raise Differs("the card is not of the version that the job pins")


def facts_of_queries(sealed: Sealed, job: Job, computed: Caliber) -> None:
    """Raise Differs where events, job and snapshots say different things of a query."""
    for event, query in zip(sealed.queries, job.queries.values()):
        found = computed.snapshots[query.id]
        if (event["outcome"] == "success") != bool(event["snapshot"]) or event["snapshot"] and event["message"]:
            raise Differs(f"{query.name} has an outcome that does not fit its snapshot")
        if (event["name"], event["source"]) != (query.name, query.source):
            raise Differs(f"the events have another {query.name} than the job")
        if isinstance(found, str):
            if event["rows"] or event["truncated"]:
                raise Differs(f"{query.name} has rows without a snapshot")
            continue
        about = found.about
        wanted = {
            "query": query.id, "name": query.name, "source": query.source, "role": query.role, "sql": query.sql,
            "parameters": sql.bound(query.sql, sealed.started["inputs"]), "at": event["at"], "schema": event["schema"],
        }  # fmt: skip
        for name, value in wanted.items():
            if about[name] != value:
                raise Differs(f"the snapshot of {query.name} was taken with another {name}")
        if len(found.rows) > query.max_rows:
            raise Differs(f"the snapshot of {query.name} has more rows than the job allows")
        kind = job.sources[query.source].kind
        if about["receipt"] and kind != "mcp_result" or about["file"] and kind in ("sqlite", "sqlite_script"):
            raise Differs(f"the snapshot of {query.name} names a file or a receipt, which its source does not give")
        if (event["rows"], event["truncated"]) != (len(found.rows), found.truncated):
            raise Differs(f"the snapshot of {query.name} has other rows than the events say")


def facts_of_sources(held: Held, job: Job) -> None:
    """Raise Differs where a query's schema is not that of its source, which has one in a run."""
    hashes: dict[str, str] = {}
    for event in held.sealed.queries:
        source, hash = job.sources[event["source"]], event["schema"]
        if source.id in hashes:
            if hashes[source.id] != hash:
                raise Differs(f"the schema of {event['name']} is not the one that its source has for other queries")
            continue
        hashes[source.id] = hash
        about = held.schema(hash)
        if (about["source"], about["kind"], about["masked"]) != (source.id, source.kind, source.masked):
            raise Differs(f"the schema of {event['name']} is that of another source")


def loose_seal(run: Run) -> str | None:
    """The seal of events that are not those of a run."""
    try:
        lines, _ = seal.sealed_part(run.events or b"")
    except Unsealed:
        return None
    return hashlib.sha256(b"".join(lines)).hexdigest()


def recorded_seal(run: Run) -> str:
    """The seal that a run record has; empty where it has none."""
    try:
        record = parse_json(run.record or b"")
    except Unreadable:
        return ""
    return str(record.get("seal", "")) if isinstance(record, dict) else ""


def verify(run: Run, given: str | None, progress: Progress) -> Verification:
    """All checks of a run; given is the seal that it should have, or None."""
    verifier = Verifier(run, given)
    checks = []
    for code in CODES:
        progress(code)
        try:
            status, message = PASS, getattr(verifier, code)()
        except (Differs, Unfit) as fault:
            status, message = FAIL, fault.args[0]
        except Damaged as fault:
            status, message = FAIL, fault.args[1]
        except NotChecked as fault:
            status, message = NOT_CHECKED, fault.args[0]
        verifier.statuses[code] = status
        checks.append({"code": code, "status": status, "message": message})
    sealed = verifier.sealed
    appended = [seal.type_of(line) or "an incomplete line" for line in sealed.appended] if sealed else []
    run_id = sealed.started["run_id"] if sealed else run.name
    return Verification(run_id, verifier.is_sealed, sealed.seal if sealed else None, checks, appended)
