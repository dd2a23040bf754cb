"""python3 -m issuance trace: what it prints, its exit status, and one clear line for each thing that is wrong."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

import issuance.__main__
from tests.support import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
NARRATIVE = "Sales were 45,679 元, up 12% on the week.\n退款率下降8.7%。\n"
METRICS = {
    "metrics": [
        {"id": "gmv", "name": "Sales", "unit": "元", "value": "45678.5", "change": False},
        {"id": "refund_rate", "unit": "%", "value": -8.7, "change": True},
    ]
}


class Run(NamedTuple):
    status: int
    out: str
    err: str


@contextlib.contextmanager
def folder_with(files: dict[str, bytes]) -> Iterator[str]:
    """A folder with these files, of which m is m.json and every other name is Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            pathlib.Path(folder, name + (".json" if name == "m" else ".md")).write_bytes(content)
        yield folder


def trace(arguments: str, stdin: bytes = b"", **files: bytes) -> Run:
    """Run the command in this process, in a folder with these files, and return what came of it."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before, kept = os.getcwd(), os.dup(0)
    with folder_with(files) as folder, tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        os.chdir(folder)
        os.dup2(given.fileno(), 0)
        try:
            with mock.patch.multiple(sys, argv=["x", *shlex.split(arguments)], stdout=out, stderr=err):
                try:
                    status = issuance.__main__.run()
                except SystemExit as ended:  # --help
                    status = int(ended.code or 0)
        finally:
            os.dup2(kept, 0)
            os.close(kept)
            os.chdir(before)
    out.flush()
    return Run(status, out.buffer.getvalue().decode(), err.getvalue())


def trace_in_shell(line: str, stdin: bytes = b"", **files: bytes) -> Run:
    """Run a line of a shell, in which TRACE is the command, in a folder with these files."""
    with folder_with(files) as folder:
        line = line.replace("TRACE", f"{shlex.quote(sys.executable)} -m issuance trace")
        run = subprocess.run(
            line, shell=True, cwd=folder, env=ENVIRONMENT, input=stdin, capture_output=True, timeout=60, check=False
        )
        return Run(run.returncode, run.stdout.decode(), run.stderr.decode())


def as_bytes(document: object) -> bytes:
    return json.dumps(document).encode()


class Output(unittest.TestCase):
    maxDiff = None

    def test_json(self) -> None:
        run = trace("trace n.md --metrics m.json", n=NARRATIVE.encode(), m=as_bytes(METRICS))
        self.assertEqual((run.status, run.err), (1, ""))
        keys = ("text", "start", "end", "value", "low", "high", "unit", "status", "metrics", "reason")
        rows: tuple[tuple[object, ...], ...] = (
            ("45,679", 11, 17, "45679", "45678.5", "45679.5", "元", "traced", ["gmv"], ""),
            ("12%", 24, 27, "12", "11.5", "12.5", "%", "untraced", [], "no metric has this value"),
            ("8.7%", 46, 50, "8.7", "8.65", "8.75", "%", "traced", ["refund_rate"], ""),
        )
        document = {
            "numbers": [dict(zip(keys, row)) for row in rows],
            "summary": {"total": 3, "traced": 2, "untraced": 1, "allowed": 0},
        }
        self.assertEqual(run.out, json.dumps(document, indent=2) + "\n")

    def test_text(self) -> None:
        run = trace("trace n.md --metrics m.json --allow 12% --format text", n=NARRATIVE.encode(), m=as_bytes(METRICS))
        self.assertEqual(
            run,
            Run(
                0,
                "Sales were [45,679] 元, up [~12%] on the week.\n"
                "    45,679: 45679 (45678.5 to 45679.5) 元, traced to gmv\n"
                "    12%: 12 (11.5 to 12.5) %, allowed\n"
                "退款率下降[8.7%]。\n"
                "    8.7%: 8.7 (8.65 to 8.75) %, traced to refund_rate\n"
                "\n3 numbers: 2 traced, 0 untraced, 1 allowed\n",
                "",
            ),
        )

    def test_text_keeps_the_narrative_as_it_is(self) -> None:
        for narrative in ("", "no number", "a 5\n", "a 5", "\n\n5\n\nend\n\n", "5\n6", "x\r\n5\r\n"):
            run = trace("trace - --format text", narrative.encode())
            lines = [line for line in run.out.split("\n")[:-3] if not line.startswith("    ")]
            text = "\n".join(lines).replace("[", "").replace("]", "").replace("\\r", "\r")
            self.assertEqual(text, re.sub(r"\n\Z", "", narrative.replace("\r\n", "\n")))

    def test_without_metrics_everything_is_found_and_nothing_wrong(self) -> None:
        run = trace("trace -", b"Three stores and 5%.")
        self.assertEqual((run.status, run.err), (0, ""))
        document = json.loads(run.out)
        self.assertEqual(
            [(one["text"], one["status"]) for one in document["numbers"]], [("Three", "found"), ("5%", "found")]
        )
        self.assertEqual(document["summary"], {"total": 2, "traced": 0, "untraced": 0, "allowed": 0})
        shown = trace("trace - --format text", b"Three stores.")
        self.assertEqual(
            shown.out, "[Three] stores.\n    Three: 3 (2.5 to 3.5), found\n\n1 number: no metrics to trace them to\n"
        )

    def test_an_empty_file_has_no_numbers(self) -> None:
        summary = {"total": 0, "traced": 0, "untraced": 0, "allowed": 0}
        for arguments in ("trace n.md", "trace n.md --metrics m.json"):
            run = trace(arguments, n=b"", m=as_bytes(METRICS))
            self.assertEqual(run, Run(0, json.dumps({"numbers": [], "summary": summary}, indent=2) + "\n", ""))

    def test_a_byte_order_mark_counts_as_a_code_point(self) -> None:
        document = json.loads(trace("trace n.md", n="\ufeff5 stores".encode()).out)
        self.assertEqual([(one["text"], one["start"]) for one in document["numbers"]], [("5", 1)])

    def test_the_same_bytes_in_every_locale(self) -> None:
        runs = {
            trace_in_shell(f"{setting} TRACE n.md --format text", n=NARRATIVE.encode()).out
            for setting in (
                "LC_ALL=C",
                "PYTHONIOENCODING=latin-1",
                "PYTHONHASHSEED=3",
                "PYTHONUTF8=0 LANG=C",
            )
        }
        self.assertEqual(len(runs), 1)

    def test_what_does_not_print_is_escaped(self) -> None:
        text = "\x1bM 5\u202e units \x07\u2066 1\u200b2 \u00a0\n"
        shown = trace("trace - --format text", text.encode())
        self.assertTrue(shown.out.startswith("\\x1bM [5]\\u202e units \\x07\\u2066 [1\\u200b2] \u00a0\n"), shown.out)
        self.assertTrue(trace("trace -", text.encode()).out.isascii())

    def test_a_metric_set_with_what_issue_writes_beside_a_value(self) -> None:
        metric = {
            "id": "gmv", "name": "Sales", "unit": "元", "value": "45678.5", "decimals": 1, "format": "plain", "change": False,
            "expression": "cell(pull, 0, 'gmv')", "substituted": "45678.5", "inputs": [{"query": "Q1"}], "rendered": "45,678.5",
            "recomputes": True,
        }  # fmt: skip
        missing = {"id": "wow", "value": None, "status": "missing", "reason": "a cell is null"}
        run = trace("trace - --metrics m.json", b"45,679", m=as_bytes({"metrics": [metric, missing]}))
        self.assertEqual((run.status, json.loads(run.out)["numbers"][0]["metrics"]), (0, ["gmv"]))

    def test_values_are_exact(self) -> None:
        metrics = b'{"metrics": [{"id": "a", "value": 12.35}, {"id": "b", "value": 12.350000000000000000000000001}]}'
        self.assertEqual(
            json.loads(trace("trace - --metrics m.json", b"12.3", m=metrics).out)["numbers"][0]["metrics"], ["a"]
        )

    def test_help_teaches(self) -> None:
        wide, narrow = (trace_in_shell(f"COLUMNS={columns} TRACE --help") for columns in (200, 40))
        self.assertEqual(wide, narrow)
        for arguments, words in (("--help", "trace"), ("trace --help", "METRICS.json"), ("trace -h", "exit status")):
            run = trace(arguments)
            self.assertEqual((run.status, run.err), (0, ""))
            self.assertIn(words, run.out)


class Terminal(unittest.TestCase):
    def output(self, **environment: str) -> bytes:
        """What the command prints on a terminal."""
        parent, child = pty.openpty()
        arguments = [sys.executable, "-m", "issuance", "trace", "-", "--format", "text"]
        with tempfile.TemporaryFile() as narrative:
            narrative.write(b"5 stores")
            narrative.seek(0)
            env = {name: value for name, value in ENVIRONMENT.items() if name not in ("NO_COLOR", "TERM")}
            subprocess.run(
                arguments, cwd=ROOT, env={**env, **environment}, stdin=narrative, stdout=child, timeout=60, check=True
            )
        os.close(child)
        printed = os.read(parent, 10_000)
        os.close(parent)
        return printed

    def test_colour_on_a_terminal_only_and_not_where_it_is_unwanted(self) -> None:
        self.assertIn(b"\x1b[36m[5]\x1b[0m", self.output(TERM="xterm"))
        for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn(b"\x1b", self.output(**environment))
        self.assertNotIn("\x1b", trace("trace - --format text", b"5 stores").out)


class BadInput(unittest.TestCase):
    maxDiff = None

    def refused(self, arguments: str, *lines: str, stdin: bytes = b"", **files: bytes) -> None:
        files.setdefault("n", b"5")
        self.assertEqual(trace(arguments, stdin, **files), Run(2, "", "".join(f"issuance: {line}\n" for line in lines)))

    def test_a_narrative_that_cannot_be_read(self) -> None:
        self.refused("trace gone.md", "gone.md: cannot be read: No such file or directory")
        self.refused("trace .", ".: cannot be read: Is a directory")
        self.refused("trace n.md", "n.md: line 2 column 3: not UTF-8", n=b"ab\ncd\xff")
        self.refused("trace -", "-: line 1 column 1: not UTF-8", stdin="5%".encode("utf-16"))

    def test_metrics_that_cannot_be_used(self) -> None:
        def refused(content: bytes, *lines: str) -> None:
            self.refused("trace n.md --metrics m.json", *(f"m.json: {line}" for line in lines), m=content)

        refused(b"", "line 1 column 1: not JSON: Expecting value")
        refused(b"[]", "root: must be an object, not an array")
        refused(b"\xef\xbb\xbf{}", "line 1 column 1: starts with a byte order mark")
        refused(b'{"metrics": [}', "line 1 column 14: not JSON: Expecting value")
        refused(b"{}", "metrics: is missing")
        refused(b'{"metrics": {}, "metrics": 3, "x": 1}', "metrics: must stand once in its object, not 2 times",
                "metrics: must be an array, not 3", 'root: has the unknown field "x"')  # fmt: skip
        value = "must be a decimal number with an exponent of at most three digits, a string of one, or null, not"
        for wrong in ('"12,5"', '"1e9999"', '"\\uff11"', '""', "true", '"NaN"', '" 1"', '"+1"', '".5"'):
            shown = json.dumps(json.loads(wrong))
            refused(b'{"metrics": [{"id": "a", "value": %s}]}' % wrong.encode(), f"metrics[0].value: {value} {shown}")
        refused(b'{"metrics": [{"id": "a", "value": NaN}]}', "line 1 column 35: not JSON: NaN is no number")
        refused(
            b'{"metrics": [{"id": "a", "value": 1}, {"id": "a", "value": 2}]}',
            'metrics[1].id: must be unique, but [0] also has "a"',
        )
        refused(
            b'{"metrics": [{"id": "A b", "unit": 5, "value": "1", "change": 1, "chnage": true}, 7]}',
            'metrics[0].id: must be an id ([a-z][a-z0-9_-]{0,79}), not "A b"',
            "metrics[0].unit: must be text of at most 80 code points without control characters, not 5",
            "metrics[0].change: must be true or false, not 1",
            'metrics[0]: has the unknown field "chnage"',
            "metrics[1]: must be an object, not 7",
        )

    def test_what_tracing_does_not_look_at_is_read_as_strictly(self) -> None:
        content = b'{"metrics": [{"id": "a", "value": 1, "inputs": [{"x": {"y": 1, "y": 2}}]}], "card": 5}'
        self.refused(
            "trace n.md --metrics m.json",
            "m.json: metrics[0].inputs[0].x.y: must stand once in its object, not 2 times",
            m=content,
        )

    def test_problems_of_both_files_are_said_at_once(self) -> None:
        self.refused(
            "trace gone.md --metrics gone.json",
            "gone.md: cannot be read: No such file or directory",
            "gone.json: cannot be read: No such file or directory",
        )

    def test_usage(self) -> None:
        both = "standard input can be NARRATIVE or METRICS, not both (--help explains the usage)"
        self.refused("trace - --metrics -", both)
        for arguments in (
            "",
            "tarce n.md",
            "trace",
            "trace a b",
            "trace n.md --formt text",
            "trace n.md --format xml",
            "trace n.md --allow",
        ):
            run = trace(arguments)
            self.assertEqual((run.status, run.out), (2, ""), arguments)
            self.assertRegex(run.err, r"\Aissuance: [ -~]+ \(--help explains the usage\)\n\Z")

    def test_an_output_that_cannot_be_written(self) -> None:
        run = trace_in_shell("TRACE n.md > /dev/full", n=b"5")
        self.assertEqual(run, Run(2, "", "issuance: standard output: cannot be written: No space left on device\n"))

    def test_an_output_that_is_closed(self) -> None:
        closed = Run(2, "", "issuance: standard output: cannot be written: it is closed\n")
        self.assertEqual(trace_in_shell("TRACE n.md >&-", n=b"5"), closed)
        self.assertEqual(trace_in_shell("TRACE --help >&-"), closed)
        full = "issuance: standard output: cannot be written: No space left on device\n"
        self.assertEqual(trace_in_shell("TRACE --help > /dev/full"), Run(2, "", full))

    def test_a_standard_error_that_is_closed(self) -> None:
        self.assertEqual(trace_in_shell("TRACE gone.md 2>&-"), Run(2, "", ""))

    def test_a_reader_that_goes_away(self) -> None:
        run = trace_in_shell("TRACE n.md | head -c 5", n=b"5 " * 20_000)
        self.assertEqual((run.out, run.err), ('{\n  "', ""))


class AllowedLiterals(unittest.TestCase):
    def test_they_mean_the_same_in_every_locale(self) -> None:
        for setting in ("LC_ALL=C PYTHONUTF8=0", "LC_ALL=C.UTF-8"):
            run = trace_in_shell(
                f"{setting} TRACE n.md --metrics m.json --allow 3.5万", n="3.5万".encode(), m=b'{"metrics": []}'
            )
            self.assertEqual((run.status, json.loads(run.out)["summary"]["allowed"]), (0, 1), setting)

    def test_they_are_counted(self) -> None:
        run = trace(
            "trace n.md --metrics m.json --allow 37 --allow 12%",
            n=b"It has 37 notices and 12 percent.",
            m=b'{"metrics": []}',
        )
        document: dict[str, Any] = json.loads(run.out)
        self.assertEqual(run.status, 0)
        self.assertEqual(document["summary"], {"total": 2, "traced": 0, "untraced": 0, "allowed": 2})
