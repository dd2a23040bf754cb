"""trace: list the numbers of a text, and which metric backs each."""

from __future__ import annotations

import argparse
import os

from answer_format import Problems
from issuance import listing, metrics, texts, tracing
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    PROGRAM,
    Commands,
    Parser,
    Progress,
    Unusable,
    add_store,
    colour,
    exits,
    print_out,
    stop_at,
)  # fmt: skip


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
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
            + exits(
                "no number is untraced",
                "at least one number is untraced",
                "bad usage, an unusable file, or an output that cannot be written",
            )
        ),
    )
    parser.add_argument("narrative", metavar="NARRATIVE", help="a UTF-8 text or Markdown file; - is standard input")
    parser.add_argument(
        "--metrics", metavar="METRICS.json", help="the metrics that the numbers must trace to; - is standard input"
    )
    parser.add_argument(
        "--allow",
        metavar="TEXT",
        action="append",
        default=[],
        help="a number, such as that of an issue, that passes untraced, by its text or its value in any unit; may be "
        "given again; a negative one needs the form --allow=-5",
    )
    add_store(parser)
    parser.add_argument(
        "--format",
        choices=("json", "text"),
        default="json",
        help="what standard output gets: json (default), or text, the narrative with its numbers marked: [traced], "
        "[!untraced], [~allowed]",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.narrative == options.metrics == "-":
        raise Unusable(f"{PROGRAM}: standard input can be NARRATIVE or METRICS, not both (--help explains the usage)")
    problems = Problems()
    _, narrative = texts.read(options.narrative, problems)
    known = None if options.metrics is None else metrics.load(options.metrics, problems)
    stop_at(problems)
    allow = [os.fsencode(text).decode("utf-8", "surrogateescape") for text in options.allow]  # in every locale
    progress = Progress()

    def read(done: int, total: int) -> None:
        progress(f"{100 * done // total:3} % read")

    traced = tracing.trace(narrative, known, allow, read if progress.on_terminal else None)
    progress.clear()
    if options.format == "text":
        print_out(listing.as_text(narrative, traced, colour()))
    else:
        print_out(listing.as_json(traced))
    return EXIT_DIFFERS if any(one.status == "untraced" for one in traced) else EXIT_OK
