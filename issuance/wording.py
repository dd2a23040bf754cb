"""The author's own words around the citations of a report: what in them violates its rules.

The words are looked through with a placeholder for each citation. A number in them that no marker cites is bare, also
where it is only partly within a citation, as in 1[[m:gmv]] or [[m:gmv]]万; so is what stands beside a citation and
makes another number of it.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from issuance import knowledge, prose, tracing
from issuance.evidence import NOT_VERBATIM, Evidence
from issuance.listing import shown
from issuance.numerals import units
from issuance.numerals.finding import Numeral, find
from issuance.numerals.plain import Plain
from issuance.pieces import BARE_NUMBER, CONTRADICTION, HIDDEN, VALUES, Piece, Violation
from issuance.tracing import Traced

STATING = (*VALUES, "quote")  # citations whose numbers words beside them could change
GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})*(?:\.([0-9]+))?").fullmatch


class Wording:
    """The words of a report in pieces. violations are in the order in which they are found."""

    def __init__(self, draft: str, pieces: Sequence[Piece], evidence: Evidence) -> None:
        self.draft = draft
        self.pieces = pieces
        self.evidence = evidence
        self.violations: list[Violation] = []
        text = "".join(piece.text for piece in pieces)
        self.starts = list(itertools.accumulate((len(piece.text) for piece in pieces), initial=0))
        self.cited = [(start, piece) for start, piece in zip(self.starts, pieces) if piece.citation and piece.text]
        self.places = [(start, start + len(piece.text)) for start, piece in self.cited]
        self.own = prose.masked(text, self.places)
        self.view = prose.seen(self.own)

    def check(self, allow: Iterable[str]) -> list[Traced]:
        """The numbers of the text: those of citations, those that are allowed, and the others, which violate."""
        metrics = self.evidence.caliber.card.metrics.values()
        words = {word for unit in {metric.unit for metric in metrics} for word in units.words(unit)}
        found = [
            Traced(one, "traced", [piece.citation["metric"]] if "metric" in piece.citation else [], "")
            for start, piece in self.cited
            if piece.citation and piece.citation["kind"] in VALUES and (one := numeral(piece.text, start))
        ]
        found += self.bare_numbers(self.additions(), words, tracing.Allowed(allow, words))
        for start, end in prose.hidden(self.own):
            self.violate(HIDDEN, start, end, f"the character {self.own[start:end]!a} does not show")
        self.check_quotations()
        self.check_directions()
        return sorted(found, key=lambda one: one.numeral[1:3])

    def violate(self, kind: str, start: int, end: int, message: str) -> None:
        """Note what violates a rule at a place of the text, by its place in the draft."""
        place = source(start, self.starts, self.pieces), source(end - 1, self.starts, self.pieces, True)
        self.violations.append(Violation(kind, *place, self.draft[slice(*place)], message))

    def additions(self) -> list[tuple[int, int]]:
        """The places of what stands beside a citation and makes another number of it, each a violation."""
        stating = [states(piece) for _, piece in self.cited]
        shown_as = [piece.text.strip("“”").replace("\\", "") for _, piece in self.cited]
        units_own = [piece.unit for _, piece in self.cited]
        unlinked = prose.without_links(self.own, self.view)
        found: list[tuple[int, int]] = []
        for addition in prose.additions(unlinked, self.places, units_own, stating, shown_as):
            end = prose.end_of_entity(self.own, addition.start, addition.end)
            start, end = trimmed(self.own, addition.start, end)
            if not any(low < end and start < high for low, high in found[-2:]):
                found.append((start, end))
                what = "another citation" if self.own[start] == prose.CITED else f'"{shown(self.own[start:end])}"'
                self.violate(BARE_NUMBER, start, end, f"{what} beside a citation makes another number of it")
        return found

    def bare_numbers(
        self, added: list[tuple[int, int]], words: Iterable[str], allowed: tracing.Allowed
    ) -> Iterable[Traced]:
        """The numbers of the author's own, but those that are part of what was added to a citation."""
        for bare in prose.numbers(self.own, self.view, words):
            if any(low < bare.end and bare.start < high for low, high in added):
                continue
            if bare in allowed:
                yield Traced(bare, "allowed", [], "")
                continue
            yield Traced(bare, "untraced", [], "cited by no marker")
            self.violate(BARE_NUMBER, bare.start, bare.end, f"the number {shown(bare.text)} is cited by no marker")

    def check_quotations(self) -> None:
        """The author's own quotation marks, and quotes that a word before them denies."""
        for start, end in prose.quotations(self.own):
            if all(knowledge.place(chunk, self.own[start:end]) is None for chunk in self.evidence.chunks.values()):
                self.violate(NOT_VERBATIM, start, end, "stands in quotation marks, and word for word in no chunk")
        for start, piece in self.cited:
            is_quote = (piece.citation or {})["kind"] == "quote"
            if is_quote and (denied := prose.NEGATION.search(self.own, max(start - 20, 0), start)):
                said = f'"{shown(denied[1])}" before a quote says the opposite of it'
                self.violate(CONTRADICTION, denied.start(1), denied.end(1), said)

    def check_directions(self) -> None:
        direction = Direction(self.evidence, self.view)
        for start, piece in self.cited if direction.indexes else ():
            if said := direction.contradiction(piece, start):
                self.violate(CONTRADICTION, start, start + len(piece.text), said)


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


FELL_BY = re.compile(
    "(?<![a-z])(?:fell|falls|fallen|falling|dropped|declined|decreased|down)(?: by)?(?: about| around| roughly| nearly"
    "| almost)?[ \u00a0*_]*\\Z|(?:下降|减少|下滑|下跌)(?:了|约|近)?[ \u00a0*_]*\\Z"
)


class Direction:
    """Whether the words around a cited change, or a cited negative metric, say that it went the other way."""

    def __init__(self, evidence: Evidence, view: prose.View) -> None:
        metrics = [one for one in evidence.caliber.metrics() if one.change or one.value < 0]
        self.indexes = {one.id: tracing.Index([one]) for one in metrics}
        self.changes = {one.id for one in metrics if one.change}
        self.places, self.text = view.places, view.plain.text
        self.clauses = tracing.Clauses(view.plain) if metrics else None

    def says_fell(self, piece: Piece, start: int) -> bool:
        """Whether a change is cited right behind a word that it went down, and would trace there without its sign."""
        id = (piece.citation or {})["metric"]
        index, found = self.indexes.get(id), stated(piece.text[1:])
        if index is None or found is None or self.clauses is None or id not in self.changes:
            return False
        at = bisect.bisect_left(self.places, start)
        if not FELL_BY.search(self.text, max(at - 40, 0), at):
            return False  # "fell and stood at", "fell below", "costs fell, and profit was" speak of a level
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
