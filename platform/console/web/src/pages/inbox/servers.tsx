import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { address } from "../../api/client";
import { servers, type Server } from "../../api/inbox";
import { may, me } from "../../api/queries";
import { Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Attach } from "./attach";

// health is how a server is: off, never asked, not answering, or well.
export const health = (s: Server): string => (s.status === "disabled" ? "disabled" : s.discovery_error ? "failed" : s.discovered_at ? "answers" : "never asked");

export function Health({ of }: { of: Server }) {
  const h = health(of);
  return h === "answers" ? <span className="status good">answers</span> : <Status value={h} />;
}

export function Servers() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/mcp-servers" });
  const navigate = useNavigate({ from: "/t/$tenant/mcp-servers" });
  const found = useQuery(servers(tenant, { cursor: search.cursor, limit: 50 }));
  const who = useQuery(me(tenant)).data;
  const writes = may(who, "tools.write");
  return (
    <Page title="MCP servers" about="Servers whose tools are imported. What a server offers is pinned: a definition that changes stops until a person approves it."
      cli={words("toolcrib", "mcp", "list")} api={address("/v1/mcp/servers")}
      actions={writes
        ? <Link from="/t/$tenant/mcp-servers" search={{ new: "yes" }} className="button primary">Attach a server…</Link>
        : who && <span className="muted">Attaching takes <code>tools.write</code></span>}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of servers" />
      ) : found.data.items.length === 0 ? (
        <Empty title="No MCP server is attached" command="toolcrib mcp attach files --url https://files.example.com/mcp --allow read_file">
          Attach one to import its tools as drafts.
        </Empty>
      ) : (
        <>
          <Rows label="MCP servers" rows={found.data.items} keyOf={(s) => s.id}
            columns={[
              {
                name: "Server",
                show: (s) => (
                  <Link to="/t/$tenant/mcp-servers/$server" params={{ tenant, server: s.slug }} className="row-link">
                    <span className="slug">{s.slug}</span>
                    <span className="muted line">{s.name !== s.slug && `${s.name} · `}{s.server_url || s.command}</span>
                  </Link>
                ),
              },
              { name: "Health", show: (s) => <Health of={s} /> },
              { name: "Transport", from: "wide", show: (s) => s.transport.replaceAll("_", " ") },
              { name: "Calls itself", from: "wide", show: (s) => (s.server_name ? `${s.server_name} ${s.server_version ?? ""}` : <span className="none">–</span>) },
              { name: "Allowed", from: "medium", end: true, show: (s) => (s.allowed_tools.includes("*") ? "all" : s.allowed_tools.length) },
              { name: "Asked", end: true, show: (s) => <Time at={s.discovered_at} /> },
            ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
            onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
        </>
      )}
      {search.new && writes && (
        <Attach tenant={tenant} onClose={() => void navigate({ search: {}, replace: true })}
          onDone={(slug) => void navigate({ to: "/t/$tenant/mcp-servers/$server", params: { tenant, server: slug } })} />
      )}
    </Page>
  );
}
