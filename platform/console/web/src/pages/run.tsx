import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../api/client";
import { print } from "../api/json";
import { calls, events, invocation, json, messages, run, type Invocation, type Message, type Run } from "../api/queries";
import { JsonView } from "../ui/json";
import { Drawer, Rows } from "../ui/list";
import { Page, tabOptions } from "../ui/page";
import { Back, Badge, Facts, Id, Status, Text, Time, took } from "../ui/parts";
import { words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { RunStatus } from "./runs";

const tabs = [["", "Transcript"], ["calls", "Calls"], ["events", "Events"], ["plan", "Plan"]] as const;
const newest = 60; // Messages that are shown at first.

export function RunPage() {
  const { tenant, run: id } = useParams({ from: "/t/$tenant/runs/$run" });
  const { tab = "", call } = useSearch({ from: "/t/$tenant/runs/$run" });
  const navigate = useNavigate({ from: "/t/$tenant/runs/$run" });
  const found = useQuery(run(tenant, id));
  const r = found.data;
  const at = encodeURIComponent(id);
  const [cli, api] = {
    "": [words("toolcrib", "run", "show", id), address(`/v1/runs/${at}/messages`)],
    calls: [words("toolcrib", "invocations", "list", "--run", id), address("/v1/invocations", { run: id })],
    events: [words("toolcrib", "run", "follow", id), address(`/v1/runs/${at}/events`)],
    plan: [words("toolcrib", "run", "show", id, "--json"), address(`/v1/runs/${at}`)],
  }[tab] ?? ["", ""];
  return (
    <Page title={r ? `Run of ${r.agent ?? r.kind.replaceAll("_", " ")}` : "Run"} back={<Back to="/t/$tenant/runs" params={{ tenant }}>Runs</Back>} cli={cli} api={api}
      heading={r && <><span className="slug">{r.agent ?? r.kind.replaceAll("_", " ")}</span><RunStatus of={r} /></>}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The run" />
      ) : (
        <>
          <Summary of={found.data} tenant={tenant} />
          <nav className="tabs" aria-label="Parts of the run">
            {tabs.map(([t, name]) => (
              <Link key={t} from="/t/$tenant/runs/$run" search={{ tab: t || undefined }} replace resetScroll={false}
                activeOptions={tabOptions}>
                {name}
              </Link>
            ))}
          </nav>
          <div className={call ? "split open" : "split"}>
            <div className="split-list">
              {tab === "" && <Transcript tenant={tenant} of={found.data} />}
              {tab === "calls" && <Calls tenant={tenant} id={id} current={call} />}
              {tab === "events" && <Events tenant={tenant} id={id} />}
              {tab === "plan" && <Plan of={found.data} />}
            </div>
            {call && <CallDrawer tenant={tenant} id={call} onClose={() => void navigate({ search: (s) => ({ ...s, call: undefined }), resetScroll: false })} />}
          </div>
        </>
      )}
    </Page>
  );
}

function Summary({ of: r, tenant }: { of: Run; tenant: string }) {
  return (
    <>
      <Facts of={[
        ["Begun", <Time at={r.created_at} />],
        ["Took", took(r.started_at, r.completed_at)],
        ["Turns", String(r.turns)],
        ["Version", r.agent_version],
        ["Mode", r.mode],
        ["For", r.subject && <Id value={r.subject} />],
        ["Run", <Id value={r.id} />],
        ["Parent", r.parent && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.parent.run_id }}>the run above</Link>],
      ]} />
      {r.error && <p className="notice bad" role="alert"><strong>{r.error_kind}</strong>: {r.error}</p>}
      {r.warning && <p className="notice">{r.warning}</p>}
      {(r.waits_for?.length ?? 0) > 0 && (
        <p className="notice">
          Waits for {r.waits_for!.length === 1 ? "an approval" : `${r.waits_for!.length} approvals`}:{" "}
          <Link to="/t/$tenant/approvals" params={{ tenant }} search={{ open: r.waits_for![0] }}>decide</Link>
        </p>
      )}
    </>
  );
}

function Transcript({ tenant, of: r }: { tenant: string; of: Run }) {
  const found = useQuery(messages(tenant, r.id));
  const made = useQuery(calls(tenant, r.id));
  const [shown, setShown] = useState(newest);
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The transcript" />;
  const all = found.data.items;
  if (all.length === 0) return <Empty title="Nothing was said yet" />;
  const byCall = new Map((made.data?.items ?? []).map((c) => [`${c.turn}/${c.call_id}`, c]));
  const from = Math.max(0, all.length - shown);
  return (
    <div className="transcript" role="log" aria-live="off" aria-label="Transcript">
      {from > 0 && (
        <button type="button" className="button" onClick={() => setShown(shown + 200)}>
          {from} older messages
        </button>
      )}
      {all.slice(from).map((m) => (
        <Said key={m.id} of={m} byCall={byCall} />
      ))}
      {(r.status === "running" || r.status === "pending") && <p className="muted still"><Status value={r.paused ? "paused" : r.waits_for?.length ? "waiting" : r.status} /></p>}
    </div>
  );
}

const names: Record<string, string> = { user: "User", assistant: "Agent", tool: "Tool", system: "System" };

function Said({ of: m, byCall }: { of: Message; byCall: Map<string, Invocation> }) {
  const answered = m.role === "tool" ? byCall.get(`${m.turn}/${m.call_id}`) : undefined;
  return (
    <article className={`said ${m.role}${m.is_error ? " bad" : ""}`}>
      <header>
        <strong>{m.role === "tool" ? (answered?.tool ?? "Tool") : (names[m.role] ?? m.role)}</strong>
        {m.turn > 0 && <span className="muted">turn {m.turn}</span>}
        {m.is_error && <Badge tone="bad">error</Badge>}
        {m.usage && <span className="muted">{m.usage.input_tokens} → {m.usage.output_tokens} tokens</span>}
        <Time at={m.created_at} />
      </header>
      {m.content?.map((c, i) => <Part key={i} of={c} />)}
      {m.calls?.map((c) => {
        const made = byCall.get(`${m.turn}/${c.id}`);
        return (
          <details key={c.id} className="call">
            <summary>
              <span className="slug">{c.name}</span>
              {made && <Status value={made.status} />}
              <span className="muted line">{print(c.arguments).slice(0, 160)}</span>
            </summary>
            <JsonView value={json(c.arguments)} label={`Arguments of ${c.name}`} />
            {made && (
              <p>
                <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: made.id })} resetScroll={false}>The call</Link>
              </p>
            )}
          </details>
        );
      })}
    </article>
  );
}

// Part is a part of what was said. What tools and models write is text here, never markup.
function Part({ of }: { of: { type: string; [other: string]: unknown } }) {
  if (typeof of.text === "string") return <Text>{of.text}</Text>;
  return <JsonView value={json(of.type === "json" ? of.json : of)} label={`Content of type ${of.type}`} />;
}

function Calls({ tenant, id, current }: { tenant: string; id: string; current?: string | undefined }) {
  const found = useQuery(calls(tenant, id));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of calls" />;
  if (found.data.items.length === 0) return <Empty title="No tool was called" />;
  return (
    <Rows label="Calls" rows={found.data.items} keyOf={(c) => c.id} current={current}
      columns={[
        {
          name: "Tool",
          show: (c) => (
            <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: c.id })} className="row-link" replace={!!current} resetScroll={false}>
              <span className="slug">{c.tool}</span>
              <span className="muted line">{c.input === undefined ? "" : print(c.input).slice(0, 160)}</span>
            </Link>
          ),
        },
        { name: "Status", show: (c) => <Status value={c.status} /> },
        { name: "Turn", from: "medium", end: true, show: (c) => c.turn },
        { name: "Attempt", from: "wide", end: true, show: (c) => c.attempt },
        { name: "Took", end: true, show: (c) => took(c.started_at, c.completed_at) },
      ]} />
  );
}

function CallDrawer({ tenant, id, onClose }: { tenant: string; id: string; onClose: () => void }) {
  const found = useQuery(invocation(tenant, id));
  const c = found.data;
  return (
    <Drawer title={c?.tool ?? "Call"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The call" />
      ) : (
        <>
          <p className="badges">
            <Status value={found.data.status} />
            {found.data.is_error && <Badge tone="bad">answered no</Badge>}
            {found.data.approval_status !== "not_required" && <Badge>approval {found.data.approval_status}</Badge>}
          </p>
          <Facts of={[
            ["Version", found.data.version],
            ["Turn", String(found.data.turn)],
            ["Attempt", String(found.data.attempt)],
            ["Took", took(found.data.started_at, found.data.completed_at)],
            ["Reaches out", found.data.egress_class],
            ["Call", <Id value={found.data.id} />],
            ["Effect", found.data.effect_id && <Id value={found.data.effect_id} />],
          ]} />
          {found.data.error && <p className="notice bad">{found.data.error_kind}: {found.data.error}</p>}
          <h3>Input</h3>
          <JsonView value={json(found.data.input)} label="Input" />
          {found.data.receipt !== undefined && (
            <>
              <h3>Changed before the call</h3>
              <JsonView value={json(found.data.receipt)} label="Receipt" />
            </>
          )}
          <h3>Output</h3>
          <JsonView value={json(found.data.output)} label="Output" />
        </>
      )}
    </Drawer>
  );
}

function Events({ tenant, id }: { tenant: string; id: string }) {
  const [after, setAfter] = useState(0);
  const found = useQuery(events(tenant, id, after));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of events" />;
  const { items, next } = found.data;
  return (
    <>
      <Rows label="Events" rows={items} keyOf={(e) => String(e.seq)}
        columns={[
          { name: "Event", show: (e) => <span className="slug">{e.type}</span> },
          { name: "Data", show: (e) => <span className="muted line">{e.data === undefined ? "" : print(e.data).slice(0, 200)}</span> },
          { name: "No.", from: "medium", end: true, show: (e) => e.seq },
          { name: "At", end: true, show: (e) => <Time at={e.at} /> },
        ]} />
      {next && items.length === 500 && (
        <button type="button" className="button" onClick={() => setAfter(Number(next))}>Later events</button>
      )}
    </>
  );
}

function Plan({ of: r }: { of: Run }) {
  if (!r.tools?.length) return <Empty title="The run has no plan yet">It is made when the run begins.</Empty>;
  return (
    <>
      <Rows label="Pinned tools" rows={r.tools} keyOf={(p) => p.tool}
        columns={[
          { name: "Tool", show: (p) => <span className="slug">{p.tool}</span> },
          { name: "Version", show: (p) => <span className="version">{p.version}</span> },
          { name: "Type", from: "medium", show: (p) => <Badge>{p.implementation_type}</Badge> },
          { name: "Digest", from: "wide", show: (p) => <code title={p.digest}>{p.digest.slice(0, 12)}</code> },
        ]} />
      {(r.omitted?.length ?? 0) > 0 && (
        <>
          <h2>Left out</h2>
          <Facts of={r.omitted!.map((o) => [o.tool, o.reason])} />
        </>
      )}
    </>
  );
}
