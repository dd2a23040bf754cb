"""How long composing and checking a cited report takes, against tracing as many numbers by value.

    python3 tests/bench/composing.py

A draft of 10,000 markers between words is composed with all checks; the report that comes of it is traced by value. Then a
draft of ten times as many is composed, against ten of the first. Times are the best of several rounds. Exit 1 where a limit
is exceeded.
"""

from __future__ import annotations

import gc
import json
import pathlib
import random
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from answer_format import Problems  # noqa: E402
from issuance import cards, job, report, tracing  # noqa: E402
from issuance.caliber import Caliber  # noqa: E402
from issuance.evidence import Evidence  # noqa: E402
from issuance.snapshots import Snapshot  # noqa: E402

ROUNDS = 5
MARKERS = 10_000
METRICS = 1_000
WORDS = "sales of the region were good this month and we expect that more will come from new stores which opened".split()


def evidence() -> Evidence:
    """A card of metrics in several units, and a snapshot of as many cells."""
    units = ("", "$", "元", "%", "orders")
    metrics = [
        {"id": f"m{index}", "name": f"Metric {index}", "unit": units[index % 5], "decimals": index % 3, "format": "plain",
         "expression": f"cell(pull, {index}, 'n') / 8"}
        for index in range(METRICS)
    ]  # fmt: skip
    card = cards.read(
        json.dumps({"card_version": "1", "name": "bench", "version": "1", "metrics": metrics}).encode(), "card", Problems()
    )
    spec = {
        "job_version": "1", "id": "bench", "title": "Bench", "sources": [{"id": "shop", "sqlite": "shop.db"}],
        "queries": [{"id": "pull", "source": "shop", "sql": "SELECT n FROM t"}], "caliber": {"card": "card.json"},
    }  # fmt: skip
    found = job.read(json.dumps(spec).encode(), "job", Problems())
    assert card is not None and found is not None
    content = {
        "query": "pull", "name": "Q1", "truncated": False, "columns": [{"name": "n", "masked": False}], "file": None,
        "lines": None, "rows": [[index * 997 + 10] for index in range(METRICS)],
    }  # fmt: skip
    computed = Caliber(card, {"pull": Snapshot("0" * 64, content)}, {})
    return Evidence(found, computed, [], {}, lambda hash: True)


def draft(markers: int) -> str:
    chance = random.Random(1)
    parts = []
    for number in range(markers):
        words = " ".join(chance.choices(WORDS, k=8))
        place = chance.randrange(METRICS)
        marker = f"[[v:Q1.r{place}.n]]" if number % 4 == 0 else f"[[m:m{place}]]"
        parts.append(f"{words} {marker}" + (".\n\n" if number % 5 == 4 else " "))
    return "".join(parts)


def best(*actions: Callable[[], object]) -> list[float]:
    """The least seconds that each took, in rounds of all, so that a busy moment of the machine meets none alone."""
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for action in actions:
            gc.collect()
            started = time.perf_counter()
            action()
            times.append(time.perf_counter() - started)
        rounds.append(times)
    return list(map(min, zip(*rounds)))


def main() -> int:
    gc.disable()
    cites = evidence()
    once, more = draft(MARKERS), draft(10 * MARKERS)
    made = report.compose(once, cites)
    assert not made.violations, made.violations[:3]
    metrics = cites.caliber.metrics()
    composing, traced, ten, longer = best(
        lambda: report.encode(report.compose(once, cites)),
        lambda: tracing.trace(made.text, metrics),
        lambda: [report.encode(report.compose(once, cites)) for _ in range(10)],
        lambda: report.encode(report.compose(more, cites)),
    )
    status = 0
    for what, ratio, limit in (
        (f"composing {MARKERS:,} markers against tracing as many numbers", composing / traced, 1.0),
        ("ten times the markers", 10 * longer / ten, 12.0),
    ):
        over = ", OVER" if ratio > limit else ""
        print(f"{what:<62} {ratio:6.2f} (limit {limit:g}{over})")
        status |= ratio > limit
    print(f"{composing:.2f} s to compose, {traced:.2f} s to trace, {longer:.2f} s for ten times as many, {ten:.2f} s for ten")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
