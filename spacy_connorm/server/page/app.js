// Starts the page: views, the name, the token, and what others have corrected meanwhile.

import { Refusal, get, keepToken } from "./api.js";
import { showCorrections } from "./corrections.js";
import { $, h, toast } from "./dom.js";
import { annotateAgain, startReading } from "./read.js";
import { refreshReview, startReview } from "./review.js";
import { startSearching } from "./search.js";

const VIEWS = { read: "Read", search: "Search", review: "Review", corrections: "Corrections" };
const AUTHOR = "connorm-author";
const EVERY = 2000;
let revision = -1;
let isReachable = true;
let hasReview = false;

function showView() {
  const asked = location.hash.slice(1);
  const first = hasReview ? "review" : "read";
  const view = asked in VIEWS && (asked !== "review" || hasReview) ? asked : first;
  for (const each of Object.keys(VIEWS)) $(each).hidden = each !== view;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  $("title").textContent = VIEWS[view];
  document.title = `${VIEWS[view]} · connorm`;
  if (view === "search") $("phrase").focus();
  if (view === "review") $("review-row").focus();
}

// Reads the corrections if there are new ones, of anybody. Texts are annotated again then.
export async function refresh() {
  const answer = await get(`api/corrections?since=${revision}`);
  isReachable = true;
  if (answer.corrections === null) return;
  const isFirst = revision < 0;
  revision = answer.revision;
  $("count").hidden = answer.total === 0;
  $("count").textContent = answer.total;
  showCorrections(answer.corrections, refresh);
  if (!isFirst) await annotateAgain();
}

async function poll() {
  try {
    if (!document.hidden && $("token-form").hidden) {
      await refresh();
      if (hasReview) await refreshReview();
    }
  } catch (error) {
    if (isReachable && error instanceof Refusal) toast(error.message);
    isReachable = false;
  }
  setTimeout(poll, EVERY);
}

async function start() {
  const info = await get("api/info");
  $("token-form").hidden = true;
  $("pipeline").textContent = [info.pipeline, info.ontology, info.release].filter(Boolean).join(" · ");
  $("about").textContent = `${info.concepts.toLocaleString("en")} concepts · corrections are kept on the server`;
  for (const type of info.types) $("type").append(h("option", { value: type }, type));
  startReading(info, refresh);
  startSearching(info);
  hasReview = info.review !== null;
  if (hasReview) await startReview(info);
  showView();
  await refresh();
  poll();
}

$("author").value = localStorage.getItem(AUTHOR) ?? "";
$("author").addEventListener("change", () => localStorage.setItem(AUTHOR, $("author").value));
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken($("token").value);
  start().catch((error) => toast(error.message));
});
window.addEventListener("hashchange", showView);
start().catch((error) => toast(error.message));
