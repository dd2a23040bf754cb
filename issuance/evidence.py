"""What a report may cite: metrics, inputs, cells, names and chunks. A marker becomes the text that it stands for.

Text from data is escaped, so that none of it is markup in the report.
"""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from issuance import cards, knowledge
from issuance.caliber import Caliber
from issuance.expressions import WIDE
from issuance.formats import is_decimal
from issuance.job import Job
from issuance.knowledge import Chunk
from issuance.listing import shown
from issuance.markers import CELL, Marker
from issuance.names import MOST_SEARCHED, Names
from issuance.numerals import units
from issuance.snapshots import Snapshot
from issuance.tracing import written

UNRESOLVED, MISSING_VALUE, HASH_MISMATCH = "unresolved", "missing_value", "hash_mismatch"
NOT_VERBATIM, UNKNOWN_NAME, COMPUTED_VALUE = "not_verbatim", "unknown_name", "computed_value"
SCALES = {"万": 4, "亿": 8, "k": 3, "M": 6, "bn": 9}
MOST_TABLE_CELLS = 20_000
MOST_DECIMALS = 12
MOST_LISTED = 2_000  # names, and chunks, in a catalog
COMPUTED = "numbers computed in the sandbox go through a caliber card"
NULL = "—"
MARKUP = re.compile(r"[\\`*_\[\]|#!<>&~]")
LIST = re.compile(r"[-+=](?![0-9.])|[0-9]{1,9}[.)](?= |\Z)")  # what begins an item or underlines a heading


class Uncitable(Exception):
    """What a marker refers to cannot stand in a report; raised with the kind of violation and a sentence."""


class Cited(NamedTuple):
    """The text that stands in the report, and what it cites; None for text that only surrounds citations.

    unit is what a number in it bears: None for a cell or an input, to which the author may give one.
    """

    text: str
    citation: dict[str, Any] | None
    unit: str | None = ""


class Evidence:
    """All that can be cited. intact says whether the stored bytes of a snapshot are still those of its hash."""

    def __init__(
        self,
        job: Job,
        computed: Caliber,
        schemas: Iterable[Mapping[str, Any]],
        chunks: Mapping[str, Chunk],
        intact: Callable[[str], bool],
    ) -> None:
        self.job = job
        self.caliber = computed
        self.chunks = chunks
        self.names = Names(job, computed, schemas)
        self.queries = {name: query for query in job.queries.values() for name in (query.id, query.name)}
        self.statements = [knowledge.spaced(query.sql or "") for query in job.queries.values()]
        self.texts: set[str] = set()  # of cells and inputs, once one is asked for
        self.intact = intact
        self.metrics: dict[tuple[str, tuple[str, ...]], Cited] = {}
        self.begin()

    def begin(self) -> None:
        """Forget what was cited in another draft: every report is made from the start."""
        self.hashes: dict[str, bool] = {}
        self.quotes: dict[tuple[str, str], Cited | Uncitable] = {}
        self.cells = 0  # of all tables
        self.names.searched.clear()

    def catalog(self) -> dict[str, Any]:
        """What a writer can cite."""
        card = self.caliber.card
        return {
            "metrics": [
                {"id": id, "name": metric.name, "rendered": cards.shown(metric, self.caliber.values[id])}
                for id, metric in card.metrics.items()
                if id in self.caliber.values
            ],
            "missing": self.caliber.missing(),
            "inputs": dict(self.caliber.inputs),
            "queries": [
                {"name": query.name, "id": query.id, "columns": found.names, "rows": len(found.rows)}
                for query in self.job.queries.values()
                for found in [self.caliber.snapshots[query.id]]
                if isinstance(found, Snapshot) and query.role != "compute"
            ],
            "names": sorted(self.names.written.values())[:MOST_LISTED],
            "chunks": [{"name": chunk.name, "text": chunk.text} for chunk in self.chunks.values()][:MOST_LISTED],
        }

    def cite(self, marker: Marker) -> list[Cited]:
        """What a marker becomes. Raises Uncitable."""
        return CITERS[marker.kind](self, marker)

    def metric(self, marker: Marker) -> list[Cited]:
        key = marker.name, marker.conversions
        if key not in self.metrics:
            self.metrics[key] = self.rendered(marker)
        return [self.metrics[key]]

    def rendered(self, marker: Marker) -> Cited:
        definition = self.caliber.card.metrics.get(marker.name)
        if definition is None:
            raise Uncitable(UNRESOLVED, unknown("metric", marker.name, self.caliber.card.metrics))
        if marker.name not in self.caliber.values:
            status, reason = self.caliber.troubles[marker.name]
            said = "is missing" if status == "missing" else status
            raise Uncitable(MISSING_VALUE, f"the metric {marker.name} {said}: {reason}")
        text = converted(definition, self.caliber.values[marker.name], marker.conversions)
        citation: dict[str, Any] = {"kind": "metric", "metric": marker.name}
        if marker.conversions:
            citation = {**citation, "conversions": list(marker.conversions)}
        percent = definition.format == "percent" or "pct" in marker.conversions
        return Cited(escaped(text, True), citation, "%" if percent else definition.unit)

    def input(self, marker: Marker) -> list[Cited]:
        if marker.name not in self.caliber.inputs:
            raise Uncitable(UNRESOLVED, unknown("input", marker.name, self.job.inputs))
        text = escaped(str(self.caliber.inputs[marker.name]))
        return [Cited(text, {"kind": "input", "input": marker.name}, None)]

    def snapshot(self, name: str, column: bool = True) -> Snapshot:
        """The snapshot of a query by its name or id, which holds no computed values if its cells are to be cited."""
        query = self.queries.get(name)
        if query is None:
            raise Uncitable(UNRESOLVED, unknown("query", name, self.queries))
        found = self.caliber.snapshots[query.id]
        if isinstance(found, str):
            raise Uncitable(MISSING_VALUE, f"the query {query.id} has no result: {found}")
        if column and query.role == "compute":
            raise Uncitable(COMPUTED_VALUE, COMPUTED)
        if found.hash not in self.hashes:
            self.hashes[found.hash] = self.intact(found.hash)
        if not self.hashes[found.hash]:
            raise Uncitable(HASH_MISMATCH, f"the snapshot of {query.id} does not match its hash")
        return found

    def value(self, marker: Marker) -> list[Cited]:
        found = self.snapshot(marker.name)
        return [self.cell(found, marker.row, marker.column)]

    def cell(self, found: Snapshot, row: int, name: str, null: str = "") -> Cited:
        """One cell; null is the text of a null one, which has no text otherwise."""
        if name not in found.places and name.partition("|")[0] in found.places:
            raise Uncitable(UNRESOLVED, "a cell takes no conversion: define a metric for it")
        if name not in found.places:
            raise Uncitable(UNRESOLVED, unknown(f"column of {found.query}", name, found.names))
        if name in found.masked:
            raise Uncitable(MISSING_VALUE, f"the column {name!a} of {found.query} is masked")
        if row >= len(found.rows):
            raise Uncitable(UNRESOLVED, f"the result of {found.query} has no row {row}, only {len(found.rows)}")
        cell = found.rows[row][found.places[name]]
        if cell is None and not null:
            raise Uncitable(MISSING_VALUE, f"the cell {name!a} in row {row} of {found.query} is null")
        text = null if cell is None else plain(cell)
        place = {"query": found.query, "row": row, "column": name, "artifact": found.hash}
        return Cited(text, {"kind": "cell", **place}, None)

    def table(self, marker: Marker) -> list[Cited]:
        found = self.snapshot(marker.name)
        names = list(marker.columns or (name for name in found.names if name not in found.masked))
        first, last = marker.rows or (0, len(found.rows) - 1)
        if last >= len(found.rows):
            raise Uncitable(UNRESOLVED, f"the result of {found.query} has no row {last}, only {len(found.rows)}")
        self.cells += len(names) * (last - first + 1)
        if self.cells > MOST_TABLE_CELLS:
            said = f"the tables have more than {MOST_TABLE_CELLS} cells together: choose cols and rows"
            raise Uncitable(UNRESOLVED, said)
        parts = [Cited("|", None)]
        for name in names:
            if name not in found.places:
                raise Uncitable(UNRESOLVED, unknown(f"column of {found.query}", name, found.names))
            parts += [Cited(" ", None), Cited(escaped(name), {"kind": "name", "name": name}), Cited(" |", None)]
        parts.append(Cited(f"\n|{' --- |' * len(names)}", None))
        for row in range(first, last + 1):
            parts.append(Cited("\n|", None))
            for name in names:
                parts += [Cited(" ", None), self.cell(found, row, name, NULL), Cited(" |", None)]
        return parts

    def name(self, marker: Marker) -> list[Cited]:
        return [Cited(f"`{marker.name}`", self.known(marker.name, "table" if marker.kind == "t" else "column"))]

    def known(self, name: str, wanted: str = "name") -> dict[str, Any]:
        """The citation of a name. Raises Uncitable."""
        kind = self.names.kind(name)
        fits = kind and (wanted == "name" or kind == "name in SQL" or wanted in kind)
        if fits:
            return {"kind": "name", "name": name, "is": kind}
        if self.names.truncated and not kind:
            return {"kind": "name", "name": name, "is": "", "unchecked": True}
        near = [one for one in self.names.near(name) if one.lower() != name.lower()]
        said = f"{name} may be a fabricated name" if not kind else f"{name} is a {kind}, not a {wanted}"
        raise Uncitable(UNKNOWN_NAME, f"{said}; {closest(near)}")

    def is_value(self, text: str) -> bool:
        """Whether a text stands in a cell, is an input, names the card or addresses a cell."""
        if not self.texts:
            self.texts = {str(value) for value in self.caliber.inputs.values()} | {self.caliber.card.name}
            for found in self.caliber.snapshots.values():
                if isinstance(found, Snapshot):
                    self.texts.update(cell for row in found.rows for cell in row if type(cell) is str)
        if text in self.texts:
            return True
        address = CELL(text)
        query = self.queries.get(address[1]) if address else None
        snapshot = self.caliber.snapshots[query.id] if query else None
        if address is None or not isinstance(snapshot, Snapshot):
            return False
        return int(address[2]) < len(snapshot.rows) and address[3] in snapshot.places

    def in_sql(self, code: str) -> bool:
        """Whether code stands word for word in a query of the job."""
        words = knowledge.spaced(code).rstrip(";").rstrip()
        if not words:
            return True
        whole = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(words)}(?![A-Za-z0-9_])")
        return any(whole.search(one) for one in self.statements)

    def quote(self, marker: Marker) -> list[Cited]:
        key = marker.name, marker.words
        if key not in self.quotes:
            try:
                self.quotes[key] = self.quoted(marker)
            except Uncitable as fault:
                self.quotes[key] = fault
        found = self.quotes[key]
        if isinstance(found, Uncitable):
            raise found
        return [found]

    def quoted(self, marker: Marker) -> Cited:
        chunk = self.chunks.get(marker.name)
        if chunk is None:
            raise Uncitable(UNRESOLVED, unknown("chunk", marker.name, self.chunks))
        at = knowledge.place(chunk, marker.words)
        if at is None:
            if knowledge.spaced(marker.words) in chunk.text:
                raise Uncitable(NOT_VERBATIM, f"cuts into a word or a number of {chunk.name}")
            if len(self.quotes) >= MOST_SEARCHED:
                raise Uncitable(NOT_VERBATIM, f"is not word for word in {chunk.name}")
            near = knowledge.nearest(chunk, marker.words)
            raise Uncitable(NOT_VERBATIM, f"is not word for word in {chunk.name}; the closest passage is {near!a}")
        words = knowledge.spaced(marker.words)
        return Cited(f"“{escaped(words)}”", {"kind": "quote", "chunk": chunk.name, "at": at})

    def basis(self, marker: Marker) -> list[Cited]:
        """The basis of a sentence, all of which has to be there; nothing of it is shown."""
        for part in marker.basis:
            if part.kind == "query":
                self.snapshot(part.name, column=False)
            elif part.kind == "chunk":
                if part.name not in self.chunks:
                    raise Uncitable(UNRESOLVED, unknown("chunk", part.name, self.chunks))
            else:
                self.cite(part)
        return [Cited("", {"kind": "basis", "basis": [part.text for part in marker.basis]})]


CITERS: dict[str, Callable[[Evidence, Marker], list[Cited]]] = {
    "m": Evidence.metric,
    "i": Evidence.input,
    "v": Evidence.value,
    "table": Evidence.table,
    "t": Evidence.name,
    "c": Evidence.name,
    "q": Evidence.quote,
    "see": Evidence.basis,
}


def converted(definition: cards.Definition, value: Decimal, conversions: Sequence[str]) -> str:
    """A metric's value as people read it, in another scale, as a percentage or with other decimals."""
    decimals, percent, suffix = definition.decimals, definition.format == "percent", ""
    for conversion in conversions:
        if conversion == "int":
            decimals = 0
        elif conversion == "pct":
            if definition.unit:
                raise Uncitable(
                    UNRESOLVED, f"{definition.id} is in {definition.unit}: only a ratio becomes a percentage"
                )
            percent = True
        elif conversion in SCALES:
            unit, scale = units.canonical(definition.unit)
            if percent or unit == "%":
                raise Uncitable(UNRESOLVED, f"{definition.id} is a percentage, which has no scale {conversion}")
            if scale != 1:
                raise Uncitable(UNRESOLVED, f"{definition.id} is in {definition.unit}, which has a scale of its own")
            value, suffix = value.scaleb(-SCALES[conversion], WIDE), conversion
        else:
            decimals = int(conversion[1:])
    shape = definition._replace(decimals=decimals, format="percent" if percent else definition.format)
    if value and conversions and not digits(shape, value):
        hint = next((more for more in range(2, MOST_DECIMALS + 1) if digits(shape._replace(decimals=more), value)), 0)
        chosen = "".join(f"|{one}" for one in conversions if one in SCALES or one == "pct")
        said = f"{definition.id} would show as {cards.shown(shape, value, suffix)}, though it is not zero"
        raise Uncitable(UNRESOLVED, f"{said}: write [[m:{definition.id}{chosen}|.{hint}]]" if hint else said)
    return cards.shown(shape, value, suffix)


def digits(shape: cards.Definition, value: Decimal) -> str:
    """The digits that a value shows, without its zeros."""
    return re.sub("[^1-9]", "", cards.shown(shape._replace(unit=""), value))


def plain(cell: Any) -> str:
    """A cell of a snapshot as a report shows it: numbers grouped by thousands, texts escaped."""
    if not is_decimal(cell):
        return escaped(str(cell))
    text = written(Decimal(cell))
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole != "-0" else text


def escaped(text: str, number: bool = False) -> str:
    """Text of data on one line of Markdown, in which nothing of it is markup; a number cannot begin a list."""
    if text.isascii() and text.isalnum():
        return text
    plain = shown(knowledge.spaced(text))
    start = LIST.match(plain)
    if start and not number:
        plain = f"{plain[: start.end() - 1]}\0{plain[start.end() - 1 :]}"
    return MARKUP.sub(lambda mark: ENTITIES.get(mark[0], f"\\{mark[0]}"), plain).replace("\0", "\\")


ENTITIES = {char: html.escape(char) for char in "<>&"}


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known)[:20_000], 3)
    return f"there is no {what} {name}; {closest(near)}"


def closest(names: Iterable[str]) -> str:
    said = ", ".join(names)
    return f"the closest are {said}" if said else "nothing comes close"
