"""Judging claims: asking the judge that a job names, one claim at a time, within its caps."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from answer_format import Problems
from issuance import programs
from issuance.caliber import Caliber
from issuance.claims import VERDICT, Claim
from issuance.formats import is_decimal, parse
from issuance.job import Caps
from issuance.knowledge import Chunk
from issuance.listing import counted
from issuance.programs import Broken, NotStarted
from issuance.snapshots import Snapshot
from issuance.spending import Spending
from issuance.tracing import written

MOST_EVIDENCE = 200  # citations of one sentence that a judge is shown


class Judged(NamedTuple):
    """Verdicts by the ids of claims, and the claims that were left unjudged with the reason."""

    verdicts: list[dict[str, Any]]
    unjudged: list[dict[str, str]]
    warnings: list[str]


class Judge:
    """A judge command within its caps."""

    def __init__(
        self, command: list[str], folder: str, caps: Caps, spending: Spending, writer_model: str | None
    ) -> None:
        self.command = command
        self.folder = folder
        self.caps = caps
        self.spending = spending
        self.writer_model = writer_model
        self.spent = Decimal(0)
        self.price = Decimal(caps.click_usd or 0)  # what a call is taken to cost until its answer says it
        self.deadline = None if caps.report_seconds is None else time.monotonic() + float(caps.report_seconds)
        self.warnings: list[str] = []

    def all(self, found: Iterable[Claim], shown: Callable[[Claim], list[dict[str, Any]]]) -> Judged:
        """The verdicts of claims, as far as the caps let them be asked for."""
        verdicts: list[dict[str, Any]] = []
        unjudged: list[dict[str, str]] = []
        for number, claim in enumerate(found):
            try:
                self.check_caps(number)
                verdicts.append({"sentence": claim.id, **self.ask(claim, shown(claim))})
            except Broken as fault:
                unjudged.append({"sentence": claim.id, "reason": fault.args[0]})
        if said := warning_of_all(self.spent, self.caps):
            self.warnings.append(said)
        return Judged(verdicts, unjudged, list(dict.fromkeys(self.warnings)))

    def check_caps(self, asked: int) -> None:
        """Raise Broken where a cap of the report is reached."""
        caps = self.caps
        if caps.sentences is not None and asked >= caps.sentences:
            raise Broken(f"the cap of {counted(caps.sentences, 'sentence', 'sentences')} is reached")
        if caps.report_usd is not None and self.spent >= caps.report_usd:
            raise Broken(f"the cap of {written(caps.report_usd)} USD for a report is reached")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise Broken(f"the cap of {written(Decimal(caps.report_seconds or 0))} seconds for a report is reached")

    def ask(self, claim: Claim, evidence: list[dict[str, Any]]) -> dict[str, Any]:
        """The verdict on one claim. Raises Broken."""
        left = programs.SECONDS if self.deadline is None else max(self.deadline - time.monotonic(), 0.01)
        reserved = self.spending.reserve(self.price, self.caps.day_usd, left)
        known: Decimal | None = None  # of a call that gives no verdict, what was reserved counts
        try:
            if self.deadline is not None:
                left = max(self.deadline - time.monotonic(), 0.01)
            content = {"sentence": claim.text, "evidence": evidence}
            verdict = read_verdict(programs.run(self.command, self.folder, content, "the judge", left))
            known = Decimal(verdict["cost_usd"])
        except NotStarted:
            known = Decimal(0)
            raise
        finally:
            cost = self.spending.settle(reserved, known)
            self.spent += cost
        self.price = max(self.price, cost)
        self.warnings += warnings_of({"sentence": claim.id, **verdict}, self.caps, self.writer_model)
        return verdict


def warnings_of(verdict: Mapping[str, Any], caps: Caps, writer_model: str | None) -> Iterator[str]:
    """What is to be warned of in one verdict."""
    cost, cap = Decimal(verdict["cost_usd"]), caps.click_usd
    if cap is not None and cost > cap:
        yield f"{verdict['sentence']} cost {written(cost)} USD, more than the {written(cap)} USD for one claim"
    if writer_model is not None and verdict["model"] == writer_model:
        yield f"the judge is the writer's model, {writer_model}: it judges its own words"


def warning_of_all(spent: Decimal, caps: Caps) -> str:
    """What is to be warned of where all the claims of a report have cost so much; empty for nothing."""
    cap = caps.report_usd
    if cap is None or spent <= cap:
        return ""
    return f"the claims cost {written(spent)} USD, more than the cap of {written(cap)} USD"


SUM = re.compile("the claims cost ([0-9.]{1,60}) USD, ")


def inconsistency(judged: Mapping[str, Any], caps: Caps, writer_model: str | None) -> str:
    """What in recorded verdicts, their costs and warnings cannot have come of the caps; empty for nothing.

    A call that gave no verdict may have cost something too, which nothing says but the warning of the sum.
    """
    spent = Decimal(0)
    expected: list[str] = []
    for number, verdict in enumerate(judged["verdicts"]):
        if caps.sentences is not None and number >= caps.sentences:
            return "more claims were judged than the cap of sentences allows"
        if caps.report_usd is not None and spent >= caps.report_usd:
            return "a claim was judged when the cap of the report was reached"
        spent += Decimal(verdict["cost_usd"])
        expected += warnings_of(verdict, caps, writer_model)
    expected = list(dict.fromkeys(expected))
    said, rest = judged["warnings"][: len(expected)], judged["warnings"][len(expected) :]
    match = SUM.match(rest[0]) if rest else None
    total = Decimal(match[1]) if match and is_decimal(match[1]) else spent
    sums = [warning_of_all(total, caps)] if warning_of_all(total, caps) else []
    if said != expected or rest != sums or total < spent or total > spent and not judged["unjudged"]:
        return "the warnings are not those that the verdicts give"
    return ""


def read_verdict(answer: bytes) -> dict[str, Any]:
    """The verdict that a judge printed. Raises Broken."""
    problems = Problems()
    verdict = parse(answer, VERDICT, "verdict", problems)
    if problems.count:
        _, where, sentence = problems.first[0]
        raise Broken(f"the judge printed no verdict: {where}: {sentence}")
    return {**verdict, "cost_usd": written(Decimal(str(verdict["cost_usd"])))}


def shown_to(caliber: Caliber, chunks: Mapping[str, Chunk], claim: Claim) -> list[dict[str, Any]]:
    """What a judge is shown of the citations of a claim: metrics with their formulas, cells, quotes."""
    entries = []
    for citation in claim.citations[:MOST_EVIDENCE]:
        if citation["kind"] == "metric":
            entry = caliber.entry(caliber.card.metrics[citation["metric"]])
            names = ("id", "name", "unit", "rendered", "value", "expression", "substituted")
            entries.append({"kind": "metric", **{name: entry[name] for name in names}})
        elif citation["kind"] == "cell":
            found = caliber.snapshots[citation["query"]]
            assert isinstance(found, Snapshot)
            cell = found.rows[citation["row"]][found.places[citation["column"]]]
            entries.append({**citation, "value": None if cell is None else str(cell)})
        elif citation["kind"] == "quote":
            entries.append({**citation, "text": chunks[citation["chunk"]].text})
        else:
            entries.append(dict(citation))
    return entries
