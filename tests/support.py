"""What the tests share: a baseline case file, edits of it, and two ways to run the program."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import re
import sys
import tempfile
from typing import Any, NamedTuple
from unittest import mock

import verify_answers

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOWNLOAD = ("verify_answers.py", "answer_format.py", "cases.json", "expected.json")
DROP = object()


class Run(NamedTuple):
    status: int
    out: str
    err: str


def baseline() -> dict[str, Any]:
    """The published question with its first case only, the answer that passes."""
    document: dict[str, Any] = json.loads((ROOT / "cases.json").read_bytes())
    document["cases"] = document["cases"][:1]
    return document


def edited(document: dict[str, Any], edits: dict[str, Any]) -> dict[str, Any]:
    """A copy with other values at some paths; DROP removes what is there.

    A path that starts with a field of a case is one of the first case: claim.value is cases[0].claim.value.
    """
    document = copy.deepcopy(document)
    for path, value in edits.items():
        steps = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
        place: Any = document["cases"][0] if steps[0] in document["cases"][0] else document
        for step in steps[:-1]:
            place = place[step]
        if value is DROP:
            del place[steps[-1]]
        else:
            place[steps[-1]] = value
    return document


def row(id: str, **fields: Any) -> dict[str, Any]:
    """A paid invoice of the question, with some fields otherwise."""
    return {**baseline()["cases"][0]["evidence"]["rows"][0], "id": id, **fields}


def as_bytes(document: object) -> bytes:
    return json.dumps(document).encode("ascii")


def run_in_process(*arguments: str) -> Run:
    """Run the command line in this process; what it writes to descriptors 1 and 2 is caught."""
    written: dict[int, str] = {1: "", 2: ""}

    def write(descriptor: int, text: str) -> None:
        written[descriptor] += text

    with mock.patch.object(verify_answers, "write", write), mock.patch.object(sys, "argv", ["x", *arguments]):
        try:
            status = verify_answers.run()
        except SystemExit as ended:  # --help and --version
            status = int(ended.code or 0)
    return Run(status, written[1], written[2])


def run_on(cases: bytes, expected: bytes | None = None, *options: str) -> Run:
    """Run the command line on files with these bytes, which messages call CASES and EXPECTED."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"CASES": os.path.join(folder, "cases.json"), "EXPECTED": os.path.join(folder, "expected.json")}
        pathlib.Path(paths["CASES"]).write_bytes(cases)
        arguments = [paths["CASES"], *options]
        if expected is not None:
            pathlib.Path(paths["EXPECTED"]).write_bytes(expected)
            arguments += ["--verify", paths["EXPECTED"]]
        status, out, err = run_in_process(*arguments)
        for name, path in paths.items():
            err = err.replace(path, name)
    return Run(status, out, err)
