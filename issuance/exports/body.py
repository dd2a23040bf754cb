"""The text of a report as elements: its Markdown, with each place that opens evidence a link.

Everything that is shown comes from runs, which know where in the text they stand, so that a page can hold what it shows
against the text: see Body.runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from issuance.exports import markdown
from issuance.exports.elements import add, visible, write
from issuance.exports.markdown import Block, Run
from issuance.exports.places import Place

MISSING = ("", "—", "–", "-")
TAGS = {"quote": "blockquote", "paragraph": "p", "item": "li"}


class Piece(NamedTuple):
    """A part of a run within one place, or within none."""

    text: str
    run: Run
    place: Place | None


class Body:
    """A text that is being written into an element. runs has [start, end] of each part that is shown as it stands, and
    [start, end, text] of an entity or an escaped character.
    """

    def __init__(self, text: str, places: Sequence[Place]) -> None:
        self.text = text
        self.places = places
        self.at = 0  # the first place that has not ended yet
        self.linked: set[str] = set()
        self.runs: list[list[int | str]] = []

    def write(self, parent: Element) -> None:
        kept = [(place.start, place.end) for place in self.places]
        for block in markdown.read(self.text, kept):
            self.block(parent, block)

    def block(self, parent: Element, block: Block) -> None:
        if block.kind == "rule":
            add(parent, "hr")
        elif block.kind == "heading":
            self.inline(SubElement(parent, f"h{min(block.level + 1, 6)}"), block.runs)
        elif block.kind == "code":
            self.inline(SubElement(SubElement(parent, "pre"), "code"), block.runs)
        elif block.kind == "list":
            self.children(SubElement(parent, "ol" if block.level else "ul"), block)
        elif block.kind == "table":
            self.table(parent, block)
        else:
            element = SubElement(parent, TAGS[block.kind])
            if block.kind == "item" and block.runs:
                self.inline(add(element, "span", class_="count"), block.runs)
            else:
                self.inline(element, block.runs)
            self.children(element, block)

    def children(self, parent: Element, block: Block) -> None:
        for child in block.children:
            self.block(parent, child)

    def table(self, parent: Element, block: Block) -> None:
        table = SubElement(add(parent, "div", class_="wide"), "table")
        part, of_head = None, -1
        for row in block.children:
            if part is None or row.level != of_head:
                part, of_head = SubElement(table, "thead" if row.level else "tbody"), row.level
            line = SubElement(part, "tr")
            for cell in row.children:
                element = SubElement(line, "th" if row.level else "td")
                self.inline(element, cell.runs)
                if len(element) == 1 and not element.text and element[0].get("class") == "number":
                    element.set("class", "amount")
        heads_of_amounts(table)

    def inline(self, parent: Element, runs: Sequence[Run]) -> None:
        """Write runs; what lies in one place becomes one link."""
        link, place = parent, None
        for piece in (piece for run in runs for piece in self.pieces(run)):
            if piece.place is None:
                target = parent
                if piece.run.href:
                    target = add(parent, "a", class_="address", href=piece.run.href, rel="noreferrer noopener")
            else:
                if piece.place is not place:
                    link = self.link(parent, piece.place)
                target = link
            place = piece.place
            for mark in piece.run.marks:
                target = SubElement(target, mark)
            write(target, piece.text)

    def link(self, parent: Element, place: Place) -> Element:
        """A link that opens the evidence of a place; the first of a place has its id."""
        element = SubElement(parent, "a", {"class": place.kind})
        if place.id not in self.linked:
            element.set("id", place.id)
        self.linked.add(place.id)
        element.set("href", f"#{place.evidence[0]}")
        element.set("data-place", place.id)
        element.set("data-status", place.status)
        element.set("data-evidence", " ".join(place.evidence))
        element.set("title", visible(place.note))
        return element

    def pieces(self, run: Run) -> Iterator[Piece]:
        """A run in parts that lie in one place or in none."""
        verbatim = run.text == self.text[run.start : run.end]
        self.runs.append([run.start, run.end] if verbatim else [run.start, run.end, run.text])
        start = run.start
        while start < run.end:
            while self.at < len(self.places) and self.places[self.at].end <= start:
                self.at += 1
            place = self.places[self.at] if self.at < len(self.places) else None
            end = run.end
            if place is not None and place.start > start:
                end, place = min(end, place.start), None
            elif place is not None:
                end = min(end, place.end)
            if not verbatim:
                yield Piece(run.text, run, place)
                return
            yield Piece(self.text[start:end], run, place)
            start = end


def heads_of_amounts(table: Element) -> None:
    """Set the heads of a table over their columns where all in these, but dashes for what is missing, are amounts."""
    for place, head in enumerate(table.iter("th")):
        cells = [row[place] for row in table.iter("tr") if row[0].tag == "td" and place < len(row)]
        kinds = {cell.get("class") for cell in cells if (cell.text or "").strip() not in MISSING or len(cell)}
        if kinds == {"amount"}:
            for cell in (head, *cells):
                cell.set("class", "amount")
