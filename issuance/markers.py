"""Citation markers: what an author writes where a number, a name or a quote is to stand.

    [[m:gmv]] [[m:gmv|万]]    a metric, with conversions
    [[i:week]]                 a run input
    [[v:Q1.r0.gmv]]            one cell of a snapshot
    [[table:Q1 cols=region,amount rows=0-4]]
    [[t:orders]] [[c:orders.week]]       the name of a table or a column
    [[q:K1|verbatim words]]    a quote from a chunk
    [[see:m:gmv,Q1]]           the basis of the sentence that it ends

Only the form is read here; what a marker refers to is looked up by evidence. In a table, | may be written \\|.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from issuance.numerals.plain import fold, is_letter_or_digit

CONVERSIONS = ("万", "亿", "k", "M", "bn", "pct", "int")
MARKER = re.compile(r"\[\[(?!\[)([a-z]+):(?:(?!\[\[|\]\])[^\n])*\]\]|\[\[(?!\[)|\]\]")
NAME = "[a-z][a-z0-9_]*"
FIRST, REST = "[A-Za-z_\x80-\U0010ffff]", "[A-Za-z0-9_$\x80-\U0010ffff]*"  # of a name, as SQLite reads it
SHAPED_AS_NAME = re.compile(rf"{FIRST}{REST}(?:\.{FIRST}{REST}){{0,3}}").fullmatch
CELL = re.compile(rf"({NAME}|Q[1-9][0-9]*)\.r(0|[1-9][0-9]{{0,8}})\.(.+)").fullmatch
TABLE = re.compile(
    rf"({NAME}|Q[1-9][0-9]*)(?: +cols=([^ ]+(?: [^ =]+)*?))?(?: +rows=([0-9]{{1,9}})(?:-([0-9]{{1,9}}))?)?"
).fullmatch
DECIMALS = re.compile(r"\.([0-9]{1,2})").fullmatch
METRIC = INPUT = re.compile(NAME).fullmatch
CHUNK = re.compile(r"K[1-9][0-9]*").fullmatch
QUERY = re.compile(rf"{NAME}|Q[1-9][0-9]*").fullmatch


class Marker(NamedTuple):
    """draft[start:end] == text. name is what it refers to; the other fields depend on the kind."""

    text: str
    start: int
    end: int
    kind: str
    name: str
    conversions: tuple[str, ...] = ()
    row: int = 0
    column: str = ""
    columns: tuple[str, ...] | None = None
    rows: tuple[int, int] | None = None  # first and last
    words: str = ""
    basis: tuple[Marker, ...] = ()


class Malformed(NamedTuple):
    """What begins or ends like a marker and is none."""

    text: str
    start: int
    end: int
    reason: str


def find(draft: str) -> Iterator[Marker | Malformed]:
    """The markers of a draft in their order, and what only looks like one."""
    for match in MARKER.finditer(draft):
        start, end = match.span()
        if match[1]:
            found = read(match[0])
            yield type(found)(found[0], start, end, *found[3:])
        else:
            yield Malformed(match[0], start, end, unpaired(match[0]))


def unpaired(brackets: str) -> str:
    if brackets == "[[":
        return "[[ begins no marker: one is written [[kind:what]] on one line"
    return "]] ends no marker"


@functools.lru_cache(10_000)
def read(text: str) -> Marker | Malformed:
    """The marker of a text such as [[m:gmv]], at no place yet."""
    kind, _, body = text[2:-2].partition(":")
    reader = READERS.get(kind)
    if reader is None:
        return Malformed(text, 0, 0, f"there is no marker {kind}: there are {', '.join(READERS)}")
    parts = reader(body.replace("\\|", "|"))
    if isinstance(parts, str):
        return Malformed(text, 0, 0, parts)
    return Marker(text, 0, 0, kind, **parts)


Parts = dict[str, Any]


def read_metric(body: str) -> Parts | str:
    name, *conversions = body.split("|")
    if not METRIC(name):
        return "a metric is cited as [[m:id]] or [[m:id|conversion]]"
    for conversion in conversions:
        if conversion not in CONVERSIONS and not DECIMALS(conversion):
            return f"there is no conversion {conversion!a}: there are {', '.join(CONVERSIONS)}, .0, .1 and so on"
    scales = sum(conversion in CONVERSIONS[:6] for conversion in conversions)
    if scales > 1 or len(conversions) - scales > 1:
        return "a metric takes one scale and one number of decimals"
    return {"name": name, "conversions": tuple(conversions)}


def read_input(body: str) -> Parts | str:
    return {"name": body} if INPUT(body) else "an input is cited as [[i:name]]"


def read_cell(body: str) -> Parts | str:
    match = CELL(body)
    if match is None:
        return "a cell is cited as [[v:Q1.r0.column]]"
    return {"name": match[1], "row": int(match[2]), "column": match[3]}


def read_table(body: str) -> Parts | str:
    match = TABLE(body)
    if match is None:
        return "a table is written [[table:Q1 cols=a,b rows=0-4]], cols and rows as needed"
    first, last = match[3], match[4]
    if last is not None and int(last) < int(first):
        return "the rows of a table go from the first to the last"
    return {
        "name": match[1],
        "columns": tuple(name.strip() for name in match[2].split(",")) if match[2] is not None else None,
        "rows": (int(first), int(last or first)) if first is not None else None,
    }


def read_name(body: str) -> Parts | str:
    shaped = SHAPED_AS_NAME(body) and all(map(fold, body))
    return {"name": body} if shaped else "a name is cited as [[t:table]] or [[c:table.column]]"


def read_quote(body: str) -> Parts | str:
    chunk, bar, words = body.partition("|")
    if not CHUNK(chunk) or not bar or not any(map(is_letter_or_digit, words)):
        return "a quote is written [[q:K1|the words]]"
    return {"name": chunk, "words": words}


def read_basis(body: str) -> Parts | str:
    basis = []
    for item in body.split(","):
        kind, colon, rest = item.strip().partition(":")
        if not colon:
            kind, rest = ("chunk" if CHUNK(kind) else "query"), kind
        if (
            kind not in ("m", "i", "v", "chunk", "query")
            or kind in ("chunk", "query")
            and not QUERY(rest)
            and not CHUNK(rest)
        ):
            return "a basis is written [[see:m:metric,v:Q1.r0.column,Q1,K1]]"
        part = {"name": rest} if kind in ("chunk", "query") else READERS[kind](rest)
        if isinstance(part, str):
            return part
        basis.append(Marker(item.strip(), 0, 0, kind, **part))
    return {"name": "", "basis": tuple(basis)}


READERS = {
    "m": read_metric,
    "i": read_input,
    "v": read_cell,
    "table": read_table,
    "t": read_name,
    "c": read_name,
    "q": read_quote,
    "see": read_basis,
}
