import { useId, useState, type ReactNode } from "react";
import { ApiError, type Fault } from "../../api/client";
import { parse, print, type Json } from "../../api/json";

// Fields of definitions: a label, what is set, and what the server says of it.

// faultsOf are the faults that the server named in a refusal.
export const faultsOf = (e: unknown): Fault[] => (e instanceof ApiError ? e.faults : []);

// faultAt is what is wrong at a place or below it.
export const faultAt = (faults: readonly Fault[], pointer: string): string | undefined =>
  faults.find((f) => f.path === pointer || f.path?.startsWith(pointer + "/"))?.detail;

export function Labelled({ label, hint, fault, children }: {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  children: (props: { id: string; "aria-invalid"?: true; "aria-describedby"?: string }) => ReactNode;
}) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div className="set-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(fault && { "aria-invalid": true }), ...(described && { "aria-describedby": described }) })}
      {hint && <p id={`${id}-hint`} className="muted">{hint}</p>}
      {fault && <p id={`${id}-fault`} className="error" role="alert">{fault}</p>}
    </div>
  );
}

export function TextField({ label, hint, fault, value, onChange, rows, mono, placeholder, readOnly, required }: {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  value: string;
  onChange: (v: string) => void;
  rows?: number;
  mono?: boolean;
  placeholder?: string;
  readOnly?: boolean | undefined;
  required?: boolean;
}) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(p) => rows ? (
        <textarea {...p} rows={rows} className={mono ? "mono" : undefined} value={value} onChange={(e) => onChange(e.target.value)} placeholder={placeholder} readOnly={readOnly} />
      ) : (
        <input {...p} className={mono ? "mono" : undefined} value={value} onChange={(e) => onChange(e.target.value)} placeholder={placeholder} spellCheck={!mono} readOnly={readOnly} required={required} />
      )}
    </Labelled>
  );
}

export function NumberField({ label, hint, fault, value, onChange, placeholder, readOnly }: {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
  placeholder?: string;
  readOnly?: boolean | undefined;
}) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(p) => (
        <input {...p} inputMode="decimal" className="short" value={value === undefined ? "" : String(value)} placeholder={placeholder} readOnly={readOnly}
          onChange={(e) => {
            const text = e.target.value.trim();
            if (text === "") return onChange(undefined);
            try {
              onChange(parse(text));
            } catch {
              onChange(text); // The server says what is wrong with it.
            }
          }} />
      )}
    </Labelled>
  );
}

export function SelectField({ label, hint, fault, value, options, onChange, readOnly }: {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChange: (v: string) => void;
  readOnly?: boolean | undefined;
}) {
  return (
    <Labelled label={label} hint={hint} fault={fault}>
      {(p) => (
        <select {...p} value={value} onChange={(e) => onChange(e.target.value)} disabled={readOnly}>
          {!options.some(([v]) => v === value) && <option value={value}>{value}</option>}
          {options.map(([v, name]) => <option key={v} value={v}>{name}</option>)}
        </select>
      )}
    </Labelled>
  );
}

// JsonField edits a value as JSON. What is no JSON stays in the field, says why, and is not passed on;
// numbers stay as they are written.
export function JsonField({ label, hint, fault, value, onChange, rows = 4, placeholder, readOnly, onBroken }: {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  value: Json | undefined;
  onChange: (v: Json | undefined) => void;
  onBroken?: (broken: boolean) => void;
  rows?: number;
  placeholder?: string;
  readOnly?: boolean | undefined;
}) {
  const shown = value === undefined ? "" : print(value, 2);
  const [text, setText] = useState(shown);
  const [from, setFrom] = useState(shown);
  const [broken, setBroken] = useState("");
  if (from !== shown) {
    // Another value came from outside, such as by undo.
    setFrom(shown);
    setText(shown);
    setBroken("");
  }
  return (
    <Labelled label={label} hint={hint} fault={broken || fault}>
      {(p) => (
        <textarea {...p} rows={Math.min(24, Math.max(rows, text.split("\n").length))} className="mono" value={text} placeholder={placeholder} spellCheck={false} readOnly={readOnly}
          onChange={(e) => {
            const now = e.target.value;
            setText(now);
            let parsed: Json | undefined;
            try {
              parsed = now.trim() === "" ? undefined : parse(now);
            } catch (err) {
              setBroken(`This is ${(err as Error).message}.`);
              return onBroken?.(true);
            }
            setBroken("");
            onBroken?.(false);
            setFrom(parsed === undefined ? "" : print(parsed, 2));
            onChange(parsed);
          }} />
      )}
    </Labelled>
  );
}
