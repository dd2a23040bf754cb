"""Knowledge: texts that a report may quote, in chunks K1, K2, ... between blank lines.

A quote stands in its chunk word for word; white space aside, and never cutting into a word or a number.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from issuance.numerals.finding import find
from issuance.numerals.plain import Plain

BLANK_LINES = re.compile(r"(?:[ \t\r]*\n){2,}")
SPACE = re.compile(r"\s+")
MOST_COMPARED = 20_000  # code points of a chunk that are looked through for what comes nearest to a quote
MOST_PLACES = 200  # at which words of a quote are looked for
SHOWN = 160


class Chunk(NamedTuple):
    name: str  # K1, K2, ... through all files of a job
    file: str
    text: str  # with single spaces


def chunks(files: Sequence[tuple[str, str]]) -> dict[str, Chunk]:
    """The chunks of files, which are paths and texts."""
    found: dict[str, Chunk] = {}
    for file, text in files:
        for part in BLANK_LINES.split(text):
            if part.strip():
                name = f"K{len(found) + 1}"
                found[name] = Chunk(name, file, spaced(part))
    return found


def spaced(text: str) -> str:
    """A text in which every white space is one space, so that lines may break anywhere."""
    return SPACE.sub(" ", text).strip()


def place(chunk: Chunk, words: str) -> int | None:
    """Where words stand in a chunk word for word, not cutting into a word or a number; None for nowhere."""
    words = spaced(words)
    at = chunk.text.find(words)
    for _ in range(MOST_PLACES):
        if at < 0:
            break
        if not cuts(chunk.text, at) and not cuts(chunk.text, at + len(words)):
            return at
        at = chunk.text.find(words, at + 1)
    return None


def cuts(text: str, at: int) -> bool:
    """Whether a place is within a word of letters and digits, or within a number."""
    if cuts_word(text, at):
        return True
    near = max(at - 40, 0)
    return any(one.start + near < at < one.end + near for one in find(Plain(text[near : at + 40])))


def cuts_word(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at : at + 1]
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


def nearest(chunk: Chunk, words: str) -> str:
    """The passage of a chunk that comes closest to words."""
    text, words = chunk.text[:MOST_COMPARED], spaced(words)
    match = difflib.SequenceMatcher(None, text, words, autojunk=False).find_longest_match(
        0, len(text), 0, min(len(words), 500)
    )
    start = max(match.a - match.b, 0)
    end = start + len(words)
    while start and cuts_word(text, start):
        start -= 1
    while end < len(text) and cuts_word(text, end):
        end += 1
    passage = text[start:end].strip()
    return passage if len(passage) <= SHOWN else f"{passage[:SHOWN]}..."
