// The list of corrections.

import { NIL } from "./candidates.js";
import { $, emptyState, fill, h } from "./dom.js";
import { undo } from "./mention.js";

const CONTEXT = 60;
const cut = (part) => Array.from(part).length >= CONTEXT;
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function showCorrections(corrections) {
  const focused = document.activeElement?.dataset?.undo;
  fill($("correction-list"), h("h2", {}, "Corrections"), corrections.length
    ? h("div", {}, corrections.map(row))
    : emptyState("No corrections yet", "Choose a mention in a text, then the concept that it means. It applies to all texts at once."));
  if (focused) $("correction-list").querySelector("button")?.focus();
}

function row(each) {
  const isPast = each.state !== "counts";
  const meaning = each.kb_id === NIL ? "no concept" : each.names.join(" | ");
  const said = `${each.author || "Somebody"}, ${when.format(new Date(each.time))}`;
  const past = each.state === "undone" ? `, undone by ${each.undone_by || "somebody"}` : each.state === "replaced" ? ", replaced by a later one" : "";
  const node = h("article.correction", {},
    h("p.context", {}, cut(each.before) ? "…" : "", each.before, h("b", {}, each.mention), each.after, cut(each.after) ? "…" : ""),
    h("p.when.muted", {}, h("span.strong", {}, meaning), " ", each.kb_id === NIL ? null : h("code", {}, each.kb_id), ` · ${said}${past}`),
    each.state === "undone" ? null : h("button", { type: "button", "data-undo": each.id, "aria-label": `Undo: ${each.mention}, ${meaning}`, onclick: () => undo(each.id) }, "Undo"));
  node.classList.toggle("past", isPast);
  return node;
}
