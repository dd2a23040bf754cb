"""Code in a report: spans in backticks, fenced blocks, <code> and its like, and the names in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from issuance import sql
from issuance.numerals.plain import fold, is_letter_or_digit
from issuance.sql import Token

ELEMENT = re.compile(
    r"<(?:code|tt|pre|samp|kbd)(?:\s[^<>]*)?>(.*?)(?:</(?:code|tt|pre|samp|kbd)\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
NO_CODE = re.compile(r"\[\[[a-z]+:(?:(?!\[\[|\]\])[^\n])*\]\]|</?[A-Za-z][^<>]*>|&[#0-9A-Za-z]{1,31};")
GLUED_BEFORE = re.compile(r"(?:[A-Za-z][A-Za-z0-9_]*|[0-9]_+|[A-Za-z0-9_]+\.)\Z")
GLUED_AFTER = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_+[A-Za-z0-9]+|\.[A-Za-z_]+")
LONGEST = 80  # code points of what is looked at before a name


def names(code: str) -> Iterator[tuple[str, Token]]:
    """The names in code that have to be known: aliases, SQL's own words and its functions aside."""
    found = sql.tokens(code)
    aliases = {
        token.text.lower() for before, token in zip(found, found[1:]) if before.is_name("as") and token.kind != "mark"
    }
    for token, after in zip(found, [*found[1:], None]):
        if token.kind not in ("name", "quoted", "parameter") or token.text.lower() in aliases:
            continue
        name = token.text.lstrip(":@$?") or token.text
        is_call = after is not None and after.is_mark("(")
        own = name.lower() in sql.FUNCTIONS if is_call else name in sql.WORDS
        if not own and name not in sql.WORDS and any(map(is_letter, name)):
            yield name, token


def is_letter(char: str) -> bool:
    return bool(fold(char)) and is_letter_or_digit(char) and char not in "0123456789"


def bodies(draft: str, fences: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """What stands in fenced blocks and elements of code, each where it begins, with blanks for what is no code."""
    for start, end in fences:
        first = draft.find("\n", start, end) + 1
        if first:
            last = draft.rfind("\n", start, end)
            closed = draft[last + 1 : end].strip(" >\t")[:3] in ("```", "~~~")
            yield first, draft[first : max(first, last) if closed else end]
    for match in ELEMENT.finditer(draft):
        yield match.start(1), NO_CODE.sub(lambda part: " " * len(part[0]), match[1])


def glued(draft: str, start: int, end: int) -> str:
    """What stands so close to a name that it is part of another; empty for nothing."""
    before = GLUED_BEFORE.search(draft, max(start - LONGEST, 0), start)
    found = before or GLUED_AFTER.match(draft, end)
    return found[0] if found else ""
