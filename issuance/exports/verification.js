"use strict";

// The bundle's own check: every hash is computed again, and what is shown is held against the data. This part of the
// script comes first, so that it sees the page as it was written.

let written = "";
document.addEventListener("DOMContentLoaded", () => {
  written = form();
  byId("verify").addEventListener("click", report);
  setTimeout(report);
});

// The page as one text: its title, its style, what its head demands of a browser, and all elements of its body with their
// attributes and texts. form.py writes the same; scripts are held against the policy by the browser itself.
function form() {
  const pieces = [document.title];
  for (const meta of all("meta[http-equiv]")) pieces.push(`\n${meta.content}`);
  pieces.push(`\n${document.querySelector("style").textContent}\n`);
  pieces.push(`${document.documentElement.className}\n`);
  const walk = (parent) => {
    for (let node = parent.firstChild; node; node = node.nextSibling) {
      if (node.nodeType !== 1) {
        pieces.push(node.nodeType === 3 ? node.data : `<!--${node.data}-->`);
        continue;
      }
      pieces.push(`<${node.localName}`);
      for (const { name, value } of node.attributes) pieces.push(` ${name}="${value}"`);
      pieces.push(">");
      if (node.localName !== "script") walk(node);
      pieces.push("</>");
    }
  };
  walk(document.body);
  return pieces.join("");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const pause = () => new Promise((done) => setTimeout(done));
const SLICE = 1 << 18; // bytes between two pauses, so that the page goes on answering

const primes = [];
for (let number = 2; primes.length < 64; number++) if (primes.every((prime) => number % prime)) primes.push(number);
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const ROUNDS = primes.map((prime) => fraction(Math.cbrt(prime)));
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

async function sha256(bytes) {
  const padded = new Uint8Array(((bytes.length + 8) >> 6 << 6) + 64);
  padded.set(bytes);
  padded[bytes.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    if (at % SLICE === 0 && at) await pause();
    compress(state, words, view, at);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

const turn = (word, by) => (word >>> by) | (word << (32 - by));

function compress(state, words, view, at) {
  for (let index = 0; index < 16; index++) words[index] = view.getInt32(at + 4 * index);
  for (let index = 16; index < 64; index++) {
    const low = words[index - 15], high = words[index - 2];
    words[index] = words[index - 16] + words[index - 7] + (turn(low, 7) ^ turn(low, 18) ^ (low >>> 3)) + (turn(high, 17) ^ turn(high, 19) ^ (high >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let index = 0; index < 64; index++) {
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[index] + words[index]) | 0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + first) | 0;
    d = c; c = b; b = a; a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => { state[index] += word; });
}

async function stored(element) { // the bytes of an embedded file
  const packed = element.textContent;
  const pieces = [];
  for (let at = 0; at < packed.length; at += SLICE) {
    if (at) await pause();
    pieces.push(Uint8Array.from(atob(packed.slice(at, at + SLICE)), (char) => char.charCodeAt(0)));
  }
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  pieces.reduce((at, piece) => { bytes.set(piece, at); return at + piece.length; }, 0);
  return bytes;
}

// JSON in which a number is its text behind a NUL, as binary floating point would lose digits.
const parse = (bytes) => JSON.parse(decoder.decode(bytes).replace(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g, (token) => (token[0] === '"' ? token : `"\\u0000${token}"`)));
const plain = (value) => String(value).replace(/\0/g, "");
const character = (escape, ...hex) => (escape === "\\r" ? "\r" : String.fromCodePoint(Math.min(parseInt(hex[0] || hex[1] || hex[2], 16), 0x10ffff)));
const readable = (text) => plain(text).replace(/\\r|\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/g, character).replace(/\r\n?/g, "\n");
const same = (shown, value) => shown === plain(value) || readable(shown) === readable(value);
const at = (data, path) => path.split(".").reduce((value, key) => (value === null || value === undefined ? undefined : value[key]), data);
const entity = (text) => new DOMParser().parseFromString(text, "text/html").documentElement.textContent;

function sealedEvents(bytes) {
  const text = decoder.decode(bytes);
  const lines = text.match(/[^\n]*\n|[^\n]+/g) || [];
  const events = lines.map((line) => { try { return parse(encoder.encode(line)); } catch (fault) { return {}; } });
  const last = events.findIndex((event) => event.type === "run.finished" || event.type === "run.failed");
  const of = (type) => events.slice(0, last + 1).filter((event) => event.type === type);
  return {
    part: encoder.encode(lines.slice(0, last + 1).join("")),
    started: of("run.started")[0] || {}, queries: of("query.snapshotted"), repaired: of("report.repaired"),
    computed: of("metrics.computed")[0], checked: of("report.checked")[0], judged: of("claims.judged")[0],
    decided: of("contract.decided")[0], ended: events[last] || {}, appended: lines.slice(last + 1).map((line) => line.trim()),
  };
}

function artifactsOf(sealed) { // what each artifact is that a sealed event names, and its hash
  const found = [["job", sealed.started.job]];
  if (sealed.started.fields) found.push(["fields", sealed.started.fields]);
  (sealed.started.knowledge || []).forEach((hash, index) => found.push([`knowledge ${index + 1}`, hash]));
  for (const event of sealed.queries) {
    found.push([`schema of ${event.name}`, event.schema]);
    if (event.snapshot) found.push([`snapshot of ${event.name}`, event.snapshot]);
  }
  for (const event of sealed.repaired) {
    found.push([`draft ${plain(event.attempt)}`, event.draft]);
    if (event.answer) found.push([`draft ${Number(plain(event.attempt)) + 1}`, event.answer]);
  }
  for (const name of ["card", "pinned_card", "metric_set", "bump"]) if (sealed.computed && sealed.computed[name]) found.push([name.replace("_", " "), sealed.computed[name]]);
  for (const name of ["narrative", "draft", "document", "numbers"]) if (sealed.checked && sealed.checked[name]) found.push([name, sealed.checked[name]]);
  return found;
}

const pick = (from, names) => Object.fromEntries(names.split(" ").map((name) => [name, from && from[name] !== undefined ? from[name] : null]));
const count = (list) => `\0${list.length}`;

function recordOf(sealed, seal) { // the run record, made again from the events
  const { started, computed, checked, judged, decided, ended } = sealed;
  return {
    ...pick(started, "run_id job_id title mode level inputs number_rules"),
    started_at: started.at, ended_at: ended.at, status: ended.type === "run.finished" ? "finished" : "failed",
    tier: decided ? decided.tier : null, reasons: decided ? decided.reasons : [], missing: computed ? computed.missing : [],
    numbers: checked ? checked.summary : null, card: pick(computed, "name version pinned on_version_bump"),
    queries: sealed.queries.map((event) => pick(event, "name query outcome message rows truncated warnings")),
    warnings: [computed, checked, judged].flatMap((event) => (event ? event.warnings : [])),
    violations: checked ? checked.violations : "\x000",
    claims: judged ? { ids: count(judged.ids), gaps: count(judged.gaps), verdicts: count(judged.verdicts), unjudged: count(judged.unjudged) } : {},
    artifacts: Object.fromEntries(artifactsOf(sealed)), seal,
  };
}

const recordText = (record) => JSON.stringify(record, null, 2).replace(/"\\u0000([^"]*)"/g, "$1").replace(/[^ -~\n]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`) + "\n";

async function check() {
  const faults = { page: [], "run record": [], document: [], numbers: [] };
  if (await sha256(encoder.encode(written)) !== JSON.parse(byId("form").textContent)) faults.page.push("something in it is not as it was written");
  const elements = new Map(all('script[type="application/octet-stream"]').map((element) => [element.dataset.name, element]));
  const data = { snapshots: {}, appended: [] };
  await checkRecord(faults["run record"], elements, data);
  checkShown(faults["run record"], all("header [data-from], #appended [data-from]"), data);
  checkVerdict(faults["run record"], data);
  await pause();
  data.runs = JSON.parse(byId("runs").textContent);
  checkDocument(faults.document, data);
  await pause();
  await checkNumbers(faults.numbers, data);
  return faults;
}

async function checkRecord(faults, elements, data) {
  const bytes = async (name) => (elements.has(name) ? stored(elements.get(name)) : null);
  const events = await bytes("events.jsonl"), record = await bytes("run.json");
  if (!events || !record) return faults.push("the bundle has no events or no run record");
  const sealed = sealedEvents(events);
  Object.assign(data, sealed);
  data.seal = await sha256(sealed.part);
  if (recordText(recordOf(sealed, data.seal)) !== decoder.decode(record)) faults.push("the run record is not what the events and their seal say");
  data.files = new Map();
  for (const [what, hash] of artifactsOf(sealed)) {
    if (data.files.has(hash)) continue;
    const file = await bytes(hash);
    if (!file || (await sha256(file)) !== hash) faults.push(`the ${what} does not have the bytes that its hash says`);
    data.files.set(hash, file || new Uint8Array());
  }
  const json = (hash) => { try { return hash ? parse(data.files.get(hash)) : undefined; } catch (fault) { return undefined; } };
  for (const event of sealed.queries) data.snapshots[event.query] = json(event.snapshot) || null;
  data.set = json(sealed.computed && sealed.computed.metric_set);
  data.numbers = json(sealed.checked && sealed.checked.numbers);
  const { draft, document, narrative } = sealed.checked || {};
  data.document = draft ? json(document) : narrative ? { text: decoder.decode(data.files.get(narrative)), citations: [] } : null;
  data.knowledge = (sealed.started.knowledge || []).map((hash) => decoder.decode(data.files.get(hash)));
  return undefined;
}

function checkShown(faults, elements, data) { // what an element shows is what stands in the data where it says
  for (const element of elements) {
    const path = element.dataset.from;
    if (!same(element.textContent, at(data, path))) faults.push(`${path} is shown as ${element.textContent.slice(0, 80)}`);
  }
}

function checkVerdict(faults, data) {
  const tier = data.decided ? data.decided.tier : "failed";
  const verdict = tier === "failed" || tier === "withheld" ? "NOT ISSUED" : "ISSUED";
  if (byId("tier").textContent !== tier) faults.push(`the tier is ${tier}, and shown as ${byId("tier").textContent}`);
  if (byId("verdict").textContent !== verdict || byId("banner").textContent !== (verdict === "ISSUED" ? "" : verdict)) faults.push(`the report is ${verdict}, and shown otherwise`);
  const { reasons = [] } = data.decided || {}, { missing = [] } = data.computed || {};
  if (all("#declaration li").length !== reasons.length + missing.length) faults.push("other reasons are shown than there are");
}

const MARKUP = /^(?:\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|(?:^|\n)[ >\t]*(?:[-*+] +)?(?:`{3,}|~{3,})[^\n]*|[\s\\`*_~#>+=:|!\[\]()<.-])*$/;

function checkDocument(faults, data) { // all of the text is shown, and nothing else
  if (!data.document) return;
  const text = Array.from(data.document.text); // by code points
  const shown = [];
  let end = 0;
  for (const [from, to, other] of data.runs) {
    const source = text.slice(from, to).join("");
    if (from < end || !MARKUP.test(text.slice(end, from).join(""))) faults.push(`a part of the text is not shown: ${text.slice(end, from).join("").slice(0, 80)}`);
    if (other !== undefined && source !== `\\${other}` && entity(source) !== other) faults.push(`the text has ${source}, and not ${other}`);
    shown.push(other === undefined ? source : other);
    end = to;
  }
  if (!MARKUP.test(text.slice(end).join(""))) faults.push("the end of the text is not shown");
  const wanted = readable(shown.join("")), found = readable(byId("report").textContent);
  if (wanted === found) return;
  let place = 0;
  while (wanted[place] === found[place]) place++;
  faults.push(`the text differs at: ${found.slice(Math.max(place - 20, 0), place + 40)}`);
}

async function checkNumbers(faults, data) {
  checkShown(faults, all("#report [data-from], #evidence [data-from]").filter((element) => !element.closest("#appended")), data);
  all("table[data-snapshot]").forEach((table) => checkRows(faults, table, data));
  const spaces = (text) => text.replace(/[^\S\ufeff]+|[\x1c-\x1f\x85]+/g, " ");
  const known = data.knowledge ? data.knowledge.map(spaces) : [];
  for (const chunk of all(".chunk")) if (!known.some((text) => readable(text).includes(readable(chunk.textContent)))) faults.push(`a passage is shown that no text has: ${chunk.textContent.slice(0, 80)}`);
  if (!data.document) return;
  const texts = new Map();
  for (const part of all("#report [data-place]")) texts.set(part.dataset.place, (texts.get(part.dataset.place) || "") + part.textContent);
  const metrics = new Map(((data.set && data.set.metrics) || []).map((metric) => [metric.id, metric]));
  const citations = new Map(data.document.citations.map((citation) => [plain(citation.start), citation]));
  const inside = citationAt(data.document.citations);
  const shown = shownBetween(data);
  const numbers = (data.numbers && data.numbers.numbers) || [];
  for (let index = 0; index < numbers.length; index++) {
    if (index % 500 === 499) await pause();
    checkNumber(faults, `n${index + 1}`, numbers[index], texts, metrics, inside, shown, data);
  }
  if (all('#report [id^="n"][data-status]').length !== numbers.length) faults.push("other numbers are linked than were checked");
}

function checkRows(faults, table, data) {
  const snapshot = data.snapshots[table.dataset.snapshot];
  for (const row of all("tbody tr[data-row]", table)) {
    const cells = snapshot && snapshot.rows[row.dataset.row];
    for (let index = 1; index < row.cells.length; index++) {
      const value = cells && cells[index - 1];
      const wanted = value === null ? (snapshot.columns[index - 1].masked ? "Masked" : "null") : value;
      if (!cells || !same(row.cells[index].textContent, wanted)) faults.push(`row ${row.dataset.row} of ${table.dataset.snapshot} is shown with ${row.cells[index].textContent.slice(0, 80)}`);
    }
  }
}

function citationAt(citations) { // the citation that a place of the text is in
  const starts = citations.filter((one) => plain(one.start) !== plain(one.end)).map((one) => [Number(plain(one.start)), Number(plain(one.end)), one]);
  return (place) => {
    let low = 0, high = starts.length;
    while (low < high) { const middle = (low + high) >> 1; if (starts[middle][0] <= place) low = middle + 1; else high = middle; }
    const found = starts[low - 1];
    return found && place < found[1] ? found : null;
  };
}

function shownBetween({ document: { text }, runs }) { // what is shown of a part of the text
  const source = Array.from(text);
  return (from, to) => {
    let low = 0, high = runs.length;
    while (low < high) { const middle = (low + high) >> 1; if (runs[middle][1] <= from) low = middle + 1; else high = middle; }
    const parts = [];
    for (; low < runs.length && runs[low][0] < to; low++) {
      const [start, end, other] = runs[low];
      parts.push(other === undefined ? source.slice(Math.max(start, from), Math.min(end, to)).join("") : other);
    }
    return parts.join("");
  };
}

function checkNumber(faults, id, number, texts, metrics, inside, shown, data) {
  const element = byId(id);
  if (!element || element.dataset.status !== number.status) return faults.push(`${id} is not shown as ${number.status}`);
  const citation = inside(Number(plain(number.start)));
  const [from, to] = citation || [Number(plain(number.start)), Number(plain(number.end))];
  const wording = shown(from, to);
  if (readable(texts.get(id) || "") !== readable(wording)) faults.push(`${id} is shown as ${texts.get(id)}, and is ${wording}`);
  if (citation) return checkCitation(faults, id, element, citation[2], wording, metrics, data);
  const wanted = number.metrics.length ? number.metrics.map((metric) => `m-${metric}`).join(" ") : `e-${id}`;
  if (element.dataset.evidence !== wanted) faults.push(`${id} opens other evidence than it was traced to`);
  if (number.status === "traced" && !number.metrics.some((metric) => metrics.has(metric) && fits(metrics.get(metric).value, number))) faults.push(`${id} is no value of ${number.metrics.join(", ")}`);
  return undefined;
}

function checkCitation(faults, id, element, citation, wording, metrics, data) {
  const evidence = element.dataset.evidence;
  if (citation.kind === "metric") {
    const metric = metrics.get(citation.metric);
    if (evidence !== `m-${citation.metric}` || !metric) faults.push(`${id} does not open ${citation.metric}, which it cites`);
    else if (!citation.conversions && digits(wording) !== digits(metric.rendered)) faults.push(`${id} is ${wording}, but ${citation.metric} is ${metric.rendered}`);
  } else if (citation.kind === "cell") {
    const snapshot = data.snapshots[citation.query], row = plain(citation.row);
    const column = snapshot ? snapshot.columns.findIndex((one) => one.name === citation.column) : -1;
    if (evidence !== `v-${citation.query}-${row}-${column}`) faults.push(`${id} does not open the cell that it cites`);
    else if (digits(wording) !== digits(plain(snapshot.rows[row][column]))) faults.push(`${id} is ${wording}, but its cell is ${plain(snapshot.rows[row][column])}`);
  }
}

// The digits of a decimal without its point, its sign, and the noughts around them.
function digits(text) {
  const [mantissa] = text.replace(/,/g, "").split(/e/i);
  return mantissa.replace(/[^0-9]/g, "").replace(/^0+|0+$/g, "");
}

// Whether a value lies in the interval of a written number, whatever the scales and signs of their units.
function fits(value, number) {
  if (value === null || value === undefined) return false;
  const parts = [value, number.low, number.high].map((part) => {
    const [mantissa, exponent = "0"] = plain(part).replace("-", "").split(/e/i);
    const [whole, rest = ""] = mantissa.split(".");
    return [BigInt(whole + rest), Number(exponent) - rest.length];
  });
  const least = Math.min(...parts.map((part) => part[1]));
  if (Math.max(...parts.map((part) => part[1])) - least > 400) return true; // beyond what a page should compute
  let [given, low, high] = parts.map(([mantissa, exponent]) => mantissa * 10n ** BigInt(exponent - least));
  if (plain(number.low).startsWith("-") && !plain(number.high).startsWith("-")) low = 0n;
  if (low > high) [low, high] = [high, low];
  const powers = [0, 2, -2, 3, 4, 6, 8, 9, 12, -1, 1];
  return powers.some((power) => (power < 0 ? low * 10n ** BigInt(-power) <= given && given <= high * 10n ** BigInt(-power) : low <= given * 10n ** BigInt(power) && given * 10n ** BigInt(power) <= high)
    || (power > 0 && low * 10n ** BigInt(power) <= given && given <= high * 10n ** BigInt(power)));
}

async function report() {
  const box = byId("verification"), list = byId("verification-parts");
  box.dataset.state = "checking";
  byId("verification-text").textContent = "Checking every hash, number and word of this file …";
  list.textContent = "";
  let faults;
  try { faults = await check(); } catch (fault) { faults = { page: [`the check did not end: ${fault.message}`], "run record": ["not checked"], document: ["not checked"], numbers: ["not checked"] }; }
  for (const [name, said] of Object.entries(faults)) {
    const entry = document.createElement("li");
    entry.className = said.length ? "differs" : "holds";
    entry.textContent = `${name}: ${said.length ? `differs: ${said.slice(0, 5).join("; ")}${said.length > 5 ? `; and ${said.length - 5} more` : ""}` : "holds"}`;
    list.append(entry);
  }
  const holds = Object.values(faults).every((said) => !said.length);
  byId("verification-text").textContent = holds
    ? "This file holds: its data has the hashes that its seal covers, and its text, numbers and verdict are those of the data. A script cannot vouch for itself: python3 -m issuance verify FILE checks this one too."
    : "This file has been changed, or was damaged: do not rely on it.";
  box.dataset.state = holds ? "holds" : "differs";
}
