import { Num, print, type Json } from "../api/json";

// What the server reads out of a schema: see docs/fields.md. Names are those of the server.

export interface Option {
  value: Json;
  label?: string;
}

export interface Field {
  key: string;
  label?: string;
  description?: string;
  type: string;
  display?: string;
  required?: boolean;
  nullable?: boolean;
  default?: Json;
  placeholder?: string;
  help?: string;
  min?: Json;
  max?: Json;
  above?: Json;
  below?: Json;
  step?: Json;
  integer?: boolean;
  unit?: string;
  min_length?: number;
  max_length?: number;
  pattern?: string;
  format?: string;
  options?: Option[];
  multiple?: boolean;
  min_items?: number;
  max_items?: number;
  unique?: boolean;
  items?: Field;
  accept?: string[];
  max_bytes?: number;
  entity_type?: string;
  fields?: Field[];
  open?: boolean;
  section?: string;
  advanced?: boolean;
  hidden?: boolean;
  visible_when?: Condition[]; // All are met where it is shown.
  annotations?: { [name: string]: Json };
  schema?: Json;
}

// Condition is about another field of the same object: in names values that it has, not_in those that it has
// not; without both it has any.
export interface Condition {
  field: string;
  in?: Json[];
  not_in?: Json[];
}

export interface FormSpec {
  fields: Field[];
  open?: boolean;
  keywords?: { [name: string]: Json };
  schema?: Json;
  kept?: { pointer: string; reason: string }[];
}

export interface Section {
  key: string;
  label?: string;
  type: string;
  config?: unknown;
}

// displays are those of each type, its default first, as the server has them.
export const displays: Record<string, string[]> = {
  text: ["input", "textarea", "markdown", "code"],
  number: ["input", "slider", "currency", "percent", "rating"],
  boolean: ["switch", "checkbox"],
  date: ["date", "datetime", "time"],
  enum: ["select", "radio", "chips"],
  url: ["input", "link"],
  email: ["input", "link"],
  phone: ["input", "link"],
  media: ["file", "image", "audio", "video"],
  file: ["file", "image"],
  relation: ["picker", "select"],
  object: ["group", "map", "json"],
  array: ["list", "table", "tags"],
};

export const shown = (f: Field): string => f.display ?? displays[f.type]?.[0] ?? "json";

export type Members = { [name: string]: Json };
export const isObject = (v: unknown): v is Members => typeof v === "object" && v !== null && !Array.isArray(v) && !(v instanceof Num);
export const isEmpty = (v: Json | undefined): boolean => isObject(v) && Object.keys(v).length === 0;
export const members = (of?: Members): Members => Object.assign(Object.create(null), of);

// equal compares values; numbers by how they are written.
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if ((a instanceof Num || typeof a === "number") && (b instanceof Num || typeof b === "number")) return String(a) === String(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((v, i) => equal(v, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((n) => n in b && equal(a[n], b[n]));
}

// escape writes a name as a part of a JSON Pointer.
export const escape = (name: string | number): string => "/" + String(name).replaceAll("~", "~0").replaceAll("/", "~1");
export const split = (path: string): string[] =>
  path === "" ? [] : path.slice(1).split("/").map((p) => p.replaceAll("~1", "/").replaceAll("~0", "~"));

export function get(root: Json | undefined, path: string): Json | undefined {
  let v = root;
  for (const name of split(path)) {
    if (Array.isArray(v)) v = v[Number(name)];
    else if (isObject(v) && Object.hasOwn(v, name)) v = v[name];
    else return undefined;
  }
  return v;
}

// put returns a copy of root with another value at a path; undefined removes it. What is beside the path is
// the same as before, so that it is not shown again.
export function put(root: Json | undefined, path: string[], value: Json | undefined): Json | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(root)) {
    const out = [...root];
    const next = put(out[Number(name)], rest, value);
    if (next === undefined) out.splice(Number(name), 1);
    else out[Number(name)] = next;
    return out;
  }
  const out = members(isObject(root) ? root : undefined);
  const next = put(out[name], rest, value);
  if (next === undefined) delete out[name];
  else out[name] = next;
  return out;
}

// initial is what a form begins with: the defaults of its fields.
export function initial(fields: Field[]): Members {
  const out = members();
  for (const f of fields) {
    if (f.default !== undefined) out[f.key] = f.default;
    else if (f.type === "object" && shown(f) === "group" && f.fields) {
      const below = initial(f.fields);
      if (!isEmpty(below) || f.required) out[f.key] = below;
    }
  }
  return out;
}

// nameOf is what people call a field.
export const nameOf = (f: Field): string => f.label || f.key || "Value";

// textOf writes a value in a line.
export const textOf = (v: Json | undefined): string => (v === undefined ? "" : v === null ? "null" : typeof v === "string" ? v : print(v));

// limits are those of a value, in words.
export function limits(f: Field): string {
  const parts: string[] = [];
  const add = (v: unknown, words: string, after = "") => v !== undefined && v !== "" && parts.push(`${words} ${String(v)}${String(v) === "1" ? after.replace(/s$/, "") : after}`);
  if (f.integer) parts.push("a whole number");
  add(f.min, "at least");
  add(f.max, "at most");
  add(f.above, "more than");
  add(f.below, "less than");
  add(f.step, "in steps of");
  if (f.format) parts.push(`format ${f.format}`);
  add(f.min_length, "at least", " characters");
  add(f.max_length, "at most", " characters");
  const what = f.type === "array" ? "items" : f.type === "object" ? "members" : "";
  if (what || f.multiple) {
    add(f.min_items, "at least", " " + (what || "values"));
    add(f.max_items, "at most", " " + (what || "values"));
    if (f.unique) parts.push("none twice");
  }
  return parts.join(", ");
}

// sizeOf writes a number of bytes for people.
export function sizeOf(n: number): string {
  if (n >= 1 << 20) return `${(n / (1 << 20)).toFixed(1).replace(/\.0$/, "")} MB`;
  return n >= 1 << 10 ? `${(n / (1 << 10)).toFixed(1).replace(/\.0$/, "")} kB` : `${n} bytes`;
}

// numberOf reads a number as it is written; a text that is none stays one, for the server to refuse.
export function numberOf(text: string): Json | undefined {
  const t = text.trim();
  if (t === "") return undefined;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(t)) return text;
  return String(Number(t)) === t ? Number(t) : new Num(t);
}

// needed are the keys that must be given with what is given by now: by the field itself, or by the keywords
// dependentRequired and if of its object.
export function neededBy(keywords: Members | undefined, value: Json | undefined): string[] {
  const out: string[] = [];
  if (!keywords) return out;
  const has = (name: string) => isObject(value) && value[name] !== undefined;
  const dependent = keywords.dependentRequired;
  if (isObject(dependent)) {
    for (const [name, list] of Object.entries(dependent)) if (has(name) && Array.isArray(list)) out.push(...list.map(String));
  }
  const rules = [keywords as Json, ...(Array.isArray(keywords.allOf) ? keywords.allOf : [])];
  for (const rule of rules) {
    if (!isObject(rule) || !isObject(rule.if)) continue;
    const met = meets(rule.if, value);
    const branch = met === undefined ? undefined : met ? rule.then : rule.else;
    if (isObject(branch) && Array.isArray(branch.required)) out.push(...branch.required.map(String));
  }
  return out;
}

// meets reports whether a value meets a condition that names members and their values, and undefined for others.
export function meets(condition: Members, value: Json | undefined): boolean | undefined {
  for (const [name, rule] of Object.entries(condition)) {
    if (name === "required" && Array.isArray(rule)) {
      if (!rule.every((n) => isObject(value) && value[String(n)] !== undefined)) return false;
    } else if (name === "properties" && isObject(rule)) {
      for (const [key, want] of Object.entries(rule)) {
        const v = isObject(value) ? value[key] : undefined;
        if (!isObject(want) || Object.keys(want).some((k) => k !== "const" && k !== "enum")) return undefined;
        if (v === undefined) continue;
        const list = Array.isArray(want.enum) ? want.enum : [want.const as Json];
        if (!list.some((x) => equal(x, v))) return false;
      }
    } else if (name !== "type") return undefined;
  }
  return true;
}
