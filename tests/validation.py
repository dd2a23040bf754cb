"""Run every boundary case and every command line of the tests, and say what each gave.

A case gives a judgment with its reason codes, or invalid_input with the paths of what is wrong (syntax, for what
is no JSON), or an exit code. It passed where that, and every message with it, is what was specified.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import verify_answers
from tests import boundaries, command_lines
from tests.support import ROOT, Run, as_bytes, baseline, edited, run_on


def all_cases() -> list[dict[str, Any]]:
    """One entry a case: its id, whether it passed, and what it gave."""
    return [*published(), *judged(), *fitting(), *refused(), *refused_bytes(), *refused_expectations(), *lines()]


def entry(id: str, passed: bool, **gave: Any) -> dict[str, Any]:
    return {"id": id, "passed": passed, **gave}


def published() -> Iterator[dict[str, Any]]:
    """The twelve cases, against their expectations."""
    run = run_on((ROOT / "cases.json").read_bytes())
    expected = {result["id"]: result for result in json.loads((ROOT / "expected.json").read_bytes())["results"]}
    for result in json.loads(run.out)["results"]:
        gave = verdict(result)
        passed = gave == {name: expected[result["id"]][name] for name in gave}
        yield entry(f"published-{result['id']}", passed, **gave)


def judged() -> Iterator[dict[str, Any]]:
    holds = {check.code: check.holds for check in verify_answers.CHECKS}
    for case in boundaries.JUDGED:
        run = run_on(as_bytes(edited(baseline(), case.edits)))
        result = json.loads(run.out)["results"][0]
        messages = {**holds, **case.reasons, **case.unchecked}
        passed = (run.status, run.err, result["judgment"]) == (0, "", case.judgment)
        passed = passed and [reason["code"] for reason in result["reasons"]] == list(case.reasons)
        passed = passed and [(check["code"], check["message"]) for check in result["checks"]] == list(messages.items())
        yield entry(case.id, passed, **verdict(result))


def verdict(result: dict[str, Any]) -> dict[str, Any]:
    return {"judgment": result["judgment"], "reasonCodes": [reason["code"] for reason in result["reasons"]]}


def fitting() -> Iterator[dict[str, Any]]:
    for path, values in boundaries.FITTING.items():
        for name, value in values.items():
            run = run_on(as_bytes(edited(baseline(), {path: value})))
            yield entry(f"fits-{path}-{name}", run.status == 0 and run.err == "", exitCode=run.status)


def refused() -> Iterator[dict[str, Any]]:
    for case in boundaries.REFUSED:
        run = run_on(as_bytes(edited(baseline(), case.edits)))
        yield refusal(
            case.id, run, run.err.splitlines() == [f"verify_answers: CASES: {line}" for line in case.problems]
        )


def refused_bytes() -> Iterator[dict[str, Any]]:
    for case in boundaries.NOT_OF_THE_FORMAT:
        run = run_on(case.data)
        yield refusal(case.id, run, run.err.splitlines()[0] == f"verify_answers: CASES: {case.problem}")
    for case in boundaries.NOT_JSON:
        run = run_on(case.data)
        line = re.escape(f"verify_answers: CASES: {case.problem}") + r"(: not JSON: [A-Z][ -~]+)?\n"
        yield refusal(case.id, run, re.fullmatch(line, run.err) is not None)


def refused_expectations() -> Iterator[dict[str, Any]]:
    for case in boundaries.REFUSED_EXPECTATIONS:
        run = run_on(as_bytes(baseline()), as_bytes({**boundaries.EXPECTED, **case.edit}))
        yield refusal(
            case.id, run, run.err.splitlines() == [f"verify_answers: EXPECTED: {line}" for line in case.problems]
        )


def refusal(id: str, run: Run, as_specified: bool) -> dict[str, Any]:
    """An input that has to be refused: exit 2, the problems that were specified, and no output."""
    places = [line.split(": ")[2] for line in run.err.splitlines() if line.startswith("verify_answers: ")]
    paths = ["syntax" if place.startswith("line ") else place for place in dict.fromkeys(places)]
    return entry(id, as_specified and (run.status, run.out) == (2, ""), outcome="invalid_input", paths=paths)


def lines() -> Iterator[dict[str, Any]]:
    runs = command_lines.run_all()
    for case in command_lines.COMMAND_LINES:
        run = runs[case.id]
        agrees = command_lines.agrees(run.out, case.out) and command_lines.agrees(run.err, case.err)
        yield entry(f"command-{case.id}", agrees and run.status == case.status, exitCode=run.status)
