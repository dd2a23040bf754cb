"""What stands behind a number and belongs to it: scales, percent, multiples, tenths, approximations and units."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable
from decimal import Decimal

from issuance.numerals import chinese, currencies, english
from issuance.numerals.draft import HALF, HUNDREDTH, ONE, TENTH, Draft
from issuance.numerals.plain import Plain

SCALES = {
    **{word: Decimal(size) for word, size in english.SCALES.items()},
    "k": Decimal(10**3),
    **dict.fromkeys(("m", "mn", "mm", "mln", "mil", "mio"), Decimal(10**6)),
    **dict.fromkeys(("bn", "b", "bln"), Decimal(10**9)),
    **dict.fromkeys(("tn", "t", "tln", "trn"), Decimal(10**12)),
    "打": Decimal(12),
}
GAP = "(?:[ \u00a0-]|[ \u00a0]?\n[ \t>]{0,8})?"  # what may stand between a number and its scale or percent
END = "(?![a-z0-9_²³])"
DOZEN = "打(?![折造扮击开包算])"
POINTS = "[ \u00a0]{0,3}个?[ \u00a0]?百[ \u00a0]?分[ \u00a0]?点"
SUFFIX = re.compile(
    "|".join(
        (
            r"[ \u00a0]?(?P<basis>[-个]?bps?\b|-?basis[ \n-]{1,3}(?:points?|pts?)\b|b\.p\.|个?基点)",
            f"(?P<short>(?:k|mln|mil|mio|mn|mm|m|bn|bln|b|tn|tln|trn|t){END})",
            f"{GAP}(?P<long>(?:{'|'.join(sorted(english.SCALES, reverse=True))}){END})",
            f"[ \u00a0](?P<spaced>(?:mln|mil|mn|mm|bn|bln|tn|tln|k|m|b){END})",
            f"(?P<characters>(?<=[)半])(?:百(?!分)|[千万亿兆])[百千万亿兆]{{0,2}})|(?P<dozen>{DOZEN})|(?P<hundred_million>个(?P<and_more>[余多])?亿)",
            rf"(?P<percent>{GAP}(?:%|percentage[ \n-]{{1,3}}points?\b|per[ \u00a0-]?cent(?:age)?s?\b(?:[ -]points?\b)?"
            rf"|pct\b\.?(?: points?\b)?|pp(?:ts?|s)?\b|pcts\b|p\.p\.)|{POINTS})",
            r"[ \u00a0]?(?P<mille>‰|per[ \u00a0]mille\b|个?千分点)",
            r"(?P<of_percent>(?: of)? (?:an?|one) (?:percentage[ -]point|per ?cent|percent)\b)",
            rf"(?P<times>x{END}|[ \u00a0\n]times\b(?!,? (?:a|an|per|each|every|daily|weekly)\b)|-times\b"
            r"|[ \u00a0-]?fold\b|[ \u00a0]?倍(?![数频]))",
            r"[ \u00a0]?(?P<tenths>成(?![为功立本交员长绩果都就效熟品形分])"
            r"(?:[ \u00a0]?(?P<more>[一二三四五六七八九1-9])(?![0-9.家个年月%成])|(?P<half>半))?)",
            r"[ \u00a0]?(?P<discount>折(?![叠旧合射返]))",
            r"(?P<odd>[- ]odd\b|[余多](?![额下款地者数次自往边重样种少方于出])|来(?=[家个人万名件单天年]))",
            "(?P<and_half>(?:个|年|天|周|小时|米|元|块|分)?半(?![年导])(?<=[个年天周时倍米元块分]半))",
            r"(?P<tenths_of_yuan>块[一二三四五六七八九])(?=[钱。,、;.!? \n)])",
            "(?P<odd_after>(?:年|个|天|周|小时|元|米|公里)?多(?![种样])(?<=[个年天周时倍米元里]多))",
        )
    ),
    re.ASCII,
)
FIRST_OF_SUFFIX = frozenset("q千万亿兆分pkmbtnlhdcpx%‰个百千基倍番成折余多来年天周小米元公块-f \u00a0\n打半")
SECOND_OF_SUFFIX = frozenset("abcdefghijklmnopqrstuvwxyz%‰个百千基倍成折 \u00a0\n>\t") | {""}

FIRST = FIRST_OF_SUFFIX | currencies.FIRST_AFTER


def take_unit(text: str, draft: Draft, unit_after: re.Pattern[str] | None, plain: Plain) -> None:
    """Take along what follows a number, as far as it belongs to it; then its currency or unit."""
    if not unit_after and text[draft.end] not in FIRST:
        return
    while (following := text[draft.end]) in FIRST_OF_SUFFIX:
        if following in " \u00a0-\n" and text[draft.end + 1 : draft.end + 2] not in SECOND_OF_SUFFIX:
            break
        match = SUFFIX.match(text, draft.end)
        if not match or not take_suffix(draft, match, plain):
            break
        draft.end = match.end()
        if match["long"]:
            take_part(text, draft)
    if text.startswith(("-and-a-", " and a half"), draft.end):
        take_part(text, draft)
    if draft.unit or draft.fraction:
        return
    unit = unit_after.match(text, draft.end) if unit_after else None
    if not unit and text[draft.end + (text[draft.end] in " \u00a0")] in currencies.FIRST_AFTER:
        unit = currencies.AFTER.match(text, draft.end)
    if unit:
        draft.unit, draft.money = unit["unit"], unit.span("unit")


def take_suffix(draft: Draft, match: re.Match[str], plain: Plain) -> bool:
    """Apply what stands behind a number to it; False where it does not belong to it."""
    kind = match.lastgroup or ""
    if kind in ("short", "long", "spaced", "dozen"):
        return take_scale(draft, match[kind], kind, match.end(), plain)
    if kind == "characters":
        draft.scale, draft.scaled = draft.scale * (chinese.scale_after(match[0], "") or ONE), True
    elif kind == "hundred_million":
        draft.scale, draft.scaled = draft.scale * 10**8, True
        draft.approximate = draft.approximate or match["and_more"] is not None
    elif kind in ("odd", "odd_after"):
        small = match[0] in "余多来" and draft.value < 10 and not draft.scaled and not draft.unit
        if draft.approximate or draft.fraction or small and kind == "odd":
            return False
        draft.approximate = True
    elif kind == "tenths_of_yuan":
        if draft.scaled or draft.step != 1:
            return False
        draft.value, draft.step = draft.value + int(match[kind][1].translate(chinese.TO_ASCII)) * TENTH, TENTH
    elif kind == "and_half":
        draft.value, draft.step = draft.value + HALF, TENTH
    elif draft.unit in ("%", "x") or draft.fraction and kind == "times" or kind == "of_percent" and not draft.fraction:
        return False
    elif kind in PERCENT:
        draft.unit, draft.fraction, draft.scale = "%", False, draft.scale * PERCENT[kind]
    elif kind == "times":
        draft.unit = "x"
    else:
        take_tenths(draft, match)
    return True


PERCENT = {"percent": ONE, "of_percent": ONE, "mille": TENTH, "basis": HUNDREDTH}
HOURS = re.compile("[0-9]h ?$")


def take_scale(draft: Draft, word: str, kind: str, end: int, plain: Plain) -> bool:
    """Apply a scale word or letter; a letter is one only in company: "2.5 M", "$5 m", "$2B"."""
    if draft.unit in ("%", "x") or kind == "short" and draft.scaled or draft.fraction and kind in ("short", "spaced"):
        return False
    if word in ("t", "mm", "mil") and not draft.unit or word == "b" and kind == "spaced" and not draft.unit:
        return False  # tonnes, millimetres
    if kind == "spaced" and word in ("m", "k") and not draft.unit and not plain.is_capital(end - 2):
        return False
    if word == "m" and HOURS.search(plain.text, max(draft.start - 6, 0), draft.start - 1):
        return False  # 2h 30m
    draft.scale, draft.scaled, draft.fraction = draft.scale * SCALES[word], True, False
    return True


def take_tenths(draft: Draft, match: re.Match[str]) -> None:
    """成 and 折 are tenths: 三成五 is 35 %, 七五折 and 75折 are 75 %."""
    if match["more"] or match["half"]:
        part = 5 if match["half"] else int(match["more"].translate(chinese.TO_ASCII))
        draft.value, draft.step = draft.value + part * TENTH, TENTH
    elif match["discount"] and draft.value > 10 and draft.step == 1:
        draft.value, draft.step = draft.value * TENTH, TENTH
    draft.unit, draft.scale = "%", Decimal(10)


AND_PART = re.compile(r"[ -]and[ -](?:a|one)[ -](half|quarter)\b")
AND_NUMBER = re.compile(
    rf" and ((?:{'|'.join(english.ONES)}) hundred|(?:{'|'.join(english.TENS)})(?:-[a-z]+)?|{'|'.join(english.TEENS)}|"
    rf"{'|'.join(english.ONES)}|[0-9]{{1,2}})(?![0-9a-z,.]|[ -](?:{'|'.join(english.SCALES)}))"
)


def take_part(text: str, draft: Draft) -> None:
    """Take along what "3 million and a half" and "3 hundred and one" end with."""
    if (draft.scale >= 1000 or draft.step == 1 and draft.scale == 1) and (part := AND_PART.match(text, draft.end)):
        draft.value += HALF if part[1] == "half" else HALF * HALF
        draft.step, draft.end = TENTH, part.end()
    elif draft.scale in (100, 10**7) and draft.step == 1 and (rest := AND_NUMBER.match(text, draft.end)):
        reading = None if rest[1].isdigit() else english.read(rest[1].replace("-", " ").split())
        draft.value = draft.value * draft.scale + (reading.value if reading else Decimal(rest[1]))
        draft.scale, draft.step, draft.end = ONE, ONE, rest.end()


def unit_pattern(units: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern for the unit words that metrics declare, the longest first; None for no units.

    It branches at the first character, so that many units cost little more than few.
    """
    named = {unit for unit in units if unit and not unit[0].isdigit()}
    words = sorted(named, key=lambda unit: (unit[0], -len(unit), unit))
    if not words:
        return None
    groups = itertools.groupby(words, key=operator.itemgetter(0))
    branches = (f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in group)})" for first, group in groups)
    return re.compile(f"[ \u00a0-]?(?P<unit>{'|'.join(branches)}){END}")
