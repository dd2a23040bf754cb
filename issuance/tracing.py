"""Tracing the numbers of a text to metrics, by five rules.

1. Precision as written: a metric's exact value lies in the number's interval, ends included.
2. Percentages, fractions and multiples trace to metrics without a unit, in "%" or in times, by the fitting multiple.
3. Units must not contradict.
4. Direction must not contradict: a negative metric needs a text that says so, a change a text that agrees.
5. Allowed literals pass.

Metrics are looked up in sorted lists, one for each unit and kind, so that n numbers against m metrics cost n log m.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from typing import NamedTuple

from issuance.metrics import Metric
from issuance.numerals import finding, units
from issuance.numerals.draft import EXACT
from issuance.numerals.finding import Numeral
from issuance.numerals.plain import Plain

MOST_METRICS = 10
ANY = "any unit"  # no canonical unit has a space
HUNDRED, HUNDREDTH, ONE = Decimal(100), Decimal("0.01"), Decimal(1)
INVERSE = {ONE: ONE, HUNDRED: HUNDREDTH, HUNDREDTH: HUNDRED}  # so that distances in several units compare


class Traced(NamedTuple):
    """What tracing found for one number: a status, the ids of the metrics that fit, the nearest first, and a reason."""

    numeral: Numeral
    status: str  # "traced", "untraced", "allowed" or, without metrics, "found"
    metrics: list[str]
    reason: str


def trace(
    narrative: str,
    metrics: Sequence[Metric] | None,
    allow: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> list[Traced]:
    """Every number of a narrative in its order; metrics None lists the numbers only. progress is as in find()."""
    with localcontext(EXACT):
        return trace_exactly(narrative, metrics, allow, progress)


def trace_exactly(
    narrative: str,
    metrics: Sequence[Metric] | None,
    allow: Iterable[str],
    progress: Callable[[int, int], None] | None,
) -> list[Traced]:
    plain = Plain(narrative)
    words = {word for unit in {metric.unit for metric in metrics or ()} for word in units.words(unit)}
    found = finding.find(plain, words, progress)
    allowed = Allowed(allow, words)
    if metrics is None:
        return [Traced(numeral, "allowed" if numeral in allowed else "found", [], "") for numeral in found]
    index, clauses = Index(metrics), Clauses(plain)
    return [trace_one(numeral, index, clauses, allowed) for numeral in found]


def trace_one(numeral: Numeral, index: Index, clauses: Clauses, allowed: Allowed) -> Traced:
    if found := fitting(numeral, index, clauses):
        nearest = sorted(set(found))[:MOST_METRICS] if len(found) > 1 else found
        return Traced(numeral, "traced", [id for _, id in nearest], "")
    if numeral in allowed:
        return Traced(numeral, "allowed", [], "")
    return Traced(numeral, "untraced", [], why(numeral, index, clauses))


def fitting(numeral: Numeral, index: Index, clauses: Clauses) -> list[tuple[Decimal, str]]:
    """The metrics that a number traces to, each after its distance."""
    every: list[tuple[Decimal, str]] = []
    for unit, times in measures(numeral):
        if pools := index.pools.get(unit):
            found = fits(numeral, times, pools, clauses)
            every += found if times is ONE else [(distance * INVERSE[times], id) for distance, id in found]
    return every


def measures(numeral: Numeral) -> list[tuple[str, Decimal]]:
    """The units of the metrics that a number may trace to, and what its value is multiplied by for each."""
    if numeral.fraction:
        return [("", ONE), ("%", HUNDRED)]
    if not numeral.unit:
        return [(ANY, ONE)]
    unit, _ = units.canonical(numeral.unit)
    if unit == "%":
        return [("%", ONE), ("", HUNDREDTH)]
    if unit == "x":
        return [("", ONE), ("x", ONE), ("%", HUNDRED)]
    return [(unit, ONE), ("", ONE)]


class Pool:
    """Metrics by value: the distinct values in order, and for each the first ids that have it."""

    def __init__(self, items: list[tuple[Decimal, str]]) -> None:
        self.values: list[Decimal] = []
        self.ids: list[list[str]] = []
        for value, id in sorted(items):
            if not self.values or self.values[-1] != value:
                self.values.append(value)
                self.ids.append([])
            if len(self.ids[-1]) < MOST_METRICS:
                self.ids[-1].append(id)

    def nearest(self, low: Decimal, high: Decimal, value: Decimal) -> list[tuple[Decimal, str]]:
        """The distances and ids of the metrics within an interval: of the ten values on each side of the one given."""
        values = self.values
        first = bisect.bisect_left(values, low)
        if first == len(values) or values[first] > high:
            return []
        end = first + 1
        if end < len(values) and values[end] <= high:
            end = bisect.bisect_right(values, high, end)
            if end - first > 2 * MOST_METRICS:
                middle = bisect.bisect_left(values, value, first, end)
                first, end = max(first, middle - MOST_METRICS), min(end, middle + MOST_METRICS)
        return [
            (abs(EXACT.subtract(values[place], value)), id) for place in range(first, end) for id in self.ids[place]
        ]


class Pools:
    """The metrics of one unit: those from zero on, the positive changes, and the negative ones without their sign."""

    def __init__(self, metrics: list[tuple[Decimal, Metric]]) -> None:
        self.levels = Pool([(value, m.id) for value, m in metrics if value >= 0 and not (m.change and value)])
        self.rises = Pool([(value, m.id) for value, m in metrics if value > 0 and m.change])
        self.falls = Pool([(-value, m.id) for value, m in metrics if value < 0])


class Index:
    """All metrics: pools for each canonical unit, and for any; values are in the unit without its scale."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        by_unit: dict[str, list[tuple[Decimal, Metric]]] = {}
        self.metrics = {}
        for metric in metrics:
            unit, scale = units.canonical(metric.unit)
            entry = EXACT.multiply(metric.value, scale), metric
            by_unit.setdefault(unit, []).append(entry)
            self.metrics[metric.id] = metric
        self.pools = {unit: Pools(entries) for unit, entries in by_unit.items()}
        every = [entry for entries in by_unit.values() for entry in entries]
        self.pools[ANY] = next(iter(self.pools.values())) if len(by_unit) == 1 else Pools(every)


def fits(numeral: Numeral, times: Decimal, pools: Pools, clauses: Clauses) -> list[tuple[Decimal, str]]:
    """The metrics of one unit that a number traces to, with their distances."""
    low, high, value = numeral.low, numeral.high, numeral.value
    if times != 1:
        low, high, value = (EXACT.multiply(number, times) for number in (low, high, value))
    found = []
    if low <= 0:  # as written, the number covers negative values
        says_rose = not value.is_signed() and (numeral.signed or clauses.direction(numeral) == "rose")
        found += [] if says_rose else pools.falls.nearest(max(-high, Decimal(0)), -low, -value)
    if high >= 0:
        found += pools.levels.nearest(low, high, value)
        rising = pools.rises.nearest(low, high, value)
        if rising and (clauses.direction(numeral) != "fell" or clauses.to_before(numeral)):
            found += rising
        if low > 0 and not numeral.signed:
            falling = pools.falls.nearest(low, high, value)
            if falling and clauses.direction(numeral) == "fell":
                found += falling
    return found


def why(numeral: Numeral, index: Index, clauses: Clauses) -> str:
    """Why a number traces to nothing: the direction, the unit, or that no metric has its value."""
    contradicting: list[tuple[Decimal, str]] = []
    for unit, times in measures(numeral):
        if pools := index.pools.get(unit):
            low, high, value = numeral.low * times, numeral.high * times, numeral.value * times
            near = pools.falls.nearest(low, high, value) + pools.rises.nearest(low, high, value)
            contradicting += [(distance * INVERSE[times], id) for distance, id in near]
    if contradicting:
        metric = index.metrics[min(contradicting)[1]]
        shown = f"{metric.id} is {written(metric.value)}{metric.unit}"
        if metric.value > 0:
            return f"{shown}, the text says it fell"
        if numeral.signed or clauses.direction(numeral) == "rose":
            return f"{shown}, the text says it rose"
        return f"{shown}, the text does not say that it fell"
    if numeral.unit:
        low, high, value = numeral.low, numeral.high, numeral.value
        pools, measured = index.pools[ANY], {unit for unit, _ in measures(numeral)}
        other = pools.falls.nearest(-high, -low, -value) if high < 0 else []
        for pool in (pools.levels, pools.rises, pools.falls) if high >= 0 else ():
            other += pool.nearest(low, high, value)
        other = [near for near in other if units.canonical(index.metrics[near[1]].unit)[0] not in measured]
        if other:
            return f"the metric's unit is {index.metrics[min(other)[1]].unit}, not {numeral.unit}"
    return "no metric has this value"


END = (  # of a clause: punctuation, and a line break before a new paragraph or item
    r"[，。；：、！？;!?()\[\]“”\"「」《》—…]|[,.:](?![0-9])|\n[ \t]*(?:\n|[-*+#>|]|[0-9]+[.)])"
)
NEITHER = "涨跌幅?|盈亏|扭亏为盈|增减|升降"
FELL = (
    "fell|fall(?:s|en|ing)?|down(?:ward)?|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|drop(?:s|ped|ping)?|lost|"
    "los(?:e|es|ing|s|ses)"
)
ROSE = (
    "rose|ris(?:e|es|en|ing)|(?<!-)up(?:ward)?(?! to )|increas(?:e|es|ed|ing)|gr[eo]w(?:s|n|ing|th)?|gain(?:s|ed|ing)?|"
    "climb(?:s|ed|ing)?|improv(?:e|es|ed|ing)|higher"
)
FELL_ZH = "下[降滑跌]|降(?:低|幅|至|到|了|为)?|减少|减|跌|亏损|亏"
ROSE_ZH = "增[长加]?|上[升涨]|涨|提[高升]|升"
EVENT = re.compile(
    f"(?P<neither>{NEITHER})|(?P<end>{END})|(?<![a-z])(?:(?P<fell>{FELL})|(?P<rose>{ROSE}))(?![a-z])"
    f"|(?P<fell_zh>{FELL_ZH})|(?P<rose_zh>{ROSE_ZH})"
)
NEGATIONS = ("not ", "n't ", "never ", "未", "没有", "没", "不")
TO_BEFORE = re.compile(
    "(?:(?<![a-z])to|至|到)了?[ \u00a0“\"]*"
    "(?:(?:about|around|nearly|almost|just|only|over|under|some|roughly)[ \u00a0]|约|近|不足|超过?|逾|仅)?"
    "[“\"]?(?:[a-z]{0,3}[$¥€£]|usd |rmb |人民币|-)?[ \u00a0]?"
    "(?:[0-9.,]{1,12}%?[ \u00a0]?(?:-|–|~|至|到|to|and)[ \u00a0]?)?$"
)


class Clauses:
    """What the clauses of a text say about direction. Looked through once, when the first number asks."""

    def __init__(self, plain: Plain) -> None:
        self.text = plain.text
        self.events: list[tuple[int, int, str]] | None = None  # start, end, and "fell", "rose" or "end"
        self.starts: list[int] = []

    def direction(self, numeral: Numeral) -> str:
        """ "fell", "rose" or "": the nearest such word of the clause that a number stands in."""
        if self.events is None:
            self.events = [
                (match.start(), match.end(), str(match.lastgroup)[:4])
                for match in EVENT.finditer(self.text)
                if match["end"] or not match["neither"] and not self.text.endswith(NEGATIONS, 0, match.start())
            ]
            self.starts = [start for start, _, _ in self.events]
        start, end = numeral.place
        after = bisect.bisect_left(self.starts, end)
        before = bisect.bisect_left(self.starts, start) - 1
        near = []
        if before >= 0 and self.events[before][2] != "end":
            near.append((start - self.events[before][1], 0, self.events[before][2]))
        if after < len(self.events) and self.events[after][2] != "end":
            near.append((self.events[after][0] - end, 1, self.events[after][2]))
        return min(near)[2] if near else ""

    def to_before(self, numeral: Numeral) -> bool:
        start = numeral.place[0]
        return bool(TO_BEFORE.search(self.text, max(start - 40, 0), start))


class Allowed:
    """Literals that pass: by their text, or by their value where they are one number."""

    def __init__(self, literals: Iterable[str], words: Iterable[str]) -> None:
        self.texts = set(literals)
        self.values: set[tuple[Decimal, str]] = set()
        for literal in self.texts:
            found = finding.find(Plain(literal), words)
            if len(found) == 1 and is_all(literal, found[0]):
                self.values.add((found[0].value, found[0].unit and units.canonical(found[0].unit)[0]))

    def __contains__(self, numeral: object) -> bool:
        if not self.texts or not isinstance(numeral, Numeral):
            return False
        unit = numeral.unit and units.canonical(numeral.unit)[0]
        return numeral.text in self.texts or (numeral.value, "") in self.values or (numeral.value, unit) in self.values


def is_all(literal: str, numeral: Numeral) -> bool:
    """Whether a literal is this number and its unit, and nothing else."""
    rest = literal[: numeral.start] + literal[numeral.end :]
    return rest.strip() in ("", numeral.unit)


def written(value: Decimal) -> str:
    """A decimal without exponent, trailing zeros and negative zero."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
