"""Finding the numbers that a text states, however they are written, each with its exact value, interval and unit.

find() passes over the plain text once. A pattern finds the next place where a number could start; the reader for what
stands there (digits, words, characters) gives a number, or says where to go on behind what is none; then what stands
beside the number is taken along. Ranges share units last, when neighbours are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from typing import NamedTuple

from issuance.numerals import markup
from issuance.numerals.characters import FIRST_CHARACTER, read_chinese
from issuance.numerals.digits import VULGAR, read_digits
from issuance.numerals.draft import EXACT, HALF, ONE, Draft
from issuance.numerals.plain import Plain
from issuance.numerals.ranges import WIDEST_GAP, share
from issuance.numerals.signs import take_brackets
from issuance.numerals.suffixes import take_unit, unit_pattern
from issuance.numerals.words import FIRST_WORD, read_words

EAST_ASIAN = "[⺀-\uffef]"
IN_LATIN = re.compile(f"(?P<digits>[0-9{VULGAR}])|[^a-z0-9_](?P<words>{FIRST_WORD})")
IN_CHINESE = re.compile(
    f"(?P<digits>[0-9{VULGAR}])|(?={EAST_ASIAN})(?P<chinese>{FIRST_CHARACTER})|(?<![a-z0-9_])(?P<words>{FIRST_WORD})"
)
READERS = {"digits": read_digits, "chinese": read_chinese, "words": read_words}


class Numeral(NamedTuple):
    """A number of a text: narrative[start:end] == text, in code points.

    It stands for the values from low to high, ends included: so far below and above its value. unit is "%", "x", a
    currency or a unit word as it is written, or empty. A fraction is a ratio and has none.
    """

    text: str
    start: int
    end: int
    value: Decimal
    below: Decimal
    above: Decimal
    unit: str
    fraction: bool
    signed: bool
    place: tuple[int, int]  # start and end in the plain text

    @property
    def low(self) -> Decimal:
        return EXACT.subtract(self.value, self.below)

    @property
    def high(self) -> Decimal:
        return EXACT.add(self.value, self.above)


PROGRESS_STEP = 200_000  # so many code points are read between two calls of progress


def find(plain: Plain, units: Iterable[str] = (), progress: Callable[[int, int], None] | None = None) -> list[Numeral]:
    """The numbers of a text in their order; units are the unit words that the metrics declare.

    progress is told from time to time how much of the text has been read, and how much there is.
    """
    with localcontext(EXACT):
        return find_exactly(plain, units, progress)


def find_exactly(plain: Plain, units: Iterable[str], progress: Callable[[int, int], None] | None) -> list[Numeral]:
    text = "\n" + markup.blanked(plain) + "\n" * 8  # so that every place has neighbours
    next_hit = (IN_CHINESE if re.search(EAST_ASIAN, text) else IN_LATIN).search
    unit_after = unit_pattern(units)
    found: list[Numeral] = []
    near: list[Draft] = []  # numbers so near to each other that they may be a range
    position, shown = 0, PROGRESS_STEP
    while hit := next_hit(text, position):
        kind = hit.lastgroup or ""
        draft = READERS[kind](text, hit.start(kind), near, plain)
        if progress and position >= shown:
            progress(position, len(text))
            shown = position + PROGRESS_STEP
        if isinstance(draft, int):
            position = draft
            continue
        take_unit(text, draft, unit_after, plain)
        if text[draft.end] == ")" and take_brackets(text, draft):
            take_unit(text, draft, unit_after, plain)
        position = draft.end
        if near and draft.start - near[-1].end > WIDEST_GAP:
            if len(near) == 1:
                found.append(numeral(plain, near[0]))
            else:
                found += finished(plain, text, near)
            near.clear()
        near.append(draft)
    return found + finished(plain, text, near)


ZERO = Decimal(0)


def finished(plain: Plain, text: str, near: list[Draft]) -> list[Numeral]:
    """The numbers that drafts near to each other have come to."""
    return [numeral(plain, draft) for draft in share(text, near)]


def numeral(plain: Plain, draft: Draft) -> Numeral:
    """The number that a draft has come to, its interval, and where it stands in the original."""
    value, step = draft.value, draft.step
    if draft.scale is not ONE:
        value, step = value * draft.scale, step * draft.scale
    if draft.approximate:
        step = ONE.scaleb(int(value.normalize().as_tuple().exponent)) if value else ONE
        below, above = (ZERO, step) if value >= 0 else (step, ZERO)
    else:
        below = above = HALF if step is ONE else step * HALF
    place = draft.start - 1, draft.end - 1
    start, end = plain.span(*place) if plain.removed else place
    unit = draft.unit
    if draft.money:
        unit = plain.original[slice(*plain.span(draft.money[0] - 1, draft.money[1] - 1))]
    text = plain.original[start:end]
    return Numeral(text, start, end, value, below, above, unit, draft.fraction, draft.signed, place)
