"""Elements of a page. Text in them is text: it is escaped as it is written, and what does not show is made visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union
from xml.etree.ElementTree import Element, SubElement, tostring

from issuance.listing import shown

Part = Union[str, "tuple[str, str]"]  # a text, or code that stands in the sealed data: (text, where)


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """A new last child. class_ and data_from stand for the attributes class and data-from; empty ones are left out."""
    named = {name.rstrip("_").replace("_", "-"): visible(value) for name, value in attributes.items() if value}
    child = SubElement(parent, tag, named)
    if text:
        child.text = visible(text)
    return child


def section(id: str, title: str, overview: bool = False, evidence: Iterable[str] = ()) -> Element:
    """A part of the panel; one of the overview shows while nothing is chosen."""
    part = Element("section", {"id": id, **({"class": "overview"} if overview else {})})
    if named := " ".join(dict.fromkeys(evidence)):
        part.set("data-evidence", named)
    add(part, "h2", title)
    return part


def write(parent: Element, text: str) -> None:
    """Add text behind what an element has."""
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + visible(text)
    else:
        parent.text = (parent.text or "") + visible(text)


def write_all(parent: Element, *parts: Part) -> None:
    for part in parts:
        if isinstance(part, str):
            write(parent, part)
        else:
            add(parent, "code", part[0], data_from=part[1])


def visible(text: str) -> str:
    """A text as a page shows it, in its lines."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(map(shown, text.replace("\r\n", "\n").split("\n")))


def as_html(elements: Iterable[Element]) -> str:
    return "".join(tostring(element, encoding="unicode", method="html") for element in elements)
