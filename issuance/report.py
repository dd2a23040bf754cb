"""Composing a report: the author's draft, in which markers become the text that they cite, and what is wrong with it.

1. A marker becomes pieces of text, each with what it cites; a unit that the text repeats beside it is dropped.
2. Names in backticks are looked up.
3. The numbers of the whole text are found. One that is not within a citation is a bare number, also where it is only
   partly within one: 1[[m:gmv]] or [[m:gmv]]万.
4. What violates these rules is marked in the text.

The result rests on nothing but the draft and the evidence, so that whoever has both can compose it again.
"""

from __future__ import annotations

import bisect
import json
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union

import answer_format
from answer_format import Leaf, array
from issuance import blocks, code, markers, sql
from issuance.blocks import Sentence
from issuance.evidence import NOT_VERBATIM, UNKNOWN_NAME, Cited, Evidence, Uncitable
from issuance.formats import MAX_BYTES, anything, record_with
from issuance.markers import SHAPED_AS_NAME, Malformed, Marker
from issuance.numerals import markup
from issuance.numerals.plain import fold
from issuance.pieces import BAD_MARKER, BARE_NUMBER, CONTRADICTION, HIDDEN, Piece, Violation
from issuance.repetition import without_repetition
from issuance.tracing import Traced
from issuance.wording import Wording, without_minus

MARK = " [unchecked]"
MARKING = {"kind": "mark"}


class Fabricated(NamedTuple):
    """A name in a block of code that is not known."""

    text: str
    start: int
    end: int
    reason: str


class Citation(NamedTuple):
    start: int
    end: int
    about: dict[str, Any]


class Report(NamedTuple):
    text: str
    citations: list[Citation]
    sentences: list[Sentence]
    violations: list[Violation]
    unchecked: list[str]  # names that a truncated schema leaves open
    numbers: list[Traced]


Part = Union[Marker, Malformed, Fabricated, None]  # of a draft; None is a code span
IN_CODE = "a marker in code is not read: write it without backticks, outside of code"


def compose(draft: str, evidence: Evidence, allow: Iterable[str] = ()) -> Report:
    """The report of a draft."""
    evidence.begin()
    violations: list[Violation] = []
    pieces = list(without_repetition(cited(draft, evidence, violations), evidence))
    pieces = without_minus(pieces, evidence)
    wording = Wording(draft, pieces, evidence)
    numbers = wording.check(allow)
    violations += wording.violations
    violations.sort(key=lambda one: (one.start, one.end))
    if violations:
        pieces = list(marked(pieces, violations))
        numbers = shifted(numbers, pieces)
    text = "".join(piece.text for piece in pieces)
    citations = list(places(pieces))
    unchecked = [one.about["name"] for one in citations if one.about.get("unchecked")]
    return Report(text, citations, blocks.sentences(text), violations, list(dict.fromkeys(unchecked)), numbers)


def places(pieces: Iterable[Piece]) -> Iterator[Citation]:
    at = 0
    for piece in pieces:
        if piece.citation:
            yield Citation(at, at + len(piece.text), piece.citation)
        at += len(piece.text)


def cited(draft: str, evidence: Evidence, violations: list[Violation]) -> Iterator[Piece]:
    """The draft in pieces: text as it is, and what markers and names in backticks became."""
    fences = markup.fenced(draft) if "```" in draft or "~~~" in draft else []
    spans = markup.spans(draft, fences) if "`" in draft else []
    coded = sorted(fences + spans)
    parts: list[tuple[int, int, Part]] = [
        (one.start, one.end, one) for one in markers.find(draft) if not markup.inside(one.start, coded)
    ]
    parts += [(start, end, None) for start, end in spans]
    if fences or "<" in draft:
        parts += [(one.start, one.end, one) for one in in_blocks(draft, fences, evidence)]
    at = 0
    for start, end, marker in sorted(parts, key=operator.itemgetter(0, 1)):
        if start < at:
            continue
        if at < start:
            yield Piece(draft[at:start], at, start)
        yield from one_part(draft, start, end, marker, evidence, violations)
        at = end
    if at < len(draft):
        yield Piece(draft[at:], at, len(draft))


def one_part(
    draft: str, start: int, end: int, marker: Part, evidence: Evidence, violations: list[Violation]
) -> Iterator[Piece]:
    """The pieces of a marker or a code span."""
    text = draft[start:end]
    try:
        if marker is None:
            if SHAPED_AS_NAME(text.strip("`").strip()):
                unglued(draft, start, end)
            yield from code_span(text, start, end, evidence)
        elif isinstance(marker, Malformed):
            raise Uncitable(BAD_MARKER, marker.reason)
        elif isinstance(marker, Fabricated):
            raise Uncitable(UNKNOWN_NAME, marker.reason)
        else:
            if marker.kind == "table":
                if not is_alone(draft, start, end):
                    raise Uncitable(BAD_MARKER, "a table needs a line of its own")
                yield from table(draft, start, end, evidence.cite(marker))
                return
            if marker.kind in "tc":
                unglued(draft, start, end)
            for found in evidence.cite(marker):
                yield Piece(found.text, start, end, found.citation or {}, found.unit)
    except Uncitable as fault:
        violations.append(Violation(fault.args[0], start, end, text, fault.args[1]))
        yield Piece(text, start, end, {"kind": "violation", "violation": fault.args[0]})


def unglued(draft: str, start: int, end: int) -> None:
    """Raises Uncitable for a name that letters beside it make another one."""
    if glued := code.glued(draft, start, end):
        raise Uncitable(UNKNOWN_NAME, f'"{glued}" beside the name makes another name of it')


def code_span(text: str, start: int, end: int, evidence: Evidence) -> Iterator[Piece]:
    """A code span: a name that is known, or code whose names are."""
    inside = text.strip("`").strip()
    if any(not fold(char) for char in inside):
        raise Uncitable(UNKNOWN_NAME, "holds a character that does not show")
    if any(isinstance(one, Marker) for one in markers.find(inside)):
        raise Uncitable(BAD_MARKER, IN_CODE)
    if SHAPED_AS_NAME(inside) and inside.lower() not in sql.WORDS and not evidence.is_value(inside):
        yield Piece(text, start, end, evidence.known(inside))
        return
    if evidence.is_value(inside) or not SHAPED_AS_NAME(inside) and evidence.in_sql(inside):
        yield Piece(text, start, end)
        return
    if "--" in inside or "/*" in inside:
        raise Uncitable(UNKNOWN_NAME, "holds a comment, which nothing checks")
    for name, _ in code.names(inside):
        evidence.known(name)
    yield Piece(text, start, end)


def in_blocks(draft: str, fences: list[tuple[int, int]], evidence: Evidence) -> Iterator[Malformed | Fabricated]:
    """What is wrong with the code of fenced blocks and <code> elements: names that are not known, and markers."""
    for start, body in code.bodies(draft, fences):
        for one in markers.find(body) if "[[" in body else ():
            if isinstance(one, Marker):
                yield Malformed(one.text, start + one.start, start + one.end, IN_CODE)
                body = f"{body[: one.start]}{' ' * len(one.text)}{body[one.end :]}"
        if evidence.is_value(body.strip()) or evidence.in_sql(body):
            continue
        for name, token in code.names(body):
            try:
                evidence.known(name)
            except Uncitable as fault:
                place = start + token.start, start + token.end
                yield Fabricated(draft[slice(*place)], *place, fault.args[1])


def is_alone(draft: str, start: int, end: int) -> bool:
    before, after = draft.rfind("\n", 0, start) + 1, draft.find("\n", end)
    return not draft[before:start].strip(" \t>") and not draft[end : after if after >= 0 else None].strip()


def table(draft: str, start: int, end: int, parts: Iterable[Cited]) -> Iterator[Piece]:
    """The pieces of a table: each line behind what stands before the marker, blank lines around it."""
    line = draft.rfind("\n", 0, start) + 1
    prefix = draft[line:start]
    above = draft[draft.rfind("\n", 0, max(line - 1, 0)) + 1 : max(line - 1, 0)]
    below = draft[end:].partition("\n")[2].partition("\n")[0]
    if above.strip(" \t>\r"):
        yield Piece(f"\n{prefix}", start, end, {})
    for found in parts:
        yield Piece(found.text.replace("\n", f"\n{prefix}"), start, end, found.citation or {}, found.unit)
    if below.strip(" \t>\r"):
        quoted = below.lstrip().startswith(">")
        yield Piece(f"\n{prefix.rstrip()}" if quoted else "\n", end, end, {})


def marked(pieces: Iterable[Piece], violations: Sequence[Violation]) -> Iterator[Piece]:
    """The pieces with a mark after each violation."""
    bare = [one for one in violations if one.kind in (BARE_NUMBER, CONTRADICTION, HIDDEN, NOT_VERBATIM)]
    at = 0
    for piece in pieces:
        if piece.citation is not None:
            yield piece
            ends_here = at < len(bare) and bare[at].end <= piece.end
            while at < len(bare) and bare[at].end <= piece.end:
                at += 1
            if piece.citation.get("kind") == "violation" or ends_here:
                yield Piece(MARK, piece.end, piece.end, MARKING)
            continue
        start = piece.start
        while at < len(bare) and bare[at].end <= piece.end:
            end, kind = max(bare[at].end, start), bare[at].kind
            if end > start:
                begins = min(max(bare[at].start, start), end)
                yield Piece(piece.text[start - piece.start : begins - piece.start], start, begins)
                yield Piece(
                    piece.text[begins - piece.start : end - piece.start],
                    begins,
                    end,
                    {"kind": "violation", "violation": kind},
                )
            yield Piece(MARK, end, end, MARKING)
            start, at = end, at + 1
        yield Piece(piece.text[start - piece.start :], start, piece.end)


def shifted(numbers: Sequence[Traced], pieces: Iterable[Piece]) -> list[Traced]:
    """The numbers at their places in the text with its marks."""
    marks, at = [], 0  # where in the text without marks each stands
    for piece in pieces:
        if piece.citation is MARKING:
            marks.append(at)
        else:
            at += len(piece.text)

    def moved_by(place: int) -> int:
        return len(MARK) * bisect.bisect_right(marks, place)

    found = []
    for one in numbers:
        start, end = one.numeral.start, one.numeral.end
        numeral = one.numeral._replace(start=start + moved_by(start), end=end + moved_by(end - 1))
        found.append(one._replace(numeral=numeral))
    return found


def encode(report: Report) -> bytes:
    """The document as it is stored: the text, what each part of it cites, its sentences, and what is wrong with it."""
    content = {
        "text": report.text,
        "unchecked": report.unchecked,
        "citations": [{"start": one.start, "end": one.end, **one.about} for one in report.citations],
        "sentences": [{"id": f"S{number}", **one._asdict()} for number, one in enumerate(report.sentences, 1)],
        "violations": [one._asdict() for one in report.violations],
    }
    return (json.dumps(content) + "\n").encode("ascii")


ABOUT = "metric conversions input query row column artifact name is unchecked chunk at basis violation".split()
PLACE = answer_format.integer_to(MAX_BYTES)
TEXT = Leaf("text", lambda value: type(value) is str)
DOCUMENT = answer_format.record(
    text=TEXT,
    unchecked=array(TEXT, 0, 10_000_000),
    citations=array(
        record_with(
            {"start": PLACE, "end": PLACE, "kind": TEXT},
            dict.fromkeys(ABOUT, anything),
        ),
        0,
        10_000_000,
    ),
    sentences=array(answer_format.record(id=TEXT, start=PLACE, end=PLACE, kind=TEXT), 0, 10_000_000),
    violations=array(
        answer_format.record(kind=TEXT, start=PLACE, end=PLACE, text=TEXT, message=TEXT), 0, 10_000_000
    ),
)
