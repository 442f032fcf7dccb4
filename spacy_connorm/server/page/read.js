// Reading: a text with its mentions, and the list of its concepts.

import { post, send } from "./api.js";
import { NIL, certainty, certaintyText } from "./candidates.js";
import { $, busy, emptyState, fill, h, toast } from "./dom.js";
import { closeMention, isDraft, openMention, showMention, startMentions } from "./mention.js";

const EXAMPLE = "Complains of dizziness and headache. No fever. Had a heart attack in 2019.";
const COLOURS = 8;
let record = null;
let current = null; // what was asked for last
let texts = [];
let step = 0;
let labels = [];
let asked = 0;

export function startReading(info, refresh) {
  labels = [...info.labels];
  startMentions(info, { refresh, select: selectPlace });
  $("text-form").addEventListener("submit", (event) => {
    event.preventDefault();
    texts = [];
    annotate({ text: $("text").value });
  });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("text-form").requestSubmit();
  });
  $("file").addEventListener("change", openFile);
  $("previous").addEventListener("click", () => go(step - 1));
  $("next").addEventListener("click", () => go(step + 1));
  $("mark-form").addEventListener("submit", markMissed);
  $("reading").addEventListener("mouseup", readSelection);
  render();
}

// Offsets of the API count characters; JavaScript's count half of an emoji.
export const characters = () => (record === null ? [] : record.characters);

async function annotate(given, { quietly = false } = {}) {
  const mine = (asked += 1);
  current = given;
  if (!quietly) closeMention();
  if (!given.text.trim()) {
    record = current = null;
    render();
    return;
  }
  try {
    const answer = await busy($("reading"), () => post("api/annotate", { texts: [given] }));
    if (mine !== asked) return;
    record = { ...answer.records[0], characters: Array.from(answer.records[0].text) };
    render();
  } catch (error) {
    if (!quietly) fill($("reading"), h("p.error", {}, error.message));
  }
}

export async function annotateAgain() {
  if (current === null) return;
  await annotate(current, { quietly: true });
  if (record !== null && !isDraft()) showMention(record);
}

function colour(label) {
  if (!labels.includes(label)) labels.push(label);
  return `type-${labels.indexOf(label) % COLOURS}`;
}

// The best candidate of each part that is linked, or else the nearest one.
function leading(ent) {
  const ids = ent.kb_id.split("|");
  const linked = ids.map((id) => ent.candidates.find((each) => each.concept_id === id));
  return linked.filter(Boolean).length ? linked.filter(Boolean) : ent.candidates.slice(0, 1);
}

const isUnlinked = (ent) => ent.kb_id === NIL || ent.kb_id === "";

function describe(ent) {
  if (isUnlinked(ent)) return "no concept";
  return leading(ent).map((each) => `${each.name}, ${certaintyText(each)}`).join("; ") || ent.kb_id;
}

function mentionNode(ent) {
  const isNil = isUnlinked(ent);
  const marks = assertions(ent);
  const description = [describe(ent), marks].filter(Boolean).join(", ");
  const node = h(
    `span.mention.${colour(ent.label)}`,
    {
      role: "button", tabindex: "0", title: description, "data-start": String(ent.start), "data-end": String(ent.end),
      "aria-pressed": "false", "aria-label": `${ent.text}: ${description}`,
      onclick: () => openMention(ent, record),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        openMention(ent, record);
      },
    },
    ent.text,
  );
  node.classList.toggle("nil", isNil);
  node.classList.toggle("absent", (ent.assertions ?? []).includes("negated"));
  if (marks) node.dataset.marks = marks;
  const found = leading(ent);
  node.style.setProperty("--share", found.length ? Math.min(...found.map(certainty)) : 1);
  return node;
}

function textNodes() {
  const nodes = [];
  let at = 0;
  for (const ent of record.ents) {
    if (ent.start < at) continue; // inside another mention; the list has it
    nodes.push(characters().slice(at, ent.start).join(""), mentionNode(ent));
    at = ent.end;
  }
  return [...nodes, characters().slice(at).join("")];
}

// What the text says of it: absent, a relative's, in the past.
const SAID = { negated: "absent", possible: "possible", family: "a relative's", history: "in the past" };
const KINDS = { suspected: "suspected", differential: "of the differential diagnosis", hypothetical: "hypothetical" };
const assertions = (ent) => (ent.assertions ?? [])
  .map((each) => (each === "possible" && KINDS[ent.possibility]) || SAID[each]).join(", ");
const said = (ent) => (assertions(ent) ? h("span.muted", {}, `(${assertions(ent)})`) : null);

function conceptRow(ent) {
  const isNil = isUnlinked(ent);
  const found = leading(ent);
  const names = isNil ? "no concept" : found.map((each) => each.name).join(" | ") || ent.kb_id;
  return h("li", {}, h(
    "button", { type: "button", onclick: () => openMention(ent, record) },
    h(`span.dot.${isNil ? "nil" : colour(ent.label)}`, { "aria-hidden": "true" }),
    h("span.names", {}, h("span.strong", {}, ent.text), said(ent), h("span", {}, names, " ", isNil ? null : h("code", {}, ent.kb_id))),
    h("span.muted", {}, isNil || !found.length ? "" : certaintyText(found[0])),
  ));
}

// One entry a label, and one for mentions without a concept.
function legend() {
  const used = [...new Set(record.ents.map((each) => each.label))].sort();
  const entries = used.map((label) => [colour(label), label || "mention"]);
  if (record.ents.some(isUnlinked)) entries.push(["nil", "no concept"]);
  if (entries.length) entries.push([null, "line: certainty"]);
  return entries.map(([kind, name]) => h("li", {}, kind && h(`span.dot.${kind}`, { "aria-hidden": "true" }), name));
}

function render() {
  $("mark-form").hidden = record === null;
  fill($("legend"), record === null ? [] : legend());
  if (record === null) {
    const example = h("button", { type: "button", onclick: () => { $("text").value = EXAMPLE; annotate({ text: EXAMPLE }); } }, "Try an example");
    fill($("reading"), emptyState("Nothing to read yet", "Paste a text above, or open a .txt or .jsonl file.", example));
    fill($("concepts"), h("h2", {}, "Concepts"), emptyState("None yet", "Mentions in the text appear here. Choose one to see why, or to correct it."));
    return;
  }
  const focused = document.activeElement?.dataset?.start;
  fill($("reading"), textNodes());
  if (focused !== undefined) $("reading").querySelector(`[data-start="${focused}"]`)?.focus();
  const count = record.ents.length;
  const none = emptyState("No mention found", "Select words of the text to mark one, or type them below it.");
  fill($("concepts"), h("h2", {}, `Concepts (${count})`), count ? h("ol.list", {}, record.ents.map(conceptRow)) : none);
}

function selectPlace(start, end) {
  for (const node of $("reading").querySelectorAll(".mention")) {
    const isChosen = Number(node.dataset.start) === start && Number(node.dataset.end) === end;
    node.setAttribute("aria-pressed", String(isChosen));
  }
}

function markMissed(event) {
  event.preventDefault();
  const words = $("missed").value.trim();
  const before = words ? record.text.toLowerCase().indexOf(words.toLowerCase()) : -1;
  if (before < 0) {
    toast("The text does not have these words.");
    return;
  }
  const start = Array.from(record.text.slice(0, before)).length;
  markPlace(start, start + Array.from(words).length);
  $("missed").value = "";
}

function markPlace(start, end) {
  openMention({ start, end, text: characters().slice(start, end).join(""), label: "", kb_id: "", candidates: [] }, record, { isNew: true });
}

function readSelection() {
  const selection = getSelection();
  if (record === null || selection.isCollapsed || !$("reading").contains(selection.anchorNode)) return;
  const range = selection.getRangeAt(0);
  const before = document.createRange();
  before.setStart($("reading"), 0);
  before.setEnd(range.startContainer, range.startOffset);
  const start = Array.from(before.toString()).length;
  const words = range.toString();
  if (!words.trim()) return;
  const skipped = Array.from(words).length - Array.from(words.trimStart()).length;
  markPlace(start + skipped, start + skipped + Array.from(words.trim()).length);
}

async function openFile() {
  const [file] = $("file").files;
  $("file").value = "";
  if (!file) return;
  try {
    texts = await busy($("reading"), () => readFile(file));
  } catch (error) {
    texts = [];
    toast(error.message);
  }
  $("steps").hidden = texts.length < 2;
  if (texts.length) go(0);
}

async function readFile(file) {
  const content = await file.text();
  if (!file.name.endsWith(".jsonl")) return [{ text: content }];
  const lines = content.split("\n").filter((line) => line.trim());
  return lines.map((line, number) => {
    try {
      const { text, mentions } = JSON.parse(line);
      if (typeof text === "string") return mentions ? { text, mentions } : { text };
    } catch {
      // told below
    }
    throw new Error(`Line ${number + 1} of the file is not an object with a "text".`);
  });
}

function go(place) {
  step = Math.min(Math.max(place, 0), texts.length - 1);
  $("steps").hidden = texts.length < 2;
  $("step").textContent = `${step + 1} of ${texts.length}`;
  $("previous").disabled = step === 0;
  $("next").disabled = step === texts.length - 1;
  $("text").value = texts[step].text;
  annotate(texts[step]);
}
