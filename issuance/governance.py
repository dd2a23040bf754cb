"""What publishing demands of a job before it runs: the six gates of the level "governed"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from issuance import cards, tracing
from issuance.cards import Card
from issuance.expressions import Reference
from issuance.fields import Field
from issuance.job import Job


def gates(job: Job, card: Card, fields: Mapping[str, Field]) -> Iterator[tuple[str, str, str]]:
    """Each gate's code, what is wrong (empty where it holds), and what holds where nothing is."""
    required = job.contract.required if job.contract else []
    yield "G1", "" if required else "the contract has no required metric", "the contract has a required metric"
    yield "G2", unchecked(job, card), "no text reaches the output unchecked"
    no_report = "there is no cited report whose violations or claims could pass"
    holds = no_report if job.report is None else "violations fail the report, and its claims need a citation"
    yield "G3", lenient(job), holds
    roles = {id: query.role for id, query in job.queries.items()}
    leaves = {id: list(queries(found, fields)) for id, found in cards.leaves(card).items()}
    computed = [
        f"{id} rests on {query}" for id, found in leaves.items() for query in found if roles.get(query) == "compute"
    ]
    yield "G4", first(computed), "no metric rests on a compute query"
    baseless = [
        f"{id} rests on no cell of a source query"
        for id, found in leaves.items()
        if not any(roles.get(query) == "source" for query in found)
    ]
    yield "G5", first(baseless), "every metric traces to raw data"
    yield "G6", "caliber.version pins no version" if job.version is None else "", "the card's version is pinned"


def queries(leaves: Iterable[Reference], fields: Mapping[str, Field]) -> Iterator[str]:
    """The queries that a metric rests on, also through fields."""
    for leaf in leaves:
        if leaf.kind == "field" and leaf.name in fields:
            yield fields[leaf.name].query
        elif leaf.kind not in ("input", "field"):
            yield leaf.name


def lenient(job: Job) -> str:
    """What of a cited report's rules lets violations or claims pass."""
    if job.report is None:
        return ""
    if job.report.on_violation != "fail":
        return "report.on_violation is not fail"
    return "report.claims is off" if job.report.claims == "off" else ""


def unchecked(job: Job, card: Card) -> str:
    """What of the texts that reach the output nothing checks."""
    if job.narrative is None and job.report is None:
        return ""
    if job.contract is None:
        return f"the {'narrative' if job.report is None else 'report'} is checked by no contract"
    numbers = [one for one in tracing.trace(job.title, None, job.contract.allow) if one.status == "found"]
    return f"the title states {ascii(numbers[0].numeral.text)}, which nothing checks" if numbers else ""


def refusals(job: Job, card: Card, fields: Mapping[str, Field]) -> Iterator[str]:
    """Why a governed formal run does not start, a sentence for each gate."""
    if job.mode == "formal" and job.level == "governed":
        for code, complaint, _ in gates(job, card, fields):
            if complaint:
                yield f"governed, but {code} does not hold: {complaint}"


def first(complaints: list[str]) -> str:
    more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
    return complaints[0] + more if complaints else ""
