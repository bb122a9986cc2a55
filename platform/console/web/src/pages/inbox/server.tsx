import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { post, remoteTools, server, type Refresh, type RemoteTool, type Server, type ServerDefinition } from "../../api/inbox";
import { json, may, me } from "../../api/queries";
import { Choice } from "../../ui/filters";
import { JsonView } from "../../ui/json";
import { Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page, tabOptions } from "../../ui/page";
import { Back, Facts, Id, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Refusal } from "./ask";
import { Attach, Report } from "./attach";
import { Detach } from "./detach";
import { Health } from "./servers";

const tabs = [["", "Tools"], ["connection", "Connection"]] as const;

export function ServerPage() {
  const { tenant, server: slug } = useParams({ from: "/t/$tenant/mcp-servers/$server" });
  const { tab = "" } = useSearch({ from: "/t/$tenant/mcp-servers/$server" });
  const navigate = useNavigate();
  const found = useQuery(server(tenant, slug));
  const who = useQuery(me(tenant)).data;
  const [asks, setAsks] = useState<"edit" | "detach">();
  const client = useQueryClient();
  const stale = () => {
    void client.invalidateQueries({ queryKey: [tenant, "mcp-servers"] });
    void client.invalidateQueries({ queryKey: [tenant, "tools"] });
  };
  const refresh = useMutation({
    mutationFn: () => post<Refresh>(tenant, `/v1/mcp/servers/${encodeURIComponent(slug)}/refresh`),
    onSuccess: () => say("Refreshed."),
    onSettled: stale,
  });
  const writes = may(who, "tools.write");
  const s = found.data;
  return (
    <Page title={slug} back={<Back to="/t/$tenant/mcp-servers" params={{ tenant }}>MCP servers</Back>}
      heading={<><span className="slug">{slug}</span>{s && <Health of={s} />}</>} about={s && s.name !== s.slug && s.name}
      cli={words("toolcrib", "mcp", "show", slug)} api={address(`/v1/mcp/servers/${encodeURIComponent(slug)}`)}
      actions={s && writes && (
        <>
          <button type="button" className="button primary" disabled={refresh.isPending} onClick={() => refresh.mutate()}>{refresh.isPending ? "Asking the server…" : "Refresh"}</button>
          <button type="button" className="button" onClick={() => setAsks("edit")}>Change…</button>
          <button type="button" className="button danger" onClick={() => setAsks("detach")}>Detach…</button>
        </>
      )}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The server" />
      ) : (
        <>
          {found.data.discovery_error && <p className="notice bad">It did not answer when it was asked last: {found.data.discovery_error}</p>}
          {refresh.error ? <Refusal error={refresh.error} /> : refresh.data && <div className="notice"><Report of={refresh.data} /></div>}
          <nav className="tabs" aria-label="Parts of the server">
            {tabs.map(([id, name]) => (
              <Link key={id} from="/t/$tenant/mcp-servers/$server" search={{ tab: id || undefined }} replace resetScroll={false} activeOptions={tabOptions}>{name}</Link>
            ))}
          </nav>
          {tab === "connection" ? <Connection of={found.data} /> : <Tools tenant={tenant} of={found.data} writes={writes} onChange={stale} />}
          {asks === "edit" && <Attach tenant={tenant} of={found.data} onClose={() => setAsks(undefined)} onDone={() => setAsks(undefined)} />}
          {asks === "detach" && (
            <Detach tenant={tenant} slug={slug} onClose={() => setAsks(undefined)} onDone={() => void navigate({ to: "/t/$tenant/mcp-servers", params: { tenant } })} />
          )}
        </>
      )}
    </Page>
  );
}

function Connection({ of: s }: { of: Server }) {
  return (
    <div className="narrow">
      <Facts of={[
        ["Address", s.server_url && <code>{s.server_url}</code>],
        ["Command", s.command && <code>{s.command}</code>],
        ["Transport", s.transport.replaceAll("_", " ")],
        ["Signs in with", s.auth ? s.auth.type : "nothing"],
        ["Credential", s.auth && <code>{s.auth.credentials_ref}</code>],
        ["Hints", s.trust_hints ? "trusted" : "not trusted: each tool counts as one that writes"],
        ["Calls itself", s.server_name && `${s.server_name} ${s.server_version ?? ""}`],
        ["Protocol", s.protocol_version],
        ["Asked last", <Time at={s.discovered_at} />],
        ["Attached by", s.created_by && <Subject of={s.created_by} copy />],
        ["Attached", <Time at={s.created_at} />],
        ["Revision", String(s.revision)],
        ["Id", <Id value={s.id} />],
      ]} />
      {s.headers && (
        <>
          <h3>Headers</h3>
          <JsonView value={json(s.headers)} label="Headers" />
        </>
      )}
    </div>
  );
}

const states = ["pinned", "changed", "approved", "gone", "offered", "refused"] as const;

function Tools({ tenant, of: s, writes, onChange }: { tenant: string; of: Server; writes: boolean; onChange: () => void }) {
  const search = useSearch({ from: "/t/$tenant/mcp-servers/$server" });
  const navigate = useNavigate({ from: "/t/$tenant/mcp-servers/$server" });
  const found = useQuery(remoteTools(tenant, s.slug, { state: search.state, cursor: search.cursor, limit: 50 }));
  const allow = useMutation({
    mutationFn: async (name: string) => {
      const { slug, revision, transport, trust_hints, headers, auth, server_url, command, status } = s;
      const d: ServerDefinition = {
        name: s.name, transport: transport as NonNullable<ServerDefinition["transport"]>, revision, status: status as "active", allowed_tools: [...s.allowed_tools, name],
        ...(trust_hints && { trust_hints }), ...(headers && { headers }), ...(auth && { auth }), ...(server_url && { server_url }), ...(command && { command }),
      };
      await call<Server>(tenant, `/v1/mcp/servers/${encodeURIComponent(slug)}`, { method: "PUT", body: d });
      return post<Refresh>(tenant, `/v1/mcp/servers/${encodeURIComponent(slug)}/refresh`);
    },
    onSuccess: () => say("Allowed, and imported as a draft."),
    onSettled: onChange,
  });
  const rows = found.data?.items ?? [];
  return (
    <>
      <div className="filters">
        <Choice label="State" value={search.state ?? ""} options={states} onChange={(v) => void navigate({ search: { state: v || undefined }, replace: true })} />
      </div>
      <Refusal error={allow.error} />
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of tools" />
      ) : rows.length === 0 ? (
        <Empty title={search.state ? "No tool is in this state" : "It offers no tool"}>{!search.state && "Refresh the server to ask what it offers."}</Empty>
      ) : (
        <>
          <Rows label="Tools of the server" rows={rows} keyOf={(t) => t.name}
            columns={[
              { name: "Tool", show: (t) => <Named tenant={tenant} server={s.slug} of={t} /> },
              { name: "State", show: (t) => <Status value={t.state} /> },
              {
                name: "Served as", from: "medium",
                show: (t) => (t.tool ? <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: t.tool }} className="slug">{t.tool}</Link> : <span className="none">–</span>),
              },
              { name: "Tool is", from: "wide", show: (t) => (t.tool_status ? <Status value={t.quarantine ? "quarantined" : t.tool_status} /> : <span className="none">–</span>) },
              { name: "Changed", from: "wide", end: true, show: (t) => <Time at={t.changed_at} /> },
              {
                name: "Allow", end: true,
                show: (t) => (writes && t.state === "offered" && !s.allowed_tools.includes(t.name)
                  ? <button type="button" className="quiet" disabled={allow.isPending} aria-label={`Allow ${t.name}`} onClick={() => allow.mutate(t.name)}>Allow</button>
                  : <span className="none">–</span>),
              },
            ]} />
          <Pager count={rows.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: (q) => ({ ...q, cursor: undefined }) })}
            onNext={(cursor) => void navigate({ search: (q) => ({ ...q, cursor }) })} />
        </>
      )}
    </>
  );
}

// Named links to the comparison of a tool that is stopped, or to the tool that it was imported as.
function Named({ tenant, server, of: t }: { tenant: string; server: string; of: RemoteTool }) {
  const inside = (
    <>
      <span className="slug">{t.name}</span>
      <span className="muted line">{t.reason || t.description}</span>
    </>
  );
  if (t.state === "changed" || t.state === "gone") {
    return <Link to="/t/$tenant/inbox/quarantines" params={{ tenant }} search={{ open: `${server}/${t.name}` }} className="row-link">{inside}</Link>;
  }
  if (!t.tool) return <span className="grant">{inside}</span>;
  return <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: t.tool }} className="row-link">{inside}</Link>;
}
