"""How exporting and reading Markdown grow, and how soon a large bundle answers in a browser.

    python3 tests/bench/exporting.py

Reports with so many cited cells are issued, exported as bundles and verified as files; ten times the numbers are set
against the single ones. Markdown made of one piece of markup over and over is set against four times as much of it. Where
a browser is found, a bundle of 10,000 numbers is opened at one of them: how long until its evidence shows, and the
longest time for which the page did not answer while it checked itself. Times are the best of several rounds. Exit 1 where
a limit is exceeded.
"""

from __future__ import annotations

import contextlib
import gc
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from answer_format import Problems  # noqa: E402
from issuance import plan, runs  # noqa: E402
from issuance.exports import bundle, markdown  # noqa: E402
from issuance.exports.material import Material  # noqa: E402
from issuance.issuing import issue  # noqa: E402
from issuance.runs import Held  # noqa: E402
from issuance.sources import Source  # noqa: E402
from issuance.store import Store  # noqa: E402
from issuance.verifying import verify  # noqa: E402
from tests.browser import Browser, found  # noqa: E402

ROUNDS = 3
NUMBERS = 10_000
PIECES = (
    "*a ", "a* ", "**a*", "*a_b", "[a](", "](a", "](b)", "[a](b)", "[a](https://b)", "[[", "![a](", "![", "`a", "``a`", "&amp", "&#1",
    "<https://", "- a\n", "  - a\n", "> a\n", ">", "> - ", "|a", "|a|\n|-|\n", "|a|b|\n|-|\n", "```\n", "```a\n~~~\n", "# a #", "a #",
    "1. a\n\n", "a\n=\n", "* *", "-\n\n", " \n", "a\n", "a  \n", "_a_", "*a**b", "~~a", "\\`", "[a [b] ", "]]", "(a)", "[[m:", "a *`b",
)  # fmt: skip
STATE = "document.getElementById('verification').dataset.state"
LONGEST = f"""new Promise((done) => {{
  let last = performance.now(), longest = 0;
  const tick = () => {{
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if ({STATE} === "checking") setTimeout(tick); else done([longest, {STATE}]);
  }};
  tick();
}})"""


def write_job(folder: pathlib.Path, numbers: int) -> str:
    """A job whose report cites so many cells of one query."""
    folder.mkdir()
    rows = ",\n".join(f"({number}, {number + 100_000})" for number in range(numbers))
    (folder / "shop.sql").write_text(f"CREATE TABLE t (id INTEGER, cents INTEGER);\nINSERT INTO t VALUES\n{rows};\n")
    metric = {"id": "total", "name": "Total", "unit": "", "decimals": 0, "format": "plain", "expression": "sum(pull, 'cents')"}
    (folder / "card.json").write_text(
        json.dumps({"card_version": "1", "name": "bench", "version": "1", "metrics": [metric]})
    )
    (folder / "draft.md").write_text("".join(f"- Shop sold [[v:Q1.r{number}.cents]]\n" for number in range(numbers)))
    job = {
        "job_version": "1", "id": "bench", "title": "Bench", "mode": "formal",
        "sources": [{"id": "shop", "sqlite_script": "shop.sql"}],
        "queries": [{"id": "pull", "source": "shop", "sql": "SELECT * FROM t ORDER BY id", "max_rows": numbers,
                     "timeout_seconds": 600}],
        "caliber": {"card": "card.json", "version": "1"}, "report": {"draft": "draft.md"},
        "contract": {"required": ["total"]},
    }  # fmt: skip
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    return str(path)


@contextlib.contextmanager
def issued(path: str, store: str) -> Iterator[runs.Run]:
    problems = Problems()
    plan_of = plan.load(path, problems, [], True)
    assert plan_of is not None, problems.lines("bench")
    sources = {id: Source(spec, plan_of.folder) for id, spec in plan_of.job.sources.items()}
    made = issue(plan_of, sources, Store(store), quiet)
    for source in sources.values():
        source.close()
    yield runs.find(made.run_id, store)


def quiet(text: str) -> None:
    """No progress."""


def exported(run: runs.Run) -> bytes:
    held = Held(run.store, runs.whole_events(run))
    return bundle.render(Material(held, verify(run, None, quiet), 2), run.events or b"", run.record or b"")


def verified(data: bytes) -> None:
    assert bundle.verify_bundle(data, None, quiet).holds


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """How long something takes in its best round."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    gc.disable()  # as the command line does
    over = False

    def say(what: str, figure: float, limit: float, detail: str) -> None:
        nonlocal over
        over = over or figure > limit
        print(f"{what:<52} {figure:7.2f} (limit {limit:g}{', OVER' if figure > limit else ''})  {detail}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bundles, times = [], []
        for size in (NUMBERS // 10, NUMBERS):
            with issued(write_job(folder / str(size), size), str(folder / "store")) as run:
                bundles.append(exported(run))
                times.append((seconds(lambda: exported(run)), seconds(lambda: verified(bundles[-1]))))
        for step, what in enumerate(("exporting a bundle", "verifying its file")):
            one, ten = times[0][step], times[1][step]
            say(f"ten times the numbers: {what}", ten / one, 12, f"{one:.2f} s and {ten:.2f} s")
        worst, piece = max((growth(piece), piece) for piece in PIECES)
        say("four times the Markdown, the worst piece", worst, 8, repr(piece))
        if found() is None:
            print("no browser was found: how soon a bundle answers was not measured")
            return 1 if over else 0
        file = folder / "bundle.html"
        file.write_bytes(bundles[1])
        start = time.perf_counter()
        with Browser() as browser, browser.open(str(file), "n9000") as page:
            page.wait("document.getElementById('chosen-text').textContent")
            say("a bundle of 10,000 numbers: seconds until it opens", time.perf_counter() - start, 10, f"{len(bundles[1]):,} bytes")
            longest, state = page.evaluate(LONGEST)
            assert state == "holds", state
            say("longest time without an answer in seconds", longest / 1000, 2, "while it checks itself")
    return 1 if over else 0


def growth(piece: str) -> float:
    """How many times longer four times as much of a piece takes."""
    few, many = piece * 5_000, piece * 20_000
    return seconds(lambda: markdown.read(many)) / max(seconds(lambda: markdown.read(few)), 0.002)


if __name__ == "__main__":
    sys.exit(main())
