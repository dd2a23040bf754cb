"""Make the published records: python3 -m tests.publish

observed.json is what the published command prints; validation-results.json says what every boundary case and
command line gave; run-metadata.json says when and where that was, from which bytes, and what it does not show.
Nothing in them is typed in but the last. The tests make the records anew in memory and compare.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from tests import validation
from tests.support import DOWNLOAD, ROOT

COMMAND = ["verify_answers.py", "cases.json", "--verify", "expected.json"]
OF_THE_RUN = ("startedAt", "endedAt", "python", "system", "machine")
NOT_SHOWN = [
    "that an answer, an agent, a provider or a service is right or reliable: the cases are local examples",
    "that the evidence of a case is authentic, complete upstream, or was obtained with a right to it",
    "that the prose of a case says what its claim says: only structured claims are checked",
    "that the program is free of faults beyond the cases that are listed in validation-results.json",
]
# The published command in an isolated process without packages, which tells whether it reached for anything outside.
AUDITED = """
import sys
outside = []
def audit(event, args):
    kind = event.partition(".")[0]
    if kind in ("socket", "subprocess", "ctypes") or event in ("os.exec", "os.fork", "os.posix_spawn", "os.system"):
        outside.append(event)
sys.addaudithook(audit)
sys.path.append(".")
import verify_answers
sys.argv = sys.argv[1:]
status = verify_answers.run()
print(*outside, file=sys.stderr)
sys.exit(status)
"""


class Records(NamedTuple):
    observed: bytes
    validation: bytes
    metadata: bytes


def as_document(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode("ascii")


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def make() -> Records:
    """All three records, from runs that happen now."""
    started = now()
    run, used = published_run()
    cases = validation.all_cases()
    passed = sum(case["passed"] for case in cases)
    counts = {"total": len(cases), "passed": passed, "failed": len(cases) - passed}
    validated = as_document({"schemaVersion": "1.0.0", **counts, "checks": cases})
    content = {name: (ROOT / name).read_bytes() for name in DOWNLOAD}
    content.update({"observed.json": run.stdout, "validation-results.json": validated})
    metadata = {
        "schemaVersion": "1.0.0",
        "startedAt": started,
        "endedAt": now(),
        "command": " ".join(["python3", *COMMAND]),
        "exitCode": run.returncode,
        "summary": run.stderr.decode("ascii").strip(),
        "python": {"version": platform.python_version(), "implementation": platform.python_implementation()},
        "system": platform.system(),
        "machine": platform.machine(),
        "used": used,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in content.items()},
        "expectationsFixed": expectations_fixed(),
        "doesNotShow": NOT_SHOWN,
    }
    return Records(run.stdout, validated, as_document(metadata))


def published_run() -> tuple[subprocess.CompletedProcess[bytes], dict[str, bool]]:
    """The published command in a folder that has only the download, and whether it used what it should not need.

    It gives the same in a process that has no packages (-I -S) and is watched for sockets and other processes;
    without those there is no account and no model that it could have asked.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in DOWNLOAD:
            shutil.copyfile(ROOT / name, os.path.join(folder, name))
        run = run_in(folder, *COMMAND)
        audited = run_in(folder, "-I", "-S", "-c", AUDITED, *COMMAND)
    if audited.stdout != run.stdout or audited.returncode != run.returncode:
        raise RuntimeError("the audited run is not the published one")
    outside = audited.stderr.splitlines()[-1] != b""
    return run, {"packages": False, "network": outside, "account": outside, "model": outside}


def run_in(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def git(*arguments: str) -> str | None:
    """What git says of this repository; None where it says nothing, or where there is no repository of its own."""
    try:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def history_is_whole() -> bool:
    """Whether the history of this very folder is at hand, from its first commit on."""
    top = git("rev-parse", "--show-toplevel")
    return top == str(ROOT) and git("rev-parse", "--is-shallow-repository") == "false"


def expectations_fixed() -> dict[str, Any] | None:
    """The commit that brought expected.json, its time and the file's hash then; it is older than the runner.

    None where the history is not whole: no repository of its own, a shallow one, or one that took in all files at
    once. A runner that is not younger, and expectations that were changed since, are errors.
    """
    first, runner = first_commit("expected.json"), first_commit("verify_answers.py")
    if not history_is_whole() or first is None or runner is None or first == runner:
        return None
    commit, time = first
    if git("merge-base", "--is-ancestor", commit, runner[0]) is None:
        raise RuntimeError("the expectations are not older than the runner")
    data = subprocess.run(["git", "show", f"{commit}:expected.json"], cwd=ROOT, capture_output=True, check=True).stdout
    if data != (ROOT / "expected.json").read_bytes():
        raise RuntimeError("the expectations were changed after they were fixed")
    return {"commit": commit, "committedAt": time, "sha256": hashlib.sha256(data).hexdigest()}


def first_commit(name: str) -> tuple[str, str] | None:
    """The hash and the time of the first commit that has a file."""
    lines = (git("log", "--format=%H %ct", "--diff-filter=A", "--", name) or "").splitlines()
    if not lines:
        return None
    commit, time = lines[-1].split()
    moment = datetime.datetime.fromtimestamp(int(time), datetime.timezone.utc)
    return commit, moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> int:
    records = make()
    if json.loads(records.metadata)["expectationsFixed"] is None:
        print(
            "publish: the history is not whole, and without it nobody can say when the expectations were fixed",
            file=sys.stderr,
        )
        return 2
    for name, data in zip(("observed.json", "validation-results.json", "run-metadata.json"), records):
        (ROOT / name).write_bytes(data)
    counts = json.loads(records.validation)
    print(f"{counts['passed']} of {counts['total']} cases are as specified")
    return 0 if counts["failed"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
