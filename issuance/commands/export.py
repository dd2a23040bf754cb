"""export: a run's report as a file."""

from __future__ import annotations

import argparse
import hashlib
import os

from issuance import exporting, store
from issuance.commands.audit import held
from issuance.commands.verify import add_run
from issuance.console import EXIT_OK, Commands, Parser, add_store, exits, unusable
from issuance.issuing import now
from issuance.runs import Unfit
from issuance.store import Damaged, append


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "export",
        help="write a run's report to a file",
        description=(
            "Write the rendered Markdown of a sealed run, with the tier, its reasons and what is missing on top, and\n"
            "note after the run's sealed events that it was exported."
        ),
        epilog=exits("it was written", "", "bad usage, no such sealed run, or a file that cannot be written"),
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
    path = os.path.realpath(options.text)
    if is_within(path, found.store.root) or is_within(path, found.folder):
        raise unusable(options.text, None, "is in the store, where nothing that is sealed is overwritten")

    def note() -> None:
        append(found.folder, now(), "report.exported", format="text", sha256=hashlib.sha256(data).hexdigest())

    with store.faults(options.text, "cannot be written"):
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as device:
                note()
                device.write(data)
        else:
            store.write_whole(path, data, note)
    return EXIT_OK


def is_within(path: str, folder: str) -> bool:
    top = os.path.realpath(folder)
    return os.path.commonpath([top, path]) == top


