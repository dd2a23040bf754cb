"""issue: run a job, seal the run, print the issuance."""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import Any

from answer_format import Problems
from issuance import governance, plan
from issuance.cards import shown as rendered
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    Commands,
    Parser,
    Progress,
    add_format,
    add_store,
    exits,
    print_json,
    print_lines,
    stop_at,
)  # fmt: skip
from issuance.issuing import Issued, issue
from issuance.listing import brief, counted, note, shown, statuses
from issuance.pieces import Violation
from issuance.plan import Plan
from issuance.sources import Source
from issuance.store import Store


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "issue",
        help="run a job and seal what came of it",
        description=(
            "Run a job: query its sources, store the results by their SHA-256, compute its caliber card exactly,\n"
            "trace every number of its narrative to a metric, decide the tier (formal, degraded or withheld), and\n"
            "seal the run in the store. The job names files, SQL and inputs, and belongs to whoever evaluates."
        ),
        epilog=exits(
            "the tier is formal",
            "the tier is degraded or withheld, or the run failed",
            "bad usage, an unusable job, source or store (nothing is sealed), or output that cannot be written",
        ),
    )
    parser.add_argument("job", metavar="JOB", help="a job file; paths in it are relative to its folder")
    parser.add_argument(
        "--input",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="another value for an input that the job declares; may be given again",
    )
    add_store(parser)
    add_format(parser, "text, for people")
    parser.set_defaults(run=run)


def load(path: str, given: list[str], decided: bool) -> Plan:
    """The plan of a job; see plan.load. Raises Unusable."""
    problems = Problems()
    found = plan.load(path, problems, given, decided)
    stop_at(problems)
    assert found is not None
    return found


@contextlib.contextmanager
def opened(found: Plan) -> Any:
    """The sources of a plan by their ids, closed at the end. Raises SourceFault."""
    with contextlib.ExitStack() as stack:
        sources = {}
        for spec in found.job.sources.values():
            sources[spec.id] = Source(spec, found.folder)
            stack.callback(sources[spec.id].close)
        yield sources


def run(options: argparse.Namespace) -> int:
    found = load(options.job, options.input, decided=True)
    stop_at(refusals(found, options.job))
    progress = Progress()
    with opened(found) as sources:
        try:
            issued = issue(found, sources, Store(options.store), progress)
        finally:
            progress.clear()
    if options.format == "json":
        print_json(as_json(issued, options.store))
    else:
        print_lines(as_text(issued, options.store))
    return EXIT_OK if issued.record["tier"] == "formal" else EXIT_DIFFERS


def refusals(found: Plan, path: str) -> Problems:
    """The gates that keep a governed formal run from starting."""
    problems = Problems()
    problems.file = path
    for refusal in governance.refusals(found.job, found.card.card, found.fields[1] if found.fields else {}):
        problems.add("level", refusal)
    return problems


def as_json(issued: Issued, root: str) -> dict[str, Any]:
    record = issued.record
    content = {
        "run_id": issued.run_id,
        "run": os.path.join(root, "runs", issued.run_id),
        **{name: record[name] for name in ("status", "tier", "reasons", "missing", "numbers", "seal")},
    }
    if issued.checked.violations:
        content["violations"] = [one._asdict() for one in issued.checked.violations]
    if issued.checked.claims:
        content["claims"] = issued.checked.claims._asdict()
    if issued.bump:
        content["version_bump"] = issued.bump
    warnings: list[dict[str, str]] = [{"message": said} for said in record["warnings"]]
    for query in record["queries"]:
        warnings += [{"query": query["query"], "message": said} for said in query["warnings"]]
    return {**content, "warnings": warnings} if warnings else content


def as_text(issued: Issued, root: str) -> list[str]:
    record, caliber = issued.record, issued.caliber
    lines = [f"{record['tier'] or record['status']}: {shown(record['title'])}", ""]
    width = max((len(id) for id in caliber.card.metrics), default=0)
    for id, metric in caliber.card.metrics.items():
        value = rendered(metric, caliber.values[id]) if id in caliber.values else " - ".join(caliber.troubles[id])
        lines.append(f"  {id:<{width}}  {shown(value)}")
    numbers = record["numbers"]
    lines += ["", f"{counted(numbers['total'], 'number', 'numbers')}: {statuses(numbers)}"]
    if issued.checked.violations:
        lines += map(violation_line, issued.checked.violations)
    else:
        lines += [f"  {note(one)}" for one in issued.checked.traced if one.status == "untraced"]
    lines += [f"{reason['code']}: {shown(reason['message'])}" for reason in record["reasons"]]
    lines += bump_lines(issued.bump) if issued.bump else []
    lines += [f"warning: {shown(said)}" for said in record["warnings"]]
    for query in record["queries"]:
        lines += [f"warning: {query['query']}: {said}" for said in query["warnings"]]
    return [*lines, "", f"run  {shown(os.path.join(root, 'runs', issued.run_id))}", f"seal {record['seal']}"]


def violation_line(one: Violation) -> str:
    return f"  {one.kind} at {one.start}: {shown(one.text[:80])}: {shown(one.message)}"


def bump_lines(bump: dict[str, Any]) -> list[str]:
    lines = [f"version {bump['newest']} computed this, not the pinned {bump['pinned']}: {bump['policy']}"]
    for entry in bump.get("values", []):
        lines.append(f"  {entry['metric']}: {short(entry['pinned'])} before, {short(entry['newest'])} now")
    for earlier in bump.get("runs", []):
        lines.append(f"  run {earlier['run_id']}" + (f" of version {earlier['card']}" if earlier["card"] else ""))
        for entry in earlier.get("values", []):
            lines.append(f"    {entry['metric']}: {short(entry['old'])} before, {short(entry['new'])} now")
        if "not_computed" in earlier:
            lines.append(f"    not computed: {shown(earlier['not_computed'])}")
    if bump["policy"] == "incomparable":
        lines.append("  the values are not comparable with those of earlier runs")
    return lines


def short(value: str | None) -> str:
    return "no value" if value is None else brief(value)
