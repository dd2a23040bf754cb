"""Running the programs that a job names, its writer and its judge: without a shell, with limits, output as bytes.

They belong to the evaluator. What they print is untrusted text.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from typing import Any

from answer_format import quoted

SECONDS = 120.0
MOST_OUTPUT = 16 * 1024 * 1024


class Broken(Exception):
    """A program gave no answer; raised with a sentence."""


def run(command: list[str], folder: str, content: Any, who: str, seconds: float) -> bytes:
    """What a program prints when it gets a JSON document on standard input. Raises Broken."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder or ".",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise Broken(f"{who} cannot be started: {quoted(command[0])}: {reason}") from None
        feeding = threading.Thread(target=feed, args=(process, json.dumps(content).encode("ascii")), daemon=True)
        feeding.start()
        reading = threading.Thread(target=collect, args=(process, said), daemon=True)
        reading.start()
        try:
            process.wait(seconds)
            reading.join(1)
        except subprocess.TimeoutExpired:
            raise Broken(f"{who} was stopped after its time limit of {seconds:.3g} seconds") from None
        finally:
            stop(process)
            feeding.join(1)
            reading.join(1)
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()  # type: ignore[union-attr]
        if said.tell() > MOST_OUTPUT:
            raise Broken(f"{who} printed more than {MOST_OUTPUT} bytes")
        if process.returncode:
            errors.seek(0)
            raise Broken(f"{who} ended with {ending(process.returncode)}{first_line(errors.read(4_096))}")
        said.seek(0)
        return said.read()


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write all of a program's input, unless it reads no further."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(data)
        process.stdin.close()


def collect(process: subprocess.Popen[bytes], into: Any) -> None:
    """Read a program's output, up to a little more than is allowed."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while into.tell() <= MOST_OUTPUT and (part := os.read(process.stdout.fileno(), 65_536)):
            into.write(part)
    if into.tell() > MOST_OUTPUT:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything that it has started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def first_line(data: bytes) -> str:
    """The last line that a program wrote to standard error, quoted."""
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return f": {quoted(lines[-1])}" if lines else ""
