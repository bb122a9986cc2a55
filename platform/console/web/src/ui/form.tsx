import type { Json } from "../api/json";
import { JsonView } from "./json";

// Form shows the fields that the server reads out of a schema. It is not filled in yet: that comes with the
// test panel, on these components.

export interface Field {
  key: string;
  label?: string;
  description?: string;
  type: string;
  display?: string;
  required?: boolean;
  options?: { value: Json; label?: string }[];
  default?: Json;
  fields?: Field[];
  items?: Field;
  [other: string]: unknown;
}

export interface FormSpec {
  fields: Field[];
  kept?: { pointer: string; reason: string }[];
  schema?: Json;
}

export function Form({ spec }: { spec: FormSpec }) {
  return (
    <div className="form" role="group" aria-label="Input of the tool">
      {spec.fields.map((f) => (
        <FieldRow key={f.key} field={f} />
      ))}
      {(spec.kept?.length ?? 0) > 0 && <p className="muted">Some parts are edited as JSON: {spec.kept!.map((k) => k.reason).join("; ")}.</p>}
    </div>
  );
}

// limits are those of a value, in words.
function limits(f: Field): string {
  const parts: string[] = [];
  const add = (name: string, words: string) => f[name] !== undefined && parts.push(`${words} ${String(f[name])}`);
  if (f.integer) parts.push("a whole number");
  add("min", "at least");
  add("max", "at most");
  add("above", "above");
  add("below", "below");
  add("unit", "in");
  add("format", "format");
  add("min_length", "characters: at least");
  add("max_length", "characters: at most");
  add("min_items", "items: at least");
  add("max_items", "items: at most");
  return parts.join(", ");
}

function FieldRow({ field: f }: { field: Field }) {
  const nested = f.fields ?? (f.items?.fields || undefined);
  return (
    <div className="field">
      <div className="field-head">
        <span className="field-name">{f.label ?? f.key}</span>
        <code>{f.key}</code>
        <span className="badge">{f.type === "array" && f.items ? `list of ${f.items.type}` : f.type}</span>
        {f.required && <span className="badge warn">required</span>}
      </div>
      {f.description && <p className="muted">{f.description}</p>}
      {limits(f) && <p className="muted">{limits(f)}</p>}
      {f.options && (
        <p className="options">
          {f.options.map((o) => (
            <code key={String(o.value)}>{o.label ?? String(o.value)}</code>
          ))}
        </p>
      )}
      {f.default !== undefined && <JsonView value={f.default} label={`Default of ${f.key}`} />}
      {nested && (
        <div className="nested">
          {nested.map((n) => (
            <FieldRow key={n.key} field={n} />
          ))}
        </div>
      )}
    </div>
  );
}
