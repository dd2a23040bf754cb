"""English number words: their vocabulary, and the value of a run of them.

read(words) takes as many of the words of a run as make one number: "two hundred and fifty-four",
"one and a half thousand", "minus five point five", "two-thirds", "half a million".
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import NamedTuple

from issuance.numerals.draft import DIVISION, HUNDREDTH, ONE, TENTH

ONES = dict(zip("one two three four five six seven eight nine".split(), range(1, 10)))
TEENS = dict(zip(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), range(10, 20)
))
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10)))
TENS["fourty"] = 40
ONES["ﬁve"], TEENS["ﬁfteen"], TENS["ﬁfty"] = 5, 15, 50  # with the ligature
ZEROS = dict.fromkeys(("zero", "nought", "naught", "nil"), 0)
CARDINALS = {**ZEROS, **ONES, **TEENS, **TENS}
SCALES = {
    "hundred": 10**2, "thousand": 10**3, "lakh": 10**5, "lac": 10**5, "million": 10**6, "crore": 10**7,
    "billion": 10**9, "trillion": 10**12, "quadrillion": 10**15, "dozen": 12, "doz": 12,
}
SCALES.update({name + "s": size for name, size in SCALES.items()})
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}  # parts that no ordinal names
ORDINAL_ONES = dict(zip("first second third fourth fifth sixth seventh eighth ninth".split(), range(1, 10)))
ORDINALS = {
    **ORDINAL_ONES, "eleventh": 11, "twelfth": 12, "twelvth": 12,
    **{name + "th": size for name, size in TEENS.items() if name not in ("eleven", "twelve")},
    **{name[:-1] + "ieth": size for name, size in TENS.items()},
    **{name + "th": size for name, size in SCALES.items() if size != 12 and name[-1] != "s"},
}
DENOMINATORS = {**ORDINALS, **{name + "s": size for name, size in ORDINALS.items()}, **PARTS}
WORDS = {*CARDINALS, *SCALES, *DENOMINATORS}

# The multiples that are one word, and how many times they are.
MULTIPLES = {
    **dict.fromkeys("double doubles doubled doubling twice twofold".split(), 2),
    **dict.fromkeys("triple triples tripled tripling trebled trebling thrice threefold".split(), 3),
    **dict.fromkeys("quadruple quadruples quadrupled quadrupling fourfold".split(), 4),
    **dict.fromkeys("quintuple quintuples quintupled quintupling fivefold".split(), 5),
    **dict.fromkeys("sextuple sextupled sixfold".split(), 6),
    "sevenfold": 7, "eightfold": 8, "ninefold": 9, "tenfold": 10, "hundredfold": 100,
}


class Reading(NamedTuple):
    """What the first `used` words of a run say: value, the size of its last digit, and whether it is a fraction."""

    used: int
    value: Decimal
    step: Decimal
    fraction: bool = False




def read(words: list[str]) -> Reading | None:
    """The number that starts a run of words; None where it starts with none, such as an ordinal or "quarter" alone."""
    if words[0] in PARTS:
        scale = words[3:4] if words[1:3] == ["of", "a"] else words[1:2]
        if words[0] != "half" and not (scale and scale[0] in SCALES):
            return None
        return scaled_part(words, 1, DIVISION.divide(ONE, Decimal(PARTS[words[0]])), words[0])
    if words[0] in ("a", "an"):
        part, name, end = denominator(words, 1)
        if part:
            return scaled_part(words, end, DIVISION.divide(ONE, Decimal(part)), name)
        if words[1:2] and words[1] in CARDINALS:
            return None
    used, value, step = read_integer(words, int(words[0] in ("a", "an")))
    return read_rest(words, used, value, step) if used else None


def read_integer(words: list[str], start: int) -> tuple[int, Decimal, Decimal]:
    """The position after the whole number that starts at a word, its value and the size of its last digit.

    It is a series of groups below a thousand, each with the scales that follow it, each scale smaller than the last.
    """
    total, step, least, at = 0, 1, 10**18, start
    while at < len(words):
        after_and = at + (words[at] == "and" and at > start)
        end, group = read_group(words, after_and)
        size = 1
        while end < len(words) and words[end] in SCALES and (group or end > after_and or at == start):
            size *= SCALES[words[end]]
            end += 1
        if after_and > at and size == 1 and denominator(words, end)[0]:
            break  # "a billion and three quarters"
        if end == after_and or size >= least or (group == 0 and size == 1 and at > start):
            break
        total += (group or 1 if size > 1 else group) * size
        step = size if size >= 1000 else 1
        least, at = size, end
        if size == 1 or size == 12:
            break
    return at, Decimal(total), Decimal(step)


def read_group(words: list[str], at: int) -> tuple[int, int]:
    """The position after a number below ten thousand in hundreds, such as "two hundred and fifty-four", and it."""
    end, value = read_tens(words, at)
    last, rest = read_tens(words, end)
    if value >= 10 and rest >= 10 and words[last : last + 1] not in (["hundred"], ["hundreds"]):
        return last, value * 100 + rest  # "nineteen eighty-four"
    if words[end : end + 1] in (["hundred"], ["hundreds"]):
        value, end = (value or 1) * 100, end + 1
        after_and = end + (words[end : end + 1] == ["and"])
        last, rest = read_tens(words, after_and)
        part = denominator(words, last)[0] if rest else 0
        if after_and > end and (rest < part or words[last : last + 1] in (["hundred"], ["hundreds"])):
            return end, value  # "one hundred and three quarters", "two hundred and three hundred"
        ordinal = words[last].rstrip("s") if last < len(words) else ""
        if after_and == end and rest in TENS.values() and ordinal in ORDINAL_ONES:
            return end, value  # "one hundred thirty-fifths"
        if rest:
            value, end = value + rest, last
    return end, value


def read_tens(words: list[str], at: int) -> tuple[int, int]:
    """The position after a number below a hundred, and the number."""
    word = words[at] if at < len(words) else ""
    if word in TENS and at + 1 < len(words) and words[at + 1] in ONES:
        return at + 2, TENS[word] + ONES[words[at + 1]]
    return (at + 1, CARDINALS[word]) if word in CARDINALS else (at, 0)


def read_rest(words: list[str], used: int, value: Decimal, step: Decimal) -> Reading | None:
    """What may follow a whole number: decimals, a part, the denominator that makes it a fraction, a last scale."""
    rest = words[used:]
    if rest[:1] == ["point"]:
        digits = list(itertools.takewhile(lambda word: word in CARDINALS, rest[1:]))
        if digits:
            decimals = "".join(str(CARDINALS[word]) for word in digits)
            step = ONE.scaleb(-len(decimals))
            return scaled(words, used + 1 + len(digits), value + int(decimals) * step, step)
    above = {"a": 1, "an": 1, **ONES}.get(rest[1], 0) if rest[:1] == ["and"] and rest[1:] else 0
    if above:
        part, name, end = denominator(words, used + 2)
        if above < part and (above == 1 or name.endswith("s") or above == 3 and name == "quarter"):
            size = step if step >= 1000 else ONE  # "two million and a half" has half a million
            if size > 1 and end < len(words) and words[end] in SCALES:  # "a billion and a quarter million"
                size, end = Decimal(SCALES[words[end]]), end + 1
            value = DIVISION.divide(value * part + size * above, Decimal(part))
            return scaled(words, end, value, size * (TENTH if part == 2 else HUNDREDTH))
    part, name, end = denominator(words, used)
    if name == "quarters" and value != 3:
        part = 0  # four quarters are a year
    if part and (name.endswith("s") or value == 1):
        return scaled_part(words, end, DIVISION.divide(value, Decimal(part)), name)
    if name == "second" and words[used - 1] in {**ONES, **TEENS}:
        return Reading(used, value, step)  # "a two-second delay"
    if name in ORDINALS:
        return None  # "twenty-first", "one hundred and sixteenth"
    return Reading(used, value, step)


def denominator(words: list[str], at: int) -> tuple[int, str, int]:
    """The number that a word such as "thirds" or "twenty-firsts" divides by, its last word, the position after it."""
    after_and = at + (words[at : at + 1] == ["and"])
    if words[after_and : after_and + 1] and words[after_and] in TENS and words[after_and + 1 : after_and + 2]:
        name = words[after_and + 1]
        if name.rstrip("s") in ORDINAL_ONES:
            return TENS[words[after_and]] + DENOMINATORS[name], name, after_and + 2
    name = words[after_and] if after_and < len(words) else ""
    if name in DENOMINATORS and name.rstrip("s") not in ("first", "second"):
        return DENOMINATORS[name], name, after_and + 1
    return 0, name, at


def scaled(words: list[str], used: int, value: Decimal, step: Decimal) -> Reading:
    while used < len(words) and words[used] in SCALES:
        value, step = value * SCALES[words[used]], step * SCALES[words[used]]
        used += 1
    return Reading(used, value, step)


def scaled_part(words: list[str], used: int, value: Decimal, name: str) -> Reading:
    """A fraction, or a part of a scale: "half a million", "two thirds of a million"."""
    step = TENTH if name.startswith("hal") else HUNDREDTH
    rest = words[used:]
    skipped = 2 if rest[:2] == ["of", "a"] else 1 if rest[:1] == ["a"] else 0
    if rest[skipped : skipped + 1] and rest[skipped] in SCALES:
        return scaled(words, used + skipped, value, step)
    return Reading(used, value, step, True)
