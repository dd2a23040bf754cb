"""export: a run's report as a file."""

from __future__ import annotations

import argparse
import hashlib
import os

from issuance import runs, store
from issuance.commands.audit import held
from issuance.commands.verify import add_run
from issuance.console import EXIT_OK, Commands, Parser, Progress, add_store, exits, unusable
from issuance.exports import bundle, page, text
from issuance.exports.material import Material
from issuance.issuing import now
from issuance.runs import Held, Run, Unfit
from issuance.store import Damaged, append
from issuance.verifying import verify

MOST_CONTEXT = 1_000


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "export",
        help="write a run's report to a file",
        description=(
            "Write the report of a run, with the tier, its reasons and what is missing on top: as Markdown (--text);\n"
            "as one HTML file in which every number opens its evidence (--report); or as the same with the stored\n"
            "data inside (--bundle), which recomputes its hashes in the reader's browser, and which verify takes for\n"
            "a run. Neither needs a network. That it was exported is noted after the run's sealed events."
        ),
        epilog=exits("it was written", "", "bad usage, no such run, or a file that cannot be written"),
    )
    add_run(parser)
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--text", metavar="FILE", help="the Markdown file to write")
    group.add_argument("--report", metavar="FILE", help="the HTML file to write")
    group.add_argument("--bundle", metavar="FILE", help="the HTML file to write, with the stored data")
    parser.add_argument(
        "--context", metavar="N", type=rows, default=2, help="rows to show around a cited one (default: 2)"
    )
    add_store(parser)
    parser.set_defaults(run=run)


def rows(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > MOST_CONTEXT:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {MOST_CONTEXT}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    format = "text" if options.text is not None else "report" if options.report is not None else "bundle"
    file = options.text if format == "text" else options.report if format == "report" else options.bundle
    progress = Progress()
    try:
        found, data = exported(options, format, progress)
    finally:
        progress.clear()
    save(file, data, found, format)
    return EXIT_OK


def exported(options: argparse.Namespace, format: str, progress: Progress) -> tuple[Run, bytes]:
    """The run, and the bytes of its export. Raises Unusable, NoRun and StoreFault."""
    if format == "report":
        found = runs.find(options.run_, options.store)
        contents = started(found)
    else:
        found, contents = held(options.run_, options.store)
    try:
        if format == "text":
            return found, text.as_text(contents)
        material = Material(contents, verify(found, None, progress), options.context)
        progress("page")
        if format == "report":
            return found, page.render(material)
        return found, bundle.render(material, found.events or b"", found.record or b"")
    except (Damaged, Unfit) as fault:
        raise unusable(found.folder, None, fault.args[-1]) from None


def started(found: Run) -> Held:
    """What a run holds, also one that was stopped before it was sealed. Raises Unusable."""
    try:
        return Held(found.store, runs.whole_events(found) if found.record is not None else runs.unsealed_events(found))
    except Unfit as fault:
        raise unusable(found.folder, None, fault.args[0]) from None


def save(file: str, data: bytes, found: Run, format: str) -> None:
    """Write an export, and note it in its run. Raises Unusable and StoreFault."""
    path = os.path.realpath(file)
    if is_within(path, found.store.root) or is_within(path, found.folder):
        raise unusable(file, None, "is in the store, where nothing that is sealed is overwritten")

    def note() -> None:
        if found.record is None:
            return  # it may be going on still, and its events are its own until it ends
        append(found.folder, now(), "report.exported", format=format, sha256=hashlib.sha256(data).hexdigest())

    with store.faults(file, "cannot be written"):
        target = file if os.path.exists(file) else path  # a pipe has no path of its own
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(data)
            note()  # once it is written: closing it may fail
        else:
            store.write_whole(path, data, note)


def is_within(path: str, folder: str) -> bool:
    top = os.path.realpath(folder)
    return os.path.commonpath([top, path]) == top
