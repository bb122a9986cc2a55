import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { address, call } from "../api/client";
import { tool, tools, type Tool } from "../api/queries";
import { Buckets, Choice, Search } from "../ui/filters";
import { Drawer, Pager, Rows } from "../ui/list";
import { Page } from "../ui/page";
import { Badge, Facts, Id, Status, Text, Time } from "../ui/parts";
import { option, words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";

const buckets = [["", "All"], ["custom", "Custom"], ["built_in", "Built in"], ["mcp", "MCP"], ["artifact", "Artifacts"]] as const;
const statuses = ["draft", "published", "deprecated", "disabled"];

export function Tools() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/tools" });
  const navigate = useNavigate({ from: "/t/$tenant/tools" });
  const { open, ...query } = search;
  const found = useQuery(tools(tenant, { ...query, limit: 50 }));
  const meta = useQuery({ queryKey: ["", "meta"], queryFn: () => call<{ implementation_types: string[] }>(undefined, "/v1/meta"), staleTime: Infinity });
  const set = useCallback(
    (change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true }),
    [navigate],
  );
  const onSearch = useCallback((v: string) => set({ search: v }), [set]);
  const filtered = Object.entries(query).some(([n, v]) => n !== "cursor" && v);

  return (
    <Page title="Tools" about="What agents of this tenant may be given, and people may call."
      cli={words("toolcrib", "tool", "list", ...option("status", query.status), ...option("search", query.search))}
      api={address("/v1/tools", query)}>
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Search value={search.search ?? ""} onChange={onSearch} label="Filter by slug, name or description" />
            <Buckets label="Bucket" value={search.tool_type ?? ""} options={buckets} onChange={(v) => set({ tool_type: v })} />
            <Choice label="Status" value={search.status ?? ""} options={statuses} onChange={(v) => set({ status: v })} />
            <Choice label="Type" value={search.implementation_type ?? ""} options={meta.data?.implementation_types ?? []}
              onChange={(v) => set({ implementation_type: v })} />
            <Choice label="Callable in" value={search.callable ?? ""} options={["production", "debug"]} onChange={(v) => set({ callable: v })} />
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of tools" />
          ) : found.data.items.length === 0 ? (
            filtered ? (
              <Empty title="No tool matches these filters">
                <button type="button" className="button" onClick={() => void navigate({ search: {} })}>
                  Clear the filters
                </button>
              </Empty>
            ) : (
              <Empty title="There are no tools yet" command="toolcrib apply -f examples/support-desk">
                A definition is a file. Apply one, and it is listed here.
              </Empty>
            )
          ) : (
            <>
              <Rows label="Tools" rows={found.data.items} keyOf={(t) => t.slug} current={open}
                columns={[
                  {
                    name: "Tool",
                    show: (t) => (
                      <Link from="/t/$tenant/tools" search={(s) => ({ ...s, open: t.slug })} className="row-link" replace={!!open} resetScroll={false}>
                        <span className="slug">{t.slug}</span>
                        <span className="muted line">{t.description || t.name}</span>
                      </Link>
                    ),
                  },
                  { name: "Status", show: (t) => <ToolStatus of={t} /> },
                  { name: "Type", from: "medium", show: (t) => <Badge>{t.implementation_type}</Badge> },
                  { name: "Reaches out", from: "wide", show: (t) => <Egress of={t} /> },
                  { name: "Risk", from: "wide", show: (t) => <Status value={t.risk} /> },
                  { name: "Version", from: "medium", end: true, show: (t) => <span className="version">{t.version}</span> },
                  { name: "Changed", from: "wide", end: true, show: (t) => <Time at={t.updated_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {open && <ToolDrawer tenant={tenant} slug={open} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />}
      </div>
    </Page>
  );
}

export function ToolStatus({ of }: { of: Tool }) {
  if (of.quarantine) return <Status value="quarantined" />;
  if (of.status === "published" && !of.is_active) return <Status value="disabled" />;
  return <Status value={of.status} />;
}

export function Egress({ of }: { of: Tool }) {
  return of.egress_class === "write" ? <Badge tone="warn">writes</Badge> : of.egress_class === "none" ? <span className="none">no</span> : <Badge>{of.egress_class.replaceAll("_", " ")}</Badge>;
}

function ToolDrawer({ tenant, slug, onClose }: { tenant: string; slug: string; onClose: () => void }) {
  const found = useQuery(tool(tenant, slug));
  return (
    <Drawer title={slug} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The tool" />
      ) : (
        <>
          <p className="badges">
            <ToolStatus of={found.data} /> <Badge>{found.data.implementation_type}</Badge> <Egress of={found.data} />
            {found.data.requires_approval && <Badge tone="warn">needs approval</Badge>}
          </p>
          <h3>{found.data.name}</h3>
          <Text>{found.data.description}</Text>
          <Facts of={[
            ["Draft", found.data.version],
            ["Published", found.data.published_at && <Time at={found.data.published_at} />],
            ["Category", found.data.category],
            ["Bucket", found.data.tool_type.replaceAll("_", " ")],
            ["Belongs to", found.data.scope === "global" ? "the platform" : "this tenant"],
            ["Risk", <Status value={found.data.risk} />],
            ["Changed", <Time at={found.data.updated_at} />],
            ["Id", <Id value={found.data.id} />],
          ]} />
          {found.data.quarantine && <p className="error">Stopped until it is reviewed: {found.data.quarantine}</p>}
          <p>
            <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: slug }} className="button primary">
              Open the tool
            </Link>
          </p>
        </>
      )}
    </Drawer>
  );
}
