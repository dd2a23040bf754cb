"""The page of a run: one HTML file in which every number opens its evidence.

The same run, the same options and the same version of the page give the same bytes, so that a bundle can be rendered
again and compared.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import string
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from issuance.exports import form, panel
from issuance.exports.body import Body
from issuance.exports.elements import Part, add, as_html, visible, write, write_all
from issuance.exports.material import Material
from issuance.listing import counted
from issuance.seal import FAILED

VERSION = "1"  # of the page: under another one a bundle cannot be compared
BEFORE_CHECK = (
    "This file can check itself where scripts may run. Anyone can check all of it: python3 -m issuance verify FILE"
)
FOLDER = os.path.dirname(os.path.abspath(__file__))
ISSUED, NOT_ISSUED, NOT_SEALED = "ISSUED", "NOT ISSUED", "NOT SEALED"


def render(material: Material, data: str = "") -> bytes:
    """The page of a run; data is what a bundle holds beside it. Raises Damaged and Unfit."""
    style, script = own_file("style.css"), own_file("panel.js")
    verdict = verdict_of(material)
    main, runs = report(material)
    if data:
        script = own_file("verification.js") + "\n" + script
        data += json_block("runs", runs)
    parts = {
        "classes": f"{'bundle' if data else 'report'} {verdict.lower().replace(' ', '-')}",
        "version": VERSION,
        "context": material.context,
        "title": html.escape(visible(material.sealed.started["title"])),
        "banner": "" if verdict == ISSUED else verdict,
        "style": style,
        "style_hash": digest(style),
        "script": script,
        "script_hash": digest(script),
        "head": as_html([head(material, verdict, bool(data))]),
        "report": as_html([main]),
        "panel": as_html(panel.panel(material)),
    }
    template = string.Template(own_file("page.html"))
    if data:
        data += json_block("form", form.digest(template.substitute(parts, data=data + json_block("form", ""))))
    return template.substitute(parts, data=data).encode("utf-8")


def own_file(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8", newline="") as file:
        return file.read()


def digest(text: str) -> str:
    """The SHA-256 of a text as a content security policy has it."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def json_block(id: str, content: Any) -> str:
    """JSON as an element that nothing runs."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{id}">{text}</script>\n'


def verdict_of(material: Material) -> str:
    if not material.verification.sealed:
        return NOT_SEALED
    tier = (material.sealed.decided or {}).get("tier")
    return NOT_ISSUED if tier in (None, "withheld") else ISSUED


def head(material: Material, verdict: str, bundle: bool) -> Element:
    """The verdict, and how much it rests on."""
    sealed = material.sealed
    top = Element("header")
    stamp = add(top, "p", class_="stamp")
    add(stamp, "strong", verdict, id="verdict")
    write(stamp, " ")
    if sealed.decided:
        add(stamp, "span", sealed.decided["tier"], id="tier", data_from="decided.tier")
    elif sealed.ended.get("type") == FAILED:
        add(stamp, "span", "failed", id="tier")
    if sealed.started["mode"] == "exploratory":
        write(stamp, " ")
        add(stamp, "span", "exploratory", class_="mode", data_from="started.mode")
    add(top, "h1", sealed.started["title"], data_from="started.title")
    facts(top, material)
    declaration(top, material)
    if bundle:
        part = add(top, "section", id="verification", data_state="checking", aria_live="polite")
        add(part, "p", BEFORE_CHECK, id="verification-text")
        add(part, "ul", id="verification-parts")
        add(part, "button", "Check again", type="button", id="verify")
    return top


def facts(top: Element, material: Material) -> None:
    """When the data was read, and which run this is."""
    sealed = material.sealed
    found = add(top, "dl", class_="facts")

    def fact(name: str, *parts: Part) -> None:
        pair = SubElement(found, "div")
        add(pair, "dt", name)
        write_all(SubElement(pair, "dd"), *parts)

    times = [event["at"] for event in sealed.queries]
    if times:
        last = len(times) - 1
        until: list[Part] = [" to ", (times[-1], f"queries.{last}.at")] if times[-1] != times[0] else []
        fact("Data as of", (times[0], "queries.0.at"), *until)
    computed = sealed.computed
    if computed:
        version = computed["version"], "computed.version"
        fact("Caliber card", (computed["name"], "computed.name"), " version ", version)
        if computed["on_version_bump"]:
            fact("Version bump", (computed["on_version_bump"], "computed.on_version_bump"), ", from version ",
                 (computed["pinned"], "computed.pinned"))  # fmt: skip
    if sealed.checked:
        counts = sealed.checked["summary"]
        fact("Numbers", *counts_of(counts))
    fact("Run", (sealed.started["run_id"], "started.run_id"), " of ", (sealed.started["job_id"], "started.job_id"))
    if not material.verification.sealed:
        fact("Seal", "none: the run is not sealed")
        return
    held = material.verification.holds
    fact("Seal", (sealed.seal, "seal"), ", holds" if held else ", DOES NOT HOLD")


def counts_of(counts: dict[str, int]) -> list[Part]:
    parts: list[Part] = []
    for name in ("traced", "untraced", "allowed"):
        if counts[name] or name == "traced":
            parts += [", " if parts else "", (str(counts[name]), f"checked.summary.{name}"), f" {name}"]
    return parts


def declaration(top: Element, material: Material) -> None:
    """What keeps the report from being formal, and what of it is missing."""
    sealed = material.sealed
    part = add(top, "section", id="declaration")
    reasons = (sealed.decided or {}).get("reasons", [])
    missing = (sealed.computed or {}).get("missing", [])
    if sealed.ended.get("type") == FAILED:
        add(part, "p", sealed.ended["message"], data_from="ended.message")
    if not material.verification.sealed:
        add(part, "p", "The run was stopped before it was sealed: nothing of this has been issued.")
    for check in material.verification.checks if material.verification.sealed else ():
        if check["status"] != "pass":
            add(part, "p", f"{check['code']}: {check['message']}", class_="differs")
    found = SubElement(part, "ul") if reasons or missing else part
    for index, reason in enumerate(reasons):
        entry = SubElement(found, "li")
        add(entry, "code", reason["code"], data_from=f"decided.reasons.{index}.code")
        write(entry, " ")
        add(entry, "span", reason["message"], data_from=f"decided.reasons.{index}.message")
    for index, one in enumerate(missing):
        entry = SubElement(found, "li")
        write(entry, "missing ")
        add(entry, "code", one["metric"], data_from=f"computed.missing.{index}.metric")
        write(entry, " ")
        add(entry, "span", one["reason"], data_from=f"computed.missing.{index}.reason")
    if len(part) == 0:
        number = counted(len(material.metrics), "metric is", "metrics are")
        add(part, "p", f"Nothing is missing: {number} there, and every check ran and held.")


def report(material: Material) -> tuple[Element, list[list[int | str]]]:
    """The text of the report, and which parts of it are shown where; for metrics only, the metrics."""
    main = Element("main", {"id": "report", "lang": ""})
    if material.text is None:
        metrics(main, material)
        return main, []
    body = Body(material.text, material.places)
    body.write(main)
    return main, body.runs


def metrics(main: Element, material: Material) -> None:
    """The metrics of a run without a text."""
    if not material.metrics:
        add(main, "p", "The run has no text and no metrics.")
        return
    table = add(add(main, "div", class_="wide"), "table", class_="metrics")
    for index, entry in enumerate(material.metrics):
        line = SubElement(SubElement(table, "tbody") if not index else table[0], "tr")
        add(line, "th", entry["name"], data_from=f"set.metrics.{index}.name")
        id, missing = f"n{index + 1}", entry["value"] is None
        field = "status" if missing else "rendered"
        link = add(
            add(line, "td", class_="amount"), "a", entry[field], id=id, class_="number", href=f"#m-{entry['id']}",
            data_place=id, data_status="untraced" if missing else "traced", data_evidence=f"m-{entry['id']}",
        )  # fmt: skip
        link.set("data-from", f"set.metrics.{index}.{field}")
