"""Running the programs that a job names, its writer and its judge: without a shell, with limits, output as bytes.

They belong to the evaluator. What they print is untrusted text.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

from answer_format import quoted

SECONDS = 120.0
MOST_OUTPUT = 16 * 1024 * 1024
LAST_WORDS = 4_096  # bytes of standard error that are kept, the last


class Broken(Exception):
    """A program gave no answer; raised with a sentence."""


class Ended(BaseException):
    """A signal that ends this program; raised with its number, so that what it has started ends first."""


class NotStarted(Broken):
    """A program could not even be started."""


def run(command: list[str], folder: str, content: Any, who: str, seconds: float) -> bytes:
    """What a program prints when it gets a JSON document on standard input. Raises Broken."""
    with ended_by_signals():
        try:
            process = subprocess.Popen(
                command,
                cwd=folder or ".",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise NotStarted(f"{who} cannot be started: {quoted(command[0])}: {reason}") from None
        threads: list[threading.Thread] = []
        try:
            said, last_words = bytearray(), bytearray()
            reading = started(threads, collect, process, said)
            started(threads, listen, process, last_words)
            started(threads, feed, process, json.dumps(content).encode("ascii"))
            process.wait(seconds)
            reading.join(1)
            left_open = reading.is_alive()
        except subprocess.TimeoutExpired:
            raise Broken(f"{who} was stopped after its time limit of {seconds:.3g} seconds") from None
        finally:
            stop(process)
            for thread in threads:
                thread.join(1)
            for pipe in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()  # type: ignore[union-attr]
        if left_open:
            raise Broken(f"{who} ended, but a program that it started still held its output open")
        if len(said) > MOST_OUTPUT:
            raise Broken(f"{who} printed more than {MOST_OUTPUT} bytes")
        if process.returncode:
            raise Broken(f"{who} ended with {ending(process.returncode)}{last_line(bytes(last_words))}")
        return bytes(said)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Meanwhile signals that end this program raise Ended, where they would end it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise Ended(number)

    ending = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ending:
            signal.signal(number, end)
        yield
    finally:
        for number in ending:
            signal.signal(number, signal.SIG_DFL)


def started(threads: list[threading.Thread], task: Callable[..., None], *arguments: Any) -> threading.Thread:
    """A thread that does a task, now one of these."""
    thread = threading.Thread(target=task, args=arguments, daemon=True)
    thread.start()
    threads.append(thread)
    return thread


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write all of a program's input, unless it reads no further."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(data)
        process.stdin.close()


def collect(process: subprocess.Popen[bytes], said: bytearray) -> None:
    """Read a program's output, up to a little more than is allowed."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while len(said) <= MOST_OUTPUT and (part := os.read(process.stdout.fileno(), 65_536)):
            said += part
    if len(said) > MOST_OUTPUT:
        stop(process)


def listen(process: subprocess.Popen[bytes], last_words: bytearray) -> None:
    """Read a program's standard error, and keep the end of it."""
    assert process.stderr is not None
    with contextlib.suppress(OSError, ValueError):
        while part := os.read(process.stderr.fileno(), 65_536):
            last_words += part
            del last_words[:-LAST_WORDS]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything that it has started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def last_line(data: bytes) -> str:
    """The last line that a program wrote to standard error, quoted."""
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return f": {quoted(lines[-1])}" if lines else ""
