"""export: a run's report as a file."""

from __future__ import annotations

import argparse
import hashlib

from issuance import exporting, store
from issuance.commands.audit import held
from issuance.commands.verify import add_run
from issuance.console import EXIT_OK, Commands, Parser, add_store, exits, unusable
from issuance.issuing import now
from issuance.runs import Unfit
from issuance.store import Damaged, Log


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "export",
        help="write a run's report to a file",
        description=(
            "Write the rendered Markdown of a sealed run, with the tier, its reasons and what is missing on top, and\n"
            "note after the run's sealed events that it was exported."
        ),
        epilog=exits("it was written", "", "there is no such run, it is not sealed, or the file cannot be written"),
    )
    add_run(parser)
    parser.add_argument("--text", metavar="FILE", required=True, help="the Markdown file to write")
    add_store(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found, contents = held(options.run_, options.store)
    try:
        data = exporting.as_text(contents)
    except (Damaged, Unfit) as fault:
        raise unusable(found.folder, None, fault.args[-1]) from None
    with store.faults(options.text, "cannot be written"):
        store.write_whole(options.text, data)
    log = Log(found.folder, found.events or b"")
    log.append(now(), "report.exported", format="text", sha256=hashlib.sha256(data).hexdigest())
    return EXIT_OK


