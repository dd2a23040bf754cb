"""Upgrading a job: a narrative that is checked by value becomes a draft in which markers stand for its numbers.

A number becomes a marker where it traces to exactly one metric; or where nothing speaks against it and exactly one
cell has its value. The report is the judge: a marker stays only where the composed report shows the same number, in
the same unit, and violates no rule there. The other numbers are left and listed.
"""

from __future__ import annotations

import bisect
import difflib
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from issuance import evidence, report, tracing
from issuance.caliber import Caliber
from issuance.formats import is_decimal
from issuance.job import Job
from issuance.markers import Marker, find
from issuance.numerals import markup, units
from issuance.numerals.finding import Numeral
from issuance.report import Report
from issuance.snapshots import Snapshot
from issuance.tracing import Traced

POINTS = re.compile("point|pp|百分点|bp|基点|折|成|多|余|odd")  # which are no plain percentages, or say "over"
SCALED = re.compile(r"[0-9](万|亿|k|M|bn)$").search
NO_METRIC = "no metric has this value"  # and none was refused for its direction or its unit: see tracing.why
MOST_NAMED = 3  # cells of one value


class Left(NamedTuple):
    """A number that stays as it is, and why."""

    text: str
    start: int
    reason: str


class Placed(NamedTuple):
    """A number of the narrative, and where its marker stands in the draft."""

    numeral: Numeral
    start: int
    end: int


class Upgrade(NamedTuple):
    """The cited draft that a narrative becomes, and the numbers that are left in it."""

    draft: str
    left: list[Left]
    markers: list[Placed]


def upgrade(narrative: str, job: Job, computed: Caliber, cites: evidence.Evidence, refused: dict[int, str]) -> Upgrade:
    """The cited draft of a narrative; the numbers at the places that are refused are left, for the reasons given."""
    allow = job.contract.allow if job.contract else []
    parts: list[str] = []
    left: list[Left] = []
    placed: list[Placed] = []
    length = 0  # of the parts
    known = cells(computed)
    at = 0
    for one in tracing.trace(narrative, computed.metrics(), allow):
        numeral = one.numeral
        if one.status == "allowed":
            continue
        marker, reason = marker_for(one, computed, cites, known)
        if numeral.start in refused:
            marker, reason = "", f"{marker} {refused[numeral.start]}"
        if not marker:
            left.append(Left(numeral.text, numeral.start, reason))
            continue
        parts += [narrative[at : numeral.start], marker]
        length += numeral.start - at + len(marker)
        placed.append(Placed(numeral, length - len(marker), length))
        at = numeral.end
    return Upgrade("".join([*parts, narrative[at:]]), left, placed)


def settled(narrative: str, job: Job, computed: Caliber, cites: evidence.Evidence) -> Upgrade:
    """The upgrade without the markers that violate a rule of the report, or show another number in it."""
    refused: dict[int, str] = {}
    while True:
        upgraded = upgrade(narrative, job, computed, cites, refused)
        made = report.compose(upgraded.draft, cites, job.contract.allow if job.contract else [])
        wrong = {**other_numbers(narrative, upgraded, made, computed), **violating(upgraded, made)}
        if not wrong:
            known, ends = {one.start for one in upgraded.left}, [one.end for one in upgraded.markers]
            rest = [
                Left(one.text, place, one.message)
                for one in made.violations
                if (place := origin_of(one.start, upgraded.markers, ends)) not in known
            ]
            return upgraded._replace(left=sorted([*upgraded.left, *rest], key=lambda one: one.start))
        refused.update(wrong)


def violating(upgraded: Upgrade, made: Report) -> dict[int, str]:
    """The numbers whose markers violate a rule of the report where they stand."""
    starts, ends = [one.start for one in upgraded.markers], [one.end for one in upgraded.markers]
    found = {}
    for one in made.violations:  # each concerns the markers within it, the one before and the one behind
        first, last = bisect.bisect_left(ends, one.start), bisect.bisect_right(starts, one.end)
        for marker in upgraded.markers[max(first - 1, 0) : last + 1]:
            if near(upgraded.draft, one.start, one.end, marker.start, marker.end):
                found[marker.numeral.start] = "does not fit the words beside it"
    return found


def other_numbers(narrative: str, upgraded: Upgrade, made: Report, computed: Caliber) -> dict[int, str]:
    """The numbers whose markers do not show them in the report, which is to show the same number in the same unit."""
    draft = upgraded.draft
    code = sorted(markup.code(draft))
    hidden = [marker for marker in upgraded.markers if markup.inside(marker.start, code)]
    cited = [marker for marker in upgraded.markers if not markup.inside(marker.start, code)]
    values = [one for one in made.citations if one.about["kind"] in ("metric", "cell")]
    assert len(values) == len(cited), "the draft has no other markers of values than those that were placed"
    found = [one.numeral for one in tracing.trace(made.text, computed.metrics())]
    starts = [one.start for one in found]
    wrong = {marker.numeral.start: "would stand in code" for marker in hidden}
    for marker, citation in zip(cited, values):
        written = narrative[marker.numeral.start : marker.numeral.end]
        at = bisect.bisect_left(starts, citation.start)
        before = at > 0 and found[at - 1].end > citation.start
        here = found[at - before : bisect.bisect_left(starts, citation.end)]
        text = made.text[citation.start : citation.end]
        if len(here) != 1 or not same(here[0], marker.numeral):
            wrong[marker.numeral.start] = f"would show {text} for {written}"
    return wrong


def same(shown: Numeral, numeral: Numeral) -> bool:
    """Whether two numbers are one, in one unit."""
    units_agree = unit_of(shown.unit) == unit_of(numeral.unit)
    return units_agree and (shown.value, shown.fraction) == (numeral.value, numeral.fraction)


def unit_of(unit: str) -> str:
    return units.canonical(unit)[0] if unit else ""


def near(draft: str, low: int, high: int, start: int, end: int) -> bool:
    """Whether only space stands between a violation and a marker."""
    return not draft[min(high, end) : max(low, start)].strip()


def origin_of(place: int, markers: list[Placed], ends: list[int]) -> int:
    """The place in the narrative of a place in the draft that is in no marker; the markers' ends are in order."""
    count = bisect.bisect_right(ends, place)
    return place - (markers[count - 1].end - markers[count - 1].numeral.end) if count else place


def cells(computed: Caliber) -> dict[Decimal, list[str]]:
    """The names of the cells that have each value without its sign; never one of a masked column."""
    found: dict[Decimal, list[str]] = {}
    for snapshot in computed.snapshots.values():
        if isinstance(snapshot, Snapshot):
            shown = [(place, name) for place, name in enumerate(snapshot.names) if name not in snapshot.masked]
            for row, values in enumerate(snapshot.rows):
                for place, name in shown:
                    if is_decimal(values[place]):
                        cell = f"{snapshot.about['name']}.r{row}.{name}"
                        found.setdefault(Decimal(values[place]).copy_abs(), []).append(cell)
    return found


def marker_for(
    one: Traced, computed: Caliber, cites: evidence.Evidence, known: dict[Decimal, list[str]]
) -> tuple[str, str]:
    """The marker that can stand for a number, or why there is none; known are the cells by their values."""
    numeral = one.numeral
    if one.status == "traced":
        if len(one.metrics) > 1:
            return "", f"it traces to {' and '.join(one.metrics)}"
        unit = computed.card.metrics[one.metrics[0]].unit
        if unit and unit_of(unit) != unit_of(numeral.unit):
            return "", f"the report would add the unit of {one.metrics[0]}, {unit}"
        texts = [f"[[m:{one.metrics[0]}{conversions}]]" for conversions in possible(numeral)]
    else:
        of_value = known.get(numeral.value.copy_abs(), [])
        if one.reason != NO_METRIC or not of_value:
            return "", one.reason
        if len(of_value) > 1:
            more = f" and {len(of_value) - MOST_NAMED} more" if len(of_value) > MOST_NAMED else ""
            return "", f"it has the value of {' and '.join(of_value[:MOST_NAMED])}{more}"
        texts = [f"[[v:{of_value[0]}]]"]
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
    """Whether a marker's text is one number that has the value of another, their signs aside, and is of its kind."""
    try:
        (cited,) = cites.cite(marker)
    except evidence.Uncitable:
        return False
    found = tracing.trace(cited.text, None)
    if len(found) != 1 or numeral.unit == "x" or numeral.fraction or POINTS.search(numeral.text.lower()):
        return False
    shown = found[0].numeral
    return (shown.unit == "%") == (numeral.unit == "%") and shown.value.copy_abs() == numeral.value.copy_abs()


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
