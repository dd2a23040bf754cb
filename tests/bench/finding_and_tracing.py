"""How long finding and tracing numbers takes, as ratios within one run.

    python3 tests/bench/finding_and_tracing.py [--texts FOLDER]

FOLDER has en.txt and zh.txt, such as real reports; without it, the sentences of the tests are repeated, which have more
numbers than any prose, so that the first two ratios have no limit. Finding the
numbers of a text is set against a bare re.findall("[0-9]+") on the same text, then ten times the text against the
text, tracing 100,000 numbers against 100,000 metrics against finding them, and hostile texts against prose. Each time
is the best of several, and what is compared is measured in turn. Exit 1 where a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import re
import sys
import time
from collections.abc import Callable
from decimal import Decimal

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from issuance.metrics import Metric  # noqa: E402
from issuance.numerals.finding import find  # noqa: E402
from issuance.numerals.plain import Plain  # noqa: E402
from issuance.tracing import trace  # noqa: E402
from tests.sentences import HOSTILE_PIECES  # noqa: E402


def best(rounds: int, *works: Callable[[], object]) -> list[float]:
    """The best time of each work in seconds, the works taking turns."""
    times = [float("inf")] * len(works)
    for _ in range(rounds):
        for index, work in enumerate(works):
            gc.collect()
            start = time.perf_counter()
            work()
            times[index] = min(times[index], time.perf_counter() - start)
    return times


def text_of(folder: str | None, name: str) -> str:
    if folder:
        return (pathlib.Path(folder) / f"{name}.txt").read_text(encoding="utf-8")
    table = ROOT / "tests" / "sentences" / ("english.jsonl" if name == "en" else "chinese.jsonl")
    sentences = [json.loads(line)["text"] for line in table.read_text(encoding="utf-8").splitlines()]
    return "\n\n".join(sentence for sentence in sentences if "```" not in sentence and "~~~" not in sentence) * 4


def found(text: str) -> int:
    return len(find(Plain(text)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", metavar="FOLDER", help="a folder with en.txt and zh.txt")
    folder = parser.parse_args().texts
    over = False

    def say(what: str, ratio: float, limit: float, detail: str) -> None:
        nonlocal over
        over = over or ratio > limit
        print(f"{what:<52} {ratio:6.2f} (limit {limit:g}{', OVER' if ratio > limit else ''})  {detail}")

    for name, limit in (("en", 25), ("zh", 70)):
        text = text_of(folder, name)
        bare, finding = best(15, lambda text=text: re.findall("[0-9]+", text), lambda text=text: found(text))  # type: ignore[misc]
        speed = len(text.encode()) / finding / 1e6
        say(
            f"{name}: finding against re.findall",
            finding / bare,
            limit if folder else float("inf"),
            f"{speed:.1f} MB/s, {found(text)} numbers",
        )
    for name in ("en", "zh"):
        text = text_of(folder, name)
        ten_times, ten = best(7, lambda text=text: [found(text) for _ in range(10)], lambda text=text: found(text * 10))  # type: ignore[misc]
        say(
            f"{name}: ten times the text",
            10 * ten / ten_times,
            11,
            f"{ten_times * 1e3:.0f} ms in ten, {ten * 1e3:.0f} ms in one",
        )
    numbers = [f"{1000 + 7 * index % 900_000}.{index % 10}" for index in range(100_000)]
    narrative = " stores, ".join(numbers)
    metrics = [Metric(f"m{index}", "", Decimal(number), index % 3 == 0) for index, number in enumerate(numbers)]
    finding, both = best(5, lambda: found(narrative), lambda: trace(narrative, metrics))
    detail = f"{finding:.2f} s and {both - finding:.2f} s"
    say("tracing 100,000 numbers against finding them", (both - finding) / finding, 1, detail)
    prose = text_of(folder, "en") + text_of(folder, "zh")
    (usual,) = best(3, lambda: found(prose))
    slowest = ("", 0.0)
    for piece in HOSTILE_PIECES:
        hostile = piece * (20_000 // len(piece))
        (seconds,) = best(1, lambda: found(hostile))  # noqa: B023
        slowest = max(slowest, (piece, seconds / len(hostile)), key=lambda pair: pair[1])
    ratio = slowest[1] / (usual / len(prose))
    say("the slowest of hostile texts against prose", ratio, 40, f"per character; it repeats {slowest[0]!a}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
