"""Drafts: composing the report of a run, sending what is wrong with it back to its writer, and judging its claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from answer_format import Unreadable
from issuance import claims, job, judging, programs, report, texts
from issuance.claims import Claim, Claims
from issuance.evidence import Evidence
from issuance.programs import Broken
from issuance.report import Report
from issuance.spending import Spending
from issuance.store import Store

ON_DEMAND = "an exploratory run's claims are judged on demand"
Record = Callable[..., None]  # appends an event: its type and what it is about


class Drafted(NamedTuple):
    """The last draft's hash and its report, and what is to be said of its writer."""

    draft: str
    report: Report
    warnings: list[str]


def settle(
    spec: job.Report, folder: str, draft: str, evidence: Evidence, allow: list[str], into: Store, record: Record
) -> Drafted:
    """Compose a report, and have its writer repair what violates the rules, as often as the job says."""
    made = report.compose(draft, evidence, allow)
    hash = into.put(draft.encode("utf-8"))
    warnings: list[str] = []
    for attempt in range(1, spec.max_repairs + 1 if spec.writer else 1):
        if not made.violations:
            break
        answer, message = None, ""
        try:
            draft = written(spec, folder, draft, made, evidence)
            answer = into.put(draft.encode("utf-8"))
        except Broken as fault:
            message = fault.args[0]
            warnings.append(message)
        count = len(made.violations)
        record("report.repaired", attempt=attempt, draft=hash, violations=count, answer=answer, message=message)
        if answer is None:
            break
        hash, made = answer, report.compose(draft, evidence, allow)
    return Drafted(hash, made, warnings)


def written(spec: job.Report, folder: str, draft: str, made: Report, evidence: Evidence) -> str:
    """What the writer makes of a draft with violations. Raises Broken."""
    content = {
        "draft": draft,
        "violations": [violation._asdict() for violation in made.violations],
        "catalog": evidence.catalog(),
    }
    data = programs.run(spec.writer or [], folder, content, "the writer", programs.SECONDS)
    try:
        return texts.decode(data)
    except Unreadable as fault:
        raise Broken(f"the writer printed no text: {fault.args[0]}: {fault.args[1]}") from None


def on_demand(sentence: str) -> dict[str, str]:
    """What is recorded of a claim that the run itself does not have judged."""
    return {"sentence": sentence, "reason": ON_DEMAND}


def judged(spec: job.Report, mode: str, folder: str, made: Report, evidence: Evidence, into: Store) -> Claims:
    """The claims of a report, and what the judge says of those that cite something, where the job asks one."""
    found = claims.claims(made)
    gaps = [claim.id for claim in found if claim.is_gap]
    backed = [claim for claim in found if not claim.is_gap] if spec.claims == "judge" else []
    ids = [claim.id for claim in found]
    if mode == "exploratory":
        return Claims(ids, gaps, [], [on_demand(claim.id) for claim in backed], [])
    if not backed:
        return Claims(ids, gaps, [], [], [])

    def shown(claim: Claim) -> list[dict[str, Any]]:
        return judging.shown_to(evidence.caliber, evidence.chunks, claim)

    judge = judging.Judge(spec.judge or [], folder, spec.caps, Spending(into.root), spec.writer_model)
    return Claims(ids, gaps, *judge.all(backed, shown))
