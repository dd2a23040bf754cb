"""Currencies: for each its one name, and the signs, codes and words by which texts and metrics call it."""

from __future__ import annotations

import re

CURRENCIES = {
    "元": ("¥ cn¥", "rmb cny", "人民币 元 块钱 yuan renminbi"),
    "$": ("$ us$", "usd", "美元 美金 us-dollars us-dollar u.s.-dollars u.s.-dollar dollars dollar bucks"),
    "€": ("€", "eur", "欧元 euros euro"),
    "£": ("£", "gbp", "英镑 pounds pound pounds-sterling"),
    "hk$": ("hk$", "hkd", "港元 港币 hong-kong-dollars hong-kong-dollar"),
    "nt$": ("nt$", "twd", "新台币 台币 taiwan-dollars taiwan-dollar"),
    "a$": ("a$ au$", "aud", "澳元 australian-dollars australian-dollar"),
    "c$": ("c$ ca$", "cad", "加元 canadian-dollars canadian-dollar"),
    "s$": ("s$ sg$", "sgd", "新元 singapore-dollars singapore-dollar"),
    "r$": ("r$", "brl", ""),
    "jpy": ("", "jpy", "日元 yen"),
    "₩": ("₩", "krw", "韩元 won"),
    "₹": ("₹", "inr", "卢比 rupees rupee rs rs."),
    "₽": ("₽", "rub", "卢布 rubles ruble roubles rouble"),
    "chf": ("", "chf", "瑞士法郎 swiss-francs swiss-franc"),
    "nzd": ("", "nzd", "新西兰元 new-zealand-dollars new-zealand-dollar"),
    "mop": ("", "mop", "澳门元"),
    "thb": ("฿", "thb", "泰铢 baht"),
    "myr": ("", "myr", "马来西亚林吉特 林吉特 rm ringgit"),
    "nok": ("", "nok", "挪威克朗 norwegian-kroner"),
    "sek": ("", "sek", "瑞典克朗 swedish-kronor"),
    "dkk": ("", "dkk", "丹麦克朗 danish-kroner"),
    "kr": ("", "", "kr kr. kroner kronor"),  # of one of the three
    "pln": ("", "pln", "zloty zlotys"),
    "zar": ("", "zar", ""),
    "idr": ("", "idr", ""),
    "vnd": ("₫", "vnd", ""),
    "aed": ("", "aed", ""),
    "mxn": ("", "mxn", ""),
    "₺": ("₺", "", ""),
}
NAMES = {
    written: name for name, kinds in CURRENCIES.items() for kind in kinds for written in kind.split()
}  # by all that they are called; several words have hyphens between them
CODES = frozenset(code for _, codes, _ in CURRENCIES.values() for code in codes.split())
SIGNS = frozenset(sign for signs, _, _ in CURRENCIES.values() for sign in signs.split())
LETTERS = frozenset(("rs", "rm", "kr"))  # that stand for a sign
CHINESE = frozenset(written for written in NAMES if written > "⺀")


def pattern(names: frozenset[str]) -> str:
    """A pattern for any of these names, the longest first."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name).replace(r"\-", "[ -]") for name in longest_first)


BEFORE = re.compile(
    f"(?:{pattern(SIGNS)}|(?<![a-z])(?:rs\\.?|kr\\.?|rm)|(?<![a-z/])(?:{pattern(CODES)})|"
    f"{pattern(CHINESE - {'元', '块钱'})})[ \u00a0]?$"
)
LAST_BEFORE = frozenset(name[-1] for name in SIGNS | CODES | CHINESE) | frozenset("smr.")  # the last ones of BEFORE
AFTER = re.compile(
    f"[ \u00a0-]?(?P<unit>(?:{pattern(CHINESE)})(?![a-z])|(?:{pattern(frozenset(NAMES) - CHINESE)})(?![a-z0-9_]))"
)
FIRST_AFTER = frozenset(name[0] for name in NAMES) | frozenset("-")  # the first characters of AFTER
LONGEST = max(map(len, NAMES)) + 1
