"""A job with everything that it names but its sources: read, and found to fit together before anything runs."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import NamedTuple

import answer_format
from answer_format import Problems
from issuance import cards, fields, job, texts
from issuance.cards import Card
from issuance.fields import Field
from issuance.formats import MAX_BYTES
from issuance.job import Job


class Versioned(NamedTuple):
    """A card and the bytes that it was read from."""

    card: Card
    data: bytes
    file: str


class Plan(NamedTuple):
    job: Job
    file: str
    folder: str
    card: Versioned  # the one that computes
    pinned: Versioned | None  # the pinned one, where a newer one computes
    newer: int | None  # the newest version, where it is newer than the pinned one
    narrative: tuple[bytes, str] | None
    draft: tuple[bytes, str] | None
    knowledge: list[tuple[bytes, str]]
    fields: tuple[bytes, dict[str, Field]] | None


def load(path: str, problems: Problems, given: list[str], decided: bool) -> Plan | None:
    """The plan of a job file with the inputs of --input; None, and problems, where it cannot be used.

    decided says that a formal job must have decided what a newer version of its card means.
    """
    found = job.load(path, problems)
    if found is None:
        return None
    problems.file = "--input"
    for argument in given:
        try:
            found = job.override(found, argument)
        except ValueError as fault:
            problems.add(None, fault.args[0])
    return with_files(found, path, problems, decided and found.mode == "formal")


def with_files(found: Job, path: str, problems: Problems, decided: bool) -> Plan | None:
    folder = os.path.dirname(path)
    pinned = choose(found, path, problems)
    if pinned is None:
        return None
    newer = newest(found, pinned, problems)
    computing = pinned
    if decided and (undecided := complaint(found, pinned, newer)):
        problems.file = path
        problems.add("caliber.on_version_bump", undecided)
    if newer and found.on_version_bump:
        beside = os.path.join(os.path.dirname(pinned.file), f"{pinned.card.name}@{newer}.json")
        read = read_card(folder, beside, problems)
        computing = read or pinned
    said = None if found.fields is None else fields.load(job.within(folder, found.fields), found, problems)
    fit(found, path, computing, problems, said[1] if said else ())
    knowledge = [texts.read(job.within(folder, name), problems) for name in found.knowledge]
    narrative, draft = (
        None if name is None else texts.read(job.within(folder, name), problems)
        for name in (found.narrative, found.report and found.report.draft)
    )
    if problems.count:
        return None
    superseded = pinned if computing is not pinned else None
    return Plan(found, path, folder, computing, superseded, newer, narrative, draft, knowledge, said)


def choose(found: Job, path: str, problems: Problems) -> Versioned | None:
    """The card of the version that the job pins; where it pins none, the one that it names."""
    folder = os.path.dirname(path)
    named = read_card(folder, job.within(folder, found.card), problems)
    if named is None or found.version in (None, named.card.version):
        return named
    beside = f"{named.card.name}@{found.version}.json"
    other = os.path.join(os.path.dirname(named.file), beside)
    if not os.path.exists(other):
        problems.file = path
        problems.add("caliber.version", f"there is no {beside} beside", found.card)
        return None
    return read_card(folder, other, problems)


def read_card(folder: str, path: str, problems: Problems) -> Versioned | None:
    """A card, which has the name and version that its file's name says where that says one."""
    problems.file = path
    if not job.is_under(folder, path):
        problems.add(None, "must stay under the job's folder")
        return None
    try:
        data = answer_format.read_bytes(path, MAX_BYTES)
    except answer_format.Unreadable as fault:
        problems.add(*fault.args)
        return None
    card = cards.read(data, path, problems)
    if card is None:
        return None
    name, at, rest = os.path.basename(path).rpartition("@")
    if at and rest != f"{card.version}.json" or at and name != card.name:
        problems.add("version", f"its name and version are {card.name}@{card.version}, but the file's are others")
        return None
    return Versioned(card, data, path)


def newest(found: Job, pinned: Versioned, problems: Problems) -> int | None:
    """The newest version beside the pinned one, if that is newer."""
    if found.version is None:
        return None
    try:
        version = max(cards.versions_beside(pinned.file, pinned.card.name), default=0)
    except OSError as fault:
        problems.file = pinned.file
        problems.add(None, f"its folder cannot be read: {fault.strerror}")
        return None
    return version if version > found.version else None


def complaint(found: Job, pinned: Versioned, newer: int | None) -> str:
    """What a job has yet to say of a newer version than the one that it pins; empty where it needs to say nothing."""
    if newer is None or found.on_version_bump:
        return ""
    beside = f"{pinned.card.name}@{newer}.json is newer than the pinned version {found.version}"
    return f"must say recompute, dual or incomparable, as {beside}"


def undecided(plan: Plan) -> str:
    """The same of a plan."""
    return complaint(plan.job, plan.card, plan.newer)


def fit(found: Job, path: str, computing: Versioned, problems: Problems, known_fields: Container[str]) -> None:
    """Problems where the card refers to what the job does not have, or the contract to what the card does not."""
    problems.file = computing.file
    known: dict[str, Container[str]] = {"input": found.inputs, "field": known_fields, "metric": computing.card.metrics}
    for index, metric in enumerate(computing.card.metrics.values()):
        for reference in metric.expression.references:
            if reference.name not in known.get(reference.kind, found.queries):
                what = reference.kind if reference.kind in known else "query"
                sentence = f"column {reference.start + 1}: the job has no {what}"
                problems.add(cards.place(index), sentence, reference.name)
    problems.file = path
    for part in ("required", "expected") if found.contract else ():
        for index, id in enumerate(getattr(found.contract, part)):
            if id not in computing.card.metrics:
                problems.add(((((), "contract"), part), index), "must be a metric of the card, not", id)
