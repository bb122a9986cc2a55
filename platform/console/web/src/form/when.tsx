import { useState } from "react";
import type { Json } from "../api/json";
import { equal, nameOf, numberOf, textOf, type Condition, type Field, type Option } from "./spec";
import type { Problems } from "./store";

// Conditions are those under which a field is shown.
export function Conditions({ of, among, problems, onChange }: { of: Field; among: Field[]; problems?: Problems | undefined; onChange: (list: Condition[]) => void }) {
  const list = of.visible_when ?? [];
  const others = among.filter((f) => f.key !== of.key);
  const set = (i: number, c: Condition) => onChange(list.map((x, j) => (j === i ? c : x)));
  if (others.length === 0 && list.length === 0) return null;
  return (
    <section className="f-section" aria-label="Shown only if">
      <h3>Shown only if</h3>
      <ul className="f-when">
        {list.map((c, i) => {
          const sibling = among.find((f) => f.key === c.field);
          const how = c.not_in ? "not_in" : c.in ? "in" : "any";
          const wrong = Object.entries(problems ?? {}).find(([p]) => p.startsWith(`/visible_when/${i}`))?.[1];
          return (
            <li key={i} className="f-row">
              <select aria-label={`Field of condition ${i + 1}`} value={c.field} onChange={(e) => set(i, { field: e.target.value })}>
                {!sibling && <option value={c.field}>{c.field}</option>}
                {others.map((f) => <option key={f.key} value={f.key}>{nameOf(f)}</option>)}
              </select>
              <select aria-label={`How condition ${i + 1} compares`} value={how}
                onChange={(e) => set(i, { field: c.field, ...(e.target.value !== "any" && { [e.target.value]: c.in ?? c.not_in ?? first(sibling) }) })}>
                <option value="any">has a value</option>
                <option value="in">is one of</option>
                <option value="not_in">is none of</option>
              </select>
              {how !== "any" && <Compared of={sibling} label={`Values of condition ${i + 1}`} value={c.in ?? c.not_in ?? []} onChange={(values) => set(i, { field: c.field, [how]: values })} />}
              <button type="button" className="quiet f-remove" aria-label={`Remove condition ${i + 1}`} onClick={() => onChange(list.filter((_, j) => j !== i))}>✕</button>
              {wrong && <span className="f-problem">{wrong}</span>}
            </li>
          );
        })}
      </ul>
      {others.length > 0 && <p><button type="button" className="button" onClick={() => onChange([...list, { field: others[0]!.key }])}>Add a condition</button></p>}
    </section>
  );
}

const choicesOf = (f: Field | undefined): Option[] => (f?.type === "enum" ? (f.options ?? []) : f?.type === "boolean" ? [{ value: true, label: "yes" }, { value: false, label: "no" }] : []);
const first = (f: Field | undefined): Json[] => choicesOf(f).slice(0, 1).map((o) => o.value);

// Compared are the values of a condition: those that the other field offers, or texts and numbers with commas.
function Compared({ of, label, value, onChange }: { of: Field | undefined; label: string; value: Json[]; onChange: (value: Json[]) => void }) {
  const choices = choicesOf(of);
  const number = of?.type === "number" || of?.items?.type === "number";
  const [text, setText] = useState(() => value.map(textOf).join(", "));
  if (choices.length > 0) {
    return (
      <span className="f-chips" role="group" aria-label={label}>
        {choices.map((o) => (
          <label key={textOf(o.value)}>
            <input type="checkbox" checked={value.some((v) => equal(v, o.value))}
              onChange={(e) => onChange(e.target.checked ? [...value, o.value] : value.filter((v) => !equal(v, o.value)))} />
            {o.label ?? textOf(o.value)}
          </label>
        ))}
      </span>
    );
  }
  return (
    <input aria-label={label} value={text} placeholder="Values, with commas" spellCheck={false} onChange={(e) => {
      setText(e.target.value);
      onChange(e.target.value.split(",").map((t) => t.trim()).filter(Boolean).map((t) => (number ? (numberOf(t) ?? t) : t)));
    }} />
  );
}
