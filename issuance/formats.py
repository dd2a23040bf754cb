"""Kinds of values that the package's JSON files share, over the one strict reader in answer_format."""

from __future__ import annotations

import functools
import re
from typing import Any

import answer_format
from answer_format import Leaf, Problems, Repeating
from issuance.numerals.plain import is_hidden

MAX_BYTES = 64 * 1024 * 1024
FUNCTIONS = ("cell", "sum", "avg", "min", "max", "count", "abs", "round")


def parse(data: bytes, kind: answer_format.Kind, file: str, problems: Problems) -> Any:
    """The content of a JSON document that has been read already; None, or any JSON, where problems were added."""
    problems.file = file
    try:
        value = answer_format.parse_json(data)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return None
    kind(value, (), problems)
    return value


def record_with(required: dict[str, Any], optional: dict[str, Any], *rules: answer_format.Kind) -> answer_format.Kind:
    """Objects with the required fields and any of the optional ones."""

    @functools.cache
    def record_of(present: frozenset[str]) -> answer_format.Kind:
        fields = {name: kind for name, kind in optional.items() if name in present}
        return answer_format.record(*rules, **required, **fields)

    def check(value: Any, path: answer_format.Path, problems: Problems) -> None:
        present = frozenset(optional.keys() & value.keys()) if isinstance(value, dict) else frozenset()
        record_of(present)(value, path, problems)

    return check


def mapping(names: Leaf, kind: answer_format.Kind, least: int, most: int = 10_000) -> answer_format.Kind:
    """Objects whose keys are names of the author's choice."""

    def check(value: Any, path: answer_format.Path, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add(path, "must be an object, not", value)
            return
        if not least <= len(value) <= most:
            problems.add(path, f"must have {least} to {most} fields, not {len(value)}")
        if isinstance(value, Repeating):
            for name, times in value.times.items():
                problems.add((path, name), f"must stand once in its object, not {times} times")
        for name, part in value.items():
            if not names.accepts(name):
                problems.add(path, f"must have names that are {names.phrase}, not", name)
            else:
                kind(part, (path, name), problems)

    return check


def anything(value: Any, path: answer_format.Path, problems: Problems) -> None:
    """For what nothing looks at: only keys that repeat are wrong in it."""
    if isinstance(value, Repeating):
        for name, times in value.times.items():
            problems.add((path, name), f"must stand once in its object, not {times} times")
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        anything(part, (path, step), problems)


DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?").fullmatch


def is_decimal(value: Any) -> bool:
    return type(value) is int or isinstance(value, str) and bool(DECIMAL(value))


BOOLEAN = answer_format.one_of(True, False)
UNIT = Leaf(
    "text of at most 80 code points without control characters",
    lambda value: type(value) is str and len(value) <= 80 and not any(map(is_hidden, value)),
)
VERSION = answer_format.matching("a whole number as text", "[1-9][0-9]{0,8}")
HASH = answer_format.matching("a SHA-256 in hexadecimal", "[0-9a-f]{64}")
SHAPED_AS_NAME = re.compile("[a-z][a-z0-9_]{0,79}").fullmatch
NAME = Leaf(
    "a name ([a-z][a-z0-9_]{0,79}) that is no function's",
    lambda value: type(value) is str and SHAPED_AS_NAME(value) and value not in FUNCTIONS,
)
