"""Caliber cards: strict reading, display, cells and ranges of snapshots, missing and failed, and the metric set whole."""

from __future__ import annotations

import decimal
import json
import os
import pathlib
import subprocess
import sys
import unittest
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from unittest import mock

from answer_format import Number, Problems
from issuance import caliber, cards, expressions, snapshots
from issuance.caliber import Caliber
from issuance.cards import Card, Definition
from issuance.snapshots import Result, Snapshot
from tests.issuance_support import CARD, DROP, card, command, edited, job_folder, metric, query
from tests.support import ROOT

ARTIFACT = "a" * 64
TEXT = "must be text of 1 to 4096 code points without lone surrogates, not"
ID = "must be an id ([a-z][a-z0-9_-]{0,79}), not"
NAME = "must be a name ([a-z][a-z0-9_]{0,79}) that is no function's, not"
UNIT = "must be text of at most 80 code points without control characters, not"
DECIMALS = "must be an integer from 0 to 50, without fraction or exponent, not"
FORMAT = 'must be "plain" or "raw" or "percent", not'
WHOLE = "must be a whole number as text, not"
LONG = f'"{"x" * 55}"...'
FIELDS = ("id", "name", "unit", "decimals", "format", "expression")

REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    (dict.fromkeys(("card_version", "name", "version", "metrics"), DROP),
     ["card_version: is missing", "name: is missing", "version: is missing", "metrics: is missing"]),
    ({"card_version": "2"}, ['card_version: must be "1", not "2"']),
    ({"card_version": 1}, ['card_version: must be "1", not 1']),
    ({"name": "Sales"}, [f'name: {ID} "Sales"']),
    ({"name": "a" * 81}, [f'name: {ID} "{"a" * 55}"...']),
    ({"name": ""}, [f'name: {ID} ""']),
    ({"version": 1}, [f"version: {WHOLE} 1"]),
    ({"version": "0"}, [f'version: {WHOLE} "0"']),
    ({"version": "01"}, [f'version: {WHOLE} "01"']),
    ({"version": "1.0"}, [f'version: {WHOLE} "1.0"']),
    ({"version": "1" * 10}, [f'version: {WHOLE} "{"1" * 10}"']),
    ({"title": "x"}, ['root: has the unknown field "title"']),
    ({"metrics": {}}, ["metrics: must be an array, not an object"]),
    ({"metrics": ["sales", None]}, ['metrics[0]: must be an object, not "sales"', "metrics[1]: must be an object, not null"]),
    ({"metrics": [{}]}, [f"metrics[0].{name}: is missing" for name in FIELDS]),
    ({"metrics[1].id": "Sales"}, [f'metrics[1].id: {NAME} "Sales"']),
    ({"metrics[1].id": "a-b"}, [f'metrics[1].id: {NAME} "a-b"']),
    ({"metrics[1].id": "sum"}, [f'metrics[1].id: {NAME} "sum"']),
    ({"metrics[1].id": "a" * 81}, [f'metrics[1].id: {NAME} "{"a" * 55}"...']),
    ({"metrics[1].id": "sales"}, ['metrics[1].id: must be unique, but [0] also has "sales"']),
    ({"metrics[0].name": ""}, [f'metrics[0].name: {TEXT} ""']),
    ({"metrics[0].name": "x" * 4097}, [f"metrics[0].name: {TEXT} {LONG}"]),
    ({"metrics[0].name": "\ud800"}, [f'metrics[0].name: {TEXT} "\\ud800"']),
    ({"metrics[0].unit": "x" * 81}, [f"metrics[0].unit: {UNIT} {LONG}"]),
    ({"metrics[0].unit": "k\n"}, [f'metrics[0].unit: {UNIT} "k\\n"']),
    ({"metrics[0].unit": "\x1b[31m"}, [f'metrics[0].unit: {UNIT} "\\u001b[31m"']),
    ({"metrics[0].unit": "\u202e"}, [f'metrics[0].unit: {UNIT} "\\u202e"']),
    ({"metrics[0].unit": None}, [f"metrics[0].unit: {UNIT} null"]),
    ({"metrics[0].decimals": -1}, [f"metrics[0].decimals: {DECIMALS} -1"]),
    ({"metrics[0].decimals": 51}, [f"metrics[0].decimals: {DECIMALS} 51"]),
    ({"metrics[0].decimals": 2.0}, [f"metrics[0].decimals: {DECIMALS} 2.0"]),
    ({"metrics[0].decimals": "2"}, [f'metrics[0].decimals: {DECIMALS} "2"']),
    ({"metrics[0].decimals": True}, [f"metrics[0].decimals: {DECIMALS} true"]),
    ({"metrics[0].format": "Plain"}, [f'metrics[0].format: {FORMAT} "Plain"']),
    ({"metrics[0].format": None}, [f"metrics[0].format: {FORMAT} null"]),
    ({"metrics[0].change": 1}, ["metrics[0].change: must be true or false, not 1"]),
    ({"metrics[0].change": None}, ["metrics[0].change: must be true or false, not null"]),
    ({"metrics[0].chnage": True}, ['metrics[0]: has the unknown field "chnage"']),
    ({"metrics[0].expression": ""}, [f'metrics[0].expression: {TEXT} ""']),
    ({"metrics[0].expression": 5}, [f"metrics[0].expression: {TEXT} 5"]),
    ({"metrics[0].expression": "1" * 4097}, [f'metrics[0].expression: {TEXT} "{"1" * 55}"...']),
    ({"metrics[0].expression": "1 +", "metrics[2].expression": "exp(1)"},
     ["metrics[0].expression: column 4: expected a number, a name or (, not the end",
      "metrics[2].expression: column 1: exp is no function; there are cell, sum, avg, min, max, count, abs, round"]),
    ({"metrics[0].expression": "1 + nope * nix", "metrics[2].expression": "north / sals"},
     ['metrics[0].expression: column 5: there is no metric "nope"',
      'metrics[0].expression: column 12: there is no metric "nix"',
      'metrics[2].expression: column 9: there is no metric "sals"']),
    ({"extra": 1, "version": 2, "metrics[0].unit": 5, "metrics[2].format": "x", "metrics[2].more": 1},
     [f"version: {WHOLE} 2", f"metrics[0].unit: {UNIT} 5", f'metrics[2].format: {FORMAT} "x"',
      'metrics[2]: has the unknown field "more"', 'root: has the unknown field "extra"']),
]  # fmt: skip
ACCEPTED: list[dict[str, Any]] = [
    {},
    {"name": "a" * 80},
    {"name": "a_b-9"},
    {"version": "9" * 9},
    {"metrics": []},
    {"metrics[1].id": "a" * 80, "metrics[2].expression": "1"},
    {"metrics[0].name": "x" * 4096},
    {"metrics[0].name": "\x1b\n"},
    {"metrics[0].unit": "x" * 80},
    {"metrics[0].unit": ""},
    {"metrics[0].unit": "\u5143"},
    {"metrics[0].decimals": 0},
    {"metrics[0].decimals": 50},
    {"metrics[0].format": "raw"},
    {"metrics[0].change": False},
    {"metrics[0].expression": "1" * 4096},
]
NOT_A_CARD = [
    (b"", ["line 1 column 1: not JSON: Expecting value"]),
    (b"\xef\xbb\xbf{}", ["line 1 column 1: starts with a byte order mark"]),
    (b'{\n"a\xff"}', ["line 2 column 3: not UTF-8"]),
    (b"[" * 17, ["line 1 column 17: nested deeper than 16 levels"]),
    (b"[]", ["root: must be an object, not an array"]),
    (
        b'{"card_version": "1", "name": "a", "na\\u006de": "b", "version": "1", "metrics": [], "x": 1, "x": 2}',
        ["name: must stand once in its object, not 2 times", 'root: has repeatedly the unknown field "x"'],
    ),
]


def setUpModule() -> None:
    without_waiting = mock.patch("os.fsync")
    without_waiting.start()
    unittest.addModuleCleanup(without_waiting.stop)


def read_bytes(data: bytes) -> tuple[Card | None, list[str]]:
    problems = Problems()
    found = cards.read(data, "card", problems)
    return found, [line.replace("P: card: ", "", 1) for line in problems.lines("P")]


def read(document: object) -> tuple[Card | None, list[str]]:
    return read_bytes(json.dumps(document).encode())


def card_of(*metrics: dict[str, Any]) -> Card:
    found, problems = read(card(*metrics))
    assert found is not None, problems
    return found


def named(expressions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Metrics by their ids and expressions."""
    return [metric(id, expression) for id, expression in expressions.items()]


class Reading(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        for edits, problems in REFUSED:
            with self.subTest(edits):
                self.assertEqual(read(edited(card(), edits)), (None, problems))

    def test_accepted(self) -> None:
        for edits in ACCEPTED:
            with self.subTest(edits):
                document = edited(card(), edits)
                found, problems = read(document)
                assert found is not None, problems
                self.assertEqual(problems, [])
                self.assertEqual(list(found.metrics), [item["id"] for item in document["metrics"]])

    def test_not_a_card(self) -> None:
        for data, problems in NOT_A_CARD:
            with self.subTest(data):
                self.assertEqual(read_bytes(data), (None, problems))

    def test_the_number_of_metrics(self) -> None:
        beyond = "metrics: must have 0 to 100000 items, not 100001"
        for count, first in ((100_000, "metrics[0]: must be an object, not 0"), (100_001, beyond)):
            found, problems = read({**card(), "metrics": [0] * count})
            self.assertEqual((found, problems[0]), (None, first))

    def test_what_is_read(self) -> None:
        found, _ = read(card(metric("b", "1 + a", name="Two", unit="kg", decimals=0, format="raw", change=True), metric("a", "2")))
        assert found is not None
        one = expressions.parse("1 + a")
        self.assertEqual((found.name, found.version, found.order), ("sales", 1, ["a", "b"]))
        self.assertEqual(found.metrics["b"], Definition("b", "Two", "kg", 0, "raw", True, one))
        self.assertFalse(found.metrics["a"].change)


class Order(unittest.TestCase):
    maxDiff = None

    def test_cycles_are_shown(self) -> None:
        def circle(length: int) -> dict[str, str]:
            return {f"m{index}": f"2 * m{(index + 1) % length}" for index in range(length)}

        seven = " -> ".join(f"m{index}" for index in range(7))
        for expressions_of, problems in (
            ({"a": "a"}, ["metrics[0].expression: refers to itself: a -> a"]),
            ({"a": "b", "b": "a"}, ["metrics[0].expression: refers to itself: a -> b -> a"]),
            ({"one": "1", "a": "b + one", "b": "c", "c": "one / b"}, ["metrics[3].expression: refers to itself: c -> b -> c"]),
            (circle(7), [f"metrics[0].expression: refers to itself: {seven} -> m0"]),
            (circle(8), [f"metrics[0].expression: refers to itself: {seven} -> ... -> m0"]),
            (circle(5_000), [f"metrics[0].expression: refers to itself: {seven} -> ... -> m0"]),
            ({"a": "b + zz", "b": "a"},
             ['metrics[0].expression: column 5: there is no metric "zz"',
              "metrics[0].expression: refers to itself: a -> b -> a"]),
        ):  # fmt: skip
            with self.subTest(list(expressions_of)[:8]):
                self.assertEqual(read(card(*named(expressions_of))), (None, problems))

    def test_one_metric_by_several_ways_is_no_cycle(self) -> None:
        found = Caliber(card_of(*named({"d": "b + c + a", "c": "a * 3", "b": "a * 2", "a": "1"})), {}, {})
        self.assertEqual(found.values, {"a": 1, "b": 2, "c": 3, "d": 6})

    def test_chains_of_five_thousand_in_any_order(self) -> None:
        up = {f"m{index}": f"m{index + 1} + 1" for index in range(4_999)}
        chain = {**up, "m4999": "1"}
        for items in (list(chain.items()), list(reversed(chain.items()))):
            found = Caliber(card_of(*named(dict(items))), {}, {})
            self.assertEqual((len(found.values), found.values["m0"]), (5_000, 5_000))
            self.assertEqual(cards.leaves(found.card)["m0"], [])
            content = json.loads(caliber.encode(found, ARTIFACT))
            self.assertEqual([entry["id"] for entry in content["metrics"]], [id for id, _ in items])
            self.assertTrue(all(entry["recomputes"] for entry in content["metrics"]))

    def test_reasons_through_long_chains_are_cut(self) -> None:
        chain = {**{f"m{index}": f"m{index + 1}" for index in range(4_999)}, "m4999": "cell(none, 0, 'x')"}
        found = Caliber(card_of(*named(chain)), {}, {})
        root = "the query none has no result: there is no such query"
        self.assertEqual(found.troubles["m4998"], ("missing", f"m4999 is missing: {root}"))
        status, reason = found.troubles["m0"]
        self.assertEqual((status, len(reason), reason[:38]), ("missing", 600, "m1 is missing: m2 is missing: m3 is mi"))


class Display(unittest.TestCase):
    def shown(self, format: str, decimals: int, unit: str, value: str) -> str:
        definition = Definition("a", "A", unit, decimals, format, False, expressions.parse("1"))
        return cards.shown(definition, Decimal(value))

    def test_rounded_half_up_once(self) -> None:
        for format, decimals, value, text in (
            ("plain", 1, "1234567.85", "1,234,567.9"),
            ("plain", 1, "1234567.849999", "1,234,567.8"),
            ("plain", 0, "999", "999"),
            ("plain", 0, "999.4", "999"),
            ("plain", 0, "999.5", "1,000"),
            ("plain", 0, "-999.5", "-1,000"),
            ("plain", 0, "0.5", "1"),
            ("plain", 0, "1.5", "2"),
            ("plain", 0, "2.5", "3"),
            ("plain", 0, "-2.5", "-3"),
            ("plain", 0, "2.4999999999999999999999999999999999999999999999999999", "2"),
            ("plain", 2, "5", "5.00"),
            ("plain", 2, "0.045", "0.05"),
            ("plain", 3, "1E+6", "1,000,000.000"),
            ("plain", 50, "1E-50", f"0.{'0' * 49}1"),
            ("plain", 50, "1.5E-50", f"0.{'0' * 49}2"),
            ("plain", 1, "123456789012345678901234567890123456789012345678901234567890.25", f"{'123,456,789,012,345,678,901,234,567,890,' * 2}"[:-1] + ".3"),
            ("raw", 1, "1234567.85", "1234567.9"),
            ("raw", 0, "-999.5", "-1000"),
            ("raw", 2, "1E+4", "10000.00"),
            ("percent", 1, "0.125", "12.5%"),
            ("percent", 1, "0.1245", "12.5%"),
            ("percent", 1, "0.12449999", "12.4%"),
            ("percent", 0, "0.005", "1%"),
            ("percent", 0, "-1.495", "-150%"),
            ("percent", 2, "1", "100.00%"),
            ("plain", 1, "9" * 6000 + ".55", f"{','.join(['999'] * 2000)}.6"),
            ("percent", 0, "1" * 6001 + ".555", f"{','.join(['111'] * 2000)},156%"),
        ):
            with self.subTest(format=format, decimals=decimals, value=value):
                self.assertEqual(self.shown(format, decimals, "", value), text)

    def test_no_negative_zero(self) -> None:
        for format, decimals, value, text in (
            ("plain", 0, "-0", "0"),
            ("plain", 1, "-0.0", "0.0"),
            ("plain", 0, "-0.4", "0"),
            ("plain", 0, "-0.5", "-1"),
            ("plain", 2, "-0.0049", "0.00"),
            ("plain", 2, "-0.005", "-0.01"),
            ("raw", 1, "-0.04", "0.0"),
            ("raw", 1, "-0.05", "-0.1"),
            ("percent", 1, "-0.0004", "0.0%"),
            ("percent", 1, "-0.0005", "-0.1%"),
        ):
            with self.subTest(format=format, decimals=decimals, value=value):
                self.assertEqual(self.shown(format, decimals, "", value), text)
        self.assertEqual(self.shown("plain", 1, "$", "-0.04"), "$0.0")

    def test_units(self) -> None:
        for sign in "$\xa5\u20ac\xa3\u20a9\u20b9\u20bd\u20bf":
            self.assertEqual(self.shown("plain", 1, sign, "-1234.56"), f"-{sign}1,234.6")
            self.assertEqual(self.shown("raw", 0, sign, "1234.5"), f"{sign}1235")
        for unit, text in (
            ("", "-1,234.6"),
            ("\u5143", "-1,234.6\u5143"),
            ("%", "-1,234.6%"),
            ("\xb0C", "-1,234.6\xb0C"),
            ("kg", "-1,234.6 kg"),
            ("US$", "-1,234.6 US$"),
            ("orders a day", "-1,234.6 orders a day"),
            ("\xe9clairs", "-1,234.6 \xe9clairs"),
            ("\xf8re", "-1,234.6 \xf8re"),
            ("$\xa5", "-1,234.6$\xa5"),
            ("\u5355", "-1,234.6\u5355"),
        ):
            self.assertEqual(self.shown("plain", 1, unit, "-1234.56"), text)
        for unit in ("", "%", "$", "kg"):
            self.assertEqual(self.shown("percent", 1, unit, "-0.5"), "-50.0%")


ABOUT: dict[str, Any] = {
    "query": "q",
    "name": "Q1",
    "source": "shop",
    "role": "source",
    "sql": "SELECT 1",
    "parameters": {"week": "W37"},
    "at": "2026-09-14T00:00:00Z",
    "schema": "b" * 64,
}
COLUMNS = ["n", "text", "gaps", "secret", "none", "mixed", "it's"]
ROWS: list[list[Any]] = [
    [5, "North", None, 1, None, "1.50", -0.1],
    [-7, "", "12.25", 2, None, Number("1e3"), 0.2],
    [9007199254740993, "12,5", 3, 3, None, None, 0.3],
    [0, " 1", None, 4, None, "-2", 0.4],
]


def encoded(
    columns: list[str], rows: list[list[Any]], masked: tuple[str, ...] = (), query: str = "q", **rest: Any
) -> bytes:
    rows = [[None if name in masked else cell for name, cell in zip(columns, row)] for row in rows]
    return snapshots.encode(Result(columns, rows, False, frozenset(masked), **rest), **{**ABOUT, "query": query})


def decoded(data: bytes) -> tuple[Snapshot | None, list[str]]:
    problems = Problems()
    found = snapshots.decode(data, ARTIFACT, problems)
    return found, [line.replace(f"P: {ARTIFACT}: ", "", 1) for line in problems.lines("P")]


def snapshot(columns: list[str], rows: list[list[Any]], masked: tuple[str, ...] = (), **rest: Any) -> Snapshot:
    found, problems = decoded(encoded(columns, rows, masked, **rest))
    assert found is not None, problems
    return found


SNAPSHOTS: dict[str, Snapshot | str] = {
    "q": snapshot(COLUMNS, ROWS, ("secret",)),
    "empty": snapshot(["n"], [], query="empty"),
    "bad": "failed: no such table: orders",
}
INPUTS: dict[str, str | int] = {"week": "W37", "n": -3, "digits": "12.50"}


def outcome(expression: str) -> str:
    """The value of an expression over the data above, or whether it is missing or failed, and why."""
    found = Caliber(card_of(metric("a", expression)), SNAPSHOTS, INPUTS)
    return found.value_text("a") or ": ".join(found.troubles["a"])


NO_VALUES = "missing: {} over no values: the column '{}' of q has none"
OUTCOMES = (
    # Cells.
    ("cell(q, 0, 'n')", "5"),
    ("cell(q, 1, 'n')", "-7"),
    ("cell(q, 2, 'n')", "9007199254740993"),
    ("cell(q, 3, 'n')", "0"),
    ("cell(q, 4, 'n')", "missing: the result of q has no row 4, only 4"),
    ("cell(q, 999999999, 'n')", "missing: the result of q has no row 999999999, only 4"),
    ("cell(empty, 0, 'n')", "missing: the result of empty has no row 0, only 0"),
    ("cell(q, 0, 'N')", "missing: the result of q has no column 'N'"),
    ("cell(q, 9, 'nix')", "missing: the result of q has no column 'nix'"),
    ("cell(q, 0, 'it''s')", "-0.1"),
    ("cell(q, 0, 'a''b')", "missing: the result of q has no column \"a'b\""),
    ("cell(q, 0, '\u5317')", "missing: the result of q has no column '\\u5317'"),
    ("cell(q, 0, 'gaps')", "missing: the cell 'gaps' in row 0 of q is null"),
    ("cell(q, 1, 'gaps')", "12.25"),
    ("cell(q, 0, 'mixed')", "1.5"),
    ("cell(q, 1, 'mixed')", "1000"),
    ("cell(q, 0, 'text')", "failed: the cell 'text' in row 0 of q is text, not a number"),
    ("cell(q, 1, 'text')", "failed: the cell 'text' in row 1 of q is text, not a number"),
    ("cell(q, 2, 'text')", "failed: the cell 'text' in row 2 of q is text, not a number"),
    ("cell(q, 3, 'text')", "failed: the cell 'text' in row 3 of q is text, not a number"),
    ("cell(q, 0, 'secret')", "failed: the column 'secret' of q is masked"),
    ("cell(bad, 0, 'n')", "missing: the query bad has no result: failed: no such table: orders"),
    ("cell(gone, 0, 'n')", "missing: the query gone has no result: there is no such query"),
    # Ranges.
    ("sum(q, 'n')", "9007199254740991"),
    ("avg(q, 'n')", "2251799813685247.75"),
    ("min(q, 'n')", "-7"),
    ("max(q, 'n')", "9007199254740993"),
    ("count(q, 'n')", "4"),
    ("sum(q, 'gaps')", "15.25"),
    ("avg(q, 'gaps')", "7.625"),
    ("min(q, 'gaps')", "3"),
    ("max(q, 'gaps')", "12.25"),
    ("count(q, 'gaps')", "2"),
    ("sum(q, 'mixed')", "999.5"),
    ("min(q, 'mixed')", "-2"),
    ("max(q, 'mixed')", "1000"),
    ("sum(q, 'it''s')", "0.8"),
    ("sum(q, 'none')", NO_VALUES.format("sum", "none")),
    ("avg(q, 'none')", NO_VALUES.format("avg", "none")),
    ("min(q, 'none')", NO_VALUES.format("min", "none")),
    ("max(q, 'none')", NO_VALUES.format("max", "none")),
    ("count(q, 'none')", "0"),
    ("sum(empty, 'n')", "missing: sum over no values: the column 'n' of empty has none"),
    ("max(empty, 'n')", "missing: max over no values: the column 'n' of empty has none"),
    ("count(empty, 'n')", "0"),
    ("sum(q, 'text')", "failed: the cell 'text' in row 0 of q is text, not a number"),
    ("min(q, 'text')", "failed: the cell 'text' in row 0 of q is text, not a number"),
    ("count(q, 'text')", "4"),
    *((f"{function}(q, 'secret')", "failed: the column 'secret' of q is masked") for function in expressions.AGGREGATES),
    *((f"{function}(q, 'nix')", "missing: the result of q has no column 'nix'") for function in expressions.AGGREGATES),
    ("sum(bad, 'n')", "missing: the query bad has no result: failed: no such table: orders"),
    # Inputs.
    ("inputs.n", "-3"),
    ("inputs.digits", "12.5"),
    ("inputs.week", "failed: the input week is text, not a number"),
    ("inputs.month", "missing: there is no input month"),
    # What comes first in an expression is what is said.
    ("1 / 0", "failed: division by zero"),
    ("cell(q, 0, 'n') / (cell(q, 0, 'n') - 5)", "failed: division by zero"),
    ("cell(q, 0, 'gaps') / 0", "missing: the cell 'gaps' in row 0 of q is null"),
    ("1 / 0 + cell(q, 0, 'gaps')", "failed: division by zero"),
    ("0 * cell(q, 0, 'gaps')", "missing: the cell 'gaps' in row 0 of q is null"),
    ("abs(round(-cell(q, 0, 'gaps'), 2))", "missing: the cell 'gaps' in row 0 of q is null"),
)


class Values(unittest.TestCase):
    maxDiff = None

    def test_the_table(self) -> None:
        for expression, expected in OUTCOMES:
            with self.subTest(expression):
                self.assertEqual(outcome(expression), expected)

    def test_text_within_a_range_is_named_by_its_row(self) -> None:
        for cells, row in (([1, "x"], 1), ([None, None, "12 ", 5], 2), (["1", "+1"], 1), ([1, "\uff11"], 1), (["1e1000"], 0)):
            found = Caliber(card_of(metric("a", "avg(q, 'c')")), {"q": snapshot(["c"], [[cell] for cell in cells])}, {})
            self.assertEqual(found.troubles["a"], ("failed", f"the cell 'c' in row {row} of q is text, not a number"))

    def test_sums_are_exact_and_rounded_once(self) -> None:
        big = "1" + "0" * 49  # fifty digits
        for cells, function, expected in (
            (["0.1"] * 10, "sum", "1"),
            (["1e30", "1e-30", "-1e30"], "sum", f"0.{'0' * 29}1"),
            (["1e999", 1, "-1e999"], "sum", "1"),
            (["1e999", "1e-999", "-1e999"], "sum", f"0.{'0' * 998}1"),
            ([9007199254740993, 1, "0.5"], "sum", "9007199254740994.5"),
            ([big, "0.3", "0.3"], "sum", big[:-1] + "1"),
            ([big, "0.3", "0.1"], "sum", big),
            ([big, "0.4", "0.1"], "sum", big[:-1] + "1"),
            (["-" + big, "-0.4", "-0.1"], "sum", "-" + big[:-1] + "1"),
            ([1, 1, 2], "avg", "1." + "3" * 49),
            ([2, 1, 2], "avg", "1." + "6" * 48 + "7"),
            ([big, "0.3", "0.3"], "max", big),
            ([big + "1.25", 5], "max", big + "1.25"),
            (["-0.50", "-0.5", 0], "min", "-0.5"),
            (["-0", 0], "sum", "0"),
        ):
            with self.subTest(cells=[str(cell)[:20] for cell in cells], function=function):
                for order in (cells, list(reversed(cells))):
                    data = {"q": snapshot(["c"], [[cell] for cell in order])}
                    found = Caliber(card_of(metric("a", f"{function}(q, 'c')")), data, {})
                    self.assertEqual(found.value_text("a"), expected)

    def test_too_much_for_a_sum(self) -> None:
        data = {"q": snapshot(["c"], [["1" + "0" * 4500 + "e999"]])}
        found = Caliber(card_of(metric("a", "sum(q, 'c')")), data, {})
        self.assertEqual(found.troubles, {"a": ("failed", "a number is too large")})

    def test_missing_and_failed_pass_through_metrics(self) -> None:
        chain = {
            "gone": "cell(q, 9, 'n')", "later": "gone + 1", "last": "2 * later",
            "zero": "1 / (fine - fine)", "after": "abs(zero)", "end": "round(after, 1)",
            "fine": "5", "first": "gone + zero", "second": "zero + gone", "beside": "fine + fine",
        }  # fmt: skip
        found = Caliber(card_of(*named(chain)), SNAPSHOTS, INPUTS)
        no_row = "the result of q has no row 9, only 4"
        self.assertEqual(
            found.troubles,
            {
                "gone": ("missing", no_row),
                "later": ("missing", f"gone is missing: {no_row}"),
                "last": ("missing", f"later is missing: gone is missing: {no_row}"),
                "zero": ("failed", "division by zero"),
                "after": ("failed", "zero failed: division by zero"),
                "end": ("failed", "after failed: zero failed: division by zero"),
                "first": ("missing", f"gone is missing: {no_row}"),
                "second": ("failed", "zero failed: division by zero"),
            },
        )
        self.assertEqual(found.values, {"fine": 5, "beside": 10})
        self.assertEqual(
            [(entry["metric"], entry["reason"].split(":")[0]) for entry in found.missing()],
            [("gone", "missing"), ("later", "missing"), ("last", "missing"), ("zero", "failed"), ("after", "failed"),
             ("end", "failed"), ("first", "missing"), ("second", "failed")],
        )  # fmt: skip
        self.assertEqual(found.missing()[3], {"metric": "zero", "reason": "failed: division by zero"})


UNFIT: list[tuple[dict[str, Any], list[str]]] = [
    (dict.fromkeys((*ABOUT, "columns", "rows"), DROP), [f"{name}: is missing" for name in (*ABOUT, "columns", "rows")]),
    ({"more": 1}, ['root: has the unknown field "more"']),
    ({"query": "Q1"}, [f'query: {NAME} "Q1"']),
    ({"role": "raw"}, ['role: must be "source" or "compute", not "raw"']),
    ({"schema": "b" * 63}, [f'schema: must be a SHA-256 in hexadecimal, not "{"b" * 55}"...']),
    ({"sql": 5}, ["sql: must be text of 1 to 1000000 code points without lone surrogates or null, not 5"]),
    ({"columns[0].masked": 0}, ["columns[0].masked: must be true or false, not 0"]),
    ({"columns[0].name": 5}, ["columns[0].name: must be text of at most 4096 code points, not 5"]),
    ({"columns[1]": DROP}, ["rows: must have 1 cells in each row"]),
    ({"truncated": None}, ["truncated: must be true or false, not null"]),
    ({"rows": {}}, ["rows: must be an array, not an object"]),
    ({"rows[1]": [1]}, ["rows: must have 2 cells in each row"]),
    ({"rows[1]": [1, 2, 3]}, ["rows: must have 2 cells in each row"]),
    ({"rows[1]": "ab"}, ["rows: must have 2 cells in each row"]),
    ({"rows[1]": [1, [2]]}, ["rows: must have cells that are numbers, texts or null"]),
    ({"rows[1]": [1, True]}, ["rows: must have cells that are numbers, texts or null"]),
    ({"row_count": 1}, ["row_count: must be the number of rows, 2, not 1"]),
    ({"row_count": 3}, ["row_count: must be the number of rows, 2, not 3"]),
    ({"lines": [2]}, ["lines: must have a line for each of the 2 rows"]),
    ({"lines": [2, 3, 4]}, ["lines: must have a line for each of the 2 rows"]),
    ({"lines": ["2", "3"]}, ["lines: must be an array of line numbers or null, not an array"]),
    ({"file": ""}, ['file: must be text of 1 to 4096 code points without lone surrogates or null, not ""']),
]


class Snapshots(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        whole = json.loads(encoded(["a", "b"], [[1, "x"], [None, 2]], lines=[2, 3], file="t.csv"))
        self.assertEqual(decoded(json.dumps(whole).encode())[1], [])
        for edits, problems in UNFIT:
            with self.subTest(edits):
                self.assertEqual(decoded(json.dumps(edited(whole, edits)).encode()), (None, problems))
        self.assertEqual(decoded(b"{"), (None, ["line 1 column 2: not JSON: Expecting property name enclosed in double quotes"]))

    def test_cells_come_back_as_they_were(self) -> None:
        texts = ["", "x\n\u202e\x00", "1.50"]
        numbers = [0, -5, 10**15, Number("1.50"), Number("-0"), Number("1E5"), Number("12345678901234567890")]
        found = snapshot(["c"], [[cell] for cell in [None, *texts, *numbers]])
        self.assertEqual([(type(row[0]), row[0]) for row in found.rows],
                         [(type(cell), cell) for cell in [None, *texts, *numbers]])  # fmt: skip
        self.assertEqual(found.about["columns"], [{"name": "c", "classes": ["decimal", "integer", "null", "text"], "masked": False}])

    def test_a_real_is_its_shortest_decimal(self) -> None:
        for real, text in ((0.1, "0.1"), (1e300, "1" + "0" * 300), (2.5e-7, "0.00000025"), (-1.0, "-1"), (1 / 3, "0.3333333333333333")):
            found = Caliber(card_of(metric("a", "cell(q, 0, 'c')")), {"q": snapshot(["c"], [[real]])}, {})
            self.assertEqual(found.value_text("a"), text)


CSV = 'region,cents,rate\nNorth,375050,0.1\n"South\nof it",124950,-0.20\nWest,,1e2\n'
ENTRIES: list[dict[str, Any]] = [
    {
        "id": "sales", "name": "Sales", "unit": "$", "decimals": 2, "format": "plain", "change": False,
        "expression": "sum(totals, 'cents') / 100", "status": "computed", "value": "5000", "rendered": "$5,000.00",
        "substituted": "500000 / 100", "recomputes": True,
        "inputs": [{"query": "totals", "column": "cents", "artifact": "TOTALS", "aggregate": "sum", "rows": [0, 2]}],
    },
    {
        "id": "west", "name": "West \u897f", "unit": "\u5143", "decimals": 1, "format": "raw", "change": False,
        "expression": "cell(regions, 2, 'cents')", "status": "missing", "value": None,
        "reason": "the cell 'cents' in row 2 of regions is null",
    },
    {
        "id": "change", "name": "Change", "unit": "", "decimals": 0, "format": "plain", "change": True,
        "expression": "-cell(nodes.regions, 1, 'rate')*inputs.n + sales - 2 * sales", "status": "computed",
        "value": "-5000.6", "rendered": "-5,001", "substituted": "-(-0.2)*(-3) + 5000 - 2 * 5000", "recomputes": True,
        "inputs": [
            {"query": "regions", "column": "rate", "artifact": "REGIONS", "row": 1, "file": "data/orders.csv", "line": 3},
            {"input": "n"}, {"metric": "sales"}, {"metric": "sales"},
        ],
    },
    {
        "id": "share", "name": "Share", "unit": "%", "decimals": 1, "format": "percent", "change": False,
        "expression": "cell(totals, 1, 'cents') / 100 / sales", "status": "computed", "value": "0.2499",
        "rendered": "25.0%", "substituted": "124950 / 100 / 5000", "recomputes": True,
        "inputs": [{"query": "totals", "column": "cents", "artifact": "TOTALS", "row": 1}, {"metric": "sales"}],
    },
    {
        "id": "kept", "name": "Kept", "unit": "", "decimals": 0, "format": "plain", "change": False,
        "expression": "cell(kept, 0, 'n')", "status": "computed", "value": "7.25", "rendered": "7",
        "substituted": "7.25", "recomputes": True,
        "inputs": [{"query": "kept", "column": "n", "artifact": "KEPT", "row": 0, "file": "kept.json"}],
    },
    {
        "id": "text", "name": "Text", "unit": "", "decimals": 2, "format": "plain", "change": False,
        "expression": "share + max(totals, 'region')", "status": "failed", "value": None,
        "reason": "the cell 'region' in row 0 of totals is text, not a number",
    },
    {"id": "ten", "name": "Ten", "unit": "", "decimals": 0, "format": "plain", "change": False, "expression": "10",
     "status": "computed", "value": "10", "rendered": "10", "substituted": "10", "recomputes": True, "inputs": []},
]  # fmt: skip


class MetricSet(unittest.TestCase):
    maxDiff = None

    def test_entries_whole(self) -> None:
        fields = ("id", "expression", "name", "unit", "decimals", "format", "change")
        document = card(*({name: entry[name] for name in fields} for entry in ENTRIES))
        script = "CREATE TABLE t (region TEXT, cents INTEGER); INSERT INTO t VALUES ('North', 375050), ('South', 124950);"
        kept = {"columns": ["n"], "rows": [["7.25"]], "truncated": False}
        files = {CARD: document, "data/orders.csv": CSV, "shop.sql": script, "kept.json": kept}
        sources = [
            {"id": "lists", "csv": {"orders": "data/orders.csv"}},
            {"id": "shop", "sqlite_script": "shop.sql"},
            {"id": "saved", "result": "kept.json"},
        ]
        queries = [
            query("regions", "SELECT region, cents, rate FROM orders", source="lists"),
            query("totals", "SELECT region, cents FROM t ORDER BY cents DESC"),
            query("kept", source="saved"),
        ]
        changes: dict[str, Any] = {"sources": sources, "queries": queries, "inputs": {"n": -3}}
        with job_folder(files, **changes, contract={}, narrative=DROP) as folder:
            issued = json.loads(command("issue", "job.json", cwd=folder).out)
            named = json.loads(pathlib.Path(folder, issued["run"], "run.json").read_bytes())["artifacts"]
            hash = named["metric set"]
            data = pathlib.Path(folder, "data", "artifacts", hash[:2], hash).read_bytes()
            again = pathlib.Path(folder, "metrics.json")
            again.write_bytes(data)
            traced = command("trace", "narrative.md", "--metrics", "metrics.json", cwd=folder)
        text = json.dumps(ENTRIES)
        for what, place in (("TOTALS", "snapshot of Q2"), ("REGIONS", "snapshot of Q1"), ("KEPT", "snapshot of Q3")):
            text = text.replace(what, named[place])
        expected = {"name": "sales", "version": "1", "card": named["card"], "metrics": json.loads(text)}
        self.assertEqual(json.loads(data), expected)
        self.assertTrue(data.isascii())
        self.assertEqual((traced.status, traced.err), (1, ""))  # and trace reads what issue wrote
        self.assertEqual(json.loads(traced.out)["numbers"][0]["metrics"], ["sales"])

    def test_negative_values_recompute(self) -> None:
        chain = {
            "a": "0 - 2.5", "b": "-a", "c": "a - -a", "d": "-(-a * -a)", "e": "abs(a) - a", "f": "round(a, 0) / a",
            "g": "1 / 3 * a", "h": "a*a*a", "i": "2 -a", "j": "-1 / 0.00000000000000000000000000000000000000000000000000007",
        }  # fmt: skip
        entries = json.loads(caliber.encode(Caliber(card_of(*named(chain)), {}, {}), ARTIFACT))["metrics"]
        found = {entry["id"]: (entry["substituted"], entry["recomputes"]) for entry in entries}
        substituted = {id: expression.replace("a", "(-2.5)") if id != "e" else "abs((-2.5)) - (-2.5)" for id, expression in chain.items()}
        self.assertEqual(found, {id: (text, True) for id, text in substituted.items()})

    def test_the_deepest_expression_recomputes_with_a_negative_value(self) -> None:
        for opening, closing in (("(", ")"), ("-", ""), ("abs(", ")"), ("round(", ",0)")):
            expression = opening * 64 + "a" + closing * 64
            found = Caliber(card_of(*named({"a": "0 - 5", "b": expression})), {}, {})
            entry = json.loads(caliber.encode(found, ARTIFACT))["metrics"][1]
            self.assertEqual((entry["substituted"], entry["recomputes"]), (f"{opening * 64}(-5){closing * 64}", True))

    def test_the_same_bytes_in_any_decimal_context(self) -> None:
        def made() -> bytes:
            found = card_of(
                metric("a", "cell(q, 2, 'n') / 3 * -1", unit="$"),
                metric("b", "round(a * sum(q, 'it''s'), 30) + avg(q, 'mixed')", decimals=50),
                metric("c", "b / a * 0.000001 + 12.5", format="percent", decimals=9),
                metric("d", "min(q, 'mixed') - abs(max(q, 'gaps'))", format="raw"),
            )
            return caliber.encode(Caliber(found, {"q": snapshot(COLUMNS, ROWS, ("secret",))}, {}), ARTIFACT)

        plain = made()
        self.assertIn(b'"rendered": "-$3,002,399,751,580,331.00"', plain)
        for prec, rounding, traps in (
            (3, decimal.ROUND_DOWN, []),
            (1, decimal.ROUND_UP, [decimal.Inexact, decimal.Rounded]),
            (60, decimal.ROUND_HALF_EVEN, [decimal.FloatOperation, decimal.Subnormal]),
        ):
            with decimal.localcontext(decimal.Context(prec=prec, rounding=rounding, traps=traps)):
                self.assertEqual(made(), plain)

    def test_the_same_bytes_with_any_hash_seed(self) -> None:
        program = """
import json, sys
from answer_format import Problems
from issuance import caliber, cards
problems = Problems()
card = cards.read(sys.stdin.buffer.read(), "card", problems)
sys.stdout.buffer.write(caliber.encode(caliber.Caliber(card, {"bad": "failed: x"}, {"n": 5}), "c" * 64))
"""
        chain = {"total": "+".join(f"m{index}" for index in range(20)), "gone": "m1 + gone2", "gone2": "cell(bad, 0, 'x')"}
        chain.update({f"m{index}": f"{index} / 7 * inputs.n" for index in range(20)})
        data = json.dumps(card(*named(chain))).encode()
        made = set()
        for seed in ("0", "1", "27"):
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
            run = subprocess.run([sys.executable, "-c", program], input=data, env=environment, capture_output=True, timeout=60, check=True)
            made.add(run.stdout)
        found = Caliber(card_of(*named(chain)), {"bad": "failed: x"}, {"n": 5})
        self.assertEqual(made, {caliber.encode(found, "c" * 64)})


if __name__ == "__main__":
    unittest.main()
