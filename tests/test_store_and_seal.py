"""The store and the seal: kills, full disks, several writers at once, and changes of every stored fact."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from issuance import seal
from issuance.store import Damaged, Store
from issuance.verifying import CODES
from tests.issuance_support import CARD, DROP, SQL, Run, card, command, job_folder, metric, query, write

SEED = 20260914
FORK = multiprocessing.get_context("fork")
UNSEALED = "the run was stopped before its end: it is not sealed"
ENDED = "run.json is missing: the run is not sealed"  # stopped between the last event and the record
SHA = re.compile("[0-9a-f]{64}").fullmatch

S = metric("sales", "sum(regions, 'cents') / 100", unit="$")
NORTH = metric("north", "cell(regions, 0, 'cents') / 100", unit="$")
SHARE = metric("north_share", "north / sales", decimals=1, format="percent")
GONE = metric("gone", "cell(regions, 9, 'cents') + cell(bad, 0, 'nix')")
RICH_FILES: dict[str, Any] = {
    CARD: card(S, NORTH, SHARE),
    "cards/sales@2.json": card(S, NORTH, SHARE, GONE, version="2"),
    "narrative.md": "Sales were $5,000.00. The North had 75.0% of them, and 12 more.\n",
}
RICH_JOB: dict[str, Any] = {
    "caliber": {"card": CARD, "version": "1", "on_version_bump": "dual"},
    "queries": [query("regions", SQL), query("bad", "SELECT nix FROM orders")],
    "contract": {"required": ["sales"], "expected": ["gone"], "strict": False, "allow": ["7"]},
}


@contextlib.contextmanager
def rich_folder() -> Iterator[str]:
    """A folder with a job whose run has every kind of artifact and reasons for its tier, and with that run."""
    with mock.patch("os.fsync"), job_folder(RICH_FILES, **RICH_JOB) as folder:
        assert command("issue", "job.json", cwd=folder).status == 1
        yield folder


def run_folders(folder: str) -> list[pathlib.Path]:
    return sorted(pathlib.Path(folder, "data", "runs").iterdir())


def artifact(folder: str, hash: str) -> pathlib.Path:
    return pathlib.Path(folder, "data", "artifacts", hash[:2], hash)


def artifacts_of(run: pathlib.Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((run / "run.json").read_bytes())["artifacts"]
    return found


def verified(folder: str, reference: str = "latest") -> dict[str, Any]:
    """What verify prints, after looking whether its exit status is that of what it says."""
    run = command("verify", reference, cwd=folder)
    assert run.err == "", run.err
    content: dict[str, Any] = json.loads(run.out)
    assert [check["code"] for check in content["checks"]] == CODES
    assert content["holds"] == all(check["status"] == "pass" for check in content["checks"]) == (run.status == 0)
    return content


def not_passed(content: dict[str, Any]) -> dict[str, str]:
    return {check["code"]: check["message"] for check in content["checks"] if check["status"] == "fail"}


def sealed_now(data: bytes) -> bytes:
    """Events up to the end of the one that ends a run."""
    return data[: data.index(b"\n", data.index(b'"type": "run.finished"')) + 1]


class Addressing(unittest.TestCase):
    def test_bytes_are_stored_once_under_their_hash(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            for data in (b"", b"abc", bytes(range(256)) * 1_000):
                hash = hashlib.sha256(data).hexdigest()
                self.assertEqual(store.put(data), hash)
                path = pathlib.Path(folder, "artifacts", hash[:2], hash)
                self.assertEqual((path.read_bytes(), store.get(hash)), (data, data))
                before = path.stat()
                self.assertEqual(store.put(data), hash)
                after = path.stat()
                self.assertEqual((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns))
            self.assertEqual(store.damaged, [])
            self.assertEqual(len([path for path in pathlib.Path(folder).rglob("*") if path.is_file()]), 3)

    def test_every_read_looks_at_the_bytes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            hash = store.put(b"abc")
            path = pathlib.Path(store.artifact(hash))
            wrong = f"the artifact {hash} does not have the bytes that its name says"
            gone = f"the artifact {hash} cannot be read: No such file or directory"
            no_file = f"the artifact {hash} cannot be read: it is no regular file"

            def damaged(said: str) -> None:
                with self.assertRaises(Damaged) as caught:
                    store.get(hash)
                self.assertEqual(caught.exception.args, (hash, said))

            for content in (b"", b"ab", b"abd", b"abc\n"):
                path.write_bytes(content)
                damaged(wrong)
                store.damaged.clear()
                self.assertEqual((store.put(b"abc"), store.damaged), (hash, [hash]))
                self.assertEqual(path.read_bytes(), content)  # and it is not overwritten
            path.unlink()
            damaged(gone)
            path.mkdir()
            damaged(no_file)


def in_child(action: Callable[[], object], kill_after: float | None = None) -> int | None:
    """Do something in a forked process, which is killed after so many seconds; return its exit code."""
    child = FORK.Process(target=action)
    child.start()
    child.join(kill_after if kill_after is not None else 60)
    child.kill()
    child.join()
    code = child.exitcode
    child.close()
    return code


class Counted:
    """Steps of a run that reach the disk; one of them is not survived, or fails. A write then does half of its work."""

    def __init__(self, last: int, fault: int | None) -> None:
        self.last, self.fault, self.count = last, fault, 0
        self.steps = ("write", "replace") if fault else ("write", "replace", "fsync", "mkdir", "open")

    def step(self, name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def stepping(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count < self.last:
                return original(*arguments, **options)
            if name == "write":
                original(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            if self.fault is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(self.fault, os.strerror(self.fault or 0))

        return stepping

    def __enter__(self) -> Counted:
        self.patches = [mock.patch.object(os, name, self.step(name)) for name in self.steps]
        for patch in self.patches:
            patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        for patch in self.patches:
            patch.stop()


class Kills(unittest.TestCase):
    def assert_nothing_is_half(self, folder: str) -> tuple[int, int]:
        """How many runs of a store verify, and how many say that they are unsealed; there is no third kind."""
        for path in pathlib.Path(folder, "data", "artifacts").rglob("*"):
            if path.is_file() and not path.name.endswith(".tmp"):
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
                self.assertEqual(path.parent.name, path.name[:2])
        whole = unsealed = 0
        listed = {run["run_id"]: run for run in json.loads(command("runs", cwd=folder).out)["runs"]}
        for path in run_folders(folder):
            content = verified(folder, path.name)
            if content["holds"]:
                whole += 1
                self.assertEqual(listed[path.name]["seal"], content["seal"])
                continue
            unsealed += 1
            statuses = {check["code"]: check["status"] for check in content["checks"]}
            expected = {code: "fail" if code == "run_record" else "not_checked" for code in CODES}
            self.assertEqual((content["sealed"], content["seal"], statuses), (False, None, expected))
            self.assertIn(not_passed(content), ({"run_record": UNSEALED}, {"run_record": ENDED}))
            self.assertEqual((listed[path.name]["seal"], listed[path.name]["tier"]), (None, None))
            self.assertEqual(listed[path.name]["note"], "not sealed")
        return whole, unsealed

    def test_a_kill_at_every_step(self) -> None:
        with job_folder() as folder, mock.patch("os.fsync"):

            def issue_until(step: int) -> None:
                with Counted(step, None):
                    os._exit(command("issue", "job.json", cwd=folder).status)

            totals = 0, 0
            for step in itertools.count(1):
                shutil.rmtree(os.path.join(folder, "data"), ignore_errors=True)
                code = in_child(functools.partial(issue_until, step))
                if code == 0:
                    break
                self.assertEqual(code, -signal.SIGKILL)
                if os.path.exists(os.path.join(folder, "data", "runs")):
                    whole, unsealed = self.assert_nothing_is_half(folder)
                    self.assertEqual(command("issue", "job.json", cwd=folder).status, 0)
                    self.assertEqual(self.assert_nothing_is_half(folder), (whole + 1, unsealed))
                    totals = whole + totals[0], unsealed + totals[1]
            self.assertGreater(step, 70)
            self.assertGreater(totals[0], 0)
            self.assertGreater(totals[1], 60)

    def test_kills_from_outside_at_random_moments(self) -> None:
        with job_folder() as folder:

            def issue() -> None:
                os._exit(command("issue", "job.json", cwd=folder).status)

            started = time.monotonic()
            self.assertEqual(in_child(issue), 0)
            takes = time.monotonic() - started
            chance = random.Random(SEED)
            codes = [in_child(issue, takes * chance.random()) for _ in range(25)]
            self.assertLessEqual(set(codes), {0, -signal.SIGKILL})
            self.assertGreater(codes.count(-signal.SIGKILL), 5)
            whole, _ = self.assert_nothing_is_half(folder)
            self.assertGreater(whole, 0)
            self.assertEqual(command("issue", "job.json", cwd=folder).status, 0)

    def test_several_runs_at_once_in_one_store(self) -> None:
        with job_folder() as folder:

            def issue_some() -> None:
                os._exit(sum(command("issue", "job.json", cwd=folder).status for _ in range(5)))

            children = [FORK.Process(target=issue_some) for _ in range(4)]
            for child in children:
                child.start()
            for child in children:
                child.join(60)
            self.assertEqual([child.exitcode for child in children], [0] * 4)
            self.assertEqual(self.assert_nothing_is_half(folder), (20, 0))
            self.assertEqual(list(pathlib.Path(folder).rglob("*.tmp")), [])


class Faults(unittest.TestCase):
    """What cannot be written ends with one line and exit 2, and nothing looks sealed."""

    def assert_refused(self, run: Run, folder: str, *reasons: str) -> None:
        self.assertEqual((run.status, run.out), (2, ""))
        pattern = "|".join(map(re.escape, reasons))
        place = r"(data: cannot be used as a store|data/artifacts/[0-9a-f/]*: cannot be stored"
        place += r"|data/runs/[0-9a-f-]*: cannot be (made|sealed)|data/runs/[0-9a-f-]*/events\.jsonl: cannot be written)"
        self.assertRegex(run.err, rf"\Aissuance: {place}: ({pattern})\n\Z")
        store = pathlib.Path(folder, "data")
        self.assertEqual([*store.rglob("*.tmp"), *store.rglob("run.json")], [])
        for path in store.glob("artifacts/*/*"):
            self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)
        for path in store.glob("runs/*"):
            content = verified(folder, path.name)
            self.assertFalse(content["sealed"])
            self.assertIn(not_passed(content), ({"run_record": UNSEALED}, {"run_record": ENDED}))

    def test_a_full_disk_at_every_write(self) -> None:
        with mock.patch("os.fsync"):
            for step in itertools.count(1):
                with job_folder() as folder:
                    with Counted(step, errno.ENOSPC):
                        run = command("issue", "job.json", cwd=folder)
                    if run.status == 0:
                        break
                    self.assert_refused(run, folder, "No space left on device")
            self.assertGreater(step, 20)

    def test_a_limit_on_the_size_of_files(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        with job_folder() as folder, mock.patch("os.fsync"):
            command("issue", "job.json", cwd=folder)
            data = pathlib.Path(folder, "data")
            sizes = {path.stat().st_size for path in data.rglob("*") if path.is_file()}
            for size in sorted({0, *sizes, *(size - 1 for size in sizes)}):
                shutil.rmtree(data)
                with self.subTest(size):
                    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
                    try:
                        run = command("issue", "job.json", cwd=folder)
                    finally:
                        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                    if size < max(sizes):
                        self.assert_refused(run, folder, "File too large")
                    else:
                        self.assertEqual((run.status, verified(folder)["holds"]), (0, True))

    def test_what_may_not_be_looked_into(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            for path in (run, run.parent):
                path.chmod(0)
                with unprivileged(folder):
                    found = command("verify", run.name, cwd=folder)
                path.chmod(0o700)
                self.assertEqual((found.status, found.out), (2, ""))
                self.assertRegex(found.err, r"\Aissuance: data/runs/[0-9a-f-]*(/events.jsonl)?: cannot be read: Permission denied\n\Z")

    def test_files_that_are_no_files_of_a_run(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            record = (run / "run.json").read_bytes()
            for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)):
                for name, code in (("run.json", "run_record"), ("events.jsonl", "event_seal")):
                    kept = (run / name).read_bytes()
                    (run / name).unlink()
                    make(str(run / name))
                    self.assertIn(code, not_passed(verified(folder)), (name, make))
                    shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()
                    (run / name).write_bytes(kept)
            self.assertEqual(((run / "run.json").read_bytes(), verified(folder)["holds"]), (record, True))
            (run.parent / "20990101-000000-000000-00000000").write_bytes(b"")
            os.symlink("nowhere", run.parent / "20990101-000000-000000-00000001")
            self.assertEqual(verified(folder)["run_id"], run.name)

    def test_files_that_are_too_large(self) -> None:
        with rich_folder() as folder, mock.patch("issuance.store.MAX_BYTES", 10_000):
            run = run_folders(folder)[0]
            hash = artifacts_of(run)["card"]
            larger = "it is larger than 10000 bytes"
            os.truncate(artifact(folder, hash), 1 << 33)
            said = f"card: the artifact {hash} cannot be read: {larger}"
            self.assertEqual(not_passed(verified(folder)), {"artifact_hashes": said})
            os.truncate(run / "events.jsonl", 1 << 33)
            place = f"data/runs/{run.name}/events.jsonl: cannot be read: {larger}"
            self.assertEqual(command("verify", "latest", cwd=folder), Run(2, "", f"issuance: {place}\n"))
            self.assertEqual(json.loads(command("runs", cwd=folder).out)["runs"][0]["note"], f"cannot be read: {larger}")

    def test_a_store_that_is_read_only(self) -> None:
        for closed in (".", "data", "data/runs", "data/artifacts"):
            with self.subTest(closed), job_folder() as folder:
                for name in ("data/runs", "data/artifacts") if closed != "." else ():
                    os.makedirs(os.path.join(folder, name))
                shut(os.path.join(folder, closed))
                with unprivileged(folder):
                    run = command("issue", "job.json", cwd=folder)
                self.assert_refused(run, folder, "Permission denied")

    def test_a_read_only_store_can_be_read(self) -> None:
        with rich_folder() as folder:
            for path in [*pathlib.Path(folder).rglob("*"), pathlib.Path(folder)]:
                shut(path)
            with unprivileged(folder):
                self.assertTrue(verified(folder)["holds"])
                self.assertEqual(command("audit", "latest", cwd=folder).status, 1)
                with tempfile.TemporaryDirectory() as other:
                    run = command("export", "latest", "--text", os.path.join(other, "o.md"), cwd=folder)
            events = f"data/runs/{run_folders(folder)[0].name}/events.jsonl"
            self.assertEqual(run, Run(2, "", f"issuance: {events}: cannot be written: Permission denied\n"))

    def test_a_store_that_is_no_folder(self) -> None:
        said = Run(2, "", "issuance: job.json: cannot be used as a store: Not a directory\n")
        with job_folder() as folder:
            before = pathlib.Path(folder, "job.json").read_bytes()
            for arguments in (("issue", "job.json"), ("runs",), ("verify", "latest"), ("audit", "latest")):
                self.assertEqual(command(*arguments, "--store", "job.json", cwd=folder), said)
            self.assertEqual(pathlib.Path(folder, "job.json").read_bytes(), before)
            for name in ("runs", "artifacts"):
                with tempfile.TemporaryDirectory() as store:
                    pathlib.Path(store, name).write_bytes(b"")
                    run = command("issue", "job.json", "--store", store, cwd=folder)
                    self.assertEqual(run, Run(2, "", f"issuance: {store}: cannot be used as a store: File exists\n"))


def shut(path: str | os.PathLike[str]) -> None:
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & 0o555 | 0o444)


@contextlib.contextmanager
def unprivileged(folder: str) -> Iterator[None]:
    """Without root's power to write everywhere."""
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    os.chmod(folder, mode & 0o700 | 0o055)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)
        for path in [pathlib.Path(folder), *pathlib.Path(folder).rglob("*")]:
            if path.is_dir():
                os.chmod(path, 0o700)


class Changes(unittest.TestCase):
    """A sealed run in which something is changed without any care for the seal."""

    maxDiff = None

    def test_a_flipped_bit_anywhere(self) -> None:
        chance = random.Random(SEED)
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            named = artifacts_of(run)
            self.assertTrue(verified(folder)["holds"])
            self.assertEqual(
                sorted(named),
                ["bump", "card", "document", "job", "metric set", "narrative", "numbers", "pinned card", "schema of Q1",
                 "schema of Q2", "snapshot of Q1"],
            )  # fmt: skip
            first = {hash: what for what, hash in reversed(named.items())}
            stored = {path.name for path in pathlib.Path(folder, "data", "artifacts").glob("*/*")}
            self.assertEqual(stored, set(named.values()))
            files = {artifact(folder, hash): hash for hash in stored}
            for path in (*files, run / "events.jsonl", run / "run.json"):
                data = path.read_bytes()
                places = {0, len(data) - 1, *(chance.randrange(len(data)) for _ in range(4))}
                places |= {chance.randrange(len(data)) for _ in range(20 if path.parent == run else 0)}
                for place in places:
                    flipped = bytearray(data)
                    flipped[place] ^= 1 << chance.randrange(8)
                    path.write_bytes(flipped)
                    found = not_passed(verified(folder))
                    with self.subTest(path.name, place=place, byte=flipped[place]):
                        if path in files:
                            hash = files[path]
                            said = f"{first[hash]}: the artifact {hash} does not have the bytes that its name says"
                            self.assertEqual(found, {"artifact_hashes": said})
                        elif path.name == "run.json":
                            self.assertEqual(found["run_record"], "run.json is not what the sealed events say")
                        else:
                            self.assertLessEqual({"run_record", "event_seal"}, found.keys())
                path.write_bytes(data)
            self.assertTrue(verified(folder)["holds"])

    def test_each_file_deleted_emptied_and_replaced(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            first = {hash: what for what, hash in reversed(artifacts_of(run).items())}
            events, record = run / "events.jsonl", run / "run.json"
            no_end = "has no end, but run.json has a seal"
            said: dict[tuple[pathlib.Path, bytes | None], dict[str, str]] = {
                (events, None): {"run_record": "events.jsonl: is missing", "event_seal": "events.jsonl has no end that could be sealed"},
                (events, b""): {"run_record": f"events.jsonl: {no_end}", "event_seal": "events.jsonl has no end that could be sealed"},
                (record, None): {"run_record": ENDED},
                (record, b""): {
                    "run_record": "run.json is not what the sealed events say",
                    "event_seal": "the sealed part of events.jsonl is not what the seal in run.json was made of",
                },
            }  # fmt: skip
            for hash, what in first.items():
                path = artifact(folder, hash)
                gone = f"{what}: the artifact {hash} cannot be read: No such file or directory"
                said[path, None] = {"artifact_hashes": gone}
                said[path, b""] = {"artifact_hashes": f"{what}: the artifact {hash} does not have the bytes that its name says"}
                other = artifact(folder, next(one for one in first if one != hash)).read_bytes()
                said[path, other] = said[path, b""]
            for (path, content), expected in said.items():
                with self.subTest(path.name, content=content and content[:20]):
                    data = path.read_bytes()
                    path.unlink()
                    if content is not None:
                        path.write_bytes(content)
                    found = verified(folder)
                    self.assertEqual(not_passed(found), expected)
                    self.assertEqual(found["sealed"], expected != {"run_record": ENDED})
                    path.write_bytes(data)
            self.assertTrue(verified(folder)["holds"])

    def test_what_is_appended_does_not_matter(self) -> None:
        exported = b'{"seq": 99, "at": "2026-09-14T00:00:00Z", "type": "report.exported"}\n'
        torn = "an incomplete line"
        with rich_folder() as folder:
            events = run_folders(folder)[0] / "events.jsonl"
            data, before = events.read_bytes(), verified(folder)
            for tail, appended in (
                (exported, ["report.exported"]),
                (exported * 3, ["report.exported"] * 3),
                (exported[:30], [torn]),
                (exported + exported[:-5], ["report.exported", torn]),
                (b"\x00\xff\n{}\n", [torn, torn]),
                (data, [json.loads(line)["type"] for line in data.splitlines()]),
            ):
                with self.subTest(tail[:40]):
                    events.write_bytes(data + tail)
                    self.assertEqual(verified(folder), {**before, "appended": appended})
                    self.assertEqual(command("audit", "latest", cwd=folder).status, 1)
                    self.assertEqual(command("export", "latest", "--text", "o.md", cwd=folder), Run(0, "", ""))
                    self.assertEqual(verified(folder)["appended"], [*appended, "report.exported"])
                    last = events.read_bytes().splitlines()[-1]
                    sha = hashlib.sha256(pathlib.Path(folder, "o.md").read_bytes()).hexdigest()
                    self.assertEqual(json.loads(last)["sha256"], sha)
            for cut in (1, 2, 40, len(data) - len(data.splitlines(True)[-2]), len(data) - 1):
                events.write_bytes(data[:-cut])
                self.assertLessEqual({"run_record", "event_seal"}, not_passed(verified(folder)).keys(), cut)

    def test_the_given_seal(self) -> None:
        with rich_folder() as folder:
            seal = verified(folder)["seal"]
            data = (run_folders(folder)[0] / "events.jsonl").read_bytes()
            self.assertEqual(seal, hashlib.sha256(sealed_now(data)).hexdigest())
            other = "0" * 64
            for given, status, said in (
                (seal, 0, "the events have the seal, which is the given one"),
                (seal.upper(), 0, "the events have the seal, which is the given one"),
                (other, 1, f"the seal is {seal}, not the given {other}"),
            ):
                run = command("verify", "latest", "--seal", given, cwd=folder)
                self.assertEqual((run.status, json.loads(run.out)["checks"][1]["message"]), (status, said))

    def test_the_jobs_folder_may_change_or_go(self) -> None:
        with rich_folder() as folder:
            before = verified(folder)
            for path in pathlib.Path(folder).glob("*.*"):
                path.write_bytes(b"other")
            self.assertEqual(verified(folder), before)
            for path in pathlib.Path(folder).glob("*.*"):
                path.unlink()
            self.assertEqual(verified(folder), before)
            self.assertEqual(command("audit", "latest", cwd=folder).status, 1)

    def test_another_name_of_the_folder(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            other = run.with_name("20260101-000000-000000-00000000")
            run.rename(other)
            found = not_passed(verified(folder))
            said = f'the folder is called "{other.name}", but the run is {run.name}'
            self.assertEqual(found, {"run_record": said})


Edit = Callable[[Any], Any]


def swap(old: str, new: str) -> Callable[[bytes], bytes]:
    """A change of the bytes of an artifact, which has to hold the old text once."""

    def change(data: bytes) -> bytes:
        assert data.count(old.encode()) == 1, (old, data)
        return data.replace(old.encode(), new.encode())

    return change


def put(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """A change of fields of an event."""
    return lambda event: event.update(fields)


def reseal(run: pathlib.Path, events: list[dict[str, Any]]) -> None:
    """Write events, and the run record that follows from them."""
    data = "".join(json.dumps(event) + "\n" for event in events).encode("ascii")
    (run / "events.jsonl").write_bytes(data)
    (run / "run.json").write_bytes(seal.record_bytes(seal.read(data)))


def forge(folder: str, run: pathlib.Path, part: str, change: Edit) -> None:
    """Change one event or one artifact of a run, and everything by hash that names it, up to the seal."""
    named = artifacts_of(run)
    text = (run / "events.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    if part not in named:
        change(next(event for event in events if event["type"] == part or event.get("query") == part))
        reseal(run, events)
        return
    contents = {hash: artifact(folder, hash).read_bytes() for hash in set(named.values())}
    pending = {named[part]: change(contents[named[part]])}
    while pending:
        old, data = pending.popitem()
        assert isinstance(data, bytes)
        new = hashlib.sha256(data).hexdigest()
        artifact(folder, new).parent.mkdir(exist_ok=True)
        artifact(folder, new).write_bytes(data)
        del contents[old]
        contents[new] = data
        text = text.replace(old, new)
        pending = {
            **{hash: data.replace(old.encode(), new.encode()) for hash, data in pending.items()},
            **{
                hash: data.replace(old.encode(), new.encode())
                for hash, data in contents.items()
                if old.encode() in data and hash not in pending
            },
        }
    reseal(run, [json.loads(line) for line in text.splitlines()])


def first_reason(**fields: str) -> Edit:
    """A change of fields of the first reason of an event."""
    return lambda event: event["reasons"][0].update(fields)


METRICS, DOCUMENT, NUMBERS, TIER = CODES[3:]
EMPTY = hashlib.sha256(b"").hexdigest()
FORGERIES: tuple[tuple[str, str, Edit, str, str], ...] = (
    # A metric.
    ("its value", "metric set", swap('"value": "5000"', '"value": "5001"'), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("its text", "metric set", swap("$5,000.00", "$5,000.01"), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("its substituted formula", "metric set", swap('"500000 / 100"', '"500100 / 100"'), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("where it came from", "metric set", swap('"row": 0', '"row": 1'), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("why it is missing", "metrics.computed", lambda event: event["missing"][0].update(reason="missing: a cell is null"), METRICS, "other metrics are missing than the events say"),
    ("that it is missing", "metrics.computed", put(missing=[]), METRICS, "other metrics are missing than the events say"),
    # The card.
    ("a formula", "card", swap("sum(regions, 'cents') / 100", "sum(regions, 'cents') / 200"), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("a formula of the same value", "card", swap("sum(regions, 'cents') / 100", "sum(regions, 'cents') * .01".replace(" .", " 0.")), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("a unit", "card", lambda data: data.replace(b'"unit": "$"', b'"unit": "%"', 1), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("a rounding", "card", lambda data: data.replace(b'"decimals": 2', b'"decimals": 3', 1), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("the version in the card", "card", swap('"version": "2"', '"version": "3"'), METRICS, "the card is not the one that the events name"),
    ("the version in the events", "metrics.computed", put(version="3"), METRICS, "the card is not the one that the events name"),
    ("the card's name", "metrics.computed", put(name="profits"), METRICS, "the card is not the one that the events name"),
    ("the pinned version", "metrics.computed", put(pinned="2"), METRICS, "the events pin another version than the job"),
    ("what a bump means", "metrics.computed", put(on_version_bump="incomparable"), METRICS, "the events pin another version than the job"),
    ("that there was a bump", "metrics.computed", put(on_version_bump=None, bump=None, pinned_card=None), METRICS, "the card is not of the version that the job pins"),
    ("the pinned card", "metrics.computed", put(pinned_card=None), METRICS, "the card is not of the version that the job pins"),
    ("the version in the pinned card", "pinned card", swap('"version": "1"', '"version": "3"'), METRICS, "the pinned card is not the one that the events name"),
    ("the policy", "bump", swap('"policy": "dual"', '"policy": "recompute"'), METRICS, "the values of both versions are not what the cards give"),
    ("what a bump is", "bump", lambda data: b"[]", METRICS, "bump: root: must be an object, not an array"),
    ("a value of the pinned version", "bump", swap('"pinned": "3750.5"', '"pinned": "3750.4"'), METRICS, "the values of both versions are not what the cards give"),
    ("a formula of the pinned version", "pinned card", swap("cell(regions, 0, 'cents') / 100", "cell(regions, 1, 'cents') / 100"), METRICS, "the values of both versions are not what the cards give"),
    # The data.
    ("a cell", "snapshot of Q1", swap("375050", "375051"), METRICS, "the metric set is not what the card gives from the snapshots"),
    ("a masked column", "snapshot of Q1", lambda data: data.replace(b'"masked": false', b'"masked": true'), METRICS, "{snapshot of Q1}: rows: must have null in every cell of a masked column"),
    ("the classes of a column", "snapshot of Q1", swap('["integer"]', '["integer", "null"]'), METRICS, "{snapshot of Q1}: columns: must have the classes of their cells"),
    ("a receipt", "snapshot of Q1", swap('"receipt": null', '"receipt": "r"'), METRICS, "the snapshot of Q1 names a file or a receipt, which its source does not give"),
    ("a file", "snapshot of Q1", swap('"file": null', '"file": "f.csv"'), METRICS, "the snapshot of Q1 names a file or a receipt, which its source does not give"),
    ("a metric that the contract needs", "job", swap('"required": ["sales"]', '"required": ["sales", "profit"]'), METRICS,
     'card and job do not fit: job: contract.required[1]: must be a metric of the card, not "profit"'),
    ("a storage class", "snapshot of Q1", swap('["integer"]', '["integers"]'), METRICS, '{snapshot of Q1}: columns[1].classes[0]: must be "integer" or "real" or "decimal" or "text" or "null", not "integers"'),
    ("how many rows are allowed", "job", swap('"id": "regions",', '"id": "regions", "max_rows": 1,'), METRICS, "the snapshot of Q1 has more rows than the job allows"),
    ("the schema of a query without a snapshot", "bad", lambda event: event.update(schema="0" * 64), "artifact_hashes", f"schema of Q2: the artifact {'0' * 64} cannot be read: No such file or directory"),
    ("another schema", "bad", lambda event: event.update(schema=EMPTY), METRICS, "the schema of Q2 is not the one that its source has for other queries"),
    ("the kind of a source", "schema of Q1", swap('"kind": "sqlite_script"', '"kind": "sqlite"'), METRICS, "the schema of Q1 is that of another source"),
    ("what is masked", "schema of Q1", swap('"masked": []', '"masked": ["orders.cents"]'), METRICS, "the schema of Q1 is that of another source"),
    ("a word on a query that succeeded", "regions", put(message="audited"), METRICS, "Q1 has an outcome that does not fit its snapshot"),
    ("a count in the snapshot", "snapshot of Q1", swap('"row_count": 2', '"row_count": 3'), METRICS, "{snapshot of Q1}: row_count: must be the number of rows, 2, not 3"),
    ("a count in the events", "regions", put(rows=3), METRICS, "the snapshot of Q1 has other rows than the events say"),
    ("that all rows are there", "snapshot of Q1", swap('"truncated": false', '"truncated": true'), METRICS, "the snapshot of Q1 has other rows than the events say"),
    ("that rows are missing", "regions", put(truncated=True), METRICS, "the snapshot of Q1 has other rows than the events say"),
    ("the time of a query", "snapshot of Q1", lambda data: re.sub(b'"at": "20..', b'"at": "2000', data), METRICS, "the snapshot of Q1 was taken with another at"),
    ("the SQL in the snapshot", "snapshot of Q1", swap("WHERE week = :week", "WHERE week > :week"), METRICS, "the snapshot of Q1 was taken with another sql"),
    ("the SQL in the job", "job", swap("WHERE week = :week", "WHERE week > :week"), METRICS, "the snapshot of Q1 was taken with another sql"),
    ("an input in the events", "run.started", put(inputs={"week": "W36"}), METRICS, "the snapshot of Q1 was taken with another parameters"),
    ("an input in the snapshot", "snapshot of Q1", swap('"week": "W37"', '"week": "W36"'), METRICS, "the snapshot of Q1 was taken with another parameters"),
    ("the names of inputs", "run.started", put(inputs={"month": "W37"}), METRICS, "the events have other inputs than the job"),
    ("the role of a query", "snapshot of Q1", swap('"role": "source"', '"role": "compute"'), METRICS, "the snapshot of Q1 was taken with another role"),
    ("the source of a query", "regions", put(source="mall"), METRICS, "the events have another Q1 than the job"),
    ("the outcome of a query", "bad", put(outcome="success"), METRICS, "Q2 has an outcome that does not fit its snapshot"),
    ("why a query failed", "bad", put(message="no such table"), TIER, "the reasons are not those that what was found gives"),
    ("a query's name", "bad", put(query="good"), METRICS, "the events have other queries than the job"),
    # The job.
    ("the title in the events", "run.started", put(title="Weekly losses"), METRICS, "the events have another title than the job"),
    ("the title in the job", "job", swap("Weekly sales", "Weekly losses"), METRICS, "the events have another title than the job"),
    ("the id", "run.started", put(job_id="daily"), METRICS, "the events have another id than the job"),
    ("the mode", "run.started", put(mode="exploratory"), METRICS, "the events have another mode than the job"),
    ("the level", "run.started", put(level="governed"), METRICS, "the events have another level than the job"),
    ("the contract", "job", swap('"expected": ["gone"]', '"expected": ["north"]'), TIER, "the reasons are not those that what was found gives"),
    ("how strict it is", "job", swap('"strict": false', '"strict": true'), TIER, "the tier is degraded, but what was found gives withheld"),
    ("what it allows", "job", swap('"allow": ["7"]', '"allow": ["12"]'), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("when it started", "run.started", put(at="2020-01-01T00:00:00Z"), "run_record", "the run started at 2020-01-01T00:00:00Z, which its id does not say"),
    ("the run's id", "run.started", put(run_id="20260101-000000-000000-00000000"), "run_record", "the folder is called {run}, but the run is 20260101-000000-000000-00000000"),
    # The text.
    ("a number of the text", "narrative", swap("75.0%", "76.0%"), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("a direction", "narrative", swap("Sales were $5,000.00.", "Sales were -$5,000.00."), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("the document", "report.checked", lambda event: event.update(document=event["numbers"]), DOCUMENT, "the document is not the narrative"),
    ("that there is a text", "report.checked", put(document=None, narrative=None), DOCUMENT, "the document is not the narrative"),
    ("a number's status", "numbers", swap('"status": "untraced"', '"status": "traced"'), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("a number's metric", "numbers", swap('"north_share"', '"north"'), NUMBERS, "the numbers of the text do not trace as they were recorded"),
    ("a count of numbers", "report.checked", lambda event: event["summary"].update(untraced=0, traced=3), NUMBERS, "the counts of the numbers are not what they trace to"),
    # The verdict.
    ("the tier", "contract.decided", put(tier="formal"), TIER, "the tier is formal, but what was found gives degraded"),
    ("a reason's message", "contract.decided", first_reason(message="1 metrics: sales"), TIER, "the reasons are not those that what was found gives"),
    ("a reason's code", "contract.decided", first_reason(code="violations"), TIER, "the reasons are not those that what was found gives"),
    ("the reasons", "contract.decided", lambda event: event["reasons"].pop(), TIER, "the reasons are not those that what was found gives"),
    ("their order", "contract.decided", lambda event: event["reasons"].reverse(), TIER, "the reasons are not those that what was found gives"),
    ("tier and reasons", "contract.decided", put(tier="formal", reasons=[]), TIER, "the tier is formal, but what was found gives degraded"),
    ("a damaged artifact", "report.checked", put(damaged=["0" * 64]), TIER, "the tier is degraded, but what was found gives withheld"),
)  # fmt: skip


class Forgeries(unittest.TestCase):
    """A changed fact, with a seal and a run record that go with it."""

    maxDiff = None

    def test_the_check_that_follows_from_it_fails(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            named = artifacts_of(run)
            Store(os.path.join(folder, "data")).put(b"")
            kept = {name: (run / name).read_bytes() for name in ("events.jsonl", "run.json")}
            for name, part, change, code, said in FORGERIES:
                with self.subTest(name):
                    forge(folder, run, part, change)
                    found = verified(folder)
                    hashes = artifacts_of(run)
                    for what in named:
                        said = said.replace(f"{{{what}}}", hashes.get(what, ""))
                    said = said.replace("{run}", f'"{run.name}"')
                    self.assertEqual(not_passed(found), {code: said})
                    statuses = {check["code"]: check["status"] for check in found["checks"]}
                    before = CODES[: CODES.index(code)]
                    self.assertEqual({statuses[one] for one in before if one != DOCUMENT} - {"pass"}, set())
                for file, data in kept.items():
                    (run / file).write_bytes(data)
            self.assertTrue(verified(folder)["holds"])

    def test_forging_nothing_changes_nothing(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            before = verified(folder)
            for part in (*artifacts_of(run), "run.started", "regions", "contract.decided"):
                forge(folder, run, part, lambda content: content)
                self.assertEqual(verified(folder), before)

    def test_a_run_that_should_not_have_started(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            forge(folder, run, "job", swap('"required": ["sales"]', '"required": []'))
            self.assertTrue(verified(folder)["holds"])
            forge(folder, run, "job", swap('"mode": "formal"', '"mode": "formal", "level": "governed"'))
            forge(folder, run, "run.started", put(level="governed"))
            said = "the run should not have started: governed, but G1 does not hold: the contract has no required metric"
            self.assertEqual(not_passed(verified(folder)), {TIER: said})

    def test_the_values_of_earlier_runs(self) -> None:
        caliber = {"card": CARD, "version": "1", "on_version_bump": "recompute"}
        with mock.patch("os.fsync"), job_folder(caliber=caliber) as folder:
            for files in ({}, {}, {"cards/sales@2.json": card(S, NORTH, SHARE, version="2")}):
                write(folder, files)
                self.assertEqual(command("issue", "job.json", cwd=folder).status, 0)
            first, _, last = run_folders(folder)
            kept = {name: (last / name).read_bytes() for name in ("events.jsonl", "run.json")}
            command("issue", "job.json", cwd=folder)  # a later run does not matter to it
            self.assertTrue(verified(folder, last.name)["holds"])
            differs = {METRICS: "the values of both versions are not what the cards give"}
            for change, said in (
                (lambda data: data.replace(b'"new": "5000"', b'"new": "5001"', 1), differs),
                (lambda data: data.replace(b'"old": "5000"', b'"old": "5001"', 1), differs),
                (lambda data: data.replace(b'"card": "1"', b'"card": "2"', 1), differs),
                (lambda data: b'{"policy": "recompute", "pinned": "1", "newest": "2", "runs": 5}',
                 {METRICS: "bump: runs: must be an array, not 5"}),
            ):  # fmt: skip
                forge(folder, last, "bump", change)
                self.assertEqual(not_passed(verified(folder, last.name)), said)
                for name, data in kept.items():
                    (last / name).write_bytes(data)
            shutil.rmtree(first)  # nor does one that is gone
            self.assertTrue(verified(folder, last.name)["holds"])

    def test_the_number_rules_of_another_version(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            mine = json.loads((run / "run.json").read_bytes())["number_rules"]
            forge(folder, run, "run.started", put(number_rules="999"))
            found = verified(folder)
            said = f"it was checked by version 999 of the number rules, this is {mine}"
            rest = found["checks"][5:]
            self.assertEqual(rest[0], {"code": NUMBERS, "status": "not_checked", "message": said})
            self.assertEqual(rest[1], {"code": TIER, "status": "not_checked", "message": f"{NUMBERS} did not pass"})
            self.assertEqual((found["holds"], found["sealed"], not_passed(found)), (False, True, {}))

    def test_events_left_out_added_and_moved(self) -> None:
        with rich_folder() as folder:
            run = run_folders(folder)[0]
            lines = (run / "events.jsonl").read_bytes().splitlines(True)
            order = "events.jsonl: the events do not follow each other as those of a run do"
            for name, changed, said in (
                ("moved", [*lines[:4], lines[5], lines[4], *lines[6:]], "events.jsonl: event 5: seq: must be 5, not 6"),
                ("left out", [*lines[:1], *lines[2:]], "events.jsonl: event 2: seq: must be 2, not 3"),
                ("added", [*lines[:2], lines[1], *lines[2:]], "events.jsonl: event 3: seq: must be 3, not 2"),
                ("back in time", [*lines[:5], re.sub(b'"at": "20..', b'"at": "2000', lines[5]), *lines[6:]],
                 "events.jsonl: an event is earlier than the one before it"),
                ("the last of the middle left out", [*lines[:-2], lines[-1].replace(b'"seq": 7', b'"seq": 6')], order),
            ):  # fmt: skip
                with self.subTest(name):
                    (run / "events.jsonl").write_bytes(b"".join(changed))
                    found = not_passed(verified(folder))
                    self.assertEqual((found["run_record"], "event_seal" in found), (said, True))


class MetricsOnly(unittest.TestCase):
    def test_a_number_of_the_title(self) -> None:
        changes: dict[str, Any] = {"narrative": DROP, "title": "Sales of $5,000"}
        with mock.patch("os.fsync"), job_folder(**changes) as folder:
            command("issue", "job.json", cwd=folder)
            run = run_folders(folder)[0]
            self.assertTrue(verified(folder)["holds"])
            self.assertNotIn("narrative", artifacts_of(run))
            forge(folder, run, "job", swap("Sales of $5,000", "Sales of $6,000"))
            forge(folder, run, "run.started", put(title="Sales of $6,000"))
            said = "the numbers of the text do not trace as they were recorded"
            self.assertEqual(not_passed(verified(folder)), {NUMBERS: said})
