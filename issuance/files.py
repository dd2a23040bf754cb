"""Files that sources are made of, read whole, and how it is said that a source cannot be used."""

from __future__ import annotations

import answer_format
from issuance.formats import MAX_BYTES


class SourceFault(Exception):
    """A source cannot be used; raised with its file, a place in it (or None) and a sentence."""


def read_text(path: str) -> str:
    """The text of a UTF-8 file without a byte order mark or a NUL. Raises SourceFault."""
    try:
        text = answer_format.decode(read_bytes(path))
    except answer_format.Unreadable as fault:
        raise SourceFault(path, *fault.args) from None
    if "\0" in text:
        raise SourceFault(path, f"line {text.count(chr(10), 0, text.index(chr(0))) + 1}", "holds a NUL")
    return text


def read_bytes(path: str) -> bytes:
    """The bytes of a file. Raises SourceFault."""
    try:
        return answer_format.read_bytes(path, MAX_BYTES)
    except answer_format.Unreadable as fault:
        raise SourceFault(path, *fault.args) from None
