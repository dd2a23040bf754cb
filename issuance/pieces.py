"""The pieces of a report that is being composed, and what violates its rules."""

from __future__ import annotations

from typing import Any, NamedTuple

BARE_NUMBER, BAD_MARKER, CONTRADICTION, HIDDEN = "bare_number", "bad_marker", "contradiction", "hidden_character"
VALUES = ("metric", "input", "cell")  # citations that are values


class Violation(NamedTuple):
    """draft[start:end] == text."""

    kind: str
    start: int
    end: int
    text: str
    message: str


class Piece(NamedTuple):
    """A part of the report's text and the part of the draft that it comes from, verbatim where it cites nothing."""

    text: str
    start: int
    end: int
    citation: dict[str, Any] | None = None
    unit: str | None = ""  # which a number in it bears; None for one that may be given any
