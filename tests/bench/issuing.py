"""How long issuing and verifying a run takes and how much memory, as ratios within one run.

    python3 tests/bench/issuing.py

A job with a snapshot of 1,000,000 cells, a card of 1,000 metrics and a narrative of 10,000 numbers is issued and verified
by processes of their own, whose peak memory is read from the system. Then cells, metrics and numbers are each taken ten
times, with little of the others, and the time is set against that of the single one; and the time of verify against
that of issue. Times are the best of several rounds and are taken within one process, without its start. Exit 1 where
a limit is exceeded.
"""

from __future__ import annotations

import gc
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from answer_format import Problems  # noqa: E402
from issuance import plan, runs  # noqa: E402
from issuance.issuing import issue  # noqa: E402
from issuance.sources import Source  # noqa: E402
from issuance.store import Store  # noqa: E402
from issuance.verifying import verify  # noqa: E402

COLUMNS = 10
MEBIBYTES = 512
ROUNDS = 3


def write_job(folder: pathlib.Path, cells: int, metrics: int, numbers: int) -> str:
    """A job of that size: half of the columns hold integers, half REALs; every number of the narrative traces."""
    folder.mkdir()
    rows = cells // COLUMNS
    names = [f"c{index}" for index in range(COLUMNS)]
    with sqlite3.connect(folder / "shop.db") as database:
        types = ", ".join(f"{name} {'INTEGER' if index % 2 else 'REAL'}" for index, name in enumerate(names))
        database.execute(f"CREATE TABLE t ({types})")
        database.executemany(
            f"INSERT INTO t VALUES ({', '.join('?' * COLUMNS)})",
            (
                tuple(row * 7 + index if index % 2 else (row * 7 + index) / 8 for index in range(COLUMNS))
                for row in range(rows)
            ),
        )
    database.close()
    definitions = [
        {
            "id": f"m{index}", "name": f"Metric {index}", "unit": "", "decimals": 2, "format": "plain",
            "expression": f"cell(pull, {index % rows}, 'c1') + 0 * sum(pull, '{names[index % COLUMNS]}')"
            if index < metrics // 2 else f"(m{index - 1} + m{index // 2}) / 2",
        }
        for index in range(metrics)
    ]  # fmt: skip
    (folder / "card.json").write_text(
        json.dumps({"card_version": "1", "name": "bench", "version": "1", "metrics": definitions})
    )
    stated = [number % (metrics // 2) % rows * 7 + 1 for number in range(numbers)]
    (folder / "narrative.md").write_text(" stores, ".join(map(str, stated)) + " stores.\n")
    job = {
        "job_version": "1", "id": "bench", "title": "Bench", "mode": "formal",
        "sources": [{"id": "shop", "sqlite": "shop.db"}],
        "queries": [
            {"id": "pull", "source": "shop", "sql": f"SELECT {', '.join(names)} FROM t", "max_rows": rows,
             "timeout_seconds": 600}
        ],
        "caliber": {"card": "card.json", "version": "1"},
        "narrative": "narrative.md",
        "contract": {"required": ["m0"]},
    }  # fmt: skip
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    return str(path)


def peak(arguments: list[str]) -> tuple[int, float]:
    """The exit status of a command, and the most memory that its process had, in MiB."""
    process = subprocess.Popen(
        [sys.executable, "-m", "issuance", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.returncode in (0, 1), said
    scale = 1024**2 if sys.platform == "darwin" else 1024
    return process.returncode, usage.ru_maxrss / scale


def timed(path: str, store: str) -> tuple[float, float]:
    """The seconds that issuing a job and verifying its run take."""
    gc.collect()
    start = time.perf_counter()
    problems = Problems()
    found = plan.load(path, problems, [], True)
    assert found is not None, problems.lines("bench")
    sources = {id: Source(spec, found.folder) for id, spec in found.job.sources.items()}
    issued = issue(found, sources, Store(store), lambda text: None)
    for source in sources.values():
        source.close()
    run_id, issued_tier, issuing = issued.run_id, issued.record["tier"], time.perf_counter() - start
    del found, issued, sources
    gc.collect()
    start = time.perf_counter()
    verification = verify(runs.find(run_id, store), None, lambda text: None)
    assert verification.holds, verification.checks
    assert issued_tier == "formal", issued_tier
    return issuing, time.perf_counter() - start


def main() -> int:
    gc.disable()  # as the command line does
    over = False

    def say(what: str, figure: float, limit: float, detail: str) -> None:
        nonlocal over
        over = over or figure > limit
        print(f"{what:<44} {figure:7.2f} (limit {limit:g}{', OVER' if figure > limit else ''})  {detail}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        store = str(folder / "store")
        whole = write_job(folder / "whole", 1_000_000, 1_000, 10_000)
        _, issuing = peak(["issue", whole, "--store", store])
        _, verifying = peak(["verify", "latest", "--store", store])
        say("issue: peak memory in MiB", issuing, MEBIBYTES, "1,000,000 cells, 1,000 metrics, 10,000 numbers")
        say("verify: peak memory in MiB", verifying, MEBIBYTES, "the same")
        best = [min(times) for times in zip(*(timed(whole, store) for _ in range(ROUNDS)))]
        say("verify against issue", best[1] / best[0], 1.2, f"{best[1]:.2f} s and {best[0]:.2f} s")
        for what, small, large in (
            ("cells", (100_000, 10, 10), (1_000_000, 10, 10)),
            ("metrics", (100, 1_000, 10), (100, 10_000, 10)),
            ("numbers", (100, 10, 10_000), (100, 10, 100_000)),
        ):
            one, ten = (write_job(folder / f"{what}{index}", *size) for index, size in enumerate((small, large)))
            pairs = [(timed(one, store), timed(ten, store)) for _ in range(ROUNDS)]
            for step, command in enumerate(("issue", "verify")):
                first, second = (min(pair[side][step] for pair in pairs) for side in (0, 1))
                say(f"ten times the {what}: {command}", second / first, 12, f"{first:.2f} s and {second:.2f} s")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
