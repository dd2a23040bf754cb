"""The names that a report may mention: tables and columns of schemas, names in SQL, result columns, metrics, inputs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from issuance import sql
from issuance.caliber import Caliber
from issuance.job import Job
from issuance.snapshots import Snapshot

MAIN = re.compile(r"\A(?:main|temp)\.")
MOST_NEAR = 3
MOST_SEARCHED = 100  # names that are looked for in vain, each compared with all that there are


class Names:
    """Every known name in lower case, and what it is: "table", "column", "result column", "name in SQL" ..."""

    def __init__(self, job: Job, computed: Caliber, schemas: Iterable[Mapping[str, Any]]) -> None:
        self.kinds: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self.truncated = False
        self.searched: dict[str, list[str]] = {}
        for schema in schemas:
            self.truncated |= schema["truncated"]
            for table in schema["tables"]:
                self.add("table", table["name"])
                for column in table["columns"]:
                    self.add("column", f"{table['name']}.{column['name']}", column["name"])
        for query in job.queries.values():
            self.add("query", query.id, query.name)
            found = computed.snapshots.get(query.id)
            for name in found.names if isinstance(found, Snapshot) else ():
                self.add("result column", name, f"{query.id}.{name}", f"{query.name}.{name}")
        for id in computed.card.metrics:
            self.add("metric", id)
        for name in job.inputs:
            self.add("input", name)
        for query in job.queries.values():
            self.add("name in SQL", *sql_names(query.sql or ""))

    def add(self, kind: str, *names: str) -> None:
        for name in names:
            if self.kinds.setdefault(name.lower(), kind) == kind:
                self.written.setdefault(name.lower(), name)

    def kind(self, name: str) -> str:
        """What a name is; empty for one that is nowhere."""
        return self.kinds.get(name.lower(), "") or self.kinds.get(MAIN.sub("", name.lower()), "")

    def near(self, name: str) -> list[str]:
        """The names that come closest to one."""
        if name not in self.searched:
            if len(self.searched) >= MOST_SEARCHED:
                return []
            found = difflib.get_close_matches(name.lower(), self.written, MOST_NEAR)
            self.searched[name] = [self.written[one] for one in found]
        return self.searched[name]


def sql_names(text: str) -> Iterable[str]:
    """The names in a query, also those of a table and a column together."""
    found = sql.tokens(text)
    for index, token in enumerate(found):
        if token.kind in ("name", "quoted"):
            yield token.text
            if index >= 2 and found[index - 1].is_mark(".") and found[index - 2].kind in ("name", "quoted"):
                yield f"{found[index - 2].text}.{token.text}"
