"""Tracing numbers to metrics: a table of cases for the five rules, changed texts, and the order of what fits."""

from __future__ import annotations

import re
import unittest
from decimal import Decimal
from typing import Any

from issuance.metrics import Metric
from issuance.numerals import currencies, units
from issuance.tracing import trace, written
from tests.test_numerals import table


def metric(id: str, value: str, unit: str = "", change: bool = False) -> Metric:
    return Metric(id, unit, Decimal(value), change)


def metrics_of(case: dict[str, Any]) -> list[Metric]:
    return [metric(m["id"], m["value"], m.get("unit", ""), m.get("change", False)) for m in case["metrics"]]


def traced(text: str, *metrics: Metric, allow: tuple[str, ...] = ()) -> list[list[Any]]:
    return [[one.numeral.text, one.status, one.metrics, one.reason] for one in trace(text, metrics, allow)]


class Rules(unittest.TestCase):
    maxDiff = None

    def test_the_table(self) -> None:
        cases = table("tracing.jsonl")
        self.assertEqual({case["rule"] for case in cases}, {1, 2, 3, 4, 5})
        self.assertGreaterEqual(len(cases), 200)
        for case in cases:
            with self.subTest(case["text"], metrics=case["metrics"]):
                found = traced(case["text"], *metrics_of(case), allow=tuple(case.get("allow", ())))
                self.assertEqual(found, case["numbers"])

    def test_without_metrics_numbers_are_only_found(self) -> None:
        self.assertEqual(
            [(one.status, one.reason) for one in trace("3 and 4", None, ["4"])], [("found", ""), ("allowed", "")]
        )

    def test_an_empty_set_traces_nothing(self) -> None:
        self.assertEqual(traced("3"), [["3", "untraced", [], "no metric has this value"]])

    def test_at_most_ten_the_nearest_first_then_by_id(self) -> None:
        metrics = [metric(f"m{index:02}", str(Decimal(1000 + 2 * index) / 10)) for index in range(-15, 16)]
        same = [metric(f"same{index}", "100.4") for index in range(3)]
        nearest = ["m00", "m-1", "m01", "m-2", "m02", "same0", "same1", "same2"]
        self.assertEqual(traced("100", *metrics, *same)[0][2], nearest)
        many = [metric(f"id{index:03}", "7") for index in range(200, -1, -1)]
        self.assertEqual(traced("7", *many)[0][2], [f"id{index:03}" for index in range(10)])
        around = [metric("low", "6.6"), metric("high", "7.4"), *many[:12]]
        self.assertEqual(traced("7", *around)[0][2], sorted(m.id for m in many[:12])[:10])

    def test_distances_in_several_units_compare(self) -> None:
        self.assertEqual(
            traced("was 8% today", metric("far", "0.084"), metric("near", "8.1", "%"))[0][2], ["near", "far"]
        )
        self.assertEqual(traced("half of it", metric("far", "0.52"), metric("near", "51", "%"))[0][2], ["near", "far"])

    def test_a_number_that_covers_zero(self) -> None:
        loss = metric("loss", "-0.3", "%", change=True)
        self.assertEqual([traced(text, loss)[0][1] for text in ("It was 0%", "It fell 0%", "-0%")], ["traced"] * 3)
        self.assertEqual([traced(text, loss)[0][1] for text in ("It rose 0%", "+0%")], ["untraced"] * 2)

    def test_a_sign_and_a_word_that_contradict(self) -> None:
        rise, fall = metric("up", "8.7", "%", change=True), metric("down", "-8.7", "%", change=True)
        self.assertEqual(traced("It fell +8.7%", rise)[0][3], "up is 8.7%, the text says it fell")
        self.assertEqual(traced("It came to +8.7%", fall)[0][3], "down is -8.7%, the text says it rose")

    def test_the_reason_names_the_nearest_metric(self) -> None:
        near, far = metric("near", "-3.31", "%"), metric("far", "-0.0326")
        self.assertEqual(traced("3.3%", near, far)[0][3], "near is -3.31%, the text does not say that it fell")

    def test_an_allowed_literal_may_have_its_unit(self) -> None:
        for literal, text in (
            ("$5", "It cost $5."),
            ("37单", "共37单"),
            ("5%", "It was 5 percent."),
            ("-3", "It was -3."),
        ):
            declared = metric("other", "999", "单")
            self.assertEqual(traced(text, declared, allow=(literal,))[0][1], "allowed", literal)
        self.assertEqual(traced("It cost €5.", allow=("$5",))[0][1], "untraced")

    def test_every_currency_is_found_before_and_after_and_in_metrics(self) -> None:
        for name, kinds in currencies.CURRENCIES.items():
            for written_as in " ".join(kinds).split():
                word = written_as.replace("-", " ")
                with self.subTest(word):
                    self.assertEqual(units.canonical(word), (name, 1))
                    self.assertEqual(traced(f"It was 5 {word}", metric("m", "5", name))[0][1], "traced")

    def test_long_values_are_compared_exactly(self) -> None:
        digits = "1234567890123456789012345678901"
        near = metric("m", f"-{digits}")
        self.assertEqual(traced(f"fell by {digits}", near)[0][1], "traced")
        self.assertEqual(traced(f"fell by {digits[:-4]}0000", near)[0][1], "untraced")


class Changes(unittest.TestCase):
    """A traced text whose number is changed in one digit, its scale word or its unit does not trace any more."""

    SCALES = {
        "million": "billion", "billion": "million", "thousand": "million", "hundred": "thousand", "万": "亿", "亿": "万", "千": "百",
        "百": "千", "十": "百", "trillion": "billion", "bn": "mn", "k": "m", "dozen": "hundred", "crore": "lakh", "lakh": "crore",
    }  # fmt: skip
    UNITS = {
        "元": "美元",
        "美元": "元",
        "$": "€",
        "€": "£",
        "£": "$",
        "USD": "EUR",
        "RMB": "USD",
        "¥": "$",
        "%": "‰",
        "％": "‰",
    }

    def backing(self, sentence: dict[str, Any]) -> list[Metric]:
        """Metrics that the numbers of a sentence trace to, and nothing else does; negative ones for negative numbers."""
        metrics = []
        for index, (_, value, low, high, unit) in enumerate(sentence["numbers"]):
            middle = (Decimal(low) + Decimal(high)) / 2 if low == value else Decimal(value)
            metrics.append(metric(f"m{index}", str(middle), unit))
        return metrics

    def holds(self, text: str, metrics: list[Metric]) -> bool:
        """Whether every number traces to the metric in its place."""
        found = trace(text, metrics)
        return len(found) == len(metrics) and all(m.id in one.metrics for m, one in zip(metrics, found))

    def test_digits_scales_and_units(self) -> None:
        counts = {"digit": 0, "scale": 0, "unit": 0, "traced": 0}
        for name in ("english.jsonl", "chinese.jsonl"):
            for sentence in table(name):
                metrics = self.backing(sentence)
                if not self.holds(sentence["text"], metrics):
                    continue  # a direction in the sentence, or a fraction that does not end
                counts["traced"] += bool(metrics)
                for kind, changed in self.changed(sentence):
                    counts[kind] += 1
                    self.assertFalse(self.holds(changed, metrics), changed)
        self.assertGreater(min(counts.values()), 50, counts)
        self.assertGreater(counts["traced"], 400, counts)

    def changed(self, sentence: dict[str, Any]) -> list[tuple[str, str]]:
        """The text of a sentence with one digit, scale word or unit of a number changed, in each way there is."""
        text, changes = sentence["text"], []
        for numeral in (one.numeral for one in trace(text, None)):
            number, unit = numeral.text, numeral.unit
            before, after = text[: numeral.start], text[numeral.end :]
            places = [] if "/" in number else [match.start() for match in re.finditer("[0-9]", number)]
            for place in places:
                digit = str((int(number[place]) + 5) % 9 + 1)
                if digit != number[place]:
                    changes.append(("digit", f"{before}{number[:place]}{digit}{number[place + 1 :]}{after}"))
            for word, other in self.SCALES.items():
                if re.search(rf"(?<![a-z]){word}(?![a-z])", number) and not any(sign in number for sign in "/又分成"):
                    changes.append(("scale", f"{before}{number.replace(word, other, 1)}{after}"))
                    break
            if unit in self.UNITS:
                if after.lstrip().startswith(unit):
                    changes.append(("unit", before + number + after.replace(unit, self.UNITS[unit], 1)))
                elif before.rstrip().endswith(unit) and not after.startswith(("元", "%")):
                    changes.append(("unit", before[: before.rindex(unit)] + self.UNITS[unit] + number + after))
                elif number.endswith(unit):
                    changes.append(("unit", f"{before}{number[: -len(unit)]}{self.UNITS[unit]}{after}"))
        return changes

    def test_a_date_or_an_ordinal_may_change(self) -> None:
        metrics = [metric("orders", "1250"), metric("rate", "8.7", "%")]
        for text in (
            "On 5 August, in the 3rd week, 1,250 orders came and 8.7% were refunded (see Table 2).",
            "第3季度（截至2026年8月5日）订单1,250单，退款率8.7%，见图2。",
        ):
            self.assertTrue(self.holds(text, metrics), text)
            for old, new in (
                ("5 A", "6 A"),
                ("3rd", "4th"),
                ("Table 2", "Table 7"),
                ("第3", "第4"),
                ("2026", "2025"),
                ("8月", "9月"),
                ("5日", "6日"),
                ("图2", "图3"),
            ):
                self.assertTrue(self.holds(text.replace(old, new), metrics), (old, new))


class Progress(unittest.TestCase):
    def test_it_is_told_by_position(self) -> None:
        told: list[tuple[int, int]] = []
        trace("no number here. " * 50_000 + "5", None, progress=lambda done, total: told.append((done, total)))
        trace("5 stores, " * 50_000, None, progress=lambda done, total: told.append((done, total)))
        self.assertGreater(len(told), 1)
        self.assertTrue(all(0 < done <= total for done, total in told))


class Units(unittest.TestCase):
    def test_synonyms_and_scales(self) -> None:
        for unit, name, scale in (
            ("元", "元", 1), ("¥", "元", 1), ("￥", "元", 1), ("RMB", "元", 1), ("CNY", "元", 1), ("人民币", "元", 1), ("万元", "元", 10_000), ("亿元", "元", 10**8),
            ("百万元", "元", 10**6), ("$", "$", 1), ("USD", "$", 1), ("dollars", "$", 1), ("美元", "$", 1), ("万美元", "$", 10_000), ("$k", "$", 1000), ("k$", "$", 1000), ("$m", "$", 10**6),
            ("USD million", "$", 10**6), ("million USD", "$", 10**6), ("€", "€", 1), ("EUR", "€", 1), ("£", "£", 1), ("GBP", "£", 1), ("%", "%", 1),
            ("percent", "%", 1), ("个百分点", "%", 1), ("％", "%", 1), ("倍", "x", 1), ("times", "x", 1), ("x", "x", 1), ("单", "单", 1), ("万单", "单", 10_000),
            ("千克", "千克", 1), ("orders", "order", 1), ("Orders", "order", 1), ("", "", 1), ("万", "", 10_000), ("thousand", "", 1000), ("m", "m", 1), ("M", "", 10**6), ("bn", "", 10**9), ("USDm", "$", 10**6), ("millions of dollars", "$", 10**6), ("boxes", "box", 1), ("k orders", "k-order", 1),
        ):  # fmt: skip
            self.assertEqual(units.canonical(unit), (name, Decimal(scale)), unit)
        self.assertEqual(units.canonical("bps"), ("%", Decimal("0.01")))
        self.assertEqual(units.canonical("‰"), ("%", Decimal("0.1")))

    def test_written_without_exponent(self) -> None:
        for value, text in (
            ("1E+3", "1000"),
            ("1.50", "1.5"),
            ("-0.0", "0"),
            ("1E-7", "0.0000001"),
            ("-12.0", "-12"),
            ("100", "100"),
        ):
            self.assertEqual(written(Decimal(value)), text)
