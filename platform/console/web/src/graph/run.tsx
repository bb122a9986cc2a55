import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { runCalls, runNodes, toolVersion, type NodeRecord } from "../api/graphs";
import { ApiError } from "../api/client";
import { json, tool, type Invocation, type Run } from "../api/queries";
import { CallAnswer } from "../form/callanswer";
import { JsonView } from "../ui/json";
import { Drawer } from "../ui/list";
import { Facts, Status, Text, Time, took } from "../ui/parts";
import { Empty, Failed, Loading } from "../ui/states";
import { sequence, staticPath, walk, type Definition, type Place } from "./model";
import type { State } from "./picture";
import { GraphView, useGraphSearch, useSetSearch } from "./view";

const shownItems = 50;
const over = ["completed", "failed", "rejected", "cancelled", "expired", "unknown"];

// RunGraph shows how a run went through its graph: the record of its nodes, and the calls that they made.
export function RunGraph({ tenant, of: r }: { tenant: string; of: Run }) {
  const search = useGraphSearch();
  const set = useSetSearch();
  const made = useQuery(runCalls(tenant, r.id));
  if (made.isPending) return <Loading />;
  if (made.error) return <Failed error={made.error} retry={() => void made.refetch()} what="The calls of the run" />;
  const graphs = made.data.items.filter((c) => c.implementation_type === "graph" || c.implementation_type === "composition").reverse();
  const chosen = graphs.find((c) => c.id === search.graph) ?? graphs[0];
  if (!chosen) return <Empty title="No graph was called yet">A graph that the run calls is drawn here, and followed.</Empty>;
  return (
    <OneCall key={chosen.id} tenant={tenant} run={r} of={chosen} calls={made.data.items}
      tools={graphs.length > 1 && (
        <label className="choice set">
          <span>Call</span>
          <select value={chosen.id} onChange={(e) => set({ graph: e.target.value, node: undefined })}>
            {graphs.map((c, i) => <option key={c.id} value={c.id}>{i + 1}: {c.tool} {c.status}</option>)}
          </select>
        </label>
      )} />
  );
}

function OneCall({ tenant, run: r, of, calls, tools }: { tenant: string; run: Run; of: Invocation; calls: Invocation[]; tools: React.ReactNode }) {
  const version = useQuery({ ...toolVersion(tenant, of.tool, of.version ?? ""), enabled: !!of.version });
  const draft = version.error instanceof ApiError && version.error.status === 404; // In debug mode, a draft runs.
  const head = useQuery({ ...tool(tenant, of.tool), enabled: draft || !of.version });
  const nodes = useQuery(runNodes(tenant, r.id));
  const set = useSetSearch();
  const config = version.data ? version.data.definition.implementation_config : head.data?.implementation_config;
  const seen = useMemo(() => {
    if (!config || !nodes.data) return undefined;
    return follow(config as Definition, of, nodes.data.items, calls);
  }, [config, nodes.data, of, calls]);
  const error = nodes.error ?? head.error ?? (draft ? undefined : version.error);
  if (error) return <Failed error={error} what="The graph" />;
  if (!seen) return <Loading />;
  return (
    <>
      {nodes.data?.next && <p className="notice">The first {nodes.data.items.length} records of nodes are shown.</p>}
      <GraphView of={config as Definition} states={seen.states} label={`${of.tool} in this run`}
        tools={<>{tools}<span className="muted">{of.tool}@{of.version ?? "draft"}</span> <Status value={of.status} /></>}
        aside={(p) => <NodeDrawer tenant={tenant} of={p} records={seen.records.get(p.path) ?? []} calls={seen.calls.get(p.path) ?? []} onClose={() => set({ node: undefined })} />} />
    </>
  );
}

interface Seen {
  states: Map<string, State & { took?: string }>;
  records: Map<string, NodeRecord[]>; // By path without numbers; those of items too.
  calls: Map<string, Invocation[]>;
}

function follow(d: Definition, of: Invocation, all: readonly NodeRecord[], made: readonly Invocation[]): Seen {
  const group = <T,>(items: readonly T[], path: (t: T) => string) => {
    const out = new Map<string, T[]>();
    for (const i of items) out.set(path(i), [...(out.get(path(i)) ?? []), i]);
    return out;
  };
  const records = group(all.filter((n) => n.graph_effect_id === of.effect_id && n.path !== ""), (n) => staticPath(n.path));
  const below = made.filter((c) => c.parent_id === of.id);
  const prefix = of.call_id + "/";
  const calls = group(below, (c) => (sequence(d) || !c.call_id.startsWith(prefix) ? c.call_id.slice(c.call_id.lastIndexOf("/") + 1) : staticPath(c.call_id.slice(prefix.length))));
  const states = new Map<string, State & { took?: string }>();
  for (const p of walk(d)) {
    const state = stateOf(p, records.get(p.path) ?? [], calls.get(p.path) ?? [], over.includes(of.status), sequence(d));
    if (state) states.set(p.pointer, state);
  }
  return { states, records, calls };
}

const waits = ["pending", "approved", "waiting"];

function stateOf(p: Place, records: readonly NodeRecord[], calls: readonly Invocation[], ended: boolean, steps: boolean): (State & { took?: string }) | undefined {
  const own = records.filter((r) => r.kind);
  const items = records.filter((r) => !r.kind && /\/\d+$/.test(r.path));
  const open = calls.filter((c) => !over.includes(c.status));
  const longest = Math.max(...calls.map((c) => (c.started_at && c.completed_at ? Date.parse(c.completed_at) - Date.parse(c.started_at) : -1)), -1);
  const time = longest >= 0 ? { took: took(new Date(0).toISOString(), new Date(longest).toISOString()) } : {};
  const count = (of: readonly { status: string }[]) => `${of.filter((r) => r.status === "completed").length}/${of.length}`;
  if (open.length > 0) {
    const status = open.every((c) => waits.includes(c.status)) ? "waiting" : "running";
    return { status, ...(own.length + open.length > 1 && { badge: `${own.length} done, ${open.length} open` }), ...time };
  }
  if (steps && calls.length > 0) {
    const last = calls[0]!;
    return { status: last.status === "completed" && !last.is_error ? "completed" : last.status === "cancelled" ? "cancelled" : "failed", ...time };
  }
  if (own.length === 0) return items.length > 0 ? { status: ended ? "cancelled" : "running", badge: count(items) } : ended ? { status: "not reached" } : undefined;
  const status = own.find((r) => r.status === "failed")?.status ?? own[own.length - 1]!.status;
  const attempts = Math.max(...own.map((r) => r.attempts ?? 0));
  const badge = items.length > 0 ? count(items) : own.length > 1 ? count(own) : p.kind === "branch" && own[0]!.case ? `→ ${own[0]!.case}` : attempts > 1 ? `${attempts} attempts` : undefined;
  return { status, ...(badge && { badge }), ...time };
}

function NodeDrawer({ tenant, of: p, records, calls, onClose }: { tenant: string; of: Place; records: NodeRecord[]; calls: Invocation[]; onClose: () => void }) {
  const whole = records.filter((r) => r.kind);
  // What a tool answered is shown as its version declares. A node that made one call has its result.
  const only = calls.length === 1 && calls[0]!.tool_id && !calls[0]!.is_error ? calls[0] : undefined;
  return (
    <Drawer title={p.id} onClose={onClose}>
      {whole.length === 0 && calls.length === 0 && <p className="muted">The run did not come to this node{records.length > 0 ? " to its end" : ""}.</p>}
      {calls.slice(0, shownItems).map((c) => (
        <p key={c.id} className="badges">
          <Status value={c.status} /> <span className="slug">{c.tool}</span>
          <span className="muted">{took(c.started_at, c.completed_at)}</span>
          <Link to="." search={((s: Record<string, unknown>) => ({ ...s, call: c.id, node: undefined })) as never} resetScroll={false} aria-label={`Open the call of ${c.tool}, ${c.call_id}`}>Open the call</Link>
        </p>
      ))}
      {calls.length > shownItems && <p className="muted">and {calls.length - shownItems} more, in the tab Calls</p>}
      {whole.length === 0 && only?.output !== undefined && <CallAnswer tenant={tenant} tool={only.tool} version={only.version} result={only.output} />}
      {whole.slice(0, shownItems).map((r) => (
        <section key={r.path} className="node-record">
          {whole.length > 1 && <h3 className="slug">{r.path}</h3>}
          <p className="badges"><Status value={r.status} />{r.case && <span>went to <span className="slug">{r.case}</span></span>}<Time at={r.ended_at} /></p>
          {r.error && <p className="notice bad">{r.error_kind}: {r.error}</p>}
          <Facts of={[["Attempts", r.attempts && String(r.attempts)], ["Run", r.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.run_id }}>of its agent</Link>]]} />
          {r.text && <Text>{r.text}</Text>}
          {r.result !== undefined && (only && whole.length === 1 ? (
            <CallAnswer tenant={tenant} tool={only.tool} version={only.version} value={json(r.result)} label={`Result of ${r.path}`} />
          ) : (
            <JsonView value={json(r.result)} label={`Result of ${r.path}`} />
          ))}
          {r.state !== undefined && <JsonView value={json(r.state)} label={`State after ${r.path}`} />}
        </section>
      ))}
      {whole.length > shownItems && <p className="muted">and {whole.length - shownItems} more</p>}
      <Items of={records.filter((r) => !r.kind && /\/\d+$/.test(r.path))} />
    </Drawer>
  );
}

function Items({ of }: { of: NodeRecord[] }) {
  if (of.length === 0) return null;
  const failed = of.filter((r) => r.status === "failed");
  return (
    <section className="node-record">
      <h3>{of.length} items or iterations{failed.length > 0 && `, ${failed.length} failed`}</h3>
      <ul className="items">
        {[...failed, ...of.filter((r) => r.status !== "failed")].slice(0, shownItems).map((r) => (
          <li key={r.path}><span className="slug">{r.path.slice(r.path.lastIndexOf("/") + 1)}</span> <Status value={r.status} /> {r.error && <span className="error">{r.error}</span>}</li>
        ))}
      </ul>
      {of.length > shownItems && <p className="muted">and {of.length - shownItems} more</p>}
    </section>
  );
}
