import type { Json } from "../api/json";
import { equal, isObject, meets, members, nameOf, textOf, type Condition, type Field, type Members } from "./spec";

// Fields that are shown under conditions. One that is not shown has no value: neither for the conditions of
// others, nor in what is sent. What was filled in is kept, for when it is shown again.

// under reports whether any field, or one below it, has conditions.
const known = new WeakMap<Field[], boolean>();
export function under(fields: Field[]): boolean {
  let found = known.get(fields);
  if (found === undefined) {
    known.set(fields, false);
    found = fields.some((f) => !!f.visible_when?.length || (f.fields !== undefined && under(f.fields)) || (f.items?.fields !== undefined && under(f.items.fields)));
    known.set(fields, found);
  }
  return found;
}

// rests are the keys that decide about a field, directly or not.
export function rests(fields: Field[], of: Field, seen = new Set<string>()): Set<string> {
  for (const c of of.visible_when ?? []) {
    if (seen.has(c.field)) continue;
    seen.add(c.field);
    const sibling = fields.find((f) => f.key === c.field);
    if (sibling) rests(fields, sibling, seen);
  }
  return seen;
}

// isShown reports whether the conditions of a field are met by the value of its object.
export function isShown(fields: Field[], of: Field, value: Json | undefined, left = 32): boolean {
  return (of.visible_when ?? []).every((c) => {
    const sibling = fields.find((f) => f.key === c.field);
    const given = isObject(value) && Object.hasOwn(value, c.field) && left > 0 && (!sibling || isShown(fields, sibling, value, left - 1));
    return met(c, given ? (value as Members)[c.field] : undefined);
  });
}

function met(c: Condition, v: Json | undefined): boolean {
  const among = (values: Json[]) => (Array.isArray(v) ? v : [v]).some((x) => values.some((y) => same(x, y)));
  if (c.not_in?.length) return v === undefined || !among(c.not_in);
  return v !== undefined && (!c.in?.length || among(c.in));
}

// same compares values as a schema does: 1 is 1.0.
const same = (a: Json | undefined, b: Json): boolean =>
  equal(a, b) || (a !== null && b !== null && ["number", "object"].includes(typeof a) && !isObject(a) && !Array.isArray(a) && !isObject(b) && !Array.isArray(b) && typeof b !== "string" && Number(String(a)) === Number(String(b)));

// ruledOut are the members that the keywords if, then and else of a schema accept no value of.
export function ruledOut(keywords: Members | undefined, value: Json | undefined): string[] {
  if (!keywords) return [];
  const out: string[] = [];
  for (const rule of [keywords as Json, ...(Array.isArray(keywords.allOf) ? keywords.allOf : [])]) {
    if (!isObject(rule) || !isObject(rule.if)) continue;
    const holds = meets(rule.if, value);
    const branch = holds === undefined ? undefined : holds ? rule.then : rule.else;
    if (isObject(branch) && isObject(branch.properties)) out.push(...Object.entries(branch.properties).filter(([, s]) => s === false).map(([n]) => n));
  }
  return out;
}

// pruned is a value without what is not shown. What has nothing hidden is the same object.
export function pruned(fields: Field[], value: Json | undefined, keywords?: Members): Json | undefined {
  if (!isObject(value) || (!under(fields) && !keywords?.if && !keywords?.allOf)) return value;
  const out = ruledOut(keywords, value);
  let next: Members | undefined;
  const put = (key: string, v: Json | undefined) => {
    next ??= members(value);
    if (v === undefined) delete next[key];
    else next[key] = v;
  };
  for (const f of fields) {
    const was = value[f.key];
    if (was === undefined) continue;
    if (out.includes(f.key) || !isShown(fields, f, value)) {
      put(f.key, undefined);
      continue;
    }
    const now = within(f, was);
    if (now !== was) put(f.key, isObject(now) && Object.keys(now).length === 0 && !f.required ? undefined : now);
  }
  return next ?? value;
}

function within(f: Field, v: Json): Json {
  if (f.type === "object" && f.fields) return pruned(f.fields, v)!;
  const item = f.items;
  if (!item) return v;
  if (Array.isArray(v)) {
    const list = v.map((x) => within(item, x));
    return list.some((x, i) => x !== v[i]) ? list : v;
  }
  if (!isObject(v)) return v;
  const entries = Object.entries(v).map(([n, x]) => [n, within(item, x)] as const);
  return entries.some(([n, x]) => x !== v[n]) ? Object.assign(members(), Object.fromEntries(entries)) : v;
}

// whenWords is when a field is shown, for those who read it.
export function whenWords(fields: Field[], of: Field): string {
  return (of.visible_when ?? [])
    .map((c) => {
      const sibling = fields.find((f) => f.key === c.field);
      const name = sibling ? nameOf(sibling) : c.field;
      const list = (values: Json[]) =>
        values.map((v) => sibling?.options?.find((o) => equal(o.value, v))?.label ?? (v === true ? "yes" : v === false ? "no" : textOf(v))).join(" or ");
      if (c.not_in?.length) return `${name} is not ${list(c.not_in)}`;
      if (c.in?.length) return `${name} ${sibling?.multiple || sibling?.type === "array" ? "has" : "is"} ${list(c.in)}`;
      return `${name} is given`;
    })
    .join(" and ");
}
