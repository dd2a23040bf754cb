"""The form of a page: what a browser makes of its bytes, as one text, so that the page can hold itself against it.

The title, what the head demands of a browser, the style and the class of the page; then all elements of the body with
their attributes, texts and comments. What scripts hold is left out: the data has hashes of its own, and a browser runs
no script that the policy does not name. verification.js makes the same text of the page that it finds itself in.
"""

from __future__ import annotations

import hashlib
import html
import re
from html.parser import HTMLParser

HEAD = re.compile(
    r'<html lang="en" class="(?P<classes>[^"]*)".*?<title>(?P<title>[^<]*)</title>\s*<style>(?P<style>.*?)</style>'
    r"\s*</head>\s*<body>",
    re.DOTALL,
)
DEMAND = re.compile('<meta http-equiv="[^"]*" content="([^"]*)">')
SCRIPT = re.compile("(<script[^>]*>).*?</script>", re.DOTALL)
VOID = frozenset(("br", "col", "hr"))  # of the elements that a page has, those without an end


def digest(page: str) -> str:
    """The SHA-256 of the form of a page, in hexadecimal digits."""
    head = HEAD.search(page)
    assert head is not None, "the template has them in this order"
    reader = Reader()
    reader.feed(SCRIPT.sub(r"\1</script>", page[head.end() :]))
    reader.close()
    pieces = [html.unescape(head["title"])]
    pieces += [f"\n{html.unescape(demand)}" for demand in DEMAND.findall(head[0])]
    pieces += [f"\n{head['style']}\n", f"{head['classes']}\n", *reader.pieces]
    return hashlib.sha256("".join(pieces).encode("utf-8")).hexdigest()


class Reader(HTMLParser):
    """The elements of a body that is written as a browser keeps it: each element ends, and none is moved."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = "".join(f' {name}="{value or ""}"' for name, value in attrs)
        self.pieces.append(f"<{tag}{named}></>" if tag in VOID else f"<{tag}{named}>")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("body", "html"):
            self.pieces.append("</>")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def handle_comment(self, data: str) -> None:
        self.pieces.append(f"<!--{data}-->")
