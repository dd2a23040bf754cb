"""The exercise's input: strict JSON reading, and the format of its two files as tables.

load(path, CASE_FILE, problems) gives a file's content as plain dicts, lists, strings, integers, booleans and
None, and adds every problem that keeps it from being used. The tables stand at the end and read like the answer
contract: a record lists its fields, and a field has a kind, which is a function that looks at a value, knows the
path to it, and reports what is wrong with it.
"""

from __future__ import annotations

import functools
import itertools
import json
import operator
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, Optional

    Path = tuple[Any, ...]  # () for the root, else a pair: the path to the parent, and a field's name or an index
    Kind = Callable[[Any, Path, "Problems"], None]
    Problem = tuple[str, Optional[str], str]  # a file, a place in it (None for the file as such), and a sentence

MAX_BYTES = 524_288
MAX_DEPTH = 16
MAX_AMOUNT = 2**53 - 1
MAX_DIGITS = 16
MAX_LABEL = 80
MAX_QUOTED = 60
MAX_PROBLEMS = 20
MAX_LINE = 600
MAX_CASES = 64


class Unreadable(Exception):
    """A file cannot be read or is no JSON; raised with a place in it (None for the file as such) and a sentence."""


class Problems:
    """What is wrong with the input of a run: the first MAX_PROBLEMS problems, and the number of all.

    A hostile file can have a hundred thousand of them, so that nothing is made of those beyond the first.
    """

    def __init__(self) -> None:
        self.first: list[Problem] = []
        self.count = 0
        self.file = ""

    def add(self, where: Path | str | None, sentence: str, *values: object) -> None:
        """Add a problem of the present file: a path in it or a place in words, and values to quote at the end."""
        self.count += 1
        if len(self.first) < MAX_PROBLEMS:
            place = path_text(where) if isinstance(where, tuple) else where
            self.first.append((self.file, place, " ".join([sentence, *map(quoted, values)])))

    def lines(self, program: str) -> list[str]:
        """The problems as a program says them, a line each. A path stands as it is where it is plain and has room."""
        lines = []
        for file, where, sentence in self.first:
            rest = f"{where}: {sentence}" if where else sentence
            line = f"{program}: {file}: {rest}"
            plain = file and file.isascii() and file.isprintable() and len(line) <= MAX_LINE
            lines.append(line if plain else f"{program}: {quoted(file)}: {rest}")
        more = self.count - len(self.first)
        return [*lines, f"... and {more} more"] if more else lines


def path_text(path: Path) -> str:
    """A path as messages have it, such as cases[3].evidence.rows[0].value; root for the whole."""
    steps: list[str] = []
    while path:
        path, step = path
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
    return "".join(reversed(steps)).lstrip(".") or "root"


def load(path: str, kind: Kind, problems: Problems, most: int = MAX_BYTES) -> Any:
    """The content of a file ("-" is standard input); None if it is no JSON, and any JSON where problems were added."""
    problems.file = path
    try:
        value = parse_json(read_bytes(path, most))
    except Unreadable as fault:
        problems.add(*fault.args)
        return None
    kind(value, (), problems)
    return value


def read_bytes(path: str, most: int = MAX_BYTES) -> bytes:
    """At most so many bytes, also from a pipe: one byte more than that is read, and refused."""
    chunks = []
    room = most + 1
    try:
        with open(0 if path == "-" else path, "rb", buffering=0, closefd=path != "-") as file:
            while room and (chunk := read_some(file.fileno(), min(room, 65_536))):
                chunks.append(chunk)
                room -= len(chunk)
    except OSError as fault:
        raise Unreadable(None, f"cannot be read: {fault.strerror}") from None
    if not room:
        raise Unreadable(None, f"is larger than {most} bytes")
    return b"".join(chunks)


def read_some(descriptor: int, size: int) -> bytes:
    """Up to so many bytes, none at the end; waits for them also where the descriptor does not."""
    while True:
        try:
            return os.read(descriptor, size)
        except BlockingIOError:
            import select

            select.select([descriptor], [], [])


class Number(str):
    """A number as it is written, which no field can hold: a fraction, an exponent, -0, too many digits."""


class Repeating(dict):  # type: ignore[type-arg]
    """An object with keys that stand in it more than once: their last values, and how often they are there."""

    __slots__ = ("times",)
    times: dict[str, int]


class Constant(Exception):
    """NaN, Infinity or -Infinity: Python's decoder knows them, JSON does not."""


def parse_json(data: bytes) -> Any:
    """The value of one JSON document (RFC 8259) in UTF-8, with Number and Repeating where it has them.

    Unreadable names line and column of the first place that is no JSON or nested too deep. The decoder never
    sees text that is nested deeper than MAX_DEPTH.
    """
    text = decode(data)
    end = first_too_deep(text) if depth(data) > MAX_DEPTH else None
    try:
        return DECODER.decode(text[:end])
    except json.JSONDecodeError as fault:
        if end is None or fault.pos < end:
            refuse(text, position(fault), f"not JSON: {fault.msg}")
        refuse(text, end, f"nested deeper than {MAX_DEPTH} levels")
    except Constant as constant:
        at = next(token.start() for token in tokens(text) if token[0] == str(constant))
        refuse(text, at, f"not JSON: {constant} is no number")


def position(fault: json.JSONDecodeError) -> int:
    """Where a fault is: for a comma with nothing after it not at the comma, as from Python 3.13 on, but after it."""
    if not fault.msg.startswith("Illegal trailing comma"):
        return fault.pos
    return len(fault.doc) - len(fault.doc[fault.pos + 1 :].lstrip(" \t\n\r"))


def refuse(text: str, at: int, what: str) -> NoReturn:
    place = json.JSONDecodeError(what, text, at)  # works out line and column
    raise Unreadable(f"line {place.lineno} column {place.colno}", what) from None


def decode(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        refuse("", 0, "starts with a byte order mark")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        before = data[: fault.start].decode("utf-8")
        refuse(before, len(before), "not UTF-8")


STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
OTHER_BYTES = bytes(set(range(256)) - set(STEPS) - set(b'"'))


def depth(data: bytes) -> int:
    """How deep brackets are nested outside strings; right up to the first syntax error, where the decoder stops."""
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = data.translate(None, OTHER_BYTES).replace(b'""', b"")
    brackets = b"".join(marks.split(b'"')[::2])
    return max(itertools.accumulate(map(STEPS.__getitem__, brackets)), default=0)


def first_too_deep(text: str) -> int | None:
    """Where the first bracket below MAX_DEPTH levels stands; None where only what follows a syntax error is deep."""
    level = 0
    for token in tokens(text):
        level += STEPS.get(ord(token[0][0]), 0)
        if level > MAX_DEPTH:
            return token.start()
    return None


def tokens(text: str) -> Iterable[re.Match[str]]:
    """The strings, brackets and constants of a text, each once, however broken it is."""
    return re.finditer(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[][{}]|NaN|-?Infinity', text, re.DOTALL)


def parse_integer(digits: str) -> int | Number:
    return Number(digits) if len(digits) > MAX_DIGITS or digits == "-0" else int(digits)


def parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times: dict[str, int] = {}
        for key, _ in pairs:
            times[key] = times.get(key, 0) + 1
        found = Repeating(found)
        found.times = {key: count for key, count in times.items() if count > 1}
    return found


def parse_constant(name: str) -> NoReturn:
    raise Constant(name)


DECODER = json.JSONDecoder(
    object_pairs_hook=parse_object, parse_int=parse_integer, parse_float=Number, parse_constant=parse_constant
)


def quoted(value: object) -> str:
    """A value as it may stand in a message: ASCII JSON of at most MAX_QUOTED characters, containers by name."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    if isinstance(value, Number):
        return value if len(value) <= MAX_QUOTED else value[: MAX_QUOTED - 3] + "..."
    text = json.dumps(value)
    while isinstance(value, str) and len(text) > MAX_QUOTED:
        value = value[: min(len(value) - 1, MAX_QUOTED - 5)]
        text = json.dumps(value) + "..."
    return text


class Leaf:
    """A kind of value without parts: the phrase in "must be ..., not ...", and whether a value is of it."""

    def __init__(self, phrase: str, accepts: Callable[[Any], object]) -> None:
        self.phrase = phrase
        self.accepts = accepts

    def __call__(self, value: Any, path: Path, problems: Problems) -> None:
        if not self.accepts(value):
            problems.add(path, f"must be {self.phrase}, not", value)


def matching(phrase: str, pattern: str) -> Leaf:
    fits = functools.cache(re.compile(pattern).fullmatch)  # most values come again and again
    return Leaf(phrase, lambda value: type(value) is str and len(value) <= MAX_LABEL and fits(value))


def text_of(most: int) -> Leaf:
    phrase = f"text of 1 to {most} code points without lone surrogates"
    return Leaf(phrase, lambda value: type(value) is str and 0 < len(value) <= most and not has_surrogates(value))


def has_surrogates(text: str) -> bool:
    return not text.isascii() and text.encode("utf-8", "ignore").decode("utf-8") != text


def integer_to(most: int) -> Leaf:
    phrase = f"an integer from 0 to {most}, without fraction or exponent"
    return Leaf(phrase, lambda value: type(value) is int and 0 <= value <= most)


def one_of(*values: str | bool) -> Leaf:
    types = {type(value) for value in values}  # to Python, 1 equals True
    phrase = " or ".join(map(json.dumps, values))
    return Leaf(phrase, lambda value: type(value) in types and value in values)


def or_null(leaf: Leaf) -> Leaf:
    return Leaf(f"{leaf.phrase} or null", lambda value: value is None or leaf.accepts(value))


MISSING = object()


def never(value: Any) -> bool:
    """For a kind with parts, of which nothing tells at once whether a value is of it."""
    return False


def record(*rules: Kind, **fields: Kind) -> Kind:
    """Objects with exactly these fields: first what is wrong with them, then unknown fields, then the rules.

    What an unknown field has is not looked into; of a repeated one, the last value is. Rules go across fields,
    and see the object also where some of them are missing or wrong.
    """
    known = [(name, kind, getattr(kind, "accepts", never)) for name, kind in fields.items()]

    def check(value: Any, path: Path, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "must be an object, not", value)
            return
        times = value.times if isinstance(value, Repeating) else {}
        for name, kind, fine in known:
            part = value.get(name, MISSING)
            if times and name in times:
                problems.add((path, name), f"must stand once in its object, not {times[name]} times")
            if part is MISSING:
                problems.add((path, name), "is missing")
            elif not fine(part):
                kind(part, (path, name), problems)
        if not value.keys() <= fields.keys():
            for name in value:
                if name not in fields:
                    problems.add(path, f"has {'repeatedly ' if name in times else ''}the unknown field", name)
        for rule in rules:
            rule(value, path, problems)

    return check


def array(kind: Kind, least: int, most: int, *rules: Kind) -> Kind:
    """Arrays of least to most items of a kind; those beyond are counted and not looked at. Rules as above."""
    fine = getattr(kind, "accepts", never)

    def check(value: Any, path: Path, problems: Problems) -> None:
        if not isinstance(value, list):
            problems.add(path, "must be an array, not", value)
            return
        if not least <= len(value) <= most:
            problems.add(path, f"must have {least} to {most} items, not {len(value)}")
        items = value[:most]
        for index, item in enumerate(items):
            if not fine(item):
                kind(item, (path, index), problems)
        for rule in rules:
            rule(items, path, problems)

    return check


def unique(*names: str) -> Kind:
    """The rule that no two items of an array are the same, or have the same in all of these fields."""
    key: Callable[[Any], Any] = operator.itemgetter(*names) if names else lambda item: item
    words = f"must be unique in {' and '.join(names)}" if len(names) > 1 else "must be unique"

    def check(items: list[Any], path: Path, problems: Problems) -> None:
        first: dict[object, int] = {}
        for index, item in enumerate(items):
            try:
                found = key(item)
            except (KeyError, TypeError):  # an item that is not as it should be, which is said elsewhere
                continue
            if type(found) is not str and not (type(found) is tuple and {*map(type, found)} == {str}):
                continue
            earlier = first.setdefault(found, index)
            if earlier != index:
                where: Path = ((path, index), names[0]) if len(names) == 1 else (path, index)
                shown = found[0] if type(found) is tuple else found
                problems.add(where, f"{words}, but [{earlier}] also has", shown)

    return check


@functools.cache
def is_timestamp(text: str) -> bool:
    """Whether a text is YYYY-MM-DDThh:mm:ssZ: a real date from year 1 on, and a time without leap seconds."""
    return bool(SHAPE(text)) and day_number(text[:10]) > 0


SHAPE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z").fullmatch


@functools.cache
def day_number(date: str) -> int:
    """The days from 0000-12-31 to YYYY-MM-DD in the Gregorian calendar; 0 for what is no real date.

    The same number as datetime.date.toordinal's; importing datetime takes as long as judging a file does.
    """
    year, month, day = map(int, date.split("-"))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= lengths[month - 1]):
        return 0
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day


def seconds(timestamp: str) -> int:
    """The seconds from a fixed moment to a timestamp."""
    hours, minutes, rest = timestamp[11:-1].split(":")
    return ((day_number(timestamp[:10]) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(rest)


def ends_after_start(interval: dict[str, Any], path: Path, problems: Problems) -> None:
    start, end = interval.get("start", ""), interval.get("endExclusive", "")
    if TIMESTAMP.accepts(start) and TIMESTAMP.accepts(end) and start >= end:  # of one width and zone: text order
        problems.add((path, "endExclusive"), "must be later than start, not", end)


def amounts_fit(rows: list[Any], path: Path, problems: Problems) -> None:
    total = sum(row["value"] for row in rows if isinstance(row, dict) and AMOUNT.accepts(row.get("value")))
    if total > MAX_AMOUNT:
        problems.add(path, f"must have values that add up to at most {MAX_AMOUNT}, not {total}")


ID = matching("an id ([a-z][a-z0-9_-]{0,79})", "[a-z][a-z0-9_-]{0,79}")
TEXT = text_of(4_096)
LABEL = text_of(MAX_LABEL)
TIMESTAMP = Leaf("a real time as YYYY-MM-DDThh:mm:ssZ", lambda value: type(value) is str and is_timestamp(value))
ZONE = matching("UTC or Area/Place of at most 80 characters", "UTC|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+")
CURRENCY = matching("three capital letters A-Z", "[A-Z]{3}")
AMOUNT = integer_to(MAX_AMOUNT)
SCHEMA_VERSION = one_of("1.0.0")
METRIC = one_of("paid_invoice_total")
UNIT = one_of("minor", "major")


def interval_in(zone: Kind) -> Kind:
    return record(ends_after_start, start=TIMESTAMP, endExclusive=TIMESTAMP, timezone=zone)


QUESTION_CONTRACT = record(
    accountId=ID, requiredDatasetIds=array(ID, 1, 256, unique()), metric=METRIC,
    interval=interval_in(one_of("UTC")), currency=CURRENCY, unit=one_of("minor"), asOf=TIMESTAMP,
    maxSourceAgeSeconds=integer_to(2_678_400), requireCompletePopulation=one_of(True),
)
ROW = record(
    id=ID, datasetId=ID, accountId=ID, paidAt=TIMESTAMP, status=one_of("paid", "open", "void"), currency=CURRENCY,
    unit=UNIT, value=AMOUNT,
)
EVIDENCE = record(
    accountId=ID, datasetIds=array(ID, 0, 256, unique()), queryId=or_null(ID),
    outcome=one_of("success", "access_denied", "error"), interval=interval_in(ZONE), lastSuccessAt=or_null(TIMESTAMP),
    coverage=one_of("complete", "partial", "unknown"), truncated=or_null(one_of(True, False)),
    rows=array(ROW, 0, 256, unique("id"), amounts_fit),
)
RECORD_CLAIM = record(evidenceId=ID, field=one_of("status", "currency", "accountId"), value=LABEL)
CLAIM = record(
    accountId=ID, metric=METRIC, interval=interval_in(ZONE), currency=CURRENCY, unit=UNIT, value=AMOUNT,
    population=one_of("complete", "partial"), evidenceIds=array(ID, 0, 256, unique()),
    recordClaims=array(RECORD_CLAIM, 0, 256, unique("evidenceId", "field")),
)
CASE = record(id=ID, title=TEXT, question=TEXT, answer=TEXT, evidence=EVIDENCE, claim=CLAIM)
CASE_FILE = record(
    schemaVersion=SCHEMA_VERSION, fixtureSetId=ID, questionContract=QUESTION_CONTRACT,
    cases=array(CASE, 1, MAX_CASES, unique("id")),
)

JUDGMENT = one_of("pass", "fail", "insufficient_evidence")
RESULT = record(id=ID, judgment=JUDGMENT, reasonCodes=array(ID, 0, 256, unique()), explanation=TEXT)


def expected_file(case_file: Any) -> Kind:
    """The kind of the expected file that goes with a case file, as far as that has what to compare it with."""

    def goes_with(expected: dict[str, Any], path: Path, problems: Problems) -> None:
        if not isinstance(case_file, dict):
            return
        wanted, found = case_file.get("fixtureSetId"), expected.get("fixtureSetId")
        if ID.accepts(wanted) and ID.accepts(found) and found != wanted:
            problems.add((path, "fixtureSetId"), "must be that of the case file, not", found)
        cases, results = ids_of(case_file.get("cases")), ids_of(expected.get("results"))
        if not cases or results is None or not all(map(ID.accepts, cases)):
            return
        for index, id in enumerate(results):
            if ID.accepts(id) and id not in cases:
                problems.add((((path, "results"), index), "id"), "must be the id of a case, not", id)
        for id in cases:
            if id not in results:
                problems.add((path, "results"), "must have a result for", id)

    results = array(RESULT, 1, MAX_CASES, unique("id"))
    return record(goes_with, schemaVersion=SCHEMA_VERSION, fixtureSetId=ID, results=results)


def ids_of(items: Any) -> list[Any] | None:
    """The ids of an array of cases or results, None for an item that has none; None where it is no array."""
    if not isinstance(items, list):
        return None
    return [item.get("id") if isinstance(item, dict) else None for item in items[:MAX_CASES]]
