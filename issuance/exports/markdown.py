"""Markdown as blocks of runs, each of which knows its place in the source; what could hide words is plain text.

Read are CommonMark's blocks and inlines and GitHub's tables and ~~strikethrough~~, without HTML, reference links,
link titles, indented code and lazy continuation lines. No emphasis, link or block reaches over more than its own
lines, each line is read once a level, and levels are bounded: all of it takes time linear in the text's length.
"""

from __future__ import annotations

import bisect
import html
import re
from collections.abc import Sequence
from html.entities import html5
from itertools import accumulate
from typing import Callable, NamedTuple

from issuance.numerals.markup import FENCE, fenced

DEPTH = 12  # of lists and quotes in one another
MARKS = ("strong", "em", "del", "code")

SPACES = re.compile(r"[ \t]*")
QUOTE = re.compile(r"[ \t]*>")
HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)")
MARKER = re.compile(r"(?:[-*+]|([0-9]{1,9})[.)])(?:[ \t]+|$)")
UNDERLINE = re.compile(r"=+|-+")
DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
PIPE = re.compile(r"\\.|\|")
TICKS = re.compile(r"`+")
TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~\n]|`+"
    r"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|<(?:https?://|mailto:)[^\s<>\"'`\x00-\x1f\x7f-\x9f]+>"
    r"|!?\[\[[a-z]+:[^\[\]\n]*\]\]|!?\[|\]|\*+|_+|~+",
    re.IGNORECASE,
)
TARGET = re.compile(r"\]\(([^()\n`]*(?:\([^()\n`]*\)[^()\n`]*)*)\)")
ADDRESS = re.compile(r"(?:https?://|mailto:|#)[^\s<>\"'`\x00-\x1f\x7f-\x9f]*", re.IGNORECASE)

Places = Sequence[tuple[int, int]]


class Run(NamedTuple):
    """What is shown of source[start:end]: that itself, or what an entity or a backslash escape there stands for."""

    start: int
    end: int
    text: str
    marks: tuple[str, ...] = ()  # in the order of MARKS
    href: str = ""


class Block(NamedTuple):
    """A heading, paragraph, quote, list, item, table, row, cell, code or rule.

    The level is a heading's 1 to 6, 1 of an ordered list, 1 of a table's head row, else 0. An ordered item's only
    run is its number as written.
    """

    kind: str
    level: int
    runs: list[Run]
    children: list[Block]


class Line(NamedTuple):
    """What containers leave of a line: the columns of white space before it, source[start:end], no white space around.

    A fenced code block is one line, the first, and where the block ends.
    """

    indent: int
    start: int
    end: int
    block_end: int = 0


class Source:
    """The text and the places in it that must be shown."""

    def __init__(self, text: str, kept: Places) -> None:
        self.text = text
        self.starts = [start for start, _ in kept]
        self.ends = [end for _, end in kept]

    def hides(self, start: int, end: int) -> bool:
        """Whether a kept place would suffer if source[start:end] were not shown."""
        index = bisect.bisect_right(self.ends, start)
        return index < len(self.starts) and self.starts[index] < end


def read(text: str, kept: Places = ()) -> list[Block]:
    """The blocks of a text; of kept places, sorted and apart, only emphasis, escapes and entities are markup."""
    return blocks(Source(text, kept), lines_of(text), 0)


def lines_of(text: str) -> list[Line]:
    lines, start, block_ends = [], 0, dict(fenced(text))
    while start <= len(text):
        newline = text.find("\n", start)
        end = newline if newline >= 0 else len(text)
        block_end = block_ends.get(start, 0)
        lines.append(line_at(text, start, start + len(text[start:end].rstrip(" \t\r")), 0, block_end))
        start = max(end, block_end) + 1
    return lines


def line_at(text: str, start: int, end: int, indent: int = 0, block_end: int = 0) -> Line:
    spaces = SPACES.match(text, start, end)
    assert spaces
    return Line(max(0, indent + len(spaces[0].expandtabs(4))), spaces.end(), end, block_end)  # -1 with no space


def blocks(source: Source, lines: list[Line], depth: int) -> list[Block]:
    found, index = [], 0
    while index < len(lines):
        if lines[index].start == lines[index].end:
            index += 1
        else:
            block, index = block_at(source, lines, index, depth)
            found.append(block)
    return found


def block_at(source: Source, lines: list[Line], index: int, depth: int) -> tuple[Block, int]:
    """The block that starts at a line that is not blank, and the index of the line after it."""
    line = lines[index]
    if line.block_end and source.text.startswith(("```", "~~~"), line.start):
        return code(source, line), index + 1
    if depth < DEPTH and is_quoted(source, line):
        return quote(source, lines, index, depth)
    if heading_of(source, line):
        return heading(source, line), index + 1
    if is_rule(source, line):
        return Block("rule", 0, [], []), index + 1
    if depth < DEPTH and marker_of(source, line):
        return list_at(source, lines, index, depth)
    if line.block_end:
        return code(source, line), index + 1
    if is_table(source, lines, index):
        return table(source, lines, index, depth)
    return paragraph(source, lines, index, depth)


def starts_block(source: Source, lines: list[Line], index: int, depth: int) -> bool:
    """Whether a line cannot go on with the paragraph before it."""
    line = lines[index]
    if line.block_end or heading_of(source, line) or is_rule(source, line) or is_table(source, lines, index):
        return True
    marker = marker_of(source, line)
    begins = marker and marker.end() < line.end and marker[1] in (None, "1")
    return depth < DEPTH and bool(begins or is_quoted(source, line))


def is_quoted(source: Source, line: Line) -> bool:
    return source.text.startswith(">", line.start, line.end) and not source.hides(line.start, line.start + 1)


def quote(source: Source, lines: list[Line], index: int, depth: int) -> tuple[Block, int]:
    inner = []
    while index < len(lines) and is_quoted(source, lines[index]):
        line = lines[index]
        inner.append(line_at(source.text, line.start + 1, line.end, -1, line.block_end))
        index += 1
    return Block("quote", 0, [], blocks(source, inner, depth + 1)), index


def heading_of(source: Source, line: Line) -> re.Match[str] | None:
    found = HEADING.match(source.text, line.start, line.end)
    return found if found and not source.hides(line.start, found.end()) else None


def heading(source: Source, line: Line) -> Block:
    found = heading_of(source, line)
    assert found
    body = source.text[found.end() : line.end]
    bare = body.rstrip("#")
    if (not bare or bare[-1] in " \t") and not source.hides(found.end() + len(bare), line.end):
        body = bare.rstrip(" \t")
    return Block("heading", len(found[1]), inline(source, [(found.end(), found.end() + len(body))]), [])


def is_rule(source: Source, line: Line) -> bool:
    if line.start == line.end or source.text[line.start] not in "-*_":
        return False
    signs = source.text[line.start : line.end].replace(" ", "").replace("\t", "")
    return len(signs) > 2 and signs == signs[0] * len(signs) and not source.hides(line.start, line.end)


def marker_of(source: Source, line: Line) -> re.Match[str] | None:
    """The bullet, or the number as group 1, that starts an item."""
    found = MARKER.match(source.text, line.start, line.end)
    if not found or is_rule(source, line):
        return None
    return None if source.hides(found.end(1) + 1 if found[1] else line.start, found.end()) else found


def list_at(source: Source, lines: list[Line], index: int, depth: int) -> tuple[Block, int]:
    first = marker_of(source, lines[index])
    assert first
    items: list[Block] = []
    marker: re.Match[str] | None = first
    while marker and marker[0].rstrip()[-1] == first[0].rstrip()[-1]:
        number = Run(marker.start(), marker.end(1) + 1, marker[1] + marker[0].rstrip()[-1]) if marker[1] else None
        inner, index = item_lines(source, lines, index, len(marker[0].rstrip()))
        items.append(Block("item", 0, [number] if number else [], blocks(source, inner, depth + 1)))
        marker = marker_of(source, lines[index]) if index < len(lines) else None
    return Block("list", int(first[1] is not None), [], items), index


def item_lines(source: Source, lines: list[Line], index: int, width: int) -> tuple[list[Line], int]:
    """The lines of the item whose marker is so wide; two columns more than its marker's are enough for the others."""
    line = lines[index]
    least = line.indent + 2
    inner = [line_at(source.text, line.start + width, line.end, width - 2, line.block_end)]
    index += 1
    while index < len(lines) and (lines[index].indent >= least or lines[index].start == lines[index].end):
        inner.append(lines[index]._replace(indent=max(0, lines[index].indent - least)))
        index += 1
    return inner, index


def code(source: Source, line: Line) -> Block:
    """A fenced code block without its fences, but with the first if it says what must be shown."""
    text = source.text
    begin = text.rfind("\n", 0, line.start) + 1
    opening = FENCE.match(text, begin)
    assert opening
    place, stop = opening.end() + 1, line.block_end
    last = text.rfind("\n", 0, stop) + 1
    closing = FENCE.match(text, last) if last > begin else None
    if closing and closing[1].startswith(opening[1]) and not closing[2].strip():
        stop = last
    pieces = []
    if line.start < opening.start(1) or source.hides(*opening.span(2)):
        pieces.append((line.start, min(place, len(text))))
    quotes = text.count(">", begin, line.start)
    width = line.start - 1 - max(text.rfind(">", begin, line.start), begin - 1)
    while place < stop:
        end = text.find("\n", place, stop) + 1 or stop
        pieces.append((code_start(source, place, end, quotes, width), end))
        place = end
    return Block("code", 0, shown(text, [Run(start, end, "") for start, end in pieces]), [])


def code_start(source: Source, place: int, end: int, quotes: int, width: int) -> int:
    """Where a line of a code block starts, behind so many signs of a quote and columns."""
    for _ in range(quotes):
        sign = QUOTE.match(source.text, place, end)
        if not sign or source.hides(*sign.span()):
            break
        place = sign.end()
    spaces = SPACES.match(source.text, place, min(place + width, end))
    return spaces.end() if spaces else place


def is_table(source: Source, lines: list[Line], index: int) -> bool:
    """Whether a row and a delimiter row of as many cells start here."""
    if index + 1 >= len(lines) or lines[index].block_end:
        return False
    head, (_, start, end, _) = lines[index], lines[index + 1]
    if not DELIMITERS.fullmatch(source.text, start, end) or source.hides(start, end):
        return False
    pipes = is_row(source, head) and is_row(source, lines[index + 1])
    return pipes and len(cells(source, head)) == len(cells(source, lines[index + 1]))


def is_row(source: Source, line: Line) -> bool:
    return source.text.find("|", line.start, line.end) >= 0


def table(source: Source, lines: list[Line], index: int, depth: int) -> tuple[Block, int]:
    rows = [row(source, lines[index], 1)]
    index += 2
    while index < len(lines) and is_row(source, lines[index]) and not starts_block(source, lines, index, depth):
        rows.append(row(source, lines[index], 0))
        index += 1
    return Block("table", 0, [], rows), index


def row(source: Source, line: Line, level: int) -> Block:
    return Block("row", level, [], [Block("cell", 0, inline(source, cell), []) for cell in cells(source, line)])


def cells(source: Source, line: Line) -> list[list[tuple[int, int]]]:
    """The pieces of each cell of a row; they leave out the backslashes before pipes."""
    found: list[list[tuple[int, int]]] = [[]]
    start = line.start
    for match in PIPE.finditer(source.text, line.start, line.end):
        if match[0] == r"\|":
            found[-1].append((start, match.start()))
            start = match.start() + 1
        elif match[0] == "|" and not source.hides(*match.span()):
            found[-1].append((start, match.start()))
            found.append([])
            start = match.end()
    found[-1].append((start, line.end))
    first = len(found) > 1 and found[0] == [(line.start, line.start)]
    last = len(found) > 1 + first and found[-1] == [(line.end, line.end)]
    return [trimmed(source.text, cell) for cell in found[first : len(found) - last]]


def trimmed(text: str, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    start, end = pieces[0]
    pieces[0] = (min(end, line_at(text, start, end).start), end)
    start, end = pieces[-1]
    pieces[-1] = (start, start + len(text[start:end].rstrip(" \t")))
    return pieces


def paragraph(source: Source, lines: list[Line], index: int, depth: int) -> tuple[Block, int]:
    """A paragraph, or the heading that a line of = or - makes of it."""
    pieces = [(lines[index].start, lines[index].end)]
    index += 1
    while index < len(lines) and lines[index].start < lines[index].end:
        line = lines[index]
        if UNDERLINE.fullmatch(source.text, line.start, line.end) and not source.hides(line.start, line.end):
            level = 1 if source.text[line.start] == "=" else 2
            return Block("heading", level, inline(source, pieces), []), index + 1
        if starts_block(source, lines, index, depth):
            break
        newline = source.text.index("\n", pieces[-1][1])
        pieces += [(newline, newline + 1), (line.start, line.end)]
        index += 1
    return Block("paragraph", 0, inline(source, pieces), []), index


class Token:
    """A part of a joined text: what is shown of it, and what begins after it and ends before it."""

    __slots__ = ("start", "end", "text", "begins", "ends", "href", "sign", "size", "opens", "closes")

    def __init__(self, start: int, end: int, text: str | None = None, href: str | None = None) -> None:
        self.start, self.end, self.text, self.href = start, end, text, href
        self.begins: list[str] = []
        self.ends: list[str] = []
        self.sign, self.size, self.opens, self.closes = "", 0, False, False


class Bracket:
    """An open bracket: its place, its token's index, how deep brackets within it are, whether a link is."""

    __slots__ = ("start", "end", "index", "image", "depth", "linked")

    def __init__(self, start: int, end: int, index: int) -> None:
        self.start, self.end, self.index = start, end, index
        self.image, self.depth, self.linked = end - start == 2, 0, False


class Inline:
    """The pieces of a source that make up one text, being read from left to right into tokens."""

    def __init__(self, source: Source, pieces: list[tuple[int, int]]) -> None:
        self.source, self.pieces = source, pieces
        self.text = "".join(source.text[start:end] for start, end in pieces)
        self.offsets = [0, *accumulate(end - start for start, end in pieces)][:-1]
        self.tokens: list[Token] = []
        self.brackets: list[Bracket] = []
        self.done = 0
        self.ticks: dict[int, list[int]] = {}
        for ticks in TICKS.finditer(self.text):
            self.ticks.setdefault(len(ticks[0]), []).append(ticks.start())

    def add(self, token: Token, end: int) -> Token:
        """Add the plain text before a token and the token itself, which reaches from its start to an end."""
        self.tokens += [Token(self.done, token.start)] if self.done < token.start else []
        self.tokens.append(token)
        self.done = end
        return token

    def hides(self, start: int, end: int) -> bool:
        return self.source.hides(self.place(start), self.place(end - 1) + 1)

    def place(self, offset: int) -> int:
        """The source's place of a character."""
        index = bisect.bisect_right(self.offsets, offset) - 1
        return self.pieces[index][0] + offset - self.offsets[index]

    def places(self, token: Token) -> list[tuple[int, int]]:
        """Where in the source a token is: at one place if it stands for another text, else in each of the pieces."""
        found, start = [], token.start
        while start < token.end:
            index = bisect.bisect_right(self.offsets, start) - 1
            end = token.end if token.text else min(token.end, (self.offsets[index + 1 : index + 2] or [token.end])[0])
            found.append((self.place(start), self.place(end - 1) + 1))
            start = end
        return found


def inline(source: Source, pieces: list[tuple[int, int]]) -> list[Run]:
    """The runs of a text that these pieces of the source make up."""
    text = Inline(source, pieces)
    place = 0
    match = TOKEN.search(text.text)
    while match:
        place = READERS[match[0][0]](text, match)
        match = TOKEN.search(text.text, place)
    end = len(text.text)
    text.add(Token(end, end), end)
    emphasise(text.tokens)
    return shown(source.text, parts(text))


def read_escape(text: Inline, match: re.Match[str]) -> int:
    verbatim = match[0] == "\\\n"
    token = text.add(Token(match.start(), match.end(), None if verbatim else match[0][1]), match.end())
    token.start += verbatim
    return match.end()


def read_entity(text: Inline, match: re.Match[str]) -> int:
    known = match[0][1] == "#" or match[0][1:] in html5
    meaning = html.unescape(match[0]) if known else ""
    if meaning:
        text.add(Token(match.start(), match.end(), meaning), match.end())
    return match.end()


def read_code(text: Inline, match: re.Match[str]) -> int:
    size = len(match[0])
    closers = text.ticks.get(size, [])
    index = bisect.bisect_left(closers, match.end())
    if index == len(closers):
        return match.end()
    start, end = match.end(), closers[index]
    inner = text.text[start:end]
    spaced = inner[0] == inner[-1] == " " and inner.strip() != ""
    text.add(Token(match.start(), match.start()), start + spaced).begins.append("code")
    text.add(Token(end - spaced, end - spaced), end + size).ends.append("code")
    return end + size


def read_autolink(text: Inline, match: re.Match[str]) -> int:
    start, end = match.span()
    if not text.hides(start, start + 1) and not text.hides(end - 1, end):
        text.add(Token(start, start, href=match[0][1:-1]), start + 1)
        text.add(Token(end - 1, end - 1, href=""), end)
        if text.brackets:
            text.brackets[-1].linked = True
    return end


def read_opening(text: Inline, match: re.Match[str]) -> int:
    if match[0] in ("[", "!["):  # and no citation marker
        text.add(Token(*match.span()), match.end())
        text.brackets.append(Bracket(match.start(), match.end(), len(text.tokens) - 1))
    return match.end()


def read_closing(text: Inline, match: re.Match[str]) -> int:
    """A link or an image, or else that as plain text; brackets with no address in () behind them are just text."""
    if not text.brackets:
        return match.end()
    bracket = text.brackets.pop()
    target = TARGET.match(text.text, match.start()) if bracket.depth < 2 and not bracket.linked else None
    taken = target is not None and is_link(text, bracket, target)
    if text.brackets:
        outer = text.brackets[-1]
        outer.depth = max(outer.depth, bracket.depth + 1)
        outer.linked |= bracket.linked or (taken and not bracket.image)
    if not target:
        return match.end()
    if taken:
        link(text, bracket, target)
    else:
        del text.tokens[bracket.index :]
        text.done = bracket.start
        text.add(Token(target.end(), target.end()), target.end())
    return target.end()


def link(text: Inline, bracket: Bracket, target: re.Match[str]) -> None:
    """Show no more of a link or an image than what is between the brackets; an image leads nowhere."""
    opening = text.tokens[bracket.index]
    opening.end = opening.start
    closing = text.add(Token(target.start(), target.start()), target.end())
    if not bracket.image:
        opening.href, closing.href = target[1], ""


def is_link(text: Inline, bracket: Bracket, target: re.Match[str]) -> bool:
    """Whether a link or an image can be one: its address is allowed, and neither it nor a bracket must be shown."""
    if text.hides(bracket.start, bracket.end) or text.hides(*target.span()):
        return False
    if bracket.image:
        return target[1] == "".join(target[1].split())
    return ADDRESS.fullmatch(target[1]) is not None and text.text[bracket.end : target.start()].strip() != ""


def read_delimiters(text: Inline, match: re.Match[str]) -> int:
    """Signs of emphasis: * and ~~ next to a word on one side, _ also with none on the other."""
    if match[0][0] == "~" and match[0] != "~~":
        return match.end()
    start, end = match.span()
    before, after = text.text[max(0, start - 1) : start] or " ", text.text[end : end + 1] or " "
    token = text.add(Token(*match.span()), match.end())
    token.sign, token.size = match[0][0], len(match[0])
    inside = token.sign == "_"
    token.opens = not after.isspace() and not (inside and before.isalnum())
    token.closes = not before.isspace() and not (inside and after.isalnum())
    return match.end()


READERS: dict[str, Callable[[Inline, re.Match[str]], int]] = {
    "\\": read_escape,
    "&": read_entity,
    "`": read_code,
    "<": read_autolink,
    "!": read_opening,
    "[": read_opening,
    "]": read_closing,
    "*": read_delimiters,
    "_": read_delimiters,
    "~": read_delimiters,
}


def emphasise(tokens: list[Token]) -> None:
    """Pair the signs of emphasis, as https://spec.commonmark.org/0.31.2/#phase-2-inline-structure does."""
    openers: list[int] = []
    searched: dict[tuple[str, bool, int], int] = {}  # up to which token there is no opener for such a closer
    for index, token in enumerate(tokens):
        like = (token.sign, token.opens, token.size % 3)
        while token.closes and token.start < token.end:
            if not find_opener(tokens, openers, token, searched.get(like, -1)):
                searched[like] = index - 1
                break
            pair(tokens[openers[-1]], token)
            if tokens[openers[-1]].start == tokens[openers[-1]].end:
                openers.pop()
        if token.opens and token.start < token.end:
            openers.append(index)


def find_opener(tokens: list[Token], openers: list[int], closer: Token, searched: int) -> bool:
    """Whether there is an opener for a closer; those after it are given up."""
    for place in range(len(openers) - 1, -1, -1):
        if openers[place] <= searched:
            return False
        opener = tokens[openers[place]]
        either = opener.closes or closer.opens
        odd = either and (opener.size + closer.size) % 3 == 0 and opener.size % 3 != 0
        if opener.sign == closer.sign and not odd:
            del openers[place + 1 :]
            return True
    return False


def pair(opener: Token, closer: Token) -> None:
    size = min(2, opener.end - opener.start, closer.end - closer.start)
    mark = "del" if closer.sign == "~" else ("em", "strong")[size - 1]
    opener.end -= size
    closer.start += size
    opener.begins.append(mark)
    closer.ends.append(mark)


def parts(text: Inline) -> list[Run]:
    """The runs of the tokens, one for each piece of the source; the text of one that is as it stands there is empty."""
    found, href, counts = [], "", dict.fromkeys(MARKS, 0)
    for token in text.tokens:
        for mark in token.ends:
            counts[mark] -= 1
        marks = tuple(mark for mark in MARKS if counts[mark])
        found += [Run(start, end, token.text or "", marks, href) for start, end in text.places(token)]
        for mark in token.begins:
            counts[mark] += 1
        href = href if token.href is None else token.href
    return found


def shown(text: str, found: list[Run]) -> list[Run]:
    """The runs with their texts, those of them joined that follow each other and are alike."""
    groups: list[list[Run]] = []
    for run in found:
        before = groups[-1][-1] if groups else None
        if before and before.end == run.start and before[2:] == run[2:] and not run.text:
            groups[-1].append(run)
        else:
            groups.append([run])
    return [
        group[0]._replace(end=group[-1].end, text=group[0].text or text[group[0].start : group[-1].end])
        for group in groups
    ]
