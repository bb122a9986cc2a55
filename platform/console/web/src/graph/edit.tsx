import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useBlocker, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { ApiError, type Fault } from "../api/client";
import { conflict, createTool, toolDefinition, toolVersion, updateTool, validate, type ToolDefinition } from "../api/graphs";
import { print, type Json } from "../api/json";
import { json, may, me, tool, type Tool } from "../api/queries";
import { faultAt, faultsOf, JsonField, NumberField, SelectField, TextField } from "../pages/agents/fields";
import { Buckets } from "../ui/filters";
import { say } from "../ui/live";
import { Page } from "../ui/page";
import { Back, Status } from "../ui/parts";
import { words } from "../ui/shellwords";
import { Failed, Loading } from "../ui/states";
import { Import, type Imported } from "./import";
import { bodies, detail, insert, isObject, kinds, leads, moveTo, ofFault, put, remove, rename, sequence, shift, template, text, walk, type Definition, type Place } from "./model";
import { NodeForm } from "./nodeform";
import { Picture, type State } from "./picture";
import { useGraphSearch, useSetSearch } from "./view";

// The editor of graphs: a picture, a table and a form change the same definition. All of it is done by buttons and
// fields, so that it is done by keyboard too.

interface Model {
  config: Definition;
  input: Json | undefined;
}

const empty: Model = { config: { nodes: [{ id: "begin", kind: "start" }] }, input: { type: "object", properties: {}, additionalProperties: false } }; // What has no input says so: else it cannot be published.

export function EditGraph() {
  const { tenant, tool: slug } = useParams({ from: "/t/$tenant/tools/$tool/graph/edit" });
  const { version } = useGraphSearch();
  const found = useQuery(tool(tenant, slug));
  const old = useQuery({ ...toolVersion(tenant, slug, version ?? ""), enabled: !!version });
  const t = found.data;
  const content = version ? old.data?.definition : t;
  if (t && content?.implementation_config !== undefined) {
    return <Editor key={`${slug}@${version ?? ""}`} tenant={tenant} of={t} first={{ config: json(content.implementation_config) as Definition, input: json(content.input_schema) }} />;
  }
  return (
    <Page title={slug} back={<Back to="/t/$tenant/tools/$tool" params={{ tenant, tool: slug }}>{slug}</Back>}>
      {found.error || old.error ? <Failed error={found.error ?? old.error} what="The graph" /> : t && content ? <p className="notice">The tool {slug} is no graph: it is of type {t.implementation_type}.</p> : <Loading />}
    </Page>
  );
}

export function NewGraph() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  return <Editor tenant={tenant} first={empty} />;
}

function Editor({ tenant, of, first }: { tenant: string; of?: Tool; first: Model }) {
  const search = useGraphSearch();
  const setSearch = useSetSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const who = useQuery(me(tenant));
  const [model, history] = useHistory(first);
  const [base, setBase] = useState(of); // A save must not undo what others did since.
  const [head, setHead] = useState<ToolDefinition>(of ? {} : { slug: "", name: "", description: "", version: "1.0.0" });
  const [others, setOthers] = useState<Imported>();
  const [selected, setSelected] = useState<string>(search.node ?? "");
  const [connecting, setConnecting] = useState(false);
  const [asks, setAsks] = useState(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState<Model>(first);
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const [kind, setKind] = useState("tool");
  const { config } = model;
  const all = useMemo(() => walk(config), [config]);
  const parts = useMemo(() => bodies(config), [config]);
  const faults = useFaults(tenant, model);
  const chosen = all.find((p) => p.id === selected);
  const body = chosen && parts.find((b) => b.pointer === chosen.body);
  const dirty = model !== saved || (!of && head.slug !== "");
  const writes = may(who.data, "tools.write");
  const noun = sequence(config) ? "step" : "node";
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && dirty && !busy && !window.confirm("Leave without saving the graph?"),
    enableBeforeUnload: () => dirty,
  });
  const select = (id: string) => {
    setSelected(id);
    setSearch({ node: id || undefined });
  };
  const change = (next: Definition, key = "") => history.change({ ...model, config: next }, key);

  const add = () => {
    const node = template(config, kind);
    let next = config;
    if (chosen) {
      // It goes between the chosen node and the one that that leads to.
      const after = text(chosen.node.next);
      if (after) next = put(next, chosen.pointer + "/next", undefined) as Definition;
      next = insert(next, chosen.body, chosen.kind === "end" ? chosen.index : chosen.index + 1, after && kind !== "end" && kind !== "branch" ? { ...node, next: after } : node);
    } else {
      const root = parts[0]!;
      const last = root.places[root.places.length - 1];
      next = insert(next, root.pointer, last?.kind === "end" && kind !== "end" ? last.index : root.places.length, node);
    }
    change(next);
    select(text(node.id));
    say(`${kind.replaceAll("_", " ")} ${text(node.id)} is added.`);
  };
  const connect = (pointer: string) => {
    const to = all.find((p) => p.pointer === pointer);
    setConnecting(false);
    if (!to || !chosen || to.id === chosen.id) return;
    if (to.body !== chosen.body) return say("A node leads to nodes of its own body only.");
    if (chosen.kind !== "branch") change(put(config, chosen.pointer + "/next", to.id) as Definition);
    else if (!text(chosen.node.default)) change(put(config, chosen.pointer + "/default", to.id) as Definition);
    else change(put(config, chosen.pointer + "/cases", [...(Array.isArray(chosen.node.cases) ? chosen.node.cases : []), { when: "true", next: to.id }]) as Definition);
    say(`${chosen.id} leads to ${to.id}.`);
  };
  const takeOut = (p: Place) => {
    change(remove(config, p));
    select(body?.places[p.index - 1]?.id ?? "");
    say(`${p.id} is removed.`);
  };
  const save = async () => {
    setBusy(true);
    setError(undefined);
    const content = { implementation_config: config, ...(model.input !== undefined && { input_schema: model.input }) };
    try {
      if (base) {
        const t = await updateTool(tenant, base, { ...toolDefinition(base), ...(model.input === undefined && { input_schema: undefined }), ...content });
        setBase(t);
        setSaved(model);
        client.setQueryData(tool(tenant, t.slug).queryKey, t);
        void client.invalidateQueries({ queryKey: [tenant, "tools"] });
        say("The draft is saved.");
      } else {
        const set = Object.fromEntries(Object.entries(head).filter(([, v]) => v !== ""));
        const t = await createTool(tenant, { ...set, implementation_type: sequence(config) ? "composition" : "graph", ...content });
        void client.invalidateQueries({ queryKey: [tenant, "tools"] });
        await navigate({ to: "/t/$tenant/tools/$tool/graph/edit", params: { tenant, tool: t.slug }, search: {}, replace: true, ignoreBlocker: true });
        say("The draft is saved.");
      }
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  // Refusals name places in the tool's definition, of which the graph is a part.
  const refused: Fault[] = faultsOf(error).map((f) => ({ ...f, path: f.path?.replace(/^\/implementation_config/, "") ?? "" }));
  const known: Fault[] = [...faults.map((f) => ({ path: f.path, detail: f.message })), ...refused.filter((f) => !faults.some((g) => g.path === f.path))];
  const states = useMemo(() => {
    const out = new Map<string, State>();
    for (const f of known) {
      const { place } = ofFault(all, f.path ?? "");
      if (place) out.set(place.pointer, { status: "fault" });
    }
    return out;
  }, [known, all]);
  const onBroken = (name: string) => (is: boolean) => setBroken((b) => {
    if (b.has(name) === is) return b;
    const next = new Set(b);
    if (is) next.add(name);
    else next.delete(name);
    return next;
  });
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (e.key === "Escape") setConnecting(false);
      if (!(e.ctrlKey || e.metaKey) || e.altKey || (e.target as Element | null)?.closest("input, textarea, select, [role=dialog]")) return;
      const key = e.key.toLowerCase();
      if (key === "z" || key === "y") {
        e.preventDefault();
        if (key === "y" || e.shiftKey) history.redo();
        else history.undo();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const slug = of?.slug ?? String(head.slug ?? "");
  return (
    <Page title={of ? `Graph of ${of.slug}` : "New graph"} cli={of ? words("toolcrib", "graph", "show", slug) : "toolcrib graph validate graph.yaml"}
      back={of ? <Back to="/t/$tenant/tools/$tool" params={{ tenant, tool: of.slug }}>{of.slug}</Back> : <Back to="/t/$tenant/tools" params={{ tenant }}>Tools</Back>}
      about={of ? "Its draft. What is published stays until you publish again, on the page of the tool." : "A tool whose calls run several nodes. It is a draft until you publish it."}
      actions={
        <>
          <button type="button" className="button" disabled={!history.canUndo} onClick={history.undo}>Undo</button>
          <button type="button" className="button" disabled={!history.canRedo} onClick={history.redo}>Redo</button>
          {!of && <button type="button" className="button" onClick={() => setAsks(true)}>Import…</button>}
          {of && !dirty && <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: of.slug }} search={{ tab: "graph" } as never} className="button">To the tool</Link>}
          <button type="button" className="button primary" disabled={busy || !writes || !dirty || broken.size > 0} onClick={() => void save()}>{of ? "Save draft" : "Create draft"}</button>
        </>
      }>
      {who.data && !writes && <p className="notice">Saving takes the permission <code>tools.write</code>.</p>}
      {error !== undefined && (conflict(error) ? (
        <div className="notice bad" role="alert">
          <p>The tool was changed meanwhile. Nothing of yours was saved, or lost.</p>
          <p className="actions"><button type="button" className="button danger" onClick={async () => {
            setBase(await client.fetchQuery({ ...tool(tenant, of!.slug), staleTime: 0 }));
            setError(undefined);
          }}>Keep my graph instead of theirs</button></p>
        </div>
      ) : <p className="notice bad" role="alert">{error instanceof ApiError ? error.detail : "The graph could not be saved."}</p>)}
      {others && <p className="notice">It came from a document: {others.applied ? `${others.applied} further definitions were saved as drafts.` : "it needs nothing beside it."}</p>}
      {!of && (
        <div className="set-row head">
          <TextField label="Slug" mono required value={String(head.slug ?? "")} onChange={(v) => setHead({ ...head, slug: v })} fault={faultAt(refused, "/slug")} placeholder="checkOrders" />
          <TextField label="Name" value={String(head.name ?? "")} onChange={(v) => setHead({ ...head, name: v })} fault={faultAt(refused, "/name")} />
          <TextField label="Description" value={String(head.description ?? "")} onChange={(v) => setHead({ ...head, description: v })} fault={faultAt(refused, "/description")} placeholder="When a model should use it" />
          <TextField label="Version" mono value={String(head.version ?? "")} onChange={(v) => setHead({ ...head, version: v })} fault={faultAt(refused, "/version")} />
        </div>
      )}
      <div className="filters" role="toolbar" aria-label="Changes of the graph">
        <Buckets label="Show as" value={search.show ?? ""} options={[["", "Picture"], ["table", "Table"]]} onChange={(v) => setSearch({ show: v || undefined })} />
        {!sequence(config) && (
          <label className="choice set">
            <span>Kind</span>
            <select value={kind} onChange={(e) => setKind(e.target.value)}>{kinds.map((k) => <option key={k} value={k}>{k.replaceAll("_", " ")}</option>)}</select>
          </label>
        )}
        <button type="button" className="button" onClick={add}>Add {noun}{chosen ? (chosen.kind === "end" ? ` before ${chosen.id}` : ` after ${chosen.id}`) : ""}</button>
        {chosen && body && (
          <>
            {!sequence(config) && chosen.kind !== "end" && <button type="button" className="button" aria-pressed={connecting} onClick={() => setConnecting(!connecting)}>Connect…</button>}
            <button type="button" className="button" disabled={chosen.index === 0} onClick={() => change(shift(config, chosen, -1))}>Move up</button>
            <button type="button" className="button" disabled={chosen.index === body.places.length - 1} onClick={() => change(shift(config, chosen, 1))}>Move down</button>
            {parts.length > 1 && (
              <label className="choice">
                <span>In</span>
                <select value={chosen.body} onChange={(e) => change(moveTo(config, chosen, e.target.value))}>
                  {parts.filter((b) => !b.pointer.startsWith(chosen.pointer + "/")).map((b) => <option key={b.pointer} value={b.pointer}>{b.owner ? `${b.owner}${b.name && ` / ${b.name}`}` : "the graph"}</option>)}
                </select>
              </label>
            )}
            <button type="button" className="button danger" disabled={body.places.length === 1} onClick={() => takeOut(chosen)}>Remove</button>
            <button type="button" className="button" onClick={() => select("")}>Graph</button>
          </>
        )}
      </div>
      <div className="split open editor graph-parts">
        <div className="split-list">
          {search.show === "table" ? (
            <Table all={all} states={states} selected={selected} onSelect={select} of={config} />
          ) : (
            <Picture of={config} states={states} selected={chosen?.pointer} label="The graph" hint={connecting ? `Choose the node that ${selected} leads to. Esc: none` : undefined}
              onSelect={(pointer) => (connecting ? connect(pointer) : select(all.find((p) => p.pointer === pointer)?.id ?? ""))} />
          )}
          <Problems of={known} all={all} onSelect={select} />
        </div>
        <aside className="drawer" aria-label={chosen ? `The ${noun} ${chosen.id}` : "The graph itself"}>
          <div className="drawer-head"><h2>{chosen ? <>{chosen.id} <span className="muted">{chosen.kind.replaceAll("_", " ")}</span></> : "The graph itself"}</h2></div>
          <div className="drawer-body set-form one">
            {chosen && body ? (
              <NodeForm key={chosen.id} tenant={tenant} definition={config} of={chosen} body={body} all={parts} faults={known} onChange={change} onBroken={onBroken}
                onRename={(to) => {
                  change(rename(config, chosen.id, to));
                  select(to);
                }} />
            ) : (
              <GraphForm model={model} faults={known} onChange={(m, key) => history.change(m, key)} onBroken={onBroken} />
            )}
          </div>
        </aside>
      </div>
      {asks && <Import tenant={tenant} onClose={() => setAsks(false)} onTake={(made) => {
        setAsks(false);
        setOthers(made);
        setHead({ ...head, ...made.head });
        history.change({ config: made.config, input: made.input }, "");
        select("");
      }} />}
    </Page>
  );
}

function GraphForm({ model, faults, onChange, onBroken }: { model: Model; faults: readonly Fault[]; onChange: (m: Model, key: string) => void; onBroken: (name: string) => (b: boolean) => void }) {
  const { config } = model;
  const set = (field: string, v: Json | undefined) => onChange({ ...model, config: put(config, field, v) as Definition }, field);
  const at = (field: string) => faultAt(faults, field);
  const limits = isObject(config.limits) ? config.limits : {};
  const root = bodies(config)[0]!;
  return (
    <>
      <p className="muted">Choose a node to edit it.</p>
      <JsonField label="Input" hint="JSON Schema of the arguments: bindings are checked against it." value={model.input} onChange={(input) => onChange({ ...model, input }, "input")} rows={6} onBroken={onBroken("input")} />
      <JsonField label="Output" hint={`A binding; the result of the last ${sequence(config) ? "step" : "node"} when empty.`} value={config.output} onChange={(v) => set("/output", v)} fault={at("/output")} onBroken={onBroken("output")} />
      {!sequence(config) && (
        <>
          <JsonField label="First state" value={config.state} onChange={(v) => set("/state", v)} fault={at("/state")} rows={2} onBroken={onBroken("state")} />
          <JsonField label="Schema of the state" value={config.state_schema} onChange={(v) => set("/state_schema", v)} fault={at("/state_schema")} rows={2} onBroken={onBroken("state_schema")} />
          <SelectField label="Before it fails" value={text(config.on_error)} onChange={(v) => set("/on_error", v || undefined)} fault={at("/on_error")} options={[["", "nothing runs"], ...root.places.map((p) => [p.id, p.id] as const)]} />
          <NumberField label="Nodes that may begin" placeholder="10000" value={limits.steps} onChange={(v) => set("/limits", v === undefined ? undefined : { steps: v })} fault={at("/limits")} />
        </>
      )}
      <details className="more"><summary>The whole definition</summary><pre className="document" tabIndex={0} aria-label="The definition">{print(config, 2)}</pre></details>
    </>
  );
}

function Table({ all, states, selected, onSelect, of }: { all: readonly Place[]; states: ReadonlyMap<string, State>; selected: string; onSelect: (id: string) => void; of: Definition }) {
  const by = new Map(bodies(of).map((b) => [b.pointer, b]));
  return (
    <div className="table-wrap">
      <table className="rows">
        <caption className="unseen">Nodes</caption>
        <thead><tr><th scope="col">Node</th><th scope="col">Kind</th><th scope="col" className="from-medium">Leads to</th><th scope="col">Check</th></tr></thead>
        <tbody>
          {all.map((p) => (
            <tr key={p.pointer} data-current={p.id === selected}>
              <td><button type="button" className="row-link link-row named-above" aria-pressed={p.id === selected} onClick={() => onSelect(p.id)}><span className="slug">{"· ".repeat(p.depth)}{p.id || "no id"}</span><span className="muted line">{detail(p)}</span></button></td>
              <td>{p.kind.replaceAll("_", " ")}</td>
              <td className="from-medium"><span className="line leads" title={leads(p, by.get(p.body)!)}>{leads(p, by.get(p.body)!)}</span></td>
              <td>{states.has(p.pointer) ? <Status value="failed" /> : <span className="none">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Problems({ of, all, onSelect }: { of: readonly Fault[]; all: readonly Place[]; onSelect: (id: string) => void }) {
  return (
    <section className="problems" aria-label="Problems" aria-live="polite">
      {of.length === 0 ? <p className="status good">No problems</p> : <h2>{of.length === 1 ? "1 problem" : `${of.length} problems`}</h2>}
      <ul>
        {of.slice(0, 50).map((f, i) => {
          const { place, field } = ofFault(all, f.path ?? "");
          return (
            <li key={i}>
              <button type="button" className="link slug" onClick={() => onSelect(place?.id ?? "")}>{place ? place.id : "the graph"}{field}</button> {f.detail}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

// useFaults asks the server what is wrong, a moment after the last change.
function useFaults(tenant: string, model: Model) {
  const [faults, setFaults] = useState<{ path: string; message: string }[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      validate(tenant, model.config, model.input, stop.signal).then((v) => setFaults(v.faults), (e: unknown) => {
        if (!stop.signal.aborted && e instanceof ApiError && e.status !== 0) setFaults(e.faults.map((f) => ({ path: f.path ?? "", message: f.detail })));
      });
    }, 350);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [tenant, model]);
  return faults;
}

const remembered = 200;

// useHistory keeps what was, to undo. Changes of one field that follow one another are one change.
function useHistory(first: Model) {
  const [state, setState] = useState<{ past: Model[]; now: Model; future: Model[] }>({ past: [], now: first, future: [] });
  const last = useRef({ key: "", at: 0 });
  const change = (now: Model, key: string) => {
    const same = key !== "" && key === last.current.key && Date.now() - last.current.at < 1500;
    last.current = { key, at: Date.now() };
    setState((s) => ({ past: same ? s.past : [...s.past.slice(-remembered), s.now], now, future: [] }));
  };
  const undo = () => setState((s) => (s.past.length ? { past: s.past.slice(0, -1), now: s.past[s.past.length - 1]!, future: [s.now, ...s.future] } : s));
  const redo = () => setState((s) => (s.future.length ? { past: [...s.past, s.now], now: s.future[0]!, future: s.future.slice(1) } : s));
  return [state.now, { change, undo, redo, canUndo: state.past.length > 0, canRedo: state.future.length > 0 }] as const;
}
