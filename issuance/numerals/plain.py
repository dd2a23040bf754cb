"""A text as the rules read it: one alphabet, one set of digits, nothing invisible; and the way back to the original.

Every character becomes one character or none. So a rule is written once, for lower-case ASCII and simplified
Chinese, and also finds what is written in full-width or Arabic digits, in look-alike letters, in traditional or
financial characters, or with a zero-width space inside.
"""

from __future__ import annotations

import bisect
import functools
import re
import unicodedata

SAME = {
    **dict(zip("−‐‑‒﹣﬩˗﹪٪٫٬’ʼ，∕⁄×", "-------%%.,''，//x")),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", "\u00a0"),  # the spaces that group digits
    **dict.fromkeys("\u115f\u1160\u3164\uffa0", ""),  # letters without a shape
    **dict.fromkeys("\u2028\u2029\x85\x0b\x0c", "\n"),
    **dict.fromkeys("∙⋅・･‧", "·"),
    "\t": "\t", "\n": "\n", "\r": "\r", "İ": "i", "ı": "i",
    # Cyrillic and Greek letters that look like Latin ones
    "○": "〇", "․": ".", "﹪": "%",
    **dict(zip(
        "аеорсухіѕԁһкмтвнАЕОРСУХІЅКМТВНοινρτκΑΒΕΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxisdhkmtbhaeopcyxiskmtbhoivptkabehikmnoptyx",
    )),
    # traditional and financial characters that only numerals, units and their neighbours need
    **dict(zip(
        "壹弌貳贰貮弍叁弎陸柒捌玖佰仟萬億兩倆俩點負餘個幾雙對減虧損漲長圓圆塊號圖"
        "週數約達從單筆門間張臺台幣種類條項區業員買鐘時過僅隻蝕東車輛雲歐鎊韓盧國",
        "一一二二二二三三陆七八九百千万亿两两两点负余个几双对减亏损涨长元元块号图"
        "周数约达从单笔门间张台台币种类条项区业员买钟时过仅只蚀东车辆云欧镑韩卢国",
    )),
}
# Financial characters that are other words as well: 队伍, 放肆, 大陆, 收拾, 参加.
CAPITALS = {"伍": "五", "肆": "四", "陆": "六", "拾": "十", "参": "三", "參": "三"}
CAPITAL = re.compile(
    "[伍肆陆拾](?<![队退入落]伍)(?<![放酒书]肆)(?<![大内登着海水新]陆)(?<![收捡俯]拾)(?![仁员意虐无地续军运取到起捡])(?!家(?:乐|园|庄))"
    "|[参參](?=[拾佰仟万亿百千十])"
)
FULL_WIDTH_COMMA = re.compile("，(?<=[０-９]，)(?=[０-９]{3})")
ASTERISKS = re.compile(r"\*{1,3}")
DECIMAL_POINT = re.compile(  # 52·5 and 5点20万, but not “3·15” and 5点20
    "(?<=[0-9])·(?=[0-9])(?!(?:(?<=[“\"‘'「『][0-9]·)|(?<=[“\"‘'「『][0-9]{2}·))[0-9]{1,2}[”\"’'」』](?![万亿千百元%家]))"
    "(?![0-9]{1,2}(?:晚会|消费|维权|大促|活动|期间|当天|购物|地震|事变|惨案|讲话|假期|国庆|劳动|阅兵|[购狂]))"
    "|(?<=[0-9])点(?<![午晚早上晨夜][0-9]点)(?<![午晚早上晨夜][0-9]{2}点)"
    "(?=[0-9]{1,20}[ \u00a0]?(?:[万亿千百元块%倍折成]|个?百分点|[美欧港日]元))"
)
DIGIT_O = re.compile("o(?<=[0-9]o)o*(?=[0-9o]{0,20}(?![a-z0-9']))")  # the letter in place of the digit: 12O
DIGIT_L = re.compile("[li](?<![a-z0-9._-].)(?=o?0[0o]+(?![a-z0-9']))")  # and in place of the 1: l00, but not i7
WHOLE_TEXT_IS_PLAIN = re.compile(r"[\t\n\r -~]*").fullmatch


class Plain:
    """text: the plain text; original: the text it came from; at and span lead from one to the other."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.items: frozenset[int] | None = None  # where list markers may stand, once markup has looked
        self.removed: list[int] = []  # for each removed character, the plain position of what follows it
        if "*" in original:
            original = ASTERISKS.sub(without_emphasis, original)
        if WHOLE_TEXT_IS_PLAIN(original):
            self.text = with_digits(original.lower())
            return
        if "，" in original:
            original = FULL_WIDTH_COMMA.sub(",", original)  # as in １，２３４
        table = {ord(char): fold(char) for char in set(original)}
        self.text = with_digits(original.translate(table))
        if "·" in self.text or "点" in self.text:
            self.text = DECIMAL_POINT.sub(".", self.text)
        if CAPITALS.keys() & set(table.values()):
            self.text = CAPITAL.sub(lambda match: CAPITALS[match[0]], self.text)
        invisible = [chr(code) for code, char in table.items() if not char]
        if invisible:
            gone = re.finditer("[" + re.escape("".join(invisible)) + "]", original)
            self.removed = [match.start() - count for count, match in enumerate(gone)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The code points of the original that a non-empty part of the plain text came from, end exclusive."""
        if not self.removed:
            return start, end
        last = end - 1
        return start + bisect.bisect(self.removed, start), end + bisect.bisect(self.removed, last)

    def is_capital(self, at: int) -> bool:
        """Whether at a place of the plain text, which may be past its end, a capital stands in the original."""
        start = self.span(at, at + 1)[0]
        return self.original[start : start + 1].isupper()


def with_digits(text: str) -> str:
    """The text with digits for the letters that stand in their place."""
    if "0" in text and any(pair in text for pair in ("l0", "i0", "lo0", "io0")):
        text = DIGIT_L.sub("1", text)
    return DIGIT_O.sub(lambda letters: "0" * len(letters[0]), text)


def without_emphasis(asterisks: re.Match[str]) -> str:
    """As many invisible characters for asterisks that are Markdown's emphasis; themselves where they multiply."""
    text, end = asterisks.string, asterisks.end()
    before, after = text[asterisks.start() - 1 : asterisks.start()], text[end : end + 1]
    if before.isalnum() and after.isalnum() and before < "⺀" and after < "⺀":
        return asterisks[0]
    opens = not after.isspace() and after != "*" and not (before.isdigit() or before in tuple(")*"))
    word_after = after.isascii() and after.isalnum()
    closes = not (before.isspace() or before == "*" or word_after or after in tuple("(*"))
    return "\u200b" * len(asterisks[0]) if after and opens or before and closes else asterisks[0]


# The zeros of all scripts that have decimal digits; Python's own list grows from version to version.
ZEROS = [
    int(code, 16)
    for code in (
        "660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 "
        "1a90 1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 10d40 11066 110f0 11136 "
        "111d0 112f0 11450 114d0 11650 116c0 116d0 116da 11730 118e0 11950 11bf0 11c50 11d50 11da0 11f50 "
        "16130 16a60 16ac0 16b50 16d70 1ccf0 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1e140 1e2f0 1e4f0 1e5f1 1e950 "
        "1fbf0"
    ).split()
]
DIGITS = {chr(zero + digit): str(digit) for zero in ZEROS for digit in range(10)}
UNICODE = unicodedata.ucd_3_2_0  # the same in every Python
INVISIBLE = re.compile(  # what Unicode has added since, or counts otherwise
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
)
KNOWN = frozenset("₹₺₽₿⅐⅑⅒↉")


def is_hidden(char: str) -> bool:
    """Whether a character does not show, or changes how others show: controls, formats, surrogates."""
    return bool(INVISIBLE.match(char)) or UNICODE.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def is_letter_or_digit(char: str) -> bool:
    """The same in every Python; what Unicode has added since counts as a letter."""
    return char.isalnum() if char.isascii() else UNICODE.category(char)[0] in "LN" or UNICODE.category(char) == "Cn"


@functools.cache
def fold(char: str) -> str:
    """The one character that the rules read in place of this one, or none. The same in every Python."""
    if char in SAME:
        return SAME[char]
    if char in DIGITS:
        return DIGITS[char]
    category = UNICODE.category(char)
    if is_hidden(char) or category in ("Mn", "Me"):
        return ""
    if category == "Zs":
        return " "
    if category == "Cn":
        return char if char in KNOWN or char >= "\U00020000" else "¤"
    form = UNICODE.normalize("NFKC", char) if category[0] in "LSP" else char
    return (form if len(form) == 1 else char).lower()[:1]
