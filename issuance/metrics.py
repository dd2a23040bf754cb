"""Metrics: what a report may repeat. A metric set is read strictly, every value exactly as it is written."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import answer_format
from answer_format import Leaf, array, unique
from issuance.formats import BOOLEAN, MAX_BYTES, UNIT, anything, is_decimal, record_with

MAX_METRICS = 1_000_000


class Metric(NamedTuple):
    """A metric's value in its unit, exact; change says that it is a change, whose sign the text must respect."""

    id: str
    unit: str
    value: Decimal
    change: bool


def load(path: str, problems: answer_format.Problems) -> list[Metric]:
    """The metrics of a file that have a value; none, and problems, where it cannot be used."""
    content = answer_format.load(path, METRIC_SET, problems, MAX_BYTES)
    if problems.count:
        return []
    return [
        Metric(item["id"], item.get("unit", ""), Decimal(str(item["value"])), item.get("change", False))
        for item in content["metrics"]
        if item["value"] is not None
    ]


ID = answer_format.ID
VALUE = Leaf(
    "a decimal number with an exponent of at most three digits, a string of one, or null",
    lambda value: value is None or is_decimal(value),
)
BESIDE_A_VALUE = "decimals format expression substituted inputs rendered recomputes reason status".split()
METRIC = record_with(
    {"id": ID, "value": VALUE},
    {
        "name": answer_format.TEXT,
        "unit": UNIT,
        "change": BOOLEAN,
        **dict.fromkeys(BESIDE_A_VALUE, anything),
    },
)
METRIC_SET = record_with(
    {"metrics": array(METRIC, 0, MAX_METRICS, unique("id"))}, dict.fromkeys(("card", "version", "name"), anything)
)
