"""What the word before digits makes of them: a date, a year, the name of a table or a page, a phone number."""

from __future__ import annotations

import re

from issuance.numerals import exclusions
from issuance.numerals.exclusions import GAP, LABEL, LABEL_LIST, MORE_YEARS, NO_QUANTITY, UNCOUNTED, YEAR
from issuance.numerals.plain import Plain

LATIN = frozenset("abcdefghijklmnopqrstuvwxyz")
WORD_ENDS = LATIN | frozenset(".,:'\"“( \u00a01234")  # the digits are those of q1 and h2
NOT_ASCII = re.compile("[^\0-\x7f]")


def word_before(text: str, at: int) -> str:
    """The Latin word before a place, where nothing but a space, a hyphen, a quote or a bracket stands between."""
    if text[at - 1] not in " \u00a0-'“\"(" or text[at - 2] not in WORD_ENDS:
        return ""
    words = text[max(at - 20, 0) : at].rstrip(" \u00a0-'“\"(").replace("-", " ").split()
    word = words[-1].rstrip(".").lstrip("(\"'“‘_[") if words else ""
    return word if word.isascii() else NOT_ASCII.split(word)[-1]


YEARS = re.compile(f"{YEAR}{MORE_YEARS}{UNCOUNTED}", re.ASCII)
AFTER_MONTH = re.compile(
    rf"{exclusions.DAYS}(?! (?:million|billion|thousand|percent|per cent)\b)(?:,?{GAP}?{YEAR}{MORE_YEARS})?"
    f"|{YEAR}{MORE_YEARS}",
    re.ASCII,
)
FISCAL = re.compile(f"[0-9]{{2}}(?:[0-9]{{2}})?(?:/[0-9]{{2}})?{NO_QUANTITY}")
SHORT_YEAR = re.compile(f"[0-9]{{2}}(?!'){exclusions.SHORT}", re.ASCII)
HAS_SHORT_YEAR = re.compile(rf"(?:{exclusions.MONTH}\.?|[qh][1-4]|[1-4][qh]|[fc]y)[ \u00a0]?'$")


MAY_LABEL = WORD_ENDS | frozenset("§№©") | exclusions.CHINESE_LABEL_ENDS


def after_word(text: str, at: int, before: str, plain: Plain) -> int:
    """The end of what the word before makes of the digits at a place, 0 where it makes nothing of them."""
    if before in "(-+/" and text[at - 2] not in MAY_LABEL:
        return 0
    last = text[at - 2] if before in ": \u00a0-" else before
    if last in exclusions.CHINESE_LABEL_ENDS and (end := after_chinese(text, at)):
        return end
    if before == "'" and (HAS_SHORT_YEAR.search(text, max(at - 12, 0), at) or is_period(text, at - 1)):
        match = SHORT_YEAR.match(text, at)
    elif before == "(" and text[at + 4] == ")" and plain.is_capital(capital_before(text, at)):
        match = YEARS.match(text, at)  # Smith (2019)
    elif before in " \u00a0" and text[at - 2] in "§№©":
        match = (YEARS if text[at - 2] == "©" else LABEL).match(text, at)
    else:
        word = word_before(text, at)
        match = date_after(text, at, word, plain) or label_after(text, at, word, plain) if word else None
    return match.end() if match else 0


def is_period(text: str, at: int) -> bool:
    """Whether what stands before a place makes a year of what follows: "since ", "in the summer of "."""
    if text.endswith((" in ", "\nin ", "since ", "until "), 0, at):
        return True
    return bool(exclusions.OF_PERIODS.search(text, max(at - 24, 0), at))


def capital_before(text: str, at: int) -> int:
    """The place in the plain text of the word before a bracket."""
    return max(text.rfind(" ", 0, at - 2), text.rfind("\n", 0, at - 2))


def after_chinese(text: str, at: int) -> int:
    label = exclusions.CHINESE_LABEL.search(text, max(at - 9, 0), at)
    match = exclusions.AFTER_CHINESE_LABEL.match(text, at) if label else None
    return match.end() if match else 0


def date_after(text: str, at: int, word: str, plain: Plain) -> re.Match[str] | None:
    """The date or the years that a word makes of the digits behind it."""
    bare = word.rstrip(",")
    if bare in exclusions.MONTHS:
        match = AFTER_MONTH.match(text, at)
        month = text.rfind(bare, 0, at)
        if match and bare in ("may", "mar", "march") and "," not in match[0] and not plain.is_capital(month - 1):
            return None
        if match and text[month - 4 : month] in (" in ", "\nin ") and exclusions.COUNTS.match(text, match.end()):
            return None  # "in May 12 stores closed"
        return match
    if word in ("fy", "cy") and (match := FISCAL.match(text, at)):
        return match
    if word == "with" and not text.endswith(("compared with ", "contrast with "), max(at - 14, 0), at):
        return None
    if word in exclusions.BEFORE_YEAR or word == "with" or bare in ("year", "years"):
        match = YEARS.match(text, at)
        return match if match and says_year(text, at, word) else None
    return None


def says_year(text: str, at: int, word: str) -> bool:
    """Whether a word makes a year of a number that looks like one: "of", "by" and "the" do only in company."""
    if word in exclusions.DETERMINERS:
        return not exclusions.COUNTS.match(text, at + 4)
    if word == "of":
        return bool(exclusions.OF_PERIODS.search(text, max(at - 24, 0), at))
    if word in ("by", "from"):
        previous = text[max(at - 30, 0) : at - len(word) - 1].split()
        return not previous or previous[-1].strip(",.") not in exclusions.MOVES
    return True


def label_after(text: str, at: int, word: str, plain: Plain) -> re.Match[str] | None:
    """The number that a word names, as in "Table 2" or "Phases 1 to 3", or that is a phone's."""
    if word[-1] == ":":
        word = word[:-1]
        if word not in exclusions.WITH_COLON:
            return None  # "Volume: 300"
    if word in exclusions.PLURAL_LABELS:
        return LABEL_LIST.match(text, at)
    start = text.rfind(word, 0, at)
    if word in ("week", "wk", "year"):
        return None if is_this_one(text, start) or text[at + 2].isdigit() else LABEL.match(text, at)
    if word in exclusions.LABELS:
        return None if word_before(text, start) in exclusions.BEFORE_NO_LABEL else LABEL.match(text, at)
    if word == "number":
        return None if text[at + 1].isdigit() else LABEL.match(text, at)  # "ranks number 1", but "issue number 42"
    if word == "top":
        return LABEL.match(text, at) if plain.is_capital(start - 1) or word_before(text, start) in BEFORE_TOP else None
    if word in exclusions.CAPITAL_LABELS and is_label(text, start, plain):
        match = LABEL_LIST.match(text, at) if word[-1] == "s" or word == "scope" else None
        match = match or (None if word[-1] == "s" else LABEL.match(text, at))
        is_verb = match and word in exclusions.ALSO_VERBS and COUNTED_THING.match(text, match.end())
        is_count = match and MANY.match(text, at)  # "Volume 5200 orders"
        return None if is_verb or is_count else match
    return exclusions.PHONE.match(text, at) if word in exclusions.PHONE_WORDS else None


BEFORE_TOP = frozenset("the our its their in of among a into and start from this".split())


COUNTED_THING = re.compile(
    r"[ \u00a0](?!(?:shows|lists|covers|describes|applies|contains|gives|has|is|was|explains|sets|says|does|sums)\b)"
    r"(?:[a-z-]+[ \u00a0])?[a-z-]{3,}s\b",
    re.ASCII,
)


MANY = re.compile(f"(?:[0-9]{{4,}}|[0-9]{{1,3}}(?:,[0-9]{{3}})+){GAP}{exclusions.COUNTED}(?![a-z0-9_])", re.ASCII)


def is_this_one(text: str, at: int) -> bool:
    """Whether "week" before a number does not begin the name of one: "last week 412 orders came"."""
    return word_before(text, at) in exclusions.BEFORE_WEEK


def is_label(text: str, at: int, plain: Plain) -> bool:
    """Whether a word that may be a verb or a common noun labels the number behind it: "Note 7", "see note 7"."""
    before = (" in ", "see ", " within ", " under ", " per ", " as ", "\nas ")
    return plain.is_capital(at - 1) or text.endswith(before, max(at - 9, 0), at)
