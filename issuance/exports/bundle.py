"""The bundle: a page that has the stored artifacts and the events of its run inside, byte for byte.

It is read back into a store of its own, so that the run in it is verified as any other, and rendered again to be
compared.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable

from issuance import seal
from issuance.exports import page
from issuance.exports.material import Material
from issuance.runs import Held, Run, Unfit
from issuance.seal import Malformed, Unsealed
from issuance.store import EVENTS, RECORD, Damaged, Store
from issuance.verifying import FAIL, NOT_CHECKED, PASS, Verification, verify

CODE = "bundle_renders"
BLOCK = re.compile(r'<script type="application/octet-stream" data-name="([a-z0-9.]{1,80})">([A-Za-z0-9+/=]*)</script>')
HEAD = re.compile(r'<html lang="en" class="([a-z -]{1,80})" data-page="([0-9]{1,9})" data-context="([0-9]{1,4})">')
AT = re.compile(r'id="([^"]{1,200})"')


class NoBundle(Exception):
    """A file is no bundle; raised with a sentence."""


class Packed(Store):
    """The artifacts of a bundle, by their hashes, and no other run."""

    def __init__(self, parts: dict[str, bytes]) -> None:
        super().__init__("")
        self.parts = parts

    def get(self, hash: str) -> bytes:
        if hash not in self.parts:
            raise Damaged(hash, f"the artifact {hash} is not in the bundle")
        if hashlib.sha256(self.parts[hash]).hexdigest() != hash:
            raise Damaged(hash, f"the artifact {hash} does not have the bytes that its name says")
        return self.parts[hash]

    def runs(self) -> list[str]:
        return []


def render(material: Material, events: bytes, record: bytes) -> bytes:
    """The bundle of a run. Raises Damaged and Unfit."""
    parts = {EVENTS: events, RECORD: record}
    for _, hash in seal.artifacts(material.sealed):
        parts[hash] = material.held.store.get(hash)
    return page.render(material, "".join(block(name, data) for name, data in parts.items()))


def block(name: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return f'<script type="application/octet-stream" data-name="{name}">{text}</script>\n'


def unpack(data: bytes) -> tuple[Run, int, str]:
    """The run in a bundle, the context of its rows, and the version of its page. Raises NoBundle."""
    text = data.decode("utf-8", "replace")
    found = HEAD.search(text, 0, 2_000)
    if found is None:
        raise NoBundle("is no file that export has written")
    parts: dict[str, bytes] = {}
    for name, packed in BLOCK.findall(text):
        try:
            parts.setdefault(name, base64.b64decode(packed, validate=True))
        except binascii.Error:
            raise NoBundle(f"holds {name} as what is no base64") from None
    if not parts and found[1].startswith("report"):
        raise NoBundle("is a report, which holds no data to verify: export the run with --bundle")
    events, record = parts.pop(EVENTS, None), parts.pop(RECORD, None)
    return Run(Packed(parts), run_id(events), events, record), int(found[3]), found[2]


def run_id(events: bytes | None) -> str:
    """What the folder of the run in a bundle was called: its id."""
    try:
        return str(seal.read(events or b"").started["run_id"])
    except (Malformed, Unsealed):
        return "unknown"


def verify_bundle(data: bytes, given: str | None, progress: Callable[[str], None]) -> Verification:
    """All checks of the run in a bundle, and that the file is what the run renders to. Raises NoBundle."""
    run, context, version = unpack(data)
    found = verify(run, given, progress)
    progress(CODE)
    try:
        plainly = found if found.holds or given is None else verify(run, None, progress)  # as the page was made
        status, message = compared(data, run, context, version, plainly)
    except Damaged as fault:
        status, message = NOT_CHECKED, fault.args[1]
    except (Unfit, Malformed, Unsealed) as fault:
        status, message = NOT_CHECKED, fault.args[0]
    check = {"code": CODE, "status": status, "message": message}
    return found._replace(checks=[*found.checks, check])


def compared(data: bytes, run: Run, context: int, version: str, found: Verification) -> tuple[str, str]:
    """Whether a bundle is, byte for byte, what its own data renders to."""
    if version != page.VERSION:
        return NOT_CHECKED, f"it was written by version {version} of the page, this is {page.VERSION}"
    if run.record is None or run.events is None:
        return NOT_CHECKED, "run_record did not pass"
    material = Material(Held(run.store, seal.read(run.events)), found, context)
    again = render(material, run.events, run.record)
    if again == data:
        return PASS, "the file is what its data renders to, byte for byte"
    at = next((place for place, pair in enumerate(zip(again, data)) if pair[0] != pair[1]), min(len(again), len(data)))
    before = AT.findall(again[max(at - 20_000, 0) : at + 1].decode("utf-8", "replace"))
    near = f", after the element {before[-1]}" if before else ""
    return FAIL, f"the file is not what its data renders to: it differs from byte {at} on{near}"
