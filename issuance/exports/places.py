"""The places of a report's text that open their evidence: numbers, values, names, quotes, and what violates the rules.

Evidence is named by the ids that it has in the page: m-ID a metric, v-QUERY-ROW-COLUMN a cell, q-QUERY a query, i-NAME
an input, k-CHUNK a chunk, name-NUMBER a name, e-PLACE what is said of a place that has no evidence.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from issuance.snapshots import Snapshot

Citation = Mapping[str, Any]
KINDS = {
    "metric": "number", "input": "value", "cell": "value", "quote": "quote", "name": "name", "violation": "violation"
}  # fmt: skip


class Place(NamedTuple):
    """text[start:end], and what it opens. id is n1, n2, ... of a number, else c1, c2, ..."""

    id: str
    start: int
    end: int
    kind: str  # number, value, quote, name or violation
    status: str  # traced, untraced or allowed; cited, unchecked or violation
    evidence: tuple[str, ...]
    note: str


def find(
    numbers: list[dict[str, Any]],
    citations: list[Citation],
    snapshots: Mapping[str, Snapshot | str],
    names: Mapping[str, int],
) -> list[Place]:
    """The places of a text in their order: each citation, and each number that is in none. names have numbers."""
    cited = [one for one in citations if one["start"] < one["end"] and one["kind"] in KINDS]
    starts = [one["start"] for one in cited]
    alone: list[Place] = []
    within: dict[int, int] = {}
    for index, number in enumerate(numbers):
        at = bisect.bisect_right(starts, number["start"]) - 1
        if at >= 0 and number["start"] < cited[at]["end"]:
            within.setdefault(at, index)
        else:
            alone.append(of_number(index, number))
    found = [of_citation(at, one, numbers, within.get(at), snapshots, names) for at, one in enumerate(cited)]
    return list(apart(sorted([*alone, *found], key=lambda place: (place.start, place.end))))


def apart(places: list[Place]) -> Iterator[Place]:
    """The places without what reaches into the one before."""
    end = 0
    for place in places:
        if place.start >= end:
            yield place
            end = place.end


def of_number(index: int, number: Mapping[str, Any]) -> Place:
    id = f"n{index + 1}"
    evidence = tuple(f"m-{metric}" for metric in number["metrics"]) or (f"e-{id}",)
    return Place(id, number["start"], number["end"], "number", number["status"], evidence, reading(number))


def reading(number: Mapping[str, Any]) -> str:
    """How a number was read, in a few words."""
    unit = f" {number['unit']}" if number["unit"] else ""
    said = f"{number['status']}: {number['reason']}" if number["reason"] else number["status"]
    return f"reads as {number['value']}{unit}, from {number['low']} to {number['high']}; {said}"


def of_citation(
    at: int,
    citation: Citation,
    numbers: list[dict[str, Any]],
    index: int | None,
    snapshots: Mapping[str, Snapshot | str],
    names: Mapping[str, int],
) -> Place:
    """The place of a citation; index is that of the number in it."""
    number = None if index is None else numbers[index]
    id = f"c{at + 1}" if index is None else f"n{index + 1}"
    kind = KINDS[citation["kind"]]
    status = "unchecked" if citation.get("unchecked") else "violation" if kind == "violation" else "cited"
    if number is not None:
        kind, status = "number", number["status"]
    evidence = (f"e-{id}",) if citation["kind"] == "violation" else (evidence_of(citation, snapshots, names),)
    note = reading(number) if number is not None else NOTES.get(status, "") or f"a {kind} that is cited"
    return Place(id, citation["start"], citation["end"], kind, status, evidence, note)


NOTES = {
    "unchecked": "cannot be checked: the schema is truncated",
    "violation": "violates the rules of the report",
}


def evidence_of(citation: Citation, snapshots: Mapping[str, Snapshot | str], names: Mapping[str, int]) -> str:
    if citation["kind"] == "metric":
        return f"m-{citation['metric']}"
    if citation["kind"] == "input":
        return f"i-{citation['input']}"
    if citation["kind"] == "quote":
        return f"k-{citation['chunk']}-{citation['at']}"
    if citation["kind"] == "name":
        return f"name-{names[citation['name']]}"
    return cell_id(citation["query"], citation["row"], citation["column"], snapshots)


def cell_id(query: str, row: int, column: str, snapshots: Mapping[str, Snapshot | str]) -> str:
    """The id of a cell; that of its query where there is no such cell."""
    found = snapshots.get(query)
    if isinstance(found, Snapshot) and column in found.places and row < len(found.rows):
        return f"v-{query}-{row}-{found.places[column]}"
    return f"q-{query}"
