import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { address } from "../api/client";
import { run, type Run } from "../api/queries";
import { meta, money, runUsage } from "../api/runs";
import { Rows } from "../ui/list";
import { RunGraphLink, RunGraphTab } from "../graph/tabs";
import { Page, tabOptions } from "../ui/page";
import { Back, Facts, Id, Text, Time, took } from "../ui/parts";
import { words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { Subject } from "../ui/subject";
import { Type } from "../ui/type";
import { CallDrawer } from "./runs/call";
import { RunCalls, walker } from "./runs/calls";
import { Controls, Say } from "./runs/controls";
import { Events } from "./runs/events";
import { Files } from "./runs/files";
import { Timeline, useNow } from "./runs/timeline";
import { ended, Transcript, useCalls } from "./runs/transcript";
import { RunStatus } from "./runs";

const tabs = [["", "Transcript"], ["timeline", "Timeline"], ["calls", "Calls"], ["events", "Events"], ["files", "Files"], ["plan", "Plan"]] as const;

export function RunPage() {
  const { tenant, run: id } = useParams({ from: "/t/$tenant/runs/$run" });
  const { tab = "", call, from, fork, scale, cursor } = useSearch({ from: "/t/$tenant/runs/$run" });
  const navigate = useNavigate({ from: "/t/$tenant/runs/$run" });
  const found = useQuery(run(tenant, id));
  const r = found.data;
  const at = encodeURIComponent(id);
  const [cli, api] = {
    "": [words("toolcrib", "run", "show", id), address(`/v1/runs/${at}/messages`, { last: 60 })],
    timeline: [words("toolcrib", "run", "usage", id), address(`/v1/runs/${at}/usage`)],
    calls: [words("toolcrib", "invocations", "list", "--run", id), address("/v1/invocations", { run: id })],
    events: [words("toolcrib", "run", "follow", id), address(`/v1/runs/${at}/events`)],
    files: [words("toolcrib", "files", "list", "--run", id), address(`/v1/runs/${at}/files`)],
    graph: [words("toolcrib", "run", "nodes", id), address(`/v1/runs/${at}/nodes`)],
    plan: [words("toolcrib", "run", "show", id, "--json"), address(`/v1/runs/${at}`)],
  }[tab] ?? ["", ""];
  return (
    <Page title={r ? `Run of ${r.agent ?? r.tool ?? r.kind.replaceAll("_", " ")}` : "Run"} back={<Back to="/t/$tenant/runs" params={{ tenant }}>Runs</Back>} cli={cli} api={api}
      heading={r && <><span className="slug">{r.agent ?? r.tool ?? r.kind.replaceAll("_", " ")}</span><RunStatus of={r} /></>}
      actions={r && <Controls tenant={tenant} of={r} />}>
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
            <RunGraphLink of={found.data} />
          </nav>
          <div className={call ? "split open" : "split"}>
            <div className="split-list" key={id}>
              {tab === "" && <Transcript tenant={tenant} of={found.data} fromStart={from === "start"} />}
              {tab === "" && <Say key={fork} tenant={tenant} of={found.data} fork={fork} />}
              {tab === "timeline" && <Timeline tenant={tenant} of={found.data} scale={scale} current={call} />}
              {tab === "calls" && <RunCalls tenant={tenant} of={found.data} current={call} cursor={cursor} />}
              {tab === "events" && <Events tenant={tenant} of={found.data} fromStart={from === "start"} />}
              {tab === "files" && <Files tenant={tenant} run={id} />}
              {tab === "graph" && <RunGraphTab tenant={tenant} of={found.data} />}
              {tab === "plan" && <Plan of={found.data} />}
            </div>
            {call && <Opened tenant={tenant} id={id} call={call} onOpen={(c) => void navigate({ search: (s) => ({ ...s, call: c }), replace: true, resetScroll: false })}
              onClose={() => void navigate({ search: (s) => ({ ...s, call: undefined }), resetScroll: false })} />}
          </div>
        </>
      )}
    </Page>
  );
}

// Opened is a call of the run; the next one is the one that was made after it.
function Opened({ tenant, id, call, onOpen, onClose }: { tenant: string; id: string; call: string; onOpen: (id: string) => void; onClose: () => void }) {
  const made = useCalls(tenant, id);
  return <CallDrawer tenant={tenant} id={call} inRun {...walker(made.items, call, onOpen)} onClose={onClose} />;
}

function Summary({ of: r, tenant }: { of: Run; tenant: string }) {
  const used = useQuery(runUsage(tenant, r.id, 1_000_000));
  const server = useQuery(meta());
  const now = useNow(!ended(r));
  const sum = used.data?.total;
  return (
    <>
      <Facts of={[
        ["Begun", <Time at={r.created_at} />],
        ["Took", took(r.started_at, r.completed_at ?? (r.started_at && new Date(now).toISOString()))],
        ["Turns", String(r.turns)],
        ["Tokens", sum && `${sum.input_tokens} → ${sum.output_tokens}`],
        ["Cost", sum && (sum.turns > 0 || sum.calls > 0) && <>{money(sum.cost_micros)}{sum.unpriced_turns > 0 && <span className="muted"> without {sum.unpriced_turns} turns that have no price</span>}</>],
        ["Version", r.agent_version],
        ["Mode", r.mode],
        ["For", r.subject && <Subject of={r.subject} copy />],
        ["Run", <Id value={r.id} />],
        ["Parent", r.parent && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.parent.run_id }} search={{ call: r.parent.invocation_id }}>the call that made it</Link>],
        ["Goes on from", r.continues && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.continues.run_id }}>turn {r.continues.turn} of another run</Link>],
        ["Runs below", used.data && used.data.below > 0 && String(used.data.below)],
        ["Temporal", server.data?.temporal_ui && r.workflow_id && <a href={`${server.data.temporal_ui}/workflows/${encodeURIComponent(r.workflow_id)}`} target="_blank" rel="noopener noreferrer">the workflow</a>],
      ]} />
      {r.paused && <p className="notice">Paused <Time at={r.paused.at} /> by <Subject of={r.paused.by} copy />{r.paused.reason && <>: {r.paused.reason}</>}</p>}
      {r.error && <div className="notice bad" role="alert"><strong>{r.error_kind}</strong><Text>{r.error}</Text></div>}
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

function Plan({ of: r }: { of: Run }) {
  if (!r.tools?.length) return <Empty title="The run has no plan yet">It is made when the run begins.</Empty>;
  return (
    <>
      <Rows label="Pinned tools" rows={r.tools} keyOf={(p) => p.tool}
        columns={[
          { name: "Tool", show: (p) => <span className="slug">{p.tool}</span> },
          { name: "Version", show: (p) => <span className="version">{p.version}</span> },
          { name: "Type", from: "medium", show: (p) => <Type of={p.implementation_type} /> },
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
