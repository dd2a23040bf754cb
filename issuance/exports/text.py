"""The text export: the rendered Markdown under the verdict."""

from __future__ import annotations

import html

from issuance import cards
from issuance.listing import shown
from issuance.runs import Held
from issuance.seal import FAILED


def as_text(held: Held) -> bytes:
    """The verdict, its reasons and what is missing as a Markdown quote, then the document byte for byte.

    A run for metrics only has no document; its metrics stand in its place as a table. Raises Damaged and Unfit.
    """
    checked = held.sealed.checked or {}
    if checked.get("draft"):
        body = str(held.document()["text"]).encode("utf-8")
    elif checked.get("document"):
        body = held.store.get(checked["document"])
    else:
        body = metrics_table(held).encode("utf-8")
    return head(held).encode("utf-8") + b"\n" + body


def head(held: Held) -> str:
    sealed = held.sealed
    decided, computed = sealed.decided or {}, sealed.computed or {}
    tier = decided.get("tier")
    verdict = "NOT ISSUED" if tier in (None, "withheld") else "ISSUED"
    lines = [
        f"**{verdict}: {tier or 'failed'}**",
        f"Report: {escaped(sealed.started['title'])}",
        f"run {sealed.started['run_id']}, data as of {sealed.started['at']}",
        f"seal {sealed.seal}",
    ]
    if sealed.ended["type"] == FAILED:
        lines.append(escaped(sealed.ended["message"]))
    lines += [f"{reason['code']}: {escaped(reason['message'])}" for reason in decided.get("reasons", [])]
    lines += [f"missing: {entry['metric']}, {escaped(entry['reason'])}" for entry in computed.get("missing", [])]
    return "".join(f"> {line}  \n" for line in lines)


def metrics_table(held: Held) -> str:
    rows = ["| metric | value |", "| --- | --- |"]
    caliber = held.computed()
    for id, metric in caliber.card.metrics.items():
        value = cards.shown(metric, caliber.values[id]) if id in caliber.values else caliber.troubles[id][0]
        rows.append(f"| {escaped(metric.name)} | {escaped(value)} |")
    return "".join(f"{row}\n" for row in rows)


def escaped(text: str) -> str:
    """A text of data in one line of Markdown in which nothing of it is markup."""
    plain = html.escape(shown(text.replace("\n", " ").replace("\t", " ")), quote=False)
    return "".join(f"\\{char}" if char in "\\`*_[]|#!~" else char for char in plain)
