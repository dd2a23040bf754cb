"""Computing a caliber card: the value of each metric, exactly, with what it came from.

All arithmetic of a report happens here. A metric is "computed", "missing" where something that it rests on is not
there, or "failed" where it cannot be computed from what is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from issuance import cards, expressions, fields
from issuance.cards import Card, Definition
from issuance.expressions import AGGREGATES, Failed, Missing, Reference
from issuance.fields import Field
from issuance.formats import is_decimal
from issuance.job import Input
from issuance.metrics import Metric
from issuance.snapshots import Snapshot
from issuance.tracing import written

MAX_REASON = 600  # of reasons that pass from metric to metric
COMPUTED, MISSING, FAILED = "computed", "missing", "failed"
Snapshots = Mapping[str, "Snapshot | str"]  # of each query, or why there is none


class Caliber:
    """A card, the data that it is computed from, and the values that have been computed."""

    def __init__(
        self, card: Card, snapshots: Snapshots, inputs: Mapping[str, Input], fields: Mapping[str, Field] | None = None
    ) -> None:
        self.card = card
        self.snapshots = snapshots
        self.inputs = inputs
        self.fields = fields or {}
        self.values: dict[str, Decimal] = {}
        self.troubles: dict[str, tuple[str, str]] = {}  # of the other metrics: "missing" or "failed", and why
        for id in card.order:
            self.compute(card.metrics[id])

    def compute(self, metric: Definition) -> None:
        try:
            self.values[metric.id] = expressions.evaluate(metric.expression, self.value_of)
        except Missing as fault:
            self.troubles[metric.id] = MISSING, fault.args[0]
        except Failed as fault:
            self.troubles[metric.id] = FAILED, fault.args[0]

    def value_of(self, reference: Reference) -> Decimal:
        """The value of a reference. Raises Missing and Failed."""
        if reference.kind == "metric":
            return self.value_of_metric(reference.name)
        if reference.kind == "input":
            value = self.inputs.get(reference.name)
            if value is None:
                raise Missing(f"there is no input {reference.name}")
            if not is_decimal(value):
                raise Failed(f"the input {reference.name} is text, not a number")
            return Decimal(value)
        if reference.kind == "field":
            field = self.fields.get(reference.name)
            if field is None:
                raise Missing(f"there is no field {reference.name}")
            return self.snapshot(field.query).cell(field.row, field.column)
        snapshot = self.snapshot(reference.name)
        if reference.kind == "cell":
            return snapshot.cell(reference.row, reference.column)
        return snapshot.aggregate(reference.kind, reference.column)

    def snapshot(self, query: str) -> Snapshot:
        """The result of a query. Raises Missing."""
        found = self.snapshots.get(query, "there is no such query")
        if isinstance(found, str):
            raise Missing(f"the query {query} has no result: {found}")
        return found

    def value_of_metric(self, id: str) -> Decimal:
        if id not in self.values:
            status, reason = self.troubles[id]
            if status == MISSING:
                raise Missing(f"{id} is missing: {reason}"[:MAX_REASON])
            raise Failed(f"{id} failed: {reason}"[:MAX_REASON])
        return self.values[id]

    def source_of(self, reference: Reference) -> dict[str, Any]:
        """Where the value of a reference came from, for the record."""
        if reference.kind in ("metric", "input"):
            return {reference.kind: reference.name}
        if reference.kind == "field":
            return self.source_of_field(reference.name)
        snapshot = self.snapshot(reference.name)
        place: dict[str, Any] = {"query": reference.name, "column": reference.column, "artifact": snapshot.hash}
        if reference.kind in AGGREGATES:
            place = {**place, "aggregate": reference.kind, "rows": [0, len(snapshot.rows)]}
            return place if snapshot.file is None else {**place, "file": snapshot.file}
        return {**place, **row_of(snapshot, reference.row)}

    def source_of_field(self, name: str) -> dict[str, Any]:
        """The cell that a field is from, and what is to be said of what the agent read there."""
        field = self.fields[name]
        snapshot = self.snapshot(field.query)
        place = {"field": name, "query": field.query, "column": field.column, "artifact": snapshot.hash}
        warning = fields.warning(name, field, snapshot)
        return {**place, **row_of(snapshot, field.row), **({"warning": warning} if warning else {})}

    def entry(self, metric: Definition) -> dict[str, Any]:
        """A metric as the metric set has it; its fields are those that metrics.load accepts."""
        entry: dict[str, Any] = {
            "id": metric.id,
            "name": metric.name,
            "unit": metric.unit,
            "decimals": metric.decimals,
            "format": metric.format,
            "change": metric.change,
            "expression": metric.expression.text,
            "status": COMPUTED,
            "value": None,
        }
        if metric.id not in self.values:
            entry["status"], entry["reason"] = self.troubles[metric.id]
            return entry
        value = self.values[metric.id]
        substituted = expressions.substituted(metric.expression, self.literal)
        deeper = expressions.MAX_DEPTH + 2  # for the brackets and the sign of a negative value
        again = expressions.evaluate(expressions.parse(substituted, deeper), self.value_of)
        return {
            **entry,
            "value": written(value),
            "rendered": cards.shown(metric, value),
            "substituted": substituted,
            "recomputes": again == value,
            "inputs": [self.source_of(reference) for reference in metric.expression.references],
        }

    def literal(self, reference: Reference) -> str:
        """The value of a reference as a literal of the expression language."""
        text = written(self.value_of(reference))
        return f"({text})" if text.startswith("-") else text

    def value_text(self, id: str) -> str | None:
        return written(self.values[id]) if id in self.values else None

    def missing(self) -> list[dict[str, str]]:
        """The metrics without a value and why, in the card's order."""
        return [
            {"metric": id, "reason": f"{self.troubles[id][0]}: {self.troubles[id][1]}"}
            for id in self.card.metrics
            if id in self.troubles
        ]

    def metrics(self) -> list[Metric]:
        """The metrics that have a value, for tracing."""
        return [
            Metric(id, metric.unit, self.values[id], metric.change)
            for id, metric in self.card.metrics.items()
            if id in self.values
        ]


def row_of(snapshot: Snapshot, row: int) -> dict[str, Any]:
    """A row, and where it came from as far as that is known."""
    if snapshot.lines is not None:
        return {"row": row, "file": snapshot.file, "line": snapshot.lines[row]}
    return {"row": row} if snapshot.file is None else {"row": row, "file": snapshot.file}


def encode(caliber: Caliber, card: str) -> bytes:
    """The metric set as it is stored; card is the hash of the card."""
    head = {"name": caliber.card.name, "version": str(caliber.card.version), "card": card}
    entries = ",\n".join(json.dumps(caliber.entry(metric)) for metric in caliber.card.metrics.values())
    return f'{json.dumps(head)[:-1]}, "metrics": [\n{entries}\n]}}\n'.encode("ascii")
