import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { address } from "../../api/client";
import { agent, agents, may, me, type Agent } from "../../api/queries";
import { Choice, Search } from "../../ui/filters";
import { Drawer, Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Badge, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";

export function Agents() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/agents" });
  const navigate = useNavigate({ from: "/t/$tenant/agents" });
  const who = useQuery(me(tenant));
  const { open, ...query } = search;
  const found = useQuery(agents(tenant, { ...query, limit: 50 }));
  const set = useCallback((change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true }), [navigate]);
  const onSearch = useCallback((v: string) => set({ search: v }), [set]);
  return (
    <Page title="Agents" about="Models with instructions, and the tools that they may use." cli={words("toolcrib", "agent", "list", ...(query.search ? ["--search", query.search] : []), ...(query.status ? ["--status", query.status] : []))} api={address("/v1/agents", query)}
      actions={
        <>
          {may(who.data, "tools.write") && <Link to="/t/$tenant/graphs/new" params={{ tenant }} className="button">New graph</Link>}
          {may(who.data, "agents.write") && <Link to="/t/$tenant/agents/new" params={{ tenant }} className="button primary">New agent</Link>}
        </>
      }>
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Search value={search.search ?? ""} onChange={onSearch} label="Filter by slug or name" />
            <Choice label="Status" value={search.status ?? ""} options={["draft", "published", "deprecated", "disabled"]} onChange={(v) => set({ status: v })} />
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of agents" />
          ) : found.data.items.length === 0 ? (
            search.search || search.status ? (
              <Empty title="No agent matches these filters">
                <button type="button" className="button" onClick={() => void navigate({ search: {} })}>Clear the filters</button>
              </Empty>
            ) : (
              <Empty title="There are no agents yet" command="toolcrib apply -f examples/support-desk">
                {may(who.data, "agents.write") && <Link to="/t/$tenant/agents/new" params={{ tenant }} className="button primary">New agent</Link>}
              </Empty>
            )
          ) : (
            <>
              <Rows label="Agents" rows={found.data.items} keyOf={(a) => a.slug} current={open}
                columns={[
                  {
                    name: "Agent",
                    show: (a) => (
                      <Link from="/t/$tenant/agents" search={(s) => ({ ...s, open: a.slug })} className="row-link" replace={!!open} resetScroll={false}>
                        <span className="slug">{a.slug}</span>
                        <span className="muted line">{a.description || a.name}</span>
                      </Link>
                    ),
                  },
                  { name: "Status", show: (a) => <Status value={a.status} /> },
                  { name: "Model", from: "medium", show: (a) => <span className="slug">{a.model}</span> },
                  { name: "Tools", from: "medium", end: true, show: (a) => a.tools.length },
                  { name: "Version", from: "wide", end: true, show: (a) => <span className="version">{a.version}</span> },
                  { name: "Changed", from: "wide", end: true, show: (a) => <Time at={a.updated_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {open && <AgentDrawer tenant={tenant} slug={open} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />}
      </div>
    </Page>
  );
}

function AgentDrawer({ tenant, slug, onClose }: { tenant: string; slug: string; onClose: () => void }) {
  const found = useQuery(agent(tenant, slug));
  return (
    <Drawer title={slug} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The agent" />
      ) : (
        <Details tenant={tenant} of={found.data} />
      )}
    </Drawer>
  );
}

function Details({ tenant, of: a }: { tenant: string; of: Agent }) {
  return (
    <>
      <p className="badges"><Status value={a.status} /> <Badge>{a.model}</Badge></p>
      <h3>{a.name}</h3>
      {a.description && <Text>{a.description}</Text>}
      <Facts of={[
        ["Draft", a.version],
        ["Published", a.published_at && <Time at={a.published_at} />],
        ["Tool mode", a.tool_mode?.replaceAll("_", " ")],
        ["Changed", <Time at={a.updated_at} />],
        ["Id", <Id value={a.id} />],
      ]} />
      <h3>Instructions</h3>
      <Text>{a.instructions}</Text>
      <h3>Tools</h3>
      {a.tools.length === 0 ? <p className="none">none</p> : (
        <ul className="choices">
          {a.tools.map((t) => (
            <li key={t}>
              <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: t.split("@")[0]! }}><span className="slug">{t}</span></Link>
            </li>
          ))}
        </ul>
      )}
      <p className="actions">
        <Link to="/t/$tenant/agents/$agent" params={{ tenant, agent: a.slug }} className="button primary">Open</Link>
        <Link to="/t/$tenant/agents/$agent" params={{ tenant, agent: a.slug }} search={{ tab: "runs" }} className="button">Its runs</Link>
      </p>
    </>
  );
}
