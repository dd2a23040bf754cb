"""Refuse every file of a JSON conformance suite as a case file: python3 .ci/json_conformance.py FOLDER

A file named n_* is no JSON and has to be refused with its line and column. The others (y_*, i_*) are refused
for what is in them, with a path, or where their encoding is none. Each is a run of the program of its own:
exit 2, nothing on standard output, one problem a line on standard error, and never a traceback.
"""

import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "verify_answers.py"
PLACE = r"line [0-9]+ column [0-9]+"
PATH = r"[A-Za-z]+(\[[0-9]+\]|\.[A-Za-z]+)*"


def fault(file):
    """What is wrong with the refusal of a file; None where it is as it should be."""
    run = subprocess.run([sys.executable, PROGRAM, file], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    lines = run.stderr.decode("ascii").splitlines()
    if run.returncode != 2 or run.stdout or not lines:
        return f"exit {run.returncode}, {len(run.stdout)} bytes of output, {len(lines)} lines of errors"
    where = PLACE if file.name.startswith("n_") else f"({PLACE}|{PATH})"
    line = re.compile(f"verify_answers: {re.escape(str(file))}: {where}: [ -~]+")
    odd = [text for text in lines if len(text) > 600 or not (line.fullmatch(text) or text.startswith("... and "))]
    return odd[0] if odd else None


def main(folder):
    files = sorted(pathlib.Path(folder).glob("*.json"))
    faults = {file.name: found for file in files if (found := fault(file))}
    for name, found in faults.items():
        print(f"{name}: {found}")
    print(f"{len(files)} files, {len(files) - len(faults)} refused as they should be")
    return 0 if files and not faults else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
