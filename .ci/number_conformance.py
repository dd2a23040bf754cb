"""Compare the numbers found with a public specification's: python3 .ci/number_conformance.py FOLDER

Each file of the folder has sentences and the values of the numbers in them. A file of percentages lists nothing else,
and some sentences of the others leave percentages out, so that a sentence agrees when the values do, with or without
what has another kind than its file. Sentences that do not agree are listed in tests/number_differences.json by file
and position, each with its reason: those that the rules cover and decide otherwise, and those that they do not cover.
The list must be complete, and have nothing that agrees; at least 95 % of what is covered must agree, and at most 15 %
of a file may be uncovered.
"""

import json
import pathlib
import sys
from decimal import Decimal, localcontext

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from issuance.numerals.finding import find  # noqa: E402
from issuance.numerals.plain import Plain  # noqa: E402

NEAR = Decimal("1e-13")  # the specification's own values are binary floating point


def same(found, wanted):
    """Whether two lists of values are the same; a fraction written another way is the same value."""
    if len(found) != len(wanted) or None in wanted:
        return False
    return all(abs(got - want) <= abs(want) * NEAR for got, want in zip(found, wanted))


def agrees(sentence, percentages):
    values = [number["value"] for number in sentence["numbers"]]
    wanted = [None if value in (None, "null") else Decimal(str(value).rstrip("%")) for value in values]
    found = find(Plain(sentence["text"]))
    of_kind = [one.value for one in found if (one.unit == "%") == percentages]
    return same([one.value for one in found], wanted) or same(of_kind, wanted)


def check(path, listed):
    """What is wrong with a file or with its list."""
    sentences = json.loads(path.read_bytes())
    with localcontext() as context:
        context.prec = 60
        differing = {index for index, one in enumerate(sentences) if not agrees(one, "percent" in path.name)}
    for index in sorted(differing - listed.keys()):
        yield f"{path.name} [{index}] differs and is not listed: {ascii(sentences[index]['text'])}"
    for index in sorted(listed.keys() - differing):
        yield f"{path.name} [{index}] is listed and agrees"
    uncovered = sum(not row["covered"] for row in listed.values())
    covered = len(sentences) - uncovered
    agreeing = len(sentences) - len(differing)
    print(f"{path.name}: {len(sentences)} sentences, {uncovered} not covered, {agreeing} of {covered} agree")
    if uncovered * 100 > len(sentences) * 15:
        yield f"{path.name}: more than 15 % are not covered"
    if agreeing * 100 < covered * 95:
        yield f"{path.name}: less than 95 % of what is covered agree"


def main(folder):
    rows = json.loads((ROOT / "tests" / "number_differences.json").read_bytes())
    paths = sorted(pathlib.Path(folder).glob("*.json"))
    faults = [] if paths else [f"{folder} has no files"]
    for path in paths:
        listed = {row["sentence"]: row for row in rows if row["file"] == path.name}
        faults += check(path, listed)
    names = {path.name for path in paths}
    faults += [f"{row['file']} is listed and not there" for row in rows if row["file"] not in names]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
