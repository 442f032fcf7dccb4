// Searching: candidates as you type.

import { post } from "./api.js";
import { candidateList, showConcept } from "./candidates.js";
import { $, emptyState, fill, h, oneAtATime } from "./dom.js";

let shown = "";

export function startSearching() {
  const find = oneAtATime(findOnce);
  for (const id of ["phrase", "type", "branch"]) {
    $(id).addEventListener("input", find);
  }
  $("search-form").addEventListener("submit", (event) => event.preventDefault());
  $("search-form").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && event.target === $("phrase")) {
      event.preventDefault();
      $("results").querySelector("button")?.focus();
    }
  });
  showNothing();
}

function showNothing() {
  fill($("results"), h("h2", {}, "Candidates"), emptyState("Type a phrase", "Candidates appear as you type, the nearest first."));
  fill($("found-concept"), h("h2", {}, "Concept"), emptyState("No concept chosen", "Choose a candidate to see its definition, types and parents."));
}

async function findOnce() {
  const phrase = $("phrase").value.trim();
  if (!phrase) {
    showNothing();
    return;
  }
  const body = { mentions: [phrase], top_k: 10 };
  if ($("type").value) body.types = [$("type").value];
  if ($("branch").value.trim()) body.branches = [$("branch").value.trim()];
  try {
    const answer = await post("api/search", body);
    const { candidates } = answer.results[0];
    fill($("results"), h("h2", {}, "Candidates"), candidates.length
      ? candidateList(candidates, { chosen: [shown], choose: (each) => show(each.concept_id), label: "Candidates" })
      : emptyState("Nothing found", "Try other words, or remove the filters."));
  } catch (error) {
    fill($("results"), h("h2", {}, "Candidates"), h("p.error", {}, error.message));
  }
}

async function show(id) {
  shown = id;
  for (const button of $("results").querySelectorAll(".candidate")) {
    button.setAttribute("aria-pressed", String(button.querySelector("code").textContent === id));
  }
  try {
    await showConcept($("found-concept"), id, { follow: show });
  } catch (error) {
    fill($("found-concept"), h("p.error", {}, error.message));
  }
}
