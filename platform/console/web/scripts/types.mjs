// Writes src/api/schema.d.ts from the description of a server: npm run types -- http://127.0.0.1:8080
// Of the schemas, those stay that the console names, and what they are made of.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const at = process.argv[2] ?? "http://127.0.0.1:8080";
const doc = at.startsWith("http") ? await (await fetch(at + "/openapi.json")).json() : JSON.parse(readFileSync(at, "utf8"));
const asked = readdirSync("src/api").filter((f) => f.endsWith(".ts") && !f.endsWith(".d.ts")).map((f) => readFileSync(`src/api/${f}`, "utf8"));
const named = asked.join("\n").matchAll(/Schemas\["(\w+)"\]/g);
const all = doc.components.schemas;
const kept = {};
const keep = (name) => {
  if (kept[name]) return;
  kept[name] = all[name];
  for (const [, below] of JSON.stringify(all[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) keep(below);
};
for (const [, name] of named) keep(name);
const bare = (v) => {
  if (Array.isArray(v)) return v.map(bare);
  if (v === null || typeof v !== "object") return v;
  return Object.fromEntries(Object.entries(v).filter(([n, x]) => !(["example", "examples", "description"].includes(n) && (typeof x === "string" || Array.isArray(x)))).map(([n, x]) => [n, bare(x)]));
};
const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)).map(([n, s]) => [n, bare(s)]));
const ast = await openapiTS({ openapi: "3.1.0", info: doc.info, paths: {}, components: { schemas: sorted } });
writeFileSync("src/api/schema.d.ts", "// Generated from the API's description by npm run types. Do not edit.\n\n" + astToString(ast));
