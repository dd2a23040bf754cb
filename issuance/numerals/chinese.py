"""Chinese numerals: their grammar as patterns over plain text, and the value of one numeral.

The plain text has simplified characters only. A numeral may mix characters and digits: 3万4000, 5亿1万4千6百.
"""

from __future__ import annotations

import re
from decimal import Decimal

TO_ASCII = str.maketrans("零〇一二三四五六七八九两", "001234567892")
SCALES = {"十": 10, "百": 10**2, "千": 10**3, "万": 10**4, "亿": 10**8, "兆": 10**12}
TENS = {"廿": "二十", "卅": "三十", "卌": "四十"}
ONE = Decimal(1)

ASCII = r"(?:[0-9]{1,3}(?:['\u00a0][0-9]{3})+|[0-9]+(?:,[0-9]{3})*)(?:\.[0-9]+)?"
GROUPING = str.maketrans("", "", ",'\u00a0")
DIGIT = "[一二三四五六七八九两]"
APPROXIMATE = "(?:[余多来](?![额下款地者数次自往于出]))"
SECTION = (  # a number below 万: each digit with its scale, the scales falling
    f"(?:{DIGIT}千)?[零〇]?(?:{DIGIT}百(?!分点))?[零〇]?"
    f"(?:(?:{DIGIT}?十|[廿卅卌])(?:{DIGIT}(?=十{DIGIT}))?)?[零〇]?(?:{DIGIT}(?![十百千]))?"
)
MIXED_SECTION = SECTION.replace(DIGIT, f"(?:{DIGIT}|{ASCII})")
DECIMALS = "(?:点[零〇一二三四五六七八九]+)"
NUMERAL = re.compile(
    "[一二三四五六七八九][〇零一二三四五六七八九]*〇[〇零一二三四五六七八九]*(?![十百千])[万亿]{0,2}"
    "|[〇零一二三四五六七八九]*[〇零][〇零一二三四五六七八九]+(?![十百千万亿])|[一二三四五六七八九]{3,}(?![十百千万亿折成])"
    f"|(?:{SECTION}{APPROXIMATE}?{DECIMALS}?[ \u00a0]?[万亿兆]+[零〇]?)*"
    f"{SECTION}{DECIMALS}?(?:{APPROXIMATE}?[万亿兆]+)?"
)
MIXED = re.compile(  # begins with digits, and has a scale
    f"(?:{ASCII}|\\.[0-9]+)[ \u00a0]?{APPROXIMATE}?(?:百(?!分点)|[千万亿兆])[百千万亿兆]*"
    f"(?:零?{MIXED_SECTION}{APPROXIMATE}?[万亿兆]+)*"
    f"(?:零?(?:(?:{DIGIT}|{ASCII})[百千])+|零?{DIGIT}[十百千]?{DIGIT}?(?![十百千点])|零?[0-9]+(?![0-9.,%:/年月日-]))?"
)
TOKEN = re.compile(f"{ASCII}|\\.[0-9]+|{DECIMALS}|[零〇一二三四五六七八九两]+|[十百千万亿兆]")


def read(numeral: str) -> tuple[Decimal, Decimal]:
    """The value of a numeral, and the size of its last digit.

    Characters widen that by a last scale of 千 or more only, digits by any scale. A last digit without a scale
    counts the scale below the one before it (两千五 is 2500) unless 零 precedes it.
    """
    for short, long in TENS.items():
        numeral = numeral.replace(short, long)
    closed: list[tuple[Decimal, int]] = []  # what 万, 亿 and 兆 have closed, each with its scale
    section, step = Decimal(0), ONE
    number: Decimal | None = None  # what waits for its scale
    digits = False  # whether that is in digits
    after_scale, below = False, 0  # below: what a last digit counts
    token = ""
    for following in TOKEN.findall(numeral):
        previous, token = token, following
        if token in SCALES:
            size = SCALES[token]
            step *= size if size >= 1000 or digits else 1
            if size < 10**4:
                section += size if number is None else number * size
            elif after_scale and closed and not section:  # 万亿
                closed[-1] = closed[-1][0] * size, size
            else:
                section += number or 0
                while closed and closed[-1][1] < size:  # 一万五千亿
                    section += closed.pop()[0]
                closed.append(((section or ONE) * size, size))
                section = Decimal(0)
            number, digits, after_scale, below = None, False, True, size // 10
            continue
        if token[0] == "点":
            if number and below >= 10 and len(previous) == 1:
                number *= below
            number = section + (number or 0) + sum(value for value, _ in closed)
            closed, section, digits = [], Decimal(0), True
            step = ONE.scaleb(1 - len(token))
            number += Decimal(token[1:].translate(TO_ASCII)) * step
        elif token[0] in "0123456789.":
            number, step, digits = Decimal(token.translate(GROUPING)), last_digit(token), True
        else:
            number, step, digits = Decimal(token.translate(TO_ASCII)), ONE, False
            if token[0] in "零〇":
                number, below = number or None, 0
        after_scale = False
    if number and below >= 10 and len(token) == 1:
        number, step = number * below, step * below if digits else step
    return section + (number or 0) + sum(value for value, _ in closed), step


def last_digit(written: str) -> Decimal:
    """The size of the last digit of a number such as 1,200.50."""
    _, _, decimals = written.partition(".")
    return ONE.scaleb(-len(decimals))


def read_digits(written: str) -> tuple[Decimal, Decimal]:
    """The value of a number in digits, without grouping, and the size of its last digit."""
    value = Decimal(written)
    return value, ONE.scaleb(int(value.as_tuple().exponent)) if "." in written or "e" in written else ONE


PLAIN_NUMBER = re.compile(f"{ASCII}|\\.[0-9]+")


def number_at(text: str, at: int) -> tuple[int, Decimal, Decimal]:
    """The end, the value and the size of the last digit of the number, in digits or characters, at a place."""
    if text[at] in "0123456789.":
        match = MIXED.match(text, at)
        if match:
            return match.end(), *read(match[0])
        match = PLAIN_NUMBER.match(text, at)
        if match:
            return match.end(), *read_digits(match[0].translate(GROUPING))
        return at + 1, Decimal(0), ONE
    if text[at] in "百千万":
        return at + 1, Decimal(SCALES[text[at]]), ONE
    match = NUMERAL.match(text, at)
    return (match.end(), *read(match[0])) if match and match[0] else (at + 1, Decimal(0), ONE)


TRAILING = re.compile("[十百千万亿兆]+$")


def scale_after(numeral: str, digits: str) -> Decimal | None:
    """The scale that follows the digits of a numeral, where that is all that follows them: 3.5万, 5百万."""
    trailing = TRAILING.search(numeral)
    if not trailing or numeral[: trailing.start()].rstrip(" \u00a0余多来") != digits:
        return None
    scale = ONE
    for char in trailing[0]:
        scale *= SCALES[char]
    return scale
