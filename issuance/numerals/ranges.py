"""Ranges: the first end takes the scale and the unit that only the last one bears. And numbers made of two."""

from __future__ import annotations

import re
from decimal import Decimal

from issuance.numerals import chinese, currencies, english
from issuance.numerals.draft import DIVISION, HUNDREDTH, ONE, Draft
from issuance.numerals.exclusions import MEASURE

DASH_OR_WORD = re.compile(
    "(?:[ \u00a0]?(?:-|–|—|~|至|到|to|or|and|或|/)[ \u00a0]?|-? ?(?:to|or)[ -])"
    f"(?:{currencies.pattern(currencies.SIGNS)})?|-(?:to|or)-"
)
BETWEEN = ("between ", "between $", "between £", "between €", "between us$")  # makes "and" the word of a range
LOOSE = (" - ", " – ", " — ", " or ", " - $", " – $", " — $")  # they also join what is no range: "312 or 4.1%"
WIDEST_GAP = 6
OVER_ENDS = re.compile(r"[ \u00a0]?(?:of(?![a-z])|[.,;:!?)\n])")


def share(text: str, drafts: list[Draft]) -> list[Draft]:
    """The numbers of a text after each has got what its neighbour shares with it."""
    shared: list[Draft] = []
    for draft in reversed(drafts):
        last = shared[-1] if shared else None
        if last is None or last.start - draft.end > WIDEST_GAP:
            shared.append(draft)
            continue
        gap = text[draft.end : last.start]
        if is_joined(text, gap, last):
            shared[-1] = joined(text, draft, last, gap)
            continue
        if not gap or gap == "、" and draft.end - draft.start == 1:
            share_characters(text, draft, last)
        elif DASH_OR_WORD.fullmatch(gap) and not (gap in LOOSE and draft.value >= last.value):
            if is_percent_of_both(text, draft, last, gap):
                last.unit, last.scale = "%", draft.scale
            elif "and" not in gap or text.endswith(BETWEEN, max(draft.start - 10, 0), draft.start):
                share_scale(text, draft, last)
        shared.append(draft)
    return shared[::-1]


MEASURED = re.compile(f"[ \u00a0]?(?:{MEASURE}|[a-z])")


def is_percent_of_both(text: str, first: Draft, last: Draft, gap: str) -> bool:
    """Whether the last end of a range takes the percent that only the first one bears: 百分之三至五."""
    if first.unit != "%" or last.unit or last.fraction or gap.strip() in ("or", "and", "或"):
        return False
    return "分之" in text[first.start : first.end] and not MEASURED.match(text, last.end)


def share_scale(text: str, first: Draft, last: Draft) -> None:
    """The ends of a range in digits or words: "5 to 10 million", "5-20%", but not "from 500 to 2 million"."""
    if first.fraction or last.fraction or first.unit in ("%", "x"):
        return
    size = last.scale if last.scale != 1 else last.step if last.step >= 1000 else ONE
    if 0 < first.value < 10 and (scale := scale_of(text[last.start : last.end])):
        if not first.scaled and not first.unit and last.scale == 1:
            first.value, first.step, first.scaled = first.value * scale, last.step, True
        size = scale  # 三到五百万, two to three hundred thousand
    alike = abs(first.value) < 10 * abs(DIVISION.divide(last.value * last.scale, size))
    if last.unit in ("%", "x") and not first.unit:
        first.unit, first.scale = last.unit, last.scale
    elif not first.scaled and size != 1 and alike and (not first.unit or first.money and first.money[0] < first.start):
        first.scale, first.scaled = size, True
    if last.unit and not first.unit:
        first.unit, first.money = last.unit, last.money


WORDS_OF_SCALE = re.compile(
    rf"(?:{'|'.join(english.ONES)})((?:[ \u00a0\n-]+(?:{'|'.join(sorted(english.SCALES, reverse=True))}))+)$"
)


def scale_of(text: str) -> Decimal | None:
    """The scale of a number that is one digit and a scale, in characters or words."""
    words = WORDS_OF_SCALE.match(text)
    if not words:
        return chinese.scale_after(text, text[0])
    scale = ONE
    for word in words[1].replace("-", " ").split():
        scale *= english.SCALES[word]
    return scale


def share_characters(text: str, first: Draft, last: Draft) -> None:
    """The ends of a range of characters side by side, 两三千, or with a comma, 三、四千万元."""
    scale = chinese.scale_after(text[last.start : last.end], text[last.start])
    if first.end < last.start and first.value < 10 and not first.unit and last.scale == 1 and scale:
        first.value, first.step = first.value * scale, last.step
    if last.unit and not first.unit and first.scale == 1:
        first.unit, first.money, first.scale = last.unit, last.money, last.scale


def is_joined(text: str, gap: str, last: Draft) -> bool:
    """Whether two numbers are one: 三又四分之一, or "one over three" at the end of a clause."""
    return gap.strip() == "又" and last.fraction or gap == " over " and bool(OVER_ENDS.match(text, last.end))


def joined(text: str, first: Draft, last: Draft, gap: str) -> Draft:
    first.end, first.step = last.end, HUNDREDTH
    if text[last.end] == "倍":
        first.end, first.unit = last.end + 1, "x"
    if "over" in gap:
        first.value, first.fraction = DIVISION.divide(first.value, last.value or ONE), True
    else:
        first.value = DIVISION.add(first.value, last.value)
    return first
