"""Reading numbers in digits, and knowing dates, codes, list markers and fractions from them.

Each reader gets the plain text, which begins and ends with a line break, and the place of a digit.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from issuance.numerals import chinese, currencies, english, exclusions
from issuance.numerals.characters import read_parts
from issuance.numerals.draft import DIVISION, HUNDREDTH, ONE, Draft, Reading
from issuance.numerals.exclusions import LABEL, NO_QUANTITY, UNCOUNTED
from issuance.numerals.labels import LATIN, MAY_LABEL, YEARS, after_word, word_before
from issuance.numerals.markup import begins_item
from issuance.numerals.plain import Plain
from issuance.numerals.signs import take_sign
from issuance.numerals.suffixes import SUFFIX

NUMBER = re.compile(
    f"({exclusions.DOTTED}"
    "|[0-9]+(?![0-9]|[,'\u00a0][0-9])|[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,3}(?:\u00a0[0-9]{3})+(?![0-9])"
    "|[0-9]{1,3}(?:'[0-9]{3})+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}){1,6},[0-9]{3}(?![0-9])|[0-9]*)"
    "(\\.[0-9]+)?(e[+-]?[0-9]{1,2}(?![0-9a-z]))?"
)
SEPARATORS = str.maketrans("", "", ",'\u00a0.")  # of groups of digits
STEPS = [ONE.scaleb(-decimals) for decimals in range(40)]  # the size of the last digit
VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"

# What before a digit makes neither a code nor a date, a label or a decimal point of it.
PLAIN_BEFORE = frozenset(
    "=,，。、；)[{|*$¥€£<>≥≤≈约为是达了的率额至到近超计有仅共增减升降涨跌成率数价值比入润于"
)
QUIET = frozenset("( \u00a0/\n:\t%")  # makes no code
# What follows digits that may be a date, a code, a fraction or a Chinese numeral, and not just a number.
CHINESE_NEXT = frozenset("余多来百千万亿兆分")
MAY_BE_MORE = frozenset(exclusions.AT_DIGIT) | CHINESE_NEXT | frozenset("又\n")
AFTER_DECIMALS = CHINESE_NEXT | LATIN | frozenset(". \u00a0版时、/女妇节")


def read_digits(text: str, at: int, drafts: list[Draft], plain: Plain) -> Reading:
    """A number in digits, or the end of what only looks like one."""
    before = text[at - 1]
    looked_at = before not in PLAIN_BEFORE
    start = at - 1 if looked_at and is_decimal_point(text, at - 1, plain) else at
    if looked_at and start == at and before not in QUIET and (end := after_code(text, at, drafts, plain)):
        return end
    if text[at] in VULGAR:
        return vulgar_fraction(text, at, drafts)
    match = NUMBER.match(text, start)
    assert match is not None  # a digit stands there
    whole, decimals, exponent = match.groups()
    end = match.end()
    more = AFTER_DECIMALS if decimals else MAY_BE_MORE
    if text[end] in more and (found := read_more(text, at, start, end, whole, plain)):
        return found
    if whole[:1] == "0" and len(whole) > 2 and not decimals:
        return end  # a code: no quantity is written with zeros before it
    may_be_labelled = looked_at and start == at and (before not in QUIET or text[at - 2] in MAY_LABEL)
    if may_be_labelled and (end_of_label := after_word(text, at, before, plain)):
        return end_of_label
    if text[end] == ")" and len(whole) < 3 and not (decimals or exponent) and in_series(text, start, end):
        return end + 1
    if not (decimals or exponent or len(whole) > 3):
        return take_sign(text, Draft(start, end, Decimal(whole), ONE))
    places = len(decimals) - 1 if decimals else 0
    step = STEPS[places] if places < len(STEPS) and not exponent else ONE.scaleb(int((exponent or "e0")[1:]) - places)
    written = match[0] if len(whole) < 4 else whole.translate(SEPARATORS) + match[0][len(whole) :]
    return take_sign(text, Draft(start, end, Decimal(written), step))


def is_decimal_point(text: str, at: int, plain: Plain) -> bool:
    """Whether the point before digits begins their number, as in .5 and USD.5."""
    before = text[at - 1]
    if text[at] != "." or before in ".)" or text[at - 2 : at] == "no":
        return False
    return not before.isalnum() or before >= "⺀" or is_currency(text, at, plain)


def is_currency(text: str, at: int, plain: Plain) -> bool:
    """Whether a currency code or a letter sign such as Rs ends at a place."""
    if text[at - 3 : at] in currencies.CODES:
        return text[at - 4] not in LATIN
    if text[at - 2 : at] not in currencies.LETTERS or text[at - 3] in LATIN:
        return False
    return text[at - 1] == "m" or not plain.is_capital(at - 2)  # RS485 is a code


# Names and codes.

CODE = re.compile(r"\w*(?:[-./]\w*[0-9]\w*)*", re.ASCII)
PERIOD = re.compile(  # Q3 2026, FY2026/27, H1, Q1 and 2
    f"(?:[qh][1-4](?:(?: and | to |[-–/])[qh]?[1-4]{NO_QUANTITY}{UNCOUNTED})?|[1-4][qh]"
    "|[fc]y[- ]?'?(?:[0-9]{4}|[0-9]{2})(?:[/-][0-9]{2,4})?)(?![0-9])"
    f"(?:[ \u00a0-](?:of |in )?(?:'?{YEARS.pattern}"
    f"|(?:[fc]y ?'?|')(?:[0-9]{{4}}|[0-9]{{2}})(?:/[0-9]{{2}})?{exclusions.SHORT})"
    f"|'[0-9]{{2}}{exclusions.SHORT})?",
    re.ASCII,
)
UNITS = (
    "kgs?|g|mg|km|cm|mm|ml|l|kwh?|mwh?|gwh?|gb|mb|tb|kb|hrs?|h|mins?|secs?|s|ms|yrs?|days?|d|wks?|w|mos?|pcs|sqm|sqft|ft|"
    "lbs?|oz|[kcm]?m[²³]|t|px|p|c|f|ha|mph|kph|kcal|hz|mhz|ghz|v"
)
UNIT_GLUED = re.compile(f"(?:{UNITS})(?![a-z0-9_])")
UNIT_BEFORE = re.compile(f"[0-9](?:{UNITS})-$")
JOINING = ("mid-", "-to-", "-or-", "sub-", "pre-", "post-", "-for-", "-in-", "-of-", "-by-", "-on-", "-per-")
MONEY_BEFORE = re.compile(f"(?:{currencies.pattern(currencies.SIGNS | currencies.CODES)}) ?[0-9.,]+$")
NOUN = re.compile("[a-z]{3,}(?![a-z0-9_-])")  # 500units
OPERATOR = re.compile("(?:x|e[+-]?|h|mi?n?)[0-9]")  # 3x5, 2h30m, and exponents too large to write out


def after_code(text: str, at: int, drafts: list[Draft], plain: Plain) -> int:
    """The end of a code or label that a letter, a hyphen or a number sign before digits makes of them, or 0."""
    before = text[at - 1]
    if before.isalpha() and before < "⺀":
        if before in "xehm" and text[at - 2] in "0123456789" or is_currency(text, at, plain):
            return 0
        start = at
        while text[start - 1] in LATIN and at - start < 8:
            start -= 1
        match = PERIOD.match(text, start) or CODE.match(text, at)
        return max(match.end(), at + 1) if match else 0
    if before in "#№§" or text.endswith("no.", at - 3, at):
        label = LABEL.match(text, at)
        return label.end() if label else 0
    if before not in "_-+" or not text[at - 2].isalnum() or text[at - 2] >= "⺀":
        return 0
    end = at
    if before != "_":
        if drafts and drafts[-1].end == at - 1 or UNIT_BEFORE.search(text, max(at - 6, 0), at):
            return 0  # 10k-15k, 5h-7h
        label = LABEL.match(text, at)
        if text[at - 2] not in LATIN or text.endswith(JOINING, max(at - 6, 0), at) or not label:
            return 0
        end = label.end()
    code = CODE.match(text, end)
    return max(code.end(), at + 1) if code else 0


def is_code(text: str, at: int, plain: Plain) -> bool:
    """Whether the letters right after digits make them a code: no scale, no unit, or one capital as in 5G."""
    if text[at] in "bt" and SUFFIX.match(text, at) and is_money(text, at):
        return False  # $10T
    if unit := UNIT_GLUED.match(text, at):
        return len(unit[0]) == 1 and plain.is_capital(at - 1) and not is_money(text, at)
    if text[at] == "b" and not text[at + 1].isalnum():
        return not plain.is_capital(at - 1) or plain.is_capital(at + 1)  # 221B Baker Street
    if NOUN.match(text, at) and not plain.is_capital(at - 1):
        return False
    return not (SUFFIX.match(text, at) or OPERATOR.match(text, at) or text[at : at + 3] in currencies.CODES)


def is_money(text: str, at: int) -> bool:
    """Whether a currency stands before the digits that end at a place, or behind the one letter there."""
    before = MONEY_BEFORE.search(text, max(at - 20, 0), at)
    return bool(before) or text[at + 1] in " \u00a0" and bool(currencies.AFTER.match(text, at + 1))


# What begins with digits and is more than a number, or none.

YEAR_SPAN = re.compile(f"((?:1[0-9]|20)[0-9]{{2}})[-–/]([0-9]{{2}})(?![-–/]){NO_QUANTITY}")


def read_more(text: str, at: int, start: int, end: int, whole: str, plain: Plain) -> Reading | None:
    """A marker, a date, a code, a fraction or a Chinese numeral that begins with digits."""
    following = text[end]
    if following in " |" and len(whole) == 4 and in_table_head(text, at):
        return end
    if following in ".)、 \u00a0":
        line = text.rfind("\n", max(at - 12, 0), at)
        if line >= 0 and (marker := structure(text, line, at, plain)):
            return marker
    exclusion = exclusions.AT_DIGIT.get(text[at + len(whole)]) if start == at else None
    if exclusion and (excluded := exclusion.match(text, at)):
        return excluded.end()
    if following in "-–/" and (span := YEAR_SPAN.match(text, at)) and int(span[2]) > int(span[1][2:]):
        return span.end()
    if following in "/ -" and "/" in text[end : end + 4] and (fraction := read_fraction(text, at)):
        return fraction
    if following in CHINESE_NEXT or following in " \u00a0" and text[end + 1] in CHINESE_NEXT:
        return read_mixed(text, start, end)
    if following in LATIN and "." not in text[start:end] and is_code(text, end, plain):
        code = CODE.match(text, end)
        return code.end() if code else None
    return None


IN_HEAD = re.compile(f"{exclusions.YEAR}[^\\n]{{0,400}}\\|[ \u00a0]*\\n[ \u00a0]*\\|?[ \u00a0]*:?-[-:| \u00a0]*\\n")


def in_table_head(text: str, at: int) -> bool:
    """Whether a year stands in a table's first row."""
    line = text.rfind("\n", max(at - 400, 0), at)
    return line >= 0 and text[line + 1] == "|" and bool(IN_HEAD.match(text, at))


MARKER = re.compile(
    r"\n[ \t\u00a0>]*(?:[-*+] +)?"
    r"(?:\([0-9]{1,3}\)[ \u00a0]*|[0-9]{1,3}(?:[.)](?:[ \u00a0]+(?=[^\s])|(?=[⺀-\uffef]))|、))"
)
HEADING = re.compile(
    r"\n[ \t\u00a0>]*(?:#+[ \u00a0]*[0-9]{1,3}(?:\.[0-9]+)*|[0-9]{1,3}(?:\.[0-9]+)+)"
    r"(?:\.?[ \u00a0]+(?:[-–—:][ \u00a0]+)?|、)(?=([^\W0-9_]))"
)
NO_TITLE = re.compile(
    "[万亿千百兆余多家个名人元单件次%]|"
    f"(?:{'|'.join(english.SCALES)}|per ?cent|percentage|times|[km]|bn|mn|tn|[x%])(?![a-z])"
)


def structure(text: str, line: int, at: int, plain: Plain) -> int:
    """The end of a list marker or of a heading's number, 0 where the digits at this place of a line are neither."""
    marker = MARKER.match(text, line)
    if marker and marker.end() > at:
        return marker.end() if begins_item(text, line, plain) else 0
    heading = HEADING.match(text, line)
    if heading and heading.end() > at and not NO_TITLE.match(text, heading.start(1)):
        if "#" not in heading[0] and not begins_item(text, line, plain):
            return 0
        title = heading.start(1)
        return heading.end() if text[title] >= "⺀" or plain.is_capital(title - 1) else 0
    return 0


SERIES = re.compile(r"[ \u00a0]?[^\W0-9_]")
SERIES_LENGTH = 600  # the most characters from one marker to the next


def in_series(text: str, at: int, closing: int) -> bool:
    """Whether digits before a bracket count the parts of a sentence: "(1) sales, (2) refunds"."""
    if not SERIES.match(text, closing + 1):
        return False
    number = int(text[at:closing])
    if text[at - 1] == "(":
        at -= 1
    if text[at - 1].isalnum() and text[at - 1] < "⺀":
        return False
    opening = text[at : closing - len(str(number))]
    if number == 1 and text.find(f"{opening}2)", at, at + SERIES_LENGTH) >= 0:
        return True
    return text.rfind(f"{number - 1})", max(at - SERIES_LENGTH, 0), at) >= 0


def read_mixed(text: str, start: int, end: int) -> Reading | None:
    """A numeral that begins with digits and goes on in characters: 3.5万, 3万4000, 5分之2."""
    if text.startswith(("分之", " 分之", "分 之"), end):
        return read_parts(text, start, end, Decimal(text[start:end].translate(chinese.GROUPING)))
    mixed = chinese.MIXED.match(text, start)
    if not mixed:
        return None
    draft = Draft(start, mixed.end(), *chinese.read(mixed[0]))
    if scale := chinese.scale_after(mixed[0], text[start:end]):
        draft.value, draft.step = chinese.read_digits(text[start:end].translate(chinese.GROUPING))
        draft.scale = scale
    draft.scaled = True
    draft.approximate = any(char in mixed[0] for char in "余多来")
    return take_sign(text, draft)


FRACTION = re.compile(
    "(?:([0-9]+)(?:[ \u00a0]{1,2}|-))?([0-9]{1,2})/([0-9]{1,2})(?!/)(?![0-9]|[.,][0-9]|[a-z万亿千百])"
)
MONTH_AND_DAY = re.compile(f"{exclusions.MM}/{exclusions.DD}(?!/){NO_QUANTITY}(?! of)")


def read_fraction(text: str, at: int) -> Reading | None:
    """n/m: a fraction, or the end of a date, or nothing known; "2 1/4" is one number."""
    match = FRACTION.match(text, at)
    if not match or text[at - 1] == "/":
        return None
    if word_before(text, at) in exclusions.BEFORE_DAY and MONTH_AND_DAY.match(text, at):
        return match.end()
    above, below = int(match[2]), int(match[3])
    if 1 <= above < below <= 10:
        value = DIVISION.divide(Decimal(match[1] or 0) * below + above, Decimal(below))
        return take_sign(text, Draft(at, match.end(), value, HUNDREDTH, fraction=not match[1]))
    is_date = 1 <= above <= 12 and 1 <= below <= 31 or 1 <= above <= 31 and 1 <= below <= 12
    return match.end() if is_date and not match[1] else None


def vulgar_fraction(text: str, at: int, drafts: list[Draft]) -> Reading:
    """½, or the half of 5½, which is one number with the digits before it."""
    above, below = map(int, unicodedata.normalize("NFKC", text[at]).split("\u2044"))
    part = DIVISION.divide(Decimal(above), Decimal(below))
    if drafts and text[drafts[-1].end : at] in ("", " ", "\u00a0") and drafts[-1].step == 1 and not drafts[-1].unit:
        whole = drafts.pop()
        part = -part if whole.value < 0 else part
        whole.end, whole.value, whole.step = at + 1, DIVISION.add(whole.value, part), HUNDREDTH
        return whole
    return take_sign(text, Draft(at, at + 1, part, HUNDREDTH, fraction=True))
