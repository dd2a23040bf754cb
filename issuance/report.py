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
import functools
import itertools
import json
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Union

import answer_format
from answer_format import Leaf, array
from issuance import blocks, code, knowledge, markers, prose, sql, tracing
from issuance.blocks import Sentence
from issuance.evidence import NOT_VERBATIM, UNKNOWN_NAME, Cited, Evidence, Uncitable
from issuance.formats import MAX_BYTES, anything, record_with
from issuance.listing import shown
from issuance.markers import SHAPED_AS_NAME, Malformed, Marker
from issuance.numerals import currencies, markup, units
from issuance.numerals.finding import Numeral, find
from issuance.numerals.plain import Plain, fold
from issuance.tracing import Traced

BARE_NUMBER, BAD_MARKER, CONTRADICTION, HIDDEN = "bare_number", "bad_marker", "contradiction", "hidden_character"
MARK = " [unchecked]"
MARKING = {"kind": "mark"}
VALUES = ("metric", "input", "cell")
STATING = (*VALUES, "quote")  # citations whose numbers words beside them could change
GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})*(?:\.([0-9]+))?").fullmatch
SPACES = (" ", "\u00a0", "\n")
SPACE = re.compile(r"\A[ \u00a0]*(?:\n(?![ \t]*\n)[ \t]*)?")  # a line may break, but no paragraph
BREAK = re.compile(r"(?:(?<!\n)\n)?[ ]*\Z")


class Violation(NamedTuple):
    """draft[start:end] == text."""

    kind: str
    start: int
    end: int
    text: str
    message: str


class Piece(NamedTuple):
    """A part of the report's text and the part of the draft that it comes from, verbatim where it cites nothing."""

    text: str
    start: int
    end: int
    citation: dict[str, Any] | None = None
    unit: str | None = ""  # which a number in it bears; None for one that may be given any


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
    numbers = check_numbers(draft, pieces, evidence, allow, violations)
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


def without_repetition(pieces: Iterable[Piece], evidence: Evidence) -> Iterator[Piece]:
    """The pieces without what the text repeats beside a citation: a metric's unit, a quote's marks, a space."""
    before: Piece | None = None
    for piece in pieces:
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


FRAME_END = re.compile(r"(?:[*_~]{1,3}|\]\([^()\s]*\))+")  # of emphasis and links around a citation
OPENING, CLOSING = ("“", '"', "「", "『"), ("”", '"', "」", "』")
REPEATING = ("metric", "quote", "basis")


def trimmed_end(text: Piece, cited: Piece) -> Piece:
    """Text before a citation without the currency or the quotation mark with which the citation begins."""
    kind, last = (cited.citation or {})["kind"], text.text[-1:]
    cut = len(text.text)
    ends = text.text[-2:-1] if last in SPACES else last
    if kind == "metric" and ends in LAST_OF_UNITS and (named := before_unit(cited.unit or "")):
        found = named.search(text.text, max(cut - LONGEST_UNIT, 0))
        cut = found.start() if found else cut
    elif kind == "quote" and last in OPENING:
        cut -= 1
    elif kind == "basis":
        cut = len(BREAK.sub("", text.text))
    return text if cut == len(text.text) else Piece(text.text[:cut], text.start, text.start + cut)


LONGEST_UNIT = 12
LAST_OF_UNITS = frozenset(one for name in currencies.NAMES for one in (name[-1], name[-1].upper())) | {"之"}


@functools.lru_cache(1_000)
def before_unit(unit: str) -> re.Pattern[str] | None:
    """How the unit of a metric may stand in front of its number: a currency's signs and codes, or a percentage."""
    name = units.canonical(unit)[0] if unit else ""
    if name == "%":
        return re.compile("百分之[ \u00a0]?\\Z")
    known = currencies.SIGNS | currencies.CODES | currencies.CHINESE - {"元", "块钱"}
    mine = sorted((one for one in known if currencies.NAMES[one] == name), key=lambda one: (-len(one), one))
    if not mine:
        return None
    return re.compile(f"(?<![A-Za-z])(?:{'|'.join(map(re.escape, mine))})[ \u00a0]?\\Z", re.IGNORECASE)


def trimmed_start(text: Piece, cited: Piece, evidence: Evidence) -> Piece:
    about, skip = cited.citation or {}, 0
    if about.get("kind") == "metric":
        skip = repeated_unit(text.text, cited.text, evidence.caliber.card.metrics[about["metric"]].unit)
    elif about.get("kind") == "quote" and text.text.startswith(CLOSING):
        skip = 1
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
SCALES = {"万": ["万"], "亿": ["亿"], "k": ["thousand", "k"], "M": ["million", "mn", "m"], "bn": ["billion", "bn"]}


@functools.lru_cache(10_000)
def repetitions(rendered: str, unit: str) -> tuple[list[str], frozenset[str]]:
    """How the unit of a number could be repeated, and the first characters of that."""
    repeated = [unit] if unit else []
    if rendered.endswith("%"):
        repeated += ["%", "％", "percent", "per cent"]
    name = units.canonical(unit)[0] if unit else ""
    if name in currencies.CURRENCIES:
        names = (one.replace("-", " ") for one, of in currencies.NAMES.items() if of == name)
        repeated += sorted(names, key=lambda one: (-len(one), one))
    if name == "x":
        repeated += ["times", "fold", "×", "倍"]
    if scale := SCALE.search(rendered):
        words = SCALES[scale[1]]
        alone = words if rendered.endswith(scale[1]) else []
        scaled = [f"{word}{gap}{one}" for word in words for gap in ("", " ") for one in repeated]
        repeated = [*scaled, *alone, *repeated]
    return repeated, frozenset(one[0].lower() for one in repeated)


def is_word(char: str) -> bool:
    return char.isascii() and char.isalnum()


def without_minus(pieces: list[Piece], evidence: Evidence) -> list[Piece]:
    """The pieces without the sign of negative metrics where their clause says already that something fell."""
    falls = [at for at, one in enumerate(pieces) if one.citation and one.text[:1] == "-" and "metric" in one.citation]
    if not falls:
        return pieces
    starts = list(itertools.accumulate((len(piece.text) for piece in pieces), initial=0))
    places = [(start, start + len(one.text)) for start, one in zip(starts, pieces) if one.citation and one.text]
    direction = Direction(evidence, prose.seen(prose.masked("".join(piece.text for piece in pieces), places)))
    for at in falls:
        if direction.says_fell(pieces[at], starts[at]):
            pieces[at] = pieces[at]._replace(text=pieces[at].text[1:])
    return pieces


def check_numbers(
    draft: str, pieces: Sequence[Piece], evidence: Evidence, allow: Iterable[str], violations: list[Violation]
) -> list[Traced]:
    """The numbers of the text: those of citations, those that are allowed, and the others, which violate."""
    text = "".join(piece.text for piece in pieces)
    starts = list(itertools.accumulate((len(piece.text) for piece in pieces), initial=0))
    metrics = evidence.caliber.card.metrics.values()
    words = {word for unit in {metric.unit for metric in metrics} for word in units.words(unit)}
    cited = [(start, piece) for start, piece in zip(starts, pieces) if piece.citation and piece.text]
    places = [(start, start + len(piece.text)) for start, piece in cited]
    own = prose.masked(text, places)
    found = [
        Traced(one, "traced", [piece.citation["metric"]] if "metric" in piece.citation else [], "")
        for start, piece in cited
        if piece.citation and piece.citation["kind"] in VALUES and (one := numeral(piece.text, start))
    ]
    allowed = tracing.Allowed(allow, words)

    def violate(kind: str, start: int, end: int, message: str) -> None:
        place = source(start, starts, pieces), source(end - 1, starts, pieces, True)
        violations.append(Violation(kind, *place, draft[slice(*place)], message))

    view = prose.seen(own)
    stating = [states(piece) for _, piece in cited]
    shown_as = [piece.text.strip("“”").replace("\\", "") for _, piece in cited]
    units_own = [piece.unit for _, piece in cited]
    beside = prose.additions(prose.without_links(own, view), places, units_own, stating, shown_as)
    added: list[tuple[int, int]] = []
    for addition in beside:
        start, end = trimmed(own, addition.start, prose.end_of_entity(own, addition.start, addition.end))
        if not any(low < end and start < high for low, high in added[-2:]):
            added.append((start, end))
            what = "another citation" if own[start] == prose.CITED else f'"{shown(own[start:end])}"'
            violate(BARE_NUMBER, start, end, f"{what} beside a citation makes another number of it")
    for bare in prose.numbers(own, view, words):
        if any(low < bare.end and bare.start < high for low, high in added):
            continue
        if bare in allowed:
            found.append(Traced(bare, "allowed", [], ""))
            continue
        found.append(Traced(bare, "untraced", [], "cited by no marker"))
        violate(BARE_NUMBER, bare.start, bare.end, f"the number {shown(bare.text)} is cited by no marker")
    for start, end in prose.hidden(own):
        violate(HIDDEN, start, end, f"the character {own[start:end]!a} does not show")
    for start, end in prose.quotations(own):
        if all(knowledge.place(chunk, own[start:end]) is None for chunk in evidence.chunks.values()):
            violate(NOT_VERBATIM, start, end, "stands in quotation marks, and word for word in no chunk")
    for start, piece in cited:
        is_quote = (piece.citation or {})["kind"] == "quote"
        if is_quote and (denied := prose.NEGATION.search(own, max(start - 20, 0), start)):
            said = f'"{shown(denied[1])}" before a quote says the opposite of it'
            violate(CONTRADICTION, denied.start(1), denied.end(1), said)
    direction = Direction(evidence, view)
    for start, piece in cited if direction.indexes else ():
        if said := direction.contradiction(piece, start):
            violate(CONTRADICTION, start, start + len(piece.text), said)
    return sorted(found, key=lambda one: one.numeral[1:3])


def states(piece: Piece) -> bool:
    """Whether a citation states a number that words beside it could change."""
    kind = (piece.citation or {})["kind"]
    if kind == "metric":
        return True
    return kind in STATING and piece.text.strip("“”")[-1:] in prose.DECIMAL and stated(piece.text) is not None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A part of a text without the space around it, unless it is but space."""
    part = text[start:end]
    if part.isspace():
        return start, end
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def numeral(text: str, start: int) -> Numeral | None:
    """The number that a citation states, if it is one number, at its place in the report."""
    found = stated(text)
    if found is None:
        return None
    return Numeral(found.text, start + found.start, start + found.end, *found[3:])


@functools.lru_cache(100_000)
def stated(text: str) -> Numeral | None:
    """The one number of a text."""
    if plain := GROUPED(text):
        value = Decimal(text.replace(",", ""))
        half = Decimal((0, (5,), -1 - len(plain[1] or "")))
        return Numeral(text, 0, len(text), value, half, half, "", False, text[0] == "-", (0, len(text)))
    numbers = find(Plain(text))
    return numbers[0] if len(numbers) == 1 else None


def source(at: int, starts: Sequence[int], pieces: Sequence[Piece], end: bool = False) -> int:
    """The place in the draft of a place in the text, or its end."""
    index = min(bisect.bisect_right(starts, at) - 1, len(pieces) - 1)
    while not pieces[index].text:
        index -= 1
    piece = pieces[index]
    if piece.citation is not None:
        return piece.end if end else piece.start
    return piece.start + at - starts[index] + end


class Direction:
    """Whether the words around a cited change, or a cited negative metric, say that it went the other way."""

    def __init__(self, evidence: Evidence, view: prose.View) -> None:
        metrics = [one for one in evidence.caliber.metrics() if one.change or one.value < 0]
        self.indexes = {one.id: tracing.Index([one]) for one in metrics}
        self.places = view.places
        self.clauses = tracing.Clauses(view.plain) if metrics else None

    def says_fell(self, piece: Piece, start: int) -> bool:
        """Whether a negative metric, cited at a place of the text, would trace there without its sign."""
        index, found = self.indexes.get((piece.citation or {})["metric"]), stated(piece.text[1:])
        if index is None or found is None or self.clauses is None:
            return False
        at = bisect.bisect_left(self.places, start)
        here = found._replace(place=(at, at + len(piece.text)))
        return bool(tracing.fitting(here, index, self.clauses)) and not self.clauses.to_before(here)

    def contradiction(self, piece: Piece, start: int) -> str:
        """What is wrong with a citation that stands at a place of the text; empty for nothing."""
        index = self.indexes.get((piece.citation or {}).get("metric", ""))
        found = stated(piece.text)
        if index is None or found is None or self.clauses is None:
            return ""
        at = bisect.bisect_left(self.places, start)
        here = found._replace(place=(at, at + len(piece.text)))
        if tracing.fitting(here, index, self.clauses):
            return ""
        reason = tracing.why(here, index, self.clauses)
        return reason if "the text " in reason else ""


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
