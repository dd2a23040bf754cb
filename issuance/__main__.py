"""The command line: python3 -m issuance COMMAND ..."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback

from issuance.commands import audit, check, export, issue, judge, runs, trace, upgrade, verify
from issuance.console import EXIT_BUG, EXIT_UNUSABLE, PROGRAM, Parser, Unusable, cut, print_error, unusable
from issuance.files import SourceFault
from issuance.programs import Ended
from issuance.runs import NoRun
from issuance.store import StoreFault

COMMANDS = (issue, verify, export, audit, runs, trace, check, upgrade, judge)


def parser() -> Parser:
    top = Parser(
        prog=f"python3 -m {PROGRAM}",
        description="Issue reports with the evidence that they rest on, and check them against it.",
    )
    commands = top.add_subparsers(
        title="commands", dest="command", required=True, parser_class=Parser, metavar="COMMAND"
    )
    for command in COMMANDS:
        command.add(commands)
    return top


def main(arguments: list[str]) -> int:
    """Run a command and return its exit status. Raises Unusable, and BrokenPipeError where nobody reads on."""
    gc.disable()  # nothing here is cyclic, and a million cells would be looked through again and again
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (StoreFault, SourceFault, NoRun) as fault:
        path, *where, sentence = fault.args
        raise unusable(path, where[0] if where else None, sentence) from None


def run() -> int:
    """Run main and return the exit status of whatever came of it."""
    try:
        return main(sys.argv[1:])
    except Unusable as fault:
        print_error(map(cut, fault.args))
        return EXIT_UNUSABLE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that nothing is written again at exit
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        return 128 + signal.SIGINT
    except Ended as fault:
        (number,) = fault.args
        signal.raise_signal(number)
        return 128 + int(number)
    except Exception:
        print_error(traceback.format_exc().splitlines())
        return EXIT_BUG


if __name__ == "__main__":
    sys.exit(run())
