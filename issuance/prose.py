"""The author's own words in a report: what a reader sees of them, the numbers in them, and what they add to a citation.

Citations stand in the text as so many placeholders, so that no number of the author's is taken for a part of theirs. A
number counts wherever a reader could see it: with tags taken for nothing and for line breaks, with entities read, with
invisible characters and emphasis gone, and in code.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from issuance.cards import SIGNS
from issuance.numerals import currencies, units
from issuance.numerals.finding import Numeral, find
from issuance.numerals.markup import fenced, inside, spans
from issuance.numerals.plain import Plain, fold

CITED = "\ufffc"  # in the place of each character of a citation
MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>|&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]{1,31});?"
    r"|\\(?=[!-/:-@\[-`{-~])|[*`]+|~~+|_+",
    re.DOTALL,
)
MARKS = re.compile(r"[<&\\*`~_]").search  # without one of which there is no markup
LINK = re.compile(r"!?\[(?=[^\[\]\n]*\]\([^()\s]*\))|\]\([^()\s]*\)|\[\^[^\[\]\s]{1,40}\](?!:)")  # what frames its text
CELL = re.compile("</?t[dh](?![a-z0-9])", re.IGNORECASE)
BLOCK = re.compile(
    "</?(?:address|article|aside|blockquote|br|caption|dd|div|dl|dt|fieldset|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|"
    "pre|section|summary|table|tbody|tfoot|thead|tr|ul)(?![a-z0-9])",
    re.IGNORECASE,
)
DEFINED = re.compile(r"^[ >]*\[(\^[^\]\n]+)\]:", re.MULTILINE)
NOTED = re.compile(r"\[(\^?[^\[\]\n]{1,40})\]")
DIGITS = "0-9⁰¹²³⁴-⁹₀-₉①-⑳⓪"
HAN = "〇零一二三四五六七八九十百千万亿兆两廿卅"
TENS = "十百千万亿兆两廿卅"  # that make a number with digits behind them
SIGN = "-−⁻─"
GAP = "(?![ \u00a0\t\r>]*\n[ \u00a0\t\r>]*\n)[ \u00a0\t\r\n]{0,4}"  # white space within a paragraph
SCALE = (
    "thousands?|millions?|billions?|trillions?|milliards?|hundreds?|dozens?|lakhs?|crores?|myriads?|mio|mln|mrd|mil|mn|bln|bn|"
    "tn|mm|kk|tsd|thou|grand(?! (?:total|prix|opening|slam))|[kmbt](?![-/&])"
)
PARTS = "halves|thirds|quarters|fifths|sixths|sevenths|eighths|ninths|tenths|hundredths|thousandths|millionths"
POWERS = "squared|cubed|factorial|\\^"
FIGURES = "万达|千万(?:不|别|要)|百货|[千兆](?:克|米|瓦|字|帕|赫|牛|卡)|million-"  # of speech, names, units of measure
PER = (
    "%|‰|‱|℅|㌫|\\(%\\)|pct(?![a-z])|ppm(?![a-z])|bps?(?![a-z])|basis points?|per[ -]?cent|pp(?![a-z])|个?百分点|个点"
    "|折(?![扣旧合])|成(?![为交本功立果员绩长熟])"
)
ABOUT = "about|around|roughly|nearly|almost|some|approximately|only|just"
CURRENCY = "(?:[a-z]{0,3}[$€£¥₹₩]|usd|eur|gbp|rmb|cny|hkd)[ \u00a0]?"
BEFORE = re.compile(
    f"(?:[{DIGITS}]+|(?<![a-z0-9一-鿿-])[0-9]{{1,2}}[:/]|[0-9][.,'_]|(?<![a-z0-9一-鿿){CITED}])\\.|[0-9.]+e[+-]?|(?<![a-z])[oli]"
    f"|[{HAN}]分之[ \u00a0]?|[{TENS}]|√[ \u00a0]?|(?<![a-z])(?:square|cube) root of{GAP}"
    f"|(?<![a-z(])\\((?:in )?(?:{SCALE}|[百千万亿兆])\\)[:：]?{GAP}"
    f"|(?:[{SIGN}]|(?<![^\\s(|])–|(?<![a-z])(?:minus|negative)[:：]?{GAP}(?:(?:{ABOUT}){GAP})?|"
    f"(?<![自欠担抱辜胜])负(?:[ \u00a0约]|数|的)?|零下|(?<![a-z])neg\\.{GAP})(?:{CURRENCY})?)\\Z"
)
CLOSED = re.compile("[ \u00a0]?\\)(?P<cell>[ \u00a0]*\\|)?")
BRACKET = re.compile("(?:\\A|[\n|$€£¥₹₩]|usd|eur|元)[ \u00a0]?\\([ \u00a0]?\\Z")  # of an accountant's negative
AFTER = re.compile(
    f"(?!{GAP}(?:{FIGURES}))(?:(?P<per>{GAP}(?:{PER}))|(?P<times>{GAP}(?:倍|-?fold(?![a-z])))"
    f"|[{DIGITS}]+|[.,'_][0-9]+|:(?!1(?![0-9]))[0-9]{{1,2}}(?![0-9])|/[0-9]{{1,2}}(?![0-9])|e[+-]?[{DIGITS}]+"
    f"|[ \u00a0]?[×x*][ \u00a0]?[0-9]+"
    f"|[ \u00a0]{{1,2}}(?:00[0-9]*(?![0-9.])|[0-9]{{3}}(?![0-9]))|[oli]+(?![a-z])|余|分之|点[{HAN}]"
    f"|十(?!分)|京(?![东城沪津都])|[ \u00a0]?e[0-9]+|k?w(?![a-z])|[ -]odd(?![a-z])|[ \u00a0]余"
    "|多(?![样次元种地百千万亿兆])"
    f"|{GAP}(?:(?:{PARTS})(?![a-z])|{POWERS})|{GAP}\\((?:in |单位[:：]? ?)?(?:(?:{SCALE})(?![a-z0-9-])|[百千万亿兆])"
    f"|个?半(?!年|天|月|数)"
    f"|{GAP}(?:(?:{SCALE})(?![a-z0-9])|(?:[多余几数来个]|大)?[百千万亿兆])|[〇零])"
)
NOTE = re.compile("[¹²³⁴-⁹]+").fullmatch
JOINED = re.compile("[.,:'_e点\u00a0]?").fullmatch  # between two citations that state something
DIGITS_JOINED = re.compile(  # between two digits
    r"[.,:'_e点．·・‧/⁄∕]|[^\S\n]*[^\S \t\n][^\S\n]*|[ ,，](?=[0-9]{3}(?![0-9]))"
).match
MOST_BETWEEN = 4  # code points of what joins two citations
DECIMAL = frozenset("0123456789")
NEAR = 24  # code points on each side of a citation


class View(NamedTuple):
    """A text as it could be read, and for each of its places the place in the text that it was made from."""

    plain: Plain
    places: Sequence[int]


class Addition(NamedTuple):
    """What the author's words make of a citation, and where they stand: text[start:end]."""

    citation: int
    start: int
    end: int


def masked(text: str, citations: Iterable[tuple[int, int]]) -> str:
    """A text with placeholders for its citations, and without the brackets of footnote marks that lead nowhere."""
    parts, at = [], 0
    text = text.replace(CITED, " ")
    for start, end in citations:
        parts += [text[at:start], CITED * (end - start)]
        at = end
    whole = "".join([*parts, text[at:]]).replace("➖", "-")
    if "[" not in whole:
        return whole
    code, known = fenced(whole), set()
    for mark in DEFINED.finditer(whole):
        if not inside(mark.start(), code):
            known.add(mark[1])

    def bare(mark: re.Match[str]) -> str:
        numbered = mark[1][0] == "^" or any(fold(char) in DECIMAL for char in mark[1])
        return f" {mark[1].replace('^', ' ')} " if numbered and mark[1] not in known else mark[0]

    return NOTED.sub(bare, whole)


def without_links(text: str, view: View) -> View:
    """How a text is seen without the marks of its links and footnotes: what follows one stands beside what is in it."""
    return view if "](" not in text and "[^" not in text else seen(LINK.sub(lambda part: "\u200b" * len(part[0]), text))


def seen(text: str, inline: str = "") -> View:
    """A text as it is shown: tags of blocks and cells as a paragraph's end, others as nothing or as something else."""
    hidden = {char for char in set(text) if not fold(char)} if not text.isascii() else set()
    if not hidden and not MARKS(text):
        return View(Plain(text), range(len(text) + 1))
    parts: list[str] = []
    places: list[int] = []

    def take(shown: str, at: int, each: bool) -> None:
        if not each and shown and not shown.isascii() or hidden and not hidden.isdisjoint(shown):
            kept = [(char, at + index if each else at) for index, char in enumerate(shown) if fold(char)]
            parts.append("".join(char for char, _ in kept))
            places.extend(place for _, place in kept)
        else:
            parts.append(shown)
            places.extend(range(at, at + len(shown)) if each else [at] * len(shown))

    at = 0
    for match in MARKUP.finditer(text):
        if match[0][0] == "_" and in_word(text, *match.span()):
            continue  # as in a name
        take(text[at : match.start()], at, True)
        take(read(match[0], inline), match.start(), False)
        at = match.end()
    take(text[at:], at, True)
    places.append(len(text))
    return View(Plain("".join(parts)), places)


def in_word(text: str, start: int, end: int) -> bool:
    """Whether there are letters or digits on both sides of a part of a text."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


def read(markup: str, inline: str) -> str:
    """What is shown of a piece of markup."""
    if markup[0] == "<":
        if CELL.match(markup):
            return "\n|"
        return "\n\n" if BLOCK.match(markup) else inline
    return html.unescape(markup).replace(CITED, " ") if markup[0] == "&" else ""


def numbers(text: str, view: View, words: Iterable[str]) -> list[Numeral]:
    """The numbers that the words around the citations state, each at its place in the text, in their order.

    view is how the text is seen with tags as nothing.
    """
    known = list(words)
    found: dict[tuple[int, int], Numeral] = {}
    views = [view]
    if "<" in text:
        views += [seen(text, "\n"), *attributes(text)]
    for view in views:
        for numeral in find(view.plain, known):
            start, end = view.places[numeral.start], view.places[numeral.end - 1] + 1
            found.setdefault((start, end), numeral._replace(start=start, end=end))
    kept: list[Numeral] = []
    for (start, end), numeral in sorted(found.items(), key=lambda item: (item[0][0], -item[0][1])):
        if not kept or start >= kept[-1].end:
            kept.append(numeral._replace(text=text[start : max(end, end_of_entity(text, start, end))]))
            kept[-1] = kept[-1]._replace(end=start + len(kept[-1].text))
    return kept


def end_of_entity(text: str, start: int, end: int) -> int:
    """The end of a number whose last character is written as an entity."""
    match = MARKUP.match(text, end - 1)
    return match.end() if match and match[0][0] == "&" else end


def attributes(text: str) -> Iterator[View]:
    """What stands within tags and comments, entities read."""
    for match in re.finditer(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", text, re.DOTALL):
        view = seen(match[0].replace("<", " ").replace(">", " "))
        yield View(view.plain, [match.start() + place for place in view.places])


WORDS = {name.replace("-", " ") for name in currencies.NAMES} - {"rs", "won"}
MONEY = "|".join(map(re.escape, sorted(WORDS, key=lambda word: (-len(word), word))))
MONEY_BEFORE = re.compile(
    f"(?:(?<![a-z])(?P<money>{MONEY}){GAP}|\\((?:in )?(?P<bracketed>{MONEY})\\)[:：]?{GAP})\\Z"
)
CENTS = "cents?|pence|[分角](?![一-鿿])"
MONEY_AFTER = re.compile(f"{GAP}\\(?(?:in )?(?P<money>{MONEY}|{CENTS})(?![a-z])")
OTHER_DOLLAR = re.compile(r"(?<![a-z])(?:hk|nt|mx|nz|au?|ca?|sg?|r)\Z")  # HK before $12


def additions(
    view: View,
    citations: Sequence[tuple[int, int]],
    own: Sequence[str | None],
    stating: Sequence[bool],
    shown: Sequence[str],
) -> Iterator[Addition]:
    """What stands so close to a citation that its number would be another one: digits, signs, scales, units.

    own has for each citation the unit that it bears itself; None for one that may be given any. stating says which
    citations state anything that could be changed, shown what a reader sees of each.
    """
    text = as_written(view.plain)
    index = {place: number for number, (place, _) in enumerate(citations)}
    last = 0
    for match in re.finditer(f"{CITED}+", text):
        start = match.start()
        while start < match.end():
            number = index[view.places[start]]
            end = start + citations[number][1] - citations[number][0]
            for found in beside(text, max(start - NEAR, last), start, end, own[number]) if stating[number] else ():
                first, after = found.span()
                if not (first == last > 0 and found[0] == "-"):  # which stands between two citations
                    yield Addition(number, view.places[first], view.places[after - 1] + 1)
            following = text.find(CITED, end, end + MOST_BETWEEN + 1)
            if following >= 0:
                other = index[view.places[following]]
                both = stating[number] and stating[other]
                if are_one(shown[number], view.plain.original[end:following], shown[other], both):
                    whole = (view.places[end], view.places[following - 1] + 1) if following > end else citations[number]
                    yield Addition(number, *whole)
            start = last = end


def are_one(before: str, between: str, after: str, stating: bool) -> bool:
    """Whether two citations read as one number with what stands between them."""
    if stating and JOINED(between):
        return True
    if "|" in between or between.count("\n") > 1:
        return False
    between = between.replace("\n", " ")  # as a line's end is shown
    joined = DIGITS_JOINED(between + after)
    if before[-1:] in DECIMAL and after[:1] in DECIMAL and (not between or joined and joined.end() == len(between)):
        return True
    start, end = len(before), len(before) + len(between)
    return any(one.start < start and end < one.end for one in find(Plain(before + between + after)))


CHINESE_MARKS = "，：．！"


def as_written(plain: Plain) -> str:
    """The plain text with the commas and colons of Chinese prose, which group no digits and make no time of day."""
    if not any(char in plain.original for char in CHINESE_MARKS):
        return plain.text
    return "".join(own if own in CHINESE_MARKS else char for own, char in zip(plain.original, plain.text))


def beside(text: str, low: int, start: int, end: int, unit: str | None) -> Iterator[re.Match[str]]:
    """What stands before and after a citation and does not belong there."""
    last = text[start - 1 : start]
    suspect = SPACED if last == " " else LATIN if last.isascii() and last.isalpha() else ()
    found = None
    if not suspect or text.endswith(suspect, low, start):  # which nearly no word does, and patterns take their time
        money = MONEY_BEFORE.search(text, low, start)
        if money and money["money"] and money["money"] not in currencies.SIGNS and unit == "%":
            money = None  # the dollar rose by so many percent
        found = BEFORE.search(text, low, start) or in_brackets(text, low, start, end) or contradicting(money, unit)
        if not found and unit in SIGNS:
            found = OTHER_DOLLAR.search(text, low, start)
    if found:
        yield found
    if text[end : end + 1] in HARMLESS_AFTER:
        return
    found = AFTER.match(text, end)
    if found and found["per"] and is_own(found["per"], unit or "") and "%" not in found["per"]:
        found = None  # a sign would be the second one
    if found and found["times"] and (not unit or is_own("x", unit)):
        found = None
    if found and unit and unit not in SIGNS and NOTE(found[0]):
        found = None  # the mark of a footnote behind a unit is no exponent, and nothing is multiplied by !
    if found or (found := contradicting(MONEY_AFTER.match(text, end), unit)):
        yield found


def in_brackets(text: str, low: int, start: int, end: int) -> re.Match[str] | None:
    """The bracket before a citation that makes a negative number of it, in a cell or behind a currency."""
    closed, found = CLOSED.match(text, end), BRACKET.search(text, low, start)
    if not closed or not found:
        return None
    begins_line = found[0][0] not in "|$€£¥₹₩ue元"
    return None if begins_line and not closed["cell"] else found


WORDS_BEFORE = sorted({*WORDS, "minus", "negative", *ABOUT.split("|"), "root of"})
LATIN = (*WORDS_BEFORE, *(f"{digit}e" for digit in "0123456789."), *"o l i hk nt mx nz a au c ca s sg r us".split())
SPACED = tuple(f"{end} " for end in (*WORDS_BEFORE, *" \u00a0\t\r\n(-−$€£¥₹₩|:：)之负√"))
HARMLESS_AFTER = ("\ufffc", "；", "，", "。", "、", "：", "！", ";", "?", ")", "|")


def contradicting(found: re.Match[str] | None, unit: str | None) -> re.Match[str] | None:
    """A currency beside a citation that bears another unit."""
    if not found or not unit:
        return None
    words = found[found.lastgroup or 0]
    return found if not is_own(words, unit) else None


def is_own(words: str, unit: str) -> bool:
    return units.canonical(words.strip()) == units.canonical(unit)


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """What the author puts in quotation marks, citations aside, where it is long enough to be somebody's words."""
    if not QUOTING.search(text):
        return
    code = sorted(fenced(text) + spans(text, fenced(text)))
    plain = NO_PROSE.sub(lambda part: " " * len(part[0]), QUOTING.sub(one_mark, text))
    for match in QUOTED.finditer(plain):
        if inside(match.start(), code):
            continue
        for part in re.finditer(f"[^{CITED}]+", match[0][1:-1]):
            words = part[0].strip(" \n,.;:!?，。；：！？、…")
            if len(WORD.findall(words)) >= MOST_WORDS or len(HAN_CHARACTER.findall(words)) >= MOST_HAN:
                start = match.start() + 1 + part.start() + part[0].index(words)
                yield start, start + len(words)


def one_mark(found: re.Match[str]) -> str:
    """A straight quotation mark, as wide as what stands for one; other entities and marks as they are."""
    is_double = found[0][0] == "<" or html.unescape(found[0]) in DOUBLE
    return '"'.ljust(len(found[0])) if is_double else found[0]


DOUBLE = frozenset('"“”„‟«»‹›❝❞〝〞″＂')
QUOTING = re.compile(
    r"[\"“”„‟«»‹›❝❞〝〞″＂‘「『]|</?q(?:\s[^<>]*)?>|&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{1,8});", re.IGNORECASE
)
MOST_WORDS, MOST_HAN = 4, 8  # from which on words in quotation marks are a quote
WORD, HAN_CHARACTER = re.compile("[A-Za-z0-9]+(?:['’-][A-Za-z0-9]+)*"), re.compile("[一-鿿]")
INNER = r"(?:[^{}\n]|\n(?![ \t>]*\n))+"
QUOTED = re.compile(
    "|".join(f"{first}{INNER.format(first + last)}{last}" for first, last in ("‘’", "「」", "『』"))
    + rf'|(?<![A-Za-z0-9=])"{INNER.format(chr(34))}"(?![A-Za-z0-9])'
)
NO_PROSE = re.compile(
    r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>|\]\([^()\n]*\)|^[ >]*\[[^\]\n]+\]:[^\n]*|[*_`]+", re.DOTALL | re.MULTILINE
)
NEGATION = re.compile(
    "([不没未勿无]|(?<![区分特个级类辨])别|(?<!除)非|(?<![A-Za-z])(?:not|never|no)|n['’]t)[ \u00a0\n]?[\"“「『‘]?\\Z",
    re.IGNORECASE,
)


def hidden(text: str) -> Iterator[tuple[int, int]]:
    """Where control and direction characters stand, also as entities."""
    for match in CONTROL.finditer(text):
        yield match.span()
    for match in re.finditer("&#?[0-9a-zA-Z]+;?", text):
        if CONTROL.search(html.unescape(match[0])):
            yield match.span()


CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
