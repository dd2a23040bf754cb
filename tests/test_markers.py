"""Citation markers: the form of each kind on both sides of its rules, and what only looks like a marker."""

from __future__ import annotations

import unittest
from typing import Any

from issuance import markers
from issuance.markers import Malformed, Marker

Found = dict[str, Any]
UNSET = Marker("", 0, 0, "", "")

BAD_METRIC = "a metric is cited as [[m:id]] or [[m:id|conversion]]"
TOO_MANY = "a metric takes one scale and one number of decimals"
BAD_INPUT = "an input is cited as [[i:name]]"
BAD_CELL = "a cell is cited as [[v:Q1.r0.column]]"
BAD_TABLE = "a table is written [[table:Q1 cols=a,b rows=0-4]], cols and rows as needed"
BACKWARDS = "the rows of a table go from the first to the last"
BAD_NAME = "a name is cited as [[t:table]] or [[c:table.column]]"
BAD_QUOTE = "a quote is written [[q:K1|the words]]"
BAD_BASIS = "a basis is written [[see:m:metric,v:Q1.r0.column,Q1,K1]]"
OPENS, ENDS = "[[ begins no marker: one is written [[kind:what]] on one line", "]] ends no marker"


def no_conversion(shown: str) -> str:
    return f"there is no conversion {shown}: there are 万, 亿, k, M, bn, pct, int, .0, .1 and so on"


def no_kind(kind: str) -> str:
    return f"there is no marker {kind}: there are m, i, v, table, t, c, q, see"


def set_fields(marker: Marker) -> Found:
    """The fields of a marker that are not as usual, its place and text aside."""
    fields = marker._asdict()
    usual = UNSET._asdict()
    found = {name: value for name, value in fields.items() if value != usual[name]}
    found.pop("text", None)
    found.pop("start", None)
    found.pop("end", None)
    if marker.basis:
        found["basis"] = [{"text": part.text, **set_fields(part)} for part in marker.basis]
    return found


WELL_FORMED: tuple[tuple[str, Found], ...] = (
    ("[[m:gmv]]", {"kind": "m", "name": "gmv"}),
    ("[[m:a]]", {"kind": "m", "name": "a"}),
    ("[[m:gmv_2]]", {"kind": "m", "name": "gmv_2"}),
    *((f"[[m:gmv|{one}]]", {"kind": "m", "name": "gmv", "conversions": (one,)})
      for one in ("万", "亿", "k", "M", "bn", "pct", "int", ".0", ".2", ".12")),
    ("[[m:gmv|万|.2]]", {"kind": "m", "name": "gmv", "conversions": ("万", ".2")}),
    ("[[m:gmv|.2|k]]", {"kind": "m", "name": "gmv", "conversions": (".2", "k")}),
    ("[[m:gmv|pct|int]]", {"kind": "m", "name": "gmv", "conversions": ("pct", "int")}),
    (r"[[m:gmv\|万\|.1]]", {"kind": "m", "name": "gmv", "conversions": ("万", ".1")}),
    ("[[i:week]]", {"kind": "i", "name": "week"}),
    ("[[v:Q1.r0.gmv]]", {"kind": "v", "name": "Q1", "column": "gmv"}),
    ("[[v:pull.r12.gmv]]", {"kind": "v", "name": "pull", "row": 12, "column": "gmv"}),
    ("[[v:Q10.r999999999.x]]", {"kind": "v", "name": "Q10", "row": 999_999_999, "column": "x"}),
    ("[[v:Q1.r0.COUNT(*) of all. 销售额]]", {"kind": "v", "name": "Q1", "column": "COUNT(*) of all. 销售额"}),
    (r"[[v:Q1.r0.a\|b]]", {"kind": "v", "name": "Q1", "column": "a|b"}),
    ("[[v:Q1.r0.a|b]]", {"kind": "v", "name": "Q1", "column": "a|b"}),
    ("[[table:Q1]]", {"kind": "table", "name": "Q1"}),
    ("[[table:pull cols=region]]", {"kind": "table", "name": "pull", "columns": ("region",)}),
    ("[[table:Q1 cols=region,amount rows=0-4]]",
     {"kind": "table", "name": "Q1", "columns": ("region", "amount"), "rows": (0, 4)}),
    ("[[table:Q1  cols=region  rows=2]]", {"kind": "table", "name": "Q1", "columns": ("region",), "rows": (2, 2)}),
    ("[[table:Q1 cols=a, b]]", {"kind": "table", "name": "Q1", "columns": ("a", "b")}),
    ("[[table:Q1 rows=3-3]]", {"kind": "table", "name": "Q1", "rows": (3, 3)}),
    ("[[table:Q1 rows=0-999999999]]", {"kind": "table", "name": "Q1", "rows": (0, 999_999_999)}),
    ("[[table:Q1 cols=a b,c d rows=1]]", {"kind": "table", "name": "Q1", "columns": ("a b", "c d"), "rows": (1, 1)}),
    ("[[t:orders]]", {"kind": "t", "name": "orders"}),
    ("[[t:main.orders]]", {"kind": "t", "name": "main.orders"}),
    ("[[t:_a$2]]", {"kind": "t", "name": "_a$2"}),
    ("[[c:orders.week]]", {"kind": "c", "name": "orders.week"}),
    ("[[c:a.b.c.销售额]]", {"kind": "c", "name": "a.b.c.销售额"}),
    ("[[q:K1|verbatim words]]", {"kind": "q", "name": "K1", "words": "verbatim words"}),
    ("[[q:K20|a | b]]", {"kind": "q", "name": "K20", "words": "a | b"}),
    (r"[[q:K1\|a \| b]]", {"kind": "q", "name": "K1", "words": "a | b"}),
    ("[[q:K1|5]]", {"kind": "q", "name": "K1", "words": "5"}),
    ("[[q:K1|…好…]]", {"kind": "q", "name": "K1", "words": "…好…"}),
    ("[[q:K1| [one] ]]", {"kind": "q", "name": "K1", "words": " [one] "}),
    ("[[see:m:gmv]]", {"kind": "see", "basis": [{"text": "m:gmv", "kind": "m", "name": "gmv"}]}),
    ("[[see:m:gmv|k, i:week,v:Q1.r3.x,Q2,pull,K3]]", {"kind": "see", "basis": [
        {"text": "m:gmv|k", "kind": "m", "name": "gmv", "conversions": ("k",)},
        {"text": "i:week", "kind": "i", "name": "week"},
        {"text": "v:Q1.r3.x", "kind": "v", "name": "Q1", "row": 3, "column": "x"},
        {"text": "Q2", "kind": "query", "name": "Q2"},
        {"text": "pull", "kind": "query", "name": "pull"},
        {"text": "K3", "kind": "chunk", "name": "K3"},
    ]}),
)  # fmt: skip

MALFORMED: tuple[tuple[str, str], ...] = (
    ("[[m:]]", BAD_METRIC),
    ("[[m:GMV]]", BAD_METRIC),
    ("[[m:2nd]]", BAD_METRIC),
    ("[[m:_a]]", BAD_METRIC),
    ("[[m: gmv]]", BAD_METRIC),
    ("[[m:gmv ]]", BAD_METRIC),
    ("[[m:gmv+1]]", BAD_METRIC),
    ("[[m:销售额]]", BAD_METRIC),
    ("[[m:|k]]", BAD_METRIC),
    ("[[m:gmv|]]", no_conversion("''")),
    ("[[m:gmv|K]]", no_conversion("'K'")),
    ("[[m:gmv|m]]", no_conversion("'m'")),
    ("[[m:gmv| k]]", no_conversion("' k'")),
    ("[[m:gmv|.]]", no_conversion("'.'")),
    ("[[m:gmv|.123]]", no_conversion("'.123'")),
    ("[[m:gmv|.٢]]", no_conversion(r"'.\u0662'")),
    ("[[m:gmv|2]]", no_conversion("'2'")),
    ("[[m:gmv|千]]", no_conversion(r"'\u5343'")),
    ("[[m:gmv|k|nix]]", no_conversion("'nix'")),
    ("[[m:gmv|k|M]]", TOO_MANY),
    ("[[m:gmv|万|pct]]", TOO_MANY),
    ("[[m:gmv|k|.1|.2]]", TOO_MANY),
    ("[[i:]]", BAD_INPUT),
    ("[[i:Week]]", BAD_INPUT),
    ("[[i:week|k]]", BAD_INPUT),
    ("[[v:]]", BAD_CELL),
    ("[[v:Q1]]", BAD_CELL),
    ("[[v:Q1.r0]]", BAD_CELL),
    ("[[v:Q1.r0.]]", BAD_CELL),
    ("[[v:Q1.0.gmv]]", BAD_CELL),
    ("[[v:Q1.r.gmv]]", BAD_CELL),
    ("[[v:Q1.r00.gmv]]", BAD_CELL),
    ("[[v:Q1.r-1.gmv]]", BAD_CELL),
    ("[[v:Q1.r1000000000.gmv]]", BAD_CELL),
    ("[[v:Q0.r0.gmv]]", BAD_CELL),
    ("[[v:Q01.r0.gmv]]", BAD_CELL),
    ("[[v:Pull.r0.gmv]]", BAD_CELL),
    ("[[table:]]", BAD_TABLE),
    ("[[table:Q0]]", BAD_TABLE),
    ("[[table:Q1 ]]", BAD_TABLE),
    ("[[table:Q1 cols=]]", BAD_TABLE),
    ("[[table:Q1 rows=]]", BAD_TABLE),
    ("[[table:Q1 rows=0-]]", BAD_TABLE),
    ("[[table:Q1 rows=-1]]", BAD_TABLE),
    ("[[table:Q1 rows=1000000000]]", BAD_TABLE),
    ("[[table:Q1 rows=0,4]]", BAD_TABLE),
    ("[[table:Q1 columns=region]]", BAD_TABLE),
    ("[[table:Q1,cols=region]]", BAD_TABLE),
    ("[[table:Q1 rows=3-2]]", BACKWARDS),
    ("[[table:Q1 cols=region rows=10-9]]", BACKWARDS),
    ("[[t:]]", BAD_NAME),
    ("[[t: orders]]", BAD_NAME),
    ("[[t:Order Details]]", BAD_NAME),
    ("[[t:2nd]]", BAD_NAME),
    ("[[t:a-b]]", BAD_NAME),
    ("[[t:$a]]", BAD_NAME),
    ("[[t:`orders`]]", BAD_NAME),
    ("[[t:ord\u200bers]]", BAD_NAME),
    ("[[c:]]", BAD_NAME),
    ("[[c:orders.week ]]", BAD_NAME),
    ("[[c:orders.]]", BAD_NAME),
    ("[[c:.week]]", BAD_NAME),
    ("[[c:orders..week]]", BAD_NAME),
    ("[[c:orders.1]]", BAD_NAME),
    ("[[c:a.b.c.d.e]]", BAD_NAME),
    ("[[q:]]", BAD_QUOTE),
    ("[[q:K1]]", BAD_QUOTE),
    ("[[q:K1|]]", BAD_QUOTE),
    ("[[q:K1|  ]]", BAD_QUOTE),
    ("[[q:K1|. … —]]", BAD_QUOTE),
    ("[[q:K1|\u200b]]", BAD_QUOTE),
    ("[[q:K0|words]]", BAD_QUOTE),
    ("[[q:k1|words]]", BAD_QUOTE),
    ("[[q:words]]", BAD_QUOTE),
    ("[[see:]]", BAD_BASIS),
    ("[[see:m:gmv,]]", BAD_BASIS),
    ("[[see:t:orders]]", BAD_BASIS),
    ("[[see:q:K1|words]]", BAD_BASIS),
    ("[[see:Q0]]", BAD_BASIS),
    ("[[see:K0]]", BAD_BASIS),
    ("[[see:Gmv]]", BAD_BASIS),
    ("[[see:m:Gmv]]", BAD_METRIC),
    ("[[see:m:gmv|x]]", no_conversion("'x'")),
    ("[[see:Q1,i:]]", BAD_INPUT),
    ("[[see:v:Q1]]", BAD_CELL),
    ("[[x:gmv]]", no_kind("x")),
    ("[[metric:gmv]]", no_kind("metric")),
    ("[[mm:gmv]]", no_kind("mm")),
)

# A draft, and each thing found in it: its start, its text, and the name of a marker or the reason of what is none.
PLACES: tuple[tuple[str, tuple[tuple[int, str, str], ...]], ...] = (
    ("", ()),
    ("[m:gmv] and ] ] [ [", ()),
    ("a [[m:gmv]], 销售 [[i:week]]", ((2, "[[m:gmv]]", "gmv"), (16, "[[i:week]]", "week"))),
    ("[[m:a]][[m:b]]", ((0, "[[m:a]]", "a"), (7, "[[m:b]]", "b"))),
    ("[[m:a]]]", ((0, "[[m:a]]", "a"),)),
    ("[[[m:a]]](u)", ((1, "[[m:a]]", "a"),)),
    ("[[[[m:a]]]]", ((2, "[[m:a]]", "a"), (9, "]]", ENDS))),
    ("[[[", ((1, "[[", OPENS),)),
    ("[ [[m:a]] ]", ((2, "[[m:a]]", "a"),)),
    ("x [[m:a]", ((2, "[[", OPENS),)),
    ("x m:a]] y", ((5, "]]", ENDS),)),
    ("[[]]", ((0, "[[", OPENS), (2, "]]", ENDS))),
    ("[[gmv]]", ((0, "[[", OPENS), (5, "]]", ENDS))),
    ("[[M:gmv]]", ((0, "[[", OPENS), (7, "]]", ENDS))),
    ("[[ m:gmv]]", ((0, "[[", OPENS), (8, "]]", ENDS))),
    ("[[m :gmv]]", ((0, "[[", OPENS), (8, "]]", ENDS))),
    ("[[m:g\nmv]]", ((0, "[[", OPENS), (8, "]]", ENDS))),
    ("[[m:a[[m:b]]", ((0, "[[", OPENS), (5, "[[m:b]]", "b"))),
    ("[[m:a]] b]]", ((0, "[[m:a]]", "a"), (9, "]]", ENDS))),
    ("[[q:K1|a ]] b]]", ((0, "[[q:K1|a ]]", "K1"), (13, "]]", ENDS))),
    ("a [[m:A]] b [[i:x]]", ((2, "[[m:A]]", BAD_METRIC), (12, "[[i:x]]", "x"))),
)


class Markers(unittest.TestCase):
    maxDiff = None

    def test_each_kind(self) -> None:
        for text, fields in WELL_FORMED:
            with self.subTest(text):
                (found,) = markers.find(f"前 {text} b")
                self.assertEqual((found.text, found.start, found.end), (text, 2, 2 + len(text)))
                assert isinstance(found, Marker), found
                self.assertEqual(set_fields(found), fields)

    def test_malformed(self) -> None:
        for text, reason in MALFORMED:
            with self.subTest(text):
                self.assertEqual(list(markers.find(f"前 {text} b")), [Malformed(text, 2, 2 + len(text), reason)])

    def test_both_tables_have_each_kind(self) -> None:
        for table in (WELL_FORMED, MALFORMED):
            self.assertLessEqual(set(markers.READERS), {row[0][2:].partition(":")[0] for row in table})

    def test_places(self) -> None:
        for draft, expected in PLACES:
            with self.subTest(draft):
                found = [
                    (one.start, one.text, one.name if isinstance(one, Marker) else one.reason)
                    for one in markers.find(draft)
                ]
                self.assertEqual(found, list(expected))
                self.assertTrue(all(draft[one.start : one.end] == one.text for one in markers.find(draft)))

    def test_characters_that_newer_pythons_know_better(self) -> None:
        for char in ("\U00031350", "\u0870", "\U00011240", "\U0001e4f1", "\U00011f53", "\u5317", "\xe9"):
            for draft in (f"[[t:{char}]]", f"[[c:a{char}.b]]", f"[[q:K1|{char}]]"):
                (found,) = markers.find(draft)
                self.assertIsInstance(found, markers.Marker, draft)
        for char in ("\u3002", "\u2014", "\u200b", "\xb7", " ", "!"):
            (found,) = markers.find(f"[[q:K1|{char}]]")
            self.assertIsInstance(found, markers.Malformed, char)

    def test_many_brackets_take_no_longer(self) -> None:
        for piece, times in (("[[ ", 20_000), ("]]", 20_000), ("[[m:a", 20_000), ("[[table:Q1 cols=a a", 3_000)):
            self.assertEqual(len(list(markers.find(piece * times))), times)
        self.assertEqual(len(list(markers.find("[" * 40_000))), 1)
        (long,) = markers.find(f"[[table:Q1 cols={'a ' * 20_000}=]]")
        self.assertEqual(long[3], BAD_TABLE)


if __name__ == "__main__":
    unittest.main()
