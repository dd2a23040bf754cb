"""audit: what stands behind each number of a run's text."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator
from typing import Any

from issuance import auditing, runs
from issuance.commands.verify import add_run
from issuance.console import (
    EXIT_DIFFERS,
    EXIT_OK,
    Commands,
    Parser,
    add_format,
    add_store,
    exits,
    print_json,
    print_out,
    unusable,
)  # fmt: skip
from issuance.listing import shown
from issuance.runs import Held, Unfit, whole_events
from issuance.seal import Unsealed
from issuance.store import Damaged

COLUMNS = ("group", "kind", "text", "start", "end", "value", "unit", "sources", "reason")


def add(commands: Commands[Parser]) -> None:
    parser = commands.add_parser(
        "audit",
        help="say what stands behind each number of a run's text",
        description=(
            "Group the numbers of a sealed run's text: has_provenance (traced to a metric under a contract), allowed\n"
            "(by the contract), guessed (at most three sealed cells or metrics of the same value, which is no\n"
            "evidence), or no_evidence."
        ),
        epilog=exits(
            "nothing is without evidence", "a number is guessed or without evidence", "bad usage, or no such sealed run"
        ),
    )
    add_run(parser)
    add_store(parser)
    add_format(parser, "csv, a row for each number", "csv")
    parser.set_defaults(run=run)


def held(reference: str, root: str) -> tuple[runs.Run, Held]:
    """A sealed run and what it holds. Raises Unusable, NoRun and StoreFault."""
    found = runs.find(reference, root)
    try:
        return found, Held(found.store, whole_events(found))
    except (Unsealed, Unfit) as fault:
        raise unusable(found.folder, None, fault.args[0]) from None


def run(options: argparse.Namespace) -> int:
    found, contents = held(options.run_, options.store)
    try:
        groups = auditing.audit(contents)
    except (Damaged, Unfit) as fault:
        raise unusable(found.folder, None, fault.args[-1]) from None
    if options.format == "json":
        counts = {group: len(entries) for group, entries in groups.items()}
        print_json({"run_id": found.name, "summary": counts, **groups})
    else:
        print_out(as_csv(groups))
    return EXIT_DIFFERS if groups["guessed"] or groups["no_evidence"] or groups["suspicious_name"] else EXIT_OK


def as_csv(groups: dict[str, list[dict[str, Any]]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(rows(groups))
    return text.getvalue()


def rows(groups: dict[str, list[dict[str, Any]]]) -> Iterator[list[str]]:
    for group, entries in groups.items():
        for entry in entries:
            sources = "; ".join(map(source_text, entry["sources"]))
            cells = [group, *(str(entry[name]) for name in COLUMNS[1:7]), sources, entry["reason"]]
            yield list(map(harmless, cells))


def source_text(source: dict[str, Any]) -> str:
    """A source in a few words: a metric and what it was computed from, or a guess."""
    if "label" in source:
        return f"{source['source']} ({source['label']})"
    return f"{source['source']} = {source['expression']}" if "expression" in source else source["source"]


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, and no terminal for a command."""
    plain = shown(cell)
    return f"'{plain}" if plain.startswith(tuple("=+-@＝＋－＠\t")) else plain
