"""What publishing demands of a job, without running its report: SQL checks, caliber versions, governance gates."""

from __future__ import annotations

from typing import Any

from issuance import governance, plan, queries
from issuance.plan import Plan
from issuance.sources import Source

PASS, FAIL, NOT_CHECKED = "pass", "fail", "not_checked"


def check(found: Plan, sources: dict[str, Source]) -> dict[str, Any]:
    """{"holds", "checks", "sql"} of a plan that was read. Raises SourceFault."""
    said = sql_checks(found, sources)
    wrong = [f"{entry['query']}: {entry['message']}" for entry in said if entry["level"] == "error"]
    undecided = plan.undecided(found)
    checks = [
        {"code": "strict_reading", "status": PASS, "message": "the job and all that it names can be used"},
        one("sql_checks", "; ".join(wrong), "every query prepares and only reads"),
        one("caliber_versions", undecided and f"caliber.on_version_bump {undecided}", "no version is left undecided"),
    ]
    for code, complaint, holds in governance.gates(found.job, found.card.card):
        if found.job.level == "governed":
            checks.append(one(code, complaint, holds))
        else:
            checks.append({"code": code, "status": NOT_CHECKED, "message": "the level is published, not governed"})
    return {"holds": all(check["status"] != FAIL for check in checks), "checks": checks, "sql": said}


def one(code: str, complaint: str, holds: str) -> dict[str, str]:
    return {"code": code, "status": FAIL if complaint else PASS, "message": complaint or holds}


def sql_checks(found: Plan, sources: dict[str, Source]) -> list[dict[str, str]]:
    """What there is to say of the queries' SQL: errors and warnings."""
    said = []
    for query in found.job.queries.values():
        source = sources[query.source]
        warnings: list[str] = []
        try:
            if query.sql is not None and source.connection is not None:
                queries.check(query, source, found.job.inputs, warnings)
            elif isinstance(source.saved, str):
                raise queries.Refused("failed", source.saved)
        except queries.Refused as fault:
            said.append({"query": query.id, "level": "error", "message": fault.args[1]})
        said += [{"query": query.id, "level": "warning", "message": warning} for warning in warnings]
    return said
