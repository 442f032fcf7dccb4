// Going through mappings: what a term means, one row after the other.

import { author, get, post } from "./api.js";
import { NIL, candidateList, showConcept } from "./candidates.js";
import { $, busy, emptyState, fill, h, oneAtATime, percent, toast } from "./dom.js";

const AT_ONCE = 50;
const FEW = 8;
const NAMES = {
  "skos:exactMatch": "exactly this concept",
  "skos:closeMatch": "nearly this concept",
  "skos:broadMatch": "more special: the concept is broader",
  "skos:narrowMatch": "more general: the concept is narrower",
  "skos:relatedMatch": "only related to this concept",
};
const KEYS = { e: "skos:exactMatch", c: "skos:closeMatch", b: "skos:broadMatch", n: "skos:narrowMatch", r: "skos:relatedMatch" };
let calibrated = false;
let revision = -1;
let rows = [];
let place = 0;
let total = 0;
let decided = [];  // the places in the file, the last decision last

export async function startReview(info) {
  calibrated = info.calibrated;
  document.querySelector('[data-view="review"]').hidden = false;
  $("review-filter").addEventListener("change", () => load().catch(tell));
  $("review").addEventListener("keydown", press);
  $("review-row").addEventListener("click", (event) => {
    if (!event.target.closest("button, a, input, select, summary")) $("review-row").focus();
  });
  await load();
}

const tell = (error) => toast(error.message);
const current = () => rows[place];

// Somebody else may have decided meanwhile. What is open stays open, as it is now.
export async function refreshReview() {
  const told = await get("api/review");
  if (told.revision === revision) return;
  await load(current()?.row);
}

async function load(row = undefined) {
  const hadFocus = $("review-row").contains(document.activeElement);
  const status = $("review-filter").value;
  const [told, answer] = await Promise.all([
    get("api/review"),
    get(`api/review/rows?status=${status}&limit=${AT_ONCE}`),
  ]);
  showProgress(told);
  ({ rows, total } = answer);
  const same = rows.findIndex((each) => each.row === row);
  const isTyping = $("review-row").querySelector("input:focus")?.value;
  place = same >= 0 ? same : Math.min(place, Math.max(rows.length - 1, 0));
  showList();
  if (!isTyping) {
    showRow();
    if (hadFocus) $("review-row").focus();
  }
}

function showProgress(told) {
  revision = told.revision;
  const sum = (each) => Object.values(each).reduce((all, one) => all + one, 0);
  const [left, all] = [told.rows.review, sum(told.rows)];
  const settled = 1 - told.counts.review / (sum(told.counts) || 1);
  $("left").hidden = left === 0;
  $("left").textContent = left;
  $("review-progress").value = settled;
  $("review-summary").textContent =
    `${left.toLocaleString("en")} of ${all.toLocaleString("en")} rows to be reviewed, ${told.decided.toLocaleString("en")} decided by people. ` +
    `${percent(settled)} of all occurrences need no review; ${percent(told.counts.accepted / (sum(told.counts) || 1))} are accepted.`;
}

function showList() {
  const items = rows.map((each, number) =>
    h("li", {}, h("button", { type: "button", "aria-current": String(number === place), onclick: () => open(number) },
      h("span.names", {}, h("span", {}, each.term), h("span.muted.how", {}, each.decided || each.status !== "review" ? said(each) : each.name)),
      h("span.muted", { title: "occurrences" }, each.count.toLocaleString("en")))));
  const more = total > rows.length ? h("p.muted", {}, `and ${(total - rows.length).toLocaleString("en")} more`) : null;
  fill($("review-list"), h("h2", {}, `Rows (${total.toLocaleString("en")})`), rows.length ? h("ol.list.rows", {}, items) : emptyState("No rows", "Show others above."), more);
}

function said(each) {
  const what = each.concept_id ? each.name : "no concept";
  return each.decided ? `${what} · ${each.author || "somebody"}, ${each.date}` : what;
}

function open(number) {
  place = Math.max(0, Math.min(number, rows.length - 1));
  showList();
  showRow();
  $("review-row").focus();
}

function showRow() {
  const row = current();
  if (row === undefined) {
    const isDone = $("review-filter").value === "review";
    fill($("review-row"), isDone
      ? emptyState("Nothing left to review", "All decisions are in the file. Show other rows to look at them again.")
      : emptyState("No such rows", "Show others on the right."));
    return;
  }
  const candidates = row.candidates.map((each) => ({
    concept_id: each.concept_id, name: each.name, text: each.name, search: null, part: 0,
    score: each.confidence, probability: calibrated ? each.confidence : null,
  }));
  const chosen = row.concept_id ? [row.concept_id] : [];
  const list = candidates.length
    ? candidateList(candidates, { chosen, choose: (each) => decide(each.concept_id), label: "Candidates", numbered: true })
    : emptyState("No candidates", "Search all concepts below.");
  const isNone = row.decided && !row.concept_id;
  const none = h("button.candidate", { type: "button", "aria-pressed": String(isNone), onclick: () => decide(NIL) },
    h("kbd", { "aria-hidden": "true" }, "0"), h("span.names", {}, "None of these", h("span.muted.how", {}, "no concept of the ontology")));
  const first = row.concept_id || row.candidates[0]?.concept_id;
  const about = h("div", {});
  fill($("review-row"),
    h("div.head", {}, h("div", {}, h("h2", {}, row.term),
      h("p.muted", {}, h("code", {}, row.code), ` · ${row.count.toLocaleString("en")} times`)),
      row.decided ? h("button.small", { type: "button", onclick: () => undo(row.row) }, "Undo") : null),
    row.context ? h("p.context", {}, row.context) : null,
    row.decided ? h("p.muted", {}, `Decided: ${said(row)}`) : null,
    relation(row), list, none, otherConcept(),
    h("div.row", {},
      h("button.small", { type: "button", onclick: () => open(place - 1), disabled: place === 0 }, "Row before"),
      h("button.small", { type: "button", onclick: () => open(place + 1), disabled: place >= rows.length - 1 }, "Next row"),
      decided.length ? h("button.small", { type: "button", onclick: undoLast }, "Undo last decision") : null),
    first ? h("details", { ontoggle: (event) => event.target.open && showConcept(about, first, { heading: "h3" }).catch((error) => fill(about, h("p.error", {}, error.message))) },
      h("summary", {}, `About ${row.name || row.candidates[0].name}`), about) : null);
}

// What people accept is exact, unless the words said that the concept is broader or narrower.
function relation(row) {
  const isSpecial = ["skos:broadMatch", "skos:narrowMatch"].includes(row.predicate) && row.concept_id;
  const preset = row.decided && row.concept_id ? row.predicate : isSpecial ? row.predicate : "skos:exactMatch";
  const select = h("select", { id: "review-predicate" },
    Object.entries(NAMES).map(([value, name]) => h("option", { value, selected: value === preset }, name)));
  return h("label", {}, "The term means", select);
}

function otherConcept() {
  const results = h("div", { "aria-live": "polite" });
  const input = h("input", { id: "review-search", type: "search", autocomplete: "off", placeholder: "Search all concepts" });
  const find = async () => {
    const phrase = input.value.trim();
    try {
      const answer = phrase ? await post("api/search", { mentions: [phrase], top_k: FEW }) : null;
      // Candidates may come late, when one of those before is in focus.
      const focused = results.contains(document.activeElement) && document.activeElement.querySelector("code")?.textContent;
      fill(results, answer && candidateList(answer.results[0].candidates, { choose: (each) => decide(each.concept_id), label: "Other concepts" }));
      if (focused) ([...results.querySelectorAll("button")].find((each) => each.querySelector("code").textContent === focused) ?? input).focus();
    } catch (error) {
      fill(results, h("p.error", {}, error.message));
    }
  };
  input.addEventListener("input", oneAtATime(find));
  return h("div.stack", {}, h("label", {}, "Another concept", input), results);
}

async function decide(concept) {
  const row = current();
  if (row === undefined || $("review-row").hasAttribute("aria-busy")) return;
  const body = { version: row.version, concept, predicate: $("review-predicate").value, author: author() };
  try {
    const answer = await busy($("review-row"), () => post(`api/review/rows/${row.row}`, body));
    decided.push(answer.row.row);
    toast(`Saved: ${row.term}`, { label: "Undo", run: undoLast });
    await after(row.row);
  } catch (error) {
    toast(`Not saved: ${error.message}`);
    await load(row.row).catch(tell);
  }
}

// A row that is no longer listed leaves its place to the next one.
async function after(row) {
  await load(row);
  if (current()?.row === row && place < rows.length - 1) open(place + 1);
  else $("review-row").focus();
}

function undoLast() {
  if (decided.length) undo(decided.at(-1));
}

async function undo(row) {
  try {
    const known = await get(`api/review/rows/${row}`);
    const answer = await post(`api/review/rows/${row}/undo`, { version: known.version, author: author() });
    decided = decided.filter((each) => each !== row);
    toast(`Undone: ${answer.row.term}`);
    await load(row);
    $("review-row").focus();
  } catch (error) {
    tell(error);
  }
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !$("review-row").contains(event.target)) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") $("review-row").focus();
    return;
  }
  const key = event.key.toLowerCase();
  const row = current();
  if (key === "j") open(place + 1);
  else if (key === "k") open(place - 1);
  else if (key === "u") undoLast();
  else if (row === undefined) return;
  else if (key === "0") decide(NIL);
  else if (/^[1-9]$/.test(key)) {
    const candidate = row.candidates[Number(key) - 1];
    if (candidate) decide(candidate.concept_id);
  } else if (key in KEYS) $("review-predicate").value = KEYS[key];
  else if (key === "/") {
    event.preventDefault();
    $("review-search").focus();
  }
}
