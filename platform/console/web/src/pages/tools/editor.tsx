import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";
import { ApiError, type Fault } from "../../api/client";
import { parse, print } from "../../api/json";
import { check, taxonomy, type ToolCheck } from "../../api/tools";
import { asJSON, edited, get, unreadable, written, type Draft, type Fields } from "./draft";
import { Destinations } from "./destinations";
import { Context, useEditing, type Editing } from "./editing";
import { Around, PartField } from "./partfield";
import { SchemaField } from "./schema";
import { destinationsAt, destinationParts, execution, identity, parts, shown, visibility, type Part } from "./types";

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
  const all = useMemo(
    () => [...identity, ...own, ...(type === "http" ? destinationParts(draft.fields) : []), ...visibility, ...execution], [own, type, draft.fields],
  );
  const { checked, failed } = useCheck(tenant, draft.fields);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState(false); // To save: then all faults are shown.
  const form = useRef<HTMLFormElement>(null);
  const pointers = [...shown(all, draft.fields).map((p) => p.at), ...asJSON, destinationsAt, "/input_fields", "/output_fields"];

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
            {type === "http" && <Destinations />}
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
