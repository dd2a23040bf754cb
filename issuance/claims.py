"""Claims: the sentences of a report that say more than they show, what they rest on, and what a judge says of them.

A sentence of a paragraph or a list that is no question is a claim if it cites a value, or holds a word of direction,
comparison, superlative or cause. The judge only annotates: the tier follows from what it says, never the text.
"""

from __future__ import annotations

import bisect
import re
from decimal import Decimal
from typing import Any, NamedTuple

from answer_format import Leaf, Number, one_of, text_of
from issuance import prose
from issuance.formats import is_decimal, record_with
from issuance.pieces import VALUES
from issuance.report import Report

MOST_USD = 1_000_000  # that one verdict may say it has cost
VERDICTS = ("supported", "partially_supported", "unsupported", "not_a_claim")
WORDS = (
    # direction
    "rose|ris(?:e|es|en|ing)|fell|fall(?:s|en|ing)?|gr[eo]w(?:s|n|ing|th)?|gain(?:s|ed|ing)?|los(?:t|e|es|ing|s|ses)|"
    "increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|drop(?:s|ped|ping)?|climb(?:s|ed|ing)?|"
    "improv(?:e|es|ed|ing|ement)|worsen(?:s|ed|ing)?|shr[aiu]nk(?:s|ing)?|surg(?:e|es|ed|ing)|doubl(?:e|es|ed|ing)|"
    "recover(?:s|ed|ing|y)?|slow(?:s|ed|ing|er)|accelerat(?:e|es|ed|ing)|"
    # comparison
    "more|less|fewer|higher|lower|larger|smaller|greater|better|worse|faster|exceed(?:s|ed|ing)?|outperform(?:s|ed)?|"
    "above|below|than|compared|up|down|went|"
    # superlative
    "most|least|highest|lowest|largest|smallest|greatest|best|worst|fastest|record|majority|"
    # cause
    "because|due to|owing to|thanks to|caus(?:e|es|ed|ing)|driven|drov?e(?:s)?|led to|leads to|result(?:s|ed|ing)? in|"
    "came from|comes from|therefore|hence|explain(?:s|ed)?|contribut(?:e|es|ed|ing)|attribut(?:e|es|ed|able)"
)
WORDS_ZH = (
    "增长|增加|上升|上涨|提高|提升|下降|下滑|下跌|减少|降低|回落|回升|扩大|缩小|改善|恶化|翻番|加快|放缓|"
    "高于|低于|多于|少于|超过|不及|优于|大于|小于|相比|更高|更低|更多|更少|"
    "最高|最低|最大|最小|最多|最少|最好|最差|最快|首位|第一|大部分|多数|"
    "主要来自|因为|由于|因此|所以|导致|得益于|受益于|归因于|造成|带动|推动|拉动|贡献|源于|来自"
)
CLAIMING = re.compile(rf"(?<![A-Za-z0-9])(?:{WORDS})(?![A-Za-z0-9])|{WORDS_ZH}", re.IGNORECASE)
QUESTION = re.compile(r"[?？][\"”’)\]*_]*\s*$")


class Claim(NamedTuple):
    """A sentence of the report that is a claim; citations are those within it, its basis included."""

    id: str  # S1, S2, ... through all sentences of the report
    text: str
    citations: list[dict[str, Any]]

    @property
    def is_gap(self) -> bool:
        """Whether it rests on nothing that is cited."""
        return not any(one["kind"] in (*VALUES, "quote", "basis") for one in self.citations)


def claims(report: Report) -> list[Claim]:
    """The claims of a report in their order."""
    starts = [sentence.start for sentence in report.sentences]
    cited: list[list[dict[str, Any]]] = [[] for _ in starts]
    for citation in report.citations:
        is_basis = citation.about["kind"] == "basis"
        index = bisect.bisect_left(starts, citation.start + (not is_basis)) - 1  # a basis ends a sentence
        if index >= 0 and (is_basis or citation.start < report.sentences[index].end):
            cited[index].append(citation.about)
    found = []
    for number, (sentence, citations) in enumerate(zip(report.sentences, cited), 1):
        text = report.text[sentence.start : sentence.end]
        words = prose.seen(text).plain.text
        if sentence.kind == "heading" or QUESTION.search(words):
            continue
        if any(one["kind"] in VALUES for one in citations) or CLAIMING.search(words):
            found.append(Claim(f"S{number}", text, citations))
    return found


class Claims(NamedTuple):
    """The claims of a report by their ids: those without a citation, verdicts, and those left unjudged with why."""

    ids: list[str]
    gaps: list[str]
    verdicts: list[dict[str, Any]]
    unjudged: list[dict[str, str]]
    warnings: list[str]


COST = Leaf(
    f"a number of dollars from 0 to {MOST_USD}",
    lambda value: (type(value) is int or isinstance(value, Number))
    and is_decimal(value)
    and 0 <= Decimal(value) <= MOST_USD
    and len(str(value)) <= 40,
)
VERDICT = record_with(
    {"verdict": one_of(*VERDICTS), "reason": text_of(4_096), "model": text_of(256), "cost_usd": COST}, {}
)
