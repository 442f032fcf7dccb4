// Calls of the API.

import { $ } from "./dom.js";

const TOKEN = "connorm-token";

// The token of the address; what stands after # never leaves the browser.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
}

export class Refusal extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
  }
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

async function call(method, path, { body = undefined, type = "application/json" } = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ""}` };
  if (body !== undefined) headers["Content-Type"] = type;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body });
  } catch {
    throw new Refusal(0, { message: "The server can't be reached. Is it running?" });
  }
  const content = await answer.json().catch(() => ({}));
  if (answer.ok) return content;
  if (answer.status === 401) $("token-form").hidden = false;
  throw new Refusal(answer.status, content.error ?? { message: `The server answered ${answer.status}.` });
}

export const get = (path) => call("GET", path);
export const post = (path, content) => call("POST", path, { body: JSON.stringify(content) });
export const send = (path, body) => call("POST", path, { body, type: "application/octet-stream" });

const known = new Map();

export function getConcept(id) {
  if (!known.has(id)) {
    const asked = get(`api/concepts/${encodeURIComponent(id)}`);
    asked.catch(() => known.delete(id));
    known.set(id, asked);
  }
  return known.get(id);
}

export const author = () => $("author").value.trim();
