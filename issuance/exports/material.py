"""What a page is made of: everything that a run's events name, read from the store once."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from issuance import auditing, knowledge
from issuance.caliber import Caliber
from issuance.exports import places
from issuance.exports.places import Place, cell_id
from issuance.job import Job
from issuance.knowledge import Chunk
from issuance.names import sql_names
from issuance.runs import Held
from issuance.snapshots import Snapshot
from issuance.verifying import PASS, Verification

ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class Quote(NamedTuple):
    chunk: str
    start: int
    end: int


class Material:
    """Reading it raises Damaged and Unfit."""

    def __init__(self, held: Held, verification: Verification, context: int) -> None:
        self.held = held
        self.sealed = held.sealed
        self.verification = verification
        self.context = context
        self.job: Job = held.job()
        self.metrics: list[dict[str, Any]] = held.metric_set()
        self.metric_places = {metric["id"]: index for index, metric in enumerate(self.metrics)}
        self.snapshots: Mapping[str, Snapshot | str] = held.snapshots()
        checked = self.sealed.checked or {}
        self.numbers: list[dict[str, Any]] = held.numbers() if checked else []
        self.document: dict[str, Any] = held.document() if checked.get("draft") else {}
        self.text = self.document.get("text") if self.document else held.narrative()
        self.citations: list[dict[str, Any]] = self.document.get("citations", [])
        self.names = {name: number for number, name in enumerate(self.cited_names(), 1)}
        if self.text is None:
            self.places: list[Place] = []
        else:
            self.places = places.find(self.numbers, self.citations, self.snapshots, self.names)

    @functools.cached_property
    def groups(self) -> dict[str, list[dict[str, Any]]]:
        """What an audit says of the text, where it was checked."""
        return auditing.audit(self.held) if self.sealed.checked else {group: [] for group in auditing.GROUPS}

    @functools.cached_property
    def chunks(self) -> dict[str, Chunk]:
        return knowledge.chunks(self.held.knowledge())

    @functools.cached_property
    def caliber(self) -> Caliber:
        return self.held.computed()

    def passed(self, code: str) -> bool:
        """Whether a check of the run passed when the page was made."""
        return any(check["code"] == code and check["status"] == PASS for check in self.verification.checks)

    def cited_names(self) -> Iterator[str]:
        yield from dict.fromkeys(one["name"] for one in self.citations if one["kind"] == "name")

    def quotes(self) -> Iterator[Quote]:
        assert self.text is not None
        for one in self.citations:
            if one["kind"] == "quote":
                words = html.unescape(ESCAPE.sub(r"\1", self.text[one["start"] + 1 : one["end"] - 1]))
                yield Quote(one["chunk"], one["at"], one["at"] + len(words))

    def cells(self) -> Iterator[str]:
        """The ids of the cells that are cited, and of those that metrics were computed from."""
        for place in self.places:
            yield from (id for id in place.evidence if id.startswith("v-"))
        for metric in self.metrics:
            for source in metric.get("inputs") or ():
                if "row" in source:
                    yield cell_id(source["query"], source["row"], source["column"], self.snapshots)

    @functools.cached_property
    def cited_cells(self) -> dict[str, set[tuple[int, int]]]:
        """The rows and the places in them of those cells, by query."""
        found: dict[str, set[tuple[int, int]]] = {}
        for id in self.cells():
            kind, query, *place = id.split("-")
            if kind == "v":
                found.setdefault(query, set()).add((int(place[0]), int(place[1])))
        return found

    def tables_of(self, name: str) -> list[tuple[str, str, str]]:
        """The tables that have a name or are it: source, table, and the column's type or the table's kind."""
        return self.by_name.get(name.lower(), [])

    @functools.cached_property
    def by_name(self) -> dict[str, list[tuple[str, str, str]]]:
        found: dict[str, list[tuple[str, str, str]]] = {}
        for event in {event["schema"]: event for event in self.sealed.queries}.values():
            schema = self.held.schema(event["schema"])
            for table in schema["tables"]:
                found.setdefault(table["name"].lower(), []).append((schema["source"], table["name"], table["kind"]))
                for column in table["columns"]:
                    about = schema["source"], table["name"], column["type"] or "no declared type"
                    for name in (column["name"], f"{table['name']}.{column['name']}"):
                        found.setdefault(name.lower(), []).append(about)
        return found

    def queries_with(self, name: str) -> list[str]:
        """The queries whose SQL or result has a name."""
        wanted = {name.lower(), name.lower().rpartition(".")[2]}
        return [query for query, names in self.names_of_queries.items() if wanted & names]

    @functools.cached_property
    def names_of_queries(self) -> dict[str, set[str]]:
        found = {}
        for query in self.job.queries.values():
            names = {name.lower() for name in sql_names(query.sql or "")}
            snapshot = self.snapshots.get(query.id)
            if isinstance(snapshot, Snapshot):
                names.update(name.lower() for name in snapshot.names)
            found[query.id] = names
        return found
