// Candidates and concepts, as the views show them.

import { getConcept } from "./api.js";
import { fill, h, percent } from "./dom.js";

export const NIL = "NIL";

// A candidate has a probability if its pipeline is calibrated, and always a score.
export const certainty = (candidate) => candidate.probability ?? Math.min(Math.max(candidate.score, 0), 1);

export function certaintyText(candidate) {
  return candidate.probability === null ? candidate.score.toFixed(2) : percent(candidate.probability);
}

function meter(candidate) {
  const kind = candidate.probability === null ? "Score" : "Probability";
  const bar = h("span.bar", { "aria-hidden": "true" });
  bar.style.setProperty("--share", certainty(candidate));
  return h("span.meter", { title: `${kind} ${certaintyText(candidate)}` }, bar, certaintyText(candidate));
}

// A list of candidates to choose from. `chosen` are the ids that count now.
export function candidateList(candidates, { chosen = [], choose, label, numbered = false }) {
  const rows = candidates.map((each, place) => {
    const isChosen = chosen.includes(each.concept_id);
    const key = numbered && place < 9 ? h("kbd", { "aria-hidden": "true" }, String(place + 1)) : null;
    const how = [
      each.text !== each.name ? `matched “${each.text}”` : null,
      each.search,
      each.part ? `part ${each.part}: ${each.searched}` : null,
      each.probability === null ? null : `score ${each.score.toFixed(2)}`,
    ];
    const button = h(
      "button.candidate",
      { type: "button", "aria-pressed": String(isChosen), onclick: () => choose(each) },
      key,
      h("span.names", {}, h("span.strong", {}, each.name), " ", h("code", {}, each.concept_id),
        h("span.muted.how", {}, how.filter(Boolean).join(" · "))),
      meter(each),
    );
    return h("li", {}, button);
  });
  return h("ol.candidates", { "aria-label": label }, rows);
}

function parentLink(parent, follow) {
  const content = [parent.name, " ", h("code", {}, parent.concept_id)];
  return follow
    ? h("button.link", { type: "button", onclick: () => follow(parent.concept_id) }, content)
    : h("span", {}, content);
}

// Fills an element with a concept: definition, types, names, parents.
export async function showConcept(element, id, { follow = null, heading = "h2" } = {}) {
  const concept = await getConcept(id);
  const rows = [
    ["Id", concept.url ? h("a", { href: concept.url, rel: "noreferrer" }, concept.concept_id) : h("code", {}, concept.concept_id)],
    ["Types", concept.types.map((type) => h("span.chip", {}, type))],
    ["Also called", concept.aliases.join("; ")],
    ["Parents", concept.parents.map((each) => h("div", {}, parentLink(each, follow)))],
    ["Other ids", concept.alt_ids.join(", ")],
  ].filter(([, value]) => value.length !== 0);
  fill(
    element,
    h(heading, {}, concept.name),
    h(concept.definition ? "p" : "p.muted", {}, concept.definition || "The ontology has no definition."),
    h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
  );
}
