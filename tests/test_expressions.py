"""The expression language of caliber cards: what it means, what it refuses and where, and random expressions."""

from __future__ import annotations

import random
import unittest
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction
from typing import Optional

from issuance import expressions
from issuance.expressions import ExpressionFault, Failed, Missing, Reference
from issuance.tracing import written

NINES, THREES = "9" * 50, "3" * 50
LARGEST_POWER = "1" + "0" * 4_999
SMALLEST_POWER = "0." + "0" * 4_998 + "1"
VALUES = {"a": "7", "b": "-2.5", "c": "0", "cell(q, 0, 'a')": "1e3", "sum(q, 'a')": "0.1", "inputs.n": "3"}


def value_of(reference: Reference) -> Decimal:
    return Decimal(VALUES[reference.name if reference.kind == "metric" else named(reference)])


def named(reference: Reference) -> str:
    if reference.kind == "input":
        return f"inputs.{reference.name}"
    row = f"{reference.row}, " if reference.kind == "cell" else ""
    return f"{reference.kind}({reference.name}, {row}'{reference.column}')"


def evaluated(text: str, lookup: Callable[[Reference], Decimal] = value_of) -> str:
    """The value of an expression without exponent, or why it has none."""
    try:
        return written(expressions.evaluate(expressions.parse(text), lookup))
    except Failed as fault:
        return f"failed: {fault.args[0]}"


def fault_of(text: str) -> tuple[int, str]:
    """The column and the sentence of a refusal; column 0 for none."""
    try:
        expressions.parse(text)
    except ExpressionFault as fault:
        column, sentence = fault.args
        return column, sentence
    return 0, ""


class Values(unittest.TestCase):
    maxDiff = None

    def check(self, *rows: tuple[str, str]) -> None:
        for text, value in rows:
            with self.subTest(text[:80]):
                self.assertEqual(evaluated(text), value)

    def test_literals_and_precedence(self) -> None:
        self.check(
            ("0", "0"), ("12.50", "12.5"), ("007", "7"), ("0.10", "0.1"), (" \t\r\n1\n", "1"),
            ("2 + 3 * 4", "14"), ("(2 + 3) * 4", "20"), ("2 * 3 + 4", "10"), ("2+3-4+5", "6"), ("10 - 4 - 3", "3"),
            ("10 - (4 - 3)", "9"), ("100 / 10 / 2", "5"), ("100 / (10 / 2)", "20"), ("2 * 6 / 4 * 3", "9"), ("8 / 4 * 2", "4"),
            ("1 - 6 / 3 + 2 * 5", "9"), ("-2 * 3", "-6"), ("2 * -3", "-6"), ("2 - -3", "5"), ("--2", "2"), ("---2", "-2"),
            ("-(2 + 3)", "-5"), ("-2 + 3", "1"), ("-0", "0"), ("10 / -4", "-2.5"), ("((1))", "1"),
        )  # fmt: skip

    def test_functions(self) -> None:
        self.check(
            ("abs(-3.5)", "3.5"), ("abs(3.5)", "3.5"), ("abs(2 - 5) * 2", "6"), ("-abs(-1)", "-1"), ("abs(-0)", "0"),
            ("round(1 / 3, 2)", "0.33"), ("round(2 / 3, 2)", "0.67"), ("round(1 + 1.26, 1) * 2", "4.6"), ("abs(round(-1.25, 1))", "1.3"),
        )  # fmt: skip

    def test_round_is_half_up_away_from_zero(self) -> None:
        for number, digits, value in (
            ("0.5", "0", "1"), ("1.5", "0", "2"), ("2.5", "0", "3"), ("2.4999999999", "0", "2"), ("2.5", "-0", "3"),
            ("1.25", "1", "1.3"), ("1.35", "1", "1.4"), ("1.249", "1", "1.2"), ("1.005", "2", "1.01"), ("1.004", "2", "1"),
            ("125", "-1", "130"), ("124.9", "-1", "120"), ("115", "-1", "120"), ("4.99", "-1", "0"), ("5", "-1", "10"),
            ("1234567", "-3", "1235000"), ("49", "-2", "0"), ("50", "-2", "100"), ("999", "-50", "0"), ("5" + "0" * 49, "-50", "1" + "0" * 50),
            ("1.5", "3", "1.5"), ("1.5", "50", "1.5"), ("0." + "0" * 50 + "5", "50", "0." + "0" * 49 + "1"), ("0." + "0" * 50 + "4", "50", "0"),
        ):  # fmt: skip
            self.check((f"round({number}, {digits})", value))
            self.check((f"round(-{number}, {digits})", "0" if value == "0" else f"-{value}"))

    def test_fifty_digits_rounded_half_up(self) -> None:
        one = "1" + "0" * 50  # of 51 digits
        self.check(
            ("1 / 3", f"0.{THREES}"), ("2 / 3", f"0.{THREES.replace('3', '6')[:-1]}7"), ("1 / 3 * 3", f"0.{NINES}"), ("-1 / 3", f"-0.{THREES}"),
            (f"{NINES} + 0", NINES), (f"{NINES} + 1", one), (f"{NINES} * 1", NINES), (f"{NINES} + 0.4", NINES), (f"{NINES} + 0.5", one),
            (f"{one[:-1]}4 + 0", one), (f"{one[:-1]}5 + 0", f"{one[:-2]}10"), (f"{one[:-1]}5 * 1", f"{one[:-2]}10"), (f"{one[:-1]}5 / 1", f"{one[:-2]}10"),
            (f"0 - {one[:-1]}5", f"-{one[:-2]}10"), (f"{one[:-1]}5 - 0", f"{one[:-2]}10"), (f"{one} + 1 - {one}", "0"), (f"{one} - {one} + 1", "1"),
            (f"{one[:-1]}7 - {one[:-1]}4", "3"),
        )  # fmt: skip

    def test_what_is_not_computed_keeps_all_its_digits(self) -> None:
        long = "123456789" * 8 + "." + "987654321" * 8
        self.check((long, long), (f"-{long}", f"-{long}"), (f"abs(-{long})", long), (f"({long})", long))
        self.check((f"round({long}, 50)", f"{long[:122]}5"), (f"round({long}, 1)", f"{'123456789' * 7}123456790"))

    def test_division_by_zero(self) -> None:
        for divisor in ("0", "0.00", "-0", "(2 - 2)", "abs(0)", "round(0.4, 0)", "c", "(c * 5)"):
            self.check(*((f"{number} / {divisor}", "failed: division by zero") for number in ("1", "-1", "0", "c")))
        self.check(("0 / 5", "0"), ("0 * 5 / 1", "0"), ("1 / round(0.5, 0)", "1"), ("5 / 0 * 0", "failed: division by zero"))

    def test_too_large(self) -> None:
        large = "failed: a number is too large"
        self.check(
            (f"{LARGEST_POWER} * 1", LARGEST_POWER), (f"{LARGEST_POWER} * 9", "9" + LARGEST_POWER[1:]), (f"{LARGEST_POWER} * 10", large),
            (f"-{LARGEST_POWER} * 10", large), (f"{LARGEST_POWER} / 0.1", large), (f"{LARGEST_POWER} * 5 + {LARGEST_POWER} * 5", large),
            (f"-{LARGEST_POWER} * 5 - {LARGEST_POWER} * 5", large), (f"{LARGEST_POWER} * 5 - {LARGEST_POWER} * 4", LARGEST_POWER),
            (f"round({'9' * 4_999}.5, 0)", LARGEST_POWER), (f"round({'9' * 5_000}.5, 0)", large), (f"round({'9' * 5_000}.4, 0)", "9" * 5_000),
            (f"{LARGEST_POWER}0 + 0", large), (f"round({LARGEST_POWER}, 50)", LARGEST_POWER),
        )  # fmt: skip

    def test_too_small(self) -> None:
        small, exact = "failed: a number is too small", f"0.{'0' * 5_047}1"
        self.check(
            (f"{SMALLEST_POWER} * 1", SMALLEST_POWER), (f"{SMALLEST_POWER} / 1{'0' * 49}", exact), (f"{SMALLEST_POWER} / 1{'0' * 50}", small),
            (f"{SMALLEST_POWER} / 3", small), (f"-{SMALLEST_POWER} / 3", small), (f"{SMALLEST_POWER} * {SMALLEST_POWER}", small),
            (f"{SMALLEST_POWER} - {SMALLEST_POWER}", "0"), (f"0 * {SMALLEST_POWER}", "0"),
        )  # fmt: skip

    def test_references_have_the_values_that_are_looked_up(self) -> None:
        self.check(
            ("a", "7"), ("a - b", "9.5"), ("-b", "2.5"), ("a * b + c", "-17.5"), ("abs(b)", "2.5"), ("round(b, 0)", "-3"),
            ("cell(q, 0, 'a') / b * a", "-2800"), ("cell(nodes.q, 0, 'a') + sum(nodes.q, 'a')", "1000.1"), ("inputs.n + inputs . n", "6"),
        )  # fmt: skip

    def test_what_is_not_there_is_said_by_who_looks_it_up(self) -> None:
        def missing(reference: Reference) -> Decimal:
            raise Missing(reference.name)

        for text in ("a", "2 * (3 + a)", "abs(-a)", "round(a, 2)", "1 / a"):
            with self.subTest(text), self.assertRaises(Missing) as caught:
                evaluated(text, missing)
            self.assertEqual(caught.exception.args, ("a",))

    def test_no_decimal_context_of_the_caller_matters(self) -> None:
        with localcontext() as context:
            context.prec, context.rounding = 3, ROUND_DOWN
            self.check(
                ("2 / 3", f"0.{'6' * 49}7"), ("-12345.678 - 0", "-12345.678"), ("round(12345.675, 2)", "12345.68"), ("abs(-12345.678)", "12345.678")
            )


class Grammar(unittest.TestCase):
    maxDiff = None

    def test_references(self) -> None:
        for text, *expected in (
            ("gmv", ("metric", "gmv", 0, "", "gmv")),
            ("inputs.week", ("input", "week", 0, "", "inputs.week")),
            ("inputs . week*2", ("input", "week", 0, "", "inputs . week")),
            ("fields.gmv", ("field", "gmv", 0, "", "fields.gmv")),
            ("inputs + fields + nodes", ("metric", "inputs", 0, "", "inputs"), ("metric", "fields", 0, "", "fields"), ("metric", "nodes", 0, "", "nodes")),
            ("cell(pull, 0, 'gmv')", ("cell", "pull", 0, "gmv", "cell(pull, 0, 'gmv')")),
            ("-cell( nodes . pull ,999999999,'a b')", ("cell", "pull", 999_999_999, "a b", "cell( nodes . pull ,999999999,'a b')")),
            ("cell(nodes, 007, 'it''s')", ("cell", "nodes", 7, "it's", "cell(nodes, 007, 'it''s')")),
            ("sum(q, '''')", ("sum", "q", 0, "'", "sum(q, '''')")),
            ("avg(q,'') ", ("avg", "q", 0, "", "avg(q,'')")),
            ("min(q, '销售额')\n+max(nodes.q, ',')", ("min", "q", 0, "销售额", "min(q, '销售额')"), ("max", "q", 0, ",", "max(nodes.q, ',')")),
            ("abs(count(q, 'x')) - round(a1_b, -3)", ("count", "q", 0, "x", "count(q, 'x')"), ("metric", "a1_b", 0, "", "a1_b")),
            ("a + a", ("metric", "a", 0, "", "a"), ("metric", "a", 0, "", "a")),
            ("1 + 2", ),
        ):  # fmt: skip
            with self.subTest(text):
                expression = expressions.parse(text)
                found = [(*one[:4], text[one.start : one.end]) for one in expression.references]
                self.assertEqual((expression.text, found), (text, expected))

    def test_refusals(self) -> None:
        functions = "there are cell, sum, avg, min, max, count, abs, round"
        operand, operator = "expected a number, a name or (, not", "expected an operator or the end, not"
        decimals = "expected how many decimals as a whole number of at most 50, not"
        row = "expected a row as a whole number of at most 999999999, not"
        for text, column, sentence in (
            ("", 1, f"{operand} the end"), ("  ", 3, f"{operand} the end"), ("1 +", 4, f"{operand} the end"), ("(", 2, f"{operand} the end"),
            ("()", 2, f"{operand} )"), ("+1", 1, f"{operand} +"), ("2 ** 3", 4, f"{operand} *"), ("7 // 2", 4, f"{operand} /"), ("1 - / 2", 5, f"{operand} /"),
            (".5", 1, f"{operand} ."), ("1 + , 2", 5, f"{operand} ,"), ("-", 2, f"{operand} the end"),
            ("1 2", 3, f"{operator} 2"), ("2a", 2, f"{operator} a"), ("a b", 3, f"{operator} b"), ("1e5", 2, f"{operator} e5"), ("5.", 2, f"{operator} ."),
            ("1.2.3", 4, f"{operator} ."), ("1)", 2, f"{operator} )"), ("2(3)", 2, f"{operator} ("), ("(1)(2)", 4, f"{operator} ("), ("1, 2", 2, f"{operator} ,"),
            ("1_000", 2, "the character '_' has no meaning here"), ("nodes.q", 6, f"{operator} ."), ("gmv.x", 4, f"{operator} ."),
            ("a\n+\n b c", 8, f"{operator} c"), ("cell(q, 0, 'a') c", 17, f"{operator} c"),
            ("(1", 3, "expected ), not the end"), ("((1)", 5, "expected ), not the end"), ("(1 2)", 4, "expected ), not 2"), ("(1, 2)", 3, "expected ), not ,"),
            ("abs 1", 5, "expected (, not 1"), ("abs", 4, "expected (, not the end"), ("abs()", 5, f"{operand} )"), ("abs(1", 6, "expected ), not the end"),
            ("abs(1, 2)", 6, "expected ), not ,"), ("round(1)", 8, "expected ,, not )"), ("round(1,)", 9, f"{decimals} )"), ("round(1, a)", 10, f"{decimals} a"),
            ("round(1, 51)", 10, f"{decimals} 51"), ("round(1, -51)", 11, f"{decimals} 51"), ("round(1, 2.0)", 10, f"{decimals} 2.0"), ("round(1, --2)", 11, f"{decimals} -"),
            ("round(1, 1 + 1)", 12, "expected ), not +"), ("round(1, 2", 11, "expected ), not the end"), ("round(1, +2)", 10, f"{decimals} +"),
            ("cell", 5, "expected (, not the end"), ("cell()", 6, "expected a query, not )"), ("cell(5)", 6, "expected a query, not 5"), ("cell(q)", 7, "expected ,, not )"),
            ("cell(q.r, 0)", 7, "expected ,, not ."), ("cell(nodes.)", 12, "expected a query, not )"), ("cell(nodes.a.b, 0)", 13, "expected ,, not ."),
            ("cell(q, -1)", 9, f"{row} -"), ("cell(q, 1000000000)", 9, f"{row} 1000000000"), ("cell(q, 0000000001)", 9, f"{row} 0000000001"),
            ("cell(q, 0.0)", 9, f"{row} 0.0"), ("cell(q, i)", 9, f"{row} i"), ("cell(q, 0)", 10, "expected ,, not )"), ("cell(q, 1 + 1)", 11, "expected ,, not +"),
            ("cell(q, 0, a)", 12, "expected a column in single quotes, not a"), ("cell(q, 0, 'a', 1)", 15, "expected ), not ,"), ("cell(q, 0, 'a'", 15, "expected ), not the end"),
            ("sum(q)", 6, "expected ,, not )"), ("sum(q, 0)", 8, "expected a column in single quotes, not 0"), ("sum(1, 2)", 5, "expected a query, not 1"),
            ("max(a + b, 'c')", 7, "expected ,, not +"), ("count", 6, "expected (, not the end"), ("avg + 1", 5, "expected (, not +"),
            ("inputs.", 8, "expected a name, not the end"), ("inputs.5", 8, "expected a name, not 5"), ("inputs.a.b", 9, f"{operator} ."), ("fields.", 8, "expected a name, not the end"),
            ("sqrt(4)", 1, f"sqrt is no function; {functions}"), ("1 + eval (a)", 5, f"eval is no function; {functions}"), ("inputs(a)", 1, f"inputs is no function; {functions}"),
            ("cell(q, 0, 'a)", 12, "a text without its closing quote"), ("1 '", 3, "a text without its closing quote"),
            ("A", 1, "the character 'A' has no meaning here"), ("a + B", 5, "the character 'B' has no meaning here"), ("aB", 2, "the character 'B' has no meaning here"),
            ("2 % 3", 3, "the character '%' has no meaning here"), ("2 ^ 3", 3, "the character '^' has no meaning here"), ("a = 1", 3, "the character '=' has no meaning here"),
            ("a[0]", 2, "the character '[' has no meaning here"), ("1; 2", 2, "the character ';' has no meaning here"), ("_a", 1, "the character '_' has no meaning here"),
            ("a if b", 3, f"{operator} if"), ("not a", 5, f"{operator} a"), ("lambda: 1", 7, "the character ':' has no meaning here"),
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(fault_of(text), (column, sentence))

    def test_only_plain_space_and_digits(self) -> None:
        for text, column in (("1\u00a0+ 1", 2), ("1 +\u30001", 4), ("1\f", 2), ("1\v", 2), ("\ufeff1", 1), ("1 + ３", 5), ("٣", 1), ("1 − 2", 3), ("2 × 3", 3)):
            with self.subTest(text):
                self.assertEqual(fault_of(text)[0], column)
        self.assertEqual(evaluated("\r\n1\t+\r1 \n"), "2")

    def test_the_edges_that_are_allowed(self) -> None:
        for text in ("round(1, 50)", "round(1, -50)", "round(1, - 3)", "round(1, 050)", "cell(q, 999999999, 'a')", "cell(q, 000000001, 'a')"):
            with self.subTest(text):
                self.assertEqual(fault_of(text), (0, ""))

    def test_depth(self) -> None:
        for opening, closing in (("(", ")"), ("-", ""), ("abs(", ")"), ("round(", ",0)"), ("-(", ")"), ("1+(", ")"), ("2*-(", "/2)")):
            levels = 32 if opening.endswith("-(") else 64
            for inner in ("1", "a", "cell(q, 0, 'a')"):
                with self.subTest(opening, inner=inner):
                    self.assertEqual(fault_of(opening * levels + inner + closing * levels), (0, ""))
                    deeper = opening * levels + "(" + inner + ")" + closing * levels
                    self.assertEqual(fault_of(deeper), (len(opening) * levels + 2, "nested deeper than 64 levels"))
        self.assertEqual(fault_of("(" * 100_000)[1], "nested deeper than 64 levels")
        self.assertEqual(evaluated("-" * 64 + "a"), "7")

    def test_length_alone_is_no_depth(self) -> None:
        self.assertEqual(evaluated("1" + " + 1" * 20_000), "20001")
        self.assertEqual(evaluated("(1) + " * 20_000 + "abs(-1) * -1"), "19999")
        self.assertEqual(evaluated("1" + " * -1" * 20_001), "-1")


class Substitution(unittest.TestCase):
    def test_all_but_the_references_stays_as_it_is(self) -> None:
        for text, changed in (
            ("a", "[a]"),
            ("  a\t+ 1.50 ", "  [a]\t+ 1.50 "),
            ("(a - b) / b * 100", "([a] - [b]) / [b] * 100"),
            ("-cell( nodes.pull , 0 , 'it''s' )*abs(b)", "-[cell( nodes.pull , 0 , 'it''s' )]*abs([b])"),
            ("round(sum(q, ')') / count(q, 'a'), -2)", "round([sum(q, ')')] / [count(q, 'a')], -2)"),
            ("inputs . n + inputs", "[inputs . n] + [inputs]"),
            ("min(q, '销')+aa+a", "[min(q, '销')]+[aa]+[a]"),
            ("1 + 2", "1 + 2"),
        ):  # fmt: skip
            with self.subTest(text):
                expression = expressions.parse(text)
                marked = expressions.substituted(expression, lambda one, text=text: f"[{text[one.start : one.end]}]")  # type: ignore[misc]
                self.assertEqual(marked, changed)


Made = tuple[str, Optional[Fraction]]


class Generator:
    """Random expressions with their values, None for a division by zero, worked out in fractions beside them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = {name: self.decimal() for name in "abcdefgh"}
        self.values["h"] = Decimal(0)

    def decimal(self) -> Decimal:
        digits = self.random.randrange(10 ** self.random.choice((1, 2, 6, 20, 60)))
        sign = self.random.choice(("", "-"))
        return Decimal(f"{sign}{digits}e{self.random.randrange(-12, 4)}")

    def space(self) -> str:
        return self.random.choice(("", "", " ", "\n", "\t  "))

    def sum(self, depth: int) -> Made:
        return self.chain(depth, "+-", self.product)

    def product(self, depth: int) -> Made:
        return self.chain(depth, "*/", self.factor)

    def chain(self, depth: int, operators: str, part: Callable[[int], Made]) -> Made:
        text, value = part(depth)
        for _ in range(self.random.choice((0, 0, 1, 1, 2, 3))):
            operator = self.random.choice(operators)
            more, operand = part(depth)
            text += f"{self.space()}{operator}{self.space()}{more}"
            value = applied(operator, value, operand)
        return text, value

    def factor(self, depth: int) -> Made:
        kind = self.random.choice(("number", "metric", "cell", "aggregate", "input")) if depth == 0 else self.random.choice(
            ("number", "metric", "cell", "aggregate", "input", "negated", "nested", "nested", "abs", "round")
        )  # fmt: skip
        space = self.space()
        if kind == "number":
            literal = format(abs(self.decimal()), "f")
            return literal, Fraction(literal)
        if kind == "negated":
            text, value = self.factor(depth - 1)
            return f"-{space}{text}", None if value is None else -value
        if kind in ("nested", "abs", "round"):
            text, value = self.sum(depth - 1)
            if kind == "nested":
                return f"({space}{text}{space})", value
            if kind == "abs":
                return f"abs{space}({text})", None if value is None else abs(value)
            digits = self.random.randrange(-8, 30)
            return f"round({text}{space},{space}{digits})", None if value is None else half_up(value, Fraction(10) ** -digits)
        name = self.random.choice("abcdefgh")
        texts = {"metric": name, "cell": f"cell(q, 3,{space}'{name}')", "aggregate": f"max{space}(nodes.q, '{name}')", "input": f"inputs.{name}"}
        return texts[kind], Fraction(self.values[name])

    def value_of(self, reference: Reference) -> Decimal:
        return self.values[reference.column or reference.name]

    def literal(self, reference: Reference) -> str:
        text = written(self.value_of(reference))
        return f"({text})" if text.startswith("-") else text


def applied(operator: str, left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """The result of one operation with 50 digits, without the decimal module."""
    if left is None or right is None or operator == "/" and not right:
        return None
    exact = {"+": left + right, "-": left - right, "*": left * right, "/": left / (right or 1)}[operator]
    if not exact:
        return exact
    exponent = len(str(abs(exact.numerator))) - len(str(exact.denominator)) - 1
    if abs(exact) >= Fraction(10) ** (exponent + 1):
        exponent += 1
    return half_up(exact, Fraction(10) ** (exponent - 49))


def half_up(number: Fraction, step: Fraction) -> Fraction:
    """A number rounded to a multiple of a step, halves away from zero."""
    steps = (abs(number) / step + Fraction(1, 2)).__floor__()
    return steps * step if number >= 0 else -steps * step


class Generated(unittest.TestCase):
    def test_random_expressions_against_fractions(self) -> None:
        counts = {"value": 0, "division by zero": 0, "rounded": 0}
        for seed in range(3_000):
            generator = Generator(seed)
            text, expected = generator.sum(seed % 4)
            expression = expressions.parse(text)
            substituted = expressions.substituted(expression, generator.literal)
            again = expressions.parse(substituted)
            self.assertEqual(again.references, [], text)
            if expected is None:
                counts["division by zero"] += 1
                for one in (expression, again):
                    with self.assertRaises(Failed, msg=text) as caught:
                        expressions.evaluate(one, generator.value_of)
                    self.assertEqual(caught.exception.args, ("division by zero",), text)
                continue
            counts["value"] += 1
            value = expressions.evaluate(expression, generator.value_of)
            self.assertEqual(Fraction(value), expected, (seed, text))
            self.assertEqual(expressions.evaluate(again, generator.value_of), value, (seed, substituted))
            counts["rounded"] += len(value.as_tuple().digits) == 50
        self.assertGreater(min(counts.values()), 300, counts)
