"""Reading Chinese numerals in a text, and knowing dates, names, idioms and figures of speech from them.

Each reader gets the plain text, which begins and ends with a line break, and the place of a character.
"""

from __future__ import annotations

import functools
import re
from decimal import Decimal

from issuance.numerals import chinese, exclusions
from issuance.numerals.draft import DIVISION, HALF, HUNDREDTH, ONE, TENTH, Draft, Reading
from issuance.numerals.exclusions import MEASURE
from issuance.numerals.markup import begins_item
from issuance.numerals.plain import Plain
from issuance.numerals.signs import take_sign
from issuance.numerals.suffixes import DOZEN, POINTS

# The characters that a numeral starts with, and those that something starts with that holds numerals and is none.
FIRST_CHARACTER = (
    "[〇零一二三四五六七八九十百千万亿两廿卅卌半第几]|前(?=[ \u00a0]?[0-9一二三四五六七八九十百])|"
    "[周期拜][一二三四五六日天]|"
    "数[十百千万亿]|上[百千万亿午]|[下中]午|[晚早][上间晨]?[0-9零一二三四五六七八九十]|凌晨|清晨|傍晚|夜里|半夜|深夜|"
    "正月|腊月|大年|民国|双[十旦倍]|其[一二三四五六]|[初老][一二三四五六七八九十]|成[百千]|好几|若干|翻|减半|腰斩|对[半折]|"
    "不[三二怕]|再[三四]|"
    "[乱杂横接丢颠朝推举低说隔独略](?=.{0,3}[一二三四五六七八九])"
)
DIGIT_OF = {**dict(zip("一二三四五六七八九", range(1, 10))), "两": 2}
NEXT_UNIT = re.compile(
    f"[ \u00a0]?(?:{MEASURE}|[成折倍番%‰]|日(?:之?内|均)|分(?:[零一二三四五六七八九十0-9]{{1,3}}秒|钟|半))"
    f"|{POINTS}|{DOZEN}"
)
SPEAKS_OF = re.compile(
    "(?:负|比|扣|历时|耗时|为期|为|是|达|至|到|共|计|仅|只有|超|近|约|了|等于|从|由|得|有)[ \u00a0]?$"
)
ENDS = re.compile(r"[ \u00a0]+[a-z]|[ \u00a0]?(?:[^\w \u00a0]|\n|而|却|和|与|的|或|这)")
BEGINS = re.compile("[\n ,，。、;:(“\"「~–-]$")
RANGE_AHEAD = re.compile(
    "[ \u00a0]?(?:至|到|~|-|或|–|—)[ \u00a0]?[一二三四五六七八九十两0-9]{1,8}[ \u00a0]?[^日号月点季 \n]"
    "|比[一二三四五六七八九十]"
    "|、[二三四五六七八九十][十百千万亿成倍家个名人单件]"
)


def read_chinese(text: str, at: int, drafts: list[Draft], plain: Plain) -> Reading:
    """A number in Chinese characters, or the end of what only looks like one."""
    if percent := PERCENT.match(text, at):
        return read_percent(text, at, percent, drafts)
    if text[at - 1] in MAY_BEGIN and (marker := marker_end(text, at, plain)):
        return marker
    if excluded := exclusions.AT_CHINESE.match(text, at):
        return excluded.end()
    if special := SPECIAL.match(text, at):
        return read_special(text, special)
    if text[at] == "一" and text[at - 1] in "统唯划归合专同":
        return at + 1
    if round_number := ROUND.match(text, at):
        draft = Draft(at, round_number.end(), ONE, ONE)
        draft.scale, draft.scaled = chinese.scale_after(round_number[0], "") or ONE, True
        return take_sign(text, draft)
    match = chinese.NUMERAL.match(text, at)
    numeral = match[0] if match else ""
    if not numeral:
        return at + 1
    end = at + len(numeral)
    if numeral[-1] in "万亿" and (more := THEN_DIGITS.match(text, end)):
        numeral, end = numeral + more[0], more.end()  # 一亿2000万
    if text.startswith(("分之", "分 之", " 分之"), end):
        value, step = chinese.read(numeral)
        parts = read_parts(text, at, end, value)
        return Draft(at, end, value, step) if isinstance(parts, int) else parts
    if pair := read_pair(text, at, numeral):
        drafts.append(pair[0])
        return pair[1]
    if len(numeral) == 1 and numeral in DIGIT_OF and text[end] in DIGIT_OF:
        return read_decimal_discount(text, at)
    if numeral[0] in "万亿兆":  # 万三 and the like are fees of ten thousandths
        return at + len(numeral) - len(numeral.lstrip("万亿兆 \u00a0"))
    if len(numeral) == 1 and numeral not in "廿卅卌" and not is_single(text, at, numeral):
        return end
    draft = Draft(at, end, *chinese.read(numeral))
    draft.scaled = draft.step >= 1000
    draft.approximate = any(char in numeral for char in "余多来")
    return take_sign(text, draft)


MAY_BEGIN = frozenset("\n( \u00a0\t>#")
MARKER = re.compile(
    "\n[ \t\u00a0>]*(?:[-*+] +|(#)#* *)?(?:[一二三四五六七八九十]{1,3}、|\\([一二三四五六七八九十]{1,3}\\))"
)


def marker_end(text: str, at: int, plain: Plain) -> int:
    """The end of a list marker such as 一、 or （一） that the characters at a place are, 0 where they are none."""
    line = text.rfind("\n", max(at - 12, 0), at)
    marker = MARKER.match(text, line) if line >= 0 else None
    if not marker or marker.end() <= at:
        return 0
    return marker.end() if marker[1] or begins_item(text, line, plain) else 0


THEN_DIGITS = re.compile("(?=[0-9])(?:[0-9]+[千百]?[万亿])?(?:[0-9]+千)?(?:[0-9]+百)?(?:[0-9]+(?![0-9.,%]))?")
PERCENT = re.compile(
    "(十?[百千万亿]{1,4})[ \u00a0]{0,3}分[ \u00a0]?之[ \u00a0]*(负?)(?=[0-9〇零一二三四五六七八九十百两.])"
)
ROUND = re.compile(
    f"[百千万亿]{{2,4}}(?!级)(?={MEASURE}|大关)|(?<=破)[百千万亿]{{2,4}}|(?<=[过破近超])亿(?=元)|"
    f"[百千](?=余{MEASURE})"
)


def read_percent(text: str, at: int, percent: re.Match[str], drafts: list[Draft]) -> Reading:
    """百分之三十, 千分之三: the number of percent."""
    scale = 2 - sum("十百千万亿".index(char) + 1 + 3 * (char == "亿") for char in percent[1])
    end, value, step = chinese.number_at(text, percent.end())
    draft = Draft(at, end, -value if percent[2] else value, step, "%")
    draft.scale = ONE.scaleb(scale)
    if pair := read_pair(text, percent.end(), text[percent.end() : end]):  # 百分之七八十
        pair[0].start = at
        pair[0].unit = pair[1].unit = "%"
        drafts.append(pair[0])
        return pair[1]
    return take_sign(text, draft)


SPECIAL = re.compile(
    f"(?P<point>半{POINTS})|(?P<half>一半|半数|对半|减半|腰斩|(?<=过)半(?![年天月小个百成载生晌]))"
    "|(?P<fifty>半百(?!分))|(?P<folded>对折)|(?P<tenth>半成(?!品))|(?P<double>双倍)"
    "|翻(?:了|上)?(?:近|约|逾)?(?P<times>[一二两三四五六七八九0-9])?[番倍]|[半翻减腰对]"
)


def read_special(text: str, match: re.Match[str]) -> Reading:
    """一半 and its like, and 翻番: doubled, or as often as it says."""
    at, end = match.span()
    if match["half"]:
        return Draft(at, end, HALF, TENTH, fraction=True)
    if match["point"]:
        return Draft(at, end, HALF, TENTH, "%")
    if match["folded"] or match["tenth"]:
        return Draft(at, end, Decimal(50 if match["folded"] else 5), Decimal(10) if match["folded"] else ONE, "%")
    if match["double"]:
        return Draft(at, end, Decimal(2), ONE, "x")
    if match["fifty"]:
        return Draft(at, end, Decimal(50), ONE)
    if match[0][0] == "翻" and len(match[0]) > 1:
        times = int((match["times"] or "1").translate(chinese.TO_ASCII))
        return Draft(at, end, Decimal(2**times if match[0][-1] == "番" else times if times > 1 else 2), ONE, "x")
    return end


PARTS = re.compile("[ \u00a0]?分[ \u00a0]?之[ \u00a0]*(负?)(?=[0-9〇零一二三四五六七八九十百千万两])")
AND_PARTS = re.compile("又(?=(?:[0-9]{1,9}|[一二三四五六七八九十百千万零两]{1,9})分之)")


def read_parts(text: str, start: int, end: int, below: Decimal) -> Reading:
    """A fraction such as 四分之三, whose denominator ends at end; that end where it has no numerator."""
    parts = PARTS.match(text, end)
    if not parts or not below:
        return end
    end, value, _ = chinese.number_at(text, parts.end())
    value = DIVISION.divide(-value if parts[1] else value, below)
    return take_sign(text, Draft(start, end, value, HUNDREDTH, fraction=True))


SCALES_BEHIND = re.compile("[十百千万亿]{0,4}")


def read_pair(text: str, at: int, numeral: str) -> tuple[Draft, Draft] | None:
    """The two ends of a range whose last digits stand side by side: 两三个, 十五六万, 三百四五十家, 三五倍, 七八成."""
    end = at + len(numeral)
    first, second = numeral[-1:], text[end]
    if first not in DIGIT_OF or second not in DIGIT_OF or "点" in numeral or second == "两" and len(numeral) > 1:
        return None
    if DIGIT_OF[second] != DIGIT_OF[first] + 1 and first + second != "三五":
        return None
    behind = SCALES_BEHIND.match(text, end + 1)
    scales = behind[0] if behind else ""
    after = end + 1 + len(scales)
    if not scales and (text[after] == "折" or not NEXT_UNIT.match(text, after)):
        return None
    if text[after] in DIGIT_OF:
        return None
    low = Draft(at, end, *chinese.read(numeral + scales))
    high = Draft(end, after, *chinese.read(numeral[:-1] + second + scales))
    if text[after] in "成倍折":
        low.unit, low.scale = ("x", ONE) if text[after] == "倍" else ("%", Decimal(10))
    return low, high


def read_decimal_discount(text: str, at: int) -> Reading:
    """七五折, or two digits side by side that are no number."""
    if text[at + 2] in "折成" and NEXT_UNIT.match(text, at + 2):
        first, second = (DIGIT_OF[char] for char in text[at : at + 2])
        return Draft(at, at + 2, Decimal(10 * first + second) * TENTH, TENTH)
    return at + 2


NONE_OF = re.compile(
    "(?:重大|安全)?(?:投诉|差评|事故|退货|退款|故障|缺陷|延误|伤亡|逾期|坏账|违约|违规|增长|损失|订单|收入|库存)"
)


def is_single(text: str, at: int, char: str) -> bool:
    """Whether one character is a number: before a measure word, or alone where a value is spoken of."""
    if RANGE_AHEAD.match(text, at + 1) and text[at - 1] not in "周期拜":
        return True
    if char == "一":
        return is_one(text, at)
    if char == "零" and NONE_OF.match(text, at + 1):
        return True
    if text[at + 1] == "又" and AND_PARTS.match(text, at + 1):
        return True
    if NEXT_UNIT.match(text, at + 1) or char == "十" and text[at + 1] in "余多来":
        return True
    if text[at + 1] == "日" and SPEAKS_OF.search(text, max(at - 4, 0), at):
        return True
    if text[at + 1] == "分" and text[at + 2] != "之":
        return bool(SPEAKS_OF.search(text, max(at - 4, 0), at)) or text[at - 1] in "打评分"
    if not ENDS.match(text, at + 1):
        return False
    begins = char not in "零〇" and BEGINS.search(text, at - 1, at)
    return bool(begins or SPEAKS_OF.search(text, max(at - 4, 0), at))


ONE_UNIT = re.compile(
    f"[成倍折](?![不为])|个亿|(?:个|年|天|周|小时)半|番(?!整改|[^，。、]{{0,2}}话)|{POINTS}|[%‰]|{DOZEN}"
)
ONE_MEASURE = re.compile(f"[ \u00a0]?({MEASURE})(?![些下样时])")
LIMITING = re.compile(
    "(?:仅仅?|只|唯)(?:有|剩|余|存|占|为|开|卖|售|退|增|减|设|用|获|收|招|接|新增|新开)?了?下?[ \u00a0]?$"
    "|(?:不足|少于|多于|至多|最多|至少|恰好|正好)$"
)
ONE_ALONE = re.compile("[”\"」’]?[^。！？\n]{0,5}?[0-9二三四五六七八九十百千万亿两]")


def is_one(text: str, at: int) -> bool:
    """Whether 一 is a number: before 成, 倍 and the like, after a limiting word, or beside a quantity."""
    if ONE_UNIT.match(text, at + 1):
        return True
    measure = ONE_MEASURE.match(text, at + 1)
    if not measure:
        return text[at - 1] in "是为“\"「" and bool(ENDS.match(text, at + 1) and ONE_ALONE.match(text, at + 1))
    if LIMITING.search(text, max(at - 6, 0), at):
        return True
    before, after = quantities_of(measure[1])
    return bool(before.search(text, max(at - 20, 0), at) or after.match(text, measure.end()))


@functools.cache
def quantities_of(measure: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for a number with this measure word shortly before a place, and shortly behind one after a comma."""
    quantity = f"(?:[0-9]|[二三四五六七八九十百千万亿两])[ \u00a0]?{measure}"
    before = re.compile(f"{quantity}[^。！？\n]{{0,14}}$")
    return before, re.compile(f"[^。！？\n]{{0,12}}?[、，,；;]{{1,2}}[^。！？\n]{{0,2}}{quantity}")
