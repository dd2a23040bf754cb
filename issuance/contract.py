"""The contract and the tiers: how far a report could be checked, and why.

    withheld   a required metric is missing or failed; or strict and a number is untraced or a violation was marked;
               or a hash did not match; or a claim is unsupported where the job withholds for that
    degraded   anything else below is not as it should be, or could not be checked whole
    formal     everything required is there, and every check ran and held

A check that did not happen never gives formal. Each reason has a code, in the order of CODES, and a message.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from issuance import cards, markers
from issuance.caliber import Caliber
from issuance.claims import Claims
from issuance.expressions import AGGREGATES
from issuance.job import Contract, Job
from issuance.listing import counted
from issuance.markers import Marker
from issuance.numerals import markup
from issuance.numerals.plain import Plain, is_letter_or_digit
from issuance.pieces import Violation
from issuance.tracing import Traced

CODES = (
    "required_missing expected_missing untraced_numbers violations claim_gaps unsupported_claims sql_errors "
    "truncated_source hash_mismatch check_incomplete exploratory"
).split()
FORMAL, DEGRADED, WITHHELD = "formal", "degraded", "withheld"
MOST_NAMED = 5


class Findings(NamedTuple):
    """All that a tier rests on."""

    job: Job
    caliber: Caliber
    unusable: Mapping[str, str]  # queries without a result, and why
    truncated: frozenset[str]  # queries whose snapshot does not have all rows
    text: str | None  # the narrative; None for metrics only
    traced: Sequence[Traced]  # the numbers of the narrative, or of the title
    damaged: Sequence[str]  # artifacts that are not what their name says
    violations: Sequence[Violation] = ()  # of a cited report's rules, marked in it
    unchecked: Sequence[str] = ()  # names that a truncated schema leaves open
    claims: Claims | None = None

    @property
    def contract(self) -> Contract | None:
        return self.job.contract


class Decision(NamedTuple):
    tier: str
    reasons: list[dict[str, str]]


def decide(findings: Findings) -> Decision:
    """The tier, and every reason that keeps it from being formal."""
    expected = findings.contract.expected if findings.contract else []
    found = {
        "required_missing": required(findings),
        "expected_missing": missing_of(findings, expected),
        "untraced_numbers": "" if findings.job.report else untraced(findings),
        "violations": violations(findings),
        "claim_gaps": gaps(findings),
        "unsupported_claims": unsupported(findings),
        "sql_errors": listed(
            map(": ".join, findings.unusable.items()), "query without a result", "queries without a result"
        ),
        "truncated_source": truncated(findings),
        "hash_mismatch": listed(
            findings.damaged, "artifact that is not what its name says", "artifacts that are not what their names say"
        ),
        "check_incomplete": incomplete(findings),
        "exploratory": "an exploratory run is at best degraded" if findings.job.mode == "exploratory" else "",
    }
    withholding = ["required_missing", "hash_mismatch"]
    if findings.contract and findings.contract.strict:
        withholding += ["untraced_numbers", "violations"]
    if findings.job.report and findings.job.report.on_unsupported == "withhold":
        withholding.append("unsupported_claims")
    reasons = [{"code": code, "message": found[code]} for code in CODES if found.get(code)]
    tier = WITHHELD if any(found[code] for code in withholding) else DEGRADED if reasons else FORMAL
    return Decision(tier, reasons)


def listed(items: Iterable[str], one: str, many: str) -> str:
    """How many there are of something and the first of them; empty for none."""
    every = list(items)
    if not every:
        return ""
    more = f"; and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return f"{counted(len(every), one, many)}: {'; '.join(every[:MOST_NAMED])}{more}"


def required(findings: Findings) -> str:
    """Required metrics that are not there; where there is no text, also those that rest on no data."""
    if not findings.contract:
        return ""
    said = missing_of(findings, findings.contract.required)
    if findings.text is None:
        leaves = cards.leaves(findings.caliber.card)
        baseless = [id for id in findings.contract.required if id in leaves and not leaves[id]]
        rest = listed(
            baseless, "metric that rests on no cell and no input", "metrics that rest on no cell and no input"
        )
        said = "; ".join(filter(None, (said, rest)))
    return said


def missing_of(findings: Findings, ids: Iterable[str]) -> str:
    troubles = findings.caliber.troubles
    return listed((f"{id} {': '.join(troubles[id])}" for id in ids if id in troubles), "metric", "metrics")


def untraced(findings: Findings) -> str:
    texts = [ascii(one.numeral.text) for one in findings.traced if one.status == "untraced"]
    where = "title" if findings.text is None else "narrative"
    return listed(
        texts, f"number of the {where} that traces to no metric", f"numbers of the {where} that trace to no metric"
    )


def violations(findings: Findings) -> str:
    said = (f"{one.kind} {ascii(one.text)}: {one.message}" for one in findings.violations)
    return listed(said, "violation of the report's rules", "violations of the report's rules")


def gaps(findings: Findings) -> str:
    """Claims that cite nothing."""
    found = findings.claims.gaps if findings.claims else []
    return listed(found, "claim without a citation", "claims without a citation")


def unsupported(findings: Findings) -> str:
    """Claims that the judge found unsupported."""
    verdicts = findings.claims.verdicts if findings.claims else []
    wrong = (one for one in verdicts if one["verdict"] == "unsupported")
    found = (f"{one['sentence']}: {one.get('reason', 'no reason given')}" for one in wrong)
    return listed(found, "unsupported claim", "unsupported claims")


def truncated(findings: Findings) -> str:
    """Metrics of the contract, or that the text repeats, which aggregate a snapshot that does not have all rows."""
    if not findings.contract or not findings.truncated:
        return ""
    leaves = cards.leaves(findings.caliber.card)
    repeated = [id for one in findings.traced for id in one.metrics[:1]]
    wanted = dict.fromkeys([*findings.contract.required, *findings.contract.expected, *repeated])
    return listed(
        (
            f"{id} aggregates {reference.name}"
            for id in wanted
            for reference in leaves.get(id, ())
            if reference.kind in AGGREGATES and reference.name in findings.truncated
        ),
        "metric over a truncated snapshot",
        "metrics over a truncated snapshot",
    )


MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>|^ {0,3}\[[^\]\n]*\]:[^\n]*$", re.DOTALL | re.MULTILINE)


def is_empty(text: str) -> bool:
    """Whether a text states nothing: it has no letter and no digit, comments, tags and entities aside."""
    return not any(map(is_letter_or_digit, Plain(html.unescape(MARKUP.sub("", text))).text))


def cited_by_value(text: str) -> list[str]:
    """The citation markers of a text, also those that name nothing or cannot be read; those in code aside."""
    code = sorted(markup.code(text))
    found = (one for one in markers.find(text) if not markup.inside(one.start, code))
    return [one.text for one in found if isinstance(one, Marker) or one.text[2:].partition(":")[0] in markers.READERS]


def incomplete(findings: Findings) -> str:
    """What could not be checked whole."""
    said = []
    if findings.contract is None:
        said.append("there is no contract")
    if findings.text is not None and is_empty(findings.text):
        said.append(f"the {'report' if findings.job.report else 'narrative'} is empty")
    if findings.text is not None and not findings.job.report:
        held = [ascii(text) for text in cited_by_value(findings.text)]
        said.append(listed(held, "citation marker in the narrative", "citation markers in the narrative"))
    if findings.text is None and findings.contract and not findings.contract.required:
        said.append("there is no text, and the contract requires no metric")
    if not findings.caliber.card.metrics:
        said.append("the card has no metrics")
    said.append(listed(findings.unchecked, "name in a truncated schema", "names in a truncated schema"))
    unjudged = [f"{one['sentence']}: {one['reason']}" for one in (findings.claims.unjudged if findings.claims else [])]
    said.append(listed(unjudged, "claim that was not judged", "claims that were not judged"))
    return "; ".join(filter(None, said))
