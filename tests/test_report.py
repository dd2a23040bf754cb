"""Composing reports: what each marker becomes, each kind of violation on both sides, places, and random drafts."""

from __future__ import annotations

import hashlib
import html
import json
import os
import random
import re
import subprocess
import sys
import unittest
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from unittest import mock

from answer_format import Problems
from issuance import cards, job, knowledge, report
from issuance import evidence as citable
from issuance.caliber import Caliber
from issuance.evidence import Evidence
from issuance.formats import parse
from issuance.numerals.finding import find
from issuance.numerals.plain import Plain
from issuance.pieces import Violation
from issuance.report import Report
from issuance.snapshots import Snapshot
from tests import issuance_support as support
from tests.issuance_support import DROP, metric, query
from tests.support import ROOT

SALES, BOXED, EMPTY = "a" * 64, "b" * 64, "c" * 64
COLUMNS = ("region", "amount", "rate", "email", "note")
ROWS = (
    ("North", 1234567, "0.50", None, "a|b *c*"),
    ("South", None, "-2.5", None, "<i>x</i> &amp; `y`"),
    ("W-10", -1200, "1e3", None, "two\nlines  [z](u) _q_ #1 ~ \\"),
)
METRICS = (
    metric("gmv", "cell(sales, 0, 'amount')", unit="元", decimals=1),
    metric("cost", "gmv / 100", unit="$"),
    metric("loss", "0 - gmv", unit="元", decimals=0),
    metric("rate", "cell(sales, 0, 'rate')", decimals=1, format="percent"),
    metric("ratio", "cell(sales, 0, 'rate')"),
    metric("pct", "8.7", unit="%", decimals=1, change=True),
    metric("drop", "-8.7", unit="%", decimals=1, change=True),
    metric("orders", "1250", unit="orders", decimals=0),
    metric("big", "123456789012", decimals=0),
    metric("code", "20260", decimals=0, format="raw"),
    metric("tiny", "0 - 1 / 1000", decimals=1),
    metric("even", "0.125"),
    metric("boxes", "cell(boxed, 0, 'total')", decimals=0),
    metric("gone", "cell(sales, 9, 'amount')"),
    metric("broken", "1 / (gmv - gmv)"),
    metric("wan", "12345", unit="万元", decimals=1),
    metric("plain", "500", decimals=0),
    metric("speed", "1.5", unit="x", decimals=1),
    metric("paid", "-5", unit="$", decimals=0),
)
SCHEMA: dict[str, Any] = {
    "truncated": False,
    "tables": [{"name": "orders", "columns": [{"name": "week", "type": ""}, {"name": "region", "type": ""}]}],
}
NOTES = (
    "Sales may grow by 12.5 percent,\nor 1,234 orders. They will not.\n\n"
    "Of 2,000 shops, *twenty* closed; the others did well."
)
SQL = "SELECT r.region, o.amount AS amt FROM regions r JOIN other o"
MARK = " [unchecked]"


def snapshot(query: str, hash: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Snapshot:
    """A snapshot in which every column named email is masked."""
    about = [{"name": name, "classes": [], "masked": name == "email"} for name in columns]
    content = {"query": query, "columns": about, "truncated": False, "rows": [list(row) for row in rows]}
    return Snapshot(hash, {**content, "name": query, "file": None, "lines": None})


def evidence(schema: Mapping[str, Any] = SCHEMA, damaged: str = "") -> Evidence:
    """Queries sales (Q1), boxed (Q2, computed), lost (Q3, failed) and none (Q4, no rows), and the metrics above."""
    problems = Problems()
    content = support.job(
        inputs={"week": "W37", "shops": 12, "odd": "a*b|c"},
        queries=[
            query("sales", SQL),
            query("boxed", "SELECT total FROM t", evidence_role="compute"),
            query("lost", "SELECT broken FROM t"),
            query("none", "SELECT x FROM t"),
        ],
        contract=DROP,
    )
    read = job.read(json.dumps(content).encode(), "job.json", problems)
    card = cards.read(json.dumps(support.card(*METRICS)).encode(), "card.json", problems)
    assert read is not None and card is not None, problems.first
    snapshots: dict[str, Snapshot | str] = {
        "sales": snapshot("sales", SALES, COLUMNS, ROWS),
        "boxed": snapshot("boxed", BOXED, ("total",), ((7,),)),
        "lost": "refused: broken",
        "none": snapshot("none", EMPTY, ("a|b", "x"), ()),
    }
    chunks = knowledge.chunks([("notes.md", NOTES)])
    return Evidence(read, Caliber(card, snapshots, read.inputs), [schema], chunks, lambda hash: hash != damaged)


EVIDENCE = evidence()


def compose(draft: str, allow: Iterable[str] = ()) -> Report:
    return report.compose(draft, EVIDENCE, allow)


def cell(row: int, column: str, artifact: str = SALES, query: str = "sales") -> dict[str, Any]:
    return {"kind": "cell", "query": query, "row": row, "column": column, "artifact": artifact}


def bare(number: str) -> str:
    number = number.replace("\u200b", r"\u200b")
    return f"the number {number} is cited by no marker"


def beside(words: str) -> str:
    return f'"{words.strip()}" beside a citation makes another number of it'


OTHER = "another citation beside a citation makes another number of it"


def name(name: str, closest: str = "") -> str:
    return f"{name} may be a fabricated name; {closest and 'the closest are ' or 'nothing comes close'}{closest}"


class Marked:
    """A draft that was written with « and » around what is wrong in it."""

    def __init__(self, text: str) -> None:
        parts = re.split("[«»]", text)
        self.draft = "".join(parts)
        self.spans = []
        at = 0
        for index, part in enumerate(parts):
            if index % 2:
                self.spans.append((at, at + len(part), part))
            at += len(part)
        self.with_marks = text.replace("«", "").replace("»", MARK)


class Rendering(unittest.TestCase):
    maxDiff = None

    def check(self, *rows: tuple[str, str]) -> None:
        for draft, text in rows:
            with self.subTest(draft):
                found = compose(draft)
                self.assertEqual((found.text, found.violations), (text, []))

    def test_metrics_and_conversions(self) -> None:
        self.check(
            ("[[m:gmv]]", "1,234,567.0元"),
            ("[[m:gmv|万]]", "123.5万元"),
            ("[[m:gmv|亿|.2]]", "0.01亿元"),
            ("[[m:gmv|.2|亿]]", "0.01亿元"),
            ("[[m:gmv|int]]", "1,234,567元"),
            ("[[m:gmv|.0]]", "1,234,567元"),
            ("[[m:gmv|万|int]]", "123万元"),
            ("[[m:cost]]", "$12,345.67"),
            ("[[m:cost|k]]", "$12.35k"),
            ("[[m:cost|M]]", "$0.01M"),
            ("[[m:cost|bn|.5]]", "$0.00001bn"),
            ("[[m:loss]]", "-1,234,567元"),
            ("[[m:loss|万|.1]]", "-123.5万元"),
            ("[[m:rate]]", "50.0%"),
            ("[[m:rate|int]]", "50%"),
            ("[[m:rate|pct]]", "50.0%"),
            ("[[m:ratio]]", "0.50"),
            ("[[m:ratio|pct]]", "50.00%"),
            ("[[m:ratio|pct|.1]]", "50.0%"),
            ("[[m:ratio|int]]", "1"),
            ("[[m:tiny|.3]] [[m:even|.1]]", "-0.001 0.1"),
            ("[[m:even]] [[m:even|.3]]", "0.13 0.125"),
            ("[[m:pct]] [[m:pct|.2]]", "8.7% 8.70%"),
            ("[[m:drop]]", "-8.7%"),
            ("[[m:orders]]", "1,250 orders"),
            ("[[m:orders|k|.2]]", "1.25k orders"),
            ("[[m:big]]", "123,456,789,012"),
            ("[[m:big|bn]]", "123bn"),
            ("[[m:code]]", "20260"),
            ("[[m:tiny]]", "0.0"),
            ("[[m:boxes]]", "7"),
            ("[[m:paid]]", "-$5"),
            ("- [[m:paid]]", "- -$5"),
            ("[[m:drop]] x", "-8.7% x"),
            ("[[m:wan]] [[m:wan|.2]] [[m:wan|int]]", "12,345.0万元 12,345.00万元 12,345万元"),
            ("[[[m:gmv]]](u) ![[[i:shops]]](u)", "[1,234,567.0元](u) ![12](u)"),
        )

    def test_a_repeated_unit_is_dropped(self) -> None:
        self.check(
            ("[[m:gmv]]元。", "1,234,567.0元。"),
            ("[[m:gmv]] 元。", "1,234,567.0元。"),
            ("[[m:gmv]]\u00a0元。", "1,234,567.0元。"),
            ("[[m:gmv]]\n元。", "1,234,567.0元。"),
            ("[[m:gmv]] \n  元。", "1,234,567.0元。"),
            ("[[m:gmv]]\n\n元。", "1,234,567.0元\n\n元。"),
            ("[[m:gmv]]人民币。", "1,234,567.0元。"),
            ("[[m:gmv]] RMB, [[m:gmv]] Yuan, [[m:gmv]] cny", "1,234,567.0元, 1,234,567.0元, 1,234,567.0元"),
            ("[[m:gmv]]块钱 [[m:gmv]]¥", "1,234,567.0元 1,234,567.0元"),
            ("[[m:gmv]] rmbs [[m:gmv]] yuans", "1,234,567.0元 rmbs 1,234,567.0元 yuans"),
            ("[[m:gmv]]元元", "1,234,567.0元元"),
            ("[[m:gmv|万]]万元。", "123.5万元。"),
            ("[[m:gmv|万]]元。", "123.5万元。"),
            ("[[m:orders]] orders", "1,250 orders"),
            ("[[m:orders]]\norders came", "1,250 orders came"),
            ("[[m:orders]] Orders.", "1,250 orders."),
            ("[[m:orders]] orders2", "1,250 orders orders2"),
            ("[[m:orders]] ordersx", "1,250 orders ordersx"),
            ("[[m:orders]]\n \norders", "1,250 orders\n \norders"),
            ("[[m:orders]] new orders", "1,250 orders new orders"),
            ("[[m:rate]]%.", "50.0%."),
            ("[[m:rate]] ％.", "50.0%."),
            ("[[m:rate]] percent.", "50.0%."),
            ("[[m:rate]] per cent.", "50.0%."),
            ("[[m:ratio|pct]]%.", "50.00%."),
            ("[[m:pct]]% of", "8.7% of"),
            ("[[m:pct]] percentage points", "8.7%"),
            ("＄[[m:cost]], ＵＳＤ [[m:cost]], Us$ [[m:cost]]", "$12,345.67, $12,345.67, $12,345.67"),
            ("￥[[m:gmv]], 人民幣[[m:gmv]]", "1,234,567.0元, 1,234,567.0元"),
            ("[[m:cost]]$ is", "$12,345.67 is"),
            ("[[m:cost]] $, so", "$12,345.67, so"),
            ("it was $[[m:cost]].", "it was $12,345.67."),
            ("it was US$[[m:cost|k]].", "it was $12.35k."),
            ("[[m:cost]] dollars, [[m:cost]] USD, [[m:cost]] us dollars", "$12,345.67, $12,345.67, $12,345.67"),
            ("[[m:cost]]美元 [[m:cost|k]] US$ is", "$12,345.67 $12.35k is"),
            ("it was [[m:cost]] dollarsx", "it was $12,345.67 dollarsx"),
            ("[[m:ratio]] of", "0.50 of"),
            ("**[[m:gmv]]**元。", "**1,234,567.0元**。"),
            ("[[[m:gmv]]](u)元, _[[m:orders]]_ orders", "[1,234,567.0元](u), _1,250 orders_"),
            ("**[[m:gmv]]** so **[[m:ratio]]** of", "**1,234,567.0元** so **0.50** of"),
            ("¥[[m:gmv]], RMB [[m:gmv]], CNY[[m:gmv]]; 人民币[[m:gmv]]", "1,234,567.0元, 1,234,567.0元, 1,234,567.0元; 1,234,567.0元"),
            ("$ [[m:cost]], USD [[m:cost]], US$ [[m:cost]]", "$12,345.67, $12,345.67, $12,345.67"),
            ("增长百分之[[m:pct]]", "增长8.7%"),
            ("[[m:gmv|万]]万元 [[m:gmv|万]]万人民币", "123.5万元 123.5万元"),
            ("[[m:cost|万]]万美元", "$1.23万"),
            ("[[m:cost|M]] million, [[m:cost|k]]K, [[m:big|bn]] billion", "$0.01M, $12.35k, 123bn"),
            ("[[m:cost|M]] million dollars", "$0.01M"),
            ("[[m:gmv]]（元） [[m:gmv]](RMB) [[m:gmv]] (new)", "1,234,567.0元 1,234,567.0元 1,234,567.0元 (new)"),
            ("[[m:gmv]]元旦 [[m:gmv]]元。", "1,234,567.0元元旦 1,234,567.0元。"),
            ("the [[m:orders]]-orders day", "the 1,250 orders day"),
            ("[[m:speed]]倍 [[m:speed]] times [[m:speed]]-fold [[m:speed]]x", "1.5 x 1.5 x 1.5 x 1.5 x"),
            ("[[m:ratio]]倍 [[m:ratio]]x [[m:ratio]] times [[m:ratio]]×", "0.50倍 0.50x 0.50 times 0.50×"),
            ("[[i:shops]] shops", "12 shops"),
        )

    def test_inputs_cells_names_and_quotes(self) -> None:
        self.check(
            ("[[i:week]], [[i:shops]], [[i:odd]]", r"W37, 12, a\*b\|c"),
            ("[[v:Q1.r0.amount]] [[v:sales.r0.amount]] [[v:Q1.r2.amount]]", "1,234,567 1,234,567 -1,200"),
            ("[[v:Q1.r0.rate]] [[v:Q1.r1.rate]] [[v:Q1.r2.rate]]", "0.5 -2.5 1,000"),
            ("[[v:Q1.r0.region]] [[v:Q1.r2.region]]", "North W-10"),
            ("[[v:Q1.r0.note]]", r"a\|b \*c\*"),
            ("[[v:Q1.r1.note]]", r"&lt;i&gt;x&lt;/i&gt; &amp;amp; \`y\`"),
            ("[[v:Q1.r2.note]]", r"two lines \[z\](u) \_q\_ \#1 \~ \\"),
            ("[[t:orders]] [[t:REGIONS]] [[t:other]]", "`orders` `REGIONS` `other`"),
            ("[[c:orders.week]] [[c:week]] [[c:amt]] [[c:o.amount]] [[c:sales.rate]] [[c:Q1.note]]",
             "`orders.week` `week` `amt` `o.amount` `sales.rate` `Q1.note`"),
            ("`orders` `ORDERS` ``week`` ` week ` `Q3` `lost` `gmv` `shops` `amount`",
             "`orders` `ORDERS` ``week`` ` week ` `Q3` `lost` `gmv` `shops` `amount`"),
            ("[[q:K1|They will not.]]", "“They will not.”"),
            ("[[q:K1|grow by 12.5 percent, or]]", "“grow by 12.5 percent, or”"),
            ("[[q:K1|12.5  percent]]", "“12.5 percent”"),
            ("[[q:K1|may grow]] [[q:K1|or 1,234 orders. They]]", "“may grow” “or 1,234 orders. They”"),
            ("[[q:K2|shops, *twenty* closed;]]", r"“shops, \*twenty\* closed;”"),
            ('so "[[q:K1|They will]]", and', "so “They will”, and"),
            ("so “[[q:K1|They will]]”, and", "so “They will”, and"),
            ("so '[[q:K1|They will]]'", "so '“They will”'"),
            ('so "yes [[q:K1|They will]] yes"', 'so "yes “They will” yes"'),
        )  # fmt: skip

    def test_quotation_marks_around_a_quote_are_its_own(self) -> None:
        self.check(
            ("“[[q:K1|They will]]”", "“They will”"),
            ('so, "[[q:K1|They will]]," but', "so, “They will”, but"),
            ("「[[q:K1|They will]]」和『[[q:K1|They will]]。』", "“They will”和“They will”。"),
            ('**"[[q:K1|They will]]"**', "**“They will”**"),
            ('"[[q:K1|They will]] grow"', '"“They will” grow"'),
            ("[[q:K1|They will]]” so", "“They will”” so"),
            ('"[[q:K1|They]]" "[[q:K1|will]]"', "“They” “will”"),
        )

    def test_the_sign_of_what_fell_is_dropped(self) -> None:
        self.check(
            ("It fell by [[m:drop]].", "It fell by 8.7%."),
            ("环比下降[[m:drop]]，减少[[m:loss|万]]。", "环比下降8.7%，减少-123万元。"),
            ("It lost [[m:paid]], a drop of **[[m:drop]]**.", "It lost -$5, a drop of **-8.7%**."),
            ("It declined about **[[m:drop]]**.", "It declined about **8.7%**."),
            ("Profit fell and stood at [[m:paid]].", "Profit fell and stood at -$5."),
            ("Net profit fell by [[m:drop]] and was [[m:paid]].", "Net profit fell by 8.7% and was -$5."),
            ("When costs fell profit was [[m:paid]]", "When costs fell profit was -$5"),
            ("It decreased from [[m:drop]] to [[m:pct]].", "It decreased from -8.7% to 8.7%."),
            ("Growth fell below [[m:drop]].", "Growth fell below -8.7%."),
            ("Sales recovered from the drop by [[m:drop]].", "Sales recovered from the drop by -8.7%."),
            ("Never did sales fall [[m:drop]]", "Never did sales fall -8.7%"),
            ("增速下降为[[m:drop]]，从[[m:drop]]降至[[m:drop]]", "增速下降为-8.7%，从-8.7%降至-8.7%"),
            ("成本下降带来利润[[m:drop]]", "成本下降带来利润-8.7%"),
            ("It fell to [[m:drop]].", "It fell to -8.7%."),
            ("降至[[m:drop]]", "降至-8.7%"),
            ("It was [[m:drop]]. Then it fell.", "It was -8.7%. Then it fell."),
            ("It did not fall [[m:drop]], not [[m:loss]]", "It did not fall -8.7%, not -1,234,567元"),
        )

    def test_tables_beside_text(self) -> None:
        table = "| region |\n| --- |\n| North |"
        marker = "[[table:Q1 cols=region rows=0]]"
        quoted = table.replace("\n", "\n> ")
        self.check(
            (f"a\n{marker}\nb", f"a\n\n{table}\n\nb"),
            (f"a\n\n{marker}\n\nb", f"a\n\n{table}\n\nb"),
            (f"- a\n  {marker}\n- b", "- a\n  \n  " + table.replace("\n", "\n  ") + "\n\n- b"),
            (f"> a\n> {marker}\n> b", f"> a\n> \n> {quoted}\n>\n> b"),
            (f"> {marker}\nb", f"> {quoted}\n\nb"),
            (f"{marker}\n", f"{table}\n"),
            ("[[table:Q1 cols=region, note rows=1]]", compose("[[table:Q1 cols=region,note rows=1]]").text),
        )

    def test_the_basis_is_not_shown(self) -> None:
        self.check(
            ("They rose [[see:m:gmv,Q1,K1]].", "They rose."),
            ("They rose[[see:v:Q1.r0.amount, i:week]].", "They rose."),
            ("They rose  [[see:sales]].", "They rose."),
            ("They rose\n[[see:Q2]].", "They rose."),
            ("They rose.\n\n[[see:Q2]]", "They rose.\n\n"),
            ("[[m:rate]] [[see:Q1]] [[m:rate]]", "50.0% 50.0%"),
        )

    def test_tables(self) -> None:
        north = r"| North | 1,234,567 | 0.5 | a\|b \*c\* |"
        south = r"| South | — | -2.5 | &lt;i&gt;x&lt;/i&gt; &amp;amp; \`y\` |"
        west = r"| W-10 | -1,200 | 1,000 | two lines \[z\](u) \_q\_ \#1 \~ \\ |"
        head = "| region | amount | rate | note |\n| --- | --- | --- | --- |\n"
        self.check(
            ("a\n\n[[table:Q1]]\n\nb", f"a\n\n{head}{north}\n{south}\n{west}\n\nb"),
            ("[[table:sales rows=1]]", f"{head}{south}"),
            ("[[table:Q1 rows=1-2]]", f"{head}{south}\n{west}"),
            ("[[table:Q1 cols=amount,region rows=1-2]]",
             "| amount | region |\n| --- | --- |\n| — | South |\n| -1,200 | W-10 |"),
            ("[[table:none]]", "| a\\|b | x |\n| --- | --- |"),
            ("| a | b |\n| --- | --- |\n| [[m:gmv\\|万]] | [[q:K1\\|They will]] |",
             "| a | b |\n| --- | --- |\n| 123.5万元 | “They will” |"),
        )  # fmt: skip
        draft = "[[table:Q1 cols=region,amount rows=0-1]]"
        found = compose(draft)
        self.assertEqual(
            [(found.text[one.start : one.end], one.about) for one in found.citations if one.about],
            [
                ("region", {"kind": "name", "name": "region"}),
                ("amount", {"kind": "name", "name": "amount"}),
                ("North", cell(0, "region")),
                ("1,234,567", cell(0, "amount")),
                ("South", cell(1, "region")),
                ("—", cell(1, "amount")),
            ],
        )

    def test_text_without_numbers_stays_as_it_is(self) -> None:
        for text in (
            "",
            "No number here.\r\n\n\ttabs\n",
            "~~~ sql\nSELECT week, sum(amount) AS nix FROM orders GROUP BY nix\n~~~",
            "```\non 2026-08-01, select week",
            "1. One of them\n2) Second\n\n## 2.3 Heading\n\nSee Table 2, note[^1].\n\n[^1]: None.",
            "On 2026-08-01, in 2026, week 37 of FY2026, Q3, at 12:30, the 2nd, No. 5, v2, Top 10.",
            "在2026年第三季度，十分重要，统一。",
            "[the page](/5/6) and https://example.org/5 &amp; <b>bold</b> &nbsp; <br/> \\* AT&T &unknown;",
            "<!-- nothing -->",
            "| a | b |\n|---|:--:|\n| c | d |",
        ):
            with self.subTest(text):
                found = compose(text)
                self.assertEqual((found.text, found.violations, found.citations, found.numbers), (text, [], [], []))


class Violations(unittest.TestCase):
    maxDiff = None

    def check(self, marked: str, kind: str, messages: Sequence[str], text: str | None = None) -> None:
        """That what stands between « and » is wrong, nothing else is, and the text has its marks."""
        with self.subTest(marked):
            expected = Marked(marked)
            found = compose(expected.draft)
            rows = [Violation(kind, *span, said) for span, said in zip(expected.spans, messages)]
            self.assertEqual(found.violations, rows)
            self.assertEqual(len(expected.spans), len(messages))
            self.assertEqual(found.text, expected.with_marks if text is None else text)

    def test_bare_numbers_wherever_they_stand(self) -> None:
        for marked in (
            "«5»",
            "# Up «5» points",
            "Up «5» points\n---",
            "- «5» shops",
            "1. «5» shops and «2»",
            "> «5» shops",
            "| a | «5» |",
            "| a |\n| --- |\n| «5» |",
            "[«5» shops](u)",
            "[«5»](u)",
            "![«12» shops](u)",
            '[x](u "«13» shops")',
            '[x]: /u "«13» shops"',
            "<b>«5»</b>",
            '<b title="«5» shops">x</b>',
            "<img width=«50»>",
            "<td\nwidth='«50»'>",
            "<!-- «5» --> <!--\n«6»",
            "```\n«12» and week\n```\n",
            "~~~ sql\n«5»\n~~~",
            "> ```\n> «2»\n> ```",
            "```«5»\nweek",
            "note[^1]\n\n[^1]: see «5»",
            "it was **«5»** and *«6 million»*",
            "«1&nbsp;000» «1&#44;000»",
            "«1<b>2» «1<!-- x -->2» «twen<b>ty»</b>",
            "«1\\,000» or «1»\\«2»",
            "    «12»",
            "«５», «оne hundred», «twеnty», «1\u200b2», «tw\u200benty», «٣٤», «½», «五»家, «百分之三十»",
            "«5», in 2026, «12» shops, «-3», «two», «a dozen», «8.7%», «half»",
        ):
            self.check(marked, "bare_number", [bare(part) for _, _, part in Marked(marked).spans])

    def test_bare_numbers_in_code_spans(self) -> None:
        for marked in (
            "`«5»`",
            "``«5»``",
            "`«12%»`",
            "`SELECT «5»`",
            "`week = «1e5»` `/«7»/` `«5» orders`",
            "`«&#53;»`",
            "`«5`0»",
            "`week`«5» «5»`week`",
        ):
            self.check(marked, "bare_number", [bare(part) for _, _, part in Marked(marked).spans])
        for draft in "`week 5`", "`amount = 'week 37'`", "```\nweek 37, order by 2nd\n```":
            with self.subTest(draft):
                self.assertEqual(compose(draft).violations, [])

    def test_numbers_in_the_views_of_a_text(self) -> None:
        for marked in (
            "«1<b>2»</b> «1</b>2» «1<b>2</b>3»",
            "«1»<br>«2» «five»<br>«hundred» «5»<BR/>«million» «1»<td>«2»</td>«3»<div\n>«4»</h2>«5»<p>«6»<li>«7»",
            "«1<brx>2» «1<span>2» «five<i>hundred» «5<i>million»",
            "«tw<b>en</b>ty», «tw**en**ty», «5*0»",
            "**«5»** *«5»* ~~«5»~~",
            "«5<b x=y>0» «5</b >0»",
            "<i title='«&#53;»'>x</i> <i title=\"«&#x35»\">x</i>",
            "<i title='«fi&#118;e»'>x</i> <i title='«1\u200b2»'>x</i>",
            "<!-- «&#53;» --> </b «5»>",
            "<a href='/«5»'>x</a>",
            "«&#53;» «&#53» «&#x35;» «&#X35» «&#1633;»",
            "«&#53;0» «5&#48;» «5&#48» «&#49;&#50;»",
            "«&half;» «&frac12;» «&frac12»",
            "«&#53;%» «&#53;&#37;» «&#53&#37»",
            "«1&comma;000» «1&#44;000» «1&nbsp000»",
            "«fi&#118;e» «fi&#118e» &nosuch;«5»",
            "\\«5» «1\\,000»",
            "< b>«5» a<«5» b <«5»>",
        ):
            self.check(marked, "bare_number", [bare(part) for _, _, part in Marked(marked).spans])
        for draft in "&amp;#53; &#38;#53;", '<a href="https://x.org/5">x</a>', "<h2>x</h2>", "<b>in 2026</b>", "A&T;":
            with self.subTest(draft):
                self.assertEqual(compose(draft).violations, [])

    def test_footnote_marks_that_lead_nowhere(self) -> None:
        for marked in (
            "[«42»] and [^«42»]",
            "[«1», «2»] [«1»,«2»] [«1»-«2»] [«1»–«2»]",
            "[«42»](u) [«42»][x] [x][«42»]",
            "[ «42» ] a[«1»]b [«1.5»] [«5%»] [«2026»] [^«2026»]",
            "[«1», «2»]\n\n[«1», «2»]: x",
            "a[«42»]\n\n[«42»]: /u",
            "> [«42»]: x\n\n[«42»]",
            "[x][«52»]\n\n[«52»]: http://x.org",
            "[«123»] [^123]\n\n[«123»]: x\n[^123]: x",
            "[^«42»]\n\n```\n[^«42»]: 'x'\n```",
            "[^«five»] [^note] [^x «5»] [Q3]",
            "[«42»]\n\n[^42]: x",
            "[^«42»]\n\n[«42»]: x",
            "[^42] [^«43»]\n\n[^42]: x",
            "x [«42»]: y",
            "[^42]: «5»",
            "```\n[«42»]\n```",
            "[[m:gmv]][«1»]",
        ):
            expected = Marked(marked)
            text = expected.with_marks.replace("[[m:gmv]]", "1,234,567.0元")
            self.check(marked, "bare_number", [bare(part) for _, _, part in expected.spans], text)
        for draft in (
            "[^note] [x] [] [ ]",
            "a[^42] b[^42]\n\n[^42]: x",
            "> [^42]: x\n\n[^42]",
            "  [^42]: x\n[^42]",
            "[[i:shops]][^1]\n\n[^1]: x",
        ):
            with self.subTest(draft):
                self.assertEqual(compose(draft).violations, [])

    def test_hidden_characters(self) -> None:
        for char in "\0\x01\x07\x08\x0b\x0c\x0e\x1b\x1f\x7f\x80\x85\x9b\x9f\u202a\u202e\u2066\u2069":
            said = f"the character {char!a} does not show"
            for around in (
                "a«{}»b",
                "«{}»",
                "```\n«{}»\n```",
                "<i t='«{}»'>",
                "«{}»«{}»",
                "[[i:shops]]«{}» x",
                "«{}»[[i:shops]]",
            ):
                marked = around.replace("{}", char)
                text = Marked(marked).with_marks.replace("[[i:shops]]", "12")
                self.check(marked, "hidden_character", [said] * marked.count("«"), text)
        for entity, around in (("&#8238;", "a«{}»b"), ("&#x202E;", "«{}»«{}»"), ("&#x2066", "[x «{}»](u)")):
            marked = around.replace("{}", entity)
            self.check(marked, "hidden_character", [f"the character {entity!a} does not show"] * marked.count("«"))
        for char in "\t\n\r \x20\xa0\xa1\xad\u200b\u200e\u2029\u202f\u2065\u206a\ufeff":
            with self.subTest(char=ascii(char)):
                self.assertEqual(compose(f"a{char}b").violations, [])
        self.assertEqual([one.kind for one in compose("[[v:Q1.r0.re\x07gion]]").violations], ["unresolved"])

    def test_code_spans(self) -> None:
        hides = "holds a character that does not show"
        for marked, message in (
            ("«`nix`»", name("nix")),
            ("«`other.orders`»", name("other.orders", "orders")),
            ("«`main.nix`»", name("main.nix")),
            ("«`a.b.c.d.e`»", name("a", "as")),
            ("«`nix(week)`» «`nix(5)`»", name("nix")),
            ("«`SELECT week AS w, nix`»", name("nix")),
            ("«`SELECT nix FROM orders`»", name("nix")),
            ("«`sum(nix)`»", name("nix")),
            ('«`x = nix`» «`x + "nix"`» «`[nix]`» «`:nix`» «`@nix`» «`$nix`»', name("nix")),
            ("«``week or `nix` ``»", name("nix")),
            ("«`销售`» «`x 销售`»", name("销售")),
            ("«`\u043erders`»", name("\u043erders", "orders")),
            ("«`or\u200bders`» «`orders\u200b`» «`\u200borders`» «`\u200b`» «`ord\u00aders`»", hides),
            ("«`orders \u200b week`» «`\u202eorders`» «`orders\x07`» «`x = \ufeff1`»", hides),
            ("«`/* */`» «`week -- x`» «`--`» «`SELECT week /* orders */`»", "holds a comment, which nothing checks"),
            ("«``orders\u2060``» «` \u00ad `»", hides),
        ):
            self.check(marked, "unknown_name", [message] * marked.count("«"))
        for draft in (
            "`orders` `ORDERS` `main.orders` `temp.orders` `Main.Orders` `main.orders.week` `orders.week`",
            "`SELECT week FROM orders` `select week from orders` `SELECT r.region FROM regions r`",
            '`count(*)` `upper(week)` `sum(amount) OVER ()` `"week"` `[week]` `:week` `@week` `$week`',
            "`+ - *` `-` `` ` `` ` ` `{week}` `orders!` `week\nweek` `'any text'` `#week` `\\`",
        ):
            with self.subTest(draft):
                found = compose(draft)
                self.assertEqual((found.text, found.violations), (draft, []))

    BEFORE = (
        "«1»", "«12»", "«1.»", "x «5:»", "«3/»", "«5'»", "«5»_", "«5,»", "«.»", "a «.»", "«¹»", "«①»", "«４»", "«十»", "«百»", "«千»", "«万»",
        "«萬»", "«亿»", "«兆»", "«两»", "«廿»", "«卅»", "«百分之»", "«千分之»", "«万分之»", "«-»", "a «-»", "«─»", "«−»", "«⁻»", "«minus» ",
        "«minus»", "«Minus»\n", "x «negative» ", "«负»", "«負»", "«−€» ", "«负₩»", "«minus £»", "«-C$»",
        "«1e»", "x «2.5e»", "«1e-»", "«O»", "«l»", "x «I»", "«三分之»", "«百分之» ", "«负» ", "«负约»", "«minus:» ", "«minus about» ", "«minus roughly»\n",
        "«√»", "«√» ", "the «square root of» ", "sales «(in millions):» ", "«(k)» ", "销售额«（万）：»",
    )  # fmt: skip
    AFTER = (
        "«1»", "«12»", "«４»", "«.5»", "«,000»", "«:30»", "«/2»", "«'5»", "_«5»", "*«5»", " «000»", " «007»", " «00»", " «123»", "«²»", "«个亿»", "«w»", " «E6»", "«-odd»", "«多»家", " «余»家",
        "«①»", "«o»", "«oo»", "«k»", "«K»", " «k»", "\n«k»", " «m»", " «b»", " «bn»", " «mn»", " «mm»", " «kk»", " «thousand»", " «million»",
        " «Million»", "\u3000«million»", " «millions»,", "\n«million»", "    «million»", " «billion»", " «trillion»", " «hundred»",
        " «dozens»", " «lakh»", " «crore»", " «mio»", " «mln»", "«万»", "«萬»", " «万»", "\n«万»", "«亿»", " «亿»", "«千»", "«百»", "«〇»", "«零»",
        "«兆»", "«多万»", "«几百»", "«余»", "«余»元", "«分之»一", "«点五»", "«点五»元", "«半»", "«个半»", "«e5»", "«e-3»",
        "«x100»", "«×100»", " «× 100»", " «thirds»", " «quarters»", " «tenths»", "«十»", "«T»", " «T»", " «bln»", " «thou»", " «grand»",
        " «myriad»", " «Tsd»", "«京»", " «squared»", " «cubed»", " «factorial»", "«^»", "«O»", "«l»", "«I»", " «(in millions»)", "«（万»）",
        "«（单位：万»）", " «(k»)",
    )  # fmt: skip
    FREE = (  # what may stand before and after any citation
        ("x", ""), ("- ", ""), ("a - ", ""), ("(", ")"), ("( ", ""), ("~", ""), ("# ", ""), ("1. ", ""), ("xminus ", ""), ("nonnegative ", ""),
        ("+", ""), ("±", ""), ("a + ", ""), ("自负", ""), ("第", ""), ("x5:", ""), ("x.", ""), ("中.", ""), ("", " kg"), ("", "kg"), ("", "or"),
        ("", "thx"), ("", " th"), ("", "th"), ("", " grand total"), ("", " T-shirts"), ("", "京东"), ("", " (men)"), ("", " men"), ("", "; k"), ("", "。万"), ("", ", k"), ("", "！"), ("hello ", ""), ("about ", ""), ("me", ""), ("x: ", ""), ("", " bits"),
        ("", "万达"), ("", "千万不要"), ("", "百货"), ("", "千克"), ("", "一共"), ("", "一起"), ("", "十分"), ("", " - a"), ("", "， 万"),
        ("", "，000"), ("", "半年"), ("", "成为"), ("", "折扣"), ("", "foldx"), ("", " k/a"), ("", "\n\n万"), ("", "     万"),
    )  # fmt: skip
    BESIDE_BARE = (  # what is so near, but is a number of its own
        "中«5»:", "«三»", "«123»:", "«123»/", "«5» ", "«5»\n",
    )  # fmt: skip
    BARE_BESIDE = ("«-5»", " «0»", " «12»", " «1234»", "：«30»", "\n\n«million»", "     «million»")
    STATING = (
        "[[i:shops]]", "[[m:gmv]]", "[[m:gmv|万]]", "[[m:cost]]", "[[m:rate]]", "[[m:ratio]]", "[[m:orders]]", "[[m:drop]]",
        "[[v:Q1.r0.amount]]", "[[v:Q1.r1.rate]]", "[[q:K2|Of 2,000]]",
    )  # fmt: skip
    SILENT = (  # which state no number, or more than one, or do not end with it
        "[[v:Q1.r0.region]]", "[[v:Q1.r2.region]]", "[[i:week]]", "[[q:K1|They will]]", "[[q:K1|by 12.5 percent]]",
        "[[q:K1|grow by 12.5 percent, or 1,234]]",
    )  # fmt: skip

    def check_beside(self, marked: str, marker: str, messages: Sequence[str]) -> None:
        """That a citation stands with its marks and what is wrong beside it."""
        text = Marked(marked).with_marks.replace(marker, compose(marker).text)
        self.check(marked, "bare_number", messages, text)

    def check_free(self, *drafts: str) -> None:
        for draft in drafts:
            with self.subTest(draft):
                self.assertEqual(compose(draft).violations, [])

    REPEATED_SCALE = ("«万»", " «万»", "\n«万»", "«（万»）")
    WITH_UNIT = ("[[m:gmv]]", "[[m:drop]]", "[[m:gmv|万]]", "[[m:rate]]", "[[m:pct]]", "[[m:orders]]", "[[m:ratio|pct]]")

    def test_what_makes_another_number_of_a_citation(self) -> None:
        for marker in self.STATING:
            for part in self.BEFORE:
                if part.startswith("«百分之") and compose(marker).text.endswith("%"):
                    self.check_free(f"百分之{marker}")  # which is dropped
                else:
                    self.check_beside(part + marker, marker, [beside(Marked(part).spans[0][2])])
            for part in self.AFTER:
                if marker == "[[m:gmv|万]]" and part in self.REPEATED_SCALE:
                    self.check_free(Marked(marker + part).draft)  # which is dropped
                elif part == "«²»" and marker in self.WITH_UNIT:
                    self.check_free(Marked(marker + part).draft)  # the mark of a footnote
                else:
                    self.check_beside(marker + part, marker, [beside(Marked(part).spans[0][2])])
        for marked, text in (
            ("«-»$[[m:cost]]", f"-{MARK}$12,345.67"),
            ("«minus» US$[[m:cost]]", f"minus{MARK} $12,345.67"),
            ("«C$»[[m:cost]]", f"C${MARK}$12,345.67"),
        ):
            self.check(marked, "bare_number", [beside(Marked(marked).spans[0][2])], text)

    def test_an_accountants_negative(self) -> None:
        for marker in self.STATING:
            for before, after in (
                ("«$(»", ")"), ("«€ (»", ") rest"), ("«£(»", " )"), ("«￥(»", ")"), ("a «|(»", ")|"), ("«| (»", ") |"),
                ("<td>«(»", ")</td>"), ("a|b\n-|-\n«(»", ")|x"),
            ):  # fmt: skip
                found = compose(Marked(before + marker + after).draft)
                kinds = [(one.kind, "(" in one.text) for one in found.violations]
                self.assertEqual(kinds, [("bare_number", True)], (before, marker, after))
            self.check_free(f"({marker})", f"a ({marker}) b", f"| ({marker} of all) |", f"$({marker}", f"\n({marker} more)")

    def test_what_stands_beside_a_citation_and_changes_nothing(self) -> None:
        for marker in self.STATING + self.SILENT:
            self.check_free(*(before + marker + after for before, after in self.FREE))
            for part in self.BESIDE_BARE:
                self.check_beside(part + marker, marker, [bare(Marked(part).spans[0][2])])
            for part in self.BARE_BESIDE:
                self.check_beside(marker + part, marker, [bare(Marked(part).spans[0][2])])
        names = "[[t:orders]]", "[[c:week]]", "`orders`", "[[see:Q1]]"
        for marker in self.SILENT + names:
            self.check_free(*(part + marker for part in ("-", "minus ", "$", "€(", "负", ".", "¹", "百分之")))
            self.check_free(*(marker + part for part in ("万", "²", "余", "-fold", ",000")))
        for marker in (*self.SILENT, "[[see:Q1]]"):
            self.check_free(*(marker + part for part in ("st", "k", "e5")))
            for marked in f"«5»{marker}", f"{marker}«5»":
                self.check_beside(marked, marker, [bare("5")])
        for marker in names:
            self.check_free(*(marker + part for part in ("%", "元", " bps", "倍", "[[i:shops]]", "[[m:gmv]]")))

    def test_what_contradicts_the_unit_of_a_citation(self) -> None:
        yuan = ("¥", "元", "人民币", "rmb ", "cny ", "yuan ")
        dollars = ("$", "$ ", "us$", "usd ", "美元", "美元 ", "dollars ")
        others = ("€", "€ ", "£", "eur ", "欧元", "euros ", "日元")
        percent = ("%", " %", " percent", " per cent", "pp", "个百分点", " 个百分点", "\n%")
        factors = ("‰", " bps", " basis points", "折", "成")
        multiples = ("倍", " 倍", "-fold", "fold")
        money = yuan + dollars + others
        for marker, before, after in (
            ("[[m:gmv]]", dollars + others, percent + factors + multiples),
            ("[[m:gmv|万]]", dollars + others, percent + factors + multiples),
            ("[[m:cost]]", yuan + others, percent + factors + multiples),
            ("[[m:orders]]", money, percent + factors + multiples),
            ("[[m:rate]]", money, factors + multiples),
            ("[[m:pct]]", money, factors + multiples),
            ("[[m:ratio|pct]]", money, factors + multiples),
            ("[[m:ratio]]", (), percent + factors),
            ("[[m:code]]", (), percent + factors),
            ("[[q:K2|Of 2,000]]", (), percent + factors),
            ("[[q:K1|They will]]", (), ()),
            ("[[i:shops]]", (), percent + factors),
            ("[[v:Q1.r0.amount]]", (), percent + factors),
            ("[[v:Q1.r0.region]]", (), ()),
        ):  # fmt: skip
            for sign in money:
                words, gap = sign.strip(), sign[len(sign.strip()) :]
                if sign in before:
                    if words.isalpha() and marker in ("[[m:rate]]", "[[m:pct]]", "[[m:ratio|pct]]"):
                        self.check_free(f"x {sign}{marker}")  # such as: the dollar rose by
                    else:
                        self.check_beside(f"x «{words}»{gap}{marker}", marker, [beside(words)])
                    self.check_beside(f"{marker}{gap}«{words}».", marker, [beside(words)])
                else:
                    self.check_free(f"x {sign}{marker}", f"{marker}{gap}{words}.")
            for sign in percent + factors + multiples:
                words, gap = sign.strip(), sign[: -len(sign.strip())]
                if sign in after:
                    self.check_beside(f"{marker}{gap}«{words}».", marker, [beside(words)])
                else:
                    self.check_free(f"{marker}{sign}.")
            self.check_free(f"x xusd {marker}", f"{marker} usdx", f"{marker}ppx", f"{marker} bpsx")

    def test_what_stands_between_a_citation_and_what_is_beside_it(self) -> None:
        other = "another citation beside a citation makes another number of it"
        nothing = (
            "<b>",
            "</b>",
            "<b><i>",
            "<!-- x -->",
            "<span\n>",
            "**",
            "*",
            "`",
            "\u200b",
            "\u200d\u2060",
            "<b>\u200b**",
        )
        ends = ("\n\n", "\n \t\n", "<br>", "<BR/>", "<p\n>", "</td>", "<td>", "<div x='y'>", "</li>", "<h1>", "</p>")
        gaps = (" ", "\n", ", ", "。", "&#32;", " <b>", "<b> ", " **", " \u200b", "<br>\n")
        for marker in "[[i:shops]]", "[[m:gmv]]", "[[v:Q1.r0.amount]]", "[[q:K2|Of 2,000]]":
            for gap in nothing:
                self.check_beside(f"«5»{gap}{marker}", marker, [beside("5")])
                self.check_beside(f"«-»{gap}{marker}", marker, [beside("-")])
                self.check_beside(f"{marker}{gap}«5»", marker, [beside("5")])
                self.check_beside(f"{marker}{gap}«万»", marker, [beside("万")])
                self.check_beside(f"{marker}{gap} «million»", marker, [beside("million")])
                self.check_beside(f"«{marker}»{gap}{marker}", marker, [other])
                self.check_free(f"{marker}{gap}[[i:week]]", f"[[q:K1|They will]]{gap}{marker}")
            for gap in ends:
                self.check_beside(f"x «5»{gap}{marker}", marker, [bare("5")])
                self.check_beside(f"{marker}{gap}«5»", marker, [bare("5")])
                self.check_beside(f"{marker}{gap}«million» x", marker, [bare("million")])
                self.check_free(f"x -{gap}{marker}", f"{marker}{gap}万", f"{marker}{gap}{marker}")
            for gap in gaps:
                self.check_beside(f"«5»{gap}{marker}", marker, [bare("5")])
                self.check_beside(f"{marker}{gap}«5»", marker, [bare("5")])
                self.check_free(marker + gap + marker)
            for gap in ("", "[[see:Q1]]"):
                self.check(f"{marker}{gap}«5»", "bare_number", [beside("5")], f"{compose(marker).text}5{MARK}")
            self.check_beside(f"«{marker}»{marker}", marker, [other])
            for between in ".", ",", ":", "'", "e", "点":
                self.check_beside(f"{marker}«{between}»{marker}", marker, [beside(between)])
                self.check_free(f"{marker}{between} {marker}")
            self.check_free(*(f"{marker}{between}{marker}" for between in ("-", "–", "~", "至", "和", "，", "：")))
            for part in "«&#32;million»", "«&#32million»", "«&emsp;万»", " «<b> million»":
                self.check_beside(f"{marker}{part}", marker, [beside(Marked(part).spans[0][2])])
            for part in "«&#53;»", "«&#x35»", "«&#19975;»", " «m&#105;llio&#110;»", "«5&#48;»":
                self.check_beside(f"{marker}{part}", marker, [beside(Marked(part).spans[0][2])])
        self.check_free("[[i:shops]]和[[m:rate]]", "[[i:shops]] [[i:shops]]", "[[m:gmv]]/[[m:gmv]]", "[[m:rate]]/[[m:rate]]")

    def test_another_currency_around_a_currency(self) -> None:
        for marker, parts in (
            ("[[m:cost]]", ("«HK»{}", "the «A»{}", "«C»{}", "«NT»{}", "«R»{}", "«S»{}", "«AU»{}", "{} «(AUD»)", "{} «(in AUD»)", "{}«（欧元»）",
                            "{} «cents»", "{}«分».", "«(AUD):» {}", "{} «pence»")),
            ("[[m:gmv]]", ("{} «(AUD»)", "{}«（美元»）", "{} «cents»", "{}«分»。", "{}«角»", "«(AUD)» {}")),
            ("[[m:orders]]", ("{} «(USD»)", "{} «cents»")),
        ):  # fmt: skip
            for part in parts:
                marked = part.format(marker)
                self.check_beside(marked, marker, [beside(Marked(marked).spans[0][2])])
        self.check_free("US[[m:cost]]", "area[[m:cost]]", "[[m:cost]] (USD)", "[[m:gmv]]分别为", "[[m:cost]] centsx", "[[m:cost]] (so)")
        self.check_free("[[i:shops]] cents", "[[m:ratio]] cents", "[[m:gmv]]（元）", "[[m:gmv]]角色", "(dollars) [[m:cost]]")

    def test_a_second_percent_sign(self) -> None:
        for marker, part in (
            ("[[i:shops]]", "«%»"), ("[[i:shops]]", "«%»%"), ("[[v:Q1.r0.amount]]", " «percent»"), ("[[m:ratio]]", "«%»%"),
        ):  # fmt: skip
            self.check_beside(marker + part, marker, [beside(Marked(part).spans[0][2])])
        for marker in "[[m:pct]]", "[[m:rate]]", "[[m:ratio|pct]]":
            self.check(f"{marker}%«%»", "bare_number", [beside("%")], f"{compose(marker).text}%{MARK}")

    def test_two_citations_that_read_as_one_number(self) -> None:
        shops, code = "[[i:shops]]", "[[m:code]]"
        between = (".", "．", "·", "/", "⁄", ":", "'", "\u2003", "\u3000", "\u2009", "&nbsp;")
        for one, other in ((shops, code), (shops, "[[q:K2|2,000 shops]]"), ("[[i:week]]", shops), ("[[v:Q1.r2.region]]", shops)):
            for joint in between:
                found = compose(one + joint + other).violations
                self.assertEqual([(v.kind, v.text) for v in found], [("bare_number", joint)], (one, joint, other))
            for joint in ("", "[](x)", "**", "\u200b", "<b></b>", "[^1]"):
                draft = f"{one}{joint}{other}\n\n[^1]: x"
                said = [Violation("bare_number", 0, len(one), one, OTHER)]
                with self.subTest(draft):
                    self.assertEqual(compose(draft).violations, said)
            self.check_free(*(f"{one}{joint}{other}" for joint in (" ", ", ", "，", "、", " / ", " to ", "-", "\n", " | ", "<br>", "和")))
        for joint in (" ", "，", "\u2003", "<span> </span>", "&#32;"):
            found = compose(f"{shops}{joint}[[m:plain]]").violations
            self.assertEqual([(v.kind, v.text) for v in found], [("bare_number", joint.replace("<span>", "").replace("</span>", ""))], joint)
        self.check_free(f"{shops}, [[m:plain]]", f"{shops}、[[m:plain]]", "[[m:orders]] [[m:plain]]")
        for part in "[^1]«万»", "[^1]«5»", "[](x)«万»", "[«万»](x)", "![«k»](x)", "</b>«万»":
            marked = f"{shops}{part}\n\n[^1]: x"
            self.check_beside(marked, shops, [beside(Marked(part).spans[0][2])])
        self.check_free(f"{shops}[^1]\n\n[^1]: 万", f"{shops}[^1] [万达](x)\n\n[^1]: x", f"[{shops}](x) [so](x)")

    def test_a_citation_with_something_beside_it_stays_traced(self) -> None:
        for draft, numbers in (
            ("1[[m:ratio]]2", [("0.50", "traced")]),
            ("-[[m:gmv]]", [("1,234,567.0", "traced")]),
            ("[[i:shops]] million and 5", [("12", "traced"), ("5", "untraced")]),
            ("[[i:shops]][[i:shops]]", [("12", "traced"), ("12", "traced")]),
            ("1[[i:week]]", [("1", "untraced")]),
            ("5 [[q:K1|by 12.5 percent]]", [("5", "untraced")]),
        ):
            with self.subTest(draft):
                found = compose(draft)
                self.assertEqual([(one.numeral.text, one.status) for one in found.numbers], numbers)
                places = [found.text[one.numeral.start : one.numeral.end] for one in found.numbers]
                self.assertEqual(places, [text for text, _ in numbers])

    def test_malformed_markers(self) -> None:
        opens, ends = "[[ begins no marker: one is written [[kind:what]] on one line", "]] ends no marker"
        for marked, messages in (
            ("«[[m:GMV]]»", ["a metric is cited as [[m:id]] or [[m:id|conversion]]"]),
            ("a «[[x:y]]» b", ["there is no marker x: there are m, i, v, table, t, c, q, see"]),
            ("«[[» m:gmv«]]»", [opens, ends]),
            ("«[[»m:g\nmv«]]»", [opens, ends]),
            ("a «]]» b «[[»", [ends, opens]),
        ):
            self.check(marked, "bad_marker", messages)
        alone = "a table needs a line of its own"
        for marked in ("x «[[table:Q1]]»", "«[[table:Q1]]» x", "a\n> x «[[table:Q1]]»\nb", "| «[[table:Q1]]» |"):
            self.check(marked, "bad_marker", [alone])

    def test_what_does_not_resolve(self) -> None:
        nothing = "; nothing comes close"
        for marked, message in (
            ("«[[m:nix]]»", f"there is no metric nix{nothing}"),
            ("«[[m:gm]]»", "there is no metric gm; the closest are gmv"),
            ("«[[m:rat]]»", "there is no metric rat; the closest are rate, ratio"),
            ("«[[i:weak]]»", "there is no input weak; the closest are week"),
            ("«[[i:gmv]]»", f"there is no input gmv{nothing}"),
            ("«[[v:Q9.r0.a]]»", f"there is no query Q9{nothing}"),
            ("«[[v:sale.r0.a]]»", "there is no query sale; the closest are sales"),
            ("«[[v:Q1.r0.amont]]»", "there is no column of sales amont; the closest are amount"),
            ("«[[v:Q1.r0.amount|万]]»", "a cell takes no conversion: define a metric for it"),
            ("«[[v:Q1.r0.nix|万]]»", f"there is no column of sales nix|万{nothing}"),
            ("«[[v:Q1.r0.Amount]]»", "there is no column of sales Amount; the closest are amount"),
            ("«[[v:Q1.r3.amount]]»", "the result of sales has no row 3, only 3"),
            ("«[[table:Q9]]»", f"there is no query Q9{nothing}"),
            ("«[[table:Q1 rows=0-3]]»", "the result of sales has no row 3, only 3"),
            ("«[[table:none rows=0]]»", "the result of none has no row 0, only 0"),
            ("«[[table:Q1 cols=region,nix]]»", f"there is no column of sales nix{nothing}"),
            ("«[[q:K9|x]]»", f"there is no chunk K9{nothing}"),
            ("«[[see:m:nix]]»", f"there is no metric nix{nothing}"),
            ("«[[see:Q1,K9]]»", f"there is no chunk K9{nothing}"),
            ("«[[see:Q9]]»", f"there is no query Q9{nothing}"),
            ("«[[see:i:nix]]»", f"there is no input nix{nothing}"),
            ("«[[m:rate|万]]»", "rate is a percentage, which has no scale 万"),
            ("«[[m:pct|k]]»", "pct is a percentage, which has no scale k"),
            ("«[[m:gmv|pct]]»", "gmv is in 元: only a ratio becomes a percentage"),
            ("«[[m:pct|pct]]»", "pct is in %: only a ratio becomes a percentage"),
            ("«[[m:gmv|亿]]»", "gmv would show as 0.0亿元, though it is not zero: write [[m:gmv|亿|.2]]"),
            ("«[[m:tiny|int]]»", "tiny would show as 0, though it is not zero: write [[m:tiny|.3]]"),
            ("«[[m:even|.0]]»", "even would show as 0, though it is not zero: write [[m:even|.2]]"),
            ("«[[m:cost|bn]]»", "cost would show as $0.00bn, though it is not zero: write [[m:cost|bn|.5]]"),
            ("«[[m:tiny|bn]]»", "tiny would show as 0.0bn, though it is not zero: write [[m:tiny|bn|.12]]"),
            ("«[[m:wan|k]]»", "wan is in 万元, which has a scale of its own"),
            ("«[[m:wan|万|.1]]»", "wan is in 万元, which has a scale of its own"),
        ):
            self.check(marked, "unresolved", [message])

    def test_missing_values(self) -> None:
        null = "the cell 'amount' in row 1 of sales is null"
        for marked, message in (
            ("«[[m:gone]]»", "the metric gone is missing: the result of sales has no row 9, only 3"),
            ("«[[m:broken]]»", "the metric broken failed: division by zero"),
            ("«[[v:Q1.r1.amount]]»", null),
            ("«[[see:v:Q1.r1.amount]]»", null),
            ("«[[v:Q1.r0.email]]»", "the column 'email' of sales is masked"),
            ("«[[table:Q1 cols=region,email]]»", "the column 'email' of sales is masked"),
            ("«[[v:Q3.r0.broken]]»", "the query lost has no result: refused: broken"),
            ("«[[table:lost]]»", "the query lost has no result: refused: broken"),
            ("«[[see:Q3]]»", "the query lost has no result: refused: broken"),
        ):
            self.check(marked, "missing_value", [message])

    def test_values_of_a_compute_query(self) -> None:
        for marked in ("«[[v:Q2.r0.total]]»", "«[[v:boxed.r0.total]]»", "«[[table:Q2]]»", "«[[see:v:Q2.r0.total]]»"):
            self.check(marked, "computed_value", ["numbers computed in the sandbox go through a caliber card"])
        for draft in ("[[m:boxes]]", "x [[see:Q2]]", "[[c:Q2.total]]"):
            self.assertEqual(compose(draft).violations, [])

    def test_quotes(self) -> None:
        cuts = "cuts into a word or a number of K1"
        for words, message in (
            ("They wil", cuts),
            ("hey will", cuts),
            ("grow by 12", cuts),
            ("grow by 12.5", cuts),
            ("2.5 percent", cuts),
            ("or 1,23", cuts),
            ("234 orders", cuts),
            ("they will not.", "is not word for word in K1; the closest passage is 'They will not.'"),
            ("Sales may not", "is not word for word in K1; the closest passage is 'Sales may grow'"),
        ):
            self.check(f"so «[[q:K1|{words}]]».", "not_verbatim", [message])
        for words in "...", " — ", "\u200b":
            self.check(f"so «[[q:K1|{words}]]».", "bad_marker", ["a quote is written [[q:K1|the words]]"])
        self.assertEqual(compose("[[q:K1|the others]]").violations[0].kind, "not_verbatim")
        self.assertEqual(compose("[[q:K2|the others]]").violations, [])

    def test_only_so_many_quotes_are_compared(self) -> None:
        near = "; the closest passage is 'They will'"
        draft = " ".join(f"[[q:K1|They w{end}]]" for end in ("xll", "xlk", "xlj", "xll"))
        for most, closest in ((3, [near, near, near, near]), (2, [near, near, "", near])):
            with mock.patch.object(citable, "MOST_SEARCHED", most), self.subTest(most):
                said = [one.message for one in report.compose(draft, evidence(), ()).violations]
                self.assertEqual(said, [f"is not word for word in K1{one}" for one in closest])

    def test_a_damaged_snapshot(self) -> None:
        said = "the snapshot of sales does not match its hash"
        drafts = ("[[v:Q1.r0.amount]]", "[[table:Q1]]", "[[see:Q1]]")
        for draft in drafts:
            row = Violation("hash_mismatch", 0, len(draft), draft, said)
            found = report.compose(draft, evidence(damaged=SALES), ())
            self.assertEqual((found.violations, found.text), ([row], draft + MARK))
            self.assertEqual(report.compose(draft, evidence(damaged=BOXED), ()).violations, [])

    def test_a_snapshot_is_looked_at_once(self) -> None:
        seen: list[str] = []
        mine = evidence()
        mine.intact = lambda hash: not seen.append(hash)  # type: ignore[func-returns-value]
        report.compose("[[v:Q1.r0.amount]] [[v:Q1.r0.rate]]\n\n[[table:Q1]]\n\n[[m:gmv]]", mine, ())
        self.assertEqual(seen, [SALES])

    def test_unknown_names(self) -> None:
        for marked, message in (
            ("«`zzzz`»", "zzzz may be a fabricated name; nothing comes close"),
            ("«`ordr`»", "ordr may be a fabricated name; the closest are orders"),
            (
                "«[[c:ordrs.week]]»",
                "ordrs.week may be a fabricated name; the closest are orders.week, orders, orders.region",
            ),
            (
                "«[[c:orders.weak]]»",
                "orders.weak may be a fabricated name; the closest are orders.week, orders, orders.region",
            ),
            ("«[[t:Nix]]» «`Nix`»", "Nix may be a fabricated name; nothing comes close"),
        ):
            self.check(marked, "unknown_name", [message] * marked.count("«"))
        for marked, message in (
            ("«[[t:week]]»", "week is a column, not a table; nothing comes close"),
            ("«[[t:AMOUNT]]»", "AMOUNT is a result column, not a table; the closest are o.amount, Q1.amount"),
            ("«[[c:orders]]»", "orders is a table, not a column; the closest are orders.week, orders.region"),
            ("«[[c:gmv]]»", "gmv is a metric, not a column; nothing comes close"),
            ("«[[t:lost]]»", "lost is a query, not a table; the closest are loss, cost"),
        ):
            self.check(marked, "unknown_name", [message])

    def test_names_in_blocks_of_code(self) -> None:
        code = "a marker in code is not read: write it without backticks, outside of code"
        for marked in (
            "```\nSELECT «nix» FROM orders\n```",
            "~~~ sql\n«nix»(week), week, «nix»\n~~~\n",
            "> ```\n> «nix»\n> ```\n",
            "```\nwhere «nix»",
            "<tt>«nix»</tt> <pre>«nix»</pre> <kbd>«nix»</kbd> <samp>«nix»</samp>", "<code>«nix»</code> <code class='x'>week <b>«nix»</b> &amp;</code> <CODE>«nix»",
        ):
            self.check(marked, "unknown_name", [name("nix")] * marked.count("«"))
        for marked in "«`[[m:gmv]]`»", "```\nweek «[[m:gmv]]»\n```", "«`week = [[m:nix]]`»":
            self.check(marked, "bad_marker", [code])
        self.check_free(
            "```sql\nSELECT r.region, o.amount AS amt FROM regions r JOIN other o;\n```",
            "```nix\nselect week -- so\n```", "<code>orders</code> <code>[[m:gmv]]</code>", "```\n```", "```", "<codex>nix</codex>",
            "`North` `W37` `a|b *c*` `sales` `Q1.r0.amount` `sales.r2.rate`", "<code>North</code>",
        )  # fmt: skip
        for draft in "`nix.r0.amount`", "`Q1.r9.amount`", "`Q1.r0.nix`", "`Nort`", "```\nNort\n```":
            with self.subTest(draft):
                self.assertEqual([one.kind for one in compose(draft).violations], ["unknown_name"])

    def test_names_glued_to_letters(self) -> None:
        for marked, glued in (
            ("«`orders`»_v2", "_v2"),
            ("«`orders`»x", "x"),
            ("«[[t:orders]]»s", "s"),
            ("«[[c:week]]».nix", ".nix"),
            ("x«`orders`»", "x"),
            ("v2_«`orders`»", "v2_"),
            ("nix.«`week`»", "nix."),
        ):
            text = Marked(marked).with_marks
            self.check(marked, "unknown_name", [f'"{glued}" beside the name makes another name of it'], text)
        self.check_free("_`orders`_", "the `orders`, `week`.", "表`orders`的[[t:orders]]。", "(`orders`) x. `week`. Then", "`week`/`orders`")

    def test_the_authors_own_quotation_marks(self) -> None:
        said = "stands in quotation marks, and word for word in no chunk"
        for marked in (
            "He said “«sales will surely grow»”.",
            'He said "«Sales may grow by leaps».", so',
            "‘«all of the shops»’ and 「«所有的商店都已经关闭»」, 『«所有的商店都已经关闭»。』",
            'so "«sales will\nsurely grow»"',
            "“«they will not grow» [[m:plain]] now”",
            "“«they say of the others» [[q:K1|They will]]”",
            "\"[[q:K1|They will]] «surely grow a lot»\"",
            "&quot;«sales will surely grow»&quot; <q>«sales will surely grow»</q> &ldquo;«sales will surely grow»&rdquo;",
            "„«sales will surely grow»“ ❝«sales will surely grow»❞ ＂«sales will surely grow»＂ &#34;«sales will surely grow»&#x22;",
        ):
            expected = Marked(marked)
            text = expected.with_marks.replace("[[m:plain]]", "500").replace("[[q:K1|They will]]", "“They will”")
            self.check(marked, "not_verbatim", [said] * marked.count("«"), text)
        self.check_free(
            "“Sales may grow by” and “sales will grow” and 「所有商店已关闭」",
            'the "so-called new" shops, <b title="one or so of them all">x</b> [x](u "none of all of them")',
            "“the others did\nwell.”", '"*the others did well*"', "don’t, they’re the ones of ours",
        )  # fmt: skip

    def test_a_quote_behind_a_negation(self) -> None:
        for marked in ("are «not» {}", "«never» {}", "is«n't» {}", "isn«n’t»{}", "«no» {}", "«不»{}", "并«没»{}", "«未»{}", "«勿» {}", "«别»{}", "«非»{}", "«无»{}"):
            word = Marked(marked).spans[0][2]
            marked = marked.format("[[q:K1|They will]]")
            text = Marked(marked).with_marks.replace("[[q:K1|They will]]", "“They will”")
            self.check(marked, "contradiction", [f'"{word}" before a quote says the opposite of it'], text)
        self.check_free(*(f"{before}[[q:K1|They will]]" for before in ("not so: ", "knot ", "piano ", "区别", "特别", "除非", "不，")))

    def test_a_truncated_schema(self) -> None:
        mine = evidence(schema={**SCHEMA, "truncated": True})
        found = report.compose("`zzz` [[t:ordr]] `orders` `zzz` [[c:nix.x]]", mine, ())
        self.assertEqual((found.violations, found.unchecked), ([], ["zzz", "ordr", "nix.x"]))
        self.assertEqual(found.text, "`zzz` `ordr` `orders` `zzz` `nix.x`")
        self.assertEqual(
            [one.about for one in found.citations[1:3]],
            [
                {"kind": "name", "name": "ordr", "is": "", "unchecked": True},
                {"kind": "name", "name": "orders", "is": "table"},
            ],
        )
        self.assertEqual(report.compose("[[c:orders]]", mine, ()).violations[0].kind, "unknown_name")
        self.assertEqual(report.compose("`orders`", EVIDENCE, ()).unchecked, [])

    def test_only_so_many_names_are_compared(self) -> None:
        found = report.compose(" ".join(f"`{letter}_regions`" for letter in "abcd"), evidence(), ())
        near = "the closest are regions, region, r.region"
        self.assertEqual([one.message.partition("; ")[2] for one in found.violations], [near] * 4)
        with mock.patch("issuance.names.MOST_SEARCHED", 3):
            found = report.compose(" ".join(f"`{letter}_regions`" for letter in "abcda"), evidence(), ())
        rest = [one.message.partition("; ")[2] for one in found.violations]
        self.assertEqual(rest, [near, near, near, "nothing comes close", near])

    def test_a_table_has_only_so_many_cells(self) -> None:
        with mock.patch.object(citable, "MOST_TABLE_CELLS", 12):
            self.assertEqual(compose("[[table:Q1]]").violations, [])
        with mock.patch.object(citable, "MOST_TABLE_CELLS", 11):
            said = "the tables have more than 11 cells together: choose cols and rows"
            self.check("«[[table:Q1]]»", "unresolved", [said])
            self.check("[[table:Q1 rows=0-1]]\n\n«[[table:Q1 rows=2]]»", "unresolved", [said],
                       compose("[[table:Q1 rows=0-1]]").text + "\n\n[[table:Q1 rows=2]] [unchecked]")  # fmt: skip
            self.assertEqual(compose("[[table:Q1 rows=0-1]]\n\n[[table:Q1 cols=note rows=0-2]]").violations, [])
            self.assertEqual(compose("[[table:Q1 rows=0-1]]").violations, [])

    def test_a_contradiction_of_direction(self) -> None:
        for marked, message, text in (
            ("It fell «[[m:pct]]».", "pct is 8.7%, the text says it fell", "It fell 8.7% [unchecked]."),
            ("It fell by «[[m:pct|int]]»", "pct is 8.7%, the text says it fell", "It fell by 9% [unchecked]"),
            ("环比下降«[[m:pct]]»。", "pct is 8.7%, the text says it fell", "环比下降8.7% [unchecked]。"),
            ("It rose «[[m:tiny]]».", "tiny is -0.001, the text says it rose", "It rose 0.0 [unchecked]."),
        ):
            self.check(marked, "contradiction", [message], text)
        for draft in (
            "It rose [[m:pct]], it was [[m:pct]], and growth of [[m:pct]] came.",
            "It fell to [[m:pct]]. Sales fell, and the other was [[m:pct]].",
            "It fell [[m:drop]], it was [[m:drop]], sales fell [[m:gmv]] and [[m:rate]].",
            "Sales rose [[m:gmv]]; it fell [[m:tiny]].",
        ):
            with self.subTest(draft):
                self.assertEqual(compose(draft).violations, [])

    def test_violations_of_several_kinds_are_in_the_order_of_the_draft(self) -> None:
        marked = Marked(
            "A «5» and «[[m:nix]]», «[[m:GMV]]» fell «[[m:pct]]» with «`zzzz`» and [[m:ratio]]«1»«\u202e», «[[m:nix]]»«7»."
        )
        found = compose(marked.draft)
        self.assertEqual(
            [one.kind for one in found.violations],
            ["bare_number", "unresolved", "bad_marker", "contradiction", "unknown_name", "bare_number",
             "hidden_character", "unresolved", "bare_number"],
        )  # fmt: skip
        self.assertEqual([(one.start, one.end, one.text) for one in found.violations], marked.spans)
        self.assertEqual(
            found.text,
            "A 5 [unchecked] and [[m:nix]] [unchecked], [[m:GMV]] [unchecked] fell 8.7% [unchecked] with "
            "`zzzz` [unchecked] and 0.501 [unchecked]\u202e [unchecked], [[m:nix]] [unchecked]7 [unchecked].",
        )


class Places(unittest.TestCase):
    """Where citations, numbers and sentences stand in the text with its marks."""

    maxDiff = None
    DRAFT = (
        "# Up 5 in [[i:week]]\n\n1. One. Sales: [[m:gmv|万]] of [[m:nix]], e.g. 7? 好。Then [[m:pct]] fell.\n\n"
        "- `orders` and [[q:K1|They will not.]]\n  go on [[see:m:rate,K1]].\n\n```\nSELECT week\n```\n\n[[table:Q1 cols=rate rows=0]]\n"
    )
    TEXT = (
        "# Up 5 [unchecked] in W37\n\n1. One. Sales: 123.5万元 of [[m:nix]] [unchecked], e.g. 7 [unchecked]? 好。"
        "Then 8.7% [unchecked] fell.\n\n- `orders` and “They will not.”\n  go on.\n\n```\nSELECT week\n```\n\n"
        "| rate |\n| --- |\n| 0.5 |\n"
    )

    def test_citations(self) -> None:
        found = compose(self.DRAFT)
        self.assertEqual(found.text, self.TEXT)
        mark = (MARK, {"kind": "mark"})
        self.assertEqual(
            [(found.text[one.start : one.end], one.about) for one in found.citations],
            [
                ("5", {"kind": "violation", "violation": "bare_number"}),
                mark,
                ("W37", {"kind": "input", "input": "week"}),
                ("123.5万元", {"kind": "metric", "metric": "gmv", "conversions": ["万"]}),
                ("[[m:nix]]", {"kind": "violation", "violation": "unresolved"}),
                mark,
                ("7", {"kind": "violation", "violation": "bare_number"}),
                mark,
                ("8.7%", {"kind": "metric", "metric": "pct"}),
                mark,
                ("`orders`", {"kind": "name", "name": "orders", "is": "table"}),
                ("“They will not.”", {"kind": "quote", "chunk": "K1", "at": 49}),
                ("", {"kind": "basis", "basis": ["m:rate", "K1"]}),
                ("rate", {"kind": "name", "name": "rate"}),
                ("0.5", cell(0, "rate")),
            ],
        )
        self.assertEqual(found.citations[-3].start, found.text.index("go on") + len("go on"))

    def test_numbers(self) -> None:
        found = compose(self.DRAFT, ["7"])
        places = [
            (found.text[one.numeral.start : one.numeral.end], one.status, one.metrics, one.reason)
            for one in found.numbers
        ]
        self.assertEqual(
            places,
            [
                ("5", "untraced", [], "cited by no marker"),
                ("123.5万", "traced", ["gmv"], ""),
                ("7", "allowed", [], ""),
                ("8.7%", "traced", ["pct"], ""),
                ("0.5", "traced", [], ""),
            ],
        )
        self.assertEqual([one.numeral.text for one in found.numbers], [place[0] for place in places])

    def test_sentences(self) -> None:
        found = compose(self.DRAFT)
        self.assertEqual(
            [(found.text[one.start : one.end], one.kind) for one in found.sentences],
            [
                ("# Up 5 [unchecked] in W37", "heading"),
                ("1. One.", "item"),
                ("Sales: 123.5万元 of [[m:nix]] [unchecked], e.g. 7 [unchecked]?", "item"),
                ("好。", "item"),
                ("Then 8.7% [unchecked] fell.", "item"),
                ("- `orders` and “They will not.”", "item"),
                ("go on.", "item"),
            ],
        )

    def test_allowed_numbers(self) -> None:
        for draft, allow, statuses in (
            ("5 5% $5 50", ["5"], ["allowed", "allowed", "allowed", "untraced"]),
            ("5 5% 6%", ["5%"], ["untraced", "allowed", "untraced"]),
            ("5 1,250 1250", ["1250"], ["untraced", "allowed", "allowed"]),
            ("five 5.0 5.1", ["5"], ["allowed", "allowed", "untraced"]),
            ("[[i:shops]] 12 13", ["13"], ["traced", "untraced", "allowed"]),
            ("[[i:shops]] and `112` [112]", ["112"], ["traced", "allowed", "allowed"]),
            ("&#53;", ["5"], ["allowed"]),
            ("5", [], ["untraced"]),
        ):
            with self.subTest(draft, allow=allow):
                found = compose(draft, allow)
                self.assertEqual([one.status for one in found.numbers], statuses)
                self.assertEqual([one.kind for one in found.violations], ["bare_number"] * statuses.count("untraced"))

    def test_the_document(self) -> None:
        data = report.encode(compose(self.DRAFT))
        problems = Problems()
        content = parse(data, report.DOCUMENT, "document", problems)
        self.assertEqual(problems.lines("x"), [])
        self.assertEqual((content["text"], content["unchecked"]), (self.TEXT, []))
        self.assertEqual([one["id"] for one in content["sentences"]], [f"S{number}" for number in range(1, 8)])
        self.assertEqual(
            content["violations"][1],
            {
                "kind": "unresolved",
                "start": self.DRAFT.index("[[m:nix]]"),
                "end": self.DRAFT.index("[[m:nix]]") + 9,
                "text": "[[m:nix]]",
                "message": "there is no metric nix; nothing comes close",
            },
        )
        start = self.TEXT.index("123.5")
        self.assertEqual(
            content["citations"][3],
            {"start": start, "end": start + 7, "kind": "metric", "metric": "gmv", "conversions": ["万"]},
        )

    def test_the_same_bytes_again(self) -> None:
        hard = f"{self.DRAFT} `ordrs` `wek` `wek or ordrs` <b t='&#53;'>\u202e [9] 5[[i:week]]% [[m:rat]] [[c:ordrs.weak]] [[i:shop]] [[q:K1|Sales may not]]"
        data = report.encode(compose(hard))
        self.assertEqual(report.encode(compose(hard)), data)
        self.assertEqual(report.encode(report.compose(hard, evidence(), ())), data)
        program = (
            "import hashlib, sys; from issuance import report; from tests import test_report as t;"
            "print(hashlib.sha256(report.encode(report.compose(sys.stdin.buffer.read().decode(), t.evidence()))).hexdigest())"
        )
        for seed in "0", "1", "77":
            again = subprocess.run(
                [sys.executable, "-c", program],
                input=hard.encode(),
                stdout=subprocess.PIPE,
                check=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
            self.assertEqual(again.stdout.decode().strip(), hashlib.sha256(data).hexdigest(), seed)

    def test_the_catalog(self) -> None:
        catalog = EVIDENCE.catalog()
        self.assertEqual(
            catalog["metrics"][:2],
            [
                {"id": "gmv", "name": "gmv", "rendered": "1,234,567.0元"},
                {"id": "cost", "name": "cost", "rendered": "$12,345.67"},
            ],
        )
        self.assertEqual(len(catalog["metrics"]), len(METRICS) - 2)
        self.assertEqual(
            {name: part for name, part in catalog.items() if name not in ("metrics", "names")},
            {
                "missing": [
                    {"metric": "gone", "reason": "missing: the result of sales has no row 9, only 3"},
                    {"metric": "broken", "reason": "failed: division by zero"},
                ],
                "inputs": {"week": "W37", "shops": 12, "odd": "a*b|c"},
                "queries": [
                    {"name": "Q1", "id": "sales", "columns": list(COLUMNS), "rows": 3},
                    {"name": "Q4", "id": "none", "columns": ["a|b", "x"], "rows": 0},
                ],
                "chunks": [
                    {"name": "K1", "text": NOTES.partition("\n\n")[0].replace("\n", " ")},
                    {"name": "K2", "text": NOTES.partition("\n\n")[2]},
                ],
            },
        )
        self.assertEqual(catalog["names"], sorted(catalog["names"]))
        self.assertLessEqual({"orders", "orders.week", "Q1.amount", "o.amount", "gmv", "week"}, set(catalog["names"]))


CITED = (
    "[[m:gmv]]", "[[m:gmv|万]]", "[[m:rate]]", "[[m:orders]]", "[[m:big|bn]]", "[[m:loss]]", "[[i:week]]",
    "[[i:shops]]", "[[v:Q1.r0.amount]]", "[[v:Q1.r1.rate]]", "[[v:Q1.r0.note]]", "[[q:K1|by 12.5 percent]]",
    "[[q:K2|Of 2,000 shops]]", "[[t:orders]]", "[[see:Q1]]", "`week`",
)  # fmt: skip
WORDS = ("sales", "region", "in 2026", "销售额", "the 2nd week", "`SELECT week`", "一些", "no one", "No. 5")
NUMBERS = (
    "5",
    "12 shops",
    "8.7%",
    "3.5万",
    "twenty",
    "三十",
    "百分之三",
    "half",
    "$4",
    "-3",
    "１２",
    "1\u200b2",
    "`7`",
)
AROUND = (
    "{}", "# {}", "- {}", "> {}", "| {} | x |", "**{}**", "[so {}](u)", "![so {}](u)", "<b>{}</b>", '<i title="{}">x</i>',
    "text {} text", "<!-- {} -->",
)  # fmt: skip
LOOSE = (
    *CITED, *(f" {one} " if one.isalpha() and one.isascii() else one for one in NUMBERS), *WORDS, " ", " ", "\n", "\n\n", "**", "*", "<b>", "</b>", "&nbsp;", "&", "#", "\\", "-", "+",
    ". ", ",", "万", "k", " million ", "元", "$", "(", ")", "[", "](u)", "[[", "]]", "`", "```\n", "|", "第", "no",
    "\u200b", " hundred ", "of",
)  # fmt: skip


SEEN = re.compile(
    r"(?P<gone></?[a-z][^<>]*>|<!--.*?(?:-->|\Z)|\\(?=[!-/:-@\[-`{-~])|[*`~]+)|&[a-z]+;|&#[0-9]+;|.", re.DOTALL
)


def uncited(found: Report) -> list[str]:
    """The numbers of a text as a reader sees it that are partly in a citation, and the author's own."""
    owners = [0] * len(found.text)
    for index, one in enumerate(found.citations, 1):
        if one.about["kind"] != "violation":
            owners[one.start : one.end] = [index] * (one.end - one.start)
    seen, own = "", ""
    owned: list[int] = []
    for match in SEEN.finditer(found.text):
        owner = owners[match.start()]
        if match["gone"] is None or owner:
            chars = html.unescape(match[0])
            seen += chars
            own += "\ufffc" * len(chars) if owner else chars
            owned += [owner] * len(chars)
    partly = []
    for number in find(Plain(seen)):
        start = number.start + (seen[number.start] == "+")  # which changes nothing
        if len(set(owned[start : number.end])) > 1:
            partly.append(number.text)
    return partly + [one.text for one in find(Plain(own))]


class RandomDrafts(unittest.TestCase):
    def test_a_number_is_a_violation_wherever_it_stands(self) -> None:
        chance = random.Random(20261130)
        for _ in range(400):
            parts = [chance.choice(CITED + WORDS) for _ in range(chance.randint(1, 5))]
            clean = chance.choice(AROUND[:7]).format(", ".join(parts))
            self.assertEqual(compose(clean).violations, [], clean)
            number = chance.choice(NUMBERS)
            draft = f"{clean}\n\n{chance.choice(AROUND).format(number)}\n\n{clean}"
            found = compose(draft)
            self.assertEqual([one.kind for one in found.violations], ["bare_number"], draft)
            self.assertEqual(found.text.count(MARK), 1, draft)

    def test_without_a_violation_every_number_is_cited(self) -> None:
        seen = uncited(compose("5 [[i:shops]]7 <b>8</b> [[i:shops]] x [[m:gmv]]"))
        self.assertEqual(seen, ["127", "5", "7", "8"])
        chance = random.Random(37)
        clean = 0
        for _ in range(2_500):
            draft = "".join(chance.choice(LOOSE) for _ in range(chance.randint(1, 9)))
            found = compose(draft)
            for one in found.violations:
                self.assertEqual(draft[one.start : one.end], one.text, draft)
            self.assertEqual(found.violations, sorted(found.violations, key=lambda one: (one.start, one.end)), draft)
            if found.violations:
                self.assertIn(MARK, found.text)
                continue
            clean += 1
            self.assertNotIn(MARK, found.text)
            self.assertEqual(uncited(found), [], draft)
        self.assertGreater(clean, 300)


if __name__ == "__main__":
    unittest.main()
