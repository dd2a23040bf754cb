"""The audit of a run: what stands behind each number of its text, or what might.

A number that the contract's check traced has provenance. For others, and for the text of a run without a contract,
sealed cells and metrics of the same value are looked up: a guessed source, not evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from typing import Any

from issuance import issuing
from issuance.caliber import Caliber
from issuance.evidence import UNKNOWN_NAME
from issuance.formats import is_decimal
from issuance.numerals.draft import EXACT
from issuance.numerals.finding import Numeral, find
from issuance.numerals.plain import Plain
from issuance.pieces import BARE_NUMBER
from issuance.runs import Held
from issuance.snapshots import Snapshot
from issuance.tracing import HUNDRED, HUNDREDTH, ONE, Pool, Traced, written

GROUPS = ("has_provenance", "allowed", "guessed", "no_evidence", "suspicious_name")
LABEL = "guessed source, not evidence"
MOST_CANDIDATES = 3


class Guesses:
    """All sealed values without their signs: cells as Q1.r0.column, and metrics by their ids."""

    def __init__(self, caliber: Caliber) -> None:
        metrics = [(value.copy_abs(), id) for id, value in caliber.values.items()]
        self.pool = Pool([*metrics, *cells(caliber)])

    def candidates(self, numeral: Numeral) -> list[dict[str, str]]:
        """At most three values in a number's interval, the nearest first; of a percentage also the ratio."""
        times = (ONE, HUNDREDTH) if numeral.unit == "%" else (ONE, HUNDRED) if numeral.fraction else (ONE,)
        found = []
        for factor in times:
            low, high = sorted(EXACT.multiply(end, factor).copy_abs() for end in (numeral.low, numeral.high))
            if numeral.low < 0 < numeral.high:
                low = Decimal(0)
            value = EXACT.multiply(numeral.value, factor).copy_abs()
            near = self.pool.nearest(low, high, value)
            found += [(EXACT.divide(distance, factor) if distance else distance, source) for distance, source in near]
        return [{"source": source, "label": LABEL} for _, source in sorted(set(found))[:MOST_CANDIDATES]]


def cells(caliber: Caliber) -> Iterator[tuple[Decimal, str]]:
    """Every cell that is a number, and its name; never one of a masked column."""
    for snapshot in caliber.snapshots.values():
        if isinstance(snapshot, Snapshot):
            places = [(place, name) for place, name in enumerate(snapshot.names) if name not in snapshot.masked]
            for row, values in enumerate(snapshot.rows):
                for place, name in places:
                    if is_decimal(values[place]):
                        yield Decimal(values[place]).copy_abs(), f"{snapshot.about['name']}.r{row}.{name}"


def audit(held: Held) -> dict[str, list[dict[str, Any]]]:
    """The numbers of a sealed run's text by their groups. Raises Damaged and Unfit."""
    with localcontext(EXACT):
        return audit_exactly(held)


def audit_exactly(held: Held) -> dict[str, list[dict[str, Any]]]:
    job, caliber = held.job(), held.computed()
    if job.report is not None:
        return audit_report(held, caliber)
    text = held.narrative()
    traced = issuing.trace(job.title if text is None else text, caliber, job.contract)
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    guesses: Guesses | None = None
    for one in traced:
        if job.contract and one.status == "traced":
            groups["has_provenance"].append(entry(one, [provenance(caliber, id) for id in one.metrics]))
        elif one.status == "allowed":
            groups["allowed"].append(entry(one, []))
        else:
            guesses = guesses or Guesses(caliber)
            candidates = guesses.candidates(one.numeral)
            groups["guessed" if candidates else "no_evidence"].append(entry(one, candidates))
    return groups


def audit_report(held: Held, caliber: Caliber) -> dict[str, list[dict[str, Any]]]:
    """The citations of a report, and what in it is cited by nothing."""
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in GROUPS}
    document = held.document()
    text = document["text"]
    guesses: Guesses | None = None
    places = set()
    for citation in document["citations"]:
        start, end, kind = citation["start"], citation["end"], citation["kind"]
        part = {"text": text[start:end], "start": start, "end": end, "value": "", "unit": "", "reason": ""}
        if kind in SOURCES:
            groups["has_provenance"].append({**part, "kind": kind, "sources": [SOURCES[kind](caliber, citation)]})
            places.add((start, end))
        elif kind == "violation" and citation["violation"] == UNKNOWN_NAME:
            groups["suspicious_name"].append({**part, "kind": "name", "sources": []})
    for one in held.numbers():
        if one["status"] == "traced":
            continue
        part = {name: one[name] for name in ("text", "start", "end", "value", "unit", "reason")}
        if one["status"] == "allowed":
            groups["allowed"].append({**part, "kind": "number", "sources": []})
            continue
        guesses = guesses or Guesses(caliber)
        candidates = [
            candidate
            for numeral in find(Plain(one["text"]))
            for candidate in guesses.candidates(numeral)
        ][:MOST_CANDIDATES]
        groups["guessed" if candidates else "no_evidence"].append({**part, "kind": "number", "sources": candidates})
    for violation in document["violations"]:
        if violation["kind"] in (UNKNOWN_NAME, BARE_NUMBER):
            continue
        part = {name: violation[name] for name in ("text", "start", "end")}
        about = {"value": "", "unit": "", "reason": f"{violation['kind']}: {violation['message']}"}
        groups["no_evidence"].append({**part, **about, "kind": "marker", "sources": []})
    return groups


def cell_source(caliber: Caliber, citation: dict[str, Any]) -> dict[str, Any]:
    return {"source": f"{citation['query']}.r{citation['row']}.{citation['column']}", "artifact": citation["artifact"]}


SOURCES: dict[str, Callable[[Caliber, dict[str, Any]], dict[str, Any]]] = {
    "metric": lambda caliber, citation: provenance(caliber, citation["metric"]),
    "input": lambda caliber, citation: {"source": f"inputs.{citation['input']}"},
    "cell": cell_source,
    "quote": lambda caliber, citation: {"source": citation["chunk"]},
    "name": lambda caliber, citation: {"source": citation["name"], "is": citation.get("is", "result column")},
}


def entry(one: Traced, sources: list[dict[str, Any]]) -> dict[str, Any]:
    numeral = one.numeral
    return {
        "kind": "number",
        "text": numeral.text,
        "start": numeral.start,
        "end": numeral.end,
        "value": written(numeral.value),
        "unit": numeral.unit,
        "sources": sources,
        "reason": one.reason,
    }


def provenance(caliber: Caliber, id: str) -> dict[str, Any]:
    """What a traced metric rests on."""
    metric = caliber.entry(caliber.card.metrics[id])
    return {"source": id, **{name: metric[name] for name in ("value", "expression", "inputs")}}
