// One mention: its candidates, why they were found, and what people say instead.

import { author, post } from "./api.js";
import { NIL, candidateList, showConcept } from "./candidates.js";
import { $, busy, emptyState, fill, h, oneAtATime, toast } from "./dom.js";

// What is open: the mention, its text, once its boundaries are changed what they were, and the field
// that searches all concepts.
const FEW = 5;
let open = null;
let info = null;
let hooks = null;

export function startMentions(given, functions) {
  [info, hooks] = [given, functions];
  document.addEventListener("keydown", chooseByKey);
}

export const isDraft = () => open !== null && open.isNew;

export function closeMention() {
  open = null;
  $("detail").hidden = true;
  hooks.select(-1, -1);
}

export async function openMention(ent, record, { isNew = false, replaces = null } = {}) {
  open = { ...ent, record, isNew, replaces, label: ent.label || info.labels[0] };
  render();
  $("detail").focus();
  $("detail").scrollIntoView({ block: "nearest" });
  if (isNew) await findCandidates();
  await findMore();
}

// After the text was annotated again: the same mention with its new answer.
export function showMention(record) {
  if (open === null) return;
  const same = record.ents.find((each) => each.start === open.start && each.end === open.end);
  if (same === undefined) closeMention();
  else {
    open = { ...open, ...same, record, isNew: false, replaces: null };
    render();
    findMore();
  }
}

async function findCandidates() {
  const mine = open;
  try {
    const answer = await busy($("detail"), () => post("api/search", { mentions: [mine.text] }));
    if (open !== mine) return;
    open.candidates = answer.results[0].candidates;
    render();
  } catch (error) {
    toast(error.message);
  }
}

// The search that answers may know few concepts, such as those that people have named: the last
// search of the sieve knows more.
async function findMore() {
  const mine = open;
  if (mine === null || mine.candidates.length >= FEW || mine.candidates.some((each) => each.part)) return;
  const body = { mentions: [mine.text], search: info.searches.at(-1), top_k: FEW };
  const answer = await post("api/search", body).catch(() => null);
  if (open !== mine || answer === null) return;
  const known = mine.candidates.map((each) => each.concept_id);
  const others = answer.results[0].candidates.filter((each) => !known.includes(each.concept_id));
  if (!others.length) return;
  open.candidates = [...mine.candidates, ...others];
  render();
}

function chooseByKey(event) {
  if (open === null || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea, select")) return;
  if (event.key === "Escape") closeMention();
  else if (event.key === "0" && !$("read").hidden) say(NIL);
  else if (/^[1-9]$/.test(event.key) && !$("read").hidden) {
    const candidate = open.candidates[Number(event.key) - 1];
    if (candidate) choose(candidate);
  }
}

// Of a composite one part changes, the others stay.
function choose(candidate) {
  if (!candidate.part) {
    say(candidate.concept_id);
    return;
  }
  const ids = new Map();
  for (const each of open.candidates) if (!ids.has(each.part)) ids.set(each.part, each.concept_id);
  ids.set(candidate.part, candidate.concept_id);
  say([...ids.values()].join("|"));
}

async function say(kb_id) {
  const { record, start, end, label, isNew, replaces } = open;
  try {
    const body = { text: record.text, start, end, kb_id, label, marked: isNew, replaces, author: author() };
    const made = await busy($("detail"), () => post("api/corrections", body));
    open = open && { ...open, start: made.start, end: made.end, isNew: false, replaces: null, other: null };
    await hooks.refresh();
    toast("Saved. It applies to all texts.", { label: "Undo", run: () => undo(made.id) });
  } catch (error) {
    toast(`Not saved: ${error.message}`);
  }
}

export async function undo(id) {
  try {
    await post(`api/corrections/${id}/undo`, { author: author() });
    await hooks.refresh();
    toast("Undone.");
  } catch (error) {
    toast(error.message);
  }
}

// Moves a boundary by one word.
function moveEdge(edge, by) {
  const all = open.record.characters;
  let { start, end } = open;
  const isWord = (place) => /[\p{L}\p{N}]/u.test(all[place] ?? "");
  if (edge === "start") {
    if (by < 0) { while (start > 0 && !isWord(start - 1)) start -= 1; while (isWord(start - 1)) start -= 1; }
    else { while (isWord(start)) start += 1; while (start < end && !isWord(start)) start += 1; }
  } else if (by > 0) { while (end < all.length && !isWord(end)) end += 1; while (isWord(end)) end += 1; }
  else { while (isWord(end - 1)) end -= 1; while (end > start && !isWord(end - 1)) end -= 1; }
  if (start >= end || (start === open.start && end === open.end)) return;
  const replaces = open.replaces ?? (open.isNew ? null : [open.start, open.end]);
  const text = all.slice(start, end).join("");
  openMention({ ...open, start, end, text, kb_id: "", candidates: [] }, open.record, { isNew: true, replaces });
}

function edgeButtons(edge, name) {
  const button = (by, sign, what) =>
    h("button.small", { type: "button", "aria-label": `${name}: one word ${what}`, onclick: () => moveEdge(edge, by) }, sign);
  const grows = edge === "start" ? -1 : 1;
  return h("fieldset", {}, h("legend", {}, name), button(-1, "‹", grows < 0 ? "more" : "less"), button(1, "›", grows > 0 ? "more" : "less"));
}

function otherConcept() {
  const results = h("div", { "aria-live": "polite" });
  const input = h("input", { type: "search", autocomplete: "off", placeholder: "Search all concepts" });
  const find = async () => {
    const phrase = input.value.trim();
    try {
      const answer = phrase ? await post("api/search", { mentions: [phrase], top_k: FEW }) : null;
      const pick = (each) => say(each.concept_id);
      fill(results, answer && candidateList(answer.results[0].candidates, { choose: pick, label: "Other concepts" }));
    } catch (error) {
      fill(results, h("p.error", {}, error.message));
    }
  };
  input.addEventListener("input", oneAtATime(find));
  return h("div.stack", {}, h("label", {}, "Another concept", input), results);
}

function more(title, load) {
  const place = h("div", {});
  let isLoaded = false;
  return h("details", {
    ontoggle: async (event) => {
      if (!event.target.open || isLoaded) return;
      isLoaded = true;
      try {
        await busy(place, () => load(place));
      } catch (error) {
        fill(place, h("p.error", {}, error.message));
      }
    },
  }, h("summary", {}, title), place);
}

async function explain(place) {
  const { record, text, start } = open;
  const found = await post("api/explain", { mention: text, text: record.text, start });
  const readings = found.interpretations.map((each, number) =>
    h("tr", {}, h("td", {}, each.kind), h("td", {}, each.texts.join(" | ")), h("td", {}, each.score.toFixed(3)), h("td", {}, number ? "" : "answers")));
  const steps = (part) => part.steps.map((each) =>
    h("tr", {}, h("td", {}, each.search), h("td", {}, each.threshold === null ? "last search" : `needs ${each.threshold}`),
      h("td", {}, each.candidates.length ? `${each.candidates[0].name}, ${each.candidates[0].score.toFixed(3)}` : "nothing"),
      h("td", {}, each.answers ? "answers" : "")));
  const table = (head, rows) =>
    h("div.scroll", {}, h("table", {}, h("thead", {}, h("tr", {}, head.map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows)));
  fill(place,
    table(["Read", "As", "Score", "Outcome"], readings),
    found.parts.flatMap((part) => [
      h("p.muted", {}, `Searched as “${part.searched}”`),
      table(["Search", "Threshold", "Best", "Outcome"], steps(part)),
    ]));
}

// What is being typed stays, and so does the focus: candidates may come in between.
function render() {
  const focused = $("detail").contains(document.activeElement) ? document.activeElement : null;
  open.other ??= otherConcept();
  const { text, kb_id, candidates, isNew, replaces } = open;
  const chosen = kb_id.split("|");
  const isNil = kb_id === NIL;
  const list = candidates.length
    ? candidateList(candidates, { chosen, choose, label: "Candidates", numbered: true })
    : isNew ? h("p.muted", {}, "Searching…") : emptyState("No candidates", "Search all concepts below.");
  const none = h("button.candidate", { type: "button", "aria-pressed": String(isNil), onclick: () => say(NIL) },
    h("kbd", { "aria-hidden": "true" }, "0"), h("span.names", {}, "None of these", h("span.muted.how", {}, "no concept, in all texts")));
  const first = candidates.find((each) => chosen.includes(each.concept_id)) ?? candidates[0];
  const state = isNew ? (replaces ? "Other boundaries: choose its concept" : "A new mention: choose its concept") : open.label;
  fill($("detail"),
    h("div.head", {}, h("div", {}, h("h2", {}, text), h("p.muted", {}, state)),
      h("button.small", { type: "button", onclick: closeMention }, "Close")),
    list, none,
    open.other,
    h("div.edges", {}, edgeButtons("start", "Start"), edgeButtons("end", "End")),
    first && more(`About ${first.name}`, (place) => showConcept(place, first.concept_id, { heading: "h3" })),
    isNew ? null : more("Why this answer?", explain));
  $("detail").hidden = false;
  hooks.select(open.start, open.end);
  if (focused) ($("detail").contains(focused) ? focused : $("detail")).focus();
}
