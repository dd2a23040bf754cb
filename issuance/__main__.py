"""The command line: python3 -m issuance COMMAND ..."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

import answer_format
from answer_format import Problems
from issuance import listing, metrics, tracing

PROGRAM = "issuance"
EXIT_OK, EXIT_UNTRACED, EXIT_UNUSABLE, EXIT_BUG = 0, 1, 2, 70


class Unusable(Exception):
    """No result, or no output, is possible; the lines that are its arguments say why."""


class Parser(argparse.ArgumentParser):
    """A parser whose help is the same on every Python and terminal, and which exits where this program does."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100))
        super().__init__(**options)
        self._optionals.title = "options"

    def error(self, message: str) -> NoReturn:
        raise Unusable(f"{PROGRAM}: {listing.shown(message)} (--help explains the usage)")

    def _print_message(self, message: str, file: object = None) -> None:
        print_out(message)


def parser() -> Parser:
    top = Parser(
        prog=f"python3 -m {PROGRAM}",
        description="Check reports against the evidence that they claim to rest on.",
        allow_abbrev=False,
    )
    commands = top.add_subparsers(
        title="commands", dest="command", required=True, parser_class=Parser, metavar="COMMAND"
    )
    add_trace(commands)
    return top


def add_trace(commands: argparse._SubParsersAction[Parser]) -> None:
    trace = commands.add_parser(
        "trace",
        help="list the numbers of a text, and which metric backs each",
        description=(
            "List every number that a text states, in English or Chinese and however it is written, with its exact\n"
            "value, the interval that its precision stands for, its unit and its place; and for each whether one of\n"
            "the metrics backs it. Dates, ordinals, names, code and figures of speech are not numbers."
        ),
        epilog=(
            'METRICS.json is {"metrics": [{"id": "gmv", "unit": "$", "value": "45678.5", "change": true}, ...]}; a\n'
            'value is a JSON number or a decimal string and is read exactly, "change": true says that it is a change\n'
            "whose sign the text must respect; name, unit and change may be left out.\n\n"
            "exit status:\n"
            "  0   no number is untraced\n"
            "  1   at least one number is untraced\n"
            "  2   bad usage, an unusable file, or an output that cannot be written\n"
            "  70  a bug in this program"
        ),
        allow_abbrev=False,
    )
    trace.add_argument("narrative", metavar="NARRATIVE", help="a UTF-8 text or Markdown file; - is standard input")
    trace.add_argument(
        "--metrics", metavar="METRICS.json", help="the metrics that the numbers must trace to; - is standard input"
    )
    trace.add_argument(
        "--allow",
        metavar="TEXT",
        action="append",
        default=[],
        help="a number, such as that of an issue, that passes untraced, by its text or its value in any unit; may be "
        "given again; a negative one needs the form --allow=-5",
    )
    trace.add_argument(
        "--format",
        choices=("json", "text"),
        default="json",
        help="what standard output gets: json (default), or text, the narrative with its numbers marked: [traced], "
        "[!untraced], [~allowed]",
    )
    trace.set_defaults(run=run_trace)


def run_trace(options: argparse.Namespace) -> int:
    if options.narrative == options.metrics == "-":
        raise Unusable(f"{PROGRAM}: standard input can be NARRATIVE or METRICS, not both (--help explains the usage)")
    problems = Problems()
    narrative = read_text(options.narrative, problems)
    known = None if options.metrics is None else metrics.load(options.metrics, problems)
    if problems.count:
        raise Unusable(*problems.lines(PROGRAM))
    allow = [os.fsencode(text).decode("utf-8", "surrogateescape") for text in options.allow]  # in every locale
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    traced = tracing.trace(narrative, known, allow, show_progress if on_terminal else None)
    if on_terminal:
        clear_progress()
    if options.format == "text":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        print_out(listing.as_text(narrative, traced, colour))
    else:
        print_out(listing.as_json(traced))
    return EXIT_UNTRACED if any(one.status == "untraced" for one in traced) else EXIT_OK


def read_text(path: str, problems: Problems) -> str:
    """The text of a file, every code point as it is there; empty, and a problem, where it cannot be read."""
    problems.file = path
    try:
        data = answer_format.read_bytes(path, metrics.MAX_BYTES)
        mark = b"\xef\xbb\xbf"
        if data.startswith(mark):
            return "\ufeff" + answer_format.decode(data[len(mark) :])
        return answer_format.decode(data)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return ""


def show_progress(done: int, total: int) -> None:
    sys.stderr.write(f"\r{100 * done // total:3} % read")
    sys.stderr.flush()


def clear_progress() -> None:
    sys.stderr.write("\r          \r")
    sys.stderr.flush()


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


def main(arguments: list[str]) -> int:
    """Run a command and return its exit status. Raises Unusable, and BrokenPipeError where nobody reads on."""
    options = parser().parse_args(arguments)
    return int(options.run(options))


def run() -> int:
    """Run main and return the exit status of whatever came of it."""
    try:
        return main(sys.argv[1:])
    except Unusable as fault:
        print_error(fault.args)
        return EXIT_UNUSABLE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that nothing is written again at exit
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        return 128 + signal.SIGINT
    except Exception:
        print_error(traceback.format_exc().splitlines())
        return EXIT_BUG


def print_error(lines: list[str] | tuple[str, ...]) -> None:
    text = "".join(f"{listing.shown(line)}\n" for line in lines)
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        sys.stderr.flush()
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(run())
