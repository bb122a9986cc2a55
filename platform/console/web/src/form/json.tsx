import { Suspense, useEffect, useId, useRef, useState } from "react";
import { parse, print, type Json } from "../api/json";
import { lazyPart } from "../load";
import { Frame, usePart, type InputProps } from "./frame";
import { Input } from "./groups";
import { equal, isObject, members, nameOf, textOf, type Field } from "./spec";
import { useForm } from "./store";

// What no field can express is written as JSON, or as one of the alternatives that its schema lists.

const Code = lazyPart(() => import("./code"));

// JsonInput edits a value as JSON. of and write are for a part of the value at the path.
export function JsonInput(p: InputProps & { of?: Json | undefined; write?: (v: Json | undefined) => void; check?: (v: Json | undefined) => string | undefined }) {
  const own = usePart(p);
  const { store } = useForm();
  const unique = useId();
  const value = p.write ? p.of : own.value;
  const at = p.write ? `${p.path}/ other` : p.path;
  const [text, setText] = useState(() => (value === undefined ? "" : print(value, 2)));
  const [fault, setFault] = useState<string>();
  const last = useRef(value);
  useEffect(() => {
    if (equal(value, last.current)) return;
    last.current = value; // Set from elsewhere.
    setText(value === undefined ? "" : print(value, 2));
    setFault(undefined);
    store.fault(at, undefined);
  }, [value, store, at]);
  useEffect(() => () => store.fault(at, undefined), [store, at]);
  const change = (t: string) => {
    setText(t);
    let next: Json | undefined;
    let problem: string | undefined;
    try {
      next = t.trim() === "" ? undefined : parse(t);
      problem = p.check?.(next);
    } catch (e) {
      problem = (e as Error).message;
    }
    setFault(problem);
    store.fault(at, problem);
    if (problem !== undefined) return;
    last.current = next;
    (p.write ?? own.set)(next);
  };
  const part = { ...own, value, id: p.write ? own.id + unique : own.id, problem: fault ?? (p.write ? undefined : own.problem) };
  return (
    <Frame of={p} part={part}>
      <textarea id={part.id} className="code" rows={Math.min(12, Math.max(3, text.split("\n").length))} value={text} spellCheck={false} placeholder="JSON"
        {...own.described} {...(part.problem && { "aria-invalid": true, "aria-describedby": `${part.id}:problem` })} onChange={(e) => change(e.target.value)} />
    </Frame>
  );
}

// ObjectInput is an input of JSON, or of alternatives where the schema lists some.
export function ObjectInput(p: InputProps) {
  const branches = branchesOf(p.field.schema);
  return branches.length > 1 ? <ChoiceInput {...p} branches={branches} /> : branches.length === 1 ? <Input {...p} field={{ ...branches[0]!, ...naming(p.field) }} /> : <JsonInput {...p} />;
}

const naming = (f: Field): Partial<Field> => ({ key: f.key, ...(f.label !== undefined && { label: f.label }), ...(f.description !== undefined && { description: f.description }) });

function ChoiceInput(p: InputProps & { branches: Field[] }) {
  const part = usePart(p, false);
  const { store } = useForm();
  const guess = () => {
    if (part.value === undefined) return -1;
    const found = p.branches.findIndex((b) => fits(b, part.value!));
    return found < 0 ? p.branches.length : found;
  };
  const [at, setAt] = useState(guess);
  const chosen = at >= 0 && part.value !== undefined && p.branches[at] && !fits(p.branches[at], part.value) && part.value !== "" ? guess() : at;
  const branch = p.branches[chosen];
  const name = `${part.id}:choice`;
  const choose = (i: number) => {
    setAt(i);
    store.forget(p.path);
    const b = p.branches[i];
    part.set(b?.type === "null" ? null : b?.type === "object" && b.fields ? fixed(b) : undefined);
  };
  return (
    <Frame of={p} part={part} set>
      <div className="f-chips" role="radiogroup" aria-label={`Kind of ${nameOf(p.field)}`}>
        {[...p.branches.map((b) => b.label ?? b.type), "JSON"].map((label, i) => (
          <label key={i}>
            <input type="radio" name={name} checked={i === chosen} onChange={() => choose(i)} />
            {label}
          </label>
        ))}
      </div>
      {branch && branch.type !== "null" && <Input key={chosen} field={{ ...branch, key: p.field.key }} path={p.path} required={!!p.required} {...(branch.type !== "object" && branch.type !== "array" && { bare: true })} />}
      {chosen === p.branches.length && <JsonInput field={{ key: p.field.key, label: "JSON", type: "object", display: "json" }} path={p.path} />}
    </Frame>
  );
}

// fixed has the members of which a branch accepts one value alone.
function fixed(b: Field): Json | undefined {
  const out = members();
  for (const f of b.fields ?? []) if (f.hidden && f.default !== undefined) out[f.key] = f.default;
  return Object.keys(out).length ? out : undefined;
}

function fits(b: Field, v: Json): boolean {
  if (b.type === "null") return v === null;
  if (b.type === "number") return !isObject(v) && !Array.isArray(v) && v !== null && typeof v !== "string" && typeof v !== "boolean";
  if (b.type === "boolean") return typeof v === "boolean";
  if (b.type === "array") return Array.isArray(v);
  if (b.type === "enum") return (b.options ?? []).some((o) => equal(o.value, v));
  if (b.type === "object") return isObject(v) && (b.fields ?? []).every((f) => !f.hidden || equal(f.default, v[f.key]));
  return typeof v === "string";
}

// branchesOf are the alternatives of a schema, as far as each is a field; none where one is not.
export function branchesOf(schema: Json | undefined): Field[] {
  if (!isObject(schema)) return [];
  const list = schema.oneOf ?? schema.anyOf ?? (Array.isArray(schema.type) ? schema.type.map((t) => ({ ...schema, type: t })) : undefined);
  if (!Array.isArray(list) || list.length > 8) return [];
  const out = list.map((s) => fieldOf("", s));
  return out.every((f) => f !== undefined) ? (out as Field[]) : [];
}

const kinds: Record<string, string> = { string: "text", integer: "number", number: "number", boolean: "boolean" };

// fieldOf is the field of a plain schema, and undefined for others. What it leaves out, the server checks.
function fieldOf(key: string, s: Json | undefined, depth = 0): Field | undefined {
  if (!isObject(s) || depth > 4 || "$ref" in s || "allOf" in s || "oneOf" in s || "anyOf" in s) return undefined;
  const about = {
    key, ...(typeof s.title === "string" && { label: s.title }), ...(typeof s.description === "string" && { description: s.description }),
    ...(s.default !== undefined && { default: s.default }),
  };
  if (s.const !== undefined) return { ...about, type: "enum", options: [{ value: s.const }], hidden: true, default: s.const, label: about.label ?? textOf(s.const) };
  if (Array.isArray(s.enum)) return { ...about, type: "enum", options: s.enum.map((value) => ({ value })), ...(depth === 0 && { label: about.label ?? "one of" }) };
  const type = String(s.type);
  if (type === "null") return { ...about, type: "null", label: about.label ?? "null" };
  if (type in kinds) {
    const f: Field = { ...about, type: kinds[type]!, ...(depth === 0 && { label: about.label ?? type }) };
    if (type === "integer") f.integer = true;
    if (s.minimum !== undefined) f.min = s.minimum;
    if (s.maximum !== undefined) f.max = s.maximum;
    return f;
  }
  if (type === "array") {
    const items = fieldOf("", s.items, depth + 1) ?? { key: "", type: "object", display: "json" };
    return { ...about, type: "array", items, ...(depth === 0 && { label: about.label ?? "list" }) };
  }
  if (type !== "object") return undefined;
  if (!isObject(s.properties)) return { ...about, type: "object", display: "json", label: about.label ?? "object" };
  const required = Array.isArray(s.required) ? s.required : [];
  const fields = Object.entries(s.properties).map(([n, sub]) => {
    const f = fieldOf(n, sub, depth + 1) ?? ({ key: n, type: "object", display: "json", schema: sub } as Field);
    return required.includes(n) ? { ...f, required: true } : f;
  });
  const by = fields.find((f) => f.hidden);
  return { ...about, type: "object", display: "group", fields, open: s.additionalProperties !== false, ...(depth === 0 && { label: about.label ?? (by ? textOf(by.default) : "object") }) };
}

// JsonEditor is an editor for a whole value, with the colours and checks of one for code.
export function JsonEditor({ text, onChange, label, problem }: { text: string; onChange: (text: string) => void; label: string; problem?: string | undefined }) {
  return (
    <Suspense fallback={<div className="loading" aria-busy="true" />}>
      <Code text={text} onChange={onChange} label={label} problem={problem} />
    </Suspense>
  );
}
