import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Fault } from "../api/client";
import type { Json } from "../api/json";
import { agents, tools } from "../api/queries";
import { faultAt, JsonField, Labelled, NumberField, SelectField, TextField } from "../pages/agents/fields";
import { isObject, put, sequence, text, type Body, type Definition, type Obj, type Place } from "./model";

// NodeForm edits a node: the fields that its kind has, as the server checks them too.

const calling = ["tool", "agent", "call_agent", "human", "graph"];
const from = '{"$from": "/input/…"}';
const reduces = [["", "list"], ["concat", "concat: lists to one"], ["merge", "merge: objects to one"], ["sum", "sum"], ["count", "count"]] as const;
const drops = [["", "leave them out"], ["null", "null in their place"]] as const;

export function NodeForm({ tenant, definition: d, of: p, body, all, faults, onChange, onRename, onBroken }: {
  tenant: string;
  definition: Definition;
  of: Place;
  body: Body;
  all: readonly Body[];
  faults: readonly Fault[];
  onChange: (d: Definition, key: string) => void;
  onRename: (to: string) => void;
  onBroken: (name: string) => (broken: boolean) => void;
}) {
  const n = p.node;
  const steps = sequence(d);
  const set = (field: string, value: Json | undefined) => onChange(put(d, p.pointer + field, value) as Definition, p.pointer + field);
  const at = (field: string) => faultAt(faults, p.pointer + field);
  const has = (...kinds: string[]) => kinds.includes(p.kind);
  const json = (name: string, label: string, hint?: string, rows?: number) => (
    <JsonField key={name} label={label} hint={hint} value={n[name]} onChange={(v) => set(`/${name}`, v)} fault={at(`/${name}`)} placeholder={from} onBroken={onBroken(p.id + name)} {...(rows && { rows })} />
  );
  const line = (name: string, label: string, hint?: string, placeholder?: string) => (
    <TextField key={name} label={label} hint={hint} mono value={text(n[name])} onChange={(v) => set(`/${name}`, v || undefined)} fault={at(`/${name}`)} {...(placeholder && { placeholder })} />
  );
  const number = (field: string, label: string, placeholder?: string) => (
    <NumberField key={field} label={label} value={numberAt(n, field)} onChange={(v) => set(field, v)} fault={at(field)} {...(placeholder && { placeholder })} />
  );
  const others = body.places.filter((o) => o.id !== p.id).map((o) => [o.id, o.id] as const);
  const below = body.places[p.index + 1]?.id;
  return (
    <>
      <IdField key={p.id} value={p.id} onCommit={onRename} fault={at("/id")} />
      {!steps && line("title", "Title", "For people who look at the graph.")}
      {has("tool", "call_agent", "graph") && <RefField tenant={tenant} of="tools" label="Tool" value={text(n.tool)} onChange={(v) => set("/tool", v)} fault={at("/tool")} type={p.kind === "graph" ? "graph" : undefined} />}
      {has("tool", "call_agent", "graph") && json("arguments", "Arguments", "Values, and bindings in their place.")}
      {has("agent") && <RefField tenant={tenant} of="agents" label="Agent" value={text(n.agent)} onChange={(v) => set("/agent", v)} fault={at("/agent")} />}
      {has("agent") && json("message", "Message")}
      {has("human") && json("form", "Form", "Questions, choose, markup or approve, as request_input takes them.", 6)}
      {has("branch") && <Cases of={n} others={others} at={at} set={set} />}
      {has("parallel") && <Branches of={n} at={at} set={set} onBroken={onBroken} id={p.id} />}
      {has("map") && json("over", "For each of", "A binding of a list.")}
      {has("loop") && line("while", "While", "A condition in CEL.", "iteration < 3")}
      {has("loop") && number("/max", "Iterations at most")}
      {has("wait") && <WaitFields of={n} at={at} set={set} onBroken={onBroken} id={p.id} />}
      {has("end", "map", "loop") && json("output", "Output", p.kind === "end" ? "Of its body; outside of bodies, of the graph." : "Of one item or iteration.")}
      {has("map") && (
        <div className="set-row">
          {number("/concurrency", "Items at once", "10")}
          {number("/tolerate", "May fail", "0")}
        </div>
      )}
      {has("map") && <SelectField label="The result is" options={reduces} value={n.reduce === "list" ? "" : text(n.reduce)} onChange={(v) => set("/reduce", v || undefined)} fault={at("/reduce")} />}
      {has("map") && <SelectField label="Failed items" options={drops} value={n.failed_items === "drop" ? "" : text(n.failed_items)} onChange={(v) => set("/failed_items", v || undefined)} fault={at("/failed_items")} />}
      {!steps && !has("end", "branch") && (
        <SelectField label="Leads to" value={text(n.next)} options={[["", below ? `the one below: ${below}` : "the end"], ...others]} onChange={(v) => set("/next", v || undefined)} fault={at("/next")} />
      )}
      {!has("start", "end") && (
        <SelectField label="If it fails" value={["fail", "stop"].includes(text(n.on_error)) ? "" : text(n.on_error)} fault={at("/on_error")} onChange={(v) => set("/on_error", v || undefined)}
          options={steps ? [["", "stop"], ["continue", "continue"]] : [["", body.owner ? `${body.owner} fails` : "the graph fails"], ["continue", "continue"], ...others]} />
      )}
      {!steps && !has("end", "branch") && line("when", "Only when", "A condition in CEL: the node is skipped where it is false.", "input.amount > 100")}
      {!steps && has(...calling, "wait") && number("/timeout_s", has("wait") ? "Seconds for a signal" : "Seconds at most")}
      {!steps && has(...calling) && (
        <details className="more" open={n.retry !== undefined || undefined}>
          <summary>Tried again</summary>
          <div className="set-row">
            {number("/retry/attempts", "Attempts")}
            {number("/retry/delay_s", "Delay, seconds", "1")}
            {number("/retry/backoff", "Times more", "2")}
            {number("/retry/max_delay_s", "Delay at most", "300")}
          </div>
          {at("/retry") && <p className="error">{at("/retry")}</p>}
          {n.retry !== undefined && <p><button type="button" className="button" onClick={() => set("/retry", undefined)}>No more attempts</button></p>}
        </details>
      )}
      {!steps && !has("end", "branch") && (
        <details className="more" open={n.set !== undefined || n.output_schema !== undefined || undefined}>
          <summary>State, and check of the result</summary>
          {json("set", "Sets in the state", "Bindings by member.")}
          {!has("start") && json("output_schema", "Schema of the result")}
        </details>
      )}
      {!steps && all.length > 1 && <MoveNote body={body} />}
    </>
  );
}

function MoveNote({ body }: { body: Body }) {
  return <p className="muted">It is in {body.owner ? <>{body.name && <>branch <span className="slug">{body.name}</span> of </>}<span className="slug">{body.owner}</span></> : "the graph itself"}.</p>;
}

function numberAt(n: Obj, field: string): Json | undefined {
  const [, first, second] = field.split("/");
  const v = n[first!];
  return second ? (isObject(v) ? v[second] : undefined) : v;
}

// IdField takes effect when one leaves it, since what names the node is changed too.
function IdField({ value, onCommit, fault }: { value: string; onCommit: (v: string) => void; fault?: string | undefined }) {
  const [now, setNow] = useState(value);
  const commit = () => now !== value && onCommit(now.trim());
  return (
    <Labelled label="Id" fault={fault}>
      {(p) => <input {...p} className="mono" value={now} spellCheck={false} onChange={(e) => setNow(e.target.value)} onBlur={commit}
        onKeyDown={(e) => {
          if (e.key !== "Enter") return;
          e.preventDefault();
          commit();
        }} />}
    </Labelled>
  );
}

// RefField names a tool or an agent, with what there is to choose from.
function RefField({ tenant, of, label, value, onChange, fault, type }: {
  tenant: string;
  of: "tools" | "agents";
  label: string;
  value: string;
  onChange: (v: string) => void;
  fault?: string | undefined;
  type?: string | undefined;
}) {
  const list = useId();
  const search = value.split("@")[0]!;
  const found = useQuery(of === "tools" ? tools(tenant, { search, implementation_type: type, limit: 20 }) : (agents(tenant, { search, limit: 20 }) as never as ReturnType<typeof tools>));
  return (
    <Labelled label={label} hint="With a version after @, such as ^1.0." fault={fault}>
      {(p) => (
        <>
          <input {...p} className="mono" value={value} list={list} spellCheck={false} autoComplete="off" onChange={(e) => onChange(e.target.value)} />
          <datalist id={list}>
            {found.data?.items.map((t) => <option key={t.slug} value={t.published_at ? `${t.slug}@^${t.version}` : t.slug}>{t.name}</option>)}
          </datalist>
        </>
      )}
    </Labelled>
  );
}

type At = (field: string) => string | undefined;
type Set = (field: string, value: Json | undefined) => void;
type Others = readonly (readonly [string, string])[];

function Cases({ of: n, others, at, set }: { of: Obj; others: Others; at: At; set: Set }) {
  const cases = Array.isArray(n.cases) ? n.cases : [];
  const options: Others = [["", "choose a node"], ...others];
  return (
    <fieldset className="parts">
      <legend>Ways, tried in order</legend>
      {cases.map((c, i) => isObject(c) && (
        <div key={i} className="part">
          <TextField label={`If (${i + 1})`} mono value={text(c.when)} onChange={(v) => set(`/cases/${i}/when`, v)} fault={at(`/cases/${i}/when`)} placeholder="nodes.look.result.total > 100" />
          <SelectField label="goes to" options={options} value={text(c.next)} onChange={(v) => set(`/cases/${i}/next`, v)} fault={at(`/cases/${i}/next`)} />
          <button type="button" className="quiet" aria-label={`Remove way ${i + 1}`} onClick={() => set("/cases", cases.filter((_, j) => j !== i))}>✕</button>
        </div>
      ))}
      <p><button type="button" className="button" onClick={() => set("/cases", [...cases, { when: "true", next: "" }])}>Add a way</button></p>
      <SelectField label="Else" options={options} value={text(n.default)} onChange={(v) => set("/default", v)} fault={at("/default")} />
      {at("/cases") && cases.length === 0 && <p className="error">{at("/cases")}</p>}
    </fieldset>
  );
}

function Branches({ of: n, at, set, onBroken, id }: { of: Obj; at: At; set: Set; onBroken: (name: string) => (b: boolean) => void; id: string }) {
  const branches = Array.isArray(n.branches) ? n.branches : [];
  return (
    <fieldset className="parts">
      <legend>Branches</legend>
      {branches.map((b, i) => isObject(b) && (
        <div key={i} className="part">
          <TextField label={`Id of branch ${i + 1}`} mono value={text(b.id)} onChange={(v) => set(`/branches/${i}/id`, v)} fault={at(`/branches/${i}/id`)} />
          <JsonField label="Output" value={b.output} onChange={(v) => set(`/branches/${i}/output`, v)} fault={at(`/branches/${i}/output`)} rows={1} placeholder={from} onBroken={onBroken(`${id}branch${i}`)} />
          <button type="button" className="quiet" aria-label={`Remove branch ${text(b.id)} and its nodes`} onClick={() => set("/branches", branches.filter((_, j) => j !== i))}>✕</button>
        </div>
      ))}
      <p><button type="button" className="button" onClick={() => set("/branches", [...branches, { id: `branch${branches.length + 1}`, nodes: [{ id: `${id}_${branches.length + 1}`, kind: "start" }] }])}>Add a branch</button></p>
      <NumberField label="Branches at once" value={n.concurrency} onChange={(v) => set("/concurrency", v)} fault={at("/concurrency")} />
    </fieldset>
  );
}

const waits = [["seconds", "a time"], ["until", "a moment"], ["signal", "a signal"]] as const;

function WaitFields({ of: n, at, set, onBroken, id }: { of: Obj; at: At; set: Set; onBroken: (name: string) => (b: boolean) => void; id: string }) {
  const what = n.signal !== undefined ? "signal" : n.until !== undefined ? "until" : "seconds";
  return (
    <>
      <SelectField label="Waits for" options={waits} value={what} fault={undefined} onChange={(v) => {
        const rest = Object.fromEntries(Object.entries(n).filter(([name]) => !["seconds", "until", "signal"].includes(name)));
        set("", { ...rest, [v]: v === "seconds" ? 60 : v === "until" ? { $from: "/input/until" } : "go" });
      }} />
      {what === "signal" ? (
        <TextField label="Signal" mono value={text(n.signal)} onChange={(v) => set("/signal", v)} fault={at("/signal")} />
      ) : (
        <JsonField key={what} label={what === "seconds" ? "Seconds" : "Until"} hint={what === "until" ? "In the form of RFC 3339, or a binding." : "A number, or a binding."} value={n[what]} onChange={(v) => set(`/${what}`, v)} fault={at(`/${what}`)} rows={1} onBroken={onBroken(id + what)} />
      )}
    </>
  );
}
