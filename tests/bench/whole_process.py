"""How long the program takes from start to exit, as ratios within one run.

    python3 tests/bench/whole_process.py [--runs 40]

First against the floor: a bare Python that loads the same file with json and dumps it indented. Then hostile
files of the largest size against the largest honest file. The commands of a pair run in turn, so that a drift of
the machine meets both; a ratio is that of the medians. All runs are in a folder that has the download's files and
the inputs, after one run that is not counted and in which Python may keep the bytecode of answer_format.py, as it
does by default (PYTHONDONTWRITEBYTECODE is left out; without that bytecode a run takes some 5 ms more). Exit 1
where a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_BYTES = 524_288
FLOOR = [sys.executable, "-c", "import json, sys; print(json.dumps(json.load(open(sys.argv[1])), indent=2))"]
PROGRAM = [sys.executable, "verify_answers.py"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def question() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / "cases.json").read_bytes())
    return document


def largest() -> bytes:
    """A case file of nearly the largest size: 64 cases of 34 rows, all of which pass."""
    document = question()
    baseline, cases = document["cases"][0], []
    for number in range(64):
        rows = []
        for index in range(34):
            paid = f"2026-08-{index % 31 + 1:02d}T{index % 24:02d}:{number % 60:02d}:00Z"
            row = {"id": f"invoice-{index:03d}", "paidAt": paid, "value": 1000 + index}
            rows.append({**baseline["evidence"]["rows"][0], **row})
        claim = {"value": sum(row["value"] for row in rows), "evidenceIds": [row["id"] for row in rows]}
        evidence = {**baseline["evidence"], "rows": rows}
        claim = {**baseline["claim"], **claim, "recordClaims": []}
        cases.append({**baseline, "id": f"case-{number:02d}", "evidence": evidence, "claim": claim})
    return json.dumps({**document, "cases": cases}).encode()


def filled(start: bytes, piece: bytes, end: bytes = b"") -> bytes:
    """As many pieces as the largest size has room for."""
    return start + piece * ((MAX_BYTES - len(start) - len(end)) // len(piece)) + end


def with_field(path: str, start: bytes, piece: bytes, end: bytes) -> bytes:
    """The baseline with one of its fields filled up to the largest size."""
    document = question()
    case = document["cases"][0]
    place = case[path.split(".")[0]] if "." in path else case
    place[path.split(".")[-1]] = "FILL"
    before, after = json.dumps({**document, "cases": [case]}).encode().split(b'"FILL"')
    return filled(before + start, piece, end + after)


def wrong_everywhere(rows: bytes, filler: bytes) -> bytes:
    """64 cases whose arrays are as long as they may be, with something wrong in every item."""
    zeros = b"[" + b"0," * 255 + b"0]"
    records = b"[" + b"{}," * 255 + b"{}]"
    case = b'{"claim":{"recordClaims":%s,"evidenceIds":%s},"evidence":{"datasetIds":%s,"rows":[%s]},"x":[%s0]}'
    one = case % (records, zeros, zeros, b",".join([rows] * 256), b"")
    room = MAX_BYTES - 64 * len(one) - 100
    one = case % (records, zeros, zeros, b",".join([rows] * 256), filler * max(0, room // 64 // len(filler)))
    return b'{"cases":[' + b",".join([one] * 64) + b"]}"


HOSTILE = {
    "opening brackets": filled(b"", b"["),
    "opening objects": filled(b"", b'{"a":'),
    "empty arrays": filled(b"[", b"[],", b"[]]"),
    "16 levels, again and again": filled(b"[", b"[" * 15 + b"]" * 15 + b",", b"0]"),
    "digits": filled(b"", b"1"),
    "digits of a fraction": filled(b"0.", b"1"),
    "short numbers": filled(b"[", b"0,", b"0]"),
    "fractions": filled(b"[", b"1.5,", b"0]"),
    "one string": filled(b'"', b"x", b'"'),
    "escapes": filled(b'"', b"\\u0061", b'"'),
    "backslashes": filled(b'"', b"\\\\", b'"'),
    "escaped quotes without an end": filled(b'["', b'\\"'),
    "quotes": filled(b"", b'"'),
    "wide characters": filled(b'"', "\u4e00".encode(), b'"'),
    "line ends": filled(b"", b"\n"),
    "one key again and again": filled(b"{", b'"a":0,', b'"a":0}'),
    "many keys": b"{" + b",".join(b'"%x":0' % number for number in range(47_000)) + b"}",
    "a title": with_field("title", b'"', b"x", b'"'),
    "a title of brackets": with_field("title", b'"', b"[", b'"'),
    "rows of nothing": with_field("evidence.rows", b"[", b"{},", b"{}]"),
    "citations of zero": with_field("claim.evidenceIds", b"[", b"0,", b"0]"),
    "citations of one id": with_field("claim.evidenceIds", b"[", b'"a",', b'"a"]'),
    "everything is wrong": wrong_everywhere(b"{}", b"0,"),
    "everything is wrong and repeated": wrong_everywhere(b'{"id":0,"id":0}', b"0,"),
    "everything is wrong and unknown": wrong_everywhere(b'{"0":0,"1":0,"2":0}', b"0,"),
}


def seconds(command: list[str], folder: str) -> float:
    start = time.perf_counter()
    quiet = subprocess.DEVNULL
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
    return time.perf_counter() - start


def fits(name: str, limit: float, first: list[str], second: list[str], folder: str, runs: int) -> bool:
    """Compare two commands, print a line about it, and tell whether the ratio is within its limit."""
    pairs = [(seconds(first, folder), seconds(second, folder)) for _ in range(runs + 1)][1:]
    ours, other = (statistics.median(column) for column in zip(*pairs))
    within: bool = ours / other <= limit
    figures = f"{ours * 1000:7.1f} ms {other * 1000:7.1f} ms  ratio {ours / other:5.2f}  at most {limit:.2f}"
    print(f"{name:34} {figures}  {'ok' if within else 'OVER'}", flush=True)
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="how often each command runs (default 40)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        for name in ("verify_answers.py", "answer_format.py", "cases.json", "expected.json"):
            shutil.copyfile(ROOT / name, os.path.join(folder, name))
        (pathlib.Path(folder) / "largest.json").write_bytes(largest())
        print(f"Python {sys.version.split()[0]}, median of {runs} runs, the largest file has {len(largest())} bytes")
        published = [*PROGRAM, "cases.json", "--verify", "expected.json"]
        honest = [*PROGRAM, "largest.json"]
        good = [fits("published cases against the floor", 1.4, published, [*FLOOR, "cases.json"], folder, runs)]
        good += [fits("largest file against the floor", 1.15, honest, [*FLOOR, "largest.json"], folder, runs)]
        for name, data in HOSTILE.items():
            assert len(data) <= MAX_BYTES, name
            (pathlib.Path(folder) / "hostile.json").write_bytes(data)
            good += [fits(f"hostile: {name}", 3, [*PROGRAM, "hostile.json"], honest, folder, max(3, runs // 8))]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
