"""What of a text is no prose: code blocks and spans, addresses, citation markers. Its characters are blanked out."""

from __future__ import annotations

import bisect
import re

from issuance.numerals import chinese
from issuance.numerals.plain import Plain

BLANK = "\0"  # which plain text never has

BLANK_LINE = re.compile(r"\n[ \t]*\n")
FENCE = re.compile(r"^(?:[ >]*|[ >]*[-*+] )(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
BACKTICKS = re.compile(r"(?<!\\)`+")
MARKER = re.compile(
    r"\[\[[a-z]+:[^\[\]\n]*\]\]|\[\^[^\[\]\s]+\]"
    r"|\[[0-9]{1,3}(?:(?:, ?|[-–])[0-9]{1,3})*\](?![(元%万亿个家])"  # [1], [1, 2], but not [10, 20]元
)
DOMAINS = (".com", ".org", ".net", ".io", ".cn", ".gov", ".edu", "localhost:")
# An address ends where a reader ends it: at a space, a quote, a backtick, an asterisk, a table's bar, whatever is not
# ASCII, or a bracket that the address itself has not opened. Brackets may stand behind its host only.
HOST = r"[a-z0-9._~%:@+-]+"
WITHIN = r"[^\s\"*<>`|\\^()\[\]{}\x00-\x20\x7f-\U0010ffff]*"
NESTED = rf"{WITHIN}(?:[(\[{{]{WITHIN}[)\]}}]{WITHIN})*"
PATH = rf"(?:[/?#]{WITHIN}(?:[(\[{{]{NESTED}[)\]}}]{WITHIN})*)?"
DESTINATION = (  # of a link: what no reader sees, unless nothing closes it or it is only a number
    r"(?<=\]\()(?=[^()\s]*[a-z/#])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?=\)|\s+[\"'(])"
)
ADDRESS = re.compile(
    rf"{DESTINATION}|(?:(?:https?|ftp)://(?:\[[0-9a-f:.]+\](?::[0-9]+)?)?|www\.)(?:{HOST})?{PATH}|mailto:{HOST}{PATH}"
    rf"|localhost:[0-9]+{PATH}"
    r"|(?<![a-z0-9_.+-])[a-z0-9_.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}"
    rf"|(?<![a-z0-9_.@-])[a-z0-9][a-z0-9.-]{{0,200}}\.(?:com|org|net|io|cn|gov|edu)(?![a-z0-9_-])(?::[0-9]+)?{PATH}",
    re.ASCII | re.IGNORECASE,
)


def blanked(plain: Plain) -> str:
    """The plain text with everything that is no prose replaced by as many blanks."""
    text = plain.text
    parts = []
    if "`" in text or "~~~" in text:
        parts += code(text)
    if "[[" in text or "[^" in text or "]" in text:
        parts += [match.span() for match in MARKER.finditer(text)]
    if "://" in text or "www." in text or "@" in text or "](" in text or any(domain in text for domain in DOMAINS):
        parts += addresses(plain)
    kept, end = [], 0
    for start, stop in sorted(parts):
        if stop > end:
            kept += [text[end:start], BLANK * (stop - max(start, end))]
            end = stop
    return "".join(kept) + text[end:] if parts else text


def addresses(plain: Plain) -> list[tuple[int, int]]:
    """Where in the plain text addresses are. The original has them: what only folds to ASCII or is hidden ends one."""
    if not plain.removed:
        return [match.span() for match in ADDRESS.finditer(plain.original)]
    removed = [place + count for count, place in enumerate(plain.removed)]  # in the original
    spans = [match.span() for match in ADDRESS.finditer(plain.original)]

    def folded(place: int) -> int:
        return place - bisect.bisect_left(removed, place)

    return [(folded(start), folded(end)) for start, end in spans]


LINE = re.compile(  # what a line begins with that decides whether a list marker may stand there, or on the next one
    r"\n(?P<indent>[ \t\u00a0>]*)(?:(?P<blank>(?=\n))|(?P<heading>#|(?:=+|-+|\*{3,}|_{3,})[ \t]*(?=\n))"
    r"|(?P<rule>(?=[|: ]*-)[-|: \t]*(?=\n))|(?P<bullet>[-*+•·●][ \t\u00a0])"
    r"|\(?(?P<number>[0-9]{1,3})(?:[)、]|\.(?=[ \u00a0⺀-\uffef]))|\(?(?P<characters>[一二三四五六七八九十]{1,3})[)、]"
    r"|(?P<section>[0-9]{1,3}(?:\.[0-9]{1,3}){1,5})\.?[ \u00a0、]|(?P<code>\0{7}))?[^\n]*"
)


def begins_item(text: str, line: int, plain: Plain) -> bool:
    """Whether behind a line break of the blanked text a list marker or the number of a heading may stand."""
    if plain.items is None:
        plain.items = items(text, plain)
    return line in plain.items


def items(text: str, plain: Plain) -> frozenset[int]:
    """The places of the line breaks behind which a list marker or the number of a heading may stand.

    Elsewhere what looks like one goes on a paragraph or stands in a table. It begins an item where the line before is
    blank, is a heading, ends a sentence or with a colon, or is itself an item or belongs to one; and, also in a table,
    where its number is 1 or follows that of the item before.
    """
    found = set()
    opened, in_item, in_table = True, False, False  # opened: whether the line before ends a paragraph or sentence
    last: tuple[int, ...] = ()  # the number of the item before
    for line in LINE.finditer(text):
        kind = kind_of(line, plain)
        if kind in ("blank", "heading"):
            opened, in_item, in_table = True, in_item and kind == "blank", False
        elif kind == "rule":
            opened, in_item, in_table = False, False, True
        else:
            number = number_of(line, kind)
            follows = number == (1,) or bool(last) and last < number and number[0] <= last[0] + 1
            if kind == "bullet" or number and (follows or not in_table and (opened or in_item)):
                found.add(line.start())
                last = number or last
                opened, in_item = False, not in_table and (kind != "section" or in_item)
            else:
                in_item = in_item and not (opened and not line["indent"].strip(">"))
                opened = line[0].rstrip(" \t\0").endswith((":", ".", "!", "?", ";", "。"))
    return frozenset(found)


def kind_of(line: re.Match[str], plain: Plain) -> str:
    """The kind of a line; a code block is like a blank one, a rule without bars like a heading."""
    kind = line.lastgroup or ""
    if kind == "rule":
        return kind if "|" in line[0] else "heading"
    if kind == "code":
        start = line.start("code") - 1
        fence = FENCE.match(plain.text, start)
        return "blank" if fence and "\n" in plain.text[start : line.end() - 1] else ""
    return kind


def number_of(line: re.Match[str], kind: str) -> tuple[int, ...]:
    """The number of the item or section that a line seems to begin, () for none."""
    if kind == "characters":
        return (int(chinese.read(line[kind])[0]),)
    return tuple(map(int, line[kind].split("."))) if kind in ("number", "section") else ()


def code(text: str) -> list[tuple[int, int]]:
    """Where fenced code blocks and code spans are."""
    blocks = fenced(text)
    return blocks + spans(text, blocks)


def fenced(text: str) -> list[tuple[int, int]]:
    """Where fenced code blocks are; one that nothing closes goes on to the end of the text."""
    blocks, opened = [], None
    for fence in FENCE.finditer(text):
        if opened is None:
            if fence[1][0] == "~" or "`" not in fence[2]:
                opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append((opened.start(), fence.end()))
            opened = None
    if opened:
        blocks.append((opened.start(), len(text)))
    return blocks


def spans(text: str, blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The code spans between blocks: from a run of backticks to the next one as long in the same paragraph."""
    runs = [run for run in BACKTICKS.finditer(text) if not inside(run.start(), blocks)]
    ends = [*(match.start() for match in BLANK_LINE.finditer(text)), *(start for start, _ in blocks), len(text)]
    ends.sort()
    closers: dict[int, int] = {}  # by the index of a run, that of the next one as long
    following: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        if length in following:
            closers[index] = following[length]
        following[length] = index
    found, index = [], 0
    while index < len(runs):
        paragraph_end = ends[bisect.bisect_left(ends, runs[index].start())]
        closer = closers.get(index)
        if closer is not None and runs[closer].start() < paragraph_end:
            found.append((runs[index].start(), runs[closer].end()))
            index = closer
        index += 1
    return found


def inside(place: int, blocks: list[tuple[int, int]]) -> bool:
    """Whether a place is in one of these blocks, which are in order."""
    before = bisect.bisect_right(blocks, (place, 1 << 62)) - 1
    return before >= 0 and place < blocks[before][1]
