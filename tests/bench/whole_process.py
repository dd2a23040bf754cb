"""How long the program takes from start to exit, as a ratio to the floor: a bare Python that loads the same file
with json and dumps it indented.

    python3 tests/bench/whole_process.py [--runs 40]

Both commands run in turn, so that a drift of the machine meets both; the ratio is that of the medians. It is
measured in a folder that has only the download's files, after one run that is not counted. Exit 1 where a
ratio is over its limit.
"""

from __future__ import annotations

import argparse
import copy
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOOR = "import json, sys; print(json.dumps(json.load(open(sys.argv[1])), indent=2))"


def largest() -> bytes:
    """A case file of nearly the largest size: 64 cases of 34 rows."""
    document = json.loads((ROOT / "cases.json").read_bytes())
    baseline = document["cases"][0]
    document["cases"] = []
    for number in range(64):
        case = copy.deepcopy(baseline)
        row = case["evidence"]["rows"][0]
        rows = [
            {
                **row,
                "id": f"invoice-{n:03d}",
                "paidAt": f"2026-08-{n % 31 + 1:02d}T{n % 24:02d}:{number % 60:02d}:00Z",
                "value": 1000 + n,
            }
            for n in range(34)
        ]
        case["id"] = f"case-{number:02d}"
        case["evidence"]["rows"] = rows
        case["claim"].update(
            value=sum(row["value"] for row in rows), evidenceIds=[row["id"] for row in rows], recordClaims=[]
        )
        document["cases"].append(case)
    return json.dumps(document).encode()


def seconds(command: list[str], folder: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def compare(name: str, limit: float, first: list[str], second: list[str], folder: str, runs: int) -> bool:
    pairs = [(seconds(first, folder), seconds(second, folder)) for _ in range(runs + 1)][1:]
    ours, floor = (statistics.median(column) for column in zip(*pairs))
    fits: bool = ours / floor <= limit
    print(
        f"{name:24} {ours * 1000:7.1f} ms  {floor * 1000:7.1f} ms  ratio {ours / floor:5.2f}  at most {limit:.2f}  {'ok' if fits else 'OVER'}"
    )
    return fits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        for name in ("verify_answers.py", "answer_format.py", "cases.json", "expected.json"):
            shutil.copy(ROOT / name, folder)
        data = largest()
        (pathlib.Path(folder) / "largest.json").write_bytes(data)
        print(f"Python {sys.version.split()[0]}, {runs} runs each; the largest file has {len(data)} bytes")
        ours = [sys.executable, "verify_answers.py"]
        floor = [sys.executable, "-c", FLOOR]
        fits = [
            compare(
                "published cases",
                1.4,
                [*ours, "cases.json", "--verify", "expected.json"],
                [*floor, "cases.json"],
                folder,
                runs,
            ),
            compare("largest file", 1.15, [*ours, "largest.json"], [*floor, "largest.json"], folder, runs),
        ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
