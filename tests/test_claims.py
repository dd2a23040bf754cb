"""Claims: which sentences are claims, what they rest on, what a judge says of them, and what its caps leave unjudged."""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import pathlib
import sqlite3
import sys
import tempfile
import threading
import unittest
import warnings
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from unittest import mock

from issuance import claims, judging, programs, report
from issuance.blocks import sentences
from issuance.claims import Claim
from issuance.job import Caps
from issuance.programs import Broken
from issuance.spending import LONGEST, Spending
from issuance.store import StoreFault
from tests.issuance_support import DROP, command, job_folder

FORK = multiprocessing.get_context("fork")
YES = '{"verdict": "supported", "reason": "r", "model": "m", "cost_usd": 0}'
FREE = Caps(None, None, None, None, None)


def setUpModule() -> None:
    connect = sqlite3.connect

    def without_waiting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    quicker = mock.patch("sqlite3.connect", without_waiting)
    quicker.start()
    unittest.addModuleCleanup(quicker.stop)


def found(text: str, *citations: tuple[str, str]) -> list[tuple[str, str, bool]]:
    """The id, the text and the gap of each claim of a text; citations are a part of it, or "" behind it, and a kind."""
    cited = []
    for part, kind in citations:
        start = text.index(part) if part else len(text)
        cited.append(report.Citation(start, start + len(part), {"kind": kind}))
    made = report.Report(text, cited, sentences(text), [], [], [])
    return [(claim.id, claim.text, claim.is_gap) for claim in claims.claims(made)]


FAMILIES = {
    "direction": (
        "rose|rise|rising|fell|fall|falls|falling|grew|grow|grows|growing|growth|gained|lost|loss|losses|increased|increase|decreased|"
        "declined|dropped|climbed|improved|worsened|shrank|surged|doubled|recovered|slowed|accelerated|"
        "增长|增加|上升|上涨|提高|提升|下降|下滑|下跌|减少|降低|回落|回升|扩大|缩小|改善|恶化|翻番|加快|放缓"
    ),
    "comparison": (
        "more than|less than|fewer|higher|lower|larger|smaller|greater|better|worse|faster|exceeded|outperformed|above|below|compared with|up|down|went|"
        "高于|低于|多于|少于|超过|不及|优于|大于|小于|相比|更高|更低|更多|更少"
    ),
    "superlative": (
        "most|least|highest|lowest|largest|smallest|greatest|best|worst|fastest|a record|the majority|"
        "最高|最低|最大|最小|最多|最少|最好|最差|最快|首位|第一|大部分|多数"
    ),
    "cause": (
        "because|due to|owing to|thanks to|caused|driven by|drove|led to|resulted in|came from|comes from|therefore|hence|explains|"
        "contributed|attributed|主要来自|因为|由于|因此|所以|导致|得益于|受益于|归因于|造成|带动|推动|拉动|贡献|源于|来自"
    ),
}
NO_CLAIMS = (
    "Roses are red", "Moreover it is so", "The restless mallard", "Abovementioned", "The bestseller", "It is fellow feeling",
    "Sales were good", "The growths", "销售额很好", "我们看了增幅", "The causeway", "Lessons", "Henceforth", "Setups", "The upper bound", "Touchdown",
    "Downtown", "Wents",
)  # fmt: skip


ANOTHER_DAY = "2001-02-03"


class Sentences(unittest.TestCase):
    maxDiff = None

    def test_each_family_of_words(self) -> None:
        for family, words in FAMILIES.items():
            for word in words.split("|"):
                for text in (f"It {word} there.", f"IT {word.upper()} THERE.") if word.isascii() else (f"本周{word}销售。",):
                    with self.subTest(family, text=text):
                        self.assertEqual(found(text), [("S1", text, True)])

    def test_words_within_others(self) -> None:
        for text in NO_CLAIMS:
            with self.subTest(text):
                self.assertEqual(found(f"{text}."), [])
                self.assertEqual(found(f"{text}。"), [])

    def test_kinds_of_blocks(self) -> None:
        for text, expected in (
            ("Sales rose.", ["Sales rose."]),
            ("- Sales rose.", ["- Sales rose."]),
            ("1. Sales rose.", ["1. Sales rose."]),
            ("* Sales\n  rose.", ["* Sales\n  rose."]),
            ("# Sales rose.", []),
            ("> Sales rose.", ["> Sales rose."]),
            ("> Sales\n> rose.\n> Did it? They fell.", ["> Sales\n> rose.", "They fell."]),
            ("> - Sales rose.", ["> - Sales rose."]),
            ("> Sales\nrose.", ["> Sales\nrose."]),
            ("> # Sales rose.", []),
            ("> | Sales rose. |", []),
            ("> ```\n> Sales rose.\n> ```", []),
            ("> Did sales rise?", []),
            ("<p>Sales rose.</p>", ["<p>Sales rose.</p>"]),
            ("<p>Sales rose.</p>\n<p>They fell.</p>", ["<p>Sales rose.</p>", "<p>They fell.</p>"]),
            ("<div>\nSales\nrose. Good.\n</div>", ["<div>\nSales\nrose."]),
            ("<details>\n\nSales rose.\n\n</details>", ["Sales rose."]),
            ("<p>Sales were good.</p>", []),
            ("<img alt='sales rose'>", []),
            ("<!-- Sales rose. -->", []),
            ("| Sales rose. |", []),
            ("```\nSales rose.\n```", []),
            ("Sales rose?", []),
            ("Sales rose? They fell.", ["They fell."]),
            ("Sales rose! They fell", ["Sales rose!", "They fell"]),
            ("销售额增长。退款增加吗？订单下降！", ["销售额增长。", "订单下降！"]),
            ("They asked: “did sales rise?”", []),
            ("*Did sales rise?*", []),
            ("(Did sales rise?) They fell.", ["They fell."]),
            *((text, []) for text in (
                "<b>Did sales rise?</b>", "<p>Did sales rise?</p>", "“Did sales rise?”</p>", "Did sales rise? </p>", "Did sales rise?<!-- x -->",
                "Did sales rise?\u200b", "Did sales rise?\u00ad", "Did sales rise?&#8203;", "Did sales rise&#63;", "Did sales rise?~~",
                "**Did sales rise?**", "`Did sales rise?`", "销售额增长了吗？</b>", "销售额增长了吗？\u200b",
            )),
            ("<p>Did sales rise?</p>\n<p>They fell.</p>", ["<p>They fell.</p>"]),
            ("<b title='?'>Sales rose</b>", ["<b title='?'>Sales rose</b>"]),
            ("Sales rose (why?).", ["Sales rose (why?)."]),
            ("It rose, e.g. in the North.", ["It rose, e.g. in the North."]),
        ):
            with self.subTest(text):
                self.assertEqual([part for _, part, _ in found(text)], expected)

    def test_what_does_not_show_hides_no_word(self) -> None:
        for word in (
            "ro\u200bse", "ro\u00adse", "ro\u2060se", "ro&shy;se", "ro&#8203;se", "r&#111;se", "r&#x6f;se", "r<b>os</b>e", "r<!-- x -->ose", "r**os**e",
            "r*o*se", "`rose`", "**rose**", "<b>rose</b>", "ｒｏｓｅ", "增\u200b长", "增**长**", "增<b>长</b>",
        ):  # fmt: skip
            with self.subTest(word):
                self.assertEqual(found(f"Sales {word} there."), [("S1", f"Sales {word} there.", True)])

    def test_ids_count_every_sentence(self) -> None:
        text = "# Head\n\nOne. Two rose. Three?\n\n| four |\n\n- Five fell."
        self.assertEqual(found(text), [("S3", "Two rose.", True), ("S5", "- Five fell.", True)])

    def test_citations_make_claims_and_close_gaps(self) -> None:
        for text, citations, expected in (
            ("Sales were X.", [("X", "metric")], [("S1", "Sales were X.", False)]),
            ("Sales were X.", [("X", "cell")], [("S1", "Sales were X.", False)]),
            ("Sales were X.", [("X", "input")], [("S1", "Sales were X.", False)]),
            ("Sales were X.", [("X", "name")], []),
            ("Sales were X.", [("X", "quote")], []),
            ("Sales were good.", [("", "basis")], []),
            ("Sales were X?", [("X", "metric")], []),
            ("# Sales were X.", [("X", "metric")], []),
            ("Sales of X rose.", [("X", "name")], [("S1", "Sales of X rose.", True)]),
            ("Sales of X rose.", [("X", "violation")], [("S1", "Sales of X rose.", True)]),
            ("Sales rose, X.", [("X", "quote")], [("S1", "Sales rose, X.", False)]),
            ("Sales rose.", [("", "basis")], [("S1", "Sales rose.", False)]),
            ("Sales fell. It rose X.", [("X", "metric")], [("S1", "Sales fell.", True), ("S2", "It rose X.", False)]),
            ("X rose. It fell.", [("X", "metric")], [("S1", "X rose.", False), ("S2", "It fell.", True)]),
            ("It rose. It fell.", [("", "basis")], [("S1", "It rose.", True), ("S2", "It fell.", False)]),
        ):
            with self.subTest(text, citations=citations):
                self.assertEqual(found(text, *citations), expected)

    def test_a_basis_belongs_to_the_sentence_before_it(self) -> None:
        text = "It rose. It fell. It grew."
        for at, gaps in ((8, ["S2", "S3"]), (17, ["S1", "S3"]), (26, ["S1", "S2"]), (7, ["S2", "S3"]), (16, ["S1", "S3"])):
            with self.subTest(at):
                made = report.Report(text, [report.Citation(at, at, {"kind": "basis"})], sentences(text), [], [], [])
                self.assertEqual([claim.id for claim in claims.claims(made) if claim.is_gap], gaps)


VERDICTS: tuple[tuple[str, str], ...] = (
    ("", "the judge printed no verdict: line 1 column 1: not JSON: Expecting value"),
    ("supported", "the judge printed no verdict: line 1 column 1: not JSON: Expecting value"),
    (f"{YES}\n{YES}", "the judge printed no verdict: line 2 column 1: not JSON: Extra data"),
    ("[]", "the judge printed no verdict: root: must be an object, not an array"),
    ('{"reason": "r", "model": "m", "cost_usd": 0}', "the judge printed no verdict: verdict: is missing"),
    (YES.replace("supported", "true"), 'the judge printed no verdict: verdict: must be "supported" or "partially_supported" or "unsupported" or "not_a_claim", not "true"'),
    ("{}", "the judge printed no verdict: verdict: is missing"),
    ('{"verdict": "supported", "model": "m", "cost_usd": 0}', "the judge printed no verdict: reason: is missing"),
    ('{"verdict": "supported", "reason": "r", "cost_usd": 0}', "the judge printed no verdict: model: is missing"),
    ('{"verdict": "supported", "reason": "r", "model": "m"}', "the judge printed no verdict: cost_usd: is missing"),
    (YES.replace("0}", "1000000.01}"), "the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not 1000000.01"),
    (YES.replace("0}", "1000001}"), "the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not 1000001"),
    (YES.replace("0}", "null}"), "the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not null"),
    (YES.replace("0}", "-0.01}"), "the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not -0.01"),
    (YES.replace("0}", '"0"}'), 'the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not "0"'),
    (YES.replace("0}", "true}"), "the judge printed no verdict: cost_usd: must be a number of dollars from 0 to 1000000, not true"),
    (YES.replace('"r"', "3"), "the judge printed no verdict: reason: must be text of 1 to 4096 code points without lone surrogates, not 3"),
    (YES.replace('"m"', '"' + "m" * 257 + '"'), f'the judge printed no verdict: model: must be text of 1 to 256 code points without lone surrogates, not "{"m" * 55}"...'),
    (YES[:-1] + ', "also": 1}', 'the judge printed no verdict: root: has the unknown field "also"'),
    (YES[:-1] + ', "verdict": "supported"}', "the judge printed no verdict: verdict: must stand once in its object, not 2 times"),
)  # fmt: skip


class Verdicts(unittest.TestCase):
    maxDiff = None

    def test_refused(self) -> None:
        for text, said in VERDICTS:
            with self.subTest(text):
                with self.assertRaises(Broken) as caught:
                    judging.read_verdict(text.encode())
                self.assertEqual(caught.exception.args, (said,))

    def test_accepted(self) -> None:
        for verdict in claims.VERDICTS:
            for cost, read in (("0", "0"), ("0.0100", "0.01"), ("1e-3", "0.001"), ("12", "12"), ("0.1", "0.1"), ("1000000", "1000000"), ("1e6", "1000000")):
                text = f'{{"verdict": "{verdict}", "reason": "r", "model": "m", "cost_usd": {cost}}}'
                self.assertEqual(
                    judging.read_verdict(text.encode()), {"verdict": verdict, "reason": "r", "model": "m", "cost_usd": read}
                )


def asked(caps: Caps, costs: Iterable[str], folder: str, writer_model: str | None = None) -> judging.Judged:
    """What a judge says of a claim for each cost, as far as caps let it be asked; without a cost it gives no verdict."""
    answers = [YES.replace("0}", f"{cost}}}").encode() if cost else Broken("no verdict") for cost in costs]
    found = [Claim(f"S{number}", "It rose.", []) for number in range(1, len(answers) + 1)]
    judge = judging.Judge(["judge"], folder, caps, Spending(folder), writer_model)
    with mock.patch.object(programs, "run", side_effect=answers):
        return judge.all(found, lambda claim: [])


def left(said: judging.Judged) -> list[tuple[str, str]]:
    return [(one["sentence"], one["reason"]) for one in said.unjudged]


class TheCaps(unittest.TestCase):
    def test_of_sentences_and_of_a_report(self) -> None:
        for caps, costs, unjudged in (
            (FREE, ["9"] * 3, []),
            (FREE._replace(sentences=3), ["0"] * 3, []),
            (FREE._replace(sentences=2), ["0"] * 3, [("S3", "the cap of 2 sentences is reached")]),
            (FREE._replace(sentences=0), ["0"], [("S1", "the cap of 0 sentences is reached")]),
            (FREE._replace(report_usd=Decimal("0.05")), ["0.02", "0.02", "0.01"], []),
            (FREE._replace(report_usd=Decimal("0.05")), ["0.049", "0.01", "0"], [("S3", "the cap of 0.05 USD for a report is reached")]),
            (FREE._replace(report_usd=Decimal("0.05")), ["0.05", "0", "0"],
             [("S2", "the cap of 0.05 USD for a report is reached"), ("S3", "the cap of 0.05 USD for a report is reached")]),
            (FREE._replace(report_usd=Decimal(0)), ["0"], [("S1", "the cap of 0 USD for a report is reached")]),
            (FREE._replace(report_seconds=Decimal(0)), ["0"], [("S1", "the cap of 0 seconds for a report is reached")]),
            (FREE._replace(day_usd=Decimal("0.10")), ["0.05", "0.05", "0"], [("S3", "the cap of 0.1 USD for a day is reached")]),
            (FREE._replace(day_usd=Decimal("0.15")), ["0.05", "0.05", "0.05"], []),
            (FREE._replace(day_usd=Decimal("0.15")), ["0.05", "0.051", "0"], [("S3", "the cap of 0.15 USD for a day is reached")]),
            (FREE._replace(day_usd=Decimal("0.05"), click_usd=Decimal("0.05")), ["0"], []),
            (FREE._replace(day_usd=Decimal("0.05"), click_usd=Decimal("0.051")), ["0"], [("S1", "the cap of 0.05 USD for a day is reached")]),
            (FREE._replace(day_usd=Decimal(0)), ["0"], [("S1", "the cap of 0 USD for a day is reached")]),
        ):  # fmt: skip
            with self.subTest(caps, costs=costs), tempfile.TemporaryDirectory() as folder:
                said = asked(caps, costs, folder)
                self.assertEqual(left(said), unjudged)
                self.assertEqual(len(said.verdicts), len(costs) - len(unjudged))

    def test_a_call_without_a_verdict_counts(self) -> None:
        cent, dime, none = Decimal("0.01"), Decimal("0.1"), "no verdict"
        of_report, of_day = "the cap of {} USD for a report is reached", "the cap of {} USD for a day is reached"
        for caps, costs, unjudged in (
            (FREE._replace(click_usd=cent, report_usd=Decimal("0.02")), ["", "", "0"], {1: none, 2: none, 3: of_report.format("0.02")}),
            (FREE._replace(click_usd=cent, report_usd=Decimal("0.021")), ["", "", "0"], {1: none, 2: none}),
            (FREE._replace(report_usd=cent), ["", "", "0"], {1: none, 2: none}),  # which nothing says the price of
            (FREE._replace(click_usd=cent, report_usd=dime), ["0.05", "", "0"], {2: none, 3: of_report.format("0.1")}),
            (FREE._replace(click_usd=cent, report_usd=Decimal("0.101")), ["0.05", "", "0"], {2: none}),
            (FREE._replace(click_usd=dime, report_usd=dime), ["", "0"], {1: none, 2: of_report.format("0.1")}),
            (FREE._replace(click_usd=dime, report_usd=dime), ["0", "0.001"], {}),
            (FREE._replace(click_usd=cent, day_usd=Decimal("0.03")), ["", "", "", "0"], {1: none, 2: none, 3: none, 4: of_day.format("0.03")}),
            (FREE._replace(click_usd=cent, day_usd=Decimal("0.04")), ["", "", "", "0"], {1: none, 2: none, 3: none}),
        ):  # fmt: skip
            with self.subTest(caps, costs=costs), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(left(asked(caps, costs, folder)), [(f"S{number}", said) for number, said in unjudged.items()])

    def test_a_judge_that_never_started_costs_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            spending = Spending(folder)
            judge = judging.Judge(["./nothing"], folder, FREE._replace(click_usd=Decimal("0.01"), report_usd=Decimal("0.01")), spending, None)
            said = judge.all([Claim("S1", "It rose.", []), Claim("S2", "It fell.", [])], lambda claim: [])
            reason = 'the judge cannot be started: "./nothing": No such file or directory'
            self.assertEqual((left(said), judge.spent), ([("S1", reason), ("S2", reason)], 0))

    def test_costs_that_are_none(self) -> None:
        for cost, shown in (
            ("much", '"much"'), ("-1", '"-1"'), (None, '"None"'), ("", '""'), ("NaN", '"NaN"'), ("1e", '"1e"'), (b"1", '"b\'1\'"'),
        ):  # fmt: skip
            with self.subTest(cost), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(left(asked(FREE, ["0.01"], folder)), [])
                with contextlib.closing(sqlite3.connect(f"{folder}/spending.sqlite")) as file, file:
                    file.execute("UPDATE calls SET usd = ?", (cost,))
                with self.assertRaises(StoreFault) as caught:
                    asked(FREE._replace(day_usd=Decimal(1)), ["0.01"], folder)
                said = f"cannot be counted in: it has {shown} for a cost"
                self.assertEqual(caught.exception.args, (f"{folder}/spending.sqlite", said))

    def test_calls_of_a_clock_that_ran_ahead_hold_nobody_up(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(left(asked(FREE, ["0.01"], folder)), [])
            with contextlib.closing(sqlite3.connect(f"{folder}/spending.sqlite")) as file, file:
                file.execute("UPDATE calls SET until = 99999999999")
            self.assertEqual(left(asked(FREE._replace(day_usd=Decimal(1)), ["0.01"], folder)), [])

    def test_warnings(self) -> None:
        cent = Decimal("0.01")
        of_click = "{} cost 0.011 USD, more than the 0.01 USD for one claim"
        of_report = "the claims cost {} USD, more than the cap of 0.05 USD"
        for caps, costs, expected in (
            (FREE, ["9", "9"], []),
            (FREE._replace(click_usd=cent), ["0.01", "0"], []),
            (FREE._replace(click_usd=cent), ["0.011", "0", "0.011"], [of_click.format("S1"), of_click.format("S3")]),
            (FREE._replace(click_usd=Decimal(0)), ["0"], []),
            (FREE._replace(report_usd=Decimal("0.05")), ["0.04", "0.01"], []),
            (FREE._replace(report_usd=Decimal("0.05")), ["0.04", "0.02"], [of_report.format("0.06")]),
            (FREE._replace(report_usd=Decimal("0.05"), click_usd=Decimal("0.03")), ["0.03", ""], [of_report.format("0.06")]),
            (FREE._replace(report_usd=Decimal("0.05"), click_usd=cent), ["0.011", "0.04"],
             [of_click.format("S1"), "S2 cost 0.04 USD, more than the 0.01 USD for one claim", of_report.format("0.051")]),
        ):  # fmt: skip
            with self.subTest(caps, costs=costs), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(asked(caps, costs, folder).warnings, expected)

    def test_of_seconds(self) -> None:
        for after, given, unjudged in (
            (29.5, [30.0, 0.5], []),
            (29.9375, [30.0, 0.0625], []),
            (29.9999, [30.0, 0.01], []),
            (30.0, [30.0], [("S2", "the cap of 30 seconds for a report is reached")]),
        ):
            seconds: list[float] = []

            def call(*arguments: Any, now: float = after, seconds: list[float] = seconds) -> bytes:
                seconds.append(arguments[-1])
                clock.return_value = now
                return YES.encode()

            with self.subTest(after), tempfile.TemporaryDirectory() as folder, mock.patch("time.monotonic", return_value=0.0) as clock:
                judge = judging.Judge(["judge"], folder, FREE._replace(report_seconds=Decimal(30)), Spending(folder), None)
                with mock.patch.object(programs, "run", call):
                    said = judge.all([Claim("S1", "It rose.", []), Claim("S2", "It fell.", [])], lambda claim: [])
                self.assertEqual((seconds, left(said)), (given, unjudged))

    def test_the_day_counts_all_runs_of_a_store(self) -> None:
        caps = FREE._replace(day_usd=Decimal(2))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(left(asked(caps, ["1"], folder)), [])
            self.assertEqual(left(asked(caps, ["1.5"], folder)), [])  # its cost is known afterwards only
            self.assertEqual(left(asked(caps, ["0"], folder)), [("S1", "the cap of 2 USD for a day is reached")])
            with mock.patch("issuance.spending.time.strftime", return_value=ANOTHER_DAY):
                self.assertEqual(left(asked(caps, ["1"], folder)), [])

    def test_a_call_may_cost_as_much_as_the_dearest_of_the_day(self) -> None:
        for costs, cap, fits in (
            (["0.06"], "0.12", True),
            (["0.06"], "0.119", False),
            (["0.06", "0.01"], "0.13", True),
            (["0.06", "0.01"], "0.129", False),
            (["0.01", "0.05"], "0.11", True),
            (["0.01", "0.05"], "0.109", False),
        ):
            with self.subTest(costs, cap=cap), tempfile.TemporaryDirectory() as folder:
                for cost in costs:
                    self.assertEqual(left(asked(FREE, [cost], folder)), [])
                caps = FREE._replace(day_usd=Decimal(cap), click_usd=Decimal("0.01"))
                said = [] if fits else [("S1", f"the cap of {cap} USD for a day is reached")]
                self.assertEqual(left(asked(caps, ["0.01"], folder)), said)
                with mock.patch("issuance.spending.time.strftime", return_value=ANOTHER_DAY):
                    self.assertEqual(left(asked(caps, ["0.01"], folder)), [])

    def test_one_call_at_a_time(self) -> None:
        now = 1_790_000_000
        with tempfile.TemporaryDirectory() as folder, mock.patch("issuance.spending.time.time") as clock:
            clock.return_value = now
            counting, cap = Spending(folder), Decimal(1)
            first = counting.reserve(Decimal("0.1"), cap, 0)
            self.assertIsNone(Spending(folder).try_to_reserve(Decimal(0), cap))
            free = counting.try_to_reserve(Decimal("0.1"), None)  # where no cap is to hold, none is waited for
            assert free is not None
            counting.settle(free, Decimal("0.1"))
            self.assertIsNone(counting.try_to_reserve(Decimal(0), cap))
            counting.settle(first, Decimal("0.05"))
            second = counting.try_to_reserve(Decimal("0.7"), cap)
            self.assertIsNotNone(second)  # and never settled, as by a run that was killed
            for later, free_again in ((LONGEST - 1, False), (LONGEST, True)):
                clock.return_value = now + later
                with self.subTest(later):
                    if not free_again:
                        self.assertIsNone(counting.try_to_reserve(Decimal(0), cap))
                        continue
                    for of_day, fits in (("1.549", False), ("1.55", True)):
                        if fits:
                            self.assertIsNotNone(counting.try_to_reserve(Decimal(0), Decimal(of_day)))
                            continue
                        with self.assertRaises(Broken) as caught:
                            counting.try_to_reserve(Decimal(0), Decimal(of_day))
                        self.assertEqual(caught.exception.args, (f"the cap of {of_day} USD for a day is reached",))

    def test_how_long_another_call_is_waited_for(self) -> None:
        cap, busy = Decimal(1), "another run's call to its judge is still under way"
        for seconds, ends_at, given_up_at in (
            (0, None, 3), (5, None, 6), (5.9, None, 6), (6.1, None, 9), (5.9, 6, None), (5.9, 7, 6), (0, 0, None), (120, 117, None),
        ):  # fmt: skip
            with self.subTest(seconds, ends_at=ends_at), tempfile.TemporaryDirectory() as folder:
                counting, other = Spending(folder), Spending(folder)
                first = other.reserve(Decimal(0), cap, 0)
                if ends_at == 0:
                    other.settle(first, Decimal(0))
                with mock.patch("time.monotonic", return_value=0.0) as clock, mock.patch("time.sleep") as sleep:

                    def pass_three(_: float, first: int = first, ends_at: float | None = ends_at, other: Spending = other) -> None:
                        clock.return_value += 3
                        if ends_at is not None and clock.return_value >= ends_at:
                            other.settle(first, Decimal(0))

                    sleep.side_effect = pass_three
                    if given_up_at is None:
                        self.assertGreater(counting.reserve(Decimal(0), cap, seconds), first)
                        self.assertEqual(clock.return_value, ends_at)
                        continue
                    with self.assertRaises(Broken) as caught:
                        counting.reserve(Decimal(0), cap, seconds)
                    self.assertEqual((caught.exception.args, clock.return_value), ((busy,), given_up_at))

    def test_a_claim_that_waits_for_another_call(self) -> None:
        late, busy = ("S1", "another run's call to its judge is still under way"), Decimal("0.4")
        for seconds, ends_at, unjudged, given, until in (
            (Decimal(5), 3, [], [2.0], 3),
            (Decimal(5), 6, [], [0.01], 6),
            (Decimal(5), 9, [late], [], 6),
            (None, 120, [], [programs.SECONDS], 120),
            (None, 126, [late], [], 123),
        ):  # fmt: skip
            caps = FREE._replace(report_seconds=seconds, day_usd=Decimal(1), click_usd=Decimal("0.6"))
            with self.subTest(seconds, ends_at=ends_at), tempfile.TemporaryDirectory() as folder:
                first = Spending(folder).reserve(busy, Decimal(1), 0)
                judge = judging.Judge(["judge"], folder, caps, Spending(folder), None)
                with mock.patch("time.monotonic", return_value=0.0) as clock, mock.patch("time.sleep") as sleep:
                    judge.deadline = None if seconds is None else float(seconds)

                    def pass_three(_: float, folder: str = folder, first: int = first, ends_at: int = ends_at) -> None:
                        clock.return_value += 3
                        if clock.return_value == ends_at:
                            Spending(folder).settle(first, None)

                    sleep.side_effect = pass_three
                    with mock.patch.object(programs, "run", return_value=YES.encode()) as called:
                        said = judge.all([Claim("S1", "It rose.", [])], lambda claim: [])
                    self.assertEqual((left(said), [call.args[-1] for call in called.call_args_list], clock.return_value), (unjudged, given, until))
                if unjudged:  # what was not called has cost nothing
                    Spending(folder).settle(first, None)
                    self.assertEqual(left(asked(caps._replace(report_seconds=None), ["0.6"], folder)), [])

    def test_what_a_settled_call_counts(self) -> None:
        for before, price, cost, counts, whole in (
            ([], "0.01", None, "0.01", "0.02"),
            ([], "0.01", "0.02", "0.02", "0.04"),
            ([], "0.02", "0.01", "0.01", "0.02"),
            (["0.05"], "0.01", None, "0.05", "0.15"),
            (["0.05", "0.02"], "0.01", None, "0.05", "0.17"),
            (["0.02"], "0.05", None, "0.05", "0.12"),
            (["0.05"], "0.01", "0", "0", "0.1"),
            (["0.05"], "0.07", "0.06", "0.06", "0.17"),
            (["0.05"], "0.07", "0.0600", "0.06", "0.17"),
        ):
            with self.subTest(before, price=price, cost=cost), tempfile.TemporaryDirectory() as folder:
                counting = Spending(folder)
                for each in before:
                    number = counting.reserve(Decimal(0), None, 0)
                    self.assertEqual(counting.settle(number, Decimal(each)), Decimal(each))
                number = counting.reserve(Decimal(price), None, 0)
                self.assertEqual(counting.settle(number, None if cost is None else Decimal(cost)), Decimal(counts))
                too_small = Decimal(whole) - Decimal("0.001")  # for the same again as the dearest
                with self.assertRaises(Broken) as caught:
                    counting.reserve(Decimal(0), too_small, 0)
                self.assertEqual(caught.exception.args, (f"the cap of {too_small} USD for a day is reached",))
                self.assertGreater(counting.reserve(Decimal(0), Decimal(whole), 0), number)

    def test_a_call_under_way_counts_as_the_dearest(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            counting = Spending(folder)
            counting.settle(counting.reserve(Decimal(0), None, 0), Decimal("0.05"))
            first = counting.reserve(Decimal("0.01"), None, 0)
            second = counting.reserve(Decimal("0.06"), None, 0)
            third = counting.reserve(Decimal("0.01"), None, 0)
            self.assertEqual([counting.settle(one, None) for one in (first, second, third)], list(map(Decimal, ("0.05", "0.06", "0.06"))))

    def test_no_verdict_costs_a_report_what_it_costs_the_day(self) -> None:
        for cap, unjudged in (("0.06", "the cap of 0.06 USD for a report is reached"), ("0.061", "")):
            with self.subTest(cap), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(left(asked(FREE, ["0.06"], folder)), [])
                said = left(asked(FREE._replace(click_usd=Decimal("0.01"), report_usd=Decimal(cap)), ["", "0"], folder))
                self.assertEqual(said, [("S1", "no verdict"), *([("S2", unjudged)] if unjudged else [])])

    def test_several_programs_at_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            inside = os.path.join(folder, "inside")
            caps = FREE._replace(day_usd=Decimal("0.25"), click_usd=Decimal("0.01"))

            def call(*_: Any) -> bytes:
                with open(inside, "x"):  # which fails while another call is under way
                    os.sched_yield()
                os.unlink(inside)
                return YES.replace("0}", "0.01}").encode()

            def spend() -> None:
                made = 99
                try:
                    judge = judging.Judge(["judge"], folder, caps, Spending(folder), None)
                    with mock.patch.object(programs, "run", call), mock.patch("issuance.spending.time.sleep"):
                        made = len(judge.all([Claim(f"S{n}", "It rose.", []) for n in range(10)], lambda _: []).verdicts)
                finally:
                    os._exit(made)

            children = [FORK.Process(target=spend) for _ in range(4)]
            for child in children:
                child.start()
            for child in children:
                child.join(60)
            codes = [child.exitcode for child in children]
            for child in children:
                child.close()
            self.assertEqual(sum(code or 0 for code in codes), 25, codes)

    def test_a_judge_of_the_writers_model(self) -> None:
        said = ["the judge is the writer's model, m: it judges its own words"]
        for model, expected in ((None, []), ("other", []), ("m", said)):
            with self.subTest(model), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(asked(FREE, ["0", "0"], folder, model).warnings, expected)


def script(*lines: str) -> list[str]:
    return [sys.executable, "-S", "-c", "\n".join(("import sys, os", *lines))]


def shell(line: str) -> list[str]:
    return ["sh", "-c", line]


class Programs(unittest.TestCase):
    """The programs of a job: what they get, and how they fail."""

    maxDiff = None

    def test_broken(self) -> None:
        started = "the judge cannot be started"
        for name, line, seconds, said in (
            ("not found", ["no-such-program-here"], 60, f'{started}: "no-such-program-here": No such file or directory'),
            ("no program", ["/"], 60, f'{started}: "/": Permission denied'),
            ("a NUL", ["a\0b"], 60, f'{started}: "a\\u0000b": embedded null byte'),
            ("a status", shell("exit 3"), 60, "the judge ended with exit status 3"),
            ("a status and a reason", shell("printf 'first\\nno key\\n\\n' >&2; exit 1"), 60, 'the judge ended with exit status 1: "no key"'),
            ("a signal", shell("kill -9 $$"), 60, "the judge ended with signal 9"),
            ("hanging", shell("sleep 60"), 0.125, "the judge was stopped after its time limit of 0.125 seconds"),
            ("a status and much on standard error", shell("head -c 9000000 /dev/zero | tr '\\0' x >&2; printf '\nno key\n' >&2; exit 1"), 60,
             'the judge ended with exit status 1: "no key"'),
            ("its output is kept open", shell("sleep 60 & echo 5"), 60, "the judge ended, but a program that it started still held its output open"),
            ("hanging with its output closed", shell("exec >&-; sleep 60"), 0.125,
             "the judge was stopped after its time limit of 0.125 seconds"),
        ):  # fmt: skip
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                with self.assertRaises(Broken) as caught:
                    programs.run(line, folder, {}, "the judge", seconds)
                self.assertEqual(caught.exception.args, (said,))

    def test_pipes_are_closed(self) -> None:
        for name, line in (
            ("finished", shell("wc -c")),
            ("unread", shell("echo 5")),
            ("failed", shell("exit 3")),
            ("hanging", shell("sleep 60")),
            ("its output is kept open", shell("sleep 60 & sleep 60")),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", ResourceWarning)
                with contextlib.suppress(Broken):
                    programs.run(line, folder, {"text": "x" * 200_000}, "the judge", 0.125)
                gc.collect()
                self.assertEqual([str(one.message) for one in said], [])

    def test_a_child_that_ends_late_says_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch("threading.excepthook") as hook:
            with self.assertRaises(Broken):
                programs.run(shell("setsid sleep 3 & echo hi"), folder, {}, "the judge", 60)
            for thread in threading.enumerate():
                if thread is not threading.current_thread():
                    thread.join(10)
            self.assertEqual(hook.mock_calls, [])

    def test_too_much_output(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(programs, "MOST_OUTPUT", 1_000):
            self.assertEqual(programs.run(script("print('x' * 999)"), folder, {}, "the judge", 60), b"x" * 999 + b"\n")
            for line in ("print('x' * 1000)", "while True: print('x' * 1000)"):
                with self.subTest(line):
                    with self.assertRaises(Broken) as caught:
                        programs.run(script(line), folder, {}, "the judge", 60)
                    self.assertEqual(caught.exception.args, ("the judge printed more than 1000 bytes",))

    def test_what_they_get(self) -> None:
        content = {"sentence": "销售额\ud800", "evidence": [1, None]}
        echo = script("sys.stdout.write(sys.stdin.read() + os.getcwd())")
        with tempfile.TemporaryDirectory() as folder:
            data = programs.run(echo, folder, content, "the judge", 60).decode("ascii")
            self.assertEqual(data, json.dumps(content) + os.path.realpath(folder))
            unread = {"text": "x" * 1_000_000}
            self.assertEqual(programs.run(script("print(5)"), folder, unread, "the judge", 60), b"5\n")

    def test_no_shell(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            line = [*script("print(sys.argv[1:])"), "$HOME", "; touch made", "`id`", "*"]
            self.assertEqual(
                programs.run(line, folder, {}, "the judge", 60).decode(), "['$HOME', '; touch made', '`id`', '*']\n"
            )
            self.assertEqual(os.listdir(folder), [])


SEEN = """import json, sys
asked = json.load(sys.stdin)
with open("asked.jsonl", "a") as file:
    print(json.dumps(asked), file=file)
print(json.dumps({"verdict": "supported", "reason": "r", "model": "m", "cost_usd": 0.001}))
"""
DRAFT = """# Sales of [[i:week]]

They were [[m:sales]] of [[m:north_share|.0]], [[v:Q1.r0.cents]] cents in [[i:week]]. They grew [[see:m:north,Q1]].
The plan says [[q:K1|better baskets]] for more. Nothing rose. It is `orders`.
"""


class Asked(unittest.TestCase):
    maxDiff = None

    def test_what_a_judge_is_shown(self) -> None:
        files = {"draft.md": DRAFT, "judge.py": SEEN, "plan.txt": "A plan of\nbetter baskets.\n"}
        spec = {"draft": "draft.md", "claims": "judge", "judge": [sys.executable, "-S", "judge.py"]}
        with mock.patch("os.fsync"), job_folder(files, narrative=DROP, report=spec, knowledge=["plan.txt"]) as folder:
            run = command("issue", "job.json", cwd=folder)
            content = json.loads(run.out)
            seen = [json.loads(line) for line in pathlib.Path(folder, "asked.jsonl").read_text().splitlines()]
            record = json.loads(pathlib.Path(folder, content["run"], "run.json").read_bytes())
        shown = {"regions": record["artifacts"]["snapshot of Q1"]}
        sales = {
            "kind": "metric", "id": "sales", "name": "sales", "unit": "$", "rendered": "$5,000.00", "value": "5000",
            "expression": "sum(regions, 'cents') / 100", "substituted": "500000 / 100",
        }  # fmt: skip
        share = {
            "kind": "metric", "id": "north_share", "name": "north_share", "unit": "", "rendered": "75.0%", "value": "0.7501",
            "expression": "north / sales", "substituted": "3750.5 / 5000",
        }  # fmt: skip
        cell = {"kind": "cell", "query": "regions", "row": 0, "column": "cents", "artifact": shown["regions"], "value": "375050"}
        self.assertEqual(
            seen,
            [
                {"sentence": "They were $5,000.00 of 75%, 375,050 cents in W37.",
                 "evidence": [sales, share, cell, {"kind": "input", "input": "week"}]},
                {"sentence": "They grew.", "evidence": [{"kind": "basis", "basis": ["m:north", "Q1"]}]},
                {"sentence": "The plan says “better baskets” for more.",
                 "evidence": [{"kind": "quote", "chunk": "K1", "at": 10, "text": "A plan of better baskets."}]},
            ],
        )  # fmt: skip
        verdict = {"verdict": "supported", "reason": "r", "model": "m", "cost_usd": "0.001"}
        self.assertEqual(
            content["claims"],
            {
                "ids": ["S2", "S3", "S4", "S5"], "gaps": ["S5"], "unjudged": [], "warnings": [],
                "verdicts": [{"sentence": id, **verdict} for id in ("S2", "S3", "S4")],
            },
        )  # fmt: skip
        self.assertEqual(content["reasons"], [{"code": "claim_gaps", "message": "1 claim without a citation: S5"}])
        self.assertEqual((run.status, content["tier"], record["claims"]), (1, "degraded", {"ids": 4, "gaps": 1, "verdicts": 3, "unjudged": 0}))


