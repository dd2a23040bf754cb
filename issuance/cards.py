"""Caliber cards: named, versioned sets of metrics, each an expression over data cells.

A card is read strictly. Its metrics may refer to each other in any order, but not in a cycle; what they refer to in a
job (queries, inputs) is looked up by whoever has the job.
"""

from __future__ import annotations

import graphlib
import os
import re
from typing import Any, NamedTuple

import answer_format
from answer_format import Problems, array, one_of, record, unique
from issuance import expressions
from issuance.expressions import AGGREGATES, Expression, ExpressionFault, Reference
from issuance.formats import BOOLEAN, NAME, UNIT, VERSION, parse, record_with

MAX_METRICS = 100_000
MAX_DECIMALS = 50
SIGNS = frozenset("$¥€£₩₹₽₿")
LETTER = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u1fff]").match
EAST_ASIAN = "\u2e80"  # where scripts begin that write no space before a unit


class Definition(NamedTuple):
    """A metric as its card defines it; decimals and format are for display alone."""

    id: str
    name: str
    unit: str
    decimals: int
    format: str  # "plain", "raw" or "percent"
    change: bool
    expression: Expression


class Card(NamedTuple):
    name: str
    version: int
    metrics: dict[str, Definition]  # by id, in the card's order
    order: list[str]  # ids, each after those that it refers to


def read(data: bytes, file: str, problems: Problems) -> Card | None:
    """The card of a file's bytes; None, and problems, where it cannot be used."""
    before = problems.count
    content = parse(data, CARD, file, problems)
    if problems.count > before:
        return None
    definitions: dict[str, Definition] = {}
    for index, item in enumerate(content["metrics"]):
        try:
            expression = expressions.parse(item["expression"])
        except ExpressionFault as fault:
            problems.add(place(index), f"column {fault.args[0]}: {fault.args[1]}")
            continue
        fields = {name: part for name, part in item.items() if name not in ("expression", "change")}
        definitions[item["id"]] = Definition(**fields, change=item.get("change", False), expression=expression)
    if problems.count > before:
        return None
    order = ordered(definitions, problems)
    return None if problems.count > before else Card(content["name"], int(content["version"]), definitions, order)


def place(index: int) -> answer_format.Path:
    return ((((), "metrics"), index), "expression")


def ordered(definitions: dict[str, Definition], problems: Problems) -> list[str]:
    """The ids of metrics, each after those that it refers to; problems for unknown metrics and for a cycle."""
    needs: dict[str, list[str]] = {}
    for index, (id, definition) in enumerate(definitions.items()):
        needs[id] = [reference.name for reference in definition.expression.references if reference.kind == "metric"]
        for reference in definition.expression.references:
            if reference.kind == "metric" and reference.name not in definitions:
                problems.add(place(index), f"column {reference.start + 1}: there is no metric", reference.name)
    try:
        order = list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as fault:
        cycle = list(reversed(fault.args[1]))
        shown = " -> ".join(cycle if len(cycle) <= 8 else [*cycle[:7], "...", cycle[-1]])
        problems.add(place(list(definitions).index(cycle[0])), f"refers to itself: {shown}")
        return []
    return order


def leaves(card: Card) -> dict[str, list[Reference]]:
    """For each metric the cells, aggregates, inputs and fields that it rests on, through other metrics too.

    Of several references to one query, input or field the first stands for all, aggregates apart.
    """
    found: dict[str, dict[tuple[bool, str, str], Reference]] = {}
    for id in card.order:
        mine = found[id] = {}
        for reference in card.metrics[id].expression.references:
            if reference.kind == "metric":
                mine.update(found[reference.name])
            else:
                group = reference.kind if reference.kind in ("input", "field") else "query"
                mine.setdefault((reference.kind in AGGREGATES, group, reference.name), reference)
    return {id: list(found[id].values()) for id in card.metrics}


def versions_beside(path: str, name: str) -> dict[int, str]:
    """The versions of a card that lie beside a file, and their paths, as NAME@VERSION.json. Raises OSError."""
    fits = re.compile(re.escape(name) + r"@([1-9][0-9]{0,8})\.json").fullmatch
    folder = os.path.dirname(path)
    found = {int(match[1]): match[0] for match in map(fits, os.listdir(folder or ".")) if match}
    return {version: os.path.join(folder, found[version]) for version in sorted(found)}


def shown(definition: Definition, value: Any, suffix: str = "") -> str:
    """A metric's value as people read it: rounded half up once, with its unit; suffix is that of its scale, such as k.
    """
    percent = definition.format == "percent"
    number = expressions.rounded(value.scaleb(2, expressions.WIDE) if percent else value, definition.decimals)
    text = format(number, f"{'' if definition.format == 'raw' else ','}.{definition.decimals}f")
    if not number:
        text = text.lstrip("-")
    return text + "%" if percent else with_unit(text + suffix, definition.unit)


def with_unit(text: str, unit: str) -> str:
    """A number and its unit: a currency sign before it, a word of letters with a space, all else right behind it."""
    if unit in SIGNS:
        return f"-{unit}{text[1:]}" if text.startswith("-") else unit + text
    return f"{text} {unit}" if unit and LETTER(unit[0]) and unit[0] < EAST_ASIAN else text + unit


METRIC = record_with(
    {
        "id": NAME,
        "name": answer_format.TEXT,
        "unit": UNIT,
        "decimals": answer_format.integer_to(MAX_DECIMALS),
        "format": one_of("plain", "raw", "percent"),
        "expression": answer_format.TEXT,
    },
    {"change": BOOLEAN},
)
CARD = record(
    card_version=one_of("1"),
    name=answer_format.ID,
    version=VERSION,
    metrics=array(METRIC, 0, MAX_METRICS, unique("id")),
)
