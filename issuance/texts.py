"""Narratives: UTF-8 texts, every code point as it is in the file."""

from __future__ import annotations

import answer_format
from answer_format import Problems
from issuance.formats import MAX_BYTES

MARK = b"\xef\xbb\xbf"


def decode(data: bytes) -> str:
    """The text of a narrative's bytes; a byte order mark is a code point of it. Raises Unreadable."""
    if data.startswith(MARK):
        return "\ufeff" + answer_format.decode(data[len(MARK) :])
    return answer_format.decode(data)


def read(path: str, problems: Problems) -> tuple[bytes, str]:
    """The bytes and the text of a file; both empty, and a problem, where it cannot be read."""
    problems.file = path
    try:
        data = answer_format.read_bytes(path, MAX_BYTES)
        return data, decode(data)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return b"", ""
