"""Metrics: what a report may repeat. A metric set is read strictly, every value exactly as it is written."""

from __future__ import annotations

import functools
import re
from decimal import Decimal
from typing import Any, NamedTuple

import answer_format
from answer_format import Leaf, Repeating, array, one_of, unique
from issuance.numerals.plain import is_hidden

MAX_BYTES = 64 * 1024 * 1024
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


def record_with(required: dict[str, Any], optional: dict[str, Any]) -> answer_format.Kind:
    """Objects with the required fields and any of the optional ones."""

    @functools.cache
    def record_of(present: frozenset[str]) -> answer_format.Kind:
        return answer_format.record(**required, **{name: optional[name] for name in optional if name in present})

    def check(value: Any, path: answer_format.Path, problems: answer_format.Problems) -> None:
        present = frozenset(optional.keys() & value.keys()) if isinstance(value, dict) else frozenset()
        record_of(present)(value, path, problems)

    return check


DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?").fullmatch


def is_decimal(value: Any) -> bool:
    return type(value) is int or isinstance(value, str) and bool(DECIMAL(value))


def anything(value: Any, path: answer_format.Path, problems: answer_format.Problems) -> None:
    """For what `issue` writes beside a value and tracing has no use for: only keys that repeat are wrong in it."""
    if isinstance(value, Repeating):
        for name, times in value.times.items():
            problems.add((path, name), f"must stand once in its object, not {times} times")
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        anything(part, (path, step), problems)


ID = answer_format.ID
UNIT = Leaf(
    "text of at most 80 code points without control characters",
    lambda value: type(value) is str and len(value) <= 80 and not any(map(is_hidden, value)),
)
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
        "change": one_of(False, True),
        **dict.fromkeys(BESIDE_A_VALUE, anything),
    },
)
METRIC_SET = record_with(
    {"metrics": array(METRIC, 0, MAX_METRICS, unique("id"))}, dict.fromkeys(("card", "version", "name"), anything)
)
