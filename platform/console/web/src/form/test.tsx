import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { pastCalls, type NewCall } from "../api/forms";
import { parse, print, type Json } from "../api/json";
import { invocation, json, may, me, toolForm, toolVersions, type Invocation, type ToolForm } from "../api/queries";
import { client } from "../query";
import { JsonView } from "../ui/json";
import { Badge, Facts, Id, Status, ago, took } from "../ui/parts";
import { Empty, Failed, Loading } from "../ui/states";
import { FormView, start } from "./form";
import { JsonEditor } from "./json";
import { Output, type Result } from "./output";
import { isObject, type FormSpec, type Section } from "./spec";
import { useCall, type Called } from "./call";
import type { Problems } from "./store";

const at = "/t/$tenant/tools/$tool";

// Chosen is what is called, and how its input is shown.
interface Chosen {
  version?: string | undefined;
  mode?: string | undefined;
  as?: string | undefined;
  run?: string | undefined;
}

interface Choosing {
  tenant: string;
  slug: string;
  chosen: Chosen;
  set: (c: Chosen) => void;
}

// TestPanel calls a tool with what a person fills in, and shows what comes of it beside the form. The address has
// what is chosen.
export default function TestPanel({ tenant, slug }: { tenant: string; slug: string }) {
  const chosen = useSearch({ from: at });
  const navigate = useNavigate({ from: at });
  const set = (c: Chosen) => void navigate({ search: (before) => ({ ...before, ...c }), replace: true, resetScroll: false });
  return <Opened tenant={tenant} slug={slug} chosen={chosen} set={set} />;
}

// TestOfDraft is the same in the editor of a tool.
export function TestOfDraft({ tenant, slug }: { tenant: string; slug: string }) {
  const [chosen, setChosen] = useState<Chosen>({});
  return <Opened tenant={tenant} slug={slug} chosen={chosen} set={(c) => setChosen((before) => ({ ...before, ...c }))} />;
}

function Opened(p: Choosing) {
  const found = useQuery(toolForm(p.tenant, p.slug, p.chosen.version));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The form" />;
  return <Panel key={found.data.version} {...p} form={found.data} />;
}

function Panel({ tenant, slug, form, chosen: search, set }: Choosing & { form: ToolForm }) {
  const who = useQuery(me(tenant));
  const versions = useQuery(toolVersions(tenant, slug));
  const spec = form.input as FormSpec;
  const [value, setValue] = useState<Json>(() => start(spec));
  const [faults, setFaults] = useState<Problems>({});
  const [text, setText] = useState<string>();
  const [fault, setFault] = useState<string>();
  const [writes, setWrites] = useState(false);
  const { called, start: begin, resume, cancel } = useCall(tenant, slug);
  const mode = (search.mode === "production" || search.mode === "debug" ? search.mode : "test") as NewCall["mode"];
  const asJson = search.as === "json";
  const drawn = search.as === "embed" ? "embed" : "internal"; // An embedded form leaves out what is for operators.
  const allowed = may(who.data, "runs.write");
  const running = called.state === "running";
  const blocked = asJson ? fault !== undefined : Object.keys(faults).length > 0;

  // A call that the address names is shown again.
  const resumed = useRef<string>(undefined);
  useEffect(() => {
    if (!search.run || resumed.current === search.run || called.run === search.run) return;
    resumed.current = search.run;
    void resume(search.run);
  }, [search.run]);
  useEffect(() => {
    if (called.run && called.run !== search.run) set({ run: called.run });
  }, [called.run]);

  const send = () => {
    if (running || blocked || !allowed) return;
    void begin({ arguments: value, version: search.version, mode, ...(mode === "test" && { allow_writes: writes }) });
  };
  const fill = (v: Json | undefined) => {
    const next = v ?? start(spec);
    setValue(next);
    setText(undefined);
    setFault(undefined);
  };
  return (
    <div className="t-panel" onKeyDown={(e) => {
      if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      send();
    }}>
      <section className="t-input" aria-label="Input">
        <div className="filters">
          <label className={`choice${search.version ? " set" : ""}`}>
            <span>Version</span>
            <select value={search.version ?? ""} onChange={(e) => set({ version: e.target.value || undefined })}>
              <option value="">{mode === "test" ? "draft" : "as it would run"}</option>
              {search.version && !versions.data?.items.some((v) => v.version === search.version) && <option>{search.version}</option>}
              {versions.data?.items.map((v) => <option key={v.id} value={v.version}>{v.version}{v.published ? "" : ", draft"}</option>)}
            </select>
          </label>
          <label className={`choice${mode === "test" ? "" : " set"}`}>
            <span>As</span>
            <select value={mode} onChange={(e) => set({ mode: e.target.value === "test" ? undefined : e.target.value })}>
              <option value="test">a test</option>
              <option value="production">a call in production</option>
              <option value="debug">a call in debug mode</option>
            </select>
          </label>
          <Past tenant={tenant} slug={slug} fill={fill} />
          <span className="buckets" role="group" aria-label="Input as">
            <button type="button" aria-pressed={!asJson && drawn !== "embed"} onClick={() => set({ as: undefined })}>Form</button>
            <button type="button" aria-pressed={drawn === "embed"} onClick={() => set({ as: "embed" })}>Embedded</button>
            <button type="button" aria-pressed={asJson} onClick={() => {
              setText(undefined);
              set({ as: "json" });
            }}>JSON</button>
          </span>
        </div>
        {mode !== "test" && form.confirm.required && <p className="notice">A call needs an approval: {form.confirm.reasons.join("; ")}.</p>}
        {asJson ? (
          <JsonEditor label="Input as JSON" text={text ?? print(value, 2)} problem={fault ?? Object.entries(called.errors).map(([p, t]) => `${p} ${t}`)[0]} onChange={(t) => {
            setText(t);
            try {
              setValue(parse(t.trim() === "" ? "{}" : t));
              setFault(undefined);
            } catch (e) {
              setFault((e as Error).message);
            }
          }} />
        ) : spec.fields.length === 0 && !spec.open && spec.schema === undefined ? (
          <Empty title="The tool takes no input" />
        ) : (
          <FormView spec={spec} value={value} errors={called.errors} tenant={tenant} mode={drawn} onChange={(v, f) => {
            setValue(v ?? start(spec));
            setFaults(f);
            setText(undefined);
          }} />
        )}
        <div className="t-send">
          <button type="button" className="button primary" disabled={running || blocked || !allowed} onClick={send}>{mode === "test" ? "Test" : "Call"}</button>
          {running && called.run && <button type="button" className="button danger" onClick={() => void cancel()}>Cancel</button>}
          {mode === "test" && (
            <label className="check">
              <input type="checkbox" checked={writes} onChange={(e) => setWrites(e.target.checked)} />
              It may have effects
            </label>
          )}
          <span className="f-hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd></span>
        </div>
        {who.data && !allowed && <p className="notice">Calls take the permission <code>runs.write</code>, which your key does not have.</p>}
      </section>
      <section className="t-output" aria-label="Output" aria-busy={running}>
        <Answer tenant={tenant} slug={slug} called={called} form={form} mode={mode} />
      </section>
    </div>
  );
}

// Past fills the form with the input of an earlier call.
function Past({ tenant, slug, fill }: { tenant: string; slug: string; fill: (v: Json | undefined) => void }) {
  const found = useQuery(pastCalls(tenant, slug));
  const [failed, setFailed] = useState(false);
  const items = (found.data?.items ?? []) as Invocation[];
  return (
    <label className="choice">
      <span>Fill from</span>
      <select value="" aria-label="Fill from a past call" onFocus={() => void found.refetch()} onChange={(e) => {
        const id = e.target.value;
        if (id === "new") return fill(undefined);
        setFailed(false);
        client.fetchQuery(invocation(tenant, id)).then((i) => fill(json(i.input)), () => setFailed(true));
      }}>
        <option value="" disabled>{failed ? "not there any more" : items.length === 0 ? "no past call" : "a past call"}</option>
        <option value="new">the defaults</option>
        {items.map((i) => <option key={i.id} value={i.id}>{`${ago(i.created_at)}, ${i.status}${i.version ? `, ${i.version}` : ""}`}</option>)}
      </select>
    </label>
  );
}

const rules: Record<string, string> = {
  empty_to_object: "nothing was sent", json_text: "a text of JSON was read", text_to_string: "a bare text was taken as a text", code_fence: "a code fence was removed",
  json_repair: "malformed JSON was mended", unwrap_arguments: "the arguments were unwrapped", to_sole_property: "it became the one required member",
  property_spelling: "the name was spelt in another way", property_alias: "the name was an alias", null_to_absent: "null was left out", string_to_number: "a text became a number",
  string_to_boolean: "a text became true or false", string_to_null: "a text became null", scalar_to_string: "a value became a text", enum_spelling: "an option was spelt in another way",
  value_to_array: "a value became a list", single_item_to_item: "a list of one became its item", override_default: "the tenant's default was filled in",
};

function Answer({ tenant, slug, called: c, form, mode }: { tenant: string; slug: string; called: Called; form: ToolForm; mode: NewCall["mode"] }) {
  const chunks = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (chunks.current) chunks.current.scrollTop = chunks.current.scrollHeight;
  }, [c.chunks]);
  const i = c.outcome?.invocation;
  const receipt = useMemo(() => (Array.isArray(i?.receipt) ? (i.receipt as unknown as { path?: string; from?: string; to?: string; rule: string }[]) : []), [i]);
  if (c.state === "idle") {
    return <Empty title="Nothing was called yet">Fill in the form, then press Test. A test changes nothing unless you allow it.</Empty>;
  }
  const status = c.state === "running" ? (c.approval ? "waiting" : "running") : c.state === "failed" ? "failed" : (i?.status ?? c.outcome!.status);
  const message = c.outcome?.error ?? i?.error;
  const app = form.app && i ? { tool: slug, version: form.draft ? (mode === "test" ? undefined : i.version) : form.version, input: json(i.input) } : undefined;
  return (
    <>
      <p className="badges">
        <Status value={status} />
        {i?.is_error && <Badge tone="bad">answered no</Badge>}
        {c.run && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: c.run }}>Run</Link>}
        {i && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: c.run! }} search={{ tab: "calls", call: i.id }}>Call and trace</Link>}
      </p>
      {c.approval && c.state === "running" && (
        <p className="notice">
          The call waits for an approval. <Link to="/t/$tenant/approvals" params={{ tenant }} search={{ open: c.approval }}>Look at the request</Link>
        </p>
      )}
      {c.error !== undefined && <Failed error={c.error} what="The tool" />}
      {message && <p className="notice bad">{c.outcome?.error_kind ?? i?.error_kind}: {message}</p>}
      {c.chunks.length > 0 && (c.state === "running" || !i?.output) && (
        <pre className="t-chunks" ref={chunks} tabIndex={0} aria-label="Output so far" data-chunks={c.chunks.length}>{c.chunks.join("")}</pre>
      )}
      {c.state === "running" && c.chunks.length === 0 && <div className="t-wait" role="progressbar" aria-label="The call runs" />}
      {i?.output !== undefined && (
        <Output key={i.id} result={i.output as unknown as Result} app={app} spec={form.output as FormSpec | undefined} sections={form.output_sections as Section[] | undefined} tenant={tenant} />
      )}
      {i && (
        <Facts of={[
          ["Took", took(i.started_at, i.completed_at)],
          ["Attempts", String(i.attempt)],
          ["Cost", i.cost_micros !== undefined ? cost(String(i.cost_micros)) : undefined],
          ["Version", i.version],
          ["Reaches out", i.egress_class],
          ["Call", <Id value={i.id} />],
        ]} />
      )}
      {receipt.length > 0 && (
        <section aria-label="Changed before the call">
          <h3>Changed before the call</h3>
          <ul className="t-receipt">
            {receipt.map((r, n) => {
              const now = r.path !== undefined && isObject(json(i!.input)) ? valueAt(json(i!.input), r.path) : undefined;
              return (
                <li key={n}>
                  <code>{r.path || "the whole"}</code> <span>{rules[r.rule] ?? r.rule}</span>
                  <span className="muted">{r.from} → {r.to}</span>
                  {now !== undefined && (now === null || typeof now !== "object" || "text" in now) && <code>{print(now)}</code>}
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {i?.input !== undefined && (
        <details className="o-twin">
          <summary>What the tool got</summary>
          <JsonView value={json(i.input)} label="Input of the call" />
        </details>
      )}
      {c.events.length > 0 && (
        <details className="o-twin" open={c.state === "running"}>
          <summary>{c.events.length} event{c.events.length === 1 ? "" : "s"}</summary>
          <ol className="t-events">
            {c.events.map((e, n) => (
              <li key={n}>
                <span className="muted">{(e.at / 1000).toFixed(2)} s</span> <span className="slug">{e.type}</span> {e.note && <span className="muted">{e.note}</span>}
              </li>
            ))}
          </ol>
        </details>
      )}
      {c.state === "ended" && !i && !message && <p className="muted">There is no record of a call of {slug}: it ended before it began.</p>}
    </>
  );
}

function valueAt(root: Json | undefined, path: string): Json | undefined {
  let v = root;
  for (const n of path === "" ? [] : path.slice(1).split("/").map((p) => p.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    v = Array.isArray(v) ? v[Number(n)] : isObject(v) ? v[n] : undefined;
  }
  return v;
}

// cost writes millionths of a unit of money.
function cost(micros: string): string {
  const digits = micros.replace("-", "").padStart(7, "0");
  const part = digits.slice(-6).replace(/0+$/, "");
  return (micros.startsWith("-") ? "-" : "") + digits.slice(0, -6) + (part ? "." + part : "");
}
