"""What looks like a number and is none: dates and times, structure, names and codes, figures of speech.

Patterns over plain text, each for the place where a number could start: a digit, an English number word, a Chinese
character. What makes the difference often stands before that place; there it is one word of a closed list.
"""

from __future__ import annotations

import re

from issuance.numerals import english


def any_of(words: str) -> str:
    """A pattern for any of the words of a text; a word may be a pattern."""
    return f"(?:{'|'.join(words.split())})"


def set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


GAP = "[ \u00a0]"
SOME = "{0,12}"  # so much of a list is looked at, and no more: a text may be one list
NO_QUANTITY = r"(?![0-9]|[.,][0-9]|[%‰a-z万亿千百])"  # behind digits that are no quantity
MEASURE = (  # measure words: before one of them a single character is a number
    "(?:小时|分钟|星期|礼拜|季度|公里|公斤|平方|立方|美元|欧元|港元|日元|英镑|[家个名人位次天年周单笔件元块角秒处车店度台辆套项款种类条张份户所座间只吨"
    "克米升支箱包袋瓶双对批轮组队岁页字句章册幅枚颗粒根棵匹艘架扇盏盒罐桶壶杯碗盘锅片段堆束股宗桩起遍趟回顿席亩顷期层步部场仓城省县村栋幢票档手通行])"
)
COUNTED_IN_CHINESE = (
    rf"(?!{GAP}?(?:小时|分钟|美元|欧元|[家个名人位次天单笔件元块台辆套项款种类条张份户间吨箱包批轮队岁颗艘盒组通行部篇%‰倍万亿千百]|成(?![交立员本为功长])))"
)

# Dates and times in digits.

MONTHS = set_of(
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october "
    "nov november dec december"
)
MONTH = f"(?:{'|'.join(sorted(MONTHS, reverse=True))})(?![a-z0-9_])"
YEAR = f"(?:19|20)[0-9][0-9]{NO_QUANTITY}"
MORE_YEARS = f"(?:(?:,? and|,? or|,| to| through| versus| vs\\.?| ?[-–/])[ ']?{YEAR}){SOME}"
MM, DD, YY = "(?:1[0-2]|0?[1-9])", "(?:3[01]|[12][0-9]|0?[1-9])", "(?:[0-9]{4}|[0-9]{2})"
DAY = f"{DD}(?:st|nd|rd|th)?{NO_QUANTITY}"
DAYS = f"{DAY}(?:(?:, {DAY}){SOME}(?:,? and | or ){DAY}|(?: ?[-–/&] ?| and | to ){DAY})?"
HOUR, MINUTE = "(?:2[0-4]|1[0-9]|0?[0-9])", "[0-5][0-9]"
MINUTES = f"{MINUTE}(?:分|(?!{GAP}?[0-9万亿千百元家个名件%倍]))"  # 5点20, but 20 of 5点20万 is none
TIME = f"{HOUR}:{MINUTE}(?::{MINUTE}(?:\\.[0-9]+)?)?(?![0-9:])"
MERIDIEM = "(?:[ap]\\.m\\.|[ap]m(?![a-z0-9_]))"

WITH_COLON = set_of("id ref code passcode pin otp password isbn no ext zip postcode tel phone fax")
ALSO_VERBS = set_of("build building issue release form rule room catch panel schedule figure fig page note")
COUNTED = any_of(  # nouns that make a number of what stands before them: "in 2050 stores" says no year
    "stores? shops? orders? customers? clients? users? units? people persons? employees staff workers items? cases "
    "products outlets? branches cities towns villages countries accounts? companies firms households families "
    "locations? transactions? members? visitors? days weeks hours minutes tickets? complaints? refunds returns boxes "
    "parcels? students schools vehicles cars machines sites places dollars euros pounds yuan shares respondents "
    "tests samples suppliers? merchants sellers subscribers downloads visits calls invoices? contracts rooms homes "
    "points kiosks depots warehouses pieces pallets shoppers guests jobs tonnes tons miles sofas leases bakeries restaurants cafes hotels farms factories plants offices hospitals clinics franchises  of"
)
UNCOUNTED = f"(?!{GAP}(?:[a-z-]+ )?{COUNTED}(?![a-z0-9_])){COUNTED_IN_CHINESE}"
SHORT = rf"{NO_QUANTITY}(?!{GAP}per ?cent){UNCOUNTED}"  # behind the two digits of a year
FILE_NAME = (
    r"[0-9]+[\w-]{0,80}\.(?:pdf|csv|xlsx?|docx?|json|png|jpg|txt|md|html?|zip|com|cn|org|net|py|js|sql)\b[\w./?=&-]*"
)
CLOCK = rf"(?:{HOUR}|[零一二三四五六七八九十两]{{1,3}})[点时](?:半|整|钟|[一三]刻|{MINUTES}|[零一二三四五六七八九十]{{1,3}}分)?"
CLOCKS = rf"{CLOCK}(?:[至到—~–-]|持续到){CLOCK}"
RANGE_OF_MONTHS = rf"{MM}(?:[-–—~至到、和/]{MM}){{1,3}}月(?:份|底|初|末|[中上下]旬)?"
RANGE_OF_YEARS = r"(?:19|20)[0-9]{2}(?:[-–—~至到](?:19|20)?[0-9]{2})年(?:度|代)?"
BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
DOTTED = rf"(?=[1-9][0-9]{{0,2}}\.[0-9]{{3}}\.)(?!(?:{BYTE}\.){{3}}{BYTE}(?![0-9.]))[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}}){{2,5}}(?![0-9a-z_-]|\.[0-9])"  # 1.234.567

# What begins with digits and is no number, by the character behind the first digits.
AFTER_DIGITS = {
    "-–": [
        rf"[0-9]{{4}}-{MM}-{DD}(?![0-9])(?:[t ]{TIME}(?:z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?|{DD}-{MM}-{YY}{NO_QUANTITY}",
        rf"(?:19|20)[0-9]{{2}}-(?:0[1-9]|1[0-2])(?![/-]){NO_QUANTITY}",
        r"(?:19|20)[0-9]{2}[-–](?:w[0-5][0-9](?:-[1-7])?|q[1-4]|h[12])\b",
        rf"{RANGE_OF_YEARS}|{RANGE_OF_MONTHS}|[1-4][-–][1-4]季度",
        rf"(?:19|20)[0-9]{{2}}[-–](?:19|20)[0-9]{{2}}(?:财年|{NO_QUANTITY}{UNCOUNTED})",
        rf"{DAY}[-–]{DAY}{GAP}?(?:of )?{MONTH}\.?(?:,?{GAP}?{YEAR}{MORE_YEARS})?|{DD}-{MONTH}(?:-{YY})?",
        rf"{HOUR}[-–]{HOUR}{GAP}?{MERIDIEM}|{DD}[-–]{DD}日(?![内均游龄元])",
        r"[0-9]{3,4}[- ][0-9]{3,4}[- ][0-9]{4}\b(?![.,]?[0-9%])|0[0-9]{2,3}-[0-9]{7,8}\b",
        r"[0-9]-[0-9]{3}-[0-9]{3}-[0-9]{4}\b",
        r"[0-9]+-[kqf]\b|7-(?:eleven|11)\b",
        FILE_NAME,
    ],
    "—~": [rf"{RANGE_OF_YEARS}|{RANGE_OF_MONTHS}|[1-4][—~][1-4]季度"],
    "/": [
        rf"[0-9]{{4}}/{MM}/{DD}(?![0-9])(?:[t ]{TIME})?|{DD}/{MM}/{YY}{NO_QUANTITY}|{MM}/{DD}/{YY}{NO_QUANTITY}",
        rf"(?:19|20)[0-9]{{2}}/(?:0[1-9]|1[0-2])(?![/-]){NO_QUANTITY}|[0-9]{{2,4}}/[0-9]{{2}}(?:财年|年度)",
        r"985/211|[0-9]{4}/[0-9]{1,4}/e[ucg]\b",
        rf"{MM}/(?:19|20)[0-9]{{2}}(?!/){NO_QUANTITY}|{RANGE_OF_MONTHS}|{DAY}/{DAY}{GAP}{MONTH}",
    ],
    ".": [
        rf"[0-9]{{4}}\.{MM}\.{DD}(?![0-9])|{DD}\.{MM}\.{YY}{NO_QUANTITY}|{MM}\.{DD}\.{YY}{NO_QUANTITY}",
        rf"(?!{DOTTED})[0-9]+(?:\.[0-9]+){{2,}}(?:/[0-9]{{1,2}})?\b(?!%)|[0-9]{{4,6}}\.(?:sh|sz|ss|hk)\b|[0-9]+\.[0-9]+(?:st|nd|rd|th)\b",
        rf"{HOUR}\.{MINUTE}{GAP}?{MERIDIEM}|[0-9]\.[0-9](?=时代|版本|版)|3\.8(?=女王|女神|妇女|节)",
        FILE_NAME,
    ],
    "·": ["[0-9]{1,2}·[0-9]{1,2}(?![0-9])"],
    ":": [rf"{TIME}(?: ?[-–~至到] ?{TIME})?{GAP}?(?:[ap]\.?m\b\.?)?", r"(?:(?<=\()|(?<=\n)|(?<=- )|(?<=; ))(?:19|20)[0-9]{2}(?=: )"],
    " \u00a0": [
        rf"{DAY}(?:(?: ?[-–/&] ?| and | to ){DAY})?{GAP}(?:of )?{MONTH}\.?(?:,?{GAP}?{YEAR}{MORE_YEARS})?",
        rf"{HOUR}{GAP}(?:{MERIDIEM}|o'clock\b)|{HOUR}(?: ?[-–] ?| to | until ){HOUR}(?::{MINUTE})?{GAP}?{MERIDIEM}",
        rf"(?<!from )(?<!from \n){YEAR} to {YEAR}(?=[.,;:)\n])",
        r"(?<=\+)[0-9]{1,3}(?:[ -]\(?[0-9]{2,5}\)?){2,4}\b",
        r"(?:[0-9]{1,4} )?\(?[0-9]{3,4}\)?[- ][0-9]{3,4}[- ][0-9]{4}\b(?![.,]?[0-9%])",
        rf"(?:1[5-9]|20)[0-9]{{2}}{GAP}年|{MM}{GAP}月(?:{GAP}?{DD}{GAP}?[日号])?",
        rf"(?:19|20)[0-9]{{2}}{GAP}?(?:[qh][1-4]|fy)\b",
        rf"{YEAR} (?:(?=levels?\b)|(?:was|is|saw|brought|began|ended)\b)",
        r"[0-2][0-9][0-5][0-9] ?h(?:rs|ours)\b|[0-9]{1,2} (?:cfr|usc|u\.s\.c\.)",
        r"[45][0-9]{2} (?=error\b|status\b|page\b|not found)",
    ],
    ")〕": [
        r"(?<=\()(?:19|20)[0-9]{2}\)[一-鿿]{1,3}[0-9]{0,4}[民刑行执知商破][一-鿿]{0,2}第?[0-9]+号",
        r"[0-9]{3,4}\) ?[0-9]{3,4}[- ][0-9]{4}\b|(?<=〔)(?:19|20)[0-9]{2}〕[0-9]{1,4}号|(?<=〔)(?:19|20)[0-9]{2}"],
    "(": [r"[0-9]+\(k\)"],
    "+": [r"[0-9]+\+[nx]\b"],
    "'@_": [r"(?:[0-9]{2})?[0-9]0's\b", r"[0-9]+@[\w.-]+", FILE_NAME],
    "、,，和与及至到": [
        rf"(?:19|20)[0-9]{{2}}(?:[、,，和与及至到]{GAP}?(?:19|20)[0-9]{{2}}){SOME}{GAP}?(?:年(?:度|代)?|财年)",
        rf"{DD}(?:, {DD}){SOME}(?:,? and | or ){DD}{GAP}(?:of )?{MONTH}|{DD}[、至到]{DD}[日号](?![内均游龄元])|{RANGE_OF_MONTHS}",
        "[1-4][至到][1-4]季度",
    ],
    "年月日号点时季后财上下全一二三四第届位国省": [
        rf"{CLOCKS}|(?:19|20)[0-9]{{2}}届|[12]?[0-9]世纪|[0-9]+位数|[0-9]{{2,3}}[国省]道|[0-9]{{2}}年(?=底|末|初|同期|以来)",
        r"(?<=[日晚夜])(?:24|12|0)[点时]",
        rf"(?:1[5-9]|2[01])[0-9]{{2}}年(?:度|代)?|[0-9]{{2}}年(?={MM}月|[hq][1-4]|[上下]半年|[一二三四]季|第)|[0-9]{{2,4}}年代",
        r"(?:19|20)?[0-9]{2}财年|(?:19|20)[0-9]{2}(?=[上下]半年|全年|[一二三四]季度|第[一二三四])|618年中|(?<=[今去]年)618",
        rf"{MM}月(?:份|底|初|末|[中上下]旬)?(?:{DD}{GAP}?[日号](?:(?:[-–—~至到、]|{GAP}){{1,3}}{DD}[日号]|[-–—~至到、]{DD}日)?)?(?![度龄饼])",
        rf"{MM}月{DD}[-–—~至到、]{DD}[日号]",
        rf"{DD}日(?![内均游龄元])|[0-9]+号|[1-4]季度|[0-9][05]后",
        rf"{HOUR}[点时](?:{MINUTES}|[0-9]分|半|整|钟|许|(?=前|后|左右|开|至|到|起|之|止))(?:{MINUTE}秒)?|{HOUR}时(?=[，,。、 ])",
    ],
    "abcdefghijklmnopqrstuvwxyz": [
        rf"[0-9]+(?:st|nd|rd|th)\b(?:(?: ?[-–&] ?| and | to ){DAY})?(?:{GAP}(?:of )?{MONTH})?(?:,?{GAP}(?:of )?{YEAR}{UNCOUNTED})?",
        rf"{DD}{MONTH}(?:{YY}\b)?|(?:{HOUR}[-–])?{HOUR}{MERIDIEM}",
        rf"(?:3|6|9|12)m{GAP}'?{YEAR}",
        rf"[1-4]q(?:'?[0-9]{{2}}|{GAP}?{YEAR})?\b|[12]h(?:'?[0-9]{{2}}|{GAP}?{YEAR})\b",
        rf"[12]h\b(?={GAP}?(?:of|results|sales|revenue))",
        r"[0-9]{2,4}[qh][1-4]\b|(?:19|20)[0-9]{2}w[0-9]{2}\b|[0-9]{2}[0-9]0s\b",
        r"(?:(?<=the )|(?<=early )|(?<=late ))[2-9]0s\b",
        r"3d\b|3c(?=产品|数码|类|家电)|[48]k(?= ?(?:tv|video|screen|display|monitor|camera|resolution|电视|超高清|高清|视频|显示))|3m(?= company|公司|集团)|401k\b",
        FILE_NAME,
    ],
    "版": [r"[0-9]\.[0-9]版"],
    "大活期促销当购同安高院集公世强氪工模": [
        "996(?=工作制|模式)|(?:20|21|19)世纪",
        r"618(?=大促|活动|期间|促销|当天|销售|购物)|(?:211|985)(?=高校|院校|大学|工程)|58同城|360(?=安全|集团|公司)|21世纪|[0-9]+强(?![度制劲])|36氪",
    ],
}

# Words before digits.

BEFORE_YEAR = set_of(
    "due maturing matures expiring expires friday christmas easter cup in since during until till throughout through fiscal fy cy ytd ye eoy year years calendar early late mid spring "
    "summer autumn winter by from before after between for of end ended ending both either versus vs the this our "
    "its their each quarter quarters half h1 h2 q1 q2 q3 q4 pre post begin beginning established founded born circa "
    "copyright act © est"
)
DETERMINERS = set_of("the this our its their each")
COUNTS = re.compile(  # a plural behind what looks like a year, unless it is one that has years
    rf"{GAP}(?!{any_of('sales results earnings revenues figures notes plans accounts targets statements levels losses costs')}\b)"
    rf"(?!{any_of('profits margins expenses goals budgets numbers prices series outlooks bonds elections games olympics')}\b)"
    rf"(?:[a-z-]+ )?[a-z]{{3,}}(?<![su])s\b|{GAP}(?:[a-z-]+ )?{COUNTED}\b",
    re.ASCII,
)
OF_PERIODS = re.compile(
    rf"(?:{any_of('year quarters? half halves month weeks? end start beginning middle spring summer autumn winter fall rest act law budget')}"
    rf"|class|remainder|most|weeks? [0-9]{{1,2}}|[qh][1-4]|{MONTH})(?: months)? of $",
    re.ASCII,
)
MOVES = set_of(  # after one of them, "by 2050" and "from 2050" say no year
    "rose rise rising fell fall falling grew grow growing increased increase decreased decrease dropped drop climbed "
    "up down moved changed reduced improved declined gained jumped went exceeded"
)
BEFORE_DAY = MONTHS | set_of(
    "on dated since until mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat "
    "saturday sun sunday"
)
LABELS = set_of(  # the number behind one of them is its name
    "table chart exhibit appendix annex section chapter page p pp rfc passcode pin password otp slide footnote "
    "paragraph article clause attachment no week wk asc asu ifrs ias iso sfas fas gaap version rev ver windows "
    "iphone ipad boeing airbus covid highway interstate zip postcode port fortune ftse csi nikkei nasdaq stoxx "
    "russell dax cac asx topix s&p g soc http python java ios android gpt claude mate gb/t utc gmt code ext isbn "
    "tls postgresql postgres mysql copilot"
)
BEFORE_NO_LABEL = set_of("this that every each another per these those will can could may might must should would")
BEFORE_WEEK = set_of("last this next every per each a the that same first second third final previous prior current")
PLURAL_LABELS = set_of(  # the numbers behind one of them
    "tables figures figs charts exhibits appendices annexes sections chapters pages slides footnotes paragraphs "
    "panels articles clauses quarters topics rules forms nos weeks versions releases rooms gates flights routes"
)
CAPITAL_LABELS = set_of(  # those that are verbs or common nouns without their capital
    "note notes item items part parts step steps phase phases level levels tier tiers stage stages scenario "
    "scenarios option options sprint sprints severity priority scope scopes box line row column columns model "
    "series type id ref store shop day zone group team gen unit building block ticket commit invoice bug case year "
    "quarters industry web build release form rule room gate flight route catch schedule panel topic finding "
    "recommendation risk month plant quarter po invoices suite terminal terminals goal goals volume volumes figure "
    "fig"
)
ONE_LABEL = r"[0-9]+(?:[.-][0-9]+)*(?::(?:19|20)[0-9]{2})?(?:[a-h](?:-[0-9]+)?)?(?![\w%‰]|[.,][0-9])"
NOT_LABELLED = rf"(?! (?:million|billion|thousand|percent|per cent|times|x)(?![a-z0-9_])){COUNTED_IN_CHINESE}"
LABEL = re.compile(
    rf"{ONE_LABEL}{NOT_LABELLED}(?:\([0-9a-z]{{1,3}}\))?"
    rf"(?: ?[-–] ?{ONE_LABEL}{NOT_LABELLED}|(?: and | or ){ONE_LABEL}{NOT_LABELLED}(?! (?:of |[a-z-]+s\b)))?",
    re.ASCII,
)
LABEL_LIST = re.compile(  # of at least two: "rooms 300" are a count
    rf"{ONE_LABEL}{NOT_LABELLED}(?:(?:,? and|,? or| to| through|[-–]) ?{ONE_LABEL}|, ?{ONE_LABEL}(?=[,.;:)\n]| and | or )){{1,12}}",
    re.ASCII,
)
PHONE_WORDS = set_of("tel telephone phone call ring fax hotline dial mobile")
PHONE = re.compile(r"\+?\(?[0-9][0-9() -]{5,30}[0-9]\b", re.ASCII)
CHINESE_LABEL = re.compile(
    "(?:(?<![地试意企截力])图|(?<![代发外仪手钟列报])表|附录|附件|附注|注|页|编号|单号|型号|货号|款号|工号|代码|第|沪深|科创|中证|上证|标普|恒生|电话|手机|"
    "热线|传真|专线|致电|拨打|邮编|双|版本|工业|案例|方案|尾号|号码|房间号|群|小米|民国|民國)[: \u00a0]{0,2}[a-z]{0,3}[ -]?$|(?<![a-z])id:[ \u00a0]?$"
)
CHINESE_LABEL_ENDS = frozenset("图表录件注页号码第深创证话机线真电打编双本业普生米国國例案群:") | frozenset("abcdefghijklmnopqrstuvwxyz")
AFTER_CHINESE_LABEL = re.compile(
    rf"[0-9]+(?:[-.][0-9]+)*(?![0-9]|[.,][0-9]){COUNTED_IN_CHINESE}(?:[、和与至到][图表]?[0-9]+(?![0-9]|[.,][0-9]){COUNTED_IN_CHINESE}){SOME}(?:年|版)?"
)

# English number words.

MONEY = "dollars? euros? pounds? yuan rmb yen rupees? bucks usd eur gbp cny"
UNITS, TEENS, TENS = map(" ".join, (english.ONES, english.TEENS, english.TENS))
NUMBER_WORD = any_of(f"{UNITS} {TEENS} {TENS}")
VAGUE_BEFORE = set_of("several some many few couple of various numerous countless thanks")
PERIOD_BEFORE = set_of(
    "first last latter early late top bottom second third fourth 1st 2nd 3rd 4th other better this each every per "
    "next previous prior same current final fiscal calendar our any that which the in financial"
)
HALF_PERIOD_BEFORE = set_of(
    "first last latter early late top bottom second 1st 2nd this next previous prior same current final fiscal "
    "calendar financial"
)
NAME_BEFORE = set_of("top number no week big page table figure chapter section version step phase formula magnificent cloud pillar year quarter month day")

WORDS = {
    "a time or a year": [
        rf"{NUMBER_WORD} (?:o'clock\b|{MERIDIEM})|{NUMBER_WORD} past {NUMBER_WORD}\b",
        rf"half[- ]past(?: {NUMBER_WORD}\b| [0-9]{{1,2}}\b)?",
        rf"(?:a )?quarter (?:past|to) (?:{NUMBER_WORD}|[0-9]{{1,2}})\b(?!%| per)",
        rf"half[- ]{any_of('years? yearly time term way day hour hourly hearted(?:ly)? baked truths? brothers? sisters? life lives mast')}\b",
        r"quarters?[- ](?:finals?|ends?|on|over)\b|thirties|forties|fifties|sixties|seventies|eighties|nineties",
        rf"(?:nineteen|twenty)[ -](?:{any_of(TEENS)}|{any_of(TENS)}(?:[- ]{any_of(UNITS)})?)\b(?!-)"
        rf"(?!{GAP}(?:{COUNTED}|{any_of(MONEY)}|per ?cent)(?![a-z0-9_])|{GAP}?%)",
    ],
    "figurative": [
        r"(?:dozens|hundreds|thousands|millions|billions|trillions|scores|tens)(?: (?:of|and|upon) (?:tens|dozens|hundreds|thousands|millions|billions))*\b",
        rf"{any_of('two three four five six seven')}[- ]{any_of('way sided factor faced handed piece pronged tier tiered dimensional letter ply lane')}s?\b",
        rf"{any_of('single double triple two three four five six seven eight nine ten')}[- ](?:digits?|figures?)\b",
        rf"double[- ]{any_of('check[a-z]* count[a-z]* sided edged entry click[a-z]* blind taxation standards? down whammy bottom act booked room bed')}\b",
        r"double (?=and triple check)|triple[- ](?:a|net|play|check[a-z]*|crown)\b|twice (?=shy\b)",
        r"nine times out of ten|sixes and sevens|fifty[- ]fifty|one[- ]in[- ]a[- ]million|ten to one",
        r"nine[- ]to[- ]five|two by two|two cents",
        r"two minds|two and two(?= together)|two (?:birds|wrongs|peas)\b|seven seas\b|seventh heaven|seven[- ]eleven\b|five eyes",
        r"six sigma|four seasons",
        r"a (?:million|thousand|hundred) (?:thanks|reasons|apologies|words|miles away|ways)",
        r"(?:million|thousand) (?:thanks|reasons|apologies|words|ways)\b",
        r"zero[- ](?:tolerance|sum|based|day|trust|waste|emissions?|carbon|hours?)\b",
        r"half (?:the battle|measures?)\b|half (?:a|the) (?:mind|story|truth)",
        r"million-dollar question|second to none|zero in on|zeroed in|one-two punch|two halves|nine yards|triple bottom line|one by one",
        r"third[- ]part(?:y|ies)\b",
        r"third[- ](?:largest|biggest|highest|lowest|best|worst|most|rate|rated|world|degree|generation|reading)\b",
        r"(?:two|three|four|five) of the (?:reasons|causes|factors|issues|questions|main|key)\b",
    ],
}
NOT_ONE = re.compile(
    rf"one(?:'s|self)?[- ]{any_of('off time sided way size stop on-one to-one another by[- ]one day hand side thing reason more such')}\b"
    rf"|one {any_of('that who which last could can should must might would may will has is was')}\b",
    re.ASCII,
)

# Chinese.

N = "[〇零一二三四五六七八九十]"
DAY_IN_CHINESE = "(?:(?:[二三]?十|廿)[一二三四五六七八九]?|[一二三四五六七八九])"
ABSTRACT = any_of(
    "方面 维度 层面 角度 问题 原因 因素 特点 建议 意见 看法 启示 要求 说明 思考 结论 体会 希望 认识 提示 措施 举措 重点 关键 亮点 难题 趋势 挑战 优势 板块 主题 "
    "痛点 支柱 任务 目标 主因 战略 毫不动摇 原则 保障 抓手 路径 全面 自信 维护 确立 意识 规定 坚持 一(?=”?工程)"
)
CHINESE = {
    "a date": [
        rf"民国[〇零一二三四五六七八九十百]{{1,5}}年|{N}{{4}}(?:[至到—-]{N}{{4}})?年(?:度|代|末|底|初)?|[〇零一二三四五六七八九十]{{2,4}}年代|[〇零一二三四五六七八九]{{2}}年(?={N}+月)",
        rf"(?:十[一二]?|[一二三四五六七八九])(?:[至到、和](?:十[一二]?|[一二三四五六七八九]))?月(?:份|底|初|末|[中上下]旬)?(?:{DAY_IN_CHINESE}[日号](?:[至到、]{DAY_IN_CHINESE}[日号])?)?",
        rf"(?:正月|腊月|大年){DAY_IN_CHINESE}(?![家个名万])|(?<![历耗]时)(?<!为期){DAY_IN_CHINESE}[日号](?![内均游元]|之内)",
    ],
    "a time": [
        rf"(?:上午|下午|晚上|晚间|凌晨|早上|中午|傍晚|清晨|早晨|夜里|半夜|深夜|早|晚)(?:{CLOCKS}|(?:[0-9]{{1,2}}|[零一二三四五六七八九十两]{{1,3}})[点时:](?:半|整|钟|[一三]刻|(?:{N}{{1,3}}|[0-9]{{1,2}})(?:分|(?!{GAP}?[0-9万亿千百元家个名件%倍])))?(?:(?:[至到—~–-]|持续到){CLOCK})?)",
        CLOCKS,
        rf"(?:二?十[一二三四五六七八九]?|[一二三四五六七八九两]|二十)点(?:半|整|钟|[一三]刻|{N}{{1,3}}分|(?=左右|前|后|开))",
    ],
    "a year or a period": [
        r"(?:周|星期|礼拜)[一二三四五六日天](?!(?<=[本上下首每近这]周.)[家个名单件台款项笔次]|[十百千万](?![货度联岛禧科达华]))(?:[至到、和](?:周|星期|礼拜)?[一二三四五六日天](?![十百千万家个]))?",
        r"[一二三四](?:[至到、]?[二三四])?季度|[一二三四]季报|[一二三四]季(?=度|末|报)|半年(?=度|报|内)|[一二三四五六七八九十]{1,4}世纪|[二三四五六七八九]十年代",
        r"(?:十一|五一)(?=假期|黄金周|长假|小长假|期间|国庆|节|劳动|出行|旅游|档期|客流|当天|前后|两个|、十一)|(?<=五一、)十一|九一八(?=事变|[”\"])|(?<=[“\"「])(?:五一|十一|六一|八一|七一|双十一)(?=[”\"」])",
        r"双(?:十[一二]|旦)",
        r"(?:三八|六一|八一|七一|五四|一二九)(?=节|妇女|儿童|建军|建党|青年|运动)|(?:十[五六七八九]|二十|二十一)(?:届|大(?=精神|报告|以来|会议|召开|[和、及]))",
        r"十[一二三四五六]五(?![家个名单件台款项笔次成折倍元十百千万亿%])",
    ],
    "an ordinal": [
        r"第[ \u00a0]?(?:[0-9]+(?:[,'，\u00a0][0-9]{3})*(?:\.[0-9]+)*|[〇零一二三四五六七八九十百千万两廿]+)(?:[、和与至到—-](?:第[0-9]+|第[一二三四五六七八九十]+|(?:[0-9]+(?:,[0-9]{3})*|[一二三四五六七八九十]+)(?=(?:[、和与][一二三四五六七八九十])*[季章节名位页条届批周产])))*",
        r"前[ \u00a0]?(?:[0-9]{1,4}|[一二三四五六七八九十百]{1,4})(?=[名位强大甲])|[一二三四五六七八九]?[十百]{1,2}强(?![度制劲])",
        r"其[一二三四五六](?=[，,、：:是为])",
        r"[初老][一二三四五六七八九十](?![十百千万家个名年人])|(?<=\n)[一二三四五六七八九十]{1,3}是|(?<=[售场务产研营运发])[一二三四五六七八九十]部",
        r"(?<=[东南西北中])[一二三四五六七八九十]区",
    ],
    "structure": [
        r"(?<=[；;，。：: ]\()[一二三四五六七八九十](?=\)[^家个名单件台款])",
        r"(?<=[如见附和、，。(\n上下][图表])[一二三四五六七八九十]{1,3}(?![家个万百千份张])",
    ],
    "a name or code": [
        any_of(
            "三(?:星|一重工|元(?:食品|牛奶|锂|正极|材料|股份|电池|前驱)|只松鼠|亚|明|门峡|峡|里屯|国|农|包|角|文鱼|维|方|者|伏|轮|聚氰|七互娱|级医院|甲|围|线城市|好学生|审|棵树|七二十一|位一体|步走|点一线) "
            "四(?:川|平|季|环|维|方|海|周|处|面|大名著|书|轮驱动) 五(?:金|粮液|矿|星|常|台山|谷|官|行|四|环|菱|线|道口|棵松|十步笑百步|位一体) 六(?:安|盘水|合|朝|神|福) "
            "七(?:夕|匹狼|喜|天连锁|彩|牌|巧|折八扣) 八(?:宝|达|卦|方|一|仙|字|亿时空) 九(?:江|寨|龙|州|牧|阳|芝堂|毛九|方) 十(?:堰|足|字|全|佳|年磨一剑) "
            "百(?:货|度|胜|丽|世|联|合|川|姓|年|科|强|般|威|事|草味|思买|济|团) 千(?:岛湖|禧|里|古|金|克|米|瓦|兆|卡|牛|寻|帕|赫|焦) "
            "万(?:科|达|华化|象|年|物|博|元户|向|家乐|里|岁|能|圣|有|事|众|州|宁|豪|宝|国|佛|和) 亿(?:欧|纬|联|滋|达|航|利)"
        ),
        any_of(
            "二(?:手|线|级|楼|维|次(?:元|销售|开发|创业|加工|确认|曲线|转化)|期|代|胎|者|元|把手|锅头|等|奶|审|房东|类医疗) "
            "一(?:线|期|级|手|楼|流|带|汽|波三折|番(?!\\d)|点一滴) 两(?:位数|者|端|岸|会|用|性|极|化|融|税|翼|侧|旁|边) 三(?:期|级|代|楼|胎|产|废|高) 四(?:级|期|楼) "
            "零(?:售|食|件|部件|星|碎|钱|担|花|头|散|基础|工|跑|距离|容忍|和|门槛|零散散|零碎碎|零星星|一万物|点(?![一二三四五六七八九零〇])) "
            "半(?:导体|成品|径|岛|夜|路|数以上|场|自动|年报|山|决赛|挂)"
        ),
        "[一二三四五]{2,4}(?:线|产(?=融合|业|品))|[一二三四五六七八九十]位数|五年[规计]划|三次产业|二十国集团|十三薪|[一二三四]类(?=错误|医疗|风险|事故)",
    ],
    "figurative": [
        rf"[二三四五六七八九两几](?:个|项|条|类|种|大|点){ABSTRACT}|[一二三四五六七八九两几](?:方面|点{ABSTRACT})",
        r"几[十百千万亿]+|(?<![户员人丝次天单店量件客总家笔位票名台辆点页字倍股])数[十百千万亿]+|好几[十百千万亿]*|上[百千万亿]+(?!分)|成[百千]上[千万]|成千",
        r"[一二三四五六七八九]?十几(?!倍)|[一二三四五六七八九]?[百千]几|百倍|百分百|亿万|百万富翁|[百千]八[十百](?=块|元|家|人|个)|万千|千千万万",
        r"千万(?=不|别|要|小心|注意|记|莫|勿)|万一(?![千百十二三四五六七八九])|万分(?!之)|十分(?![之钟]|[0-9])|万万(?=没|不)",
        any_of(
            "千(?:军万马|辛万苦|方百计|变万化|差万别|丝万缕|头万绪|篇一律|载难逢|家万户|言万语) 万(?:无一失|众一心) 百(?:密一疏|里挑一|战百胜|花齐放|尺竿头|折不挠|依百顺) "
            "十(?:全十美|拿九稳|有八九|之八九|八般|万火急) 八九不离十 五(?:花八门|颜六色|湖四海|味杂陈|五开|体投地) 四(?:面八方|通八达|平八稳|分五裂|舍五入) "
            "七(?:上八下|嘴八舌|零八落|七八八|拼八凑) 乱七八糟 杂七杂八 横七竖八"
        ),
        any_of(
            "三(?:心二意|三两两|番[五两]次?|令五申|言两语|五成群|长两短|顾茅庐|思|板斧|天两头|下五除二|六九等|头六臂) 再三再四 再[三四] 接二连三 丢三落四 颠三倒四 朝三暮四 "
            "推三阻四 不三不四 举一反三 低三下四 说三道四 隔三差五 说一千道一万 三百六十行 十年树木 不怕一万 三天打鱼 两天晒网 三个臭皮匠 十二分 一百个(?=放心|不) 十年如一日 两(?:全其美|难|码事|手抓|面派|回事|败俱伤|步走) 一五一十 独一无二 说一不二 数一数二 略知一二 不二 "
            "九(?:牛一毛|死一生) 六神无主 二话 半斤八两 半信半疑 一心二用 一一"
        ),
    ],
}


def pattern(table: dict[str, list[str]]) -> re.Pattern[str]:
    return re.compile("|".join(rule for rules in table.values() for rule in rules), re.ASCII)


AT_DIGIT = {char: re.compile("|".join(rules), re.ASCII) for chars, rules in AFTER_DIGITS.items() for char in chars}
AT_WORD, AT_CHINESE = map(pattern, (WORDS, CHINESE))
