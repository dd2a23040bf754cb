"""Boundary cases as data: an edit of the baseline, and what must come of it.

JUDGED holds valid inputs: the judgment, the reasons with their whole messages in order, and what is not
checked with its whole message; every check that is not named passes.
REFUSED holds documents that are not of the format: the problems, whole and in order.
NOT_JSON and NOT_OF_THE_FORMAT hold bytes: one problem each, for what cannot be written as a document.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.support import DROP, baseline, row

MAX_AMOUNT = 9007199254740991


class Judged(NamedTuple):
    id: str
    edits: dict[str, Any]
    judgment: str
    reasons: dict[str, str] = {}
    unchecked: dict[str, str] = {}


class Refused(NamedTuple):
    id: str
    edits: dict[str, Any]
    problems: list[str]


class Bytes(NamedTuple):
    id: str
    data: bytes
    problem: str


def blocked(code: str) -> dict[str, str]:
    """What is not checked where a check of the ground does not pass."""
    return dict.fromkeys(("cited_population", "claim_value"), f"Not checked: {code} did not pass.")


AUGUST = '"2026-08-01T00:00:00Z" to before "2026-09-01T00:00:00Z"'
NO_COMMIT = {"interval_closed": "Not checked: evidence.lastSuccessAt is null."}
UNRESOLVED = {
    "record_claims": "Not checked: citation_resolution did not pass.",
    "cited_population": "Not checked: citation_resolution did not pass.",
}
TWO = [row("invoice-001"), row("invoice-002")]
NO_ROWS: dict[str, Any] = {"evidence.rows": [], "claim.evidenceIds": [], "claim.recordClaims": []}


def with_row(**fields: Any) -> dict[str, Any]:
    """A third row that is not cited."""
    return {"evidence.rows": [*TWO, row("invoice-003", **fields)]}


def citing_it(**fields: Any) -> dict[str, Any]:
    return {**with_row(**fields), "claim.evidenceIds": ["invoice-001", "invoice-002", "invoice-003"]}


NOT_CITED = '3 rows qualify; of those the claim leaves out "invoice-003", and it cites none besides.'
NOT_QUALIFYING = '2 rows qualify; of those the claim leaves out none, and it cites "invoice-003" besides.'
SHORT = "The claim says 500000; the 3 qualifying rows total 750000 USD minor units."

JUDGED = [
    Judged("baseline", {}, "pass"),
    # accounts, metric, datasets
    Judged(
        "account-of-evidence",
        {
            "evidence.accountId": "account-b",
            "evidence.rows[0].accountId": "account-b",
            "evidence.rows[1].accountId": "account-b",
        },
        "fail",
        {"evidence_account": 'The evidence has accountId "account-b"; the question needs "account-acme".'},
        blocked("evidence_account"),
    ),
    Judged(
        "account-of-claim",
        {"claim.accountId": "account-acme-2"},
        "fail",
        {"claim_account": 'The claim has accountId "account-acme-2"; the question needs "account-acme".'},
    ),
    Judged(
        "account-long-ids-are-cut",
        {"claim.accountId": "a" * 80},
        "fail",
        {"claim_account": f'The claim has accountId "{"a" * 55}"...; the question needs "account-acme".'},
    ),
    Judged("datasets-more-than-required", {"evidence.datasetIds": ["drafts", "paid-invoices"]}, "pass"),
    Judged(
        "datasets-one-of-two",
        {"questionContract.requiredDatasetIds": ["paid-invoices", "paid-by-card"]},
        "insufficient_evidence",
        {"required_datasets": 'The question needs "paid-by-card", which the evidence does not include.'},
        blocked("required_datasets"),
    ),
    Judged(
        "datasets-three-missing",
        {"questionContract.requiredDatasetIds": ["paid-invoices", "b", "c", "d"]},
        "insufficient_evidence",
        {"required_datasets": 'The question needs "b", "c", "d", which the evidence does not include.'},
        blocked("required_datasets"),
    ),
    Judged(
        "datasets-four-missing",
        {"questionContract.requiredDatasetIds": ["paid-invoices", "b", "c", "d", "e"]},
        "insufficient_evidence",
        {"required_datasets": 'The question needs "b", "c", "d" and 1 more, which the evidence does not include.'},
        blocked("required_datasets"),
    ),
    Judged(
        "datasets-many-missing",
        {"questionContract.requiredDatasetIds": ["paid-invoices", "b", "c", "d", "e", "f"]},
        "insufficient_evidence",
        {"required_datasets": 'The question needs "b", "c", "d" and 2 more, which the evidence does not include.'},
        blocked("required_datasets"),
    ),
    Judged(
        "datasets-both-there",
        {
            "questionContract.requiredDatasetIds": ["paid-by-card", "paid-invoices"],
            "evidence.datasetIds": ["paid-invoices", "paid-by-card"],
        },
        "pass",
    ),
    # intervals and timezones
    Judged(
        "evidence-starts-a-second-later",
        {"evidence.interval.start": "2026-08-01T00:00:01Z"},
        "fail",
        {
            "evidence_interval": f'The evidence is for "2026-08-01T00:00:01Z" to before "2026-09-01T00:00:00Z"; the question is for {AUGUST}.'
        },
        blocked("evidence_interval"),
    ),
    Judged(
        "evidence-ends-a-second-earlier",
        {"evidence.interval.endExclusive": "2026-08-31T23:59:59Z"},
        "fail",
        {
            "evidence_interval": f'The evidence is for "2026-08-01T00:00:00Z" to before "2026-08-31T23:59:59Z"; the question is for {AUGUST}.'
        },
        blocked("evidence_interval"),
    ),
    Judged(
        "evidence-timezone",
        {"evidence.interval.timezone": "Etc/UTC"},
        "fail",
        {"evidence_timezone": 'The evidence has interval.timezone "Etc/UTC"; the question needs "UTC".'},
        blocked("evidence_timezone"),
    ),
    Judged(
        "claim-ends-a-second-later",
        {"claim.interval.endExclusive": "2026-09-01T00:00:01Z"},
        "fail",
        {
            "claim_interval": f'The claim is for "2026-08-01T00:00:00Z" to before "2026-09-01T00:00:01Z"; the question is for {AUGUST}.'
        },
    ),
    Judged(
        "claim-timezone",
        {"claim.interval.timezone": "Europe/London"},
        "fail",
        {"claim_timezone": 'The claim has interval.timezone "Europe/London"; the question needs "UTC".'},
    ),
    # currency and unit of the claim
    Judged(
        "claim-currency",
        {"claim.currency": "USX"},
        "fail",
        {"claim_currency": 'The claim has currency "USX"; the question needs "USD".'},
    ),
    Judged(
        "claim-unit",
        {"claim.unit": "major"},
        "fail",
        {"claim_unit": 'The claim has unit "major"; the question needs "minor".'},
    ),
    # freshness, to the second
    Judged("freshness-oldest-allowed", {"evidence.lastSuccessAt": "2026-09-09T12:00:00Z"}, "pass"),
    Judged(
        "freshness-a-second-too-old",
        {"evidence.lastSuccessAt": "2026-09-09T11:59:59Z"},
        "fail",
        {"source_freshness": "The source committed 86401 s before asOf; at most 86400 s are allowed."},
    ),
    Judged("freshness-at-the-clock", {"evidence.lastSuccessAt": "2026-09-10T12:00:00Z"}, "pass"),
    Judged(
        "freshness-a-second-in-the-future",
        {"evidence.lastSuccessAt": "2026-09-10T12:00:01Z"},
        "fail",
        {"source_freshness": 'The source committed at "2026-09-10T12:00:01Z", after asOf, "2026-09-10T12:00:00Z".'},
    ),
    Judged(
        "freshness-no-age-allowed",
        {"questionContract.maxSourceAgeSeconds": 0, "evidence.lastSuccessAt": "2026-09-10T12:00:00Z"},
        "pass",
    ),
    Judged(
        "freshness-no-age-allowed-and-a-second-old",
        {"questionContract.maxSourceAgeSeconds": 0, "evidence.lastSuccessAt": "2026-09-10T11:59:59Z"},
        "fail",
        {"source_freshness": "The source committed 1 s before asOf; at most 0 s are allowed."},
    ),
    Judged(
        "freshness-unknown",
        {"evidence.lastSuccessAt": None},
        "insufficient_evidence",
        {"source_freshness": "It is not known when the source last committed."},
        NO_COMMIT,
    ),
    Judged(
        "freshness-across-a-leap-day",
        {"questionContract.asOf": "2028-03-01T00:00:00Z", "evidence.lastSuccessAt": "2028-02-29T00:00:00Z"},
        "pass",
    ),
    Judged(
        "freshness-across-february-of-another-year",
        {"questionContract.asOf": "2027-03-01T00:00:00Z", "evidence.lastSuccessAt": "2027-02-28T00:00:00Z"},
        "pass",
    ),
    Judged(
        "freshness-from-the-first-day-to-the-last",
        {"questionContract.asOf": "9999-12-31T23:59:59Z", "evidence.lastSuccessAt": "0001-01-01T00:00:00Z"},
        "fail",
        {
            "source_freshness": "The source committed 315537897599 s before asOf; at most 86400 s are allowed.",
            "interval_closed": 'The source committed at "0001-01-01T00:00:00Z", before the interval ended at '
            '"2026-09-01T00:00:00Z", and the claim is of the complete population.',
        },
    ),
    # a month that is not over
    Judged(
        "interval-closed-at-its-end",
        {"questionContract.asOf": "2026-09-01T00:00:00Z", "evidence.lastSuccessAt": "2026-09-01T00:00:00Z"},
        "pass",
    ),
    Judged(
        "interval-closed-a-second-before-its-end",
        {"questionContract.asOf": "2026-09-01T00:00:00Z", "evidence.lastSuccessAt": "2026-08-31T23:59:59Z"},
        "fail",
        {
            "interval_closed": 'The source committed at "2026-08-31T23:59:59Z", before the interval ended at '
            '"2026-09-01T00:00:00Z", and the claim is of the complete population.'
        },
    ),
    Judged(
        "interval-not-over-and-a-partial-claim",
        {
            "questionContract.asOf": "2026-08-20T00:00:00Z",
            "evidence.lastSuccessAt": "2026-08-20T00:00:00Z",
            "claim.population": "partial",
        },
        "insufficient_evidence",
        {
            "interval_closed": 'The source committed at "2026-08-20T00:00:00Z", before the interval ended at '
            '"2026-09-01T00:00:00Z", and the claim is of the partial population.',
            "population": 'The claim has population "partial"; the question needs "complete".',
        },
    ),
    # coverage, truncation, population
    Judged(
        "coverage-partial",
        {"evidence.coverage": "partial"},
        "insufficient_evidence",
        {"evidence_coverage": 'The evidence has coverage "partial"; the question needs "complete".'},
    ),
    Judged(
        "coverage-unknown",
        {"evidence.coverage": "unknown"},
        "insufficient_evidence",
        {"evidence_coverage": 'The evidence has coverage "unknown"; the question needs "complete".'},
    ),
    Judged(
        "truncation-unknown",
        {"evidence.truncated": None},
        "insufficient_evidence",
        {"result_truncation": "It is not known whether the result was truncated."},
    ),
    Judged(
        "truncation-and-a-complete-claim",
        {"evidence.truncated": True},
        "fail",
        {"result_truncation": "The result was truncated, and the claim is of the complete population."},
    ),
    Judged(
        "truncation-and-a-partial-claim",
        {"evidence.truncated": True, "claim.population": "partial"},
        "insufficient_evidence",
        {
            "result_truncation": "The result was truncated, and the claim is of the partial population.",
            "population": 'The claim has population "partial"; the question needs "complete".',
        },
    ),
    Judged(
        "truncation-unknown-and-a-partial-claim",
        {"evidence.truncated": None, "claim.population": "partial"},
        "insufficient_evidence",
        {
            "result_truncation": "It is not known whether the result was truncated.",
            "population": 'The claim has population "partial"; the question needs "complete".',
        },
    ),
    Judged(
        "population-partial",
        {"claim.population": "partial"},
        "insufficient_evidence",
        {"population": 'The claim has population "partial"; the question needs "complete".'},
    ),
    # the query
    Judged(
        "outcome-denied",
        {"evidence.outcome": "access_denied", **NO_ROWS, "claim.value": 0},
        "fail",
        {
            "query_outcome": 'The evidence has outcome "access_denied"; the question needs "success"; '
            "a denied or failed query is no evidence of zero."
        },
        blocked("query_outcome"),
    ),
    Judged(
        "outcome-error-with-rows",
        {"evidence.outcome": "error"},
        "fail",
        {
            "query_outcome": 'The evidence has outcome "error"; the question needs "success"; '
            "a denied or failed query is no evidence of zero."
        },
        blocked("query_outcome"),
    ),
    Judged(
        "query-without-an-id",
        {"evidence.queryId": None},
        "insufficient_evidence",
        {"query_reference": "The evidence has no queryId by which its query could be found."},
    ),
    # the scope of the rows
    Judged(
        "row-of-another-account",
        with_row(accountId="account-b"),
        "fail",
        {"row_scope": 'Row "invoice-003" has accountId "account-b"; in scope: "account-acme".'},
        blocked("row_scope"),
    ),
    Judged(
        "row-of-the-question's-account-in-evidence-of-another",
        {"evidence.accountId": "account-b"},
        "fail",
        {
            "evidence_account": 'The evidence has accountId "account-b"; the question needs "account-acme".',
            "row_scope": 'Row "invoice-001" has accountId "account-acme"; in scope: "account-b".',
        },
        blocked("evidence_account"),
    ),
    Judged(
        "row-of-a-dataset-that-was-not-queried",
        with_row(datasetId="drafts"),
        "fail",
        {"row_scope": 'Row "invoice-003" has datasetId "drafts"; in scope: "paid-invoices".'},
        blocked("row_scope"),
    ),
    Judged(
        "row-of-no-dataset",
        {"evidence.datasetIds": []},
        "fail",
        {
            "required_datasets": 'The question needs "paid-invoices", which the evidence does not include.',
            "row_scope": 'Row "invoice-001" has datasetId "paid-invoices"; in scope: none.',
        },
        blocked("required_datasets"),
    ),
    Judged(
        "row-in-another-currency",
        with_row(currency="EUR", status="open"),
        "fail",
        {"row_scope": 'Row "invoice-003" has currency "EUR"; in scope: "USD".'},
        blocked("row_scope"),
    ),
    Judged(
        "row-in-another-unit",
        with_row(unit="major"),
        "fail",
        {"row_scope": 'Row "invoice-003" has unit "major"; in scope: "minor".'},
        blocked("row_scope"),
    ),
    # which rows qualify
    Judged("row-order", {"evidence.rows": TWO[::-1]}, "pass"),
    Judged("citation-order", {"claim.evidenceIds": ["invoice-002", "invoice-001"]}, "pass"),
    Judged("open-row-not-cited", with_row(status="open"), "pass"),
    Judged("open-row-cited", citing_it(status="open"), "fail", {"cited_population": NOT_QUALIFYING}),
    Judged("void-row-not-cited", with_row(status="void"), "pass"),
    Judged("void-row-cited", citing_it(status="void"), "fail", {"cited_population": NOT_QUALIFYING}),
    Judged(
        "row-of-a-dataset-that-is-not-required-not-cited",
        {"evidence.datasetIds": ["paid-invoices", "drafts"], **with_row(datasetId="drafts")},
        "pass",
    ),
    Judged(
        "row-of-a-dataset-that-is-not-required-cited",
        {"evidence.datasetIds": ["paid-invoices", "drafts"], **citing_it(datasetId="drafts")},
        "fail",
        {"cited_population": NOT_QUALIFYING},
    ),
    Judged("paid-a-second-before-the-start-not-cited", with_row(paidAt="2026-07-31T23:59:59Z"), "pass"),
    Judged(
        "paid-a-second-before-the-start-cited",
        citing_it(paidAt="2026-07-31T23:59:59Z"),
        "fail",
        {"cited_population": NOT_QUALIFYING},
    ),
    Judged("paid-at-the-start", {**citing_it(paidAt="2026-08-01T00:00:00Z"), "claim.value": 750000}, "pass"),
    Judged(
        "paid-at-the-start-not-cited",
        with_row(paidAt="2026-08-01T00:00:00Z"),
        "fail",
        {"cited_population": NOT_CITED, "claim_value": SHORT},
    ),
    Judged("paid-in-the-last-second", {**citing_it(paidAt="2026-08-31T23:59:59Z"), "claim.value": 750000}, "pass"),
    Judged(
        "paid-in-the-last-second-not-cited",
        with_row(paidAt="2026-08-31T23:59:59Z"),
        "fail",
        {"cited_population": NOT_CITED, "claim_value": SHORT},
    ),
    Judged("paid-at-the-exclusive-end-not-cited", with_row(paidAt="2026-09-01T00:00:00Z"), "pass"),
    Judged(
        "paid-at-the-exclusive-end-cited",
        citing_it(paidAt="2026-09-01T00:00:00Z"),
        "fail",
        {"cited_population": NOT_QUALIFYING},
    ),
    Judged("uncited-row-of-no-value", with_row(value=0), "fail", {"cited_population": NOT_CITED}),
    Judged(
        "citation-of-one-more-than-the-only-row",
        {"evidence.rows[1].status": "open", "claim.recordClaims": [], "claim.value": 250000},
        "fail",
        {
            "cited_population": '1 row qualifies; of those the claim leaves out none, and it cites "invoice-002" besides.'
        },
    ),
    Judged(
        "many-uncited-rows",
        {"evidence.rows": [*TWO, *(row(f"more-{n}", value=0) for n in range(5))], "claim.evidenceIds": ["invoice-002"]},
        "fail",
        {
            "cited_population": '7 rows qualify; of those the claim leaves out "invoice-001", "more-0", "more-1" and 3 more, '
            "and it cites none besides."
        },
    ),
    # amounts
    Judged(
        "value-one-more",
        {"claim.value": 500001},
        "fail",
        {"claim_value": "The claim says 500001; the 2 qualifying rows total 500000 USD minor units."},
    ),
    Judged(
        "value-one-less",
        {"claim.value": 499999},
        "fail",
        {"claim_value": "The claim says 499999; the 2 qualifying rows total 500000 USD minor units."},
    ),
    Judged(
        "value-of-one-row",
        {"evidence.rows": TWO[:1], "claim.evidenceIds": ["invoice-001"], "claim.recordClaims": []},
        "fail",
        {"claim_value": "The claim says 500000; the 1 qualifying row totals 250000 USD minor units."},
    ),
    Judged("value-zero-and-it-is", {**NO_ROWS, "claim.value": 0}, "pass"),
    Judged(
        "value-zero-and-it-is-not",
        {"claim.value": 0},
        "fail",
        {"claim_value": "The claim says 0; the 2 qualifying rows total 500000 USD minor units."},
    ),
    Judged(
        "value-of-no-rows",
        {**NO_ROWS, "claim.value": 1},
        "fail",
        {"claim_value": "The claim says 1; the 0 qualifying rows total 0 USD minor units."},
    ),
    Judged(
        "value-largest",
        {"evidence.rows[0].value": MAX_AMOUNT, "evidence.rows[1].value": 0, "claim.value": MAX_AMOUNT},
        "pass",
    ),
    Judged(
        "value-largest-as-a-sum",
        {"evidence.rows[0].value": MAX_AMOUNT - 1, "evidence.rows[1].value": 1, "claim.value": MAX_AMOUNT},
        "pass",
    ),
    Judged(
        "value-one-less-than-the-largest",
        {"evidence.rows[0].value": MAX_AMOUNT - 1, "evidence.rows[1].value": 0, "claim.value": MAX_AMOUNT},
        "fail",
        {
            "claim_value": "The claim says 9007199254740991; the 2 qualifying rows total 9007199254740990 USD minor units."
        },
    ),
    # citations and record claims
    Judged(
        "citation-of-no-row",
        {"claim.evidenceIds": ["invoice-001", "invoice-002", "invoice-009"]},
        "fail",
        {"citation_resolution": 'The claim cites "invoice-009", which no row has as its id.'},
        UNRESOLVED,
    ),
    Judged(
        "citation-of-no-row-by-a-record-claim",
        {"claim.recordClaims[1].evidenceId": "invoice-009"},
        "fail",
        {"citation_resolution": 'The claim cites "invoice-009", which no row has as its id.'},
        UNRESOLVED,
    ),
    Judged(
        "citation-of-no-row-by-both",
        {"claim.evidenceIds": ["x"], "claim.recordClaims[1].evidenceId": "x"},
        "fail",
        {"citation_resolution": 'The claim cites "x", which no row has as its id.'},
        UNRESOLVED,
    ),
    Judged("record-claims-none", {"claim.recordClaims": []}, "pass"),
    Judged(
        "record-claims-of-all-fields",
        {
            "claim.recordClaims": [
                {"evidenceId": "invoice-001", "field": "status", "value": "paid"},
                {"evidenceId": "invoice-001", "field": "currency", "value": "USD"},
                {"evidenceId": "invoice-001", "field": "accountId", "value": "account-acme"},
            ]
        },
        "pass",
    ),
    Judged(
        "record-claim-of-a-row-that-is-not-cited-otherwise",
        {
            **with_row(status="void"),
            "claim.recordClaims": [{"evidenceId": "invoice-003", "field": "status", "value": "void"}],
        },
        "pass",
    ),
    Judged(
        "record-claim-of-currency",
        {"claim.recordClaims": [{"evidenceId": "invoice-001", "field": "currency", "value": "usd"}]},
        "fail",
        {"record_claims": 'The claim says that currency of "invoice-001" is "usd"; its row says "USD".'},
    ),
    Judged(
        "record-claim-of-account",
        {"claim.recordClaims": [{"evidenceId": "invoice-002", "field": "accountId", "value": "\u202eacme\n"}]},
        "fail",
        {
            "record_claims": 'The claim says that accountId of "invoice-002" is "\\u202eacme\\n"; its row says "account-acme".'
        },
    ),
    Judged(
        "record-claim-differs-beside-one-of-no-row",
        {
            "claim.recordClaims": [
                {"evidenceId": "invoice-009", "field": "status", "value": "paid"},
                {"evidenceId": "invoice-002", "field": "status", "value": "void"},
            ]
        },
        "fail",
        {
            "citation_resolution": 'The claim cites "invoice-009", which no row has as its id.',
            "record_claims": 'The claim says that status of "invoice-002" is "void"; its row says "paid".',
        },
        {"cited_population": UNRESOLVED["cited_population"]},
    ),
    # several faults in one case
    Judged(
        "contradiction-beside-missing-evidence",
        {"evidence.coverage": "unknown", "claim.value": 1},
        "fail",
        {
            "evidence_coverage": 'The evidence has coverage "unknown"; the question needs "complete".',
            "claim_value": "The claim says 1; the 2 qualifying rows total 500000 USD minor units.",
        },
    ),
    Judged(
        "missing-citation-comes-before-the-rest-of-the-ground",
        {"claim.evidenceIds": ["x"], "claim.recordClaims": [], "evidence.outcome": "error"},
        "fail",
        {
            "query_outcome": 'The evidence has outcome "error"; the question needs "success"; '
            "a denied or failed query is no evidence of zero.",
            "citation_resolution": 'The claim cites "x", which no row has as its id.',
        },
        {**UNRESOLVED, "claim_value": "Not checked: query_outcome did not pass."},
    ),
    Judged(
        "the-ground-is-named-in-its-own-order",
        {
            "evidence.interval.timezone": "Etc/UTC",
            "evidence.interval.start": "2026-07-01T00:00:00Z",
            "evidence.rows[1].unit": "major",
        },
        "fail",
        {
            "evidence_interval": f'The evidence is for "2026-07-01T00:00:00Z" to before "2026-09-01T00:00:00Z"; the question is for {AUGUST}.',
            "evidence_timezone": 'The evidence has interval.timezone "Etc/UTC"; the question needs "UTC".',
            "row_scope": 'Row "invoice-002" has unit "major"; in scope: "minor".',
        },
        blocked("row_scope"),
    ),
    Judged(
        "many-faults-in-order",
        {
            "evidence.accountId": "account-b",
            "evidence.datasetIds": [],
            "evidence.queryId": None,
            "evidence.outcome": "error",
            "evidence.lastSuccessAt": None,
            "evidence.coverage": "partial",
            "evidence.truncated": True,
            **NO_ROWS,
            "claim.accountId": "account-c",
            "claim.currency": "EUR",
            "claim.unit": "major",
            "claim.population": "partial",
            "claim.evidenceIds": ["a", "b", "c", "d", "e"],
        },
        "fail",
        {
            "evidence_account": 'The evidence has accountId "account-b"; the question needs "account-acme".',
            "claim_account": 'The claim has accountId "account-c"; the question needs "account-acme".',
            "required_datasets": 'The question needs "paid-invoices", which the evidence does not include.',
            "claim_currency": 'The claim has currency "EUR"; the question needs "USD".',
            "claim_unit": 'The claim has unit "major"; the question needs "minor".',
            "source_freshness": "It is not known when the source last committed.",
            "evidence_coverage": 'The evidence has coverage "partial"; the question needs "complete".',
            "result_truncation": "The result was truncated, and the claim is of the partial population.",
            "population": 'The claim has population "partial"; the question needs "complete".',
            "query_outcome": 'The evidence has outcome "error"; the question needs "success"; '
            "a denied or failed query is no evidence of zero.",
            "query_reference": "The evidence has no queryId by which its query could be found.",
            "citation_resolution": 'The claim cites "a", "b", "c" and 2 more, which no row has as its id.',
        },
        {**NO_COMMIT, **UNRESOLVED, "claim_value": "Not checked: query_outcome did not pass."},
    ),
]

# What fits a type and what does not, at a field of that type; the id of a case is the field and the value's name.
ID = "must be an id ([a-z][a-z0-9_-]{0,79}), not "
TEXT = "must be text of 1 to 4096 code points without lone surrogates, not "
LABEL = "must be text of 1 to 80 code points without lone surrogates, not "
TIMESTAMP = "must be a real time as YYYY-MM-DDThh:mm:ssZ, not "
ZONE = "must be UTC or Area/Place of at most 80 characters, not "
CURRENCY = "must be three capital letters A-Z, not "
AMOUNT = "must be an integer from 0 to 9007199254740991, without fraction or exponent, not "
AGE = "must be an integer from 0 to 2678400, without fraction or exponent, not "


def ids(count: int) -> list[str]:
    return [f"id-{number}" for number in range(count)]


def cases(count: int) -> list[dict[str, Any]]:
    return [{**baseline()["cases"][0], "id": id} for id in ids(count)]


def record_claims(count: int) -> list[dict[str, str]]:
    return [{"evidenceId": id, "field": "status", "value": "paid"} for id in ids(count)]


FITTING: dict[str, dict[str, Any]] = {
    "cases": {"one": cases(1), "most": cases(64)},
    "questionContract.requiredDatasetIds": {"one": ids(1), "most": ids(256)},
    "evidence.datasetIds": {"none": [], "most": ids(256)},
    "evidence.rows": {"none": [], "most": [row(id, value=0) for id in ids(256)]},
    "claim.evidenceIds": {"none": [], "most": ids(256)},
    "claim.recordClaims": {"none": [], "most": record_claims(256)},
    "fixtureSetId": {"shortest": "a", "longest": "a" * 80, "all-signs": "z0-_9"},
    "title": {
        "shortest": "x",
        "longest": "x" * 4096,
        "astral": "\U0001f600" * 4096,
        "control": "\x00\x1b\u202e",
        "blank": " ",
    },
    "claim.recordClaims[0].value": {},
    "evidence.rows[0].paidAt": {
        "leap-day": "2028-02-29T00:00:00Z",
        "leap-day-of-a-400th-year": "2000-02-29T00:00:00Z",
        "first": "0001-01-01T00:00:00Z",
        "last": "9999-12-31T23:59:59Z",
    },
    "claim.interval.timezone": {
        "place": "America/Argentina/Buenos_Aires",
        "signs": "Etc/GMT+12",
        "longest": "A/" + "b" * 78,
        "unknown-place": "No/Where",
    },
    "claim.currency": {"no-such-currency": "ZZZ"},
    "claim.value": {"zero": 0, "largest": MAX_AMOUNT},
    "questionContract.maxSourceAgeSeconds": {"zero": 0, "largest": 2678400},
    "evidence.queryId": {"null": None},
    "evidence.lastSuccessAt": {"null": None},
    "evidence.truncated": {"null": None, "true": True, "false": False},
}
UNFIT: dict[str, tuple[str, dict[str, tuple[Any, str]]]] = {
    **{
        path: (ID, {"capital": ("A", '"A"')})
        for path in (
            "questionContract.accountId",
            "questionContract.requiredDatasetIds[0]",
            "id",
            "evidence.accountId",
            "evidence.datasetIds[0]",
            "evidence.rows[0].id",
            "evidence.rows[0].datasetId",
            "evidence.rows[0].accountId",
            "claim.accountId",
            "claim.evidenceIds[0]",
            "claim.recordClaims[0].evidenceId",
        )
    },
    **{path: (TEXT, {"empty": ("", '""')}) for path in ("question", "answer")},
    **{
        path: (CURRENCY, {"lower-case": ("usd", '"usd"')})
        for path in ("questionContract.currency", "evidence.rows[0].currency")
    },
    **{
        path: (TIMESTAMP, {"date-only": ("2026-08-01", '"2026-08-01"')})
        for path in (
            "questionContract.asOf",
            "questionContract.interval.start",
            "questionContract.interval.endExclusive",
            "evidence.interval.start",
            "evidence.interval.endExclusive",
            "claim.interval.start",
            "claim.interval.endExclusive",
        )
    },
    "evidence.interval.timezone": (ZONE, {"area-only": ("Europe", '"Europe"')}),
    "fixtureSetId": (
        ID,
        {
            "empty": ("", '""'),
            "too-long": ("a" * 81, f'"{"a" * 55}"...'),
            "capital": ("A", '"A"'),
            "digit-first": ("1a", '"1a"'),
            "hyphen-first": ("-a", '"-a"'),
            "newline-last": ("a\n", '"a\\n"'),
            "blank": (" a", '" a"'),
            "dot": ("a.b", '"a.b"'),
            "other-letter": ("\u00e9a", '"\\u00e9a"'),
            "other-digit": ("a\u0663", '"a\\u0663"'),
            "null": (None, "null"),
            "integer": (7, "7"),
            "boolean": (True, "true"),
            "array": (["a"], "an array"),
            "object": ({"a": 1}, "an object"),
        },
    ),
    "title": (
        TEXT,
        {
            "empty": ("", '""'),
            "too-long": ("x" * 4097, f'"{"x" * 55}"...'),
            "lone-surrogate": ("a\ud800b", '"a\\ud800b"'),
            "surrogates-in-wrong-order": ("\udc00\ud800", '"\\udc00\\ud800"'),
            "null": (None, "null"),
            "integer": (0, "0"),
        },
    ),
    "claim.recordClaims[0].value": (
        LABEL,
        {
            "empty": ("", '""'),
            "too-long": ("x" * 81, f'"{"x" * 55}"...'),
            "astral-cut": ("\U0001f600" * 81, '"' + "\\ud83d\\ude00" * 4 + '"...'),
        },
    ),
    "evidence.rows[0].paidAt": (
        TIMESTAMP,
        {
            "no-leap-day": ("2026-02-29T00:00:00Z", '"2026-02-29T00:00:00Z"'),
            "no-leap-day-of-a-100th-year": ("1900-02-29T00:00:00Z", '"1900-02-29T00:00:00Z"'),
            "april-31": ("2026-04-31T00:00:00Z", '"2026-04-31T00:00:00Z"'),
            "month-0": ("2026-00-10T00:00:00Z", '"2026-00-10T00:00:00Z"'),
            "month-13": ("2026-13-10T00:00:00Z", '"2026-13-10T00:00:00Z"'),
            "day-0": ("2026-08-00T00:00:00Z", '"2026-08-00T00:00:00Z"'),
            "year-0": ("0000-08-01T00:00:00Z", '"0000-08-01T00:00:00Z"'),
            "hour-24": ("2026-08-01T24:00:00Z", '"2026-08-01T24:00:00Z"'),
            "minute-60": ("2026-08-01T00:60:00Z", '"2026-08-01T00:60:00Z"'),
            "leap-second": ("2016-12-31T23:59:60Z", '"2016-12-31T23:59:60Z"'),
            "fraction": ("2026-08-01T00:00:00.0Z", '"2026-08-01T00:00:00.0Z"'),
            "lower-case-t": ("2026-08-01t00:00:00Z", '"2026-08-01t00:00:00Z"'),
            "lower-case-z": ("2026-08-01T00:00:00z", '"2026-08-01T00:00:00z"'),
            "blank-for-t": ("2026-08-01 00:00:00Z", '"2026-08-01 00:00:00Z"'),
            "offset": ("2026-08-01T00:00:00+00:00", '"2026-08-01T00:00:00+00:00"'),
            "no-zone": ("2026-08-01T00:00:00", '"2026-08-01T00:00:00"'),
            "date-only": ("2026-08-01", '"2026-08-01"'),
            "basic-form": ("20260801T000000Z", '"20260801T000000Z"'),
            "week-form": ("2026-W31-6T00:00:00Z", '"2026-W31-6T00:00:00Z"'),
            "other-digits": ("2026-08-0\u0661T00:00:00Z", '"2026-08-0\\u0661T00:00:00Z"'),
            "full-width-digits": ("\uff12026-08-01T00:00:00Z", '"\\uff12026-08-01T00:00:00Z"'),
            "other-separator": ("2026\u201008-01T00:00:00Z", '"2026\\u201008-01T00:00:00Z"'),
            "slashes": ("2026/08/01T00:00:00Z", '"2026/08/01T00:00:00Z"'),
            "newline-last": ("2026-08-01T00:00:00Z\n", '"2026-08-01T00:00:00Z\\n"'),
            "sign": ("+026-08-01T00:00:00Z", '"+026-08-01T00:00:00Z"'),
            "underscore": ("2_26-08-01T00:00:00Z", '"2_26-08-01T00:00:00Z"'),
            "null": (None, "null"),
            "integer": (1785542400, "1785542400"),
        },
    ),
    "evidence.lastSuccessAt": (
        TIMESTAMP.replace(", not", " or null, not"),
        {"empty": ("", '""'), "false": (False, "false")},
    ),
    "evidence.queryId": (ID.replace(", not", " or null, not"), {"empty": ("", '""'), "zero": (0, "0")}),
    "claim.interval.timezone": (
        ZONE,
        {
            "lower-case-utc": ("utc", '"utc"'),
            "area-only": ("Europe", '"Europe"'),
            "no-place": ("Europe/", '"Europe/"'),
            "no-area": ("/London", '"/London"'),
            "dot": ("../etc", '"../etc"'),
            "too-long": ("A/" + "b" * 79, f'"A/{"b" * 53}"...'),
            "newline-last": ("Europe/London\n", '"Europe/London\\n"'),
            "other-letter": ("Europe/Z\u00fcrich", '"Europe/Z\\u00fcrich"'),
        },
    ),
    "questionContract.interval.timezone": ('must be "UTC", not ', {"place": ("Etc/UTC", '"Etc/UTC"')}),
    "claim.currency": (
        CURRENCY,
        {
            "lower-case": ("usd", '"usd"'),
            "two": ("US", '"US"'),
            "four": ("USDT", '"USDT"'),
            "other": ("\u0410\u0411\u0412", '"\\u0410\\u0411\\u0412"'),
        },
    ),
    "claim.value": (
        AMOUNT,
        {
            "negative": (-1, "-1"),
            "too-large": (MAX_AMOUNT + 1, "9007199254740992"),
            "seventeen-digits": (10**16, "10000000000000000"),
            "true": (True, "true"),
            "false": (False, "false"),
            "string": ("500000", '"500000"'),
            "null": (None, "null"),
            "array": ([], "an array"),
        },
    ),
    "evidence.rows[1].value": (AMOUNT, {"negative": (-1, "-1"), "too-large": (MAX_AMOUNT + 1, "9007199254740992")}),
    "questionContract.maxSourceAgeSeconds": (
        AGE,
        {"too-large": (2678401, "2678401"), "negative": (-1, "-1"), "null": (None, "null")},
    ),
    "schemaVersion": ('must be "1.0.0", not ', {"newer": ("1.0.1", '"1.0.1"'), "number": (1, "1")}),
    "questionContract.metric": (
        'must be "paid_invoice_total", not ',
        {"other": ("recurring_revenue", '"recurring_revenue"')},
    ),
    "claim.metric": ('must be "paid_invoice_total", not ', {"other": ("paid-invoice-total", '"paid-invoice-total"')}),
    "questionContract.unit": ('must be "minor", not ', {"major": ("major", '"major"')}),
    "claim.unit": ('must be "minor" or "major", not ', {"capital": ("Minor", '"Minor"')}),
    "questionContract.requireCompletePopulation": (
        "must be true, not ",
        {"false": (False, "false"), "one": (1, "1"), "string": ("true", '"true"')},
    ),
    "evidence.outcome": (
        'must be "success" or "access_denied" or "error", not ',
        {"other": ("denied", '"denied"'), "null": (None, "null")},
    ),
    "evidence.coverage": ('must be "complete" or "partial" or "unknown", not ', {"null": (None, "null")}),
    "evidence.truncated": ("must be true or false or null, not ", {"zero": (0, "0"), "string": ("false", '"false"')}),
    "evidence.rows[0].status": ('must be "paid" or "open" or "void", not ', {"capital": ("PAID", '"PAID"')}),
    "evidence.rows[0].unit": ('must be "minor" or "major", not ', {"null": (None, "null")}),
    "claim.population": ('must be "complete" or "partial", not ', {"unknown": ("unknown", '"unknown"')}),
    "claim.recordClaims[0].field": (
        'must be "status" or "currency" or "accountId", not ',
        {"value": ("value", '"value"')},
    ),
    "questionContract": ("must be an object, not ", {"null": (None, "null"), "array": ([], "an array")}),
    "evidence": ("must be an object, not ", {"string": ("rows", '"rows"')}),
    "claim.interval": ("must be an object, not ", {"array": ([], "an array")}),
    "evidence.rows[0]": ("must be an object, not ", {"null": (None, "null")}),
    "cases": ("must be an array, not ", {"object": ({}, "an object"), "null": (None, "null")}),
    "evidence.rows": ("must be an array, not ", {"object": ({}, "an object"), "null": (None, "null")}),
}


def where(path: str) -> str:
    """The path in a message of a path in an edit."""
    return f"cases[0].{path}" if path.split(".")[0] in baseline()["cases"][0] else path


def fields(value: Any, path: str = "") -> list[str]:
    """The path of every field in a document, those of inner fields first."""
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in fields(item, f"{path}[{index}]")]
    if not isinstance(value, dict):
        return []
    names = {name: f"{path}.{name}".lstrip(".") for name in value}
    return [found for name, inner in names.items() for found in [*fields(value[name], inner), inner]]


FIELDS = fields(baseline())
OBJECTS = sorted({path.rpartition(".")[0] for path in FIELDS})


LATER = '"2026-08-01T00:00:00Z"'
ROWS = "cases[0].evidence.rows"
REFUSED = [
    *(
        Refused(f"{path}-{name}", {path: value}, [f"{where(path)}: {words}{shown}"])
        for path, (words, values) in UNFIT.items()
        for name, (value, shown) in values.items()
    ),
    # what is there and what is not
    *(Refused(f"missing-{path}", {path: DROP}, [f"{path}: is missing"]) for path in FIELDS),
    *(
        Refused(
            f"unknown-in-{path or 'root'}",
            {f"{path}.surplus" if path else "surplus": None},
            [f'{path or "root"}: has the unknown field "surplus"'],
        )
        for path in OBJECTS
    ),
    Refused("missing-in-root", {"fixtureSetId": DROP}, ["fixtureSetId: is missing"]),
    Refused("missing-in-a-row", {"evidence.rows[1].status": DROP}, [f"{ROWS}[1].status: is missing"]),
    Refused("unknown-in-a-claim", {"claim.\u202e": 1.5}, ['cases[0].claim: has the unknown field "\\u202e"']),
    Refused(
        "unknown-two",
        {"extra": {}, "Cases": {}},
        ['root: has the unknown field "extra"', 'root: has the unknown field "Cases"'],
    ),
    Refused(
        "unknown-instead-of-known",
        {"evidence.rows[0].id": DROP, "evidence.rows[0].ID": "a"},
        [f"{ROWS}[0].id: is missing", f'{ROWS}[0]: has the unknown field "ID"'],
    ),
    # how many
    Refused("cases-none", {"cases": []}, ["cases: must have 1 to 64 items, not 0"]),
    Refused(
        "datasets-required-none",
        {"questionContract.requiredDatasetIds": []},
        ["questionContract.requiredDatasetIds: must have 1 to 256 items, not 0"],
    ),
    Refused(
        "datasets-required-too-many",
        {"questionContract.requiredDatasetIds": ids(257)},
        ["questionContract.requiredDatasetIds: must have 1 to 256 items, not 257"],
    ),
    Refused(
        "datasets-too-many",
        {"evidence.datasetIds": ids(257)},
        ["cases[0].evidence.datasetIds: must have 0 to 256 items, not 257"],
    ),
    Refused(
        "rows-too-many", {"evidence.rows": [row(id) for id in ids(257)]}, [f"{ROWS}: must have 0 to 256 items, not 257"]
    ),
    Refused(
        "citations-too-many",
        {"claim.evidenceIds": ids(257)},
        ["cases[0].claim.evidenceIds: must have 0 to 256 items, not 257"],
    ),
    Refused(
        "record-claims-too-many",
        {"claim.recordClaims": [{"evidenceId": id, "field": "status", "value": "paid"} for id in ids(257)]},
        ["cases[0].claim.recordClaims: must have 0 to 256 items, not 257"],
    ),
    Refused("cases-too-many", {"cases": cases(65)}, ["cases: must have 1 to 64 items, not 65"]),
    # once
    Refused("case-twice", {"cases": cases(1) * 2}, ['cases[1].id: must be unique, but [0] also has "id-0"']),
    Refused(
        "dataset-required-twice",
        {"questionContract.requiredDatasetIds": ["a", "b", "a"]},
        ['questionContract.requiredDatasetIds[2]: must be unique, but [0] also has "a"'],
    ),
    Refused(
        "dataset-twice",
        {"evidence.datasetIds": ["a", "a"]},
        ['cases[0].evidence.datasetIds[1]: must be unique, but [0] also has "a"'],
    ),
    Refused(
        "row-twice",
        {"evidence.rows[1].id": "invoice-001"},
        [f'{ROWS}[1].id: must be unique, but [0] also has "invoice-001"'],
    ),
    Refused(
        "citation-thrice",
        {"claim.evidenceIds": ["a", "a", "a"]},
        [f'cases[0].claim.evidenceIds[{n}]: must be unique, but [0] also has "a"' for n in (1, 2)],
    ),
    Refused(
        "record-claim-twice",
        {"claim.recordClaims[1].evidenceId": "invoice-001", "claim.recordClaims[1].value": "open"},
        ['cases[0].claim.recordClaims[1]: must be unique in evidenceId and field, but [0] also has "invoice-001"'],
    ),
    # across fields
    Refused(
        "interval-of-no-length",
        {"claim.interval.endExclusive": "2026-08-01T00:00:00Z"},
        [f"cases[0].claim.interval.endExclusive: must be later than start, not {LATER}"],
    ),
    Refused(
        "interval-backwards",
        {
            "questionContract.interval.start": "2026-08-01T00:00:01Z",
            "questionContract.interval.endExclusive": "2026-08-01T00:00:00Z",
        },
        [f"questionContract.interval.endExclusive: must be later than start, not {LATER}"],
    ),
    Refused(
        "interval-a-second-long-is-fine-but-this",
        {"evidence.interval.endExclusive": "2026-08-01T00:00:01Z", "evidence.queryId": "Q"},
        [f'cases[0].evidence.queryId: {ID.replace(", not", " or null, not")}"Q"'],
    ),
    Refused(
        "rows-one-over-the-sum",
        {"evidence.rows[0].value": MAX_AMOUNT, "evidence.rows[1].value": 1},
        [f"{ROWS}: must have values that add up to at most 9007199254740991, not 9007199254740992"],
    ),
    Refused(
        "rows-over-the-sum-with-an-open-one",
        {"evidence.rows[0].value": MAX_AMOUNT, "evidence.rows[1].status": "open", "evidence.rows[1].currency": "EUR"},
        [f"{ROWS}: must have values that add up to at most 9007199254740991, not 9007199254990991"],
    ),
    # all at once, in order
    Refused(
        "many-problems-in-order",
        {
            "claim.extra": 1,
            "claim.value": -1,
            "claim.interval.endExclusive": "2020-01-01T00:00:00Z",
            "evidence.rows[1]": 5,
            "evidence.rows[0].value": "1",
            "title": "",
            "questionContract.asOf": "now",
            "fixtureSetId": "X",
            "extra": 1,
        },
        [
            f'fixtureSetId: {ID}"X"',
            f'questionContract.asOf: {TIMESTAMP}"now"',
            f'cases[0].title: {TEXT}""',
            f'{ROWS}[0].value: {AMOUNT}"1"',
            f"{ROWS}[1]: must be an object, not 5",
            'cases[0].claim.interval.endExclusive: must be later than start, not "2020-01-01T00:00:00Z"',
            f"cases[0].claim.value: {AMOUNT}-1",
            'cases[0].claim: has the unknown field "extra"',
            'root: has the unknown field "extra"',
        ],
    ),
]

TEXT_OF_BASELINE = json.dumps(baseline())


def replaced(old: str, new: str) -> bytes:
    assert TEXT_OF_BASELINE.count(old) >= 1, old
    return TEXT_OF_BASELINE.replace(old, new, 1).encode("utf-8")


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


VALUE = "cases[0].claim.value: " + AMOUNT
NOT_OF_THE_FORMAT = [
    Bytes("number-fraction", replaced('"value": 500000,', '"value": 500000.0,'), f"{VALUE}500000.0"),
    Bytes("number-exponent", replaced('"value": 500000,', '"value": 5e5,'), f"{VALUE}5e5"),
    Bytes("number-huge-exponent", replaced('"value": 500000,', '"value": 1E+999999999,'), f"{VALUE}1E+999999999"),
    Bytes("number-minus-zero", replaced('"value": 500000,', '"value": -0,'), f"{VALUE}-0"),
    Bytes("number-long", replaced('"value": 500000,', f'"value": {"9" * 5000},'), f"{VALUE}{'9' * 57}..."),
    Bytes("number-long-negative", replaced('"value": 500000,', f'"value": -{"9" * 5000},'), f"{VALUE}-{'9' * 56}..."),
    Bytes("number-long-fraction", replaced('"value": 500000,', f'"value": 0.{"3" * 5000},'), f"{VALUE}0.{'3' * 55}..."),
    Bytes(
        "fraction-for-a-text",
        replaced('"schemaVersion": "1.0.0"', '"schemaVersion": 1.0'),
        'schemaVersion: must be "1.0.0", not 1.0',
    ),
    Bytes(
        "fraction-for-an-id",
        replaced('"queryId": "query-001"', '"queryId": 1.5'),
        f"cases[0].evidence.queryId: {ID.replace(', not', ' or null, not')}1.5",
    ),
    Bytes(
        "fraction-for-an-object",
        replaced('"interval": {', '"interval": 1e9, "x": {'),
        "questionContract.interval: must be an object, not 1e9",
    ),
    Bytes(
        "key-twice",
        replaced('"value": 500000,', '"value": 500000, "value": 500000,'),
        "cases[0].claim.value: must stand once in its object, not 2 times",
    ),
    Bytes(
        "key-thrice-escaped",
        replaced('"value": 500000,', '"value": 1, "v\\u0061lue": 2, "\\u0076alue": 500000,'),
        "cases[0].claim.value: must stand once in its object, not 3 times",
    ),
    Bytes(
        "key-twice-in-root",
        replaced('"schemaVersion"', '"schemaVersion": "1.0.0", "schemaVersion"'),
        "schemaVersion: must stand once in its object, not 2 times",
    ),
    Bytes(
        "unknown-twice",
        replaced('{"schemaVersion"', '{"x": 0, "x": 1.5, "schemaVersion"'),
        'root: has repeatedly the unknown field "x"',
    ),
    Bytes("unknown-empty", replaced('{"schemaVersion"', '{"": 0, "schemaVersion"'), 'root: has the unknown field ""'),
    Bytes("root-array", b"[]", "root: must be an object, not an array"),
    Bytes("root-null", b" null\n", "root: must be an object, not null"),
    Bytes("root-string", b'"\\u202e"', 'root: must be an object, not "\\u202e"'),
    Bytes("root-fraction", b"1.5", "root: must be an object, not 1.5"),
    Bytes("nested-16", nested(16), "root: must be an object, not an array"),
    Bytes(
        "brackets-in-strings", b'"' + b'[{\\"' * 40 + b'"', 'root: must be an object, not "' + '[{\\"' * 13 + '[{"...'
    ),
]
NOT_JSON = [
    Bytes("empty", b"", "line 1 column 1"),
    Bytes("blank", b" \n ", "line 2 column 2"),
    Bytes("word", b"nope", "line 1 column 1"),
    Bytes("two-documents", b"{}\n{}", "line 2 column 1"),
    Bytes("cut", TEXT_OF_BASELINE[:-1].encode(), f"line 1 column {len(TEXT_OF_BASELINE)}"),
    Bytes("trailing-comma", b"[1, \n\n]", "line 3 column 1"),
    Bytes("trailing-comma-in-an-object", b'{"a": 1,\n}', "line 2 column 1"),
    Bytes("comma-first", b"[\n,\n1]", "line 2 column 1"),
    Bytes("single-quotes", b"{'a': 1}", "line 1 column 2"),
    Bytes("comment", b"{} // fine", "line 1 column 4"),
    Bytes("leading-zero", b"[01]", "line 1 column 3"),
    Bytes("plus", b"[+1]", "line 1 column 2"),
    Bytes("control-character", b'["a\nb"]', "line 1 column 4"),
    Bytes("bad-escape", b'{"a":\n  "\\x"}', "line 2 column 4"),
    Bytes("form-feed", b"\x0c{}", "line 1 column 1"),
    Bytes("no-break-space", "\u00a0{}".encode(), "line 1 column 1"),
    Bytes("nan", b'{"a": "NaN", "b": NaN}', "line 1 column 19: not JSON: NaN is no number"),
    Bytes("infinity", b'{"Infinity":\n [1, Infinity]}', "line 2 column 6: not JSON: Infinity is no number"),
    Bytes("minus-infinity", b'["\\"NaN", -Infinity, NaN]', "line 1 column 11: not JSON: -Infinity is no number"),
    Bytes("byte-order-mark", b"\xef\xbb\xbf{}", "line 1 column 1: starts with a byte order mark"),
    Bytes("byte-order-mark-and-bad-byte", b"\xef\xbb\xbf\xff", "line 1 column 1: starts with a byte order mark"),
    Bytes("utf-16", "{}".encode("utf-16"), "line 1 column 1: not UTF-8"),
    Bytes("bad-byte", b'{\n"\xc3\xa9\xff": 1}', "line 2 column 3: not UTF-8"),
    Bytes("cut-character", b'"\xe2\x82', "line 1 column 2: not UTF-8"),
    Bytes("overlong", b'"\xc0\xaf"', "line 1 column 2: not UTF-8"),
    Bytes("surrogate-bytes", b'"\xed\xa0\x80"', "line 1 column 2: not UTF-8"),
    Bytes("nested-17", nested(17), "line 1 column 17: nested deeper than 16 levels"),
    Bytes("nested-17-with-objects", b'{"a": ' + nested(16) + b"}", "line 1 column 22: nested deeper than 16 levels"),
    Bytes(
        "nested-17-after-strings",
        b'["[[[", "\\"[", "\\\\",\n' + nested(15) + b", " + nested(16) + b"]",
        "line 2 column 48: nested deeper than 16 levels",
    ),
    Bytes("nested-after-a-fault-that-hides-brackets", b'\\"' + b"[" * 17, "line 1 column 1"),
    Bytes("nested-after-a-fault-that-bares-brackets", b'{a": "' + b"[" * 17 + b'"}', "line 1 column 2"),
    Bytes("nested-after-a-fault", b'{"a" 1, "b": ' + b"[" * 1000, "line 1 column 6"),
    Bytes("nested-very-deep", b"[" * 100_000, "line 1 column 17: nested deeper than 16 levels"),
    Bytes("nested-very-deep-objects", b'{"a":' * 50_000, "line 1 column 81: nested deeper than 16 levels"),
]

RESULT = {"id": "complete-answer", "judgment": "pass", "reasonCodes": [], "explanation": "Fine."}
EXPECTED = {"schemaVersion": "1.0.0", "fixtureSetId": "business-answer-verification-v1", "results": [RESULT]}
NO_RESULT = 'results: must have a result for "complete-answer"'


class RefusedExpectation(NamedTuple):
    id: str
    edit: dict[str, Any]
    problems: list[str]


def results(*items: Any) -> dict[str, Any]:
    return {"results": list(items)}


REFUSED_EXPECTATIONS = [
    RefusedExpectation("expected-version", {"schemaVersion": "2"}, ['schemaVersion: must be "1.0.0", not "2"']),
    RefusedExpectation(
        "expected-of-another-fixture-set",
        {"fixtureSetId": "other"},
        ['fixtureSetId: must be that of the case file, not "other"'],
    ),
    RefusedExpectation("expected-fixture-set-unfit", {"fixtureSetId": "O"}, [f'fixtureSetId: {ID}"O"']),
    RefusedExpectation("expected-unknown-field", {"cases": []}, ['root: has the unknown field "cases"']),
    RefusedExpectation("expected-no-results", results(), ["results: must have 1 to 64 items, not 0", NO_RESULT]),
    RefusedExpectation("expected-results-no-array", {"results": {}}, ["results: must be an array, not an object"]),
    RefusedExpectation("expected-result-no-object", results(5), ["results[0]: must be an object, not 5", NO_RESULT]),
    RefusedExpectation(
        "expected-judgment",
        results({**RESULT, "judgment": "passed"}),
        ['results[0].judgment: must be "pass" or "fail" or "insufficient_evidence", not "passed"'],
    ),
    RefusedExpectation(
        "expected-reason-twice",
        results({**RESULT, "reasonCodes": ["a", "a"]}),
        ['results[0].reasonCodes[1]: must be unique, but [0] also has "a"'],
    ),
    RefusedExpectation(
        "expected-reason-unfit", results({**RESULT, "reasonCodes": ["A"]}), [f'results[0].reasonCodes[0]: {ID}"A"']
    ),
    RefusedExpectation(
        "expected-explanation-empty", results({**RESULT, "explanation": ""}), [f'results[0].explanation: {TEXT}""']
    ),
    RefusedExpectation(
        "expected-unknown-id",
        results(RESULT, {**RESULT, "id": "other"}),
        ['results[1].id: must be the id of a case, not "other"'],
    ),
    RefusedExpectation(
        "expected-id-twice",
        results(RESULT, RESULT),
        ['results[1].id: must be unique, but [0] also has "complete-answer"'],
    ),
    RefusedExpectation(
        "expected-id-missing",
        results({**RESULT, "id": "other"}),
        ['results[0].id: must be the id of a case, not "other"', NO_RESULT],
    ),
    RefusedExpectation(
        "expected-fields-missing",
        results({"id": "complete-answer"}),
        [f"results[0].{name}: is missing" for name in ("judgment", "reasonCodes", "explanation")],
    ),
]
