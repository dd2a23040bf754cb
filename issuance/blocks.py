"""The structure of a Markdown text, as far as a report needs it: its blocks, and the sentences of its prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from issuance.numerals.markup import fenced

KINDS = (
    ("blank", re.compile(r"[ \t>]*$")),
    ("heading", re.compile(r"[ >]{0,6}#{1,6}(?:[ \t]|$)")),
    ("rule", re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")),
    ("table", re.compile(r"[ \t>]*\|")),
    ("item", re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")),
    ("html", re.compile(r" {0,3}<[a-zA-Z/!?]")),
    ("quote", re.compile(r" {0,3}>")),
    ("paragraph", re.compile("")),
)
GOES_ON = ("paragraph", "item", "quote", "html")  # in lines that begin nothing of their own
PROSE = ("paragraph", "item", "quote", "heading", "html")
RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")  # under a table's head
GONE = "(?:</?[A-Za-z][^<>]*>|[\u200b-\u200f\u2060\ufeff])"  # what does not show
END = re.compile(
    "[.!?。！？<](?:"  # first, as one set of characters is looked for much faster than three alternatives
    f"(?<=[.!?])[.!?]*(?:[\"'”’)\\]*_]|{GONE})*(?=\\s|$|&nbsp;|&#)|(?<=[。！？])[。！？]*(?:[”’』」）)*_]|{GONE})*"
    "|(?<=<)(?:br|/p|/li|/div|/td)[^<>]*>)"
)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
ABBREVIATIONS = (
    "e.g.",
    "i.e.",
    "etc.",
    "vs.",
    "No.",
    "Mr.",
    "Mrs.",
    "Ms.",
    "Dr.",
    "St.",
    "approx.",
    "cf.",
    "Inc.",
    "Ltd.",
)


class Block(NamedTuple):
    kind: str  # one of KINDS, or "code"
    start: int
    end: int


class Sentence(NamedTuple):
    """text[start:end]; kind is that of its block."""

    start: int
    end: int
    kind: str


def blocks(text: str) -> list[Block]:
    """The blocks of a text in their order, blank lines left out."""
    found: list[Block] = []
    code = fenced(text)
    before = "blank"
    for start, end, line in lines(text):
        while code and code[0][1] < start:
            code.pop(0)
        in_code = bool(code) and code[0][0] < end
        kind = "code" if in_code else next(kind for kind, begins in KINDS if begins.match(line))
        joined = kind == before == "code" or kind == "paragraph" and before in GOES_ON or kind == before == "quote"
        if joined:
            found[-1] = found[-1]._replace(end=end)
        elif kind != "blank":
            found.append(Block(kind, start, end))
        before = before if joined else kind
    return found


def lines(text: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line), line
        start += len(line) + 1


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text's prose in their order."""
    return [sentence for block in blocks(text) if block.kind in PROSE for sentence in split(text, block)]


def split(text: str, block: Block) -> Iterator[Sentence]:
    start = block.start
    comments = [match.span() for match in COMMENT.finditer(text, block.start, block.end)]
    for match in END.finditer(text, block.start, block.end):
        if any(low < match.end() <= high for low, high in comments):
            continue
        if text.endswith(ABBREVIATIONS, start, match.end()) or is_list_number(text, start, match.end()):
            continue
        yield Sentence(start, match.end(), block.kind)
        start = match.end()
        while start < block.end and text[start].isspace():
            start += 1
    if text[start : block.end].strip():
        yield Sentence(start, block.end, block.kind)


def is_list_number(text: str, start: int, end: int) -> bool:
    """Whether what ends here is but the number of a list's item."""
    return end - start < 12 and text[start : end - 1].strip(" \t>0123456789") == ""
