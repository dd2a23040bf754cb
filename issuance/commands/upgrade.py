"""upgrade: show how a job whose narrative is checked by value becomes one with a cited draft."""

from __future__ import annotations

import argparse
import contextlib
import os

from answer_format import Problems
from issuance import checking, issuing, job, queries, store, upgrading
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
from issuance.listing import shown
from issuance.plan import Plan
from issuance.sources import Source
from issuance.store import StoreFault


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "upgrade",
        help="show how a narrative becomes a cited draft",
        description=(
            "Run a job's queries and show, as a unified diff, how its narrative becomes a draft in which a marker\n"
            "stands for each number that traces to exactly one metric or cell. The others are left, and listed on\n"
            "standard error. Nothing is stored."
        ),
        epilog=exits(
            "every number has its marker, or there is nothing to upgrade",
            "numbers are left, or check does not pass and nothing was written",
            "bad usage, or an unusable job or source",
        ),
    )
    parser.add_argument("job", metavar="JOB", help="a job file")
    parser.add_argument(
        "--write", action="store_true", help="change the job and its narrative in place, if check then passes"
    )
    add_store(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = load(options.job, [], decided=False)
    if found.narrative is None or found.job.narrative is None:
        return EXIT_OK
    path = job.within(found.folder, found.job.narrative)
    others = [job.within(found.folder, named) for where, named in job.paths(found.job) if where != ((), "narrative")]
    if os.path.realpath(path) in map(os.path.realpath, [options.job, *others]):
        raise unusable(options.job, "narrative", "is also another file of the job, which would be changed")
    before = found.job.data.decode("utf-8")
    after = upgrading.upgraded_job(before, found.job.narrative)
    if after is None:
        raise unusable(options.job, "narrative", "cannot be changed in place: write it as one JSON text")
    with opened(found) as sources:
        upgraded = upgrade(found, sources)
        print_out(
            upgrading.difference(shown(options.job), before, after)
            + upgrading.difference(shown(path), found.narrative[1], upgraded.draft)
        )
        for one in upgraded.left:
            print_error([f"{PROGRAM}: {shown(path)}: {one.start}: {shown(one.text)} is left: {one.reason}"])
        if not options.write:
            return EXIT_DIFFERS if upgraded.left else EXIT_OK
        if failing := failed_checks(found, after, upgraded.draft, sources):
            said = f"is not written, as check does not pass: {'; '.join(failing)}"
            print_error([f"{PROGRAM}: {shown(options.job)}: {said}"])
            return EXIT_DIFFERS
    with store.faults(path, "cannot be written"):
        store.write_whole(os.path.realpath(path), upgraded.draft.encode("utf-8"))
    try:
        with store.faults(options.job, "cannot be written"):
            store.write_whole(os.path.realpath(options.job), after.encode("utf-8"))
    except StoreFault:
        with contextlib.suppress(OSError):
            store.write_whole(os.path.realpath(path), found.narrative[0])  # so that both stay as they were
        raise
    return EXIT_DIFFERS if upgraded.left else EXIT_OK


def upgrade(found: Plan, sources: dict[str, Source]) -> upgrading.Upgrade:
    """The upgrade of a plan, from the results that its queries have now."""
    inputs = found.job.inputs
    snapshots = {
        query.id: issuing.snapshot_of(queries.run(query, sources[query.source], inputs), query, inputs)
        for query in found.job.queries.values()
    }
    computed = Caliber(found.card.card, snapshots, found.job.inputs, found.fields[1] if found.fields else {})
    schemas = {id: source.schema() for id, source in sources.items()}
    cites = issuing.evidence_of(found.job, computed, schemas, [], None)
    assert found.narrative is not None
    return upgrading.settled(found.narrative[1], found.job, computed, cites)


def failed_checks(found: Plan, text: str, draft: str, sources: dict[str, Source]) -> list[str]:
    """The checks that the upgraded job does not pass."""
    problems = Problems()
    changed = job.read(text.encode("utf-8"), found.file, problems)
    if changed is None:
        return problems.lines(PROGRAM)
    after = found._replace(job=changed, narrative=None, draft=(draft.encode("utf-8"), draft))
    checks = checking.check(after, sources)["checks"]
    return [f"{check['code']}: {check['message']}" for check in checks if check["status"] == checking.FAIL]
