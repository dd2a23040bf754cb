"use strict";

// The evidence beside the text: a place of the text opens the parts of the panel that it rests on.

const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const panel = byId("evidence");
const places = all("#report a[id][data-evidence]");
const context = Number(document.documentElement.dataset.context);
let current = null;

function clear() {
  for (const element of all(".open, .near, .marked, .first", panel)) element.classList.remove("open", "near", "marked", "first");
  if (current) current.removeAttribute("aria-current");
  current = null;
}

function rest(ids) { // these parts of the panel, and what they rest on in turn
  const found = new Map();
  const waiting = ids.slice().reverse();
  while (waiting.length && found.size < 400) {
    const id = waiting.pop();
    const element = byId(id);
    if (!element || found.has(id) || !panel.contains(element)) continue;
    found.set(id, element);
    waiting.push(...(element.dataset.evidence || "").split(" ").filter(Boolean).reverse());
  }
  return Array.from(found.values());
}

function showRows(cell) { // the row of a cell with those around it; for a column, the first rows
  let row = cell.closest("tbody tr");
  let wanted = 2 * context + 1;
  if (row) {
    for (let step = 0; step < context && row.previousElementSibling && row.previousElementSibling.dataset.row; step++) row = row.previousElementSibling;
    wanted = context + 1 + (cell.parentNode.dataset.row - row.dataset.row);
  } else {
    row = cell.closest("table").tBodies[0].rows[0];
    wanted = 5;
  }
  for (; row && wanted > 0; row = row.nextElementSibling) {
    if (!row.dataset.row) break;
    row.classList.add("near");
    if (cell.tagName === "TH") row.cells[cell.cellIndex].classList.add("marked");
    wanted--;
  }
}

function reveal(ids) {
  const parts = rest(ids);
  parts.forEach((element, index) => {
    const section = element.closest("section");
    section.classList.add("open");
    if (index === 0) section.classList.add("first");
    if (element === section) {
      const table = element.querySelector("table[data-snapshot]");
      if (table && index === 0) showRows(table.tHead.rows[0].cells[0]);
    } else {
      element.classList.add("marked");
      if (element.closest("table")) showRows(element);
    }
  });
  panel.classList.toggle("chosen", parts.length > 0);
  panel.scrollTop = 0;
  return parts.length > 0;
}

function choose(place, focus) {
  clear();
  current = place;
  place.setAttribute("aria-current", "true");
  byId("chosen-text").textContent = all(`[data-place="${place.id}"]`).map((part) => part.textContent).join("");
  byId("chosen-note").textContent = place.title;
  reveal(place.dataset.evidence.split(" "));
  if (focus) panel.focus({ preventScroll: true });
  if (panel.getBoundingClientRect().top > window.innerHeight - 80 || getComputedStyle(panel).position === "static") panel.scrollIntoView();
}

function follow(focus) { // the fragment of the address
  let id = "";
  try { id = decodeURIComponent(location.hash.slice(1)); } catch (fault) { /* no id of ours */ }
  const element = id && byId(id);
  if (!element) return;
  if (element.matches("#report a[data-evidence]")) {
    element.scrollIntoView({ block: "center" });
    choose(element, focus);
  } else if (panel.contains(element) && element !== panel) {
    clear();
    byId("chosen-text").textContent = "";
    byId("chosen-note").textContent = "";
    reveal([id]);
  }
}

function leave() {
  const place = current;
  clear();
  panel.classList.remove("chosen");
  if (place) {
    history.replaceState(null, "", location.pathname + location.search);
    place.focus({ preventScroll: true });
    place.scrollIntoView({ block: "center" });
  }
}

function move(steps) {
  if (!current || !places.length) return;
  const next = places[(places.indexOf(current) + steps + places.length) % places.length];
  location.hash = next.id;
}

document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("scripted");
  follow(false);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const place = link.dataset.place && byId(link.dataset.place);
  if (!place) return;
  event.preventDefault();
  if (location.hash === `#${place.id}`) choose(place, true);
  else location.hash = place.id;
});
window.addEventListener("hashchange", () => follow(true));
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && panel.classList.contains("chosen")) leave(); });
byId("before").addEventListener("click", () => move(-1));
byId("after").addEventListener("click", () => move(1));
byId("back").addEventListener("click", leave);
