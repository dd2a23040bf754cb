"""Reading numbers in English words, and knowing ordinals, periods and figures of speech from them.

Each reader gets the plain text, which begins and ends with a line break, and the place of a number word.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable
from decimal import Decimal

from issuance.numerals import english, exclusions
from issuance.numerals.draft import HALF, HUNDREDTH, ONE, TENTH, Draft, Reading
from issuance.numerals.exclusions import NUMBER_WORD
from issuance.numerals.labels import is_this_one, word_before
from issuance.numerals.plain import Plain
from issuance.numerals.signs import take_sign
from issuance.numerals.suffixes import SUFFIX


def alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, branching at their first letters."""
    groups = itertools.groupby(sorted(set(words)), key=operator.itemgetter(slice(1)))
    return "|".join(
        f"{first}(?:{'|'.join(sorted((word[1:] for word in group), reverse=True))})" for first, group in groups
    )


HALVED = ("halved", "halving", "halves")
FIRST_WORD = f"(?:{alternatives([*english.WORDS, *english.MULTIPLES, *HALVED])})(?![a-z0-9_])"
WORD = re.compile(FIRST_WORD)
OTHER_WORDS = ("and", "of", "a", "an", "point")  # within a number
NEXT_WORD = re.compile(
    f"(?:[ \u00a0-]{{1,3}}|[ \u00a0]?\n[ \t>]{{0,8}})({alternatives([*english.WORDS, *OTHER_WORDS])})(?![a-z0-9_])"
)
MOST_WORDS = 16  # of one number
ARTICLE = re.compile("(?<![a-z0-9_])an?[ \u00a0-]$")


def read_words(text: str, at: int, drafts: list[Draft], plain: Plain) -> Reading:
    """A number in English words, or the end of what only looks like one."""
    article = ARTICLE.search(text, max(at - 4, 0), at) if text[at - 2] in "an" else None
    start = article.start() if article else at
    if excluded := article and exclusions.AT_WORD.match(text, start) or exclusions.AT_WORD.match(text, at):
        return max(excluded.end(), at + 1)
    words, ends = words_from(text, at)
    end = ends[0]
    if article and english.read(["a", *words]) is None:
        article, start = None, at  # "a twelve percent rise"
    if point := PART_OF_POINT.match(text, start):
        size = HALF if point[2] == "half" else HALF * HALF * (3 if point[1] else 1)
        return Draft(start, point.end(), size, HUNDREDTH, "%")
    if text.endswith("point ", max(at - 6, 0), at) and (decimals := spoken_decimals(text, at, words, ends)):
        return decimals
    if words[0] in english.MULTIPLES or words[0] in HALVED:
        figurative = text.startswith(" down", end) or word_before(text, at) in ("think", "thought")
        if figurative or "-" in (text[at - 1], text[end]):
            return end
        if words[0] in HALVED:
            return Draft(at, end, HALF, TENTH, fraction=True)
        return Draft(at, end, Decimal(english.MULTIPLES[words[0]]), ONE, "x")
    if is_vague(text, start, words):
        return ends[-1] if words[-1] in english.SCALES else end
    if article:
        words, ends = ["a", *words], [at - 1, *ends]
    reading = english.read(words)
    if reading is None:
        return after_ordinal(words, ends, at)
    draft = Draft(start, ends[reading.used - 1], reading.value, reading.step, fraction=reading.fraction)
    draft.scaled = reading.step >= 1000
    said = words[: reading.used]
    if said == ["one"] and not is_one(text, at, drafts) or is_next(text, draft, said):
        return draft.end
    if said == ["three", "quarters"] and is_duration(text, draft):
        return Draft(start, ends[0], Decimal(3), ONE)
    return take_sign(text, draft)


PART_OF_POINT = re.compile("(?:a[ -])?(three[ -])?(half|quarter)[ -](?:percentage[ -])?points?(?![a-z])")


def words_from(text: str, at: int) -> tuple[list[str], list[int]]:
    """The run of number words from a place, and where each ends."""
    first = WORD.match(text, at)
    assert first is not None
    words, ends = [first[0]], [first.end()]
    while len(words) < MOST_WORDS:
        more = NEXT_WORD.match(text, ends[-1]) or AFTER_COMMA.match(text, ends[-1])
        if not more:
            break
        compound = text[more.end()] == "-" and text[more.start()] != "-" and more[1] in english.CARDINALS
        if compound and words[-1] != "and" and not NEXT_WORD.match(text, more.end()):
            break  # "twenty two-person teams"
        words.append(more[1])
        ends.append(more.end())
    return words, ends


AFTER_COMMA = re.compile(
    f"(?<=thousand|.million|.billion),[ \u00a0]({NUMBER_WORD})(?=[ \u00a0]hundred[ \u00a0]and[ \u00a0])"
)


def spoken_decimals(text: str, at: int, words: list[str], ends: list[int]) -> Draft | None:
    """ "point five percent": decimals without a whole, which need their percent."""
    digits = list(itertools.takewhile(lambda word: word in english.CARDINALS, words))
    end = ends[len(digits) - 1] if digits else at
    if not digits or not (suffix := SUFFIX.match(text, end)) or suffix.lastgroup != "percent":
        return None
    decimals = "".join(str(english.CARDINALS[word]) for word in digits)
    return Draft(at - 6, end, Decimal(f"0.{decimals}"), ONE.scaleb(-len(decimals)))


def is_vague(text: str, start: int, words: list[str]) -> bool:
    """Whether the word before makes no exact number of this, but a period, a name or a figure of speech."""
    previous, word = word_before(text, start), words[0]
    if word in english.SCALES:
        return previous in exclusions.VAGUE_BEFORE and (previous != "of" or text.endswith("couple of ", 0, start))
    if word == "half":
        return previous in exclusions.HALF_PERIOD_BEFORE
    if word.startswith("quarter"):
        return previous in exclusions.PERIOD_BEFORE
    if previous == "net" and word == "zero":
        return True
    if previous in ("week", "year", "day", "month", "quarter") and is_this_one(text, text.rfind(previous, 0, start)):
        return False
    return previous in exclusions.NAME_BEFORE and len(words) == 1 and not SUFFIX.match(text, start + len(word))


def after_ordinal(words: list[str], ends: list[int], at: int) -> int:
    """Past an ordinal of several words, such as "one hundred and sixteenth", or past the word at a place."""
    for word, end in zip(words, ends):
        if word in english.ORDINALS:
            return end
        if word not in english.CARDINALS and word not in english.SCALES and word not in OTHER_WORDS:
            break
    return next(end for end in ends if end > at)


AFTER_PART = re.compile(  # what follows "a third" where it is a part, and not the next of a series
    r"[ \u00a0](?:of|more|less|lower|higher|fewer|larger|smaller|bigger|as|to|in|on|from|over|and|or|were|was|is|are|"
    r"have|has|had|did|between|compared|since|during|by|year|this|last|came|went|said|who|that|than|within|off|for|at|after|"
    r"before|versus|vs)\b|[ \u00a0]*[^\w \u00a0-]|\n"
)


def is_next(text: str, draft: Draft, said: list[str]) -> bool:
    """Whether "a third" or "a quarter" is the next store or a period, and not a part."""
    if said == ["one", "quarter"] and text.endswith((" in ", " within ", " last ", " past "), 0, draft.start):
        return not OF_A_WHOLE.match(text, draft.end)
    return draft.fraction and said[0] == "a" and said[1] != "half" and not AFTER_PART.match(text, draft.end)


PERIODS_BEFORE = re.compile(
    "(?:past|last|next|first|previous|consecutive|straight|for|in|over|all|these|those|every|the|running|successive)"
    "[ -]$"
)
OF_A_WHOLE = re.compile(r"[ \u00a0]of\b(?! (?:growth|decline|losses|gains|the year|20[0-9]{2}))")


def is_duration(text: str, draft: Draft) -> bool:
    """Whether "three quarters" are periods, as in "for three quarters in a row"."""
    if "-" in text[draft.start : draft.end] or OF_A_WHOLE.match(text, draft.end):
        return False
    if text.startswith(" in a row", draft.end):
        return True
    return bool(PERIODS_BEFORE.search(text, max(draft.start - 14, 0), draft.start))


LIMITING = re.compile(
    "(?<![a-z])(?:only|just|exactly|merely|barely|solely|at most|at least|(?:no|not) (?:more|fewer|less) than"
    "|fewer than|all but)[ \u00a0]$"
)
ONE_OF_MANY = re.compile(
    "one of (?:the |our |its |their |many |several )+(?:[a-z]+ )?"
    "(?:reasons|causes|factors|ways|things|issues|questions|problems)"
)
DETERMINER = "(?:(?:the|our|its|these|those|their|all|every|about|some|nearly|over)[ \u00a0])*"
ONE_AND_NUMBER = re.compile(
    "(?:one(?:[ \u00a0](?:[a-z-]+[ \u00a0])?(?:in|out of|of|or|to|per|over|for)[ \u00a0]"
    "|-(?:or|to|in|out-of)-|- (?:to|or) |[-–])"
    rf"|(?<=between )one and ){DETERMINER}(?:[0-9]|{NUMBER_WORD}(?![a-z]))"
)
ONE_AND_OTHERS = re.compile(
    "one(?: [a-z-]+){1,4}?(?:[,;]| and| but| while| plus| versus| against)(?: (?:and|but|while|with))?(?: [a-z]+)?? "
    rf"(?:[0-9]+|{NUMBER_WORD})(?![a-z0-9.,]*(?:%| ?per ?cent))(?![a-z])(?!(?<=one)-[a-z])"
)
BESIDE_ONE = re.compile(
    "[ \u00a0](?:[a-z-]+[ \u00a0]){0,3}?(?:and|or|to|but|plus|against)[ \u00a0](?:[a-z]+[ \u00a0])?"
    "|,[ \u00a0](?:(?:and|but|while)[ \u00a0])?|[-–](?:or|to)[-–]"
    "|[ \u00a0](?:[a-z-]+[ \u00a0]){0,3}?[a-z-]+[,;:] (?:and |but |while )?"
)


ONE_DID = re.compile("one (?:was|is|has|had|will|may)(?![a-z])")


def is_one(text: str, at: int, drafts: list[Draft]) -> bool:
    """Whether "one" is a number: with a unit, after a limiting word, or beside another quantity."""
    if text.endswith(("no ", "no-"), at - 3, at):
        return False
    if SUFFIX.match(text, at + 3) or text.endswith(("minus ", "negative "), 0, at):
        return True
    if LIMITING.search(text, max(at - 16, 0), at):
        return not ONE_OF_MANY.match(text, at) or bool(ONE_AND_NUMBER.match(text, at))
    if exclusions.NOT_ONE.match(text, at) and not ONE_DID.match(text, at):
        return False
    if ONE_AND_NUMBER.match(text, at) or ONE_AND_OTHERS.match(text, at):
        return True
    if text.startswith("one of", at) or not drafts or drafts[-1].unit == "%":
        return False
    return at - drafts[-1].end <= 40 and bool(BESIDE_ONE.fullmatch(text, drafts[-1].end, at))
