import { parse, print, type Json } from "../../api/json";
import { json, type Tool } from "../../api/queries";

// Draft is a definition while it is edited: its fields as the API names them, and as text what is written as JSON.
export interface Draft {
  fields: Fields;
  texts: Record<string, string>; // By pointer: what is written as JSON, also while it is none.
}

export type Fields = { [name: string]: Json };

export const get = (of: Json | undefined, pointer: string): Json | undefined => {
  let v = of;
  for (const part of pointer.split("/").slice(1)) {
    if (v === null || typeof v !== "object" || Array.isArray(v)) return undefined;
    v = (v as Fields)[part];
  }
  return v;
};

// set returns a copy with a value at a pointer. Undefined takes the member away, and objects that it leaves empty.
export function set(of: Fields, pointer: string, value: Json | undefined): Fields {
  const [name = "", ...rest] = pointer.split("/").slice(1);
  const out = { ...of };
  let v = value;
  if (rest.length > 0) {
    const at = out[name];
    const below = set(at && typeof at === "object" && !Array.isArray(at) ? (at as Fields) : {}, "/" + rest.join("/"), value);
    v = Object.keys(below).length > 0 ? below : undefined;
  }
  if (v === undefined) delete out[name];
  else out[name] = v;
  return out;
}

// asJSON are the members that are written as JSON.
export const asJSON = ["/input_schema", "/output_schema", "/implementation_config"];

const plain = (v: unknown): Json | undefined => {
  const of = json(v);
  return of && typeof of === "object" && !Array.isArray(of) && Object.keys(of).length === 0 ? undefined : of;
};

const defaults: Record<string, string> = { permission_policy: "auto", egress_class: "none" };

// draftOf is the definition of a tool that exists: all of it, so that saving loses nothing.
export function draftOf(t: Tool): Draft {
  const fields: Fields = {};
  const add = (name: string, v: unknown) => {
    const of = plain(v);
    if (of !== undefined && of !== "" && of !== null && of !== defaults[name]) fields[name] = of;
  };
  add("slug", t.slug);
  add("name", t.name);
  add("description", t.description);
  add("category", t.category);
  add("icon", t.icon);
  add("version", t.version);
  add("implementation_type", t.implementation_type);
  add("implementation_config", t.implementation_config);
  add("input_schema", t.input_schema);
  add("output_schema", t.output_schema);
  add("output_check", t.output_check);
  add("execution_config", t.execution);
  add("interaction", t.interaction);
  add("egress_class", t.egress_class);
  add("egress_rules", t.egress_rules);
  add("permission_policy", t.permission_policy);
  add("required_permission", t.required_permission);
  add("artifact_id", t.artifact_id);
  add("artifact_version", t.artifact_version);
  if (t.requires_approval) fields.requires_approval = true;
  return { fields, texts: textsOf(fields) };
}

export const textsOf = (fields: Fields): Record<string, string> =>
  Object.fromEntries(asJSON.map((p) => [p, get(fields, p) === undefined ? "" : print(get(fields, p), 2)]));

export function newDraft(type: string): Draft {
  const fields: Fields = {
    implementation_type: type,
    version: "1.0.0",
    ...(["http", "mcp", "rag_retrieval"].includes(type) && { egress_class: "read_only" }),
    ...(type === "http" && { implementation_config: { method: "GET" } }),
    input_schema: ["agent_call", "task", "input", "rag_retrieval"].includes(type)
      ? (undefined as unknown as Json)
      : { type: "object", properties: {}, additionalProperties: false },
  };
  if (fields.input_schema === undefined) delete fields.input_schema;
  return { fields, texts: textsOf(fields) };
}

// edited returns a draft with a change at a pointer; texts follow the fields.
export function edited(d: Draft, pointer: string, value: Json | undefined): Draft {
  const fields = set(d.fields, pointer, value);
  const of = asJSON.find((p) => pointer.startsWith(p));
  return { fields, texts: of ? { ...d.texts, [of]: get(fields, of) === undefined ? "" : print(get(fields, of), 2) } : d.texts };
}

// written returns a draft with a text of JSON; what is no JSON stays text alone, and is a fault.
export function written(d: Draft, pointer: string, text: string): Draft {
  const texts = { ...d.texts, [pointer]: text };
  if (text.trim() === "") return { fields: set(d.fields, pointer, undefined), texts };
  try {
    return { fields: set(d.fields, pointer, parse(text)), texts };
  } catch {
    return { fields: d.fields, texts };
  }
}

export function unreadable(d: Draft): { path: string; detail: string }[] {
  return Object.entries(d.texts).flatMap(([path, text]) => {
    if (text.trim() === "") return [];
    try {
      parse(text);
      return [];
    } catch (e) {
      const at = Number(/(\d+)$/.exec((e as Error).message)?.[1] ?? 0);
      const before = text.slice(0, at).split("\n");
      return [{ path, detail: `This is not JSON: line ${before.length}, character ${before.at(-1)!.length + 1}.` }];
    }
  });
}
