"""What a draft repeats beside a citation, and its report does not: a unit, quotation marks, a space, a minus sign."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from issuance.evidence import Evidence
from issuance.numerals import currencies, units
from issuance.numerals.plain import fold
from issuance.pieces import Piece

SPACES = (" ", "\u00a0", "\n")
SPACE = re.compile(r"\A[ \u00a0]*(?:\n(?![ \t]*\n)[ \t]*)?")  # a line may break, but no paragraph
BREAK = re.compile(r"(?:(?<!\n)\n)?[ ]*\Z")


def without_repetition(pieces: Iterable[Piece], evidence: Evidence) -> Iterator[Piece]:
    """The pieces without what the text repeats beside a citation: a metric's unit, a quote's marks, a space."""
    before: Piece | None = None
    for piece in without_marks(list(pieces)):
        if before is None:
            before = piece
            continue
        if before.citation is None and piece.citation and piece.citation["kind"] in REPEATING:
            before = trimmed_end(before, piece)
        elif before.citation and piece.citation is None and before.citation["kind"] in REPEATING:
            framed = FRAME_END.match(piece.text)
            rest = piece if framed is None else Piece(piece.text[framed.end() :], piece.start + framed.end(), piece.end)
            kept = trimmed_start(rest, before, evidence)
            if framed and kept is not rest:
                yield before
                before = Piece(framed[0], piece.start, rest.start)
            piece = kept if kept is not rest else piece
        if before.text or before.citation:
            yield before
        before = piece
    if before is not None:
        yield before


def without_marks(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces without the quotation marks that stand on both sides of a quote, which shows marks of its own."""
    quotes = [at for at, piece in enumerate(pieces) if piece.citation and piece.citation.get("kind") == "quote"]
    marked = {at for at in quotes if is_marked(pieces, at)}
    if not marked:
        yield from pieces
        return
    for at, piece in enumerate(pieces):
        start, end = 0, len(piece.text)
        if at - 1 in marked and (closing := CLOSES(piece.text)):
            start = closing.end()
            yield Piece(closing[1], piece.start, piece.start + len(closing[1]))
        if at + 1 in marked:
            end = max(end - 1, start)
        whole = end - start == len(piece.text)
        yield piece if whole else Piece(piece.text[start:end], piece.start + start, piece.start + end)


def is_marked(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a quote stands between quotation marks of the author's; a comma may stand before the second."""
    if not 0 < at < len(pieces) - 1:
        return False
    before, after = pieces[at - 1], pieces[at + 1]
    if before.citation is not None or after.citation is not None:
        return False
    return before.text.endswith(OPENING) and CLOSES(after.text) is not None


FRAME_END = re.compile(r"(?:[*_~]{1,3}|\]\([^()\s]*\))+")  # of emphasis and links around a citation
OPENING = ("“", '"', "「", "『")
CLOSES = re.compile("([*_~]{0,3}[.,;:!?。，；：！？]?)[”\"」』]").match
REPEATING = ("metric", "basis")


def trimmed_end(text: Piece, cited: Piece) -> Piece:
    """Text before a citation without the currency with which the citation begins."""
    kind, cut = (cited.citation or {})["kind"], len(text.text)
    last = text.text[-2:-1] if text.text.endswith(SPACES) else text.text[-1:]
    if kind == "metric" and last and fold(last) in LAST_OF_UNITS and (named := before_unit(cited.unit or "")):
        found = named.search("".join(fold(char) or char for char in text.text[-LONGEST_UNIT:]))
        cut = found.start() + max(cut - LONGEST_UNIT, 0) if found else cut
    elif kind == "basis":
        cut = len(BREAK.sub("", text.text))
    return text if cut == len(text.text) else Piece(text.text[:cut], text.start, text.start + cut)


LONGEST_UNIT = 12
LAST_OF_UNITS = frozenset(name[-1] for name in currencies.NAMES) | {"之"}


@functools.lru_cache(1_000)
def before_unit(unit: str) -> re.Pattern[str] | None:
    """How a metric's unit may stand, in plain text, in front of its number: a currency's signs, or a percentage."""
    name = units.canonical(unit)[0] if unit else ""
    if name == "%":
        return re.compile("百分之[ \u00a0]?\\Z")
    known = currencies.SIGNS | currencies.CODES | currencies.CHINESE - {"元", "块钱"}
    mine = sorted((one for one in known if currencies.NAMES[one] == name), key=lambda one: (-len(one), one))
    if not mine:
        return None
    return re.compile(f"(?<![a-z])(?:{'|'.join(map(re.escape, mine))})[ \u00a0]?\\Z")


def trimmed_start(text: Piece, cited: Piece, evidence: Evidence) -> Piece:
    """Text behind a citation without the unit with which that ends."""
    about, skip = cited.citation or {}, 0
    if about.get("kind") == "metric":
        skip = repeated_unit(text.text, cited.text, evidence.caliber.card.metrics[about["metric"]].unit)
    return Piece(text.text[skip:], text.start + skip, text.end) if skip else text


def repeated_unit(after: str, rendered: str, unit: str) -> int:
    """How much of a text repeats the unit with which the number before it ends."""
    repeated, firsts = repetitions(rendered, unit)
    if after[:1] not in SPACES and after[:1] not in "-(（" and after[:1].lower() not in firsts:
        return 0
    space = SPACE.match(after).end()  # type: ignore[union-attr]
    space += after[space : space + 1] == "-"
    bracket = BRACKETED.match(after, space)
    if bracket and bracket[1].lower() in [one.lower() for one in repeated]:
        return bracket.end()
    if after[space : space + 1].lower() not in firsts:
        return 0
    for one in repeated:
        end = space + len(one)
        if (
            one
            and after[space:end].lower() == one.lower()
            and not (is_word(one[-1:]) and is_word(after[end : end + 1]))
            and not after.startswith("元旦", end - 1)
        ):
            return end
    return 0


BRACKETED = re.compile(r"[(（]([^()（）\n]{1,20})[)）]")
SCALE = re.compile("[0-9](万|亿|k|M|bn)")
SCALES = {
    "万": ["万"], "亿": ["亿"], "k": ["thousand", "k", "千"], "M": ["millions", "million", "mn", "m"],
    "bn": ["billions", "billion", "bn", "b"],
}  # fmt: skip


@functools.lru_cache(10_000)
def repetitions(rendered: str, unit: str) -> tuple[list[str], frozenset[str]]:
    """How the unit of a number could be repeated, and the first characters of that."""
    repeated = [unit] if unit else []
    if rendered.endswith("%"):
        points = ["percentage points", "percentage-points", "percentage point", "个百分点", "百分点", "pp"]
        repeated += ["%", "％", *points, "percent", "per cent", "per-cent", "pct"]
    name = units.canonical(unit)[0] if unit else ""
    if name in currencies.CURRENCIES:
        names = (one.replace("-", " ") for one, of in currencies.NAMES.items() if of == name)
        repeated += sorted(names, key=lambda one: (-len(one), one))
    if name == "x":
        repeated += ["times", "fold", "×", "倍"]
    if scale := SCALE.search(rendered):
        words = SCALES[scale[1]]
        scaled = [f"{word}{gap}{one}" for word in words for gap in ("", " ") for one in repeated]
        repeated = [*scaled, *words, *repeated]
    return repeated, frozenset(one[0].lower() for one in repeated)


def is_word(char: str) -> bool:
    return char.isascii() and char.isalnum()
