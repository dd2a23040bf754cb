"""What publishing demands of a job, without running its report: SQL checks, caliber versions, governance gates."""

from __future__ import annotations

from typing import Any

from issuance import governance, markers, plan, queries
from issuance.markers import Malformed
from issuance.numerals import markup
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
    if found.draft:
        in_code = sorted(markup.code(found.draft[1]))
        malformed = (one for one in markers.find(found.draft[1]) if isinstance(one, Malformed))
        wrong = [f"{one.text}: {one.reason}" for one in malformed if not markup.inside(one.start, in_code)]
        checks.append(one("draft_markers", "; ".join(wrong[:5]), "every marker of the draft can be read"))
    known_fields = found.fields[1] if found.fields else {}
    for code, complaint, holds in governance.gates(found.job, found.card.card, known_fields):
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
