"""The expression language of caliber cards: what a metric may compute, and nothing else.

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/") factor)*
    factor  := "-" factor | NUMBER | "(" sum ")" | call | reference
    call    := "abs" "(" sum ")" | "round" "(" sum "," ["-"] WHOLE ")"
    reference := "cell" "(" query "," WHOLE "," TEXT ")"
             | ("sum" | "avg" | "min" | "max" | "count") "(" query "," TEXT ")"
             | "inputs" "." NAME | "fields" "." NAME | NAME
    query   := ["nodes" "."] NAME

parse() gives an Expression, evaluate() its exact value with what a function says that its references are worth. All
arithmetic is decimal with 50 digits, rounded half up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, Overflow, Underflow
from typing import NamedTuple, NoReturn, Union

from issuance.formats import FUNCTIONS

MAX_DEPTH = 64
MOST_ROUNDED = 50
AGGREGATES = ("sum", "avg", "min", "max", "count")
ARITHMETIC = Context(
    prec=50, rounding=ROUND_HALF_UP, Emax=4_999, Emin=-4_999, traps=[InvalidOperation, Overflow, Underflow]
)
WIDE = Context(prec=MAX_PREC, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)  # for what must not lose a digit
TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[a-z][a-z0-9_]*)|(?P<text>'(?:[^']|'')*')|(?P<mark>[-+*/(),.])"
)
SPACE = re.compile("[ \t\r\n]*")


class ExpressionFault(Exception):
    """A text is no expression; raised with the column, from 1, and a sentence."""


class Missing(Exception):
    """A value is not there; raised with the reason."""


class Failed(Exception):
    """A value cannot be computed from what is there; raised with the reason."""


class Reference(NamedTuple):
    """What an expression refers to, and where: text[start:end]."""

    kind: str  # "cell", an aggregate, "input", "field" or "metric"
    name: str  # of the query, input, field or metric
    row: int
    column: str
    start: int
    end: int


class Negated(NamedTuple):
    part: Node


class Chain(NamedTuple):
    """Parts that are added and subtracted, or multiplied and divided, from the left; the first has no operator."""

    parts: list[tuple[str, Node]]


class Call(NamedTuple):
    function: str  # "abs" or "round"
    part: Node
    digits: int


Node = Union[Decimal, Reference, Negated, Chain, Call]


class Expression(NamedTuple):
    text: str
    node: Node
    references: list[Reference]  # in their order


def parse(text: str, most: int = MAX_DEPTH) -> Expression:
    """The expression of a text, in which parts are nested at most so deep. Raises ExpressionFault."""
    parser = Parser(text, most)
    node = parser.sum(0)
    if parser.kind != "end":
        parser.refuse("expected an operator or the end")
    return Expression(text, node, parser.references)


class Parser:
    """A position in a text, and the token that stands there: its kind, text, start and end."""

    def __init__(self, text: str, most: int) -> None:
        self.text = text
        self.most = most
        self.references: list[Reference] = []
        self.end = 0
        self.advance()

    def advance(self) -> None:
        self.before = self.end
        self.start = SPACE.match(self.text, self.end).end()  # type: ignore[union-attr]
        token = TOKEN.match(self.text, self.start)
        if token is None and self.start < len(self.text):
            char = self.text[self.start]
            what = "a text without its closing quote" if char == "'" else f"the character {char!a} has no meaning here"
            raise ExpressionFault(self.start + 1, what)
        self.kind, self.token = (str(token.lastgroup), token[0]) if token else ("end", "")
        self.end = token.end() if token else self.start

    def refuse(self, expected: str) -> NoReturn:
        raise ExpressionFault(self.start + 1, f"{expected}, not {self.token or 'the end'}")

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.token in marks

    def take(self, mark: str) -> None:
        if not self.is_mark(mark):
            self.refuse(f"expected {mark}")
        self.advance()

    def take_kind(self, kind: str, expected: str) -> str:
        if self.kind != kind:
            self.refuse(f"expected {expected}")
        token = self.token
        self.advance()
        return token

    def chain(self, depth: int, operators: tuple[str, str], part: Callable[[int], Node]) -> Node:
        first = part(depth)
        if not self.is_mark(*operators):
            return first
        parts = [("", first)]
        while self.is_mark(*operators):
            operator = self.token
            self.advance()
            parts.append((operator, part(depth)))
        return Chain(parts)

    def sum(self, depth: int) -> Node:
        return self.chain(depth, ("+", "-"), self.product)

    def product(self, depth: int) -> Node:
        return self.chain(depth, ("*", "/"), self.factor)

    def factor(self, depth: int) -> Node:
        if depth > self.most:
            raise ExpressionFault(self.start + 1, f"nested deeper than {self.most} levels")
        if self.is_mark("-"):
            self.advance()
            return Negated(self.factor(depth + 1))
        if self.is_mark("("):
            self.advance()
            inner = self.sum(depth + 1)
            self.take(")")
            return inner
        if self.kind == "number":
            return Decimal(self.take_kind("number", ""))
        if self.kind != "name":
            self.refuse("expected a number, a name or (")
        return self.call(depth) if self.token in ("abs", "round") else self.reference()

    def call(self, depth: int) -> Node:
        function = self.take_kind("name", "")
        self.take("(")
        part = self.sum(depth + 1)
        digits = 0
        if function == "round":
            self.take(",")
            sign = -1 if self.is_mark("-") else 1
            if sign < 0:
                self.advance()
            digits = sign * self.whole(MOST_ROUNDED, "how many decimals")
        self.take(")")
        return Call(function, part, digits)

    def whole(self, most: int, what: str) -> int:
        if self.kind != "number" or "." in self.token or len(self.token) > 9 or int(self.token) > most:
            self.refuse(f"expected {what} as a whole number of at most {most}")
        return int(self.take_kind("number", ""))

    def reference(self) -> Reference:
        start, kind, row, column = self.start, self.take_kind("name", ""), 0, ""
        if kind in ("inputs", "fields") and self.is_mark("."):
            self.advance()
            kind, name = kind[:-1], self.take_kind("name", "a name")
        elif kind in FUNCTIONS:
            self.take("(")
            name = self.query()
            if kind == "cell":
                self.take(",")
                row = self.whole(10**9 - 1, "a row")
            self.take(",")
            column = self.take_kind("text", "a column in single quotes")[1:-1].replace("''", "'")
            self.take(")")
        elif self.is_mark("("):
            raise ExpressionFault(start + 1, f"{kind} is no function; there are {', '.join(FUNCTIONS)}")
        else:
            kind, name = "metric", kind
        found = Reference(kind, name, row, column, start, self.before)
        self.references.append(found)
        return found

    def query(self) -> str:
        name = self.take_kind("name", "a query")
        if name == "nodes" and self.is_mark("."):
            self.advance()
            name = self.take_kind("name", "a query")
        return name


def evaluate(expression: Expression, value_of: Callable[[Reference], Decimal]) -> Decimal:
    """The value of an expression, computed with 50 digits. Raises Failed, and whatever value_of raises."""
    try:
        return value(expression.node, value_of)
    except Underflow:  # which is an Overflow's sibling, not its kind
        raise Failed("a number is too small") from None
    except (Overflow, InvalidOperation):
        raise Failed("a number is too large") from None


def value(node: Node, value_of: Callable[[Reference], Decimal]) -> Decimal:
    if isinstance(node, Decimal):
        return node
    if isinstance(node, Reference):
        return value_of(node)
    if isinstance(node, Negated):
        return value(node.part, value_of).copy_negate()
    if isinstance(node, Call):
        part = value(node.part, value_of)
        result = part.copy_abs() if node.function == "abs" else rounded(part, node.digits)
        if result.adjusted() > ARITHMETIC.Emax:
            raise Failed("a number is too large")
        return result
    result = value(node.parts[0][1], value_of)
    for operator, operand in node.parts[1:]:
        result = OPERATIONS[operator](result, value(operand, value_of))
    return result


def divided(number: Decimal, by: Decimal) -> Decimal:
    if not by:
        raise Failed("division by zero")
    return ARITHMETIC.divide(number, by)


OPERATIONS: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": ARITHMETIC.add,
    "-": ARITHMETIC.subtract,
    "*": ARITHMETIC.multiply,
    "/": divided,
}


def rounded(number: Decimal, digits: int) -> Decimal:
    """A number rounded half up to so many decimals; to tens and hundreds where digits is negative."""
    step = Decimal((0, (1,), -digits))
    exponent = number.as_tuple().exponent
    return number if isinstance(exponent, int) and exponent >= -digits else number.quantize(step, context=WIDE)


def substituted(expression: Expression, written: Callable[[Reference], str]) -> str:
    """The text of an expression with another text in the place of each reference."""
    parts, at = [], 0
    for reference in expression.references:
        parts += [expression.text[at : reference.start], written(reference)]
        at = reference.end
    return "".join([*parts, expression.text[at:]])
