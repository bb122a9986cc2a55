import { JsonView } from "../ui/json";
import { whenWords } from "./conditions";
import { limits, nameOf, textOf, type Field, type FormSpec } from "./spec";

// Described lists the fields of a form, for those who read it.

export function Described({ spec }: { spec: FormSpec }) {
  return (
    <div className="form" role="group" aria-label="Input of the tool">
      {spec.fields.map((f) => (
        <FieldRow key={f.key} field={f} among={spec.fields} />
      ))}
      {(spec.kept?.length ?? 0) > 0 && <p className="muted">Some parts are edited as JSON: {spec.kept!.map((k) => k.reason).join("; ")}.</p>}
    </div>
  );
}

function FieldRow({ field: f, among }: { field: Field; among: Field[] }) {
  const nested = f.fields ?? (f.items?.fields || undefined);
  return (
    <div className="field">
      <div className="field-head">
        <span className="field-name">{nameOf(f)}</span>
        <code>{f.key}</code>
        <span className="badge">{f.type === "array" && f.items ? `list of ${f.items.type}` : f.type}</span>
        {f.required && <span className="badge warn">required</span>}
      </div>
      {f.description && <p className="muted">{f.description}</p>}
      {limits(f) && <p className="muted">{limits(f)}</p>}
      {f.visible_when && <p className="muted">only if {whenWords(among, f)}</p>}
      {f.options && (
        <p className="options">
          {f.options.map((o) => (
            <code key={textOf(o.value)}>{o.label ?? textOf(o.value)}</code>
          ))}
        </p>
      )}
      {f.default !== undefined && <JsonView value={f.default} label={`Default of ${f.key}`} />}
      {nested && (
        <div className="nested">
          {nested.map((n) => (
            <FieldRow key={n.key} field={n} among={nested} />
          ))}
        </div>
      )}
    </div>
  );
}
