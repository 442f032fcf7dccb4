// The API's description, read from /openapi.json.

import { $, fill, h } from "./dom.js";

function typeOf(schema, schemas) {
  if (!schema) return "";
  if (schema.$ref) return fields(schemas[schema.$ref.split("/").pop()], schemas);
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, schemas)).join(" | ");
  if (schema.type === "array") return `[${typeOf(schema.items, schemas) || (schema.prefixItems ?? []).map((each) => typeOf(each, schemas)).join(", ")}]`;
  return schema.type ?? "anything";
}

function fields(schema, schemas) {
  const required = schema.required ?? [];
  const parts = Object.entries(schema.properties ?? {}).map(
    ([name, each]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(each, schemas)}`);
  return `{${parts.join(", ")}}`;
}

function operation(method, path, described, schemas) {
  const [kind, content] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const parameters = (described.parameters ?? []).map((each) => `${each.name}: ${typeOf(each.schema, schemas)}`);
  const rows = [
    ["Parameters", parameters.join(", ")],
    ["Body", content?.schema ? typeOf(content.schema, schemas) : kind],
  ].filter(([, value]) => value);
  return h("section.card", {},
    h("h2", {}, `${method.toUpperCase()} ${path}`),
    h("p", {}, described.description ?? ""),
    h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("code", {}, value))])));
}

const api = await (await fetch("openapi.json")).json();
fill($("operations"), Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => operation(method, path, described, api.components.schemas))));
