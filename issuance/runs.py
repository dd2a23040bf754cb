"""The runs of a store: found by folder, id or "latest", and read back by hash."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Any, NamedTuple

import answer_format
from answer_format import Problems, Unreadable, quoted
from issuance import cards, fields, formats, job, knowledge, metrics, report, schemas, seal, snapshots, texts
from issuance.caliber import Caliber
from issuance.cards import Card
from issuance.evidence import Evidence
from issuance.fields import Field
from issuance.job import Job
from issuance.listing import STORED
from issuance.report import Report
from issuance.seal import Malformed, Sealed, Unsealed
from issuance.snapshots import Snapshot
from issuance.store import EVENTS, RECORD, RUN_ID, Damaged, Store, StoreFault, faults, read_whole


class NoRun(Exception):
    """There is no such run; raised with what was asked for and a sentence."""


class Unfit(Exception):
    """What a run holds does not fit together; raised with a sentence."""


class Run(NamedTuple):
    """A run's folder as it is; events and record are None where their file is missing."""

    store: Store
    folder: str
    events: bytes | None
    record: bytes | None

    @property
    def name(self) -> str:
        return os.path.basename(os.path.abspath(self.folder))


def find(reference: str, root: str) -> Run:
    """A run by its folder, its id, or "latest". Raises NoRun and StoreFault."""
    store = Store(root)
    if reference == "latest":
        ids = store.runs()
        if not ids:
            raise NoRun(root, "holds no runs")
        return open_run(store, store.folder(ids[-1]))
    if RUN_ID(reference):
        if not is_folder(store.folder(reference)):
            raise NoRun(root, f"holds no run {reference}")
        return open_run(store, store.folder(reference))
    if is_folder(reference):
        return open_run(store_around(reference) or store, reference)
    if os.path.lexists(reference):
        raise NoRun(reference, "is no run's folder")
    raise NoRun(root, f"holds no run {quoted(reference)}, and there is no such folder")


def is_folder(path: str) -> bool:
    """Whether there is a folder; one that may not be looked into is not taken for none. Raises StoreFault."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as fault:
        raise StoreFault(path, f"cannot be read: {fault.strerror}") from None


def store_around(folder: str) -> Store | None:
    """The store that a run's folder is in, if it is in one."""
    with faults(folder, "cannot be read"):
        root = os.path.dirname(os.path.dirname(os.path.realpath(folder)))
        if not os.path.isdir(os.path.join(root, "artifacts")):
            return None
        near = os.path.relpath(root)
        return Store(root if near.startswith(os.pardir) else near)


def open_run(store: Store, folder: str) -> Run:
    run = Run(store, folder, read_if_there(folder, EVENTS), read_if_there(folder, RECORD))
    if run.events is None and run.record is None and not RUN_ID(run.name):
        raise NoRun(folder, "is no run's folder")
    return run


def read_if_there(folder: str, name: str) -> bytes | None:
    path = os.path.join(folder, name)
    with faults(path, "cannot be read"):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return None
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode) and os.path.isfile(path):
            return read_whole(path)
    return b""  # a folder, a device, a link to nothing: there, but not what a run writes


def sealed_events(run: Run) -> Sealed:
    """The events of a run that is sealed: ended, and with its record. Raises Unsealed and Malformed."""
    if run.record is None:
        seal.sealed_part(run.events or b"")
        raise Unsealed(f"{RECORD} is missing: the run is not sealed")
    if run.events is None:
        raise Malformed("is missing")
    try:
        return seal.read(run.events)
    except Unsealed:
        raise Malformed(f"has no end, but {RECORD} has a seal") from None


def whole_events(run: Run) -> Sealed:
    """The same of a run whose record and name are what its events say. Raises Unsealed and Unfit."""
    try:
        sealed = sealed_events(run)
    except Malformed as fault:
        raise Unfit(f"does not hold: {EVENTS}: {fault.args[0]}") from None
    if run.record != seal.record_bytes(sealed):
        raise Unfit(f"does not hold: {RECORD} is not what the sealed events say")
    if sealed.started["run_id"] != run.name:
        raise Unfit(f"does not hold: it is the run {sealed.started['run_id']} under another name")
    return sealed


def unsealed_events(run: Run) -> Sealed:
    """The events that a run without a seal has, as far as it came. Raises Unfit."""
    try:
        sealed = seal.read_unsealed(run.events or b"")
    except Malformed as fault:
        raise Unfit(f"does not hold: {EVENTS}: {fault.args[0]}") from None
    if sealed.started["run_id"] != run.name:
        raise Unfit(f"does not hold: it is the run {sealed.started['run_id']} under another name")
    return sealed


class Held:
    """What a run's sealed events name, read from the store by hash. Reading raises Damaged and Unfit."""

    def __init__(self, store: Store, sealed: Sealed) -> None:
        self.store = store
        self.sealed = sealed

    def job(self) -> Job:
        problems = Problems()
        found = job.read(self.store.get(self.sealed.started["job"]), "job", problems)
        return found if found is not None else unfit(problems)

    def card(self, hash: str) -> Card:
        problems = Problems()
        found = cards.read(self.store.get(hash), "card", problems)
        return found if found is not None else unfit(problems)

    def snapshots(self) -> dict[str, Snapshot | str]:
        """The snapshot of each query, or why there is none."""
        found: dict[str, Snapshot | str] = {}
        for event in self.sealed.queries:
            found[event["query"]] = f"{event['outcome']}: {event['message']}"
            if event["snapshot"]:
                problems = Problems()
                snapshot = snapshots.decode(self.store.get(event["snapshot"]), event["snapshot"], problems)
                found[event["query"]] = snapshot if snapshot is not None else unfit(problems)
        return found

    def schema(self, hash: str) -> dict[str, Any]:
        problems = Problems()
        found = schemas.decode(self.store.get(hash), problems)
        return found if found is not None else unfit(problems)

    def narrative(self) -> str | None:
        checked = self.sealed.checked or {}
        return self.text("the narrative", checked["narrative"]) if checked.get("narrative") else None

    def draft(self) -> str | None:
        checked = self.sealed.checked or {}
        return self.text("draft", checked["draft"]) if checked.get("draft") else None

    def knowledge(self) -> list[tuple[str, str]]:
        """The paths and the texts of what a report may quote."""
        hashes = self.sealed.started["knowledge"]
        paths = self.job().knowledge
        if len(paths) != len(hashes):
            raise Unfit("the events have other knowledge than the job")
        return [(path, self.text(path, hash)) for path, hash in zip(paths, hashes)]

    def text(self, what: str, hash: str) -> str:
        try:
            return texts.decode(self.store.get(hash))
        except Unreadable as fault:
            raise Unfit(f"{what} is no text: {fault.args[1]}") from None

    def fields(self) -> dict[str, Field]:
        hash = self.sealed.started["fields"]
        if hash is None:
            return {}
        problems = Problems()
        found = fields.read(self.store.get(hash), "fields", self.job(), problems)
        return unfit(problems) if problems.count else found

    def schemas(self) -> dict[str, bytes]:
        """The schema of each source that a query is on, in the order of the job's sources."""
        hashes = {event["source"]: event["schema"] for event in self.sealed.queries}
        return {id: self.store.get(hashes[id]) for id in self.job().sources if id in hashes}

    def document(self) -> dict[str, Any]:
        """The report as it is stored."""
        assert self.sealed.checked is not None
        problems = Problems()
        data = self.store.get(self.sealed.checked["document"])
        content: dict[str, Any] = formats.parse(data, report.DOCUMENT, "document", problems)
        return unfit(problems) if problems.count else content

    def numbers(self) -> list[dict[str, Any]]:
        """The numbers of the text as they are stored."""
        assert self.sealed.checked is not None
        problems = Problems()
        content = formats.parse(self.store.get(self.sealed.checked["numbers"]), STORED, "numbers", problems)
        return unfit(problems) if problems.count else list(content["numbers"])

    def evidence(self) -> Evidence:
        """What the report can cite."""
        known = [formats.parse(data, formats.anything, "schema", Problems()) for data in self.schemas().values()]
        chunks = knowledge.chunks(self.knowledge())
        return Evidence(self.job(), self.computed(), known, chunks, self.intact)

    def intact(self, hash: str) -> bool:
        try:
            self.store.get(hash)
        except Damaged:
            return False
        return True

    def report(self) -> Report | None:
        """The report, composed again from its draft."""
        draft, contract = self.draft(), self.job().contract
        return None if draft is None else report.compose(draft, self.evidence(), contract.allow if contract else [])

    def bump(self) -> dict[str, Any]:
        """What was said where a newer version of the card computed than the pinned one."""
        assert self.sealed.computed is not None
        problems = Problems()
        content: dict[str, Any] = formats.parse(self.store.get(self.sealed.computed["bump"]), BUMP, "bump", problems)
        return unfit(problems) if problems.count else content

    def metric_set(self) -> list[dict[str, Any]]:
        """The metrics as they were stored."""
        if self.sealed.computed is None:
            return []
        problems = Problems()
        content = formats.parse(
            self.store.get(self.sealed.computed["metric_set"]), metrics.METRIC_SET, "metric set", problems
        )
        return unfit(problems) if problems.count else list(content["metrics"])

    def computed(self) -> Caliber:
        """The card, computed again from the snapshots."""
        if self.sealed.computed is None:
            raise Unfit("the run failed before its metrics were computed")
        return self.caliber(self.card(self.sealed.computed["card"]))

    def caliber(self, card: Card) -> Caliber:
        return Caliber(card, self.snapshots(), self.sealed.started["inputs"], self.fields())


BUMP = formats.record_with(
    {"policy": answer_format.LABEL, "pinned": formats.VERSION, "newest": formats.VERSION},
    {
        "values": formats.anything,
        "comparable": formats.BOOLEAN,
        "runs": answer_format.array(
            formats.record_with(
                {"run_id": answer_format.LABEL, "card": answer_format.or_null(formats.VERSION)},
                {"values": formats.anything, "not_computed": formats.anything},
            ),
            0,
            10_000_000,
        ),
    },
)


def unfit(problems: Problems) -> Any:
    """Raise Unfit with the first of some problems."""
    file, where, sentence = problems.first[0]
    raise Unfit(f"{file}: {where}: {sentence}" if where else f"{file}: {sentence}")


def earlier(store: Store, job_id: str, card: Card) -> list[dict[str, Any]]:
    """The old and new values of a job's sealed runs, computed again with a card from their own snapshots."""
    found = []
    for run_id in store.runs():
        entry: dict[str, Any] = {"run_id": run_id, "card": None}
        try:
            run = open_run(store, store.folder(run_id))
            if recorded_job(run) != job_id:
                continue
            sealed = whole_events(run)
            if sealed.computed is None:
                continue
            entry["card"] = sealed.computed["version"]
            entry["values"] = changes(Held(store, sealed), card)
        except (NoRun, StoreFault, Unsealed):
            continue
        except (Damaged, Unfit) as fault:
            entry["not_computed"] = fault.args[-1]
        found.append(entry)
    return found


def recorded_job(run: Run) -> Any:
    """The id of the job that a run's record names; None where it has none."""
    try:
        record = answer_format.parse_json(run.record or b"")
    except Unreadable:
        return None
    return record.get("job_id") if isinstance(record, dict) else None


def changes(held: Held, card: Card) -> list[dict[str, Any]]:
    """Each metric's value in a run, and what another card makes of the run's data; null where there is none."""
    old = {metric["id"]: metric["value"] for metric in held.metric_set()}
    new = held.caliber(card)
    ids = dict.fromkeys([*old, *card.metrics])
    return [{"metric": id, "old": old.get(id), "new": new.value_text(id)} for id in ids]


def listing(store: Store) -> list[dict[str, Any]]:
    """Each run of a store, the oldest first: id, job, time, tier and seal, or why it has none."""
    found = []
    for run_id in store.runs():
        entry: dict[str, Any] = {"run_id": run_id, "job": None, "time": None, "tier": None, "seal": None, "note": ""}
        try:
            run = open_run(store, store.folder(run_id))
            with contextlib.suppress(Malformed):
                sealed = sealed_events(run)
                entry.update(job=sealed.started["job_id"], time=sealed.started["at"])
            sealed = whole_events(run)
            entry.update(tier=(sealed.decided or {}).get("tier"), seal=sealed.seal)
        except Unsealed:
            entry["note"] = "not sealed"
        except (Unfit, StoreFault) as fault:
            entry["note"] = fault.args[-1]
        found.append(entry)
    return found
