"""verify: whether anything of a sealed run has changed since."""

from __future__ import annotations

import argparse
import os
import re

from answer_format import quoted
from issuance import runs
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    PROGRAM,
    Commands,
    Parser,
    Progress,
    Unusable,
    add_format,
    add_store,
    exits,
    print_json,
    print_lines,
    unusable,
)  # fmt: skip
from issuance.exports import bundle
from issuance.listing import shown
from issuance.store import RUN_ID, faults, read_whole
from issuance.verifying import Verification, verify


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "verify",
        help="prove that nothing of a run has changed, or name what has",
        description=(
            "Read again everything that a run's sealed events name, from the store alone, and recompute hashes,\n"
            "metrics, text, number checks and tier. A seal does not prove who made it, or when: whoever can rewrite\n"
            "the whole store can make a new one. Compare it with one that you were given (--seal).\n"
            "RUN may also be a bundle that export has written: then the run inside is verified, and that the file is,\n"
            "byte for byte, what it renders to."
        ),
        epilog=exits(
            "every check holds",
            "anything differs, or the run is not sealed",
            "bad usage, no such run, or an output that cannot be written",
        ),
    )
    add_run(parser, "a run's folder, its id, latest, or an exported bundle")
    parser.add_argument("--seal", metavar="HEX", help="the seal that the run should have")
    add_store(parser)
    add_format(parser, "text, for people")
    parser.set_defaults(run=run)


def add_run(parser: Parser, what: str = "a run's folder, its id, or latest") -> None:
    parser.add_argument("run_", metavar="RUN", help=what)


def run(options: argparse.Namespace) -> int:
    given = options.seal.lower() if options.seal is not None else None
    if given is not None and not re.fullmatch("[0-9a-f]{64}", given):
        said = f"--seal must be the 64 hexadecimal digits of a SHA-256, not {quoted(options.seal)}"
        raise Unusable(f"{PROGRAM}: {said} (--help explains the usage)")
    progress = Progress()
    try:
        verification = verified(options.run_, options.store, given, progress)
    finally:
        progress.clear()
    if options.format == "json":
        print_json(
            {
                "run_id": verification.run_id,
                "sealed": verification.sealed,
                "holds": verification.holds,
                "checks": verification.checks,
                "seal": verification.seal,
                "appended": verification.appended,
            }
        )
    else:
        print_lines(as_text(verification))
    return EXIT_OK if verification.holds else EXIT_DIFFERS


def verified(reference: str, root: str, given: str | None, progress: Progress) -> Verification:
    """The checks of a run, or of a bundle. Raises Unusable, NoRun and StoreFault."""
    if reference == "latest" or RUN_ID(reference) or not os.path.isfile(reference):
        return verify(runs.find(reference, root), given, progress)
    with faults(reference, "cannot be read"):
        data = read_whole(reference)
    try:
        return bundle.verify_bundle(data, given, progress)
    except bundle.NoBundle as fault:
        raise unusable(reference, None, fault.args[0]) from None


def as_text(verification: Verification) -> list[str]:
    verdict = "holds" if verification.holds else "differs" if verification.sealed else "not sealed"
    lines = [f"{verdict}: run {shown(verification.run_id)}", ""]
    lines += [f"{check['status']:<12} {check['code']}: {shown(check['message'])}" for check in verification.checks]
    lines += [f"appended after sealing: {shown(type)}" for type in verification.appended]
    return [*lines, "", f"seal {verification.seal}"] if verification.seal else lines
