import { memo, useId, useMemo, useRef, useState } from "react";
import type { Json } from "../api/json";
import { entityTypes } from "../api/forms";
import { Badge } from "../ui/parts";
import { say } from "../ui/live";
import { FormView } from "./form";
import { Conditions } from "./when";
import { displays, isObject, nameOf, numberOf, shown, textOf, type Field, type Option } from "./spec";
import type { Problems } from "./store";

// FieldsEditor edits a list of fields: what a tool takes as input_fields, and the server makes the schema of.

const types = Object.keys(displays);
const widest = 256;

export function FieldsEditor({ value, onChange, errors, label = "Fields", depth = 0 }: {
  value: Field[];
  onChange: (value: Field[]) => void;
  errors?: Problems | undefined; // By JSON Pointer into the list, such as /0/key.
  label?: string;
  depth?: number;
}) {
  const list = useRef<HTMLOListElement>(null);
  const keys = useRef<string[]>([]);
  const made = useRef(0);
  while (keys.current.length < value.length) keys.current.push(`f${++made.current}`);
  keys.current.length = value.length;
  const [open, setOpen] = useState<string>();
  const focus = (i: number, what: string) => requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>(":scope > li")[i]?.querySelector<HTMLElement>(what)?.focus());
  const shift = (from: number, to: number) => {
    if (to < 0 || to >= value.length) return;
    const next = [...value];
    next.splice(to, 0, ...next.splice(from, 1));
    keys.current.splice(to, 0, ...keys.current.splice(from, 1));
    onChange(next);
    say(`${value[from]!.key || "The field"} moved to ${to + 1} of ${value.length}`);
    focus(to, to < from ? ".f-up:enabled, .f-down:enabled" : ".f-down:enabled, .f-up:enabled");
  };
  const add = () => {
    const names = new Set(value.map((f) => f.key));
    let n = value.length + 1;
    while (names.has(`field${n}`)) n++;
    const key = `f${++made.current}`;
    keys.current.push(key);
    setOpen(key);
    onChange([...value, { key: `field${n}`, type: "text" }]);
    focus(value.length, ".f-form input");
  };
  return (
    <div className="f-editor" role="group" aria-label={label}>
      {value.length === 0 && <p className="muted">No fields yet: the value is an object without members.</p>}
      <ol ref={list}>
        {value.map((f, i) => {
          const wrong = Object.entries(errors ?? {}).filter(([p]) => p === `/${i}` || p.startsWith(`/${i}/`));
          return (
            <li key={keys.current[i]} onKeyDown={(e) => {
              if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
              e.preventDefault();
              e.stopPropagation();
              shift(i, i + (e.key === "ArrowUp" ? -1 : 1));
            }}>
              <div className="f-row f-edit-head">
                <button type="button" className="quiet f-edit-open" aria-expanded={open === keys.current[i]} onClick={() => setOpen(open === keys.current[i] ? undefined : keys.current[i])}>
                  <span className="slug">{f.key || "(no key)"}</span>
                  {f.label && <span className="muted">{f.label}</span>}
                </button>
                <Badge>{f.type}{f.display && f.display !== displays[f.type]?.[0] ? ` as ${f.display}` : ""}{f.multiple ? ", several" : ""}</Badge>
                {f.required && <Badge tone="warn">required</Badge>}
                {wrong.length > 0 && <Badge tone="bad">{wrong.length} refused</Badge>}
                <span className="f-item-tools">
                  <button type="button" className="quiet f-up" disabled={i === 0} aria-label={`Move ${f.key} up`} onClick={() => shift(i, i - 1)}>↑</button>
                  <button type="button" className="quiet f-down" disabled={i === value.length - 1} aria-label={`Move ${f.key} down`} onClick={() => shift(i, i + 1)}>↓</button>
                  <button type="button" className="quiet f-remove" aria-label={`Remove ${f.key}`} onClick={() => {
                    keys.current.splice(i, 1);
                    onChange(value.filter((_, j) => j !== i));
                    say(`${f.key} removed`);
                  }}>✕</button>
                </span>
              </div>
              {open === keys.current[i] && (
                <FieldEditor value={f} depth={depth} among={value}
                  errors={Object.fromEntries(wrong.map(([p, t]) => [p.slice(`/${i}`.length), t]))}
                  onChange={(next) => onChange(value.map((x, j) => (j === i ? next : next.key === f.key ? x : renamed(x, f.key, next.key))))} />
              )}
            </li>
          );
        })}
      </ol>
      <p>
        <button type="button" className="button" disabled={value.length >= widest} onClick={add}>Add a field</button>
        {value.length > 1 && <span className="f-hint">Alt and ↑ or ↓ move a field</span>}
      </p>
    </div>
  );
}

// FieldDefinitionEditor is its other name.
export { FieldsEditor as FieldDefinitionEditor };

const text = (key: string, label: string, more: Partial<Field> = {}): Field => ({ key, label, type: "text", ...more });
const number = (key: string, label: string, more: Partial<Field> = {}): Field => ({ key, label, type: "number", ...more });
const yes = (key: string, label: string, more: Partial<Field> = {}): Field => ({ key, label, type: "boolean", display: "checkbox", ...more });

// membersOf are what a field of a type may say, as fields.
function membersOf(f: Field, item: boolean): Field[] {
  const display = shown(f);
  const several = f.multiple || f.type === "array";
  const texts = ["text", "date", "url", "email", "phone", "media", "relation"].includes(f.type);
  return [
    ...(item ? [] : [text("key", "Key", { required: true, description: "The name of the member." }), text("label", "Label")]),
    { key: "type", label: "Type", type: "enum", required: true, options: types.map((value) => ({ value })) },
    { key: "display", label: "Shown as", type: "enum", placeholder: displays[f.type]?.[0] ?? "", options: (displays[f.type] ?? []).map((value) => ({ value })) },
    text("description", "Description", { display: "textarea", help: "Models read it." }),
    ...(item ? [] : [yes("required", "Required")]),
    ...(f.schema === undefined ? [yes("nullable", "Null is accepted")] : []),
    ...(["enum", "media", "file", "relation"].includes(f.type) ? [yes("multiple", "Several")] : []),
    ...(f.type === "number" ? [yes("integer", "A whole number"), number("min", "At least"), number("max", "At most"), number("above", "More than"), number("below", "Less than"), number("step", "In steps of"), text("unit", "Unit", { placeholder: "EUR" })] : []),
    ...(f.type === "relation" ? [text("entity_type", "Entity", { placeholder: entityTypes.join(", ") })] : []),
    ...(f.type === "media" || f.type === "file" ? [{ key: "accept", label: "Media types", type: "array", display: "tags", items: { key: "", type: "text" }, placeholder: "image/*, then Enter" }, number("max_bytes", "Largest file", { integer: true, unit: "bytes" })] : []),
    ...(f.type === "object" && display === "group" ? [yes("open", "Takes other members too")] : []),
    ...(several || (f.type === "object" && display === "map") ? [number("min_items", "Items, at least", { integer: true }), number("max_items", "Items, at most", { integer: true }), ...(several ? [yes("unique", "None twice")] : [])] : []),
    ...(texts ? [number("min_length", "Characters, at least", { integer: true, advanced: true }), number("max_length", "Characters, at most", { integer: true, advanced: true }), text("pattern", "Pattern", { advanced: true, help: "An RE2 expression that a part of the text must match." })] : []),
    ...(f.type === "text" ? [text("format", "Format", { advanced: true, placeholder: "uuid" })] : []),
    ...(f.type === "object" && display === "json" ? [{ key: "schema", label: "Schema", type: "object", display: "json", advanced: true } as Field] : []),
    { key: "default", label: "Default", type: "object", display: "json", advanced: true },
    text("placeholder", "Placeholder", { advanced: true }),
    text("help", "Help", { advanced: true, display: "textarea", help: "People read it; models do not." }),
    ...(item ? [] : [text("section", "Section", { advanced: true }), yes("advanced", "Among the additional options", { advanced: true }), yes("hidden", "Hidden: its default is sent", { advanced: true })]),
    { key: "annotations", label: "Annotations", type: "object", display: "json", advanced: true },
  ];
}

// own are the members that have editors of their own below the form.
const own = ["options", "fields", "items", "visible_when"];

// renamed has the conditions of a field follow the key of another.
function renamed(f: Field, from: string, to: string): Field {
  if (!f.visible_when?.some((c) => c.field === from)) return f;
  return { ...f, visible_when: f.visible_when.map((c) => (c.field === from ? { ...c, field: to } : c)) };
}

const FieldEditor = memo(function FieldEditor({ value, onChange, errors, depth, among = [], item = false }: {
  value: Field;
  onChange: (value: Field) => void;
  errors?: Problems;
  depth: number;
  among?: Field[]; // The fields beside it.
  item?: boolean;
}) {
  const spec = useMemo(() => ({ fields: membersOf(value, item) }), [value.type, value.display, value.multiple, value.schema === undefined, item]);
  const form = useMemo(() => Object.fromEntries(Object.entries(value).filter(([n]) => !own.includes(n))) as unknown as Json, [value]);
  const change = (v: Json | undefined) => {
    if (!isObject(v)) return;
    const next = { ...v } as unknown as Field;
    for (const n of Object.keys(next) as (keyof Field)[]) if (next[n] === false) delete next[n];
    for (const n of own) if (n in value) (next as unknown as Record<string, unknown>)[n] = (value as unknown as Record<string, unknown>)[n];
    next.key ??= "";
    onChange(next.type === value.type && next.display === value.display && next.multiple === value.multiple ? next : fitting(next));
  };
  const display = shown(value);
  return (
    <div className="f-edit">
      <FormView spec={spec} value={form} onChange={change} errors={errors} label={`Settings of ${value.key || "items"}`} />
      {!item && <Conditions of={value} among={among} problems={errors} onChange={(list) => {
        const { visible_when: _, ...rest } = value;
        onChange(list.length ? { ...rest, visible_when: list } : rest);
      }} />}
      {value.type === "enum" && <Options value={value.options ?? []} onChange={(options) => onChange({ ...value, options })} />}
      {value.type === "object" && display === "group" && depth < 7 && (
        <Nested title={`Fields of ${nameOf(value)}`}>
          <FieldsEditor value={value.fields ?? []} onChange={(fields) => onChange({ ...value, fields })} label={`Fields of ${nameOf(value)}`} depth={depth + 1} />
        </Nested>
      )}
      {(value.type === "array" || (value.type === "object" && display === "map")) && depth < 7 && (
        <Nested title="Each item">
          <FieldEditor value={value.items ?? { key: "", type: "text" }} depth={depth + 1} item onChange={(items) => onChange({ ...value, items })} />
        </Nested>
      )}
    </div>
  );
});

function Nested({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="f-section" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

// fitting leaves out what a field of its type cannot say, and adds what it must.
function fitting(f: Field): Field {
  const may = new Set(membersOf(f, false).map((m) => m.key));
  const out: Field = { key: f.key, type: f.type };
  for (const [n, v] of Object.entries(f)) if (may.has(n)) (out as unknown as Record<string, unknown>)[n] = v;
  if (f.visible_when) out.visible_when = f.visible_when;
  if (out.display && !displays[out.type]?.includes(out.display)) delete out.display;
  if (out.type === "enum") out.options = f.options?.length ? f.options : [{ value: "first" }, { value: "second" }];
  if (out.type === "object" && shown(out) === "group") out.fields = f.fields?.length ? f.fields : [{ key: "field1", type: "text" }];
  if (out.type === "array" || (out.type === "object" && out.display === "map")) out.items = f.items ?? { key: "", type: "text" };
  if (out.type === "number" && out.display === "slider") {
    out.min ??= 0;
    out.max ??= 100;
  }
  if (out.type === "number" && out.display === "rating") out.max ??= 5;
  return out;
}

type Kind = "text" | "number" | "boolean";
const kindOf = (list: Option[]): Kind => (list.length === 0 || typeof list[0]!.value === "string" ? "text" : typeof list[0]!.value === "boolean" ? "boolean" : "number");

function Options({ value, onChange }: { value: Option[]; onChange: (value: Option[]) => void }) {
  const id = useId();
  const [kind, setKind] = useState<Kind>(() => kindOf(value));
  const read = (t: string, k: Kind = kind): Json => (k === "text" ? t : k === "boolean" ? t === "true" : (numberOf(t) ?? t));
  const set = (i: number, o: Partial<Option>) => onChange(value.map((x, j) => (j === i ? { ...x, ...o } : x)));
  return (
    <section className="f-section" aria-label="Options">
      <h3>Options</h3>
      <label className="f-row" htmlFor={id}>
        Values are
        <select id={id} value={kind} onChange={(e) => {
          const k = e.target.value as Kind;
          setKind(k);
          onChange(value.map((o) => ({ ...o, value: read(textOf(o.value), k) })));
        }}>
          <option value="text">texts</option>
          <option value="number">numbers</option>
          <option value="boolean">true or false</option>
        </select>
      </label>
      <ol className="f-option-list">
        {value.map((o, i) => (
          <li key={i} className="f-row">
            <input aria-label={`Value of option ${i + 1}`} value={textOf(o.value)} spellCheck={false} onChange={(e) => set(i, { value: read(e.target.value) })} />
            <input aria-label={`Label of option ${i + 1}`} placeholder="Label" value={o.label ?? ""} onChange={(e) => {
              const { label: _, ...rest } = o;
              onChange(value.map((x, j) => (j === i ? (e.target.value ? { ...rest, label: e.target.value } : rest) : x)));
            }} />
            <button type="button" className="quiet f-remove" aria-label={`Remove option ${i + 1}`} onClick={() => onChange(value.filter((_, j) => j !== i))}>✕</button>
          </li>
        ))}
      </ol>
      <p><button type="button" className="button" onClick={() => onChange([...value, { value: read("") }])}>Add an option</button></p>
    </section>
  );
}
