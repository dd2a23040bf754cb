"""Markdown's blocks and runs: each construct with a near miss, and what holds for any text and any kept places."""

from __future__ import annotations

import html
import random
import re
import unittest

from issuance.exports.markdown import Block, Run, read
from issuance.numerals.markup import FENCE, fenced

MARKUP = set("\\`*_~#>-+=:|![]()<.")
TARGET = re.compile(r"\]\([^\s()`]*(?:\([^\s()`]*\)[^\s()`]*)*\)")

INLINE = [  # a paragraph's source, and its runs: marks and addresses as tags
    ("plain 3.5", "plain 3.5"),
    ("a\nb", "a\nb"),
    ("a  \n  b", "a||\n||b"),
    ("a\\\nb", "a||\nb"),
    ("a\r\nb\r\n", "a||\nb"),
    ("a\\", "a\\"),
    ("*a* b", "<em>a|| b"),
    ("* a*b *", None),
    ("2 * 3 * 4", "2 * 3 * 4"),
    ("**a** b", "<strong>a|| b"),
    ("**3.5**亿", "<strong>3.5||亿"),
    ("**“3”**亿", "<strong>“3”||亿"),
    ("** a**", "** a**"),
    ("***a***", "<strong em>a"),
    ("**a *b***", "<strong>a ||<strong em>b"),
    ("*a **b***", "<em>a ||<strong em>b"),
    ("*a **b*", "*a *||<em>b"),
    ("*foo**bar*", "<em>foo**bar"),
    ("**a*", "*||<em>a"),
    ("****", None),
    ("_a_ __b__", "<em>a|| ||<strong>b"),
    ("a_b_c 值_x_值", "a_b_c 值_x_值"),
    ("a*b*c", "a||<em>b||c"),
    ("~~a~~", "<del>a"),
    ("~a~ 1~2", "~a~ 1~2"),
    ("~~~a~~~ b", None),
    ("a ~~~b~~~", "a ~~~b~~~"),
    ("`a*b*` c", "<code>a*b*|| c"),
    ("a `b", "a `b"),
    ("`` a`b ``", "<code>a`b"),
    ("`a``b", "`a``b"),
    ("**`a`**", "<strong code>a"),
    ("`\\`", "<code>\\"),
    ("\\`a`", "`||a`"),
    ("\\*a\\*", "*||a||*"),
    ("\\a \\", "\\a \\"),
    ("&lt;b&gt; &#51;", "<||b||>|| ||3"),
    ("&lt b&notit; &#x1;", "&lt b&notit; &#x1;"),
    ("`&lt;`", "<code>&lt;"),
    ("<b>a</b> <!-- c -->", "<b>a</b> <!-- c -->"),
    ("[a](https://b.c) d", "<@https://b.c>a|| d"),
    ("[a](HTTP://b.c)", "<@HTTP://b.c>a"),
    ("[a](mailto:b@c) [d](#e)", "<@mailto:b@c>a|| ||<@#e>d"),
    ("[a](https://b/c_(d))", "<@https://b/c_(d)>a"),
    ("[a](https://b/c((d)))", "[a](https://b/c((d)))"),
    ("[a](javascript:*b*)", "[a](javascript:*b*)"),
    ("[*a*](/b)", "[*a*](/b)"),
    ("[a](ftp://b) [a](//b) [a]()", "[a](ftp://b) [a](//b) [a]()"),
    ("[a](https://b \"t\")", "[a](https://b \"t\")"),
    ("[a](https://b'c) [a](https://b<c>)", "[a](https://b'c) [a](https://b<c>)"),
    ("[a](https://b\x01c)", "[a](https://b\x01c)"),
    ("[a](https://b\nc)", "[a](https://b\nc)"),
    ("[a] (https://b)", "[a] (https://b)"),
    ("[](https://b)", "[](https://b)"),
    ("\\[a](https://b)", "[||a](https://b)"),
    ("[a [b] c](https://d)", "<@https://d>a [b] c"),
    ("[a [b [c]]](https://d)", "[a [b [c]]](https://d)"),
    ("[a [b](https://c) d](https://e)", "[a ||<@https://c>b|| d](https://e)"),
    ("[[a](https://b)", "[||<@https://b>a"),
    ("[**a** `b]`](https://c)", "<strong @https://c>a||<@https://c> ||<code @https://c>b]"),
    ("**[a](https://b)**", "<strong @https://b>a"),
    ("![a](b/c.png) d", "a|| d"),
    ("![a](javascript:b)", "a"),
    ("![a](b c) ![a](b \"t\")", "![a](b c) ![a](b \"t\")"),
    ("![](b)", ""),
    ("! [a](b)", "! [a](b)"),
    ("[![a](b) c](https://d)", "<@https://d>a||<@https://d> c"),
    ("<https://a.b> <mailto:a@b>", "<@https://a.b>https://a.b|| ||<@mailto:a@b>mailto:a@b"),
    ("<https://a b> <ftp://a> <a@b>", "<https://a b> <ftp://a> <a@b>"),
    ("[<https://a>](https://b)", "[||<@https://a>https://a||](https://b)"),
    ("[a][b] [^1] [a]: https://b", "[a][b] [^1] [a]: https://b"),
    ("3[[m:a_b_c]] [[s:*a*]](x)", "3[[m:a_b_c]] [[s:*a*]](x)"),
    ("[[m:x]](https://b)", "[[m:x]](https://b)"),
    ("    indented", "indented"),
]

BLOCKS = [  # a source, and its blocks
    ("", ""),
    ("\n\n \n", ""),
    ("\r\n\r\n", ""),
    ("a\n\nb", "paragraph(a) paragraph(b)"),
    ("a\r\n\r\nb", "paragraph(a) paragraph(b)"),
    ("# a", "heading1(a)"),
    ("###### a ##\nb", "heading6(a) paragraph(b)"),
    ("####### a", "paragraph(####### a)"),
    ("#a", "paragraph(#a)"),
    ("#", "heading1()"),
    ("# #", "heading1()"),
    ("# a#", "heading1(a#)"),
    ("# a \\#", "heading1(a ,#)"),
    ("a\nb\n===", "heading1(a\nb)"),
    ("a\n-", "heading2(a)"),
    ("a\n=-", "paragraph(a\n=-)"),
    ("===", "paragraph(===)"),
    ("a\n\n---", "paragraph(a) rule()"),
    ("* * *\n___", "rule() rule()"),
    ("--\n", "paragraph(--)"),
    ("*-*", "paragraph(-)"),
    ("- a\n- b", "list(item(paragraph(a)) item(paragraph(b)))"),
    ("-a", "paragraph(-a)"),
    ("- a\n+ b", "list(item(paragraph(a))) list(item(paragraph(b)))"),
    ("- a\n\n- b\n\n  c\n\nd", "list(item(paragraph(a)) item(paragraph(b) paragraph(c))) paragraph(d)"),
    ("- a\nb", "list(item(paragraph(a))) paragraph(b)"),
    ("- a\n  b", "list(item(paragraph(a\n,b)))"),
    ("- a\n - b", "list(item(paragraph(a)) item(paragraph(b)))"),
    ("- a\n  - b\n    - c\n- d", "list(item(paragraph(a) list(item(paragraph(b) list(item(paragraph(c)))))) item(paragraph(d)))"),
    ("- - a\n  - b", "list(item(list(item(paragraph(a)) item(paragraph(b)))))"),
    ("-\n- a", "list(item() item(paragraph(a)))"),
    ("- ***\n- - -", "list(item(rule())) rule()"),
    ("-\ta\n\t- b", "list(item(paragraph(a) list(item(paragraph(b)))))"),
    ("1. a\n3) b", "list1(item(1.)(paragraph(a))) list1(item(3))(paragraph(b)))"),
    ("3. a\n   - b\n5. c", "list1(item(3.)(paragraph(a) list(item(paragraph(b)))) item(5.)(paragraph(c)))"),
    ("10. - a\n    - b", "list1(item(10.)(list(item(paragraph(a)) item(paragraph(b)))))"),
    ("1.5 a", "paragraph(1.5 a)"),
    ("1234567890. a", "paragraph(1234567890. a)"),
    ("a\n1. b", "paragraph(a) list1(item(1.)(paragraph(b)))"),
    ("a\n2024. b", "paragraph(a\n2024. b)"),
    ("a\n* b", "paragraph(a) list(item(paragraph(b)))"),
    ("a\n*", "paragraph(a\n*)"),
    ("- # a\n  > b\n\n  ```\n  c\n   d\n  ```", "list(item(heading1(a) quote(paragraph(b)) code(c\n, d\n)))"),
    ("> a\n> b\n>\n> c", "quote(paragraph(a\n,b) paragraph(c))"),
    ("> a\nb", "quote(paragraph(a)) paragraph(b)"),
    ("> > a\n> b", "quote(quote(paragraph(a)) paragraph(b))"),
    ("a\n> b", "paragraph(a) quote(paragraph(b))"),
    ("a > b", "paragraph(a > b)"),
    (">" * 13 + "a", "quote(" * 12 + "paragraph(>a)" + ")" * 12),
    ("- " * 13 + "a", "list(item(" * 12 + "paragraph(- a)" + "))" * 12),
    ("```py x\n*a*\n\n # b\n```\nc", "code(*a*\n\n # b\n) paragraph(c)"),
    ("a\n~~~\nb\n```\n~~~", "paragraph(a) code(b\n```\n)"),
    ("```\na\n``", "code(a\n``)"),
    ("```", "code()"),
    ("```\n```", "code()"),
    ("````\na\n```\n`````", "code(a\n```\n)"),
    ("``` a`b\nc", "paragraph(``` a`b\nc)"),
    ("> ```\n> a\n>  b\n> ```\n> c", "quote(code(a\n, b\n) paragraph(c))"),
    ("> ```\na\n>> b", "quote(code(a\n,> b))"),
    ("- ```\n  a\n ```\n- b", "list(item(code(a\n)) item(paragraph(b)))"),
    ("1. ```\n   a", "list1(item(1.)(paragraph(```\n,a)))"),
    (">" * 13 + "```\na", "quote(" * 12 + "code(>```\na)" + ")" * 12),
    ("a | b\n- | -", "table(row1(cell(a) cell(b)))"),
    ("|a|b|\n|:-|-:|\n|c|\n|d|e|f|\n| | g |\nh", "table(row1(cell(a) cell(b)) row(cell(c)) row(cell(d) cell(e) cell(f)) row(cell() cell(g))) paragraph(h)"),
    ("a\n|b|\n|-|", "paragraph(a) table(row1(cell(b)))"),
    ("|a|b|\n|-|", "paragraph(|a|b|\n|-|)"),
    ("|a|\n|-b|", "paragraph(|a|\n|-b|)"),
    ("a | b\n---", "heading2(a | b)"),
    ("|a\\|b|`c\\|d`|\n|-|-|", "table(row1(cell(a,|b) cell(c,|d)))"),
    ("|a\\\\|b|\n|-|-|", "table(row1(cell(a,\\) cell(b)))"),
    ("|a|\n|-|\n> |b|", "table(row1(cell(a))) quote(paragraph(|b|))"),
    ("- |a|\n  |-|", "list(item(table(row1(cell(a)))))"),
    ("[a]: https://b", "paragraph([a]: https://b)"),
]

KEPT = [  # a source with the kept places in {}, and its blocks
    ("**{3.5}**亿", "paragraph(3.5,亿)"),
    ("{**3.5**亿}", "paragraph(3.5,亿)"),
    ("{\\*3&lt;}", "paragraph(*,3,<)"),
    ("[{3}](https://a/4)", "paragraph(3)"),
    ("[3](https://a/{4})", "paragraph([3](https://a/4))"),
    ("[*3{](}https://a)", "paragraph([*3](https://a))"),
    ("![3](a{4}.png) ![5](b)", "paragraph(![3](a4.png) ,5)"),
    ("<https://{4}>", "paragraph(https://4)"),
    ("{3<}https://4>", "paragraph(3<https://4>)"),
    ("```py {3}\na\n```", "code(```py 3\na\n)"),
    ("```py\n{3}\n```", "code(3\n)"),
    ("> ```\n{> 3}", "quote(code(> 3))"),
    ("|a|\n|{-}|", "paragraph(|a|\n|-|)"),
    ("|3{|}4|\n|-|", "table(row1(cell(3|4)))"),
    ("{3.} a", "list1(item(3.)(paragraph(a)))"),
    ("{3. 5}", "paragraph(3. 5)"),
    ("{- 3}", "paragraph(- 3)"),
    ("- {3}", "list(item(paragraph(3)))"),
    ("{> 3}", "paragraph(> 3)"),
    ("{# 3}", "paragraph(# 3)"),
    ("# 3 {#}", "heading1(3 #)"),
    ("a\n{---}", "paragraph(a\n---)"),
    ("{* * *}", "paragraph(* * *)"),
    ("{3\n- 4}", "paragraph(3\n- 4)"),
]

PIECES = (
    "* ** *** _ __ ~~ ~ ` `` ``` ~~~ # ## > - + = === --- 1. 23) | |-|-| |a|b| : ! [ ] ( ) [[m:x]] [^1] ![ ]( ](https://a/9) "
    "](b.png) <https://c> < <b> \\ \\| \\* &amp; &#51; &lt & ; 3.5 亿 a word , “ ” 。 <!-- -->"
).split(" ") + [" ", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\r\n", "\r", "\u3000", "\n> ", "\n- ", "\n  "]


def described(blocks: list[Block]) -> str:
    return " ".join(described_block(block) for block in blocks)


def described_block(block: Block) -> str:
    runs = ",".join(run.text for run in block.runs)
    children = described(block.children)
    both = f"({runs})({children})" if block.runs and block.children else f"({runs}{children})"
    return block.kind + (str(block.level) if block.level else "") + both


def described_run(run: Run) -> str:
    tags = [*run.marks, *(["@" + run.href] if run.href else [])]
    return (f"<{' '.join(tags)}>" if tags else "") + run.text


def runs_of(blocks: list[Block]) -> list[Run]:
    return [run for block in blocks for run in [*block.runs, *runs_of(block.children)]]


def depth_of(blocks: list[Block]) -> int:
    return max((1 + depth_of(block.children) for block in blocks), default=0)


def without_braces(source: str) -> tuple[str, list[tuple[int, int]]]:
    text, kept = "", []
    for part in re.split(r"([{}])", source):
        if part == "{":
            kept.append((len(text), 0))
        elif part == "}":
            kept[-1] = (kept[-1][0], len(text))
        else:
            text += part
    return text, kept


def info_strings(source: str) -> set[int]:
    """The places of what stands behind the fences that open code blocks."""
    openings = [FENCE.match(source, start) for start, _ in fenced(source)]
    return {place for opening in openings if opening for place in range(*opening.span(2))}


def is_markup(source: str, start: int, end: int, infos: set[int]) -> bool:
    """Whether what no run shows is only white space, signs, addresses of links and info strings of fences."""
    hidden = set(infos)
    for target in TARGET.finditer(source, start, end):
        hidden.update(range(*target.span()))
    return all(place in hidden or source[place].isspace() or source[place] in MARKUP for place in range(start, end))


class Reading(unittest.TestCase):
    def test_inline(self) -> None:
        for source, expected in INLINE:
            with self.subTest(source):
                blocks = read(source)
                if expected is None:
                    self.assertNotEqual([block.kind for block in blocks], ["paragraph"])
                    continue
                self.assertEqual([block.kind for block in blocks], ["paragraph"])
                shown = "||".join(described_run(run) for run in blocks[0].runs)
                self.assertEqual(shown, expected)
                check(self, source)

    def test_blocks(self) -> None:
        for source, expected in BLOCKS:
            with self.subTest(source):
                self.assertEqual(described(read(source)), expected)
                check(self, source)

    def test_kept_places(self) -> None:
        for braced, expected in KEPT:
            with self.subTest(braced):
                source, kept = without_braces(braced)
                self.assertEqual(described(read(source, kept)), expected)
                check(self, source, kept)

    def test_places_and_marks_of_runs(self) -> None:
        self.assertEqual(
            read("> 1. [~~***a***~~](#b) &amp;\n"),
            [
                Block("quote", 0, [], [
                    Block("list", 1, [], [
                        Block("item", 0, [Run(2, 4, "1.")], [
                            Block("paragraph", 0, [
                                Run(11, 12, "a", ("strong", "em", "del"), "#b"), Run(22, 23, " "), Run(23, 28, "&"),
                            ], []),
                        ]),
                    ]),
                ]),
            ],
        )


def check(case: unittest.TestCase, source: str, kept: list[tuple[int, int]] | None = None) -> None:
    """Assert what holds for any text."""
    runs, place, infos = runs_of(read(source, kept or [])), 0, info_strings(source)
    shown: set[int] = set()
    for run in [*runs, Run(len(source), len(source), "")]:
        case.assertGreaterEqual(run.start, place, (source, run))
        case.assertTrue(is_markup(source, place, run.start, infos), (source, source[place : run.start], kept))
        written = source[run.start : run.end]
        escaped = re.fullmatch(r"\\[!-/:-@\[-`{-~]", written) and written[1] == run.text
        entity = re.fullmatch(r"&[#A-Za-z0-9]+;", written) and html.unescape(written) == run.text
        case.assertTrue(written == run.text or escaped or entity, (source, run))
        place = run.end
        shown.update(range(run.start, run.end))
    for start, end in kept or []:
        lost = {at for at in range(start, end) if at not in shown and not (source[at].isspace() or source[at] in MARKUP)}
        case.assertFalse(lost, (source, kept))


def cuts(chance: random.Random, source: str) -> list[tuple[int, int]]:
    """Some places of a source, in order and apart."""
    ends = sorted(chance.sample(range(len(source) + 1), min(len(source) // 2, chance.choice((0, 2, 4, 6))) // 2 * 2))
    return list(zip(ends[::2], ends[1::2]))


class Invariants(unittest.TestCase):
    def test_random_texts(self) -> None:
        chance = random.Random(7)
        for _ in range(6000):
            source = "".join(chance.choices(PIECES, k=chance.randrange(1, 30)))
            check(self, source)
            check(self, source, cuts(chance, source))

    def test_code_is_where_fences_are(self) -> None:
        chance = random.Random(8)
        for _ in range(2000):
            source = "".join(chance.choices(["```", "~~~", "````", "\n", "\n", "\n> ", "\n- ", "\n  ", "a", " ", "`"], k=20))
            blocks = read(source)
            code = [run for block in all_blocks(blocks) if block.kind == "code" for run in block.runs]
            places = fenced(source)
            self.assertEqual(len([block for block in all_blocks(blocks) if block.kind == "code"]), len(places), source)
            for run in runs_of(blocks):
                within = any(start <= run.start and run.end <= end + 1 for start, end in places)
                self.assertEqual(run in code, within, (source, run))

    def test_many_signs(self) -> None:
        for piece in (">", "[", "*", "`", "~", "_", "(", "]", "<", "&", "\\", "- ", "> ", "#", "|", "\n", "\r", "\t", "1. "):
            with self.subTest(piece):
                blocks = read(piece * 100_000)
                self.assertLessEqual(depth_of(blocks), 2 * 12 + 3)


def all_blocks(blocks: list[Block]) -> list[Block]:
    return [found for block in blocks for found in [block, *all_blocks(block.children)]]


if __name__ == "__main__":
    unittest.main()
