"""Units as metrics declare them and texts write them: which are one unit, and the scale that a unit may carry."""

from __future__ import annotations

import functools
import re
from decimal import Decimal

from issuance.numerals import currencies
from issuance.numerals.plain import Plain

PERCENT = (
    "percent percents per-cent pct pp ppt ppts percentage-point percentage-points percentage p.p. 百分点 个百分点 "
    "百分比"
)
SYNONYMS = {
    **{name: name for name in currencies.CURRENCIES},
    **currencies.NAMES,
    **dict.fromkeys(["%", *PERCENT.split()], "%"),
    **dict.fromkeys("x times time 倍 fold".split(), "x"),
}
SCALED = {
    **dict.fromkeys(("bps", "bp", "basis-points", "basis-point", "基点", "个基点"), ("%", Decimal("0.01"))),
    **dict.fromkeys(("‰", "千分点"), ("%", Decimal("0.1"))),
}
WHOLE = frozenset("千克 千米 千瓦 千瓦时 千卡 百分 百帕 千帕 兆瓦 兆瓦时 兆 万有 百货 千牛".split())
LETTERS = {
    **dict.fromkeys(("k", "thousand", "thousands"), 3),
    **dict.fromkeys(("m", "mn", "mm", "million", "millions"), 6),
    **dict.fromkeys(("b", "bn", "billion", "billions"), 9),
    **dict.fromkeys(("tn", "trillion"), 12),
    "lakh": 5,
    "crore": 7,
}
CHARACTERS = {"十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "兆": 12}
CHINESE_SCALE = re.compile("([十百千万亿兆]+)(.*)")
BARE = frozenset(("k", "mn", "bn", "tn"))
CODE_AND_SCALE = re.compile(f"^({'|'.join(sorted(currencies.CODES))})(k|mn?|bn?|tn)$")
WORDS_AND_SIGNS = re.compile("[a-z.]+|[^a-z. -]+")
ONE = Decimal(1)


@functools.cache
def canonical(unit: str) -> tuple[str, Decimal]:
    """The one name of a unit, and what a value in it is multiplied by: ("元", 10000) for 万元, ("$", 1000) for $k."""
    text = Plain(unit).text.strip().replace(" of ", " ")
    if unit.strip() == "M":
        text = "million"  # and m is a metre
    name = "-".join(text.split())
    if name in SYNONYMS:
        return SYNONYMS[name], ONE
    if name in SCALED:
        return SCALED[name]
    scaled = CHINESE_SCALE.fullmatch(name)
    if scaled and name not in WHOLE and not scaled[2].startswith("分"):
        base, inner = canonical(scaled[2]) if scaled[2] else ("", ONE)
        return base, inner * ONE.scaleb(sum(CHARACTERS[char] for char in scaled[1]))
    parts = WORDS_AND_SIGNS.findall(CODE_AND_SCALE.sub(r"\1 \2", text))
    for index in (0, len(parts) - 1):
        rest = [part for place, part in enumerate(parts) if place != index]
        if not parts or parts[index] not in LETTERS:
            continue
        is_money = canonical("".join(rest))[0] in currencies.CURRENCIES
        if len(parts[index]) > 2 or text in BARE or is_money:
            base, inner = canonical(" ".join(rest)) if rest else ("", ONE)
            return base, inner * ONE.scaleb(LETTERS[parts[index]])
    return singular(name), ONE


def singular(name: str) -> str:
    if not name.isascii() or len(name) < 4 or name.endswith("ss") or not name.endswith("s"):
        return name
    return name[:-2] if name.endswith(("xes", "sses", "ches", "shes")) else name[:-1]


def words(unit: str) -> list[str]:
    """The words of plain text by which a number says that it is in this unit, where find() does not know them."""
    base, _ = canonical(unit)
    if not base or base in SYNONYMS.values():
        return []
    text = Plain(unit).text.strip()
    found = {text, base, base.replace("-", " ")}
    if base.isascii() and base[-1:].isalpha():
        found.add(base + ("es" if base.endswith(("s", "x", "ch")) else "s"))
    return sorted(found - {""})
