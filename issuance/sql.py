"""What the text of a query shows: its statements, habits that belong in a card, and where a column's values go.

Only tokens are read. Whether a query prepares and what it may do is up to SQLite: see queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from issuance.job import Input

TOKEN = re.compile(
    r"(?P<space>[ \t\n\f\r]+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>[xX]?'(?:[^']|'')*')"
    r"|(?P<quoted>\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\])"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_\x80-\U0010ffff]*)"
    r"|(?P<parameter>[:@$][A-Za-z0-9_$\x80-\U0010ffff]+|\?[0-9]*)"
    r"|(?P<name>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)"  # as SQLite reads it, any space aside
    r"|(?P<mark>.)",
    re.DOTALL,
)
READING = ("select", "with", "values")
WORDS = frozenset(
    "select from where group by having order limit offset as on join left right inner outer cross and or not in is "
    "null like between case when then else end distinct all union except intersect with asc desc over partition true "
    "false cast integer text real numeric".split()
)
FUNCTIONS = frozenset(  # that SQLite has, in any version
    "abs acos acosh asin asinh atan atan2 atanh avg cast ceil ceiling changes char coalesce concat concat_ws cos "
    "cosh count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exists exp "
    "first_value floor format glob group_concat hex ifnull iif in instr json json_array json_array_length "
    "json_each json_extract json_group_array json_group_object json_insert json_object json_patch json_quote "
    "json_remove json_replace json_set json_tree json_type json_valid julianday lag last_value lead length like "
    "likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length over "
    "percent_rank percentile pi pow power printf quote radians random randomblob rank replace round row_number "
    "rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr substring sum tan tanh time "
    "timediff total trim trunc typeof unhex unicode unixepoch unlikely upper zeroblob".split()
)
WRITING = "insert update delete replace create drop alter vacuum reindex analyze".split()
COMPOUND = {"union", "except", "intersect"}
SAFE = set("sum avg total count length cast abs round typeof group_concat in exists over".split())  # see warnings()
WHOLE = set("length instr unicode count row_number rank".split())  # functions that give integers
FLOATING = ("real", "double", "float", "numeric", "decimal")
AGGREGATES = set("avg count max min sum total group_concat string_agg json_group_array json_group_object".split())


class Token(NamedTuple):
    kind: str
    text: str  # a name without its quotes; in lower case where it had none
    depth: int  # of parentheses around it
    start: int
    end: int

    def is_name(self, *names: str) -> bool:
        return self.kind == "name" and self.text in names

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.text == mark


def tokens(sql: str) -> list[Token]:
    """The tokens of a query without space and comments, each parenthesis at the depth of what is around it."""
    found, depth = [], 0
    for match in TOKEN.finditer(sql):
        kind, text = str(match.lastgroup), match[0]
        if kind == "space":
            continue
        if kind == "quoted":
            text = text[1:-1].replace(text[-1] * 2, text[-1])
        elif kind == "name":
            text = text.lower()
        depth -= text == ")" and kind == "mark"
        found.append(Token(kind, text, depth, match.start(), match.end()))
        depth += text == "(" and kind == "mark"
    return found


def statements(found: Sequence[Token]) -> int:
    """How many statements there are."""
    return sum(
        1
        for index, token in enumerate(found)
        if not token.is_mark(";") and (index == 0 or found[index - 1].is_mark(";"))
    )


def bound(sql: str | None, inputs: Mapping[str, Input]) -> dict[str, Input]:
    """The inputs that a query names."""
    names = [token.text[1:] for token in tokens(sql or "") if token.kind == "parameter"]
    return {name: inputs[name] for name in inputs if name in names}


def bare(text: str) -> str:
    """A statement without the semicolons around it, followed by a line's end in case a comment ends it."""
    for token in reversed([token for token in tokens(text) if token.is_mark(";")]):
        text = text[: token.start] + " " + text[token.end :]
    return text + "\n"


def errors(sql: str) -> str:
    """What keeps a query from being run, as far as its text shows it; empty for nothing."""
    if "\0" in sql:
        return "holds a NUL"
    found = tokens(sql)
    count = statements(found)
    if count != 1:
        return f"has {count} statements, not one" if count else "has no statement"
    first = next(token for token in found if not token.is_mark(";"))
    if not first.is_name(*READING):
        does = "would write" if first.is_name(*WRITING) else "does not read"
        return f"{does}: it begins with {first.text[:20].upper()!a}"
    if any(token.kind == "parameter" and token.text[0] != ":" for token in found):
        return "binds an input otherwise than by :name"
    return ""


def warnings(
    sql: str, fractional: Iterable[str], decimal: Iterable[str] = (), ambiguous: Mapping[str, str] | None = None
) -> list[str]:
    """Habits that make a figure hard to trust, each once; fractional names the columns that hold fractions.

    decimal names those that hold decimals as text, ambiguous those of them that hold one value in several texts.
    """
    found = tokens(sql)
    said: dict[str, None] = {}
    known = with_aliases(found, set(fractional))
    for index, token in enumerate(found):
        after = found[index + 1] if index + 1 < len(found) else None
        if token.kind in ("name", "quoted") and after and after.is_mark("("):
            inside = arguments(found, index + 1)
            warn_of_call(token.text.lower(), inside, known, said)
            if token.text.lower() not in SAFE and any(is_column(part, set(decimal)) for part in inside):
                said[f"{token.text.upper()} of a column of decimals gives a text, which compares as text"] = None
        if token.kind in ("name", "quoted") and ambiguous and token.text.lower() in ambiguous:
            texts = ambiguous[token.text.lower()]
            said[f"{token.text.lower()} holds one decimal in several texts ({texts}), which are equal"] = None
        if token.is_mark("*") and index and is_whole_row(found, index):
            said["SELECT * takes whatever columns there are: name them"] = None
        if token.is_name("limit") and not is_ordered(found, index):
            said["LIMIT without ORDER BY takes any rows"] = None
    return list(said)


def arguments(found: Sequence[Token], opening: int) -> list[Token]:
    """The tokens within the parenthesis that opens at an index."""
    end = opening + 1
    while end < len(found) and found[end].depth > found[opening].depth:
        end += 1
    return list(found[opening + 1 : end])


def warn_of_call(function: str, inside: list[Token], fractional: set[str], said: dict[str, None]) -> None:
    if function == "round":
        said["ROUND: rounding belongs in the card"] = None
    if function in ("coalesce", "ifnull") and any(is_literal(part) for part in split(inside)):
        said[f"{function.upper()} with a literal: a default belongs in the card"] = None
    if function in ("sum", "avg", "total") and is_fractional(inside, fractional):
        said[f"{function.upper()} of fractions is binary floating point: sum in the card"] = None


def is_fractional(part: Sequence[Token], fractional: set[str]) -> bool:
    """Whether an expression may have a fraction for a value."""
    return any(
        token.kind in ("name", "quoted") and token.text.lower() in fractional
        or token.kind == "number" and token.text.strip("0123456789")
        or token.is_name(*FLOATING)
        for token in results(part)
    )


def with_aliases(found: Sequence[Token], fractional: set[str]) -> set[str]:
    """The names of columns that hold fractions, with those that select lists give them."""
    for inside in select_lists(found):
        for part in split(inside):
            if len(part) > 2 and part[-2].is_name("as") and is_fractional(part[:-2], fractional):
                fractional.add(part[-1].text.lower())
    return fractional


def results(inside: Sequence[Token]) -> Iterator[Token]:
    """Tokens without those of functions that give integers, and without the conditions of CASE.

    Of a CASE, only what stands after THEN and ELSE is a result.
    """
    condition, within = False, None
    for token, after in zip(inside, [*inside[1:], None]):
        if within is not None and token.depth > within:
            continue
        within = token.depth if token.is_name(*WHOLE) and after and after.is_mark("(") else None
        if token.is_name("case", "when", "then", "else", "end"):
            condition = token.text in ("case", "when")
        elif not condition:
            yield token


def split(inside: Sequence[Token]) -> Iterator[list[Token]]:
    """Tokens in parts, at the commas of their outermost depth."""
    part: list[Token] = []
    for token in inside:
        if token.is_mark(",") and token.depth == inside[0].depth:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def is_literal(part: list[Token]) -> bool:
    bare = [token for token in part if not (token.kind == "mark" and token.text in "()+-")]
    if len(bare) == 4 and bare[0].is_name("cast") and bare[2].is_name("as"):
        bare = bare[1:2]
    return len(bare) == 1 and (bare[0].kind in ("number", "string") or bare[0].is_name("true", "false"))


def is_whole_row(found: Sequence[Token], index: int) -> bool:
    """Whether a star stands for all columns: not within count(*), and not for a product."""
    before = found[index - 1]
    return before.is_name("select", "distinct", "all") or before.is_mark(",") or before.is_mark(".")


def is_ordered(found: Sequence[Token], limit: int) -> bool:
    """Whether an ORDER BY stands before a LIMIT in the same SELECT."""
    for token in reversed(found[:limit]):
        if token.depth < found[limit].depth:
            return False
        if token.depth == found[limit].depth and token.is_name("order", "select"):
            return token.text == "order"
    return False


def select_lists(found: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens between each SELECT and its FROM or end."""
    for index, token in enumerate(found):
        if token.is_name("select"):
            inside: list[Token] = []
            for part in found[index + 1 :]:
                if part.depth < token.depth or part.depth == token.depth and ends_list(part, inside):
                    break
                inside.append(part)
            while inside and inside[0].is_name("distinct", "all"):
                inside.pop(0)
            yield inside


def ends_list(token: Token, before: Sequence[Token]) -> bool:
    """Whether a token behind a select list ends it; IS DISTINCT FROM does not."""
    return token.is_name("from", "where", "limit") and not (before and before[-1].is_name("distinct"))


def names_in_definition(definition: str, column: str) -> set[str]:
    """The names in the definition of a table's column, in lower case; all of the table's where it is not found."""
    found = tokens(definition)
    opening = next((index for index, token in enumerate(found) if token.is_mark("(")), len(found))
    inside = arguments(found, opening) if opening < len(found) else []
    for part in split(inside) if inside else ():
        if part and part[0].text.lower() == column.lower():
            inside = part[1:]
            break
    return {token.text.lower() for token in inside if token.kind in ("name", "quoted")}


def is_virtual(definition: str) -> bool:
    return [token.text for token in tokens(definition)[:2]] == ["create", "virtual"]


def joins_unnoticed(sql: str, columns: set[str]) -> bool:
    """Whether a query joins by NATURAL, or by USING one of these columns: SQLite does not say that these are read."""
    found = tokens(sql)
    for index, token in enumerate(found):
        if token.is_name("natural"):
            return True
        if token.is_name("using") and any(is_column(part, columns) for part in arguments(found, index + 1)):
            return True
    return False


def keeps_names(sql: str, columns: set[str]) -> bool:
    """Whether the values of these columns can appear in a result under the columns' own names only.

    That is so in a single SELECT from tables which has each alone in its list or not at all, and which relates them
    to no other table. What other queries do with them is not read from their text.
    """
    found = tokens(sql)
    lists = list(select_lists(found))
    if len(lists) != 1 or not lists[0] or any(token.is_name("values", "with", *COMPOUND) for token in found):
        return False
    parts = list(split(lists[0]))
    values = columns | {"rowid", "oid", "_rowid_"}
    rest = found[found.index(lists[0][-1]) + 1 :]
    relates = any(token.is_name("join") or token.is_mark(",") or token.is_mark("(") for token in until_where(rest))
    places = (index for index, token in enumerate(rest) if is_column(token, values))
    if relates and not all(is_alone(rest, index, values) for index in places):
        return False
    return all(is_plain(part, columns) or not any(is_column(token, values) for token in part) for part in parts)


def is_alone(rest: Sequence[Token], index: int, columns: set[str]) -> bool:
    """Whether a column behind a select list is compared with constants and its like only, or orders or groups."""
    clause = next((token for token in reversed(rest[:index]) if token.is_name("on", "where", "order", "group")), None)
    if clause and clause.is_name("order", "group"):
        return True
    start = index - 2 if index >= 2 and rest[index - 1].is_mark(".") else index
    return compares(rest[index + 1 :], columns) or compares(rest[:start][::-1], columns)


def compares(beside: Sequence[Token], columns: set[str]) -> bool:
    """Whether what stands beside a column compares it with a constant or with a column of these names."""
    operators = 0
    while operators < len(beside) and (
        beside[operators].kind == "mark" and beside[operators].text in "=<>!"
        or beside[operators].is_name("is", "not", "like", "glob")
    ):
        operators += 1
    operand = list(beside[operators : operators + 3])
    if not operators or not operand:
        return False
    if len(operand) == 3 and operand[1].is_mark("."):
        return any(is_column(token, columns) for token in (operand[0], operand[2]))
    constant = operand[0].kind in ("string", "number", "parameter") or operand[0].is_name("null")
    return constant or is_column(operand[0], columns)


def until_where(rest: Sequence[Token]) -> Iterator[Token]:
    """The tokens of a FROM clause, of what stands behind a select list."""
    for token in rest:
        if token.is_name("where", "group", "having", "order", "limit", "window"):
            return
        yield token


def is_column(token: Token, columns: set[str]) -> bool:
    text = token.text[1:-1] if token.kind == "string" else token.text
    return token.kind in ("name", "quoted", "string") and text.lower() in columns


def is_plain(part: Sequence[Token], columns: set[str]) -> bool:
    """Whether a part of a select list is a column under its own name: email, o.email, "email", o.email AS email."""
    if len(part) > 2 and part[-2].is_name("as") and part[-1].text.lower() == part[-3].text.lower():
        part = part[:-2]
    names, dots = part[0::2], part[1::2]
    return (
        len(part) % 2 == 1
        and all(token.kind in ("name", "quoted") for token in names)
        and all(dot.is_mark(".") for dot in dots)
        and is_column(part[-1], columns)
    )


def with_line(sql: str, name: str) -> str | None:
    """A query that also gives, last in each row, the rowid of the one table that it reads row by row; else None."""
    found = [token for token in tokens(sql) if not token.is_mark(";")]
    if not found or not found[0].is_name("select"):
        return None
    barred = {"select", "distinct", "group", "having", "join", "with", "over", "window", *COMPOUND}
    if any(token.is_name(*barred) for token in found[1:]) or any(
        token.kind in ("name", "quoted") and token.text.lower() in AGGREGATES and after.is_mark("(")
        for token, after in zip(found, found[1:])
    ):
        return None
    for index, token in enumerate(found):
        if token.depth == 0 and token.is_name("from"):
            tail = [part for part in found[index + 1 : index + 5] if part.depth == 0]
            if any(part.is_mark(",") for part in tail[:4]):
                return None
            return f'{sql[: token.start]}, _rowid_ AS "{name}" {sql[token.start :]}'
    return None
