"""What the panel shows while nothing is chosen: what has no evidence, claims, warnings, the seal, later events."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from issuance.exports.elements import add, section, write, write_all
from issuance.exports.material import Material
from issuance.exports.places import Place

WHAT_A_SEAL_SHOWS = (
    "These checks were made when this file was written. A seal shows that nothing has changed since the run ended; not "
    "who made it, or when: compare it with one that you were given."
)


def parts(material: Material) -> list[Element]:
    """The lists of what has no evidence, and what was said of the rest."""
    return [without_evidence(material), suspicious(material), allowed(material), claims(material), warnings(material)]


def listed(part: Element, place: Place, text: str) -> Element:
    """An entry of a list for a place of the text, which it links to."""
    entry = add(part, "li", id=f"e-{place.id}")
    add(entry, "a", text, href=f"#{place.id}", class_="back")
    return entry


def without_evidence(material: Material) -> Element:
    """The numbers that nothing backs, each with the sealed values that are the same, if any."""
    part = section("without-evidence", "Numbers without evidence", True)
    guesses = {(one["start"], one["end"]): one["sources"] for one in material.groups["guessed"]}
    bare = {(one["start"], one["end"]) for one in material.groups["no_evidence"]} | guesses.keys()
    found = None
    for place in material.places:
        number = place_number(material, place)
        if number is None or (number["start"], number["end"]) not in bare:
            continue
        found = found if found is not None else SubElement(part, "ul")
        entry = listed(found, place, number["text"])
        write(entry, f": {number['reason'] or 'the run has no contract, so that nothing says what it is'}")
        for guess in guesses.get((number["start"], number["end"]), ()):
            add(entry, "br")
            write_all(entry, f"{guess['label']}: {guess['source']}")
    return part


def place_number(material: Material, place: Place) -> dict[str, Any] | None:
    return material.numbers[int(place.id[1:]) - 1] if place.id.startswith("n") else None


def suspicious(material: Material) -> Element:
    """What else violates the rules of the report: suspicious names, markers that do not resolve and so on."""
    part = section("suspicious", "Suspicious names and other violations", True)
    others = [place for place in material.places if place.kind == "violation"]
    messages = {one["text"]: f"{one['kind']}: {one['message']}" for one in material.document.get("violations", [])}
    unchecked = [place for place in material.places if place.status == "unchecked"]
    found = SubElement(part, "ul") if others or unchecked else part
    for place in others:
        text = material.text[place.start : place.end] if material.text else ""
        write(listed(found, place, text), f": {messages.get(text, place.note)}")
    for place in unchecked:
        text = material.text[place.start : place.end] if material.text else ""
        entry = add(found, "li")
        add(entry, "a", text, href=f"#{place.id}", class_="back")
        write(entry, f": {place.note}")
    return part


def allowed(material: Material) -> Element:
    part = section("allowed", "Numbers that the contract allows", True)
    found = None
    for place in material.places:
        if place.status == "allowed":
            found = found if found is not None else SubElement(part, "ul")
            number = place_number(material, place)
            entry = listed(found, place, number["text"] if number else "")
            write(entry, ": allowed by the contract, which is no evidence")
    return part


def claims(material: Material) -> Element:
    """The claim sentences that nothing backs, and what a judge said of the others."""
    part = section("claims", "Claims", True)
    judged = material.sealed.judged
    if judged is None or material.text is None:
        return part
    sentences = {one["id"]: material.text[one["start"] : one["end"]] for one in material.document["sentences"]}
    said = [(id, "cites nothing", "") for id in judged["gaps"]]
    said += [(one["sentence"], one["verdict"].replace("_", " "), one.get("reason", "")) for one in judged["verdicts"]]
    said += [(one["sentence"], "not judged", one["reason"]) for one in judged["unjudged"]]
    found = SubElement(part, "ul") if said else part
    for id, verdict, reason in said:
        entry = add(found, "li", class_="claim")
        add(entry, "q", sentences.get(id, id).lstrip("-*+> \t"))
        write(entry, " ")
        add(entry, "b", verdict)
        write(entry, f": {reason}" if reason else "")
    return part


def warnings(material: Material) -> Element:
    part = section("warnings", "Warnings", True)
    sealed = material.sealed
    said = [*(sealed.computed or {}).get("warnings", []), *(sealed.checked or {}).get("warnings", [])]
    said += (sealed.judged or {}).get("warnings", [])
    said += [f"{event['name']}: {message}" for event in sealed.queries for message in event["warnings"]]
    found = SubElement(part, "ul") if said else part
    for one in said:
        add(found, "li", one)
    return part


def seal(material: Material) -> Element:
    """Whether the run is sealed, and which checks held when the page was made."""
    part = section("seal", "Seal", True)
    sealed, verification = material.sealed, material.verification
    if not verification.sealed:
        add(part, "p", "This run is not sealed: nothing shows whether it has been changed.")
        return part
    write_all(add(part, "p", class_="facts"), "SHA-256 of the run's events: ", (sealed.seal, "seal"))
    found = add(part, "ul", class_="checks")
    for check in verification.checks:
        entry = add(found, "li", class_=check["status"])
        write(entry, f"{check['code']}: {check['status'].replace('_', ' ')}")
    add(part, "p", WHAT_A_SEAL_SHOWS)
    return part


def appended(material: Material) -> Element:
    """The events after the seal, which it does not cover."""
    part = section("appended", "Appended after sealing", True)
    lines = material.sealed.appended
    if not lines:
        return part
    add(part, "p", "The seal does not cover these events.")
    found = SubElement(part, "ul")
    for index, line in enumerate(lines):
        text = line.decode("utf-8", "backslashreplace").strip()
        where = f"appended.{index}" if text.isascii() and text.isprintable() else ""  # as all that are written here
        add(SubElement(found, "li"), "code", text, data_from=where)
    return part
