"""Upgrading a job: a narrative that is checked by value becomes a draft in which markers stand for its numbers.

A number becomes a marker where it traces to exactly one metric, or to none and has the value of exactly one cell, and
where the marker gives a number that stands for the same. The others are left and listed.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from issuance import evidence, report, tracing
from issuance.auditing import Guesses
from issuance.caliber import Caliber
from issuance.job import Job
from issuance.markers import Marker, find
from issuance.numerals.finding import Numeral
from issuance.tracing import Traced

CELL = re.compile(r"Q[1-9][0-9]*\.r[0-9]+\.").match
POINTS = re.compile("point|pp|百分点|bp|基点|折|成|多|余|odd")  # which are no plain percentages, or say "over"
SCALED = re.compile(r"[0-9](万|亿|k|M|bn)$").search


class Left(NamedTuple):
    """A number that stays as it is, and why."""

    text: str
    start: int
    reason: str


class Placed(NamedTuple):
    """Where a number stood in the narrative, and where its marker stands in the draft."""

    from_start: int
    from_end: int
    start: int
    end: int


class Upgrade(NamedTuple):
    """The cited draft that a narrative becomes, and the numbers that are left in it."""

    draft: str
    left: list[Left]
    markers: list[Placed]


def upgrade(
    narrative: str, job: Job, computed: Caliber, cites: evidence.Evidence, refused: frozenset[int]
) -> Upgrade:
    """The cited draft of a narrative; the numbers at the places that are refused are left."""
    allow = job.contract.allow if job.contract else []
    parts: list[str] = []
    left: list[Left] = []
    placed: list[Placed] = []
    length = 0  # of the parts
    guesses = Guesses(computed)
    at = 0
    for one in tracing.trace(narrative, computed.metrics(), allow):
        numeral = one.numeral
        if one.status == "allowed":
            continue
        marker, reason = marker_for(one, computed, cites, guesses)
        if numeral.start in refused:
            marker, reason = "", f"{marker} does not fit the words beside it"
        if not marker:
            left.append(Left(numeral.text, numeral.start, reason))
            continue
        parts += [narrative[at : numeral.start], marker]
        length += numeral.start - at + len(marker)
        placed.append(Placed(numeral.start, numeral.end, length - len(marker), length))
        at = numeral.end
    return Upgrade("".join([*parts, narrative[at:]]), left, placed)


def settled(narrative: str, job: Job, computed: Caliber, cites: evidence.Evidence) -> Upgrade:
    """The upgrade without the markers that violate a rule of the report where they stand."""
    refused: frozenset[int] = frozenset()
    while True:
        upgraded = upgrade(narrative, job, computed, cites, refused)
        made = report.compose(upgraded.draft, cites, job.contract.allow if job.contract else [])
        places = [(one.start, one.end) for one in made.violations]
        wrong = {
            marker.from_start
            for marker in upgraded.markers
            if any(near(upgraded.draft, low, high, marker.start, marker.end) for low, high in places)
        }
        if not wrong:
            known = {one.start for one in upgraded.left}
            rest = [
                Left(one.text, place, one.message)
                for one in made.violations
                if (place := origin_of(one.start, upgraded.markers)) not in known
            ]
            return upgraded._replace(left=sorted([*upgraded.left, *rest], key=lambda one: one.start))
        refused |= wrong


def near(draft: str, low: int, high: int, start: int, end: int) -> bool:
    """Whether only space stands between a violation and a marker."""
    return not draft[min(high, end) : max(low, start)].strip()


def origin_of(place: int, markers: list[Placed]) -> int:
    """The place in the narrative of a place in the draft that is in no marker."""
    before = [marker for marker in markers if marker.end <= place]
    return place - (before[-1].end - before[-1].from_end) if before else place


def marker_for(one: Traced, computed: Caliber, cites: evidence.Evidence, guesses: Guesses) -> tuple[str, str]:
    """The marker that can stand for a number, or why there is none."""
    numeral = one.numeral
    if one.status == "traced":
        if len(one.metrics) > 1:
            return "", f"it traces to {' and '.join(one.metrics)}"
        texts = [f"[[m:{one.metrics[0]}{conversions}]]" for conversions in possible(numeral)]
    else:
        sources = [candidate["source"] for candidate in guesses.candidates(numeral)]
        cells = [source for source in sources if CELL(source)]
        if len(cells) != 1:
            return "", f"it has the value of {' and '.join(cells)}" if cells else one.reason
        texts = [f"[[v:{cells[0]}]]"]
    for text in texts:
        (marker,) = find(text)
        if isinstance(marker, Marker) and stands_for(marker, numeral, cites):
            return text, ""
    return "", f"no marker gives a number that stands for the same as {numeral.text}"


def possible(numeral: Numeral) -> Iterator[str]:
    """Conversions with which a metric may come out as a number is written, the plainest first."""
    scale = SCALED(numeral.text)
    decimals = len(numeral.text.partition(".")[2].rstrip("%万亿kMbn")) if "." in numeral.text else 0
    for name in [f"|{scale[1]}"] if scale else ["", "|pct"] if numeral.unit == "%" else [""]:
        yield name
        yield f"{name}|.{decimals}"


def stands_for(marker: Marker, numeral: Numeral, cites: evidence.Evidence) -> bool:
    """Whether a marker's text is one number of the interval and the sign of another, and of the same kind."""
    try:
        (cited,) = cites.cite(marker)
    except evidence.Uncitable:
        return False
    found = tracing.trace(cited.text, None)
    if len(found) != 1 or numeral.unit == "x" or numeral.fraction or POINTS.search(numeral.text.lower()):
        return False
    shown = found[0].numeral
    if (shown.unit == "%", shown.value < 0) != (numeral.unit == "%", numeral.value < 0):
        return False
    return shown.low <= numeral.high and numeral.low <= shown.high


def upgraded_job(text: str, narrative: str) -> str | None:
    """A job file's text with a report of this draft in the place of the narrative; None where it is not found."""
    old = json.loads(text)
    wanted = {("report" if name == "narrative" else name): part for name, part in old.items()}
    wanted["report"] = {"draft": narrative}
    for match in re.finditer(r'"narrative"(\s*:\s*)("(?:[^"\\]|\\.)*")', text):
        new = f'{text[: match.start()]}"report"{match[1]}{{"draft": {match[2]}}}{text[match.end() :]}'
        try:
            if json.loads(new) == wanted:
                return new
        except ValueError:
            continue
    return None


def difference(name: str, before: str, after: str) -> str:
    """A unified diff of two texts of a file."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
