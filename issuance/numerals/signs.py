"""What stands before a number and belongs to it: signs, currencies, and the brackets of accounting negatives."""

from __future__ import annotations

import re

from issuance.numerals import currencies
from issuance.numerals.draft import Draft

SIGNS = {"-": -1, "+": 1}
MAY_BELONG = currencies.LAST_BEFORE | frozenset("-+–负 \u00a0")
MINUS = ("minus ", "negative ", "minus\u00a0", "negative\u00a0")
BEFORE_ANOTHER = frozenset("欠抱自胜担不")  # 抱负三 has no negative number


def take_sign(text: str, draft: Draft) -> Draft:
    """Take along the sign and the currency before a number, in either order."""
    if text[draft.start - 1] not in MAY_BELONG:
        return draft
    take_sign_at(text, draft, draft.start)
    start = draft.start
    last = text[start - 2] if text[start - 1] in " \u00a0" else text[start - 1]
    currency = currency_before(text, start) if last in currencies.LAST_BEFORE else None
    if currency:
        draft.take_currency(currency)
        if not draft.signed:
            take_sign_at(text, draft, currency.start())
    return draft


def currency_before(text: str, at: int) -> re.Match[str] | None:
    return currencies.BEFORE.search(text, max(at - currencies.LONGEST, 0), at)


def take_sign_at(text: str, draft: Draft, at: int) -> None:
    """Take along the sign or the word for it that ends at a place."""
    before = text[at - 1]
    sign, start = 0, at
    if before in SIGNS or before == "–":
        sign, start = sign_at(text, at - 1), at - 1
    elif before == "负" or before == " " and text[at - 2] == "负":
        start = text.rindex("负", 0, at)
        sign = 0 if text[start - 1] in BEFORE_ANOTHER else -1
    elif before in " \u00a0":
        if text.endswith(MINUS, max(at - 9, 0), at) and not text.endswith("plus or minus ", max(at - 14, 0), at):
            sign, start = -1, at - (6 if text[at - 6] == "m" else 9)
        elif text.endswith(" to plus ", max(at - 9, 0), at):
            sign, start = 1, at - 5
    if sign:
        draft.start, draft.signed = start, True
        draft.value = draft.value if sign > 0 else draft.value.copy_negate()


ONE_END = re.compile(  # of a range: 10万-20万元, 3家-5家
    "[0-9一二三四五六七八九十百千万亿两半]"
    "(?:[%‰]|个?基点|欧元|港元|港币|日元|英镑|人民币|块|吨|公斤|千克|升|平方米|人次|家|个|名|人|天|年|月|元|美元|件|单|次|台|个月|小时|分钟|个百分点|百分点|周|度|米|公里|岁|倍|成|折|分)?$"
)


def sign_at(text: str, at: int) -> int:
    """1 or -1 where a sign stands at a place, and not a dash between two things; otherwise 0."""
    char, before = text[at], text[at - 1]
    if char == "–":
        return -1 if before in " \u00a0\n(|" and not text[at - 2].isdigit() else 0
    if before in "-+%)]'’" or text[at - 2 : at] == "+/" or before.isalnum() and before < "⺀":
        return 0
    if before == "." and text[at - 2].isalnum():
        return 0
    return 0 if ONE_END.search(text, max(at - 8, 0), at) else SIGNS[char]


CELL_ENDS = re.compile("[ \u00a0]*(?:%|‰|bps?|pp|x|k|mn?|bn?)?[ \u00a0]*[|\n]")


def begins_cell(text: str, at: int) -> bool:
    return text[max(at - 40, 0) : at].rstrip(" \u00a0").endswith("|")


def take_brackets(text: str, draft: Draft) -> bool:
    """Take along brackets that make an accounting negative: directly after a currency, or alone in a table cell."""
    opening = (draft.money[0] if draft.money and draft.money[0] < draft.start else draft.start) - 1
    if text[opening] != "(" or draft.signed or draft.value < 0:
        return False
    currency = currency_before(text, opening)
    if currency and not draft.unit:
        draft.take_currency(currency)
    elif text[draft.end + 1] != "%" and not (begins_cell(text, opening) and CELL_ENDS.match(text, draft.end + 1)):
        return False
    draft.start, draft.end, draft.value, draft.signed = opening, draft.end + 1, -draft.value, True
    return True
