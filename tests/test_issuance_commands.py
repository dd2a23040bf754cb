"""python3 -m issuance issue, verify, export, audit, runs: what they print, whole, and their exit statuses."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

from issuance import auditing
from issuance.caliber import Caliber
from issuance.cards import Card
from issuance.commands.audit import harmless
from issuance.numerals.plain import is_hidden
from issuance.snapshots import Snapshot
from tests.issuance_support import CARD, DROP, SCRIPT, SQL, Run, card, command, job, job_folder, metric, query, write
from tests.support import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
RUN_ID = re.compile("[0-9]{8}-[0-9]{6}-[0-9]{6}-[0-9a-f]{8}")
NONE = "20260101-000000-000000-00000000"
UNSEALED = "run.json is missing: the run is not sealed"
DAMAGED = "does not hold: run.json is not what the sealed events say"
CHECKS = (
    ("run_record", "the events are those of a run, and run.json is what they say"),
    ("event_seal", "the events have the seal"),
    ("artifact_hashes", "all 8 artifacts have the bytes that their names say"),
    ("metrics_recompute", "3 metrics come out the same"),
    ("document_recomposes", "the document is the narrative"),
    ("numbers_retrace", "2 numbers of the text trace the same"),
    ("tier_follows", "what was found gives formal"),
)
SALES = metric("sales", "sum(regions, 'cents') / 100", unit="$")
NORTH = metric("north", "cell(regions, 0, 'cents') / 100", unit="$")
GONE = metric("gone", "cell(regions, 9, 'cents')")
ZERO = metric("zero", "north / (sales - sales)")
NO_ROW = "the result of regions has no row 9, only 2"
DEGRADED_FILES: dict[str, Any] = {
    CARD: card(SALES, NORTH, GONE, ZERO),
    "narrative.md": "Sales were $5,000, of which $3,751 were sold in the North: 1,234 and 12%, 7 times.\n",
}
DEGRADED: dict[str, Any] = {
    "queries": [query("regions", SQL), query("star", "SELECT * FROM orders LIMIT 1")],
    "contract": {"required": ["sales"], "expected": ["gone", "zero"], "strict": False, "allow": ["7"]},
}


def setUpModule() -> None:
    without_waiting = mock.patch("os.fsync")
    without_waiting.start()
    unittest.addModuleCleanup(without_waiting.stop)


def masked(folder: str, text: str) -> str:
    """A text with RUN1, RUN2 and so on for the runs of the store in a folder, the oldest first, SEAL and TIME."""
    runs = pathlib.Path(folder, "data", "runs")
    ids = sorted(path.name for path in runs.iterdir() if RUN_ID.fullmatch(path.name)) if runs.is_dir() else []
    for number, id in enumerate(ids, 1):
        text = text.replace(id, f"RUN{number}")
    text = re.sub("[0-9a-f]{64}", "SEAL", text)
    return re.sub("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", "TIME", text)


def ran(folder: str, *arguments: str) -> Run:
    """What came of a command in a folder, masked as above."""
    status, out, err = command(*arguments, cwd=folder)
    return Run(status, masked(folder, out), masked(folder, err))


def issued(folder: str, *options: str, **changes: Any) -> pathlib.Path:
    """Issue the job in a folder, with other values of some of its keys, and return the run's folder."""
    if changes:
        write(folder, {"job.json": job(**changes)})
    run = command("issue", "job.json", *options, cwd=folder)
    assert run.err == "", run.err
    return pathlib.Path(folder, json.loads(run.out)["run"])


def artifact(folder: str, run: pathlib.Path, what: str) -> pathlib.Path:
    hash = json.loads((run / "run.json").read_bytes())["artifacts"][what]
    return pathlib.Path(folder, "data", "artifacts", hash[:2], hash)


def as_json(content: object) -> str:
    return json.dumps(content, indent=2) + "\n"


def lines(*text: str) -> str:
    return "".join(f"{line}\n" for line in text)


def checks(**differing: tuple[str, str]) -> list[dict[str, str]]:
    """The checks of a verification, all passing but those given."""
    found = []
    for code, message in CHECKS:
        status, said = differing.get(code, ("pass", message))
        found.append({"code": code, "status": status, "message": said})
    return found


class Issue(unittest.TestCase):
    maxDiff = None

    def test_formal(self) -> None:
        with job_folder() as folder:
            content: dict[str, Any] = {
                "run_id": "RUN1", "run": "data/runs/RUN1", "status": "finished", "tier": "formal", "reasons": [], "missing": [],
                "numbers": {"total": 2, "traced": 2, "untraced": 0, "allowed": 0}, "seal": "SEAL",
            }  # fmt: skip
            self.assertEqual(ran(folder, "issue", "job.json"), Run(0, as_json(content), ""))
            run = next(pathlib.Path(folder, "data", "runs").iterdir())
            sealed = hashlib.sha256((run / "events.jsonl").read_bytes()).hexdigest()
            self.assertEqual(json.loads((run / "run.json").read_bytes())["seal"], sealed)
            text = lines(
                "formal: Weekly sales",
                "",
                "  sales        $5,000.00",
                "  north        $3,750.50",
                "  north_share  75.0%",
                "",
                "2 numbers: 2 traced, 0 untraced, 0 allowed",
                "",
                "run  data/runs/RUN2",
                "seal SEAL",
            )
            self.assertEqual(ran(folder, "issue", "job.json", "--format", "text"), Run(0, text, ""))

    def test_degraded_with_everything_that_there_is_to_say(self) -> None:
        expected = f"2 metrics: gone missing: {NO_ROW}; zero failed: division by zero"
        untraced = "2 numbers of the narrative that trace to no metric: '1,234'; '12%'"
        warnings = ["SELECT * takes whatever columns there are: name them", "LIMIT without ORDER BY takes any rows"]
        content: dict[str, Any] = {
            "run_id": "RUN1", "run": "data/runs/RUN1", "status": "finished", "tier": "degraded",
            "reasons": [
                {"code": "expected_missing", "message": expected},
                {"code": "untraced_numbers", "message": untraced},
            ],
            "missing": [
                {"metric": "gone", "reason": f"missing: {NO_ROW}"},
                {"metric": "zero", "reason": "failed: division by zero"},
            ],
            "numbers": {"total": 5, "traced": 2, "untraced": 2, "allowed": 1}, "seal": "SEAL",
            "warnings": [{"query": "star", "message": said} for said in warnings],
        }  # fmt: skip
        text = lines(
            "degraded: Weekly sales",
            "",
            "  sales  $5,000.00",
            "  north  $3,750.50",
            f"  gone   missing - {NO_ROW}",
            "  zero   failed - division by zero",
            "",
            "5 numbers: 2 traced, 2 untraced, 1 allowed",
            "  1,234: 1234 (1233.5 to 1234.5), untraced: no metric has this value",
            "  12%: 12 (11.5 to 12.5) %, untraced: no metric has this value",
            f"expected_missing: {expected}",
            f"untraced_numbers: {untraced}",
            *(f"warning: star: {said}" for said in warnings),
            "",
            "run  data/runs/RUN2",
            "seal SEAL",
        )
        with job_folder(DEGRADED_FILES, **DEGRADED) as folder:
            self.assertEqual(ran(folder, "issue", "job.json"), Run(1, as_json(content), ""))
            self.assertEqual(ran(folder, "issue", "job.json", "--format", "text"), Run(1, text, ""))

    def test_exit_statuses(self) -> None:
        wrong = {"narrative.md": "Sales were $6,000."}
        for files, changes, status, tier in (
            ({}, {}, 0, "formal"),
            ({}, {"mode": "exploratory"}, 1, "degraded"),
            (wrong, {"contract": {"strict": False}}, 1, "degraded"),
            (wrong, {}, 1, "withheld"),
        ):
            with self.subTest(tier), job_folder(files, **changes) as folder:
                run = command("issue", "job.json", cwd=folder)
                self.assertEqual((run.status, json.loads(run.out)["tier"], run.err), (status, tier, ""))
                text = command("issue", "job.json", "--format", "text", cwd=folder)
                self.assertEqual((text.status, text.out.splitlines()[0], text.err), (status, f"{tier}: Weekly sales", ""))

    def test_a_card_without_metrics(self) -> None:
        text = lines(
            "degraded: Weekly sales", "", "", "0 numbers: 0 traced, 0 untraced, 0 allowed",
            "check_incomplete: the card has no metrics", "", "run  data/runs/RUN1", "seal SEAL",
        )  # fmt: skip
        with job_folder({CARD: {**card(), "metrics": []}, "narrative.md": "None."}, contract={}) as folder:
            self.assertEqual(ran(folder, "issue", "job.json", "--format", "text"), Run(1, text, ""))

    def test_another_input(self) -> None:
        files = {CARD: card(SALES, metric("target", "inputs.target")), "narrative.md": "Sales were $4,000 of 6,000.\n"}
        changes = {"inputs": {"week": "W37", "target": 1}, "contract": {"required": ["sales", "target"]}}
        with job_folder(files, **changes) as folder:
            self.assertEqual(command("issue", "job.json", cwd=folder).status, 1)
            run = issued(folder, "--input", "week=W36", "--input", "target=6000")
            record = json.loads((run / "run.json").read_bytes())
            self.assertEqual((record["tier"], record["inputs"]), ("formal", {"week": "W36", "target": 6000}))
            self.assertEqual(json.loads(artifact(folder, run, "job").read_bytes())["inputs"], {"week": "W37", "target": 1})
            snapshot = json.loads(artifact(folder, run, "snapshot of Q1").read_bytes())
            self.assertEqual((snapshot["parameters"], snapshot["rows"]), ({"week": "W36"}, [["North", 400000]]))
            verified = json.loads(command("verify", "latest", cwd=folder).out)
            self.assertTrue(verified["holds"])

    def test_gates_keep_only_a_formal_run_from_starting(self) -> None:
        complaint = "the contract has no required metric"
        refused = f"issuance: job.json: level: governed, but G1 does not hold: {complaint}\n"
        for mode, expected in (("formal", Run(2, "", refused)), ("exploratory", None)):
            with self.subTest(mode), job_folder(level="governed", mode=mode, contract={}) as folder:
                run = command("issue", "job.json", cwd=folder)
                if expected:
                    self.assertEqual(run, expected)
                else:
                    self.assertEqual((run.status, json.loads(run.out)["tier"]), (1, "degraded"))

    def test_another_store(self) -> None:
        with job_folder() as folder, tempfile.TemporaryDirectory() as store:
            run = command("issue", "job.json", "--store", f"{store}/a/b", cwd=folder)
            content = json.loads(run.out)
            self.assertEqual((run.status, content["run"]), (0, f"{store}/a/b/runs/{content['run_id']}"))
            self.assertFalse(os.path.exists(f"{folder}/data"))
            self.assertEqual(command("verify", content["run"]).status, 0)


NEWER = card(
    metric("sales", "sum(regions, 'cents') / 50", unit="$"), metric("north", "cell(regions, 0, 'cents') / 100"),
    metric("gone", "1 / 3 + cell(regions, 1, 'cents') * 0"), version="2",
)  # fmt: skip
BEFORE = card(metric("sales", "sum(regions, 'cents') / 100", unit="$"), metric("only_before", "count(regions, 'cents')"))
BUMP_FILES: dict[str, Any] = {CARD: BEFORE, "cards/sales@2.json": NEWER, "narrative.md": "All is well.\n"}


class Bumps(unittest.TestCase):
    maxDiff = None

    def bumped(self, folder: str, policy: str) -> tuple[dict[str, Any], list[str]]:
        """The version bump as it is printed, in JSON and in text, for a job that decides on this policy."""
        write(folder, {"job.json": job(contract={}, caliber={"card": CARD, "version": "1", "on_version_bump": policy})})
        run = command("issue", "job.json", cwd=folder)
        self.assertEqual((run.status, run.err), (0, ""))
        content = json.loads(run.out)
        run_folder = pathlib.Path(folder, content["run"])
        record = json.loads((run_folder / "run.json").read_bytes())
        self.assertEqual(record["card"], {"name": "sales", "version": "2", "pinned": "1", "on_version_bump": policy})
        self.assertEqual(json.loads(artifact(folder, run_folder, "bump").read_bytes()), content["version_bump"])
        self.assertEqual(json.loads(artifact(folder, run_folder, "pinned card").read_bytes()), BEFORE)
        self.assertEqual(command("verify", "latest", cwd=folder).status, 0)
        text = command("issue", "job.json", "--format", "text", cwd=folder)
        self.assertEqual((text.status, text.err), (0, ""))
        shown = text.out.splitlines()
        start = shown.index("0 numbers: 0 traced, 0 untraced, 0 allowed") + 1
        bump: dict[str, Any] = json.loads(masked(folder, json.dumps(content["version_bump"])))
        return bump, masked(folder, "\n".join(shown[start:-3])).split("\n")

    def test_dual(self) -> None:
        with job_folder(BUMP_FILES) as folder:
            bump, text = self.bumped(folder, "dual")
        values = [
            {"metric": "sales", "pinned": "5000", "newest": "10000"},
            {"metric": "only_before", "pinned": "2", "newest": None},
            {"metric": "north", "pinned": None, "newest": "3750.5"},
            {"metric": "gone", "pinned": None, "newest": f"0.{'3' * 50}"},
        ]
        self.assertEqual(bump, {"policy": "dual", "pinned": "1", "newest": "2", "values": values})
        self.assertEqual(
            text,
            [
                "version 2 computed this, not the pinned 1: dual",
                "  sales: 5000 before, 10000 now",
                "  only_before: 2 before, no value now",
                "  north: no value before, 3750.5 now",
                f"  gone: no value before, 0.{'3' * 22}... now",
            ],
        )

    def test_incomparable(self) -> None:
        with job_folder(BUMP_FILES) as folder:
            bump, text = self.bumped(folder, "incomparable")
        self.assertEqual(bump, {"policy": "incomparable", "pinned": "1", "newest": "2", "comparable": False})
        said = ["version 2 computed this, not the pinned 1: incomparable"]
        self.assertEqual(text, [*said, "  the values are not comparable with those of earlier runs"])

    def test_recompute_without_earlier_runs(self) -> None:
        with job_folder(BUMP_FILES) as folder:
            bump, text = self.bumped(folder, "recompute")
        self.assertEqual(bump, {"policy": "recompute", "pinned": "1", "newest": "2", "runs": []})
        third = f"0.{'3' * 22}..."
        self.assertEqual(
            text,
            [
                "version 2 computed this, not the pinned 1: recompute",
                "  run RUN1 of version 2",  # the first of the two runs that bumped() makes
                "    sales: 10000 before, 10000 now",
                "    north: 3750.5 before, 3750.5 now",
                f"    gone: {third} before, {third} now",
            ],
        )

    def test_recompute_reads_the_sealed_runs_of_the_job_from_their_own_snapshots(self) -> None:
        free: dict[str, Any] = {"caliber": {"card": CARD, "version": "1"}, "contract": {}}
        with job_folder({CARD: BEFORE, "narrative.md": "All is well.\n"}) as folder:
            issued(folder, **free)
            issued(folder, **free, id="other")
            write(folder, {"shop.sql": SCRIPT.replace("124950", "24950")})
            issued(folder, "--input", "week=W36", **free)
            unsealed = issued(folder, **free)
            os.unlink(unsealed / "run.json")
            write(folder, {"shop.sql": SCRIPT.replace("124950", "1")})
            damaged = issued(folder, **free)
            snapshot = artifact(folder, damaged, "snapshot of Q1")
            snapshot.write_bytes(snapshot.read_bytes().replace(b", 1]", b", 2]"))
            forged = issued(folder, **{**free, "title": "Weekly"})
            (forged / "run.json").write_bytes((forged / "run.json").read_bytes().replace(b"formal", b"normal", 1))
            write(folder, {"cards/sales@2.json": NEWER, "shop.sql": SCRIPT.replace("124950", "2")})
            bump, text = self.bumped(folder, "recompute")
        third = f"0.{'3' * 50}"
        wrong = "the artifact SEAL does not have the bytes that its name says"
        runs = [
            {
                "run_id": "RUN1",
                "card": "1",
                "values": [
                    {"metric": "sales", "old": "5000", "new": "10000"},
                    {"metric": "only_before", "old": "2", "new": None},
                    {"metric": "north", "old": None, "new": "3750.5"},
                    {"metric": "gone", "old": None, "new": third},
                ],
            },
            {
                "run_id": "RUN3",
                "card": "1",
                "values": [
                    {"metric": "sales", "old": "4000", "new": "8000"},
                    {"metric": "only_before", "old": "1", "new": None},
                    {"metric": "north", "old": None, "new": "4000"},
                    {"metric": "gone", "old": None, "new": None},
                ],
            },
            {"run_id": "RUN5", "card": "1", "not_computed": wrong},
            {"run_id": "RUN6", "card": None, "not_computed": DAMAGED},
        ]
        self.assertEqual(bump, {"policy": "recompute", "pinned": "1", "newest": "2", "runs": runs})
        self.assertEqual(
            text,
            [
                "version 2 computed this, not the pinned 1: recompute",
                "  run RUN1 of version 1",
                "    sales: 5000 before, 10000 now",
                "    only_before: 2 before, no value now",
                "    north: no value before, 3750.5 now",
                f"    gone: no value before, 0.{'3' * 22}... now",
                "  run RUN3 of version 1",
                "    sales: 4000 before, 8000 now",
                "    only_before: 1 before, no value now",
                "    north: no value before, 4000 now",
                "    gone: no value before, no value now",
                "  run RUN5 of version 1",
                f"    not computed: {wrong}",
                "  run RUN6",
                f"    not computed: {DAMAGED}",
                "  run RUN7 of version 2",
                "    sales: 7501.04 before, 7501.04 now",
                "    north: 3750.5 before, 3750.5 now",
                f"    gone: 0.{'3' * 22}... before, 0.{'3' * 22}... now",
            ],
        )

    def test_without_a_bump_nothing_is_said_of_one(self) -> None:
        for caliber in ({"card": CARD, "version": "2", "on_version_bump": "dual"}, {"card": CARD}):
            with self.subTest(caliber), job_folder(BUMP_FILES, caliber=caliber, contract={}) as folder:
                content = json.loads(command("issue", "job.json", cwd=folder).out)
                self.assertNotIn("version_bump", content)
                self.assertNotIn("version 2", command("issue", "job.json", "--format", "text", cwd=folder).out)


class Verify(unittest.TestCase):
    maxDiff = None

    def content(self, **changes: Any) -> str:
        usual = {"run_id": "RUN1", "sealed": True, "holds": True, "checks": checks(), "seal": "SEAL", "appended": []}
        return as_json({**usual, **changes})

    def text(self, verdict: str, found: list[dict[str, str]], *more: str) -> str:
        return lines(f"{verdict}: run RUN1", "", *(f"{one['status']:<12} {one['code']}: {one['message']}" for one in found), *more)

    def both(self, folder: str, *options: str) -> list[Run]:
        return [ran(folder, "verify", "latest", *options, "--format", form) for form in ("json", "text")]

    def test_what_holds(self) -> None:
        with job_folder() as folder:
            issued(folder)
            self.assertEqual(ran(folder, "verify", "latest"), Run(0, self.content(), ""))
            text = self.text("holds", checks(), "", "seal SEAL")
            self.assertEqual(self.both(folder), [Run(0, self.content(), ""), Run(0, text, "")])

    def test_the_given_seal(self) -> None:
        with job_folder() as folder:
            run = issued(folder)
            seal = json.loads((run / "run.json").read_bytes())["seal"]
            given = checks(event_seal=("pass", "the events have the seal, which is the given one"))
            text = self.text("holds", given, "", "seal SEAL")
            self.assertEqual(self.both(folder, "--seal", seal.upper()), [Run(0, self.content(checks=given), ""), Run(0, text, "")])
            other = checks(event_seal=("fail", "the seal is SEAL, not the given SEAL"))
            text = self.text("differs", other, "", "seal SEAL")
            found = self.both(folder, "--seal", "f" * 64)
            self.assertEqual(found, [Run(1, self.content(checks=other, holds=False), ""), Run(1, text, "")])
            for wrong in ("", seal[:-1], seal + "0", "g" * 64, f" {seal}", f"{seal}\n"):
                refused = command("verify", "latest", "--seal", wrong, cwd=folder)
                self.assertEqual((refused.status, refused.out), (2, ""))
                self.assertRegex(refused.err, r"\Aissuance: --seal must be the 64 hexadecimal digits of a SHA-256, not [ -~]+\n\Z")

    def test_what_differs(self) -> None:
        with job_folder() as folder:
            run = issued(folder)
            artifact(folder, run, "narrative").write_bytes(b"Sales were $6,000.")
            said = "narrative: the artifact SEAL does not have the bytes that its name says"
            needs = ("not_checked", "artifact_hashes did not pass")
            found = checks(
                artifact_hashes=("fail", said),
                metrics_recompute=needs,
                document_recomposes=needs,
                numbers_retrace=("not_checked", "metrics_recompute did not pass"),
                tier_follows=("not_checked", "metrics_recompute did not pass"),
            )
            text = self.text("differs", found, "", "seal SEAL")
            self.assertEqual(self.both(folder), [Run(1, self.content(checks=found, holds=False), ""), Run(1, text, "")])

    def test_what_is_not_sealed(self) -> None:
        with job_folder() as folder:
            os.unlink(issued(folder) / "run.json")
            needs = ("not_checked", "artifact_hashes did not pass")
            found = checks(
                run_record=("fail", UNSEALED),
                event_seal=("not_checked", "the run is not sealed"),
                artifact_hashes=("not_checked", "run_record did not pass"),
                metrics_recompute=needs,
                document_recomposes=needs,
                numbers_retrace=("not_checked", "metrics_recompute did not pass"),
                tier_follows=("not_checked", "metrics_recompute did not pass"),
            )
            content = self.content(sealed=False, holds=False, checks=found, seal=None)
            self.assertEqual(self.both(folder), [Run(1, content, ""), Run(1, self.text("not sealed", found), "")])

    def test_how_a_run_can_be_named(self) -> None:
        with job_folder() as folder, tempfile.TemporaryDirectory() as elsewhere:
            first, last = issued(folder), issued(folder)
            os.symlink(first, f"{folder}/link")
            shutil.copytree(first, f"{elsewhere}/{first.name}")
            store = f"{folder}/data"
            for cwd, arguments, run in (
                (folder, ["latest"], last),
                (folder, [last.name], last),
                (folder, [first.name], first),
                (folder, [f"data/runs/{first.name}"], first),
                (folder, [f"./data/runs/{first.name}/"], first),
                (f"{folder}/cards", [f"../data/runs/{first.name}"], first),
                (elsewhere, [str(first)], first),
                (elsewhere, [str(first), "--store", "nowhere"], first),
                (elsewhere, ["latest", "--store", store], last),
                (elsewhere, [first.name, "--store", store], first),
                (elsewhere, [f"./{first.name}", "--store", store], first),
            ):
                with self.subTest(arguments):
                    found = command("verify", *arguments, cwd=cwd)
                    content = json.loads(found.out)
                    self.assertEqual((found.status, content["run_id"], found.err), (0, run.name, ""))

    def test_runs_that_are_not_there(self) -> None:
        with job_folder() as folder:
            issued(folder)
            os.mkdir(f"{folder}/data/runs/other")
            no_folder = "and there is no such folder"
            for reference, said in (
                (NONE, f"data: holds no run {NONE}"),
                ("none", f'data: holds no run "none", {no_folder}'),
                ("", f'data: holds no run "", {no_folder}'),
                ("Latest", f'data: holds no run "Latest", {no_folder}'),
                ("\x1b\u202e", f'data: holds no run "\\u001b\\u202e", {no_folder}'),
                ("job.json", "job.json: is no run's folder"),
                ("cards", "cards: is no run's folder"),
                (".", ".: is no run's folder"),
                ("data", "data: is no run's folder"),
                ("data/runs/other", "data/runs/other: is no run's folder"),
            ):
                for arguments in (["verify"], ["audit"], ["export", "--text", "o.md"]):
                    with self.subTest(reference, command=arguments[0]):
                        run = command(*arguments, reference, cwd=folder)
                        is_file = reference == "job.json" and arguments == ["verify"]
                        expected = "job.json: is no file that export has written" if is_file else said
                        self.assertEqual(run, Run(2, "", f"issuance: {expected}\n"))
            for store in ("none", "cards"):
                run = command("verify", "latest", "--store", store, cwd=folder)
                self.assertEqual(run, Run(2, "", f"issuance: {store}: holds no runs\n"))
            self.assertFalse(os.path.exists(f"{folder}/o.md"))


class Export(unittest.TestCase):
    maxDiff = None

    def exported(self, folder: str, file: str = "o.md") -> bytes:
        self.assertEqual(command("export", "latest", "--text", file, cwd=folder), Run(0, "", ""))
        return pathlib.Path(folder, file).read_bytes()

    def test_the_head_and_the_narrative_byte_for_byte(self) -> None:
        head = lines(
            "> **ISSUED: formal**  ",
            "> Report: Weekly sales  ",
            "> run RUN1, data as of TIME  ",
            "> seal SEAL  ",
            "",
        )
        for narrative in (
            b"Sales were $5,000.00.\n",
            b"# Week\r\n\r\nSales were $5,000.00, no line end",
            "\ufeffSales were $5,000.00 \u5143.\n\n\n".encode(),
            b"> \x1b[m<b>$5,000.00</b>\x00\n",
        ):
            with self.subTest(narrative), job_folder({"narrative.md": narrative}) as folder:
                issued(folder)
                write(folder, {"o.md": "what was there before " * 100, "narrative.md": "other"})
                data = self.exported(folder)
                self.assertTrue(data.endswith(narrative))
                self.assertEqual(masked(folder, data[: -len(narrative)].decode()), head)
                self.assertEqual(self.exported(folder), data)

    def test_a_title_is_no_markup(self) -> None:
        for title, shown in (("~~~", "\\~\\~\\~"), ("- x", "- x"), ("1. x", "1. x"), ("# x", "\\# x"), ("> x", "&gt; x"), ("~~x~~", "\\~\\~x\\~\\~")):
            with self.subTest(title), job_folder(title=title) as folder:
                issued(folder)
                self.assertEqual(self.exported(folder).decode().splitlines()[1], f"> Report: {shown}  ")

    def test_everything_in_the_head(self) -> None:
        title = "Weekly *sales* & <b>_more_</b>\n\t[a](b) `c` | d # e! \\ \x1b[0m \u202e"
        escaped = "Weekly \\*sales\\* &amp; &lt;b&gt;\\_more\\_&lt;/b&gt;  \\[a\\](b) \\`c\\` \\| d \\# e\\! \\\\ \\\\x1b\\[0m \\\\u202e"
        said = f"2 metrics: gone missing: {NO_ROW}; zero failed: division by zero"
        untraced = "numbers of the narrative that trace to no metric: '1,234'; '12%'"
        for contract, verdict, reasons in (
            (DEGRADED["contract"], "ISSUED: degraded", [f"expected_missing: {said}", f"untraced_numbers: 2 {untraced}"]),
            (
                {"required": ["gone", "zero"], "strict": False},
                "NOT ISSUED: withheld",
                [f"required_missing: {said}", f"untraced_numbers: 3 {untraced}; '7 times'"],
            ),
        ):
            changes = {**DEGRADED, "title": title, "contract": contract}
            with self.subTest(verdict), job_folder(DEGRADED_FILES, **changes) as folder:
                issued(folder)
                head = masked(folder, self.exported(folder).decode()).split("\n\n")[0]
                expected = [
                    f"**{verdict}**",
                    f"Report: {escaped}",
                    "run RUN1, data as of TIME",
                    "seal SEAL",
                    *reasons,
                    f"missing: gone, missing: {NO_ROW}",
                    "missing: zero, failed: division by zero",
                ]
                self.assertEqual(head.split("\n"), [f"> {line}  " for line in expected])

    def test_metrics_only(self) -> None:
        document = card({**SALES, "name": "Sales | all *of* <it>\n"}, GONE, ZERO, NORTH)
        with job_folder({CARD: document}, narrative=DROP, contract={"required": ["sales"]}) as folder:
            self.assertEqual(command("issue", "job.json", cwd=folder).status, 0)
            data = masked(folder, self.exported(folder).decode())
            expected = lines(
                "> **ISSUED: formal**  ",
                "> Report: Weekly sales  ",
            "> run RUN1, data as of TIME  ",
                "> seal SEAL  ",
                f"> missing: gone, missing: {NO_ROW}  ",
                "> missing: zero, failed: division by zero  ",
                "",
                "| metric | value |",
                "| --- | --- |",
                "| Sales \\| all \\*of\\* &lt;it&gt;  | $5,000.00 |",
                "| gone | missing |",
                "| zero | failed |",
                "| north | $3,750.50 |",
            )
            self.assertEqual(data, expected)

    def test_it_is_noted_after_the_seal(self) -> None:
        with job_folder() as folder:
            events = issued(folder) / "events.jsonl"
            sealed = events.read_bytes()
            before = command("verify", "latest", cwd=folder)
            noted: list[dict[str, Any]] = []
            for file in ("o.md", "cards/p.md"):
                sha = hashlib.sha256(self.exported(folder, file)).hexdigest()
                noted.append({"seq": 7 + len(noted), "type": "report.exported", "format": "text", "sha256": sha})
            data = events.read_bytes()
            self.assertTrue(data.startswith(sealed))
            appended = [json.loads(line) for line in data[len(sealed) :].splitlines()]
            self.assertEqual(sealed.count(b"\n"), 6)
            self.assertTrue(all(re.fullmatch("20[0-9-]{8}T[0-9:]{8}Z", event.pop("at")) for event in appended))
            self.assertEqual(appended, noted)
            after = command("verify", "latest", cwd=folder)
            self.assertEqual(json.loads(after.out), {**json.loads(before.out), "appended": ["report.exported"] * 2})
            text = command("verify", "latest", "--format", "text", cwd=folder)
            self.assertEqual(text.out.splitlines()[9:-2], ["appended after sealing: report.exported"] * 2)

    def test_a_run_that_was_changed(self) -> None:
        with job_folder({"narrative.md": "Sales were $1.00."}) as folder:
            run, other = issued(folder), issued(folder)
            events, record = (run / "events.jsonl").read_bytes(), (run / "run.json").read_bytes()
            changed = events.replace(b'"tier": "withheld"', b'"tier": "formal"')
            self.assertNotEqual(changed, events)
            for content, said in (
                ((changed, record), "run.json is not what the sealed events say"),
                ((events, b"{}"), "run.json is not what the sealed events say"),
                ((events, record.replace(b"withheld", b"formal")), "run.json is not what the sealed events say"),
                (((other / "events.jsonl").read_bytes(), (other / "run.json").read_bytes()), f"it is the run {other.name} under another name"),
            ):
                (run / "events.jsonl").write_bytes(content[0])
                (run / "run.json").write_bytes(content[1])
                for arguments in (["export", "--text", "o.md"], ["audit"]):
                    with self.subTest(arguments, said=said):
                        said_whole = f"issuance: data/runs/{run.name}: does not hold: {said}\n"
                        self.assertEqual(command(*arguments, run.name, cwd=folder), Run(2, "", said_whole))
                self.assertFalse(os.path.exists(f"{folder}/o.md"))
                listed = json.loads(command("runs", cwd=folder).out)["runs"]
                self.assertEqual([one["note"] for one in listed], [f"does not hold: {said}", ""])

    def test_where_it_is_written(self) -> None:
        with job_folder() as folder:
            run = issued(folder)
            kept = {path: path.read_bytes() for path in pathlib.Path(folder, "data").rglob("*") if path.is_file()}
            os.symlink(run / "run.json", f"{folder}/link.md")
            for path in [*kept, pathlib.Path("data/new.md"), pathlib.Path("link.md")]:
                said = f"issuance: {path}: is in the store, where nothing that is sealed is overwritten\n"
                self.assertEqual(command("export", "latest", "--text", str(path), cwd=folder), Run(2, "", said))
            self.assertEqual({path: path.read_bytes() for path in kept}, kept)
            whole = self.exported(folder)
            write(folder, {"target.md": "before", "private.md": "before"})
            os.chmod(f"{folder}/private.md", 0o600)
            os.symlink("target.md", f"{folder}/to.md")
            os.mkfifo(f"{folder}/pipe")
            reader = os.open(f"{folder}/pipe", os.O_RDONLY | os.O_NONBLOCK)
            for name in ("to.md", "private.md", "pipe"):
                self.assertEqual(command("export", "latest", "--text", name, cwd=folder), Run(0, "", ""))
            self.assertEqual(os.read(reader, 1 << 16), whole)
            os.close(reader)
            self.assertEqual(in_shell(folder, "ISSUANCE export latest --text /dev/stdout | cat").out.encode(), whole)
            self.assertTrue(os.path.islink(f"{folder}/to.md"))
            self.assertEqual(pathlib.Path(folder, "target.md").read_bytes(), whole)
            self.assertEqual(os.stat(f"{folder}/private.md").st_mode & 0o777, 0o600)
            seqs = [json.loads(line)["seq"] for line in (run / "events.jsonl").read_bytes().splitlines()]
            self.assertEqual(seqs, list(range(1, len(seqs) + 1)))

    def test_what_cannot_be_exported(self) -> None:
        with job_folder() as folder:
            run = issued(folder)
            events = (run / "events.jsonl").read_bytes()
            narrative = artifact(folder, run, "narrative")
            for file, said in (
                ("cards", "cards: cannot be written: Is a directory"),
                ("none/o.md", "none/o.md: cannot be written: No such file or directory"),
                ("job.json/o.md", "job.json/o.md: cannot be written: Not a directory"),
                ("", '"": cannot be written: Is a directory'),
            ):
                self.assertEqual(command("export", "latest", "--text", file, cwd=folder), Run(2, "", f"issuance: {said}\n"))
            narrative.write_bytes(b"other")
            wrong = f"the artifact {narrative.name} does not have the bytes that its name says"
            place = f"issuance: data/runs/{run.name}"
            for arguments in (["export", "--text", "o.md", "latest"], ["audit", "latest"]):
                self.assertEqual(command(*arguments, cwd=folder), Run(2, "", f"{place}: {wrong}\n"))
            self.assertEqual((run / "events.jsonl").read_bytes(), events)
            (run / "run.json").unlink()
            for arguments in (["export", "--text", "o.md", "latest"], ["audit", "latest"]):
                self.assertEqual(command(*arguments, cwd=folder), Run(2, "", f"{place}: {UNSEALED}\n"))
            (run / "run.json").write_bytes(b"{}")
            (run / "events.jsonl").unlink()
            for arguments in (["export", "--text", "o.md", "latest"], ["audit", "latest"]):
                self.assertEqual(command(*arguments, cwd=folder), Run(2, "", f"{place}: does not hold: events.jsonl: is missing\n"))
            self.assertEqual(sorted(os.listdir(folder)), ["cards", "data", "job.json", "narrative.md", "shop.sql"])


GUESS = "guessed source, not evidence"
NO_METRIC = "no metric has this value"
GROUPS = ("has_provenance", "allowed", "guessed", "no_evidence", "suspicious_name")


def number(text: str, start: int, value: str, unit: str, *sources: Any, reason: str = "") -> dict[str, Any]:
    end = start + len(text)
    return {"kind": "number", "text": text, "start": start, "end": end, "value": value, "unit": unit, "sources": list(sources), "reason": reason}


def guess(source: str) -> dict[str, str]:
    return {"source": source, "label": GUESS}


class Audit(unittest.TestCase):
    maxDiff = None

    def test_groups(self) -> None:
        narrative = "Sales were $5,000. -124,950 cents; 7 and 9,876.\n"
        with job_folder({"narrative.md": narrative, CARD: card(SALES)}, contract={"allow": ["7"]}) as folder:
            run = issued(folder)
            snapshot = artifact(folder, run, "snapshot of Q1").name
            cell = {"query": "regions", "column": "cents", "artifact": snapshot, "aggregate": "sum", "rows": [0, 2]}
            sales = {"source": "sales", "value": "5000", "expression": SALES["expression"], "inputs": [cell]}
            content = {
                "run_id": run.name,
                "summary": {"has_provenance": 1, "allowed": 1, "guessed": 1, "no_evidence": 1, "suspicious_name": 0},
                "has_provenance": [number("5,000", 12, "5000", "$", sales)],
                "allowed": [number("7", 35, "7", "")],
                "guessed": [number("-124,950", 19, "-124950", "", guess("Q1.r1.cents"), reason=NO_METRIC)],
                "no_evidence": [number("9,876", 41, "9876", "", reason=NO_METRIC)],
                "suspicious_name": [],
            }
            self.assertEqual(command("audit", "latest", cwd=folder), Run(1, as_json(content), ""))
            table = (
                "group,kind,text,start,end,value,unit,sources,reason\r\n"
                "has_provenance,number,\"5,000\",12,17,5000,$,\"sales = sum(regions, 'cents') / 100\",\r\n"
                "allowed,number,7,35,36,7,,,\r\n"
                f"guessed,number,\"'-124,950\",19,27,'-124950,,\"Q1.r1.cents ({GUESS})\",{NO_METRIC}\r\n"
                f"no_evidence,number,\"9,876\",41,46,9876,,,{NO_METRIC}\r\n"
            )
            self.assertEqual(command("audit", "latest", "--format", "csv", cwd=folder), Run(1, table, ""))

    def test_exit_statuses(self) -> None:
        for narrative, changes, status, counts in (
            ("Sales were $5,000.", {}, 0, (1, 0, 0, 0, 0)),
            ("Sales were $5,000, 7 times.", {"contract": {"allow": ["7"]}}, 0, (1, 1, 0, 0, 0)),
            ("None.", {}, 0, (0, 0, 0, 0, 0)),
            ("None.", {"contract": DROP}, 0, (0, 0, 0, 0, 0)),
            ("Sales were $5,000.", {"contract": DROP}, 1, (0, 0, 1, 0, 0)),
            ("It sold 375,050.", {}, 1, (0, 0, 1, 0, 0)),
            ("It sold 375,051.", {}, 1, (0, 0, 0, 1, 0)),
            ("It sold 375,051.", {"contract": DROP}, 1, (0, 0, 0, 1, 0)),
        ):
            with self.subTest(narrative, **changes), job_folder({"narrative.md": narrative}, **changes) as folder:
                issued(folder)
                for form in ("json", "csv"):
                    run = command("audit", "latest", "--format", form, cwd=folder)
                    self.assertEqual((run.status, run.err), (status, ""))
                    if form == "json":
                        self.assertEqual(json.loads(run.out)["summary"], dict(zip(GROUPS, counts)))
                    else:
                        self.assertEqual(len(list(csv.reader(io.StringIO(run.out)))), 1 + sum(counts))

    def test_the_title_of_metrics_only(self) -> None:
        with job_folder(narrative=DROP, title="Sales of $5,000 by 9") as folder:
            issued(folder)
            content = json.loads(command("audit", "latest", cwd=folder).out)
            found = {group: [one["text"] for one in content[group]] for group in GROUPS}
            self.assertEqual(found, {"has_provenance": ["5,000"], "allowed": [], "guessed": [], "no_evidence": ["9"], "suspicious_name": []})

    def candidates(self, text: str, cells: Mapping[str, Any], **changes: Any) -> list[str]:
        """The sources that are guessed for the one number of a text, from a saved result of one row."""
        saved = {"columns": list(cells), "rows": [list(cells.values())], "truncated": False}
        files = {"saved.json": saved, "narrative.md": text, CARD: card(metric("tally", "count(kept, 'a') * 41"))}
        usual = {"sources": [{"id": "shop", "result": "saved.json"}], "queries": [query("kept")], "contract": DROP}
        with job_folder(files, **{**usual, **changes}) as folder:
            issued(folder)
            content = json.loads(command("audit", "latest", cwd=folder).out)
            numbers: list[dict[str, Any]] = content["guessed"] + content["no_evidence"]
            (found,) = numbers
            self.assertEqual([source["label"] for source in found["sources"]], [GUESS] * len(found["sources"]))
            self.assertEqual(bool(found["sources"]), bool(content["guessed"]))
            return [source["source"] for source in found["sources"]]

    def test_candidates(self) -> None:
        def cells(*values: Any) -> dict[str, Any]:
            return dict(zip("abcdefgh", values))

        for text, values, sources in (
            ("It sold 42.", cells(1, 42), ["Q1.r0.b"]),
            ("It sold 42.", cells("x", "42.0", None), ["Q1.r0.b"]),
            ("It sold 42.", cells(1, "42.5"), ["Q1.r0.b"]),
            ("It sold 42.", cells(1, "41.5"), ["Q1.r0.b"]),
            ("It sold 42.", cells(1, "42.51"), []),
            ("It sold 42.", cells(1, "41.49"), []),
            ("It sold 42.", cells(1, -42), ["Q1.r0.b"]),
            ("It lost -42.", cells(1, 42), ["Q1.r0.b"]),
            ("It sold 42.", cells(42, 42, 42), ["Q1.r0.a", "Q1.r0.b", "Q1.r0.c"]),
            ("It sold 42.", cells(42, 42, 42, 42), ["Q1.r0.a", "Q1.r0.b", "Q1.r0.c"]),
            ("It sold 42.", cells("42.4", "42.1", "41.7", "42", "41.99"), ["Q1.r0.d", "Q1.r0.e", "Q1.r0.b"]),
            ("It sold 41.", cells("41.2", 5), ["tally", "Q1.r0.a"]),
            ("It grew by 42%.", cells("0.42", 42, "0.4", "4200"), ["Q1.r0.a", "Q1.r0.b"]),
            ("It grew by 42%.", cells(42, "0.419", "0.421"), ["Q1.r0.a", "Q1.r0.b", "Q1.r0.c"]),
            ("It sold 42.", cells("North", "", " 42", "4_2"), []),
        ):
            with self.subTest(text, values=values):
                self.assertEqual(self.candidates(text, values), sources)

    def test_masked_cells_are_no_candidates(self) -> None:
        mask: dict[str, Any] = {"sources": [{"id": "shop", "sqlite_script": "shop.sql", "mask_columns": ["orders.cents"]}]}
        for queries, sources in (
            ([query("kept", "SELECT region AS a, cents FROM orders")], []),
            ([query("kept", "SELECT region AS a, cents, cents AS n FROM orders", unmasked=["a", "n"])], ["Q1.r0.n"]),
        ):
            with self.subTest(queries):
                self.assertEqual(self.candidates("It sold 375,050.", {"a": 1}, **mask, queries=queries), sources)
        column = {"classes": ["integer"]}
        content = {
            "query": "kept", "name": "Q1", "truncated": False, "rows": [[1, 2]], "file": None, "lines": None,
            "columns": [{**column, "name": "a", "masked": True}, {**column, "name": "b", "masked": False}],
        }  # fmt: skip
        found = Caliber(Card("none", 1, {}, []), {"kept": Snapshot("0" * 64, content)}, {})
        self.assertEqual(list(auditing.cells(found)), [(2, "Q1.r0.b")])  # though a snapshot had the other one's value

    def test_long_numbers_are_not_taken_for_each_other(self) -> None:
        long = "1234567890123456789012345678901234567891"
        saved = {"columns": ["cents"], "rows": [[long]], "truncated": False}
        files = {"saved.json": saved, CARD: card(metric("a", "1")), "narrative.md": ""}
        for text, group in ((long[:-3] + "000", "no_evidence"), (long, "guessed"), ("1.23e39", "guessed")):
            files["narrative.md"] = f"We sold {text} units."
            sources, queries = [{"id": "shop", "result": "saved.json"}], [query("regions")]
            with self.subTest(text), job_folder(files, sources=sources, queries=queries, contract=DROP) as folder:
                issued(folder)
                summary = json.loads(command("audit", "latest", cwd=folder).out)["summary"]
                self.assertEqual({name for name, count in summary.items() if count}, {group})

    def test_no_cell_of_the_csv_is_a_formula(self) -> None:
        for cell in ("=1", "=", "+1", "-1", "-", "@x", "\t=1"):
            self.assertEqual(harmless(cell), f"'{cell}")
        for cell, shown in (("\r=1", "\\r=1"), ("a\x1b[2Jb", "a\\x1b[2Jb"), ("1\u200b2\u202e", "1\\u200b2\\u202e"), ("\n", "\\n")):
            self.assertEqual(harmless(cell), shown)
        for cell in ("", "1", "1-1", "a=1", "'=1", "x@y", "5%", " "):
            self.assertEqual(harmless(cell), cell)
        narrative = "It fell by -12.5% and +3.5%, and by -$7.\n"
        with job_folder({"narrative.md": narrative, CARD: card(metric("a", "-7 + 0", unit="$"))}, contract={}) as folder:
            issued(folder)
            found = list(csv.reader(io.StringIO(command("audit", "latest", "--format", "csv", cwd=folder).out, newline="")))
        self.assertEqual([row[2] for row in found[1:]], ["'-$7", "'-12.5%", "'+3.5%"])
        self.assertEqual([row[5] for row in found[1:]], ["'-7", "'-12.5", "3.5"])
        self.assertEqual(found[1][7], "a = -7 + 0")
        self.assertEqual({cell[0] for row in found for cell in row if cell} & set("=+-@\t\r"), set())


class Runs(unittest.TestCase):
    maxDiff = None

    def test_no_runs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(f"{folder}/empty/runs")
            os.mkdir(f"{folder}/nothing")
            for store in ("none", "nothing", "empty"):
                self.assertEqual(command("runs", "--store", store, cwd=folder), Run(0, as_json({"runs": []}), ""))
                self.assertEqual(command("runs", "--store", store, "--format", "text", cwd=folder), Run(0, "", ""))
            self.assertEqual(sorted(os.listdir(folder)), ["empty", "nothing"])

    def test_every_kind_of_run(self) -> None:
        with job_folder() as folder:
            issued(folder)
            issued(folder, id="other", mode="exploratory")
            unsealed, forged, lost, torn = (issued(folder, id="third") for _ in range(4))
            os.unlink(unsealed / "run.json")
            (forged / "run.json").write_bytes((forged / "run.json").read_bytes() + b" ")
            os.unlink(lost / "events.jsonl")
            (torn / "events.jsonl").write_bytes((torn / "events.jsonl").read_bytes()[:-10])
            runs = pathlib.Path(folder, "data", "runs")
            for name in ("lost+found", "20260101-000000", NONE + "0", f".{NONE}", NONE.upper() + "A"):
                os.mkdir(runs / name)
            (runs / "notes.txt").write_bytes(b"x")
            os.mkdir(runs / NONE)
            keys = ("run_id", "job", "time", "tier", "seal", "note")
            rows = (
                ("RUN1", None, None, None, None, "not sealed"),
                ("RUN2", "weekly", "TIME", "formal", "SEAL", ""),
                ("RUN3", "other", "TIME", "degraded", "SEAL", ""),
                ("RUN4", None, None, None, None, "not sealed"),
                ("RUN5", "third", "TIME", None, None, "does not hold: run.json is not what the sealed events say"),
                ("RUN6", None, None, None, None, "does not hold: events.jsonl: is missing"),
                ("RUN7", None, None, None, None, "does not hold: events.jsonl: has no end, but run.json has a seal"),
            )
            content = {"runs": [dict(zip(keys, row)) for row in rows]}
            self.assertEqual(ran(folder, "runs"), Run(0, as_json(content), ""))
            text = lines(*("  ".join([*(cell or "-" for cell in row[:5]), row[5]]).rstrip() for row in rows))
            self.assertEqual(ran(folder, "runs", "--format", "text"), Run(0, text, ""))
            self.assertIn("RUN4  -  -  -  -  not sealed\n", text)


COMMANDS = ("issue", "verify", "export", "audit", "runs", "trace", "check", "upgrade", "judge")
STATUSES = {"export": [0, 2, 70], "runs": [0, 2, 70]}  # the others have 0, 1, 2 and 70
WHAT_A_CHOICE_IS = r"invalid choice: '{}' \(choose from {}\)"


class Usage(unittest.TestCase):
    maxDiff = None

    def test_what_is_wrong_with_a_command_line(self) -> None:
        required = "the following arguments are required:"
        for line, said in (
            ("", f"{required} COMMAND"),
            ("issue", f"{required} JOB"),
            ("issue a b", "unrecognized arguments: b"),
            ("issue a --input", "argument --input: expected one argument"),
            ("issue a --inp b=c", "unrecognized arguments: --inp b=c"),
            ("issue a --seal x", "unrecognized arguments: --seal x"),
            ("verify", f"{required} RUN"),
            ("verify a b", "unrecognized arguments: b"),
            ("verify latest --seal", "argument --seal: expected one argument"),
            ("verify latest --store", "argument --store: expected one argument"),
            ("export", f"{required} RUN"),
            ("export latest", "one of the arguments --text --report --bundle is required"),
            ("export --text o.md", f"{required} RUN"),
            ("export latest --text", "argument --text: expected one argument"),
            ("export latest --text o.md --format text", "unrecognized arguments: --format text"),
            ("audit", f"{required} RUN"),
            ("audit latest \x1b", "unrecognized arguments: \\x1b"),
            ("runs latest", "unrecognized arguments: latest"),
            ("runs --stor x", "unrecognized arguments: --stor x"),
            ("check", f"{required} JOB"),
            ("check a --store=", "argument --store: must name a folder"),
        ):
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(command(*line.split(), cwd=folder), Run(2, "", f"issuance: {said} (--help explains the usage)\n"))
                self.assertEqual(os.listdir(folder), [])

    def test_choices(self) -> None:
        def choice(*names: str) -> str:
            return ", ".join(f"'?{name}'?" for name in names)  # quoted or not, as the version of Python has it

        for line, where, given, names in (
            ("issue a --format xml", "--format", "xml", ("json", "text")),
            ("verify a --format csv", "--format", "csv", ("json", "text")),
            ("audit a --format text", "--format", "text", ("json", "csv")),
            ("runs --format csv", "--format", "csv", ("json", "text")),
            ("check a --format JSON", "--format", "JSON", ("json", "text")),
            ("isue a", "COMMAND", "isue", COMMANDS),
        ):
            with self.subTest(line):
                run = command(*line.split())
                said = WHAT_A_CHOICE_IS.format(given, choice(*names))
                self.assertEqual((run.status, run.out), (2, ""))
                self.assertRegex(run.err, rf"\Aissuance: argument {where}: {said} \(--help explains the usage\)\n\Z")

    def test_help(self) -> None:
        for name in COMMANDS:
            for option in ("--help", "-h"):
                run = command(name, option)
                self.assertEqual((run.status, run.err), (0, ""))
                first, rest = run.out.split("\n", 1)
                self.assertTrue(first.startswith(f"usage: python3 -m issuance {name} [-h] "), first)
                said = rest.split("\nexit status:\n")[1].splitlines()
                statuses = [int(line.split()[0]) for line in said]
                self.assertEqual(statuses, STATUSES.get(name, [0, 1, 2, 70]), name)
                self.assertTrue(all(re.fullmatch("  [0-9]+ +[a-z].+", line) for line in said), said)
        run = command("--help")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(re.findall("^    ([a-z]+) ", run.out, re.MULTILINE), list(COMMANDS))


@contextlib.contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    parent, child = pty.openpty()
    try:
        yield parent, child
    finally:
        os.close(parent)


def in_shell(folder: str, line: str) -> Run:
    """Run a line of a shell in a folder; ISSUANCE is the command."""
    line = line.replace("ISSUANCE", f"'{sys.executable}' -m issuance")
    run = subprocess.run(line, shell=True, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    return Run(run.returncode, run.stdout.decode(), run.stderr.decode())


class Streams(unittest.TestCase):
    maxDiff = None

    def test_progress_on_a_terminal_and_only_there(self) -> None:
        queries = [query("regions", SQL), query("all_of_them", "SELECT cents FROM orders")]
        with job_folder(queries=queries) as folder:
            for arguments, steps in (
                (["issue", "job.json"], ["query Q1 of 2: regions", "query Q2 of 2: all_of_them", "metrics", "numbers"]),
                (["verify", "latest"], [code for code, _ in CHECKS]),
                (["audit", "latest"], []),
            ):
                with self.subTest(arguments), terminal() as (parent, child):
                    run = subprocess.run(
                        [sys.executable, "-m", "issuance", *arguments], cwd=folder, env=ENVIRONMENT,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=child, timeout=60, check=True,
                    )  # fmt: skip
                    os.write(child, b"#")  # so that there is an end to read to
                    os.close(child)
                    printed = b""
                    while not printed.endswith(b"#"):
                        printed += os.read(parent, 10_000)
                    shown = "".join(f"\r{step:<72}" for step in steps)
                    self.assertEqual(printed.decode(), f"{shown}\r{'':<72}\r#" if steps else "#")
                    self.assertTrue(run.stdout.startswith(b"{\n"))
                    json.loads(run.stdout)
            piped = in_shell(folder, "ISSUANCE issue job.json --format text")
            self.assertEqual((piped.status, piped.err), (0, ""))
            self.assertEqual(set(filter(is_hidden, piped.out)), {"\n"})

    def test_an_output_that_cannot_be_written(self) -> None:
        full = Run(2, "", "issuance: standard output: cannot be written: No space left on device\n")
        closed = Run(2, "", "issuance: standard output: cannot be written: it is closed\n")
        with job_folder() as folder:
            issued(folder)
            lines_of = ("issue job.json", "verify latest --format text", "audit latest --format csv", "runs")
            for line in lines_of:
                with self.subTest(line):
                    self.assertEqual(in_shell(folder, f"ISSUANCE {line} > /dev/full"), full)
                    self.assertEqual(in_shell(folder, f"ISSUANCE {line} >&-"), closed)
            self.assertEqual(in_shell(folder, "ISSUANCE export latest --text o.md >&-"), Run(0, "", ""))
            self.assertTrue(os.path.exists(f"{folder}/o.md"))


HOSTILE = "\x1b[31m\u202e\x07"
SHOWN = "\\x1b[31m\\u202e\\x07"


class Locales(unittest.TestCase):
    def test_names_of_files_in_a_locale_of_letters_only(self) -> None:
        files = {"\u53d9\u8ff0.md": "Sales were $5,000.00.", "\u8868/sales@1.json": card(), "\u6570.sql": SCRIPT}
        changes: dict[str, Any] = {
            "narrative": "\u53d9\u8ff0.md", "caliber": {"card": "\u8868/sales@1.json"}, "sources": [{"id": "shop", "sqlite_script": "\u6570.sql"}],
        }  # fmt: skip
        with job_folder(files, **changes) as folder:
            environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
            for name in ("check", "issue"):
                line = [sys.executable, "-m", "issuance", name, "job.json"]
                run = subprocess.run(line, cwd=folder, env=environment, capture_output=True, check=False, timeout=60)
                self.assertEqual((run.returncode, run.stderr), (0, b""))


class ControlCharacters(unittest.TestCase):
    maxDiff = None

    def assert_harmless(self, text: str) -> None:
        self.assertEqual({char for char in text if is_hidden(char)}, {"\n"}, text)

    def test_none_reaches_a_terminal(self) -> None:
        column = f"cents{HOSTILE}"
        saved = {"columns": ["a", column], "rows": [[5, HOSTILE]], "truncated": False}
        files = {
            "saved.json": saved,
            CARD: card(metric("a", f"cell(kept, 0, '{column}')", name=HOSTILE), metric("b", f"cell(kept, 3, '{column}x')", unit="\u5143")),
            "narrative.md": f"{HOSTILE}It sold 1\u200b2 and 7\u202e8{HOSTILE}.\n",
        }
        changes = {
            "title": f"Weekly {HOSTILE}\r\n sales", "sources": [{"id": "shop", "result": "saved.json"}],
            "queries": [query("kept")], "contract": {"expected": ["a", "b"]},
        }  # fmt: skip
        with job_folder(files, **changes) as folder:
            store = f"data{HOSTILE}"
            run = command("issue", "job.json", "--format", "text", "--store", store, cwd=folder)
            self.assertEqual((run.status, run.err), (1, ""))
            self.assert_harmless(run.out)
            shown = run.out.splitlines()
            self.assertEqual(shown[0], f"withheld: Weekly {SHOWN}\\r\\n sales")
            self.assertEqual(shown[2], f"  a  failed - the cell 'cents{SHOWN}' in row 0 of kept is text, not a number")
            self.assertEqual(shown[3], f"  b  missing - the result of kept has no column 'cents{SHOWN}x'")
            self.assertIn("  1\\u200b2: 12 (11.5 to 12.5), untraced: no metric has this value", shown)
            id = RUN_ID.findall(run.out)[0]
            self.assertEqual(shown[-2], f"run  data{SHOWN}/runs/{id}")
            for arguments in (["verify", "latest"], ["runs"]):
                run = command(*arguments, "--format", "text", "--store", store, cwd=folder)
                self.assertEqual((run.status, run.err), (0, ""))
                self.assert_harmless(run.out)
            for arguments in (["verify", "latest"], ["runs"], ["audit", "latest"], ["issue", "job.json"]):
                self.assertTrue(command(*arguments, "--store", store, cwd=folder).out.isascii())
            exported = command("export", id, "--text", "o.md", "--store", store, cwd=folder)
            self.assertEqual(exported, Run(0, "", ""))
            self.assert_harmless(pathlib.Path(folder, "o.md").read_text("utf-8").split("\n\n")[0])

    def test_nor_in_the_name_of_a_run_or_a_message(self) -> None:
        quoted = '"\\u001b[31m\\u202e\\u0007"'
        with job_folder() as folder:
            run = issued(folder)
            shutil.copytree(run, f"{folder}/{HOSTILE}")
            os.unlink(f"{folder}/{HOSTILE}/run.json")
            found = command("verify", HOSTILE, "--format", "text", cwd=folder)
            self.assert_harmless(found.out)
            self.assertEqual((found.status, found.out.splitlines()[0]), (1, f"not sealed: run {SHOWN}"))
            for arguments, said in (
                (["issue", HOSTILE], f"{quoted}: cannot be read: Is a directory"),
                (["audit", HOSTILE], f"{quoted}: {UNSEALED}"),
                (["verify", "latest", "--store", HOSTILE], f"{quoted}: holds no runs"),
                (["export", "latest", "--text", HOSTILE], f"{quoted}: cannot be written: Is a directory"),
            ):
                with self.subTest(arguments[0]):
                    self.assertEqual(command(*arguments, cwd=folder), Run(2, "", f"issuance: {said}\n"))


if __name__ == "__main__":
    unittest.main()
