"""judge: have one claim of an exploratory run judged, on demand."""

from __future__ import annotations

import argparse
import os

from answer_format import quoted
from issuance import claims, judging
from issuance.commands.audit import held
from issuance.commands.verify import add_run
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    PROGRAM,
    Commands,
    Parser,
    Unusable,
    add_format,
    add_store,
    exits,
    print_error,
    print_json,
    print_lines,
    unusable,
)  # fmt: skip
from issuance.issuing import now
from issuance.listing import shown
from issuance.programs import Broken
from issuance.runs import Held, Unfit
from issuance.spending import Spending
from issuance.store import Damaged, append


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "judge",
        help="have one claim of an exploratory run judged",
        description=(
            "Ask the judge that the job of a sealed exploratory run names for one claim of its report, and note the\n"
            "verdict after the sealed events. It changes no tier. The program runs in the folder that --folder names,\n"
            "which should be the job's. Its command line is the stored job's: read it in a store that you were given."
        ),
        epilog=exits(
            "the claim is supported, or the sentence is no claim",
            "it is not or only partially supported, or the judge gave no verdict",
            "bad usage, no such sealed exploratory run, or no such claim in it",
        ),
    )
    add_run(parser)
    parser.add_argument("sentence", metavar="SENTENCE-ID", help="a sentence of the report, such as S3")
    parser.add_argument("--folder", metavar="DIR", default=".", help="where the judge runs (default: here)")
    add_store(parser)
    add_format(parser, "text, for people")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found, contents = held(options.run_, options.store)
    try:
        return judge(options, found.folder, contents)
    except (Damaged, Unfit) as fault:
        raise unusable(found.folder, None, fault.args[-1]) from None


def judge(options: argparse.Namespace, folder: str, contents: Held) -> int:
    job, report = contents.job(), contents.report()
    if job.report is None or job.report.judge is None or report is None:
        raise unusable(folder, None, "its job names no judge")
    if job.mode != "exploratory":
        raise unusable(folder, None, "is a formal run, whose verdicts are sealed")
    if not os.path.isdir(options.folder):
        raise Unusable(f"{PROGRAM}: --folder must be a folder, not {quoted(options.folder)}")
    claim = next((claim for claim in claims.claims(report) if claim.id == options.sentence), None)
    if claim is None:
        raise unusable(folder, None, f"has no claim {quoted(options.sentence)}")
    caps = job.report.caps._replace(report_usd=None, sentences=None)
    asked = judging.Judge(
        job.report.judge, options.folder, caps, Spending(contents.store.root), job.report.writer_model
    )
    evidence = contents.evidence()
    try:
        verdict = asked.ask(claim, judging.shown_to(evidence.caliber, evidence.chunks, claim))
    except Broken as fault:
        print_error([f"{PROGRAM}: {shown(folder)}: {claim.id}: {shown(fault.args[0])}"])
        return EXIT_DIFFERS
    append(folder, now(), "claim.judged", sentence=claim.id, **verdict)
    said = {"run_id": contents.sealed.started["run_id"], "sentence": claim.id, "text": claim.text, **verdict}
    if asked.warnings:
        said["warnings"] = asked.warnings
    if options.format == "json":
        print_json(said)
    else:
        lines = [f"{verdict['verdict']}: {claim.text}", verdict.get("reason", ""), *asked.warnings]
        print_lines(shown(line.replace("\n", " ")) for line in lines if line)
    return EXIT_OK if verdict["verdict"] in ("supported", "not_a_claim") else EXIT_DIFFERS
