import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useRef, useState, type ReactNode } from "react";
import { Num, parse, print, type Json } from "../../api/json";
import { names } from "../../api/tools";
import { lazyPart } from "../../load";
import { useMay } from "../govern/parts";
import { get } from "./draft";
import { useEditing } from "./editing";
import type { Part } from "./types";

const CredentialForm = lazyPart(() => import("../connect/credentialform").then((m) => ({ default: m.CredentialForm })));

// The fields of a draft, one for each part of its definition.

// Around is what every field has: its label, what is wrong with it, and what it is for.
export function Around({ id, part, children, wide }: { id: string; part: Pick<Part, "at" | "label" | "help" | "required">; children: ReactNode; wide?: boolean }) {
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

export function PartField({ part: p }: { part: Part }) {
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
              onChange={(e) => change(p.at, e.target.value || (p.keep ? "" : undefined))} />
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
      {p.names!.path === "/v1/credentials" && <NewCredential part={p} taken={found.data ?? []} />}
    </>
  );
}

// NewCredential makes a credential where one is chosen, for those who may. Beside its value, which is given, it begins
// with what is written here: its name, and the host that the tool sends it to.
function NewCredential({ part: p, taken }: { part: Part; taken: string[] }) {
  const { tenant, draft, change } = useEditing();
  const has = useMay(tenant);
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  if (!has("credentials.write")) return null;
  const text = (v: Json | undefined) => (typeof v === "string" ? v : "");
  const around = p.at.replace(/\/auth\/credentials_ref$/, "");
  const url = text(get(draft.fields, around + "/url")) || text(get(draft.fields, "/implementation_config/url")) || text(get(draft.fields, around + "/server_url"));
  const ref = text(get(draft.fields, p.at));
  return (
    <>
      <p><button type="button" className="button" onClick={() => setOpen(true)}>New credential…</button></p>
      {open && (
        <Suspense fallback={null}>
          <CredentialForm tenant={tenant} begins={{ ref: taken.includes(ref) ? "" : ref, hosts: /^https?:\/\/([^/?#{]+)/.exec(url)?.[1] ?? "" }}
            onClose={() => setOpen(false)} onDone={(c) => {
              setOpen(false);
              change(p.at, c.ref);
              void client.invalidateQueries({ queryKey: [tenant, "names", "/v1/credentials"] });
              void client.invalidateQueries({ queryKey: [tenant, "credentials"] });
            }} />
        </Suspense>
      )}
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
