"""What tracing found, as JSON for programs and as a marked text for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import answer_format
from answer_format import Leaf
from issuance.formats import anything
from issuance.numerals.plain import is_hidden
from issuance.tracing import Traced, written

BRIEF = 24
MARKS = {"traced": "", "untraced": "!", "allowed": "~", "found": ""}
COLOURS = {"traced": "32", "untraced": "1;31", "allowed": "33", "found": "36"}


def as_json(traced: Sequence[Traced]) -> str:
    """{"numbers": [...], "summary": {...}} in ASCII, for people to read."""
    return json.dumps({"numbers": list(map(entry, traced)), "summary": summary(traced)}, indent=2) + "\n"


def as_stored(traced: Sequence[Traced]) -> bytes:
    """The same with a number on each line."""
    numbers = ",\n".join(json.dumps(entry(one)) for one in traced)
    return f'{{"numbers": [\n{numbers}\n], "summary": {json.dumps(summary(traced))}}}\n'.encode("ascii")


def entry(one: Traced) -> dict[str, Any]:
    return {
        "text": one.numeral.text,
        "start": one.numeral.start,
        "end": one.numeral.end,
        "value": written(one.numeral.value),
        "low": written(one.numeral.low),
        "high": written(one.numeral.high),
        "unit": one.numeral.unit,
        "status": one.status,
        "metrics": one.metrics,
        "reason": one.reason,
    }


def summary(traced: Sequence[Traced]) -> dict[str, int]:
    found = [one.status for one in traced]
    return {"total": len(traced), **{status: found.count(status) for status in ("traced", "untraced", "allowed")}}


def as_text(narrative: str, traced: Sequence[Traced], colour: bool) -> str:
    """The narrative with every number in brackets, what is known of each below its line, and the totals."""
    out: list[str] = []
    notes: list[str] = []

    def add_prose(start: int, end: int) -> None:
        first, *lines = narrative[start:end].replace("\r\n", "\n").split("\n")
        out.append(shown(first))
        for line in lines:
            out.extend(["\n", *notes, shown(line)])
            notes.clear()

    at = 0
    for one in traced:
        add_prose(at, one.numeral.start)
        out.append(painted(f"[{MARKS[one.status]}{shown(one.numeral.text)}]", one.status, colour))
        notes.append(f"    {note(one)}\n")
        at = one.numeral.end
    add_prose(at, len(narrative))
    if narrative and not narrative.endswith("\n"):
        out.append("\n")
    counts = summary(traced)
    said = statuses(counts)
    if any(one.status == "found" for one in traced):
        said = "no metrics to trace them to"
    return "".join([*out, *notes, f"\n{counted(len(traced), 'number', 'numbers')}: {said}\n"])


def statuses(counts: Mapping[str, int]) -> str:
    return f"{counts['traced']} traced, {counts['untraced']} untraced, {counts['allowed']} allowed"


def counted(count: int, one: str, many: str) -> str:
    """So many of something, in words that fit the number."""
    return f"{count} {one if count == 1 else many}"


def note(one: Traced) -> str:
    numeral = one.numeral
    value, low, high = (brief(written(part)) for part in (numeral.value, numeral.low, numeral.high))
    detail = f": {one.reason}" if one.reason else f" to {', '.join(one.metrics)}" if one.metrics else ""
    unit = f" {shown(one.numeral.unit)}" if one.numeral.unit else ""
    return f"{shown(one.numeral.text)}: {value} ({low} to {high}){unit}, {one.status}{shown(detail)}"


def brief(text: str) -> str:
    """A value for people: one of more than BRIEF digits is cut, and says so."""
    return text if len(text) <= BRIEF else f"{text[:BRIEF]}..."


def painted(text: str, status: str, colour: bool) -> str:
    return f"\x1b[{COLOURS[status]}m{text}\x1b[0m" if colour else text


def shown(text: str) -> str:
    """A text from data as it may reach a terminal: what does not show is escaped, tabs aside."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(ascii(char)[1:-1] if is_hidden(char) and char != "\t" else char for char in text)


TEXT = Leaf("text", lambda value: type(value) is str)
COUNT = answer_format.integer_to(1 << 40)
STORED = answer_format.record(
    numbers=answer_format.array(
        answer_format.record(
            **dict.fromkeys(("text", "value", "low", "high", "unit", "status", "reason"), TEXT),
            start=COUNT,
            end=COUNT,
            metrics=anything,
        ),
        0,
        10_000_000,
    ),
    summary=anything,
)
