"""upgrade: show how a job whose narrative is checked by value becomes one with a cited draft."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable

from answer_format import Problems, quoted
from issuance import checking, contract, issuing, job, queries, report, store, upgrading
from issuance.caliber import Caliber
from issuance.commands.issue import load, opened
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    PROGRAM,
    Commands,
    Parser,
    add_store,
    exits,
    print_error,
    print_out,
    unusable,
)  # fmt: skip
from issuance.evidence import Evidence
from issuance.listing import shown
from issuance.plan import Plan
from issuance.sources import Source


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "upgrade",
        help="show how a narrative becomes a cited draft",
        description=(
            "Run a job's queries and show, as a unified diff, how its narrative becomes a draft in which a marker\n"
            "stands for each number that traces to exactly one metric, or is exactly one cell's, and that the report\n"
            "then shows again. The others are left, and listed on standard error; so are those of a job that has a\n"
            "draft already. Nothing is stored."
        ),
        epilog=exits(
            "every number has its marker, or there is nothing to upgrade",
            "numbers are left, or check does not pass and nothing was written",
            "bad usage, or an unusable job or source",
        ),
    )
    parser.add_argument("job", metavar="JOB", help="a job file")
    parser.add_argument(
        "--write",
        action="store_true",
        help="change the job and its narrative in place, if check then passes",
    )
    add_store(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = load(options.job, [], decided=False)
    if found.narrative is None or found.job.narrative is None:
        return what_is_left(found)
    path = job.within(found.folder, found.job.narrative)
    others = [job.within(found.folder, named) for where, named in job.paths(found.job) if where != ((), "narrative")]
    if os.path.realpath(path) in map(os.path.realpath, [options.job, *others]):
        raise unusable(options.job, "narrative", "is also another file of the job, which would be changed")
    if held := contract.cited_by_value(found.narrative[1]):
        raise unusable(options.job, "narrative", f"holds citation markers already, the first: {quoted(held[0])}")
    before = found.job.data.decode("utf-8")
    after = upgrading.upgraded_job(before, found.job.narrative)
    if after is None:
        raise unusable(options.job, "narrative", "cannot be changed in place: write it as one JSON text")
    with opened(found) as sources:
        upgraded = upgrading.settled(found.narrative[1], found.job, *evidence_now(found, sources))
        print_out(
            upgrading.difference(shown(options.job), before, after)
            + upgrading.difference(shown(path), found.narrative[1], upgraded.draft)
        )
        print_left(path, upgraded.left)
        if not options.write:
            return EXIT_DIFFERS if upgraded.left else EXIT_OK
        if failing := failed_checks(found, after, upgraded.draft, sources):
            said = f"is not written, as check does not pass: {'; '.join(failing)}"
            print_error([f"{PROGRAM}: {shown(options.job)}: {said}"])
            return EXIT_DIFFERS
    write(options.job, (found.job.data, after.encode("utf-8")), path, upgraded.draft.encode("utf-8"))
    return EXIT_DIFFERS if upgraded.left else EXIT_OK


def print_left(path: str, left: Iterable[upgrading.Left]) -> None:
    for one in left:
        print_error([f"{PROGRAM}: {shown(path)}: {one.start}: {shown(one.text)} is left: {one.reason}"])


def what_is_left(found: Plan) -> int:
    """The exit status for a job that has no narrative; what violates a rule in its draft is listed as left."""
    if found.job.report is None or found.draft is None:
        return EXIT_OK
    with opened(found) as sources:
        _, cites = evidence_now(found, sources)
        allow = found.job.contract.allow if found.job.contract else []
        violations = report.compose(found.draft[1], cites, allow).violations
    path = job.within(found.folder, found.job.report.draft)
    print_left(path, [upgrading.Left(one.text, one.start, one.message) for one in violations])
    return EXIT_DIFFERS if violations else EXIT_OK


def write(path: str, contents: tuple[bytes, bytes], narrative: str, draft: bytes) -> None:
    """Write a job and its draft. contents are the job's before and after; both files stay as they were on a fault.

    The job goes first: if only it is written, its draft is the narrative with bare numbers, which violate. The other
    way round a narrative with markers, which are no numbers, would be checked by value.
    """
    before, after = contents
    with store.faults(path, "cannot be written"):
        store.write_whole(os.path.realpath(path), after)
    try:
        with store.faults(narrative, "cannot be written"):
            store.write_whole(os.path.realpath(narrative), draft)
    except BaseException:
        with contextlib.suppress(OSError):
            store.write_whole(os.path.realpath(path), before)
        raise


def evidence_now(found: Plan, sources: dict[str, Source]) -> tuple[Caliber, Evidence]:
    """What the card of a plan gives, and what its report can cite, from the results that its queries have now."""
    inputs = found.job.inputs
    snapshots = {
        query.id: issuing.snapshot_of(queries.run(query, sources[query.source], inputs), query, inputs)
        for query in found.job.queries.values()
    }
    computed = Caliber(found.card.card, snapshots, found.job.inputs, found.fields[1] if found.fields else {})
    schemas = {id: source.schema() for id, source in sources.items()}
    texts = [(path, text) for path, (_, text) in zip(found.job.knowledge, found.knowledge)]
    return computed, issuing.evidence_of(found.job, computed, schemas, texts, None)


def failed_checks(found: Plan, text: str, draft: str, sources: dict[str, Source]) -> list[str]:
    """What check says against the upgraded job, if it does not pass."""
    problems = Problems()
    changed = job.read(text.encode("utf-8"), found.file, problems)
    if changed is None:
        return problems.lines(PROGRAM)
    after = found._replace(job=changed, narrative=None, draft=(draft.encode("utf-8"), draft))
    checks = checking.check(after, sources)["checks"]
    return [f"{check['code']}: {check['message']}" for check in checks if check["status"] == checking.FAIL]
