"""What the commands share: their parser, their output, and how they say that something is unusable."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from answer_format import Problems
from issuance.listing import shown

PROGRAM = "issuance"
EXIT_OK, EXIT_DIFFERS, EXIT_UNUSABLE, EXIT_BUG = 0, 1, 2, 70
WIDTH = 72  # of a line of progress
MAX_LINE = 600  # of a message


class Unusable(Exception):
    """No result, or no output, is possible; the lines that are its arguments say why."""


class Parser(argparse.ArgumentParser):
    """A parser whose help is the same on every Python and terminal, and which exits where this program does."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100))
        super().__init__(allow_abbrev=False, **options)
        self._optionals.title = "options"

    def error(self, message: str) -> NoReturn:
        raise Unusable(f"{PROGRAM}: {shown(message)} (--help explains the usage)")

    def _print_message(self, message: str, file: object = None) -> None:
        print_out(message)


Commands = argparse._SubParsersAction  # what a command adds its parser to


def exits(*meanings: str) -> str:
    """The part of a help that says what the exit statuses 0, 1 and so on mean."""
    lines = [f"  {status:<3} {meaning}" for status, meaning in enumerate(meanings) if meaning]
    return "\n".join(["exit status:", *lines, "  70  a bug in this program"])


def add_store(parser: Parser) -> None:
    """The option --store, which every command takes."""
    parser.add_argument(
        "--store", metavar="DIR", type=folder, default="data", help="the folder of the runs (default: data)"
    )


def folder(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must name a folder")
    return text


def add_format(parser: Parser, what: str, other: str = "text") -> None:
    said = f"what standard output gets: json (default), or {what}"
    parser.add_argument("--format", choices=("json", other), default="json", help=said)


def cut(line: str) -> str:
    """A line of a message, which is no longer than the exercise's."""
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 3]}..."


def unusable(path: str, where: str | None, sentence: str) -> Unusable:
    """One thing that is wrong with a file."""
    problems = Problems()
    problems.file = path
    problems.add(where, sentence)
    return Unusable(*problems.lines(PROGRAM))


def stop_at(problems: Problems) -> None:
    """Raise Unusable where there are problems."""
    if problems.count:
        raise Unusable(*problems.lines(PROGRAM))


class Progress:
    """What is being done now, on a terminal and only there."""

    def __init__(self) -> None:
        self.on_terminal = sys.stderr is not None and sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self.on_terminal:
            sys.stderr.write(f"\r{shown(text)[:WIDTH]:<{WIDTH}}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self.on_terminal:
            sys.stderr.write(f"\r{'':<{WIDTH}}\r")
            sys.stderr.flush()


def colour() -> bool:
    """Whether standard output may be coloured."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_json(content: Any) -> None:
    print_out(json.dumps(content, indent=2) + "\n")


def print_lines(lines: Iterable[str]) -> None:
    print_out("".join(f"{line}\n" for line in lines))


def print_out(text: str) -> None:
    """Write a text as UTF-8, whatever the locale says."""
    if sys.stdout is None:
        raise Unusable(f"{PROGRAM}: standard output: cannot be written: it is closed")
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise Unusable(f"{PROGRAM}: standard output: cannot be written: {fault.strerror}") from None


def print_error(lines: Iterable[str]) -> None:
    text = "".join(f"{shown(line)}\n" for line in lines)
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        sys.stderr.flush()
    except OSError:
        pass
