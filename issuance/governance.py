"""What publishing demands of a job before it runs: the six gates of the level "governed"."""

from __future__ import annotations

from collections.abc import Iterator

from issuance import cards, tracing
from issuance.cards import Card
from issuance.job import Job


def gates(job: Job, card: Card) -> Iterator[tuple[str, str, str]]:
    """Each gate's code, what is wrong (empty where it holds), and what holds where nothing is."""
    required = job.contract.required if job.contract else []
    yield "G1", "" if required else "the contract has no required metric", "the contract has a required metric"
    yield "G2", unchecked(job, card), "no text reaches the output unchecked"
    yield "G3", "", "there is no cited report whose violations or claims could pass"
    leaves = cards.leaves(card)
    roles = {id: query.role for id, query in job.queries.items()}
    computed = [
        f"{id} rests on {leaf.name}"
        for id, found in leaves.items()
        for leaf in found
        if roles.get(leaf.name) == "compute" and leaf.kind not in ("input", "field")
    ]
    yield "G4", first(computed), "no metric rests on a compute query"
    baseless = [
        f"{id} rests on no cell of a source query"
        for id, found in leaves.items()
        if not any(roles.get(leaf.name) == "source" and leaf.kind not in ("input", "field") for leaf in found)
    ]
    yield "G5", first(baseless), "every metric traces to raw data"
    yield "G6", "caliber.version pins no version" if job.version is None else "", "the card's version is pinned"


def unchecked(job: Job, card: Card) -> str:
    """What of the texts that reach the output nothing checks."""
    if job.narrative is None:
        return ""
    if job.contract is None:
        return "the narrative is checked by no contract"
    numbers = [one for one in tracing.trace(job.title, None, job.contract.allow) if one.status == "found"]
    return f"the title states {ascii(numbers[0].numeral.text)}, which only a narrative may" if numbers else ""


def refusals(job: Job, card: Card) -> Iterator[str]:
    """Why a governed formal run does not start, a sentence for each gate."""
    if job.mode == "formal" and job.level == "governed":
        for code, complaint, _ in gates(job, card):
            if complaint:
                yield f"governed, but {code} does not hold: {complaint}"


def first(complaints: list[str]) -> str:
    more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
    return complaints[0] + more if complaints else ""
