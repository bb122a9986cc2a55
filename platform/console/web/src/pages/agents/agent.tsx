import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useBlocker, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, ApiError } from "../../api/client";
import { agentDefinition, agentRuns, agentVersions, conflict, createAgent, publishAgent, switchAgent, updateAgent, type AgentDefinition } from "../../api/graphs";
import { agent, may, me, type Agent } from "../../api/queries";
import { Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page, tabOptions } from "../../ui/page";
import { Back, Facts, Id, Status, Time, took } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Confirm, PublishDialog, RunDialog } from "./dialogs";
import { DefinitionForm } from "./form";
import { faultsOf } from "./fields";
import { ToolPicker, type PickerFilters } from "./picker";
import { Versions } from "./versions";

const tabs = [["", "Definition"], ["tools", "Tools"], ["versions", "Versions"], ["runs", "Runs"]] as const;

const fresh: AgentDefinition = { slug: "", name: "", model: "", instructions: "", tools: [], version: "1.0.0" };

export function NewAgent() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  return <Editor tenant={tenant} at="/t/$tenant/agents/new" />;
}

export function AgentPage() {
  const { tenant, agent: slug } = useParams({ from: "/t/$tenant/agents/$agent" });
  const found = useQuery(agent(tenant, slug));
  if (found.data) return <Editor key={slug} tenant={tenant} of={found.data} at="/t/$tenant/agents/$agent" />;
  return (
    <Page title={slug} back={<Back to="/t/$tenant/agents" params={{ tenant }}>Agents</Back>}>
      {found.error ? <Failed error={found.error} retry={() => void found.refetch()} what="The agent" /> : <Loading />}
    </Page>
  );
}

// Editor shows an agent and edits its draft. What is written stays while one looks at other parts of it.
function Editor({ tenant, of, at }: { tenant: string; of?: Agent; at: "/t/$tenant/agents/new" | "/t/$tenant/agents/$agent" }) {
  const search = useSearch({ from: at });
  const navigate = useNavigate();
  const client = useQueryClient();
  const who = useQuery(me(tenant));
  const writes = may(who.data, "agents.write");
  const [draft, setDraft] = useState<AgentDefinition | undefined>(of ? undefined : fresh);
  const [base, setBase] = useState<Agent>(); // What the draft was begun from: a save of it must not undo what others did.
  const [error, setError] = useState<unknown>();
  const [warnings, setWarnings] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<"publish" | "run" | "disable">();
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const shown = draft ?? agentDefinition(of!);
  const dirty = draft !== undefined && draft !== fresh;
  const tab = search.tab ?? "";
  const faults = faultsOf(error);
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && dirty && !busy && !window.confirm("Leave without saving the draft?"),
    enableBeforeUnload: () => dirty,
  });

  const change = (part: AgentDefinition) => {
    if (draft === undefined) setBase(of);
    setDraft({ ...shown, ...part });
  };
  // Fields set to nothing are left out: they get the defaults.
  const body = (): AgentDefinition =>
    Object.fromEntries(Object.entries(shown).filter(([, v]) => v !== undefined && v !== "" && !(v && typeof v === "object" && Object.keys(v).length === 0))) as AgentDefinition;

  const attempt = async (what: () => Promise<string>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      say(await what());
      return true;
    } catch (e) {
      setError(e);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const accept = (a: Agent) => {
    client.setQueryData(agent(tenant, a.slug).queryKey, a);
    void client.invalidateQueries({ queryKey: [tenant, "agents"] });
    void client.invalidateQueries({ queryKey: agentVersions(tenant, a.slug).queryKey });
    setDraft(undefined);
    setBase(undefined);
  };
  const saved = async (part: AgentDefinition = {}): Promise<Agent> => {
    const a = of ? await updateAgent(tenant, base ?? of, { ...body(), ...part }) : await createAgent(tenant, { ...body(), ...part });
    setWarnings(a.warnings ?? []);
    accept(a);
    return a;
  };
  const save = () => attempt(async () => {
    const a = await saved();
    if (!of) await navigate({ to: "/t/$tenant/agents/$agent", params: { tenant, agent: a.slug }, search: search.tab ? { tab: search.tab } : {}, replace: true, ignoreBlocker: true });
    return "The draft is saved.";
  });

  const link = (id: string, name: string) => {
    const parts = name + (id === "tools" ? ` ${shown.tools?.length ?? 0}` : "");
    return of ? (
      <Link key={id} to="/t/$tenant/agents/$agent" params={{ tenant, agent: of.slug }} search={{ tab: id || undefined }} replace resetScroll={false} activeOptions={tabOptions}>{parts}</Link>
    ) : (
      <Link key={id} to="/t/$tenant/agents/new" params={{ tenant }} search={{ tab: id || undefined }} replace resetScroll={false} activeOptions={tabOptions}>{parts}</Link>
    );
  };
  const onFilters = (f: PickerFilters) => void navigate({
    to: ".", search: { tab: "tools", search: f.search || undefined, bucket: f.bucket || undefined, type: f.type || undefined, shown: f.shown || undefined } as never,
    replace: true, resetScroll: false,
  });
  const onBroken = (name: string) => (is: boolean) => setBroken((b) => {
    const next = new Set(b);
    if (is) next.add(name);
    else next.delete(name);
    return next;
  });
  const readOnly = !writes;
  const slug = of?.slug ?? "";
  const [cli, api] = of ? {
    "": [words("toolcrib", "agent", "show", slug), address(`/v1/agents/${slug}`)],
    tools: [words("toolcrib", "agent", "show", slug), address(`/v1/agents/${slug}`)],
    versions: [words("toolcrib", "agent", "versions", slug), address(`/v1/agents/${slug}/versions`)],
    runs: [words("toolcrib", "run", "list", "--agent", slug), address("/v1/runs", { agent: slug })],
  }[tab] ?? ["", ""] : ["toolcrib apply -f agent.yaml", address("/v1/agents")];
  const elsewhere = faults.filter((f) => !f.path?.startsWith("/tools") === (tab === "tools"));
  return (
    <Page title={of?.slug ?? "New agent"} back={<Back to="/t/$tenant/agents" params={{ tenant }}>Agents</Back>} cli={cli} api={api}
      heading={of && <><span className="slug">{of.slug}</span><Status value={of.status} /></>}
      about={of ? <>{of.name !== of.slug && <strong>{of.name}. </strong>}{of.description}</> : "A model with instructions, and the tools that it may use. It is a draft until you publish it."}
      actions={writes && (
        <>
          {dirty && of && <button type="button" className="button" onClick={() => { setDraft(undefined); setBase(undefined); setError(undefined); }}>Discard</button>}
          {(dirty || !of) && <button type="button" className={of ? "button" : "button primary"} disabled={busy || !dirty || broken.size > 0} onClick={() => void save()}>{of ? "Save draft" : "Create draft"}</button>}
          {of && may(who.data, "runs.write") && !dirty && <button type="button" className="button" onClick={() => setDialog("run")}>Run…</button>}
          {of && <button type="button" className="button" onClick={() => (of.status === "disabled" ? void attempt(async () => (accept(await switchAgent(tenant, of, "enable")), "The agent is enabled.")) : setDialog("disable"))}>{of.status === "disabled" ? "Enable" : "Disable…"}</button>}
          {of && <button type="button" className="button primary" disabled={busy || broken.size > 0} onClick={() => setDialog("publish")}>Publish…</button>}
        </>
      )}>
      {who.data && readOnly && <p className="notice">Changing agents takes the permission <code>agents.write</code>.</p>}
      {error !== undefined && !dialog && (
        conflict(error) ? (
          <div className="notice bad" role="alert">
            <p>The agent was changed meanwhile. Nothing of yours was saved, or lost.</p>
            <p className="actions">
              <button type="button" className="button" onClick={() => {
                setDraft(undefined);
                setError(undefined);
                void client.invalidateQueries({ queryKey: [tenant, "agent", slug] });
              }}>Take the other change</button>
              <button type="button" className="button danger" onClick={async () => {
                const now = await client.fetchQuery({ ...agent(tenant, slug), staleTime: 0 });
                setBase(now);
                setError(undefined);
              }}>Keep mine instead of it</button>
            </p>
          </div>
        ) : (
          <p className="notice bad" role="alert">
            {error instanceof ApiError ? error.detail : "The request failed."}
            {elsewhere.length > 0 && elsewhere.length === faults.length && tab !== "" && tab !== "tools" && " It is in the definition."}
          </p>
        )
      )}
      {warnings.length > 0 && !dirty && <ul className="notice">{warnings.map((w) => <li key={w}>{w}</li>)}</ul>}
      {dirty && of && <p className="muted" role="status">Not saved yet.</p>}
      <nav className="tabs" aria-label="Parts of the agent">
        {tabs.filter(([id]) => of || id === "" || id === "tools").map(([id, name]) => link(id, name))}
      </nav>
      {tab === "" && <DefinitionForm value={shown} isNew={!of} onChange={change} faults={faults} readOnly={readOnly} onBroken={onBroken} />}
      {tab === "" && of && (
        <Facts of={[
          ["Published", <Time at={of.published_at} />],
          ["Changed", <Time at={of.updated_at} />],
          ["Revision", String(of.revision)],
          ["Id", <Id value={of.id} />],
        ]} />
      )}
      {tab === "tools" && (
        <ToolPicker tenant={tenant} value={shown.tools ?? []} onChange={(tools) => change({ tools })} readOnly={readOnly}
          filters={search} onFilters={onFilters} faults={byPlace(faults)} />
      )}
      {tab === "versions" && of && <Versions tenant={tenant} of={of} from={search.from} to={search.to}
        onChange={(s) => void navigate({ to: ".", search: { tab: "versions", ...s } as never, replace: true, resetScroll: false })} />}
      {tab === "runs" && of && <Runs tenant={tenant} slug={of.slug} cursor={search.cursor}
        onCursor={(cursor) => void navigate({ to: ".", search: { tab: "runs", cursor } as never })} />}
      {dialog === "publish" && of && (
        <PublishDialog name={of.slug} number={shown.version ?? of.version} versions={agentVersions(tenant, of.slug)} unsaved={dirty} error={error} busy={busy}
          onClose={() => { setDialog(undefined); setError(undefined); }}
          onPublish={(number) => void attempt(async () => {
            const a = dirty || number !== of.version ? await saved({ version: number }) : of;
            const p = await publishAgent(tenant, a);
            accept(p.agent);
            setDialog(undefined);
            return `Version ${p.version.version} is published.`;
          })} />
      )}
      {dialog === "disable" && of && (
        <Confirm title={`Disable ${of.slug}?`} text="No new run of it begins. Runs in progress go on." verb="Disable" error={error} busy={busy}
          onClose={() => { setDialog(undefined); setError(undefined); }}
          onYes={() => void attempt(async () => {
            accept(await switchAgent(tenant, of, "disable"));
            setDialog(undefined);
            return "The agent is disabled.";
          })} />
      )}
      {dialog === "run" && of && <RunDialog tenant={tenant} of={of} onClose={() => setDialog(undefined)} />}
    </Page>
  );
}

function byPlace(faults: readonly { path?: string; detail: string }[]): Map<number, string> {
  const out = new Map<number, string>();
  for (const f of faults) {
    const found = /^\/tools\/(\d+)/.exec(f.path ?? "");
    if (found) out.set(Number(found[1]), f.detail);
  }
  return out;
}

function Runs({ tenant, slug, cursor, onCursor }: { tenant: string; slug: string; cursor?: string | undefined; onCursor: (c: string | undefined) => void }) {
  const found = useQuery(agentRuns(tenant, slug, cursor));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of runs" />;
  if (found.data.items.length === 0) return <Empty title="It has not run yet" command={words("toolcrib", "run", "start", slug, "--input", "Hello")} />;
  return (
    <>
      <Rows label="Runs" rows={found.data.items} keyOf={(r) => r.id}
        columns={[
          { name: "Run", show: (r) => <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.id }} className="row-link"><span className="slug">…{r.id.slice(-12)}</span><span className="muted">{r.mode}</span></Link> },
          { name: "Status", show: (r) => <Status value={r.status} /> },
          { name: "Version", from: "medium", end: true, show: (r) => <span className="version">{r.agent_version ?? "draft"}</span> },
          { name: "Turns", from: "medium", end: true, show: (r) => r.turns },
          { name: "Took", from: "wide", end: true, show: (r) => took(r.started_at, r.completed_at) },
          { name: "Begun", end: true, show: (r) => <Time at={r.created_at} /> },
        ]} />
      <Pager count={found.data.items.length} first={!cursor} next={found.data.next} onFirst={() => onCursor(undefined)} onNext={onCursor} />
    </>
  );
}
