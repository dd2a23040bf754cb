"""check: what publishing demands of a job, without running its report."""

from __future__ import annotations

import argparse

from issuance import checking
from issuance.commands.issue import load, opened
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    Commands,
    Parser,
    add_format,
    add_store,
    exits,
    print_json,
    print_lines,
)
from issuance.listing import shown


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "check",
        help="say whether a job is fit to be published, without running it",
        description=(
            "Read a job and all that it names strictly, check its SQL against its sources, its caliber versions and,\n"
            "for the level governed, the gates G1 to G6. No query is run."
        ),
        epilog=exits(
            "everything holds, warnings aside", "something does not hold", "bad usage, or an unusable job or source"
        ),
    )
    parser.add_argument("job", metavar="JOB", help="a job file")
    add_store(parser)
    add_format(parser, "text, for people")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = load(options.job, [], decided=False)
    with opened(found) as sources:
        said = checking.check(found, sources)
    if options.format == "json":
        print_json(said)
    else:
        lines = [f"{check['status']:<12} {check['code']}: {shown(check['message'])}" for check in said["checks"]]
        warned = [entry for entry in said["sql"] if entry["level"] == "warning"]
        print_lines([*lines, *(f"warning: {entry['query']}: {shown(entry['message'])}" for entry in warned)])
    return EXIT_OK if said["holds"] else EXIT_DIFFERS
