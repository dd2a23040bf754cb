"""The store: artifacts by the SHA-256 of their bytes, and the runs' folders.

    artifacts/ab/abcdef...       a file, verified again on every read
    runs/<run id>/events.jsonl   events, appended and flushed one by one
    runs/<run id>/run.json       the run record, written once

A file appears whole or not at all: it is written beside its place, flushed, and renamed. What is there is never
overwritten. So a kill at any moment, or another run in the same store, leaves nothing that is half.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from typing import Any

try:
    import fcntl
except ImportError:  # where there is none, appending at the same moment may give two events one number
    fcntl = None  # type: ignore[assignment]

RUN_ID = re.compile("[0-9]{8}-[0-9]{6}-[0-9]{6}-[0-9a-f]{8}").fullmatch
EVENTS, RECORD = "events.jsonl", "run.json"
MAX_BYTES = 512 * 1024 * 1024  # of a stored file


class StoreFault(Exception):
    """The store cannot be used; raised with a path and a sentence."""


class Damaged(Exception):
    """An artifact is not there, or is not what its name says; raised with its hash and a sentence."""


@contextlib.contextmanager
def faults(path: str, what: str) -> Iterator[None]:
    """An OSError as a StoreFault that names a path and says what could not be done."""
    try:
        yield
    except OSError as fault:
        raise StoreFault(path, f"{what}: {fault.strerror or fault}") from None


class Store:
    def __init__(self, root: str) -> None:
        self.root = root
        self.damaged: list[str] = []  # artifacts that a run wanted to store and found there with other bytes

    def artifact(self, hash: str) -> str:
        return os.path.join(self.root, "artifacts", hash[:2], hash)

    def folder(self, run_id: str) -> str:
        return os.path.join(self.root, "runs", run_id)

    def prepare(self) -> None:
        """Make the store's folders where they are missing, so that a store that cannot be used is known at once."""
        for name in ("artifacts", "runs"):
            with faults(self.root, "cannot be used as a store"):
                os.makedirs(os.path.join(self.root, name), exist_ok=True)

    def put(self, data: bytes) -> str:
        """Store bytes and return their hash. Raises StoreFault."""
        hash = hashlib.sha256(data).hexdigest()
        path = self.artifact(hash)
        with faults(path, "cannot be stored"):
            if os.path.lexists(path):
                self.note_damage(hash)
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                write_whole(path, data)
        return hash

    def note_damage(self, hash: str) -> None:
        try:
            self.get(hash)
        except Damaged:
            self.damaged.append(hash)

    def get(self, hash: str) -> bytes:
        """The bytes of an artifact. Raises Damaged."""
        try:
            data = read_whole(self.artifact(hash))
        except OSError as fault:
            raise Damaged(hash, f"the artifact {hash} cannot be read: {fault.strerror}") from None
        if hashlib.sha256(data).hexdigest() != hash:
            raise Damaged(hash, f"the artifact {hash} does not have the bytes that its name says")
        return data

    def runs(self) -> list[str]:
        """The ids of the runs, the oldest first. Raises StoreFault."""
        if not os.path.lexists(self.root):
            return []
        with faults(self.root, "cannot be used as a store"):
            try:
                names = os.listdir(os.path.join(self.root, "runs"))
            except FileNotFoundError:
                return []
        return sorted(name for name in names if RUN_ID(name) and os.path.isdir(self.folder(name)))


def write_whole(path: str, data: bytes, before: Callable[[], None] = lambda: None) -> None:
    """Write a file that appears at once with all its bytes, after a last step. Raises OSError, and leaves nothing then.
    """
    beside = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:40]}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with contextlib.suppress(OSError):
            os.chmod(beside, stat.S_IMODE(os.stat(path).st_mode))  # that of the file in its place
        before()
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    flush_folder(os.path.dirname(path))


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def flush_folder(path: str) -> None:
    """Have the names in a folder survive a power failure, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_whole(path: str) -> bytes:
    """The bytes of a regular file of at most MAX_BYTES. Raises OSError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(0, "it is no regular file")
    with open(path, "rb") as file:
        data = file.read(min(os.fstat(file.fileno()).st_size, MAX_BYTES) + 1)
    if len(data) > MAX_BYTES:
        raise OSError(0, f"it is larger than {MAX_BYTES} bytes")
    return data


class Log:
    """The events of one run that is going on, appended and flushed one by one."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, EVENTS)
        self.seq = 0

    def append(self, at: str, type: str, **about: Any) -> None:
        """Append an event. Raises StoreFault."""
        self.seq += 1
        with faults(self.path, "cannot be written"):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                write_all(descriptor, event_line(self.seq, at, type, about))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def event_line(seq: int, at: str, type: str, about: dict[str, Any]) -> bytes:
    return (json.dumps({"seq": seq, "at": at, "type": type, **about}) + "\n").encode("ascii")


def append(folder: str, at: str, type: str, **about: Any) -> None:
    """Append an event to a run that has ended, on a line of its own; one program at a time. Raises StoreFault."""
    path = os.path.join(folder, EVENTS)
    with faults(path, "cannot be written"), open(path, "r+b") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        torn = b"" if before.endswith(b"\n") else b"\n"
        file.write(torn + event_line(before.count(b"\n") + 1, at, type, about))
        file.flush()
        os.fsync(file.fileno())


def create_run(store: Store, run_id: str) -> Log:
    """The folder of a new run. Raises StoreFault, also where there is such a run."""
    folder = store.folder(run_id)
    with faults(folder, "cannot be made"):
        os.mkdir(folder)
    flush_folder(os.path.dirname(folder))
    return Log(folder)
