"""What the command line does, as data: lines for a shell, and what must come of each.

Every line runs in a folder of its own that has the four files of the download; python3 is the Python that runs
the tests. What a line prints to either stream is given whole, or as a pattern where it is Python's own wording.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple, Union

import verify_answers
from tests.support import DOWNLOAD, ROOT, Run, run_in_process

Text = Union[str, "re.Pattern[str]"]


class CommandLine(NamedTuple):
    id: str
    line: str
    status: int
    out: Text = ""
    err: Text = ""


@functools.cache
def run_line(line: str) -> Run:
    """Run a line in a POSIX shell, once for all who ask; bytes that are no ASCII come back escaped."""
    with tempfile.TemporaryDirectory() as folder:
        for name in DOWNLOAD:
            shutil.copyfile(ROOT / name, os.path.join(folder, name))
        environment = {**os.environ, "PYTHON": sys.executable}
        command = ["sh", "-c", f'python3() {{ "$PYTHON" "$@"; }}\n{line}']
        run = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    return Run(
        run.returncode, run.stdout.decode("ascii", "backslashreplace"), run.stderr.decode("ascii", "backslashreplace")
    )


def run_all() -> dict[str, Run]:
    """What each of the lines below gives, by its id; they run side by side."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip([case.id for case in COMMAND_LINES], pool.map(run_line, [case.line for case in COMMAND_LINES])))


def agrees(found: str, wanted: Text) -> bool:
    return found == wanted if isinstance(wanted, str) else wanted.fullmatch(found) is not None


def line_about(what: str) -> str:
    return f"verify_answers: {what}\n"


def missing(path: str) -> str:
    return line_about(f"{path}: cannot be read: No such file or directory")


def usage(what: str) -> str:
    return line_about(f"{what} (--help explains the usage)")


PUBLISHED = "python3 verify_answers.py cases.json --verify expected.json"
OBSERVED = run_in_process(str(ROOT / "cases.json")).out  # which is held against observed.json elsewhere
TABLE = re.compile(
    r"""complete-answer         pass
wrong-account           fail                   evidence_account
    .*
missing-dataset         insufficient_evidence  required_datasets
    .*
wrong-window            fail                   claim_interval, claim_timezone
    .*
    .*
altered-number          fail                   claim_value
    The claim says 550000; the 2 qualifying rows total 500000 USD minor units\.
wrong-currency-unit     fail                   claim_currency, claim_unit
    .*
    .*
stale-source            fail                   source_freshness
    .*
truncated-population    fail                   result_truncation
    .*
access-error-zero       fail                   query_outcome
    .*
missing-citation        fail                   citation_resolution
    .*
contradictory-citation  fail                   record_claims
    .*
missing-metadata        insufficient_evidence  source_freshness, evidence_coverage, result_truncation
    .*
    .*
    .*
12 cases: 1 pass, 9 fail, 2 insufficient_evidence
"""
)
SUMMARY = "12 cases: 1 pass, 9 fail, 2 insufficient_evidence; 12 of 12 as expected\n"
NOT_JSON = r"line 1 column {} *: not JSON: [A-Z][ -~]+\n"
FULL = line_about("standard output: cannot be written: No space left on device")
CLOSED = line_about("standard output: cannot be written: Bad file descriptor")
FOUR_MISSING = [f"{name}: is missing" for name in ("schemaVersion", "fixtureSetId", "questionContract", "cases")]
INTERRUPTED = """python3 -c '
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
run = subprocess.Popen([sys.executable, "verify_answers.py", "-"], stdin=subprocess.PIPE)
time.sleep(1)
run.send_signal(signal.SIGINT)
sys.exit(128 - run.wait())'"""

COMMAND_LINES = [
    # what it is for
    CommandLine("published", PUBLISHED, 0, OBSERVED, SUMMARY),
    CommandLine("without-verify", "python3 verify_answers.py cases.json", 0, OBSERVED),
    CommandLine("cases-left-out", 'cd / && python3 "$OLDPWD/verify_answers.py"', 0, OBSERVED),
    CommandLine("cases-left-out-and-missing", "rm cases.json; python3 verify_answers.py", 2, "", re.compile(r"verify_answers: /[ -~]+/cases\.json: cannot be read: No such file or directory\n")),
    CommandLine("options-first", "python3 verify_answers.py --format=json --verify=expected.json -- cases.json", 0, OBSERVED, SUMMARY),
    CommandLine("format-json", "python3 verify_answers.py --format json", 0, OBSERVED),
    CommandLine("format-text", "python3 verify_answers.py --format text cases.json", 0, TABLE),
    CommandLine("format-text-and-verify", f"{PUBLISHED} --format text", 0, TABLE, SUMMARY),
    CommandLine("format-junit", "python3 verify_answers.py --format junit", 0, re.compile(r"<\?xml [^>]+>\n<testsuites tests=\"12\" failures=\"11\"[ -~\n]+</testsuites>\n")),
    CommandLine("format-junit-and-verify", f"{PUBLISHED} --format junit", 0, re.compile(r"<\?xml [^>]+>\n<testsuites tests=\"12\" failures=\"0\"[ -~\n]+</testsuites>\n"), SUMMARY),
    CommandLine("format-junit-and-a-difference", "sed 's/claim_value/claim_unit/' expected.json >e; python3 verify_answers.py cases.json --verify e --format junit", 1, re.compile(r"[ -~\n]*<failure type=\"different\" message=\"expected fail \[claim_unit\], observed fail \[claim_value\]\">[ -~\n]*"), re.compile(r"altered-number: [ -~]+\n12 cases: [ -~]+; 11 of 12 as expected\n")),
    CommandLine("version", "python3 verify_answers.py --version", 0, "verify_answers 1.0.0\n"),
    CommandLine("help", "python3 verify_answers.py --help", 0, verify_answers.HELP),
    CommandLine("help-comes-first", "python3 verify_answers.py -h --nonsense", 0, verify_answers.HELP),
    # what differs
    CommandLine(
        "verify-reason-differs",
        "sed 's/claim_value/claim_unit/' expected.json | python3 verify_answers.py cases.json --verify -",
        1,
        OBSERVED,
        "altered-number: expected fail [claim_unit], observed fail [claim_value]\n"
        "12 cases: 1 pass, 9 fail, 2 insufficient_evidence; 11 of 12 as expected\n",
    ),
    CommandLine(
        "verify-order-differs",
        "sed 's/\"claim_interval\", \"claim_timezone\"/\"claim_timezone\", \"claim_interval\"/' expected.json >e; python3 verify_answers.py cases.json --verify e",
        1,
        OBSERVED,
        "wrong-window: expected fail [claim_timezone, claim_interval], observed fail [claim_interval, claim_timezone]\n"
        "12 cases: 1 pass, 9 fail, 2 insufficient_evidence; 11 of 12 as expected\n",
    ),
    CommandLine(
        "verify-judgment-differs",
        "sed 's/\"pass\"/\"insufficient_evidence\"/' expected.json >e; python3 verify_answers.py cases.json --verify e --format text",
        1,
        TABLE,
        "complete-answer: expected insufficient_evidence [], observed pass []\n"
        "12 cases: 1 pass, 9 fail, 2 insufficient_evidence; 11 of 12 as expected\n",
    ),
    # bad usage
    CommandLine("usage-unknown-option", "python3 verify_answers.py --frobnicate", 2, "", usage('there is no option "--frobnicate"')),
    CommandLine("usage-unknown-option-escaped", r"""python3 verify_answers.py "$(printf -- '--\033[31m\342\200\256')" """, 2, "", usage('there is no option "--\\u001b[31m\\u202e"')),
    CommandLine("usage-short-option", "python3 verify_answers.py -hv", 2, "", usage('there is no option "-hv"')),
    CommandLine("usage-format-empty", "python3 verify_answers.py --format=", 2, "", usage("--format needs a value")),
    CommandLine("usage-format-twice", "python3 verify_answers.py --format json --format=json", 2, "", usage("--format must be given once")),
    CommandLine("usage-verify-empty", "python3 verify_answers.py cases.json --verify ''", 2, "", usage("--verify needs a value")),
    CommandLine("usage-dashes-only", "python3 verify_answers.py --", 0, OBSERVED),
    CommandLine("usage-second-file", "python3 verify_answers.py cases.json expected.json", 2, "", usage('there can be only one CASES; "expected.json" is a second')),
    CommandLine("usage-abbreviation", "python3 verify_answers.py cases.json --ver expected.json", 2, "", usage('there is no option "--ver"')),
    CommandLine("usage-format", "python3 verify_answers.py --format xml", 2, "", usage('--format must be json or text or junit, not "xml"')),
    CommandLine("usage-format-without-value", "python3 verify_answers.py --format", 2, "", usage("--format needs a value")),
    CommandLine("usage-verify-without-value", "python3 verify_answers.py cases.json --verify", 2, "", usage("--verify needs a value")),
    CommandLine("usage-verify-without-cases", "python3 verify_answers.py --verify expected.json", 2, "", usage("--verify needs CASES too")),
    CommandLine("usage-verify-twice", f"{PUBLISHED} --verify expected.json", 2, "", usage("--verify must be given once")),
    CommandLine("usage-standard-input-twice", "python3 verify_answers.py - --verify - <cases.json", 2, "", usage("standard input can be CASES or EXPECTED, not both")),
    CommandLine("usage-value-for-help", r"""python3 verify_answers.py "--help=$(printf "\303\251")x" """, 2, "", usage('there is no option "--help=\\u00e9x"')),
    CommandLine("usage-format-dashes", "python3 verify_answers.py --format=--", 2, "", usage('--format must be json or text or junit, not "--"')),
    CommandLine("input-name-dashes", "python3 verify_answers.py cases.json --verify=--", 2, "", missing("--")),
    CommandLine("usage-value-for-version", "python3 verify_answers.py --version=2", 2, "", usage('there is no option "--version=2"')),
    # what is read
    CommandLine("input-standard-input", "python3 verify_answers.py - --verify expected.json <cases.json", 0, OBSERVED, SUMMARY),
    CommandLine("input-expected-from-standard-input", "python3 verify_answers.py cases.json --verify - <expected.json", 0, OBSERVED, SUMMARY),
    CommandLine("input-pipe", "cat cases.json | python3 verify_answers.py -", 0, OBSERVED),
    CommandLine("input-slow-pipe", "(head -c 999 cases.json; sleep 0.3; tail -c +1000 cases.json) | python3 verify_answers.py -", 0, OBSERVED),
    CommandLine("input-fifo", "mkfifo f; cat cases.json >f & python3 verify_answers.py f", 0, OBSERVED),
    CommandLine("input-file-with-a-dash", "mv -- cases.json -c; python3 verify_answers.py ./-c && python3 verify_answers.py -- -c", 0, OBSERVED + OBSERVED),
    CommandLine("input-file-named-dash", "mv cases.json ./-; python3 verify_answers.py ./-", 0, OBSERVED),
    CommandLine("input-missing", "python3 verify_answers.py nowhere/cases.json", 2, "", missing("nowhere/cases.json")),
    CommandLine("input-both-missing", "python3 verify_answers.py a --verify b", 2, "", missing("a") + missing("b")),
    CommandLine("input-name-with-blanks", "python3 verify_answers.py ' a  b '", 2, "", missing(" a  b ")),
    CommandLine("input-name-empty", "python3 verify_answers.py ''", 2, "", missing('""')),
    CommandLine("input-name-with-newline-and-escape", r"""python3 verify_answers.py "$(printf 'a\n\033[31mb')" """, 2, "", missing('"a\\n\\u001b[31mb"')),
    CommandLine("input-name-not-ascii", r"""LC_ALL=C.UTF-8 python3 verify_answers.py "$(printf 'f\303\274r')" """, 2, "", missing('"f\\u00fcr"')),
    CommandLine("input-name-not-utf-8", r"""LC_ALL=C.UTF-8 python3 verify_answers.py "$(printf 'a\377')" """, 2, "", missing('"a\\udcff"')),
    CommandLine("input-directory", "mkdir d; python3 verify_answers.py d", 2, "", line_about("d: cannot be read: Is a directory")),
    CommandLine("input-that-fails", "python3 verify_answers.py /proc/self/mem", 2, "", line_about("/proc/self/mem: cannot be read: Input/output error")),
    CommandLine("input-closed", "python3 verify_answers.py - <&-", 2, "", line_about("-: cannot be read: Bad file descriptor")),
    CommandLine("input-empty", "python3 verify_answers.py /dev/null", 2, "", re.compile("verify_answers: /dev/null: " + NOT_JSON.format(1))),
    CommandLine("input-without-end", "python3 verify_answers.py /dev/zero", 2, "", line_about("/dev/zero: is larger than 524288 bytes")),
    CommandLine("input-without-end-from-a-pipe", "yes | python3 verify_answers.py -", 2, "", line_about("-: is larger than 524288 bytes")),
    CommandLine("input-not-json", "printf '{' | python3 verify_answers.py -", 2, "", re.compile("verify_answers: -: " + NOT_JSON.format("[12]"))),
    CommandLine("input-expected-not-json", "python3 verify_answers.py cases.json --verify /dev/null", 2, "", re.compile("verify_answers: /dev/null: " + NOT_JSON.format(1))),
    CommandLine("input-not-of-the-format", "echo [] >x; python3 verify_answers.py x", 2, "", line_about("x: root: must be an object, not an array")),
    CommandLine("input-of-the-largest-size", "(cat cases.json; head -c 524288 /dev/zero | tr '\\0' ' ') | head -c 524288 >x; python3 verify_answers.py x", 0, OBSERVED),
    CommandLine("input-of-a-byte-more", "(cat cases.json; head -c 524288 /dev/zero | tr '\\0' ' ') | head -c 524289 >x; python3 verify_answers.py x", 2, "", line_about("x: is larger than 524288 bytes")),
    CommandLine("input-of-the-largest-size-from-a-pipe", "(cat cases.json; head -c 524288 /dev/zero | tr '\\0' ' ') | head -c 524288 | python3 verify_answers.py -", 0, OBSERVED),
    CommandLine("input-of-a-byte-more-from-a-pipe", "(cat cases.json; head -c 524288 /dev/zero | tr '\\0' ' ') | head -c 524289 | python3 verify_answers.py -", 2, "", line_about("-: is larger than 524288 bytes")),
    CommandLine("input-with-twenty-problems", "python3 -c 'print({f\"u{n}\": n for n in range(16)})' | tr \\' '\"' | python3 verify_answers.py -", 2, "", "".join(line_about(f"-: {line}") for line in FOUR_MISSING + [f'root: has the unknown field "u{n}"' for n in range(16)])),
    CommandLine("input-with-more-problems", "python3 -c 'print({f\"u{n}\": n for n in range(50)})' | tr \\' '\"' | python3 verify_answers.py -", 2, "", "".join(line_about(f"-: {line}") for line in FOUR_MISSING + [f'root: has the unknown field "u{n}"' for n in range(16)]) + "... and 34 more\n"),
    CommandLine("input-name-of-700-characters", "python3 verify_answers.py \"$(printf '%700s' x | tr ' ' d)\"", 2, "", line_about(f'"{"d" * 55}"...: cannot be read: File name too long')),
    CommandLine("input-not-blocking", "(sleep 1; cat cases.json) | python3 -c 'import os, sys; os.set_blocking(0, False); os.execv(sys.executable, [sys.executable, \"verify_answers.py\", \"-\"])'", 0, OBSERVED),
    CommandLine("interrupted", INTERRUPTED, 130),
    # what is written
    CommandLine("output-head", "python3 verify_answers.py | head -1", 0, "{\n"),
    CommandLine("output-nobody-reads", "mkfifo go; { read x <go; python3 verify_answers.py; echo $? >status; } | { exec <&-; echo >go; }; exit $(cat status)", 141),
    CommandLine("output-nobody-reads-help", "mkfifo go; { read x <go; python3 verify_answers.py --help; echo $? >status; } | { exec <&-; echo >go; }; exit $(cat status)", 141),
    CommandLine("output-nobody-reads-and-verify", f"mkfifo go; {{ read x <go; {PUBLISHED}; echo $? >status; }} | {{ exec <&-; echo >go; }}; exit $(cat status)", 141),
    CommandLine("output-full", "python3 verify_answers.py >/dev/full", 2, "", FULL),
    CommandLine("output-full-and-verify", f"{PUBLISHED} >/dev/full", 2, "", FULL),
    CommandLine("output-full-help", "python3 verify_answers.py --help >/dev/full", 2, "", FULL),
    CommandLine("output-full-version", "python3 verify_answers.py --version >/dev/full", 2, "", FULL),
    CommandLine("output-closed", "python3 verify_answers.py >&-", 2, "", CLOSED),
    CommandLine("output-closed-and-verify", f"{PUBLISHED} >&-", 2, "", CLOSED),
    CommandLine("output-closed-help", "python3 verify_answers.py --help >&-", 2, "", CLOSED),
    CommandLine("output-closed-and-input-closed", "python3 verify_answers.py - <&- >&-", 2, "", line_about("-: cannot be read: Bad file descriptor")),
    CommandLine("output-closed-and-a-bad-file", "python3 verify_answers.py nothing >&-", 2, "", missing("nothing")),
    CommandLine("errors-closed", f"{PUBLISHED} 2>&-", 0, OBSERVED),
    CommandLine("errors-closed-and-a-difference", "sed 's/claim_value/x/' expected.json >e; python3 verify_answers.py cases.json --verify e 2>&-", 1, OBSERVED),
    CommandLine("errors-closed-and-a-bad-file", "python3 verify_answers.py nothing 2>&-", 2),
    CommandLine("errors-closed-and-bad-usage", "python3 verify_answers.py --nonsense 2>&-", 2),
    CommandLine("errors-full", f"{PUBLISHED} 2>/dev/full", 0, OBSERVED),
    CommandLine("errors-full-and-a-bad-file", "python3 verify_answers.py nothing 2>/dev/full", 2),
    CommandLine("errors-nobody-reads", f"mkfifo go; {{ read x <go; {PUBLISHED} 2>&1 >/dev/null; echo $? >status; }} | {{ exec <&-; echo >go; }}; exit $(cat status)", 0),
    CommandLine("both-closed", f"{PUBLISHED} >&- 2>&-", 2),
    CommandLine("all-closed", f"{PUBLISHED} <&- >&- 2>&-", 2),
    CommandLine("both-to-one-pipe", f"{PUBLISHED} 2>&1", 0, OBSERVED + SUMMARY),
    # where and how it runs
    CommandLine("other-locale", f"LC_ALL=C LANG=C {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("unknown-locale", f"LC_ALL=xx_XX.ISO-8859-7 {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("other-encoding", f"PYTHONIOENCODING=utf-16 {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("without-utf-8-mode", f"PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 LC_ALL=C {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("hash-seed-0", f"PYTHONHASHSEED=0 {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("hash-seed-1", f"PYTHONHASHSEED=1 {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("optimised", PUBLISHED.replace("python3", "python3 -O"), 0, OBSERVED, SUMMARY),
    CommandLine("optimised-without-docstrings", PUBLISHED.replace("python3", "python3 -OO"), 0, OBSERVED, SUMMARY),
    CommandLine("warnings-are-errors", PUBLISHED.replace("python3", "python3 -W error -X dev"), 0, OBSERVED, SUMMARY),
    CommandLine("isolated", PUBLISHED.replace("python3", "python3 -I"), 0, OBSERVED, SUMMARY),
    CommandLine("safe-path", f"PYTHONSAFEPATH=1 {PUBLISHED}", 0, OBSERVED, SUMMARY),
    CommandLine("narrow-terminal", "COLUMNS=20 python3 verify_answers.py --help", 0, verify_answers.HELP),
    CommandLine("symbolic-link", 'mkdir d; ln -s ../verify_answers.py d/va; cd d; python3 va', 0, OBSERVED),
    CommandLine("another-folder", "mkdir d; cd d; python3 ../verify_answers.py ../cases.json --verify ../expected.json", 0, OBSERVED, SUMMARY),
    CommandLine("without-answer-format", f"rm answer_format.py; {PUBLISHED}", 2, "", line_about("answer_format.py: cannot be used: ModuleNotFoundError(\"No module named 'answer_format'\")")),
    CommandLine("another-answer-format", f"echo 'x = 1' >answer_format.py; {PUBLISHED}", 2, "", re.compile(r"verify_answers: answer_format\.py: cannot be used: ImportError\([ -~]+\)\n")),
    CommandLine("broken-answer-format", f"echo 'x = ' >answer_format.py; {PUBLISHED}", 2, "", re.compile(r"verify_answers: answer_format\.py: cannot be used: SyntaxError\([ -~]+\)\n")),
    CommandLine("failing-answer-format", f"echo 'x = y' >answer_format.py; {PUBLISHED}", 2, "", line_about("answer_format.py: cannot be used: NameError(\"name 'y' is not defined\")")),
    CommandLine("long-line-in-answer-format", f"(printf 'x = '; head -c 5000 /dev/zero | tr '\\0' y; echo ' z') >answer_format.py; {PUBLISHED} 2>&1 | awk 'length > 600'; echo done", 0, "done\n"),
    CommandLine("json-beside-an-isolated-program", f"echo 'boom' >json.py; {PUBLISHED.replace('python3', 'python3 -I')}", 0, OBSERVED, SUMMARY),
    CommandLine(
        "a-bug",
        "python3 -c 'import sys, verify_answers; verify_answers.judge = None; sys.argv = [\"x\"]; sys.exit(verify_answers.run())'",
        70,
        "",
        re.compile(r"Traceback \(most recent call last\):\n[ -~\n]+TypeError: 'NoneType' object is not callable\n"),
    ),
]  # fmt: skip
