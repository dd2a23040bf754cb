"""runs: what a store holds."""

from __future__ import annotations

import argparse

from issuance import runs
from issuance.console import EXIT_OK, Commands, Parser, add_format, add_store, exits, print_json, print_lines
from issuance.listing import shown
from issuance.store import Store


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "runs",
        help="list the runs of a store",
        description="List the runs of a store, the oldest first: id, job, time, tier and seal. verify looks closer.",
        epilog=exits("the runs are listed", "", "bad usage, or a store that cannot be read"),
    )
    add_store(parser)
    add_format(parser, "text, a line for each run")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = runs.listing(Store(options.store))
    if options.format == "json":
        print_json({"runs": found})
    else:
        rows = [[str(run[name] or "-") for name in ("run_id", "job", "time", "tier", "seal")] for run in found]
        print_lines(shown("  ".join([*row, run["note"]]).rstrip()) for row, run in zip(rows, found))
    return EXIT_OK
