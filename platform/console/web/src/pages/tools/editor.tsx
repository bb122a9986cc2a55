import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";
import { ApiError, type Fault } from "../../api/client";
import { Num, parse, print, type Json } from "../../api/json";
import { check, names, taxonomy, type ToolCheck } from "../../api/tools";
import { asJSON, edited, get, unreadable, written, type Draft, type Fields } from "./draft";
import { Context, useEditing, type Editing } from "./editing";
import { SchemaField } from "./schema";
import { execution, identity, parts, shown, visibility, type Part } from "./types";

// The editor of a draft: four sections, and beside them what the server says of it.

// useCheck asks the server what saving would come to, a moment after the last change.
function useCheck(tenant: string, fields: Fields): { checked?: ToolCheck; failed?: unknown } {
  const [state, setState] = useState<{ checked?: ToolCheck; failed?: unknown }>({});
  useEffect(() => {
    if (!fields.slug) return setState({});
    const abort = new AbortController();
    const timer = setTimeout(() => {
      check(tenant, fields, abort.signal).then(
        (checked) => setState({ checked }),
        (failed: unknown) => !abort.signal.aborted && setState({ failed }),
      );
    }, 400);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [tenant, fields]);
  return state;
}

const slug = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

// wants are the faults that the page finds by itself.
function wants(draft: Draft, all: Part[]): Fault[] {
  const out: Fault[] = unreadable(draft);
  for (const p of shown(all, draft.fields)) {
    const v = get(draft.fields, p.at);
    if (p.required && (v === undefined || v === "" || v === null)) out.push({ path: p.at, detail: `${p.label} is needed.` });
  }
  const name = draft.fields.slug;
  if (typeof name === "string" && name && !slug.test(name)) {
    out.push({ path: "/slug", detail: "A slug begins with a letter, and has letters, digits, _ and - only: at most 64." });
  }
  return out;
}

// nearest is the field that a place in the definition belongs to.
function nearest(path: string, pointers: string[]): string | undefined {
  const same = path.replace(/^\/execution(?=\/|$)/, "/execution_config");
  return (
    pointers.filter((p) => same === p || same.startsWith(p + "/")).sort((a, b) => b.length - a.length)[0] ??
    pointers.find((p) => p.startsWith(same + "/"))
  );
}

export function ToolEditor({ tenant, draft, onChange, fixed = [], creating, fault, save, busy, onSave, about, children }: {
  tenant: string;
  draft: Draft;
  onChange: (d: Draft) => void;
  fixed?: readonly string[];
  creating: boolean;
  fault: unknown; // Of the last attempt to save.
  save: string;
  busy: boolean;
  onSave: () => void;
  about?: ReactNode;
  children?: ReactNode; // Actions beside that which saves.
}) {
  const type = String(draft.fields.implementation_type);
  const own = parts[type] ?? [];
  const all = useMemo(() => [...identity, ...own, ...visibility, ...execution], [own]);
  const { checked, failed } = useCheck(tenant, draft.fields);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState(false); // To save: then all faults are shown.
  const form = useRef<HTMLFormElement>(null);
  const pointers = [...shown(all, draft.fields).map((p) => p.at), ...asJSON, "/input_fields", "/output_fields"];

  const local = wants(draft, all);
  const answered: Fault[] = fault instanceof ApiError ? fault.faults : [];
  const remote: Fault[] = checked?.error ? [{ path: checked.error.path ?? "", detail: checked.error.detail ?? "" }] : [];
  if (creating && checked?.exists) remote.push({ path: "/slug", detail: "The tenant has a tool of this slug already." });
  const faults = [...local, ...[...answered, ...remote].filter((f) => !local.some((l) => l.path === f.path))];
  const at = (f: Fault) => nearest(f.path ?? "", pointers);
  const findings = checked?.findings ?? [];
  const elsewhere = faults.filter((f) => at(f) === undefined);

  const editing: Editing = {
    tenant, draft, fixed, onChange, faults,
    change: (pointer, value) => onChange(edited(draft, pointer, value)),
    write: (pointer, text) => onChange(written(draft, pointer, text)),
    touch: (pointer) => !touched.has(pointer) && setTouched(new Set([...touched, pointer])),
    faultsAt: (pointer) => (asked || touched.has(pointer) ? faults : answered).filter((f) => at(f) === pointer).map((f) => f.detail),
    findingsAt: (pointer) => (asked || touched.has(pointer) || !creating ? findings : []).filter((f) => nearest(f.path ?? "", pointers) === pointer).map((f) => f.text),
  };
  const rest = own.length === 0 || !["agent_call", "input", "function"].includes(type);
  return (
    <Context value={editing}>
      <form ref={form} className="editor" noValidate onSubmit={(e) => {
        e.preventDefault();
        setAsked(true);
        if (local.length > 0) {
          // The first field that is at fault gets the focus, once it shows why.
          requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
          return;
        }
        onSave();
      }}>
        <div className="editor-parts">
          {about}
          <Section title="Identity" text="What models and people know it by.">
            {identity.map((p) => <PartField key={p.at} part={p} />)}
          </Section>
          <Section title="Visibility" text="Who may call it, and what it may do outside.">
            {shown(visibility, draft.fields).map((p) => <PartField key={p.at} part={p} />)}
          </Section>
          <Section title="Schema" text="What a call is given, and what it answers: JSON Schema.">
            <SchemaField at="/input_schema" label="Input schema">
              <JsonField at="/input_schema" label="Input schema" help={schemaHelp[type] ?? "An object at the top. Each property is an argument."} rows={10} />
            </SchemaField>
            <SchemaField at="/output_schema" label="Output schema">
              <JsonField at="/output_schema" label="Output schema" help="Left out, any answer is taken." rows={5} />
            </SchemaField>
          </Section>
          <Section title="Execution" text="How a call runs.">
            {shown(own, draft.fields).map((p) => <PartField key={p.at} part={p} />)}
            {shown(execution.slice(0, 4), draft.fields).map((p) => <PartField key={p.at} part={p} />)}
            <details className="more">
              <summary>Limits and order of calls</summary>
              <div className="fields">
                {shown(execution.slice(4), draft.fields).map((p) => <PartField key={p.at} part={p} />)}
              </div>
            </details>
            {rest && (
              <details className="more">
                <summary>The whole configuration, as JSON</summary>
                <JsonField at="/implementation_config" label="Configuration" help="What the fields above write, and what they do not have." rows={8} />
              </details>
            )}
          </Section>
        </div>
        <aside className="editor-side" aria-label="Check of the draft">
          <h2>Check</h2>
          {failed !== undefined ? (
            <p className="error" role="alert">{failed instanceof ApiError ? failed.detail : "The draft could not be checked."}</p>
          ) : !draft.fields.slug ? (
            <p className="muted">The draft is checked while you write, once it has a slug.</p>
          ) : faults.length > 0 ? (
            <p><span className="status wait">{faults.length === 1 ? "One thing is missing or wrong" : `${faults.length} things are missing or wrong`}</span></p>
          ) : (
            <p><span className={checked ? "status good" : "status"}>{checked ? "It can be saved" : "Checking"}</span></p>
          )}
          {faults.length > 0 && (asked || touched.size > 0) && (
            <ul className="faults" aria-label="Faults">{faults.map((f) => <li key={f.path + f.detail}><code>{f.path || "/"}</code> {f.detail}</li>)}</ul>
          )}
          {(checked?.warnings?.length ?? 0) > 0 && (
            <>
              <h3>Warnings</h3>
              <ul className="faults" aria-label="Warnings">{checked!.warnings!.map((w) => <li key={w}>{w}</li>)}</ul>
            </>
          )}
          {findings.length > 0 && (
            <>
              <h3>How it reads to a model</h3>
              <ul className="faults" aria-label="Findings">{findings.map((f) => <li key={f.code + f.path + f.text}><code>{f.code}</code> {f.text}</li>)}</ul>
            </>
          )}
          {fault !== null && fault !== undefined && answered.length === 0 && (
            <p className="error" role="alert">{fault instanceof ApiError ? fault.detail : "The draft could not be saved."}</p>
          )}
          {asked && elsewhere.length > 0 && <p className="error" role="alert">{elsewhere.map((f) => f.detail).join(" ")}</p>}
          <div className="actions">
            <button type="submit" className="button primary" disabled={busy}>{save}</button>
            {children}
          </div>
        </aside>
      </form>
    </Context>
  );
}

const schemaHelp: Record<string, string> = {
  agent_call: "Left out, the call has one argument: prompt.",
  task: "Left out, the call has one argument: prompt.",
  rag_retrieval: "Left out, the call has the argument query, and others of the search.",
  input: "Left out, the call has the arguments of a form.",
};

function Section({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className="editor-section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <p className="muted">{text}</p>
      </header>
      <div className="fields">{children}</div>
    </section>
  );
}

// Around is what every field has: its label, what is wrong with it, and what it is for.
function Around({ id, part, children, wide }: { id: string; part: Pick<Part, "at" | "label" | "help" | "required">; children: ReactNode; wide?: boolean }) {
  const { faultsAt, findingsAt } = useEditing();
  return (
    <div className={wide ? "edit wide" : "edit"}>
      <label htmlFor={id}>{part.label}{part.required && <span className="needed" aria-hidden="true"> *</span>}</label>
      {children}
      <div id={id + "-about"} className="edit-about">
        {faultsAt(part.at).map((f) => <p key={f} className="error">{f}</p>)}
        {findingsAt(part.at).map((f) => <p key={f} className="advice">{f}</p>)}
        {part.help && <p className="muted">{part.help}</p>}
      </div>
    </div>
  );
}

const numeral = /^-?\d+(\.\d+)?$/;

function PartField({ part: p }: { part: Part }) {
  const { draft, change, touch, fixed, faultsAt } = useEditing();
  const id = "field" + p.at.replaceAll("/", "-");
  const v = get(draft.fields, p.at);
  const invalid = faultsAt(p.at).length > 0;
  const common = {
    id, onBlur: () => touch(p.at), disabled: fixed.includes(p.at), required: !!p.required,
    "aria-invalid": invalid, "aria-describedby": id + "-about",
  };
  const text = v === undefined || v === null ? "" : typeof v === "string" ? v : v instanceof Num ? v.text : print(v);
  switch (p.kind) {
    case "check":
      return (
        <div className="edit">
          <label className="check">
            <input type="checkbox" {...common} required={false} checked={v === true} onChange={(e) => change(p.at, e.target.checked || undefined)} />
            {p.label}
          </label>
          <div id={id + "-about"} className="edit-about">{faultsAt(p.at).map((f) => <p key={f} className="error">{f}</p>)}</div>
        </div>
      );
    case "choice":
      return (
        <Around id={id} part={p}>
          <select {...common} value={text} onChange={(e) => change(p.at, e.target.value || undefined)}>
            {!p.options!.some(([o]) => o === text) && <option value={text}>{text || "choose"}</option>}
            {p.options!.map(([o, name]) => <option key={o} value={o}>{name}</option>)}
          </select>
        </Around>
      );
    case "area":
      return (
        <Around id={id} part={p} wide>
          <textarea {...common} className={p.mono ? "mono" : undefined} rows={p.at === "/description" ? 3 : 6} value={text} spellCheck={!p.mono}
            onChange={(e) => change(p.at, e.target.value || undefined)} />
        </Around>
      );
    case "pairs":
      return <Pairs part={p} />;
    case "json":
      return <ValueField part={p} />;
    case "number":
      return (
        <Around id={id} part={p}>
          <input {...common} inputMode="decimal" value={text}
            onChange={(e) => change(p.at, e.target.value === "" ? undefined : numeral.test(e.target.value) ? parse(e.target.value) : e.target.value)} />
        </Around>
      );
    default:
      return (
        <Around id={id} part={p} wide={p.at.endsWith("/url")}>
          {p.names ? (
            <Named part={p} common={common} value={text} />
          ) : (
            <input {...common} className={p.mono ? "mono" : undefined} value={text} spellCheck={!p.mono} autoComplete="off"
              onChange={(e) => change(p.at, e.target.value || undefined)} />
          )}
        </Around>
      );
  }
}

// Named offers the names that there are, and takes any.
function Named({ part: p, common, value }: { part: Part; common: Record<string, unknown> & { id: string }; value: string }) {
  const { tenant, change } = useEditing();
  const found = useQuery(names(tenant, p.names!.path, p.names!.member));
  return (
    <>
      <input {...common} className="mono" list={common.id + "-names"} value={value} spellCheck={false} autoComplete="off"
        onChange={(e) => change(p.at, e.target.value || undefined)} />
      <datalist id={common.id + "-names"}>{found.data?.map((n) => <option key={n} value={n} />)}</datalist>
    </>
  );
}

// Pairs are names with a text each. What is no text, such as a value from a credential, is edited as JSON.
function Pairs({ part: p }: { part: Part }) {
  const { draft, change, faultsAt } = useEditing();
  const of = get(draft.fields, p.at);
  const rows: [string, Json][] = of && typeof of === "object" && !Array.isArray(of) ? Object.entries(of) : [];
  const [open, setOpen] = useState(false);
  const put = (all: [string, Json][]) => change(p.at, all.length ? Object.fromEntries(all) : undefined);
  const name = useRef<HTMLInputElement>(null);
  const value = useRef<HTMLInputElement>(null);
  const add = () => {
    if (!name.current!.value) return name.current!.focus();
    put([...rows.filter(([n]) => n !== name.current!.value), [name.current!.value, value.current!.value]]);
    setOpen(false);
  };
  return (
    <fieldset className="edit wide tool-pairs">
      <legend>{p.label}</legend>
      {rows.map(([n, v]) => (
        <div key={n} className="tool-pair">
          <code>{n}</code>
          {typeof v === "string" ? (
            <input className="mono" aria-label={`Value of ${n}`} value={v} spellCheck={false}
              onChange={(e) => put(rows.map(([m, w]) => (m === n ? [m, e.target.value] : [m, w])))} />
          ) : (
            <code className="line">{print(v)}</code>
          )}
          <button type="button" className="quiet" aria-label={`Remove ${n}`} onClick={() => put(rows.filter(([m]) => m !== n))}>✕</button>
        </div>
      ))}
      {open ? (
        <div className="tool-pair" onKeyDown={(e) => {
          if (e.key !== "Enter") return;
          e.preventDefault();
          add();
        }}>
          <input ref={name} className="mono" aria-label={`Name, of ${p.label.toLowerCase()}`} placeholder="name" autoFocus spellCheck={false} />
          <input ref={value} className="mono" aria-label={`Value, of ${p.label.toLowerCase()}`} placeholder="value" spellCheck={false} />
          <button type="button" className="button" onClick={add}>Add</button>
        </div>
      ) : (
        <p><button type="button" className="button" onClick={() => setOpen(true)}>Add one</button></p>
      )}
      {faultsAt(p.at).map((f) => <p key={f} className="error">{f}</p>)}
      {p.help && <p className="muted">{p.help}</p>}
    </fieldset>
  );
}

// ValueField is a member that is written as JSON. While it is none, the draft keeps the last that was.
function ValueField({ part: p }: { part: Part }) {
  const { draft, change, touch, faultsAt } = useEditing();
  const now = get(draft.fields, p.at);
  const [text, setText] = useState(() => (now === undefined ? "" : print(now, 2)));
  const [bad, setBad] = useState(false);
  const id = "field" + p.at.replaceAll("/", "-");
  return (
    <Around id={id} part={p} wide>
      <textarea id={id} className="mono" rows={6} value={text} spellCheck={false} aria-invalid={bad || faultsAt(p.at).length > 0}
        aria-describedby={id + "-about"} onBlur={() => touch(p.at)}
        onChange={(e) => {
          setText(e.target.value);
          try {
            change(p.at, e.target.value.trim() ? parse(e.target.value) : undefined);
            setBad(false);
          } catch {
            setBad(true);
          }
        }} />
      {bad && <p className="error">This is not JSON: the draft has what it was before.</p>}
    </Around>
  );
}

function JsonField({ at, label, help, rows }: { at: string; label: string; help: string; rows: number }) {
  const { draft, write, touch, faultsAt } = useEditing();
  const id = "field" + at.replaceAll("/", "-");
  const text = draft.texts[at] ?? "";
  const [format, setFormat] = useState(false);
  useEffect(() => {
    if (!format) return;
    setFormat(false);
    try {
      if (text.trim()) write(at, print(parse(text), 2));
    } catch {
      // What is no JSON stays as it is written.
    }
  }, [format, at, text, write]);
  return (
    <Around id={id} part={{ at, label, help }} wide>
      <textarea id={id} className="mono" rows={Math.min(28, Math.max(rows, text.split("\n").length))} value={text} spellCheck={false}
        aria-invalid={faultsAt(at).length > 0} aria-describedby={id + "-about"} onChange={(e) => write(at, e.target.value)}
        onBlur={() => {
          touch(at);
          setFormat(true);
        }} />
    </Around>
  );
}

// TypeName is an implementation type in words.
export function useTypeName(tenant: string): (name: string) => string {
  const found = useQuery(taxonomy(tenant));
  return (name) => found.data?.subtypes.find((s) => s.name === name)?.label ?? name;
}
