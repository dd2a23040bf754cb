"""Finding numbers: tables of sentences in both languages, changes that must or must not matter, and hostile texts."""

from __future__ import annotations

import json
import random
import re
import unittest
from decimal import Decimal
from typing import Any

from issuance.numerals import exclusions
from issuance.numerals.finding import Numeral, find
from issuance.numerals.plain import Plain, fold
from issuance.tracing import written
from tests.sentences import HOSTILE_PIECES
from tests.support import ROOT

SENTENCES = ROOT / "tests" / "sentences"
KINDS = {  # what counts as a number and what does not
    "digits", "other digits", "english scale", "chinese scale", "english words", "percentages", "fractions", "multiples",
    "ranges", "approximate", "one", "units", "dates", "ordinals", "structure", "names", "figurative", "year", "n/m",
}  # fmt: skip


def table(name: str) -> list[dict[str, Any]]:
    lines = (SENTENCES / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def rows(text: str) -> list[list[str]]:
    """What is found in a text as the tables have it: text, value, low, high, unit."""
    return [[one.text, written(one.value), written(one.low), written(one.high), one.unit] for one in find(Plain(text))]


def has_address(text: str) -> bool:
    """Whether a text may have an address, which only ASCII in the original makes one."""
    return any(part in text for part in ("://", "@", "www.", "](", "localhost", ".com", ".cn", ".org"))


class Sentences(unittest.TestCase):
    maxDiff = None

    def check(self, name: str, kinds: set[str], least: int) -> None:
        sentences = table(name)
        self.assertGreaterEqual(len(sentences), least)
        self.assertLessEqual(kinds, {sentence["kind"] for sentence in sentences})
        self.assertEqual(len({sentence["text"] for sentence in sentences}), len(sentences))
        for sentence in sentences:
            with self.subTest(sentence["kind"], text=sentence["text"]):
                self.assertEqual(rows(sentence["text"]), sentence["numbers"])

    def test_english(self) -> None:
        self.check("english.jsonl", KINDS, 200)

    def test_chinese(self) -> None:
        self.check("chinese.jsonl", KINDS | {"chinese numerals"}, 200)

    def test_both_sides_of_each_language_are_there(self) -> None:
        for name in ("english.jsonl", "chinese.jsonl"):
            sentences = table(name)
            nothing = sum(not sentence["numbers"] for sentence in sentences)
            self.assertGreater(nothing, len(sentences) // 5)
            self.assertGreater(len(sentences) - nothing, len(sentences) // 2)

    def test_two_sentences_in_one_text_do_not_disturb_each_other(self) -> None:
        english, chinese = table("english.jsonl"), table("chinese.jsonl")
        alone = [
            sentence
            for sentence in [*english, *chinese]
            if "```" not in sentence["text"] and "~~~" not in sentence["text"]
        ]
        for first, second in zip(alone, reversed(alone)):
            text = f"{first['text']}\n\n{second['text']}"
            with self.subTest(text=text):
                self.assertEqual(rows(text), first["numbers"] + second["numbers"])


class Invariants(unittest.TestCase):
    def check(self, text: str) -> list[Numeral]:
        found = find(Plain(text))
        end = 0
        for one in found:
            self.assertEqual(text[one.start : one.end], one.text, text)
            self.assertLessEqual(end, one.start, text)
            self.assertLess(one.start, one.end, text)
            self.assertLessEqual(one.low, one.value, text)
            self.assertLessEqual(one.value, one.high, text)
            end = one.end
        return found

    def test_of_every_sentence(self) -> None:
        for name in ("english.jsonl", "chinese.jsonl"):
            for sentence in table(name):
                self.check(sentence["text"])

    def test_of_every_beginning_and_end_of_a_sentence(self) -> None:
        for name in ("english.jsonl", "chinese.jsonl"):
            for sentence in table(name):
                for end in range(min(len(sentence["text"]), 120)):
                    self.check(sentence["text"][:end])
                    self.check(sentence["text"][end:])

    def test_of_fragments_in_any_order(self) -> None:
        chooser = random.Random(7)
        texts = [sentence["text"] for name in ("english.jsonl", "chinese.jsonl") for sentence in table(name)]
        pieces = [piece for text in texts for piece in re.findall(r"[0-9.,]+|[a-z]+|[一-龥]|.", text)]
        for _ in range(1000):
            joint = chooser.choice(("", "", " "))
            self.check(joint.join(chooser.choice(pieces) for _ in range(chooser.randrange(1, 12))))

    def test_with_invisible_characters_between_all_others(self) -> None:
        for name in ("english.jsonl", "chinese.jsonl"):
            for sentence in table(name):
                if not sentence["text"].isprintable() or has_address(sentence["text"]):
                    continue  # it has some of its own, and line breaks; and one ends an address
                spread = "\u200b".join(sentence["text"])
                found = [[text.replace("\u200b", ""), *rest] for text, *rest in rows(spread)]
                unit = [[*row[:4], row[4].replace("\u200b", "")] for row in found]
                self.assertEqual(unit, sentence["numbers"], sentence["text"])
                self.check(spread)

    def test_full_width_digits_are_digits(self) -> None:
        wide = str.maketrans("0123456789", "０１２３４５６７８９")
        for name in ("english.jsonl", "chinese.jsonl"):
            for sentence in table(name):
                if "`" in sentence["text"] or has_address(sentence["text"]):
                    continue
                found = [row[1:4] for row in rows(sentence["text"].translate(wide))]
                self.assertEqual(found, [row[1:4] for row in sentence["numbers"]], sentence["text"])


NO_NUMBERS = (
    "The meeting of 2026-08-{} was moved.", "On 5 August and on {} August.", "Aug {}, 2026", "In 202{} we moved.",
    "FY202{} begins.", "Week {} was calm.", "Q{} was calm.", "The {}th store.", "Table {} shows it.", "Top {} stores",
    "See page {}.", "Version {} of the app", "COVID-{}", "invoice-00{} was paid", "- {}. Sales", "{}) Sales\n", "Store No. {}",
    "8月{}日召开", "{}月召开", "202{}年的计划", "第{}名", "第{}季度", "图 {} 显示", "见第{}页", "{}号店", "（{}）收入",
)  # fmt: skip


class Changes(unittest.TestCase):
    def test_another_date_or_ordinal_is_still_none(self) -> None:
        for pattern in NO_NUMBERS:
            for digit in "1234":
                self.assertEqual(rows(pattern.format(digit)), [], pattern.format(digit))


class Hostile(unittest.TestCase):
    """Texts made to break or to stop the reader; how long they take is measured by the benchmark."""

    def test_repeated_pieces(self) -> None:
        self.assertGreater(len(HOSTILE_PIECES), 80)
        for piece in HOSTILE_PIECES:
            Invariants.check(self, piece * (2_000 // len(piece)))  # type: ignore[arg-type]

    def test_a_number_as_long_as_the_text(self) -> None:
        (one,) = find(Plain("1" * 200_000))
        self.assertEqual((one.value, one.low), (Decimal("1" * 200_000), Decimal("1" * 199_999 + "0.5")))

    def test_decimals_as_long_as_the_text(self) -> None:
        (one,) = find(Plain("三点" + "五" * 5000 + "万"))
        self.assertEqual(one.value, Decimal("35555." + "5" * 4996))

    def test_exponents_that_nobody_could_write_out(self) -> None:
        self.assertEqual([row[1] for row in rows("2e99999 and 1e99")], ["2", "99999", "1" + "0" * 99])


class Exact(unittest.TestCase):
    """Nothing rounds a value, however many digits it has; and what a value is does not depend on the Python."""

    def test_signs_scales_and_parts_of_long_numbers(self) -> None:
        digits = "123456789012345678901234567890123456789"
        for text, value in (
            (f"-{digits}.25", f"-{digits}.25"),
            (f"minus {digits}", f"-{digits}"),
            (f"负{digits}万", f"-{digits}0000"),
            (f"{digits}.5 million", f"{digits}500000"),
            (f"{digits}.5%", f"{digits}.5"),
            (f"{digits}bps", f"{digits[:-2]}.{digits[-2:]}"),
            ("一二三" * 13 + "家", "123" * 13),
        ):
            (row,) = rows(text)
            self.assertEqual(row[1], value, text)

    def test_a_fraction_that_does_not_end_has_fifty_digits(self) -> None:
        for text, value in (
            ("two-thirds", "0." + "6" * 49 + "7"),
            ("三分之一", "0." + "3" * 50),
            ("five and two-thirds", "5." + "6" * 48 + "7"),
            ("5⅔", "5." + "6" * 48 + "7"),
        ):
            self.assertEqual(rows(text)[0][1], value)

    def test_digits_and_marks_that_newer_pythons_know(self) -> None:
        for char, plain in (
            ("\U00011f55", "5"),  # a digit since Unicode 15
            ("\U0001e4f3", "3"),
            ("\u0663", "3"),
            ("\u0898", "¤"),  # a mark since Unicode 14
            ("\u2066", ""),
            ("\U000e0041", ""),
            ("\u0301", ""),
            ("₹", "₹"),
            ("²", "²"),
            ("İ", "i"),
        ):
            self.assertEqual(fold(char), plain, ascii(char))

    def test_text_that_once_broke_the_reader(self) -> None:
        for text in (
            "USD½ million",
            "5usd½",
            "½",
            "1/3-odd",
            "三分之一公里多",
            "USD.5",
            "1e999",
            "$",
            "(",
            "第",
            "分之",
            "又",
            "一又",
            "point",
        ):
            Invariants.check(self, text)  # type: ignore[arg-type]


class Tables(unittest.TestCase):
    def test_a_character_behind_digits_stands_in_one_row_only(self) -> None:
        characters = "".join(exclusions.AFTER_DIGITS)
        self.assertEqual(len(set(characters)), len(characters))
