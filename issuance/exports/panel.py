"""The evidence beside a report, as elements: metrics, queries, inputs, chunks and names.

Every part has an id, to which the places of the text link; data-evidence names the parts that it rests on in turn. What
is repeated from sealed data says where it stands there (data-from), so that the page can hold it against the data.
"""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from issuance.exports import overview
from issuance.exports.elements import Part, add, section, write, write_all
from issuance.exports.material import Material
from issuance.exports.places import cell_id
from issuance.listing import counted
from issuance.snapshots import Snapshot

FIRST_ROWS = 5  # of a range that is aggregated
MASKED, NULL = "Masked", "null"


def panel(material: Material) -> list[Element]:
    """The parts of the panel in their order."""
    parts = overview.parts(material)
    parts += [metric(material, index) for index in range(len(material.metrics))]
    parts += [query(material, index) for index in range(len(material.sealed.queries))]
    parts += [inputs(material), *chunks(material), names(material)]
    parts += [overview.seal(material), overview.appended(material)]
    return [part for part in parts if len(part) > 1]


def metric(material: Material, index: int) -> Element:
    """The steps from the caliber card to the data that a metric was computed from."""
    entry, where = material.metrics[index], f"set.metrics.{index}"
    part = section(f"m-{entry['id']}", entry["name"], False, rests_on(material, entry))
    card = material.sealed.computed or {}
    value = add(part, "p", class_="value")
    if entry["value"] is None:
        write_all(value, (entry["status"], f"{where}.status"), ": ", (entry["reason"], f"{where}.reason"))
    else:
        add(value, "b", entry["rendered"], data_from=f"{where}.rendered")
    steps = add(part, "ol", class_="chain")
    step(steps, "Caliber card", (card["name"], "computed.name"), " version ", (card["version"], "computed.version"),
         ", metric ", (entry["id"], f"{where}.id"))  # fmt: skip
    step(steps, "Formula", (entry["expression"], f"{where}.expression"))
    if entry["value"] is None:
        return part
    step(steps, "With its values", (entry["substituted"], f"{where}.substituted"))
    said = ", as recorded" if entry["recomputes"] and material.passed("metrics_recompute") else ", WHICH DIFFERS"
    step(steps, "Recomputed", (entry["value"], f"{where}.value"), said)
    if entry["inputs"]:
        found = SubElement(step(steps, "Inputs against the snapshot"), "ul")
        for source in {json.dumps(source): source for source in entry["inputs"]}.values():
            input_of(found, material, source)
    return part


def step(steps: Element, title: str, *parts: Part) -> Element:
    found = SubElement(steps, "li")
    add(found, "b", title)
    write(found, " ")
    write_all(found, *parts)
    return found


def rests_on(material: Material, entry: dict[str, Any]) -> list[str]:
    """The ids of what a metric was computed from."""
    found = []
    for source in entry.get("inputs") or ():
        if "metric" in source:
            found.append(f"m-{source['metric']}")
        elif "input" in source:
            found.append(f"i-{source['input']}")
        elif "aggregate" in source:
            snapshot = material.snapshots[source["query"]]
            assert isinstance(snapshot, Snapshot)
            found.append(f"h-{source['query']}-{snapshot.places[source['column']]}")
        else:
            found.append(cell_id(source["query"], source["row"], source["column"], material.snapshots))
    return found


def input_of(found: Element, material: Material, source: dict[str, Any]) -> None:
    """One input of a metric, with its value where it has a cell of its own."""
    entry = SubElement(found, "li")
    if "metric" in source:
        add(entry, "a", source["metric"], href=f"#m-{source['metric']}")
        index = material.metric_places[source["metric"]]
        value = material.metrics[index]["value"], f"set.metrics.{index}.value"
        write_all(entry, " = ", value, ", computed by the card")
        return
    if "input" in source:
        add(entry, "a", source["input"], href=f"#i-{source['input']}")
        write(entry, ", an input of the run")
        return
    query, column, snapshot = source["query"], source["column"], material.snapshots[source["query"]]
    assert isinstance(snapshot, Snapshot)
    place = snapshot.places[column]
    held = ", as in the snapshot" if material.passed("metrics_recompute") else ", NOT AS IN THE SNAPSHOT"
    if "aggregate" in source:
        add(entry, "a", f"{source['aggregate']} of {query}, {column}", href=f"#h-{query}-{place}")
        write(entry, f" over {counted(source['rows'][1], 'row', 'rows')}{held}")
        return
    if "field" in source:
        write(entry, f"the field {source['field']} from ")
    add(entry, "a", f"{query}, row {source['row']}, {column}", href=f"#v-{query}-{source['row']}-{place}")
    where = f"snapshots.{query}.rows.{source['row']}.{place}"
    write_all(entry, " = ", (str(snapshot.rows[source["row"]][place]), where), held)
    if "warning" in source:
        write(entry, f"; {source['warning']}")
    if "line" in source:
        write(entry, f"; {source['file']}, line {source['line']}")


def query(material: Material, index: int) -> Element:
    """A query with its SQL and the rows that are cited, or why it has no result."""
    event = material.sealed.queries[index]
    id, snapshot = event["query"], material.snapshots[event["query"]]
    part = section(f"q-{id}", f"{event['name']} {id}")
    facts = add(part, "p", class_="facts")
    where = f"queries.{index}"
    write_all(facts, "From ", (event["source"], f"{where}.source"), ", read at ", (event["at"], f"{where}.at"))
    if isinstance(snapshot, str):
        write(facts, f". No result: {snapshot}.")
        return part
    about = snapshot.about
    if about["role"] == "compute":
        write(facts, ", computed in the sandbox")
    rows = f"{counted(len(snapshot.rows), 'row', 'rows')}{', TRUNCATED' if snapshot.truncated else ''}"
    write_all(facts, f". {rows}. Snapshot ", (snapshot.hash, f"{where}.snapshot"), ".")
    if about["receipt"]:
        write_all(facts, " Receipt ", (about["receipt"], f"snapshots.{id}.receipt"), ".")
    if about["file"]:
        write_all(facts, " File ", (about["file"], f"snapshots.{id}.file"), ".")
    if about["sql"]:
        add(SubElement(part, "pre"), "code", about["sql"], data_from=f"snapshots.{id}.sql")
    for name, value in (about["parameters"] or {}).items():
        entry = add(part, "p", class_="facts")
        write_all(entry, f":{name} = ", (str(value), f"snapshots.{id}.parameters.{name}"))
    excerpt(part, material, id, snapshot)
    return part


def excerpt(part: Element, material: Material, query: str, snapshot: Snapshot) -> None:
    """The rows that are cited with those around them, in the snapshot's order."""
    cited: set[tuple[int, int]] = material.cited_cells.get(query, set())
    near = around({row for row, _ in cited}, len(snapshot.rows), material.context)
    rows = sorted(near.union(range(min(FIRST_ROWS, len(snapshot.rows)))))
    table = add(add(part, "div", class_="wide"), "table", data_snapshot=query)
    head = SubElement(SubElement(table, "thead"), "tr")
    add(head, "th", "row")
    for place, name in enumerate(snapshot.names):
        add(head, "th", name, id=f"h-{query}-{place}", data_from=f"snapshots.{query}.columns.{place}.name")
    body, before = SubElement(table, "tbody"), -1
    hidden = [name in snapshot.masked for name in snapshot.names]
    for row in rows:
        if row != before + 1:
            add(add(body, "tr", class_="gap"), "td", "…", colspan=str(len(snapshot.names) + 1))
        before = row
        line = add(body, "tr", data_row=str(row))
        add(line, "th", str(row) if snapshot.lines is None else f"{row} (line {snapshot.lines[row]})")
        for place, cell in enumerate(snapshot.rows[row]):
            element = SubElement(line, "td")
            if (row, place) in cited:
                element.set("id", f"v-{query}-{row}-{place}")
            if hidden[place] or cell is None:
                add(element, "i", MASKED if hidden[place] else NULL)
            else:
                write(element, str(cell))
                if type(cell) is not str:
                    element.set("class", "amount")
    if before + 1 < len(snapshot.rows):
        add(add(body, "tr", class_="gap"), "td", "…", colspan=str(len(snapshot.names) + 1))


def around(rows: set[int], count: int, context: int) -> set[int]:
    """Rows with so many before and after each."""
    return {near for row in rows for near in range(max(row - context, 0), min(row + context + 1, count))}


def inputs(material: Material) -> Element:
    part = section("inputs", "Inputs of the run")
    found = SubElement(part, "ul") if material.sealed.started["inputs"] else part
    for name, value in material.sealed.started["inputs"].items():
        entry = add(found, "li", id=f"i-{name}")
        write_all(entry, f"{name} = ", (str(value), f"started.inputs.{name}"))
    return part


def chunks(material: Material) -> list[Element]:
    """The chunks that are quoted, with what is quoted of them marked."""
    quoted: dict[str, list[tuple[int, int]]] = {}
    for one in material.quotes() if material.citations else ():
        quoted.setdefault(one.chunk, []).append((one.start, one.end))
    return [chunk(material, name, found) for name, found in quoted.items()]


def chunk(material: Material, name: str, quoted: list[tuple[int, int]]) -> Element:
    found = material.chunks[name]
    part = section(f"k-{name}", f"{name} {found.file}")
    text = add(part, "blockquote", class_="chunk")
    cuts = sorted({0, len(found.text), *(end for pair in quoted for end in pair)})
    starts = {start for start, _ in quoted}
    for start, end in zip(cuts, cuts[1:]):
        words = found.text[start:end]
        if any(low <= start and end <= high for low, high in quoted):
            add(text, "mark", words, id=f"k-{name}-{start}" if start in starts else "")
        else:
            write(text, words)
    return part


def names(material: Material) -> Element:
    """The names that the report mentions: what they are, and where they stand."""
    part = section("names", "Names")
    kinds = {one["name"]: one.get("is", "result column") for one in material.citations if one["kind"] == "name"}
    found = SubElement(part, "ul") if kinds else part
    for name, number in material.names.items():
        entry = add(found, "li", id=f"name-{number}")
        add(entry, "code", name)
        write(entry, f": {kinds[name] or 'cannot be checked, as the schema is truncated'}")
        for source, table, type in material.tables_of(name)[:10]:
            write(entry, f"; table {table} of {source}, {type}")
        for place, query in enumerate(material.queries_with(name)):
            write(entry, ", " if place else "; in ")
            add(entry, "a", query, href=f"#q-{query}")
    return part
