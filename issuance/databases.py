"""Databases: SQLite files, opened so that they can only be read, and scripts, built in memory."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

from issuance.files import SourceFault

BUSY_SECONDS = 2.0  # so long a locked database is waited for
SETTINGS = frozenset(  # that a script may make, as those do into which databases are dumped
    "application_id auto_vacuum data_version defer_foreign_keys encoding foreign_keys journal_mode page_size "
    "synchronous user_version".split()
)
STEPS = 10_000  # of SQLite's machine between two looks at whether it is to stop
FORBIDDEN = ("load_extension", "readfile", "writefile", "fts3_tokenizer", "edit")  # functions
BREAK = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)|;", re.DOTALL)
SPACE = re.compile(r"\s*")


def connect(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name, uri=True, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=0, check_same_thread=False
    )


def identifier(name: str) -> str:
    """A name in SQL, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def opened(path: str) -> sqlite3.Connection:
    """A database file, read-only. Raises SourceFault."""
    connection = None
    try:
        connection = connect(f"file:{quote(os.path.abspath(path))}?mode=ro")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        return connection
    except sqlite3.Error as fault:
        if connection:
            connection.close()
        raise unreadable(path, fault) from None


def unreadable(path: str, fault: sqlite3.Error) -> SourceFault:
    """What to say of a database that cannot be read."""
    if "readonly" in str(fault) and os.path.exists(path + "-journal"):
        cut_off = "a writer was cut off and left a journal: have it opened once by a program that may write"
        return SourceFault(path, None, f"cannot be read: {cut_off}")
    return SourceFault(path, None, f"cannot be read: {fault}")


def built(path: str, text: str, discreet: bool) -> sqlite3.Connection:
    """A database in memory from a text of SQL, which may name no other file. Raises SourceFault.

    discreet keeps back what SQLite says of an error, as that may repeat what is masked.
    """
    connection = connect(":memory:")
    try:
        connection.set_authorizer(builds)
        connection.set_progress_handler(lambda: 0, STEPS)  # so that Python gets to see an interrupt
        for line, statement in statements(text):
            try:
                connection.execute(statement)
            except sqlite3.Error as fault:
                if str(fault) == "interrupted":
                    raise KeyboardInterrupt from None
                said = "cannot be run" if discreet else f"cannot be run: {fault}"
                raise SourceFault(path, f"line {line}", said) from None
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(allows)  # before Python 3.11, None would deny everything
        if connection.in_transaction:
            connection.execute("COMMIT")
        connection.execute("PRAGMA query_only = ON")
        return connection
    except sqlite3.Error as fault:
        connection.close()
        raise SourceFault(path, None, f"cannot be run: {fault}") from None
    except BaseException:
        connection.close()
        raise


def builds(action: int, first: str | None, second: str | None, *_: object) -> int:
    """The authorizer of scripts: no other file, no extension, and only the settings that a dump makes."""
    barred = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    barred = barred or action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in SETTINGS
    barred = barred or action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FORBIDDEN
    return sqlite3.SQLITE_DENY if barred else sqlite3.SQLITE_OK


def allows(*_: object) -> int:
    return sqlite3.SQLITE_OK


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a script, each with the line on which it starts."""
    start, line, counted = after_space(text, 0), 1, 0
    for match in BREAK.finditer(text):
        if match[0] == ";" and sqlite3.complete_statement(text[start : match.end()]):
            line, counted = line + text.count("\n", counted, start), start
            yield line, text[start : match.end()]
            start = after_space(text, match.end())
    if start < len(text):
        yield line + text.count("\n", counted, start), text[start:]


def after_space(text: str, at: int) -> int:
    space = SPACE.match(text, at)
    return space.end() if space else at
