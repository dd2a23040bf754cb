"""Verify business answers: each case's claim against its evidence, and its evidence against the question.

Read from the top: what a check finds, the checks, their table, the judgment, the observed document, how it
differs from what was expected, its formats, and the command line.
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
if __name__ == "__main__":
    # An interrupt ends the program, at any moment, as it ends others, and without a traceback.
    sys.excepthook = lambda kind, *rest: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *rest)
    sys.path.append(HERE)  # where Python is told not to look beside the program (-I, -P)

try:
    import json

    from answer_format import CASE_FILE, MAX_LINE, Problems, expected_file, load, quoted, seconds
except (Exception, SystemExit) as fault:  # it is missing, cut or another one; that must not look like a verdict
    if __name__ != "__main__":
        raise
    try:
        os.write(2, f"verify_answers: answer_format.py: cannot be used: {fault!a:.500}\n".encode("ascii"))
    finally:
        os._exit(2)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn, Union

    Object = dict[str, Any]
    Finding = Union[None, tuple[str, str], str]  # it passes; a status and a message; what it lacks
    Find = Callable[[Object, Object], Finding]

PROGRAM = "verify_answers"
VERSION = "1.0.0"
PASS, FAIL, INSUFFICIENT, NOT_CHECKED = "pass", "fail", "insufficient_evidence", "not_checked"
EXIT_OK, EXIT_DIFFERENT, EXIT_UNUSABLE, EXIT_BUG = 0, 1, 2, 70


class Check:
    """A row of the table: what holds where the check passes, which is its message then; what it gives otherwise; the
    function of a case and the question that gives None where it passes; and the checks that have to pass before."""

    def __init__(self, code: str, holds: str, otherwise: str, find: Find, needs: Sequence[str] = ()) -> None:
        self.code = code
        self.holds = holds
        self.otherwise = otherwise
        self.find = find
        self.needs = needs


def same(side: str, field: str, wanted: str | None = None, status: str = FAIL, remark: str = "") -> Find:
    """A field of the evidence or of the claim is what it is in the question, or what every answer needs."""

    def find(case: Object, question: Object) -> Finding:
        found: Any = case[side]
        want: Any = question
        for name in field.split("."):
            found, want = found[name], wanted or want[name]
        if found == want:
            return None
        return status, f"The {side} has {field} {quoted(found)}; the question needs {quoted(want)}{remark}."

    return find


def same_interval(side: str) -> Find:
    """Start and exclusive end of the evidence or of the claim are those of the question."""

    def find(case: Object, question: Object) -> Finding:
        found, wanted = bounds(case[side]), bounds(question)
        if found == wanted:
            return None
        spans = [" to before ".join(map(quoted, ends)) for ends in (found, wanted)]
        return FAIL, f"The {side} is for {spans[0]}; the question is for {spans[1]}."

    return find


def bounds(part: Object) -> tuple[str, str]:
    """Start and exclusive end. Timestamps have one width and one zone, so that they order as strings do."""
    return part["interval"]["start"], part["interval"]["endExclusive"]


def required_datasets(case: Object, question: Object) -> Finding:
    included = set(case["evidence"]["datasetIds"])
    missing = [dataset for dataset in question["requiredDatasetIds"] if dataset not in included]
    if not missing:
        return None
    return INSUFFICIENT, f"The question needs {some(missing)}, which the evidence does not include."


def source_freshness(case: Object, question: Object) -> Finding:
    committed, clock, most = case["evidence"]["lastSuccessAt"], question["asOf"], question["maxSourceAgeSeconds"]
    if committed is None:
        return INSUFFICIENT, "It is not known when the source last committed."
    age = seconds(clock) - seconds(committed)
    if age < 0:
        return FAIL, f"The source committed at {quoted(committed)}, after asOf, {quoted(clock)}."
    if age > most:
        return FAIL, f"The source committed {age} s before asOf; at most {most} s are allowed."
    return None


def interval_closed(case: Object, question: Object) -> Finding:
    committed, (_, end) = case["evidence"]["lastSuccessAt"], bounds(question)
    if committed is None:
        return "evidence.lastSuccessAt is null"
    if committed >= end:
        return None
    return gap(case, f"The source committed at {quoted(committed)}, before the interval ended at {quoted(end)}")


def result_truncation(case: Object, question: Object) -> Finding:
    truncated = case["evidence"]["truncated"]
    if truncated is None:
        return INSUFFICIENT, "It is not known whether the result was truncated."
    return gap(case, "The result was truncated") if truncated else None


def gap(case: Object, what: str) -> tuple[str, str]:
    """A part that the evidence lacks contradicts a claim of the complete population, and only weakens a partial one."""
    population = case["claim"]["population"]
    status = FAIL if population == "complete" else INSUFFICIENT
    return status, f"{what}, and the claim is of the {population} population."


def query_reference(case: Object, question: Object) -> Finding:
    if case["evidence"]["queryId"] is not None:
        return None
    return INSUFFICIENT, "The evidence has no queryId by which its query could be found."


def row_scope(case: Object, question: Object) -> Finding:
    evidence = case["evidence"]
    scope = {
        "accountId": [evidence["accountId"]],
        "datasetId": dict.fromkeys(evidence["datasetIds"]),
        "currency": [question["currency"]],
        "unit": [question["unit"]],
    }
    for field, values in scope.items():
        for row in evidence["rows"]:
            if row[field] not in values:
                found = f"Row {quoted(row['id'])} has {field} {quoted(row[field])}"
                return FAIL, f"{found}; in scope: {some(values)}."
    return None


def unresolved(case: Object) -> list[str]:
    """The cited ids that are no row's id, each once, in the claim's order."""
    claim, rows = case["claim"], {row["id"] for row in case["evidence"]["rows"]}
    cited = claim["evidenceIds"] + [record["evidenceId"] for record in claim["recordClaims"]]
    return [id for id in dict.fromkeys(cited) if id not in rows]


def citation_resolution(case: Object, question: Object) -> Finding:
    missing = unresolved(case)
    if not missing:
        return None
    return FAIL, f"The claim cites {some(missing)}, which no row has as its id."


def record_claims(case: Object, question: Object) -> Finding:
    rows = {row["id"]: row for row in case["evidence"]["rows"]}
    for record in case["claim"]["recordClaims"]:
        id, field, said = record["evidenceId"], record["field"], record["value"]
        if id in rows and rows[id][field] != said:
            found = quoted(rows[id][field])
            return FAIL, f"The claim says that {field} of {quoted(id)} is {quoted(said)}; its row says {found}."
    return "citation_resolution did not pass" if unresolved(case) else None


def qualifying(case: Object, question: Object) -> dict[str, int]:
    """Id and value of the rows that make up the total: paid, of a required dataset, within the interval."""
    required, (start, end) = set(question["requiredDatasetIds"]), bounds(question)
    return {
        row["id"]: row["value"]
        for row in case["evidence"]["rows"]
        if row["status"] == "paid" and row["datasetId"] in required and start <= row["paidAt"] < end
    }


def cited_population(case: Object, question: Object) -> Finding:
    rows, cited = qualifying(case, question), dict.fromkeys(case["claim"]["evidenceIds"])
    if rows.keys() == cited.keys():
        return None
    left_out, unfit = [id for id in rows if id not in cited], [id for id in cited if id not in rows]
    count = "1 row qualifies" if len(rows) == 1 else f"{len(rows)} rows qualify"
    return FAIL, f"{count}; of those the claim leaves out {some(left_out)}, and it cites {some(unfit)} besides."


def claim_value(case: Object, question: Object) -> Finding:
    said, values = case["claim"]["value"], qualifying(case, question).values()
    total, money = sum(values), f"{question['currency']} {question['unit']} units"
    if said == total:
        return None
    rows = "the 1 qualifying row totals" if len(values) == 1 else f"the {len(values)} qualifying rows total"
    return FAIL, f"The claim says {said}; {rows} {total} {money}."


def some(values: Iterable[str]) -> str:
    """Up to three values, and how many more there are."""
    first, rest = list(values)[:3], list(values)[3:]
    listed = ", ".join(map(quoted, first)) or "none"
    return f"{listed} and {len(rest)} more" if rest else listed


# The ground that a comparison of populations and amounts stands on, in the order in which it is named.
GROUND = (
    "query_outcome", "required_datasets", "evidence_account", "row_scope", "evidence_interval", "evidence_timezone",
)
BY_CLAIM = "fail for a claim of the complete population, insufficient_evidence for a partial one"
NO_ZERO = "; a denied or failed query is no evidence of zero"
CHECKS = (
    Check("evidence_account", "The evidence has the question's account.", FAIL, same("evidence", "accountId")),
    Check("claim_account", "The claim has the question's account.", FAIL, same("claim", "accountId")),
    Check("claim_metric", "The claim has the question's metric.", FAIL, same("claim", "metric")),
    Check("required_datasets", "The evidence has every dataset that the question requires.",
          INSUFFICIENT, required_datasets),
    Check("evidence_interval", "The evidence has the question's start and end.", FAIL, same_interval("evidence")),
    Check("evidence_timezone", "The evidence has the question's timezone label.",
          FAIL, same("evidence", "interval.timezone")),
    Check("claim_interval", "The claim has the question's start and end.", FAIL, same_interval("claim")),
    Check("claim_timezone", "The claim has the question's timezone label.",
          FAIL, same("claim", "interval.timezone")),
    Check("claim_currency", "The claim has the question's currency.", FAIL, same("claim", "currency")),
    Check("claim_unit", "The claim has the question's unit.", FAIL, same("claim", "unit")),
    Check("source_freshness", "The source committed no later than asOf, and no longer before it than allowed.",
          "fail; insufficient_evidence where lastSuccessAt is null", source_freshness),
    Check("interval_closed", "The source committed at or after the end of the question's interval.",
          f"{BY_CLAIM}; not_checked where lastSuccessAt is null", interval_closed),
    Check("evidence_coverage", "The evidence says that it is complete.",
          INSUFFICIENT, same("evidence", "coverage", "complete", INSUFFICIENT)),
    Check("result_truncation", "The result was not truncated.",
          f"{BY_CLAIM}; insufficient_evidence where truncated is null", result_truncation),
    Check("population", "The claim is of the complete population.",
          INSUFFICIENT, same("claim", "population", "complete", INSUFFICIENT)),
    Check("query_outcome", "The query succeeded.", FAIL, same("evidence", "outcome", "success", FAIL, NO_ZERO)),
    Check("query_reference", "The evidence has the id of its query.", INSUFFICIENT, query_reference),
    Check("row_scope",
          "Every row has the evidence's account, one of its datasets, and the question's currency and unit.",
          FAIL, row_scope),
    Check("citation_resolution", "Every cited id is the id of a row.", FAIL, citation_resolution),
    Check("record_claims", "Every record claim equals the field of its row.",
          "fail where one differs; else not_checked where citation_resolution did not pass", record_claims),
    Check("cited_population", "The claim cites exactly the rows that qualify.",
          FAIL, cited_population, needs=("citation_resolution", *GROUND)),
    Check("claim_value", "The claimed value is the sum of the rows that qualify.", FAIL, claim_value, needs=GROUND),
)


def run_checks(case: Object, question: Object) -> list[dict[str, str]]:
    """Code, status and message of every check, in order. Only here does what a check lacks become NOT_CHECKED."""
    reports = []
    passed = set()
    for check in CHECKS:
        missing = [need for need in check.needs if need not in passed]
        finding = f"{missing[0]} did not pass" if missing else check.find(case, question)
        if finding is None:
            passed.add(check.code)
            status, message = PASS, check.holds
        elif isinstance(finding, str):
            status, message = NOT_CHECKED, f"Not checked: {finding}."
        else:
            status, message = finding
        reports.append({"code": check.code, "status": status, "message": message})
    return reports


def judge(reports: list[dict[str, str]]) -> str:
    """The judgment that follows from the reports of all checks; without each of them once there is none."""
    if [report["code"] for report in reports] != [check.code for check in CHECKS]:
        raise RuntimeError("a judgment needs one report of every check")
    statuses = {report["status"] for report in reports}
    return FAIL if FAIL in statuses else INSUFFICIENT if INSUFFICIENT in statuses else PASS


def observe(case_file: Object) -> Object:
    """The observed document: how many cases got which judgment, and each case with its checks and reasons."""
    results = []
    for case in case_file["cases"]:
        checks = run_checks(case, case_file["questionContract"])
        decisive = [report for report in checks if report["status"] in (FAIL, INSUFFICIENT)]
        reasons = [{"code": report["code"], "message": report["message"]} for report in decisive]
        results.append({"id": case["id"], "judgment": judge(checks), "checks": checks, "reasons": reasons})
    judgments = [result["judgment"] for result in results]
    return {
        "schemaVersion": case_file["schemaVersion"],
        "fixtureSetId": case_file["fixtureSetId"],
        "summary": {"total": len(results), **{name: judgments.count(name) for name in (PASS, FAIL, INSUFFICIENT)}},
        "results": results,
    }


def codes(result: Object) -> list[str]:
    return [reason["code"] for reason in result["reasons"]]


def totals(document: Object) -> str:
    """How many cases got which judgment, worded for many even of one, so that a script can rely on the words."""
    counts = document["summary"]
    return f"{counts['total']} cases: " + ", ".join(f"{counts[name]} {name}" for name in (PASS, FAIL, INSUFFICIENT))


def differences(document: Object, expected: Object) -> dict[str, str]:
    """Both sides of each case whose judgment or ordered reason codes are not the expected ones, by its id."""
    wanted = {result["id"]: (result["judgment"], result["reasonCodes"]) for result in expected["results"]}
    found = {result["id"]: (result["judgment"], codes(result)) for result in document["results"]}
    return {id: both_sides(id, wanted[id], found[id]) for id in found if found[id] != wanted[id]}


def both_sides(id: str, wanted: tuple[str, list[str]], found: tuple[str, list[str]]) -> str:
    """What was expected and what was observed, so that it fits into a line behind the id."""
    sides = [f"{judgment} [{', '.join(reasons)}]" for judgment, reasons in (wanted, found)]
    if len(f"{id}: expected {sides[0]}, observed {sides[1]}") > MAX_LINE:
        same = len(os.path.commonprefix([wanted[1], found[1]]))
        sides = [f"{judgment} [{from_there(reasons, same)}]" for judgment, reasons in (wanted, found)]
    return f"expected {sides[0]}, observed {sides[1]}"


def from_there(reasons: list[str], same: int) -> str:
    """What a line has room for: how many codes both sides begin with, the next two, and how many more there are."""
    more = len(reasons) - same - 2
    parts = [f"{same} the same"] if same else []
    return ", ".join(parts + reasons[same : same + 2] + ([f"{more} more"] if more > 0 else []))


def as_json(document: Object, different: dict[str, str] | None) -> str:
    return json.dumps(document, indent=2) + "\n"


def as_text(document: Object, different: dict[str, str] | None) -> str:
    """Id, judgment and reason codes in columns, under them the messages of what does not pass; and the totals."""
    wide = max(len(result["id"]) for result in document["results"])
    lines = []
    for result in document["results"]:
        judgment = f"{result['judgment']:{len(INSUFFICIENT)}}"
        lines.append(f"{result['id']:{wide}}  {judgment}  {', '.join(codes(result))}".rstrip())
        lines += [f"    {reason['message']}" for reason in result["reasons"]]
    return "\n".join([*lines, totals(document)]) + "\n"


def as_junit(document: Object, different: dict[str, str] | None) -> str:
    """JUnit XML, a test case for each case; it fails where it is not as expected or, with nothing expected, no pass."""
    from xml.etree import ElementTree

    name, results = document["fixtureSetId"], document["results"]
    failures = [junit_failure(result, different) for result in results]
    counts = {"tests": str(len(results)), "failures": str(sum(map(bool, failures))), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    for result, failure in zip(results, failures):
        case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": result["id"]})
        if failure:
            kind, message, text = failure
            ElementTree.SubElement(case, "failure", {"type": kind, "message": message}).text = text
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return xml.decode("ascii") + "\n"


def junit_failure(result: Object, different: dict[str, str] | None) -> tuple[str, str, str] | None:
    """Type, message and text of the failure that a case is, None where it is none."""
    if different is not None:
        sides = different.get(result["id"], "")
        return ("different", sides, sides) if sides else None
    if result["judgment"] == PASS:
        return None
    reasons = [f"{reason['code']}: {reason['message']}" for reason in result["reasons"]]
    return result["judgment"], ", ".join(codes(result)), "\n".join(reasons)


FORMATS = {"json": as_json, "text": as_text, "junit": as_junit}


class Unusable(Exception):
    """No run, or no output, is possible; the lines that are its arguments say why."""


HELP = """\
usage: python3 verify_answers.py [CASES] [--format FORMAT]
       python3 verify_answers.py CASES --verify EXPECTED [--format FORMAT]

Check business answers. A case file asks one fixed question; each of its cases has the evidence that was
returned and the structured claim that was made. Every case gets the same 22 checks and a judgment: pass,
fail or insufficient_evidence. No prose is read, and nothing is asked of a network or a model.

  CASES              the case file; - is standard input; without --verify it may be left out: then it is
                     the cases.json beside this program
  --verify EXPECTED  compare every judgment and its ordered reason codes with this file, and say on
                     standard error what differs; - is standard input
  --format FORMAT    what standard output gets: json (default), the observed document; text, a table for
                     people; junit, JUnit XML for a CI server, in which a case that is not as expected
                     (without --verify, one that does not pass) is a failure
  --version          print the version
  -h, --help         print this text

examples:
  python3 verify_answers.py cases.json --verify expected.json > observed.json
  python3 verify_answers.py --format text

exit status:
  0   the input is valid and was checked; with --verify, everything is as expected as well.
      It does not mean that the answers pass.
  1   with --verify: a judgment or a list of reason codes is not as expected
  2   bad usage, an unusable file, or an output that cannot be written
  70  a bug in this program
"""
PRINTED = {"-h": HELP, "--help": HELP, "--version": f"{PROGRAM} {VERSION}\n"}


def usage(what: str) -> NoReturn:
    raise Unusable(f"{PROGRAM}: {what} (--help explains the usage)")


def parse_arguments(arguments: list[str]) -> dict[str, str]:
    """What is given of CASES, --verify and --format, or else what to print; Unusable where it makes no sense.

    Not argparse: to import and set it up takes as long as to judge the published cases, and its wording varies.
    """
    options: dict[str, str] = {}
    paths: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word in PRINTED:
            return {"print": PRINTED[word]}
        if word == "--":
            paths += words
        elif name in ("--verify", "--format"):
            if name in options:
                usage(f"{name} must be given once")
            options[name] = value if equals else next(words, "")
            if not options[name]:
                usage(f"{name} needs a value")
        elif word.startswith("-") and word != "-":
            usage(f"there is no option {quoted(word)}")
        else:
            paths.append(word)
    if len(paths) > 1:
        usage(f"there can be only one CASES; {quoted(paths[1])} is a second")
    if options.get("--format", "json") not in FORMATS:
        usage(f"--format must be {' or '.join(FORMATS)}, not {quoted(options['--format'])}")
    if "--verify" in options and not paths:
        usage("--verify needs CASES too")
    if paths == ["-"] and options.get("--verify") == "-":
        usage("standard input can be CASES or EXPECTED, not both")
    return {**options, "CASES": paths[0] if paths else os.path.join(HERE, "cases.json")}


def read_inputs(cases: str, expected: str | None) -> tuple[Object, Object | None]:
    """The content of both files, or Unusable with the problems of both."""
    problems = Problems()
    case_file = load(cases, CASE_FILE, problems)
    expectations = None if expected is None else load(expected, expected_file(case_file), problems)
    if problems.count:
        raise Unusable(*problems.lines(PROGRAM))
    return case_file, expectations


def main(arguments: list[str]) -> int:
    """Run the command line and return its exit status. Raises Unusable, and BrokenPipeError where nobody reads on."""
    options = parse_arguments(arguments)
    if "print" in options:
        print_out(options["print"])
        return EXIT_OK
    case_file, expected = read_inputs(options["CASES"], options.get("--verify"))
    document = observe(case_file)
    different = None if expected is None else differences(document, expected)
    print_out(FORMATS[options.get("--format", "json")](document, different))
    if different is None:
        return EXIT_OK
    total = document["summary"]["total"]
    lines = [f"{id}: {sides}" for id, sides in different.items()]
    print_error([*lines, f"{totals(document)}; {total - len(different)} of {total} as expected"])
    return EXIT_DIFFERENT if different else EXIT_OK


def print_out(text: str) -> None:
    try:
        write(1, text)
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise Unusable(f"{PROGRAM}: standard output: cannot be written: {fault.strerror}") from None


def print_error(lines: Sequence[str]) -> None:
    """Print lines to standard error, what is not printable escaped. Where that is not possible, nothing changes."""
    plain = ["".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line) for line in lines]
    try:
        write(2, "\n".join([*plain, ""]))
    except OSError:
        pass


def write(descriptor: int, text: str) -> None:
    """Write a text as ASCII, past Python's buffers: what cannot be written is known here, and not at exit."""
    data = text.encode("ascii", "backslashreplace")
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            import select

            select.select([], [descriptor], [])


def run() -> int:
    """Run main and return the exit status of whatever came of it."""
    try:
        return main(sys.argv[1:])
    except Unusable as fault:
        print_error(fault.args)
        return EXIT_UNUSABLE
    except BrokenPipeError:
        return end_by_broken_pipe()
    except Exception:
        import traceback

        print_error(traceback.format_exc().splitlines())
        return EXIT_BUG


def end_by_broken_pipe() -> int:
    """End the process as SIGPIPE does, or else return the status that a shell gives for that."""
    import signal

    try:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
    except (AttributeError, OSError):
        pass
    return 128 + 13


if __name__ == "__main__":
    # All is written, and nothing is left to close that the system does not close faster.
    os._exit(run())
