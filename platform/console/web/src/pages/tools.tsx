import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { memo, useCallback, useRef, useState, type ReactNode } from "react";
import { address } from "../api/client";
import { json, may, me, tool, tools, type Tool } from "../api/queries";
import { facets, post, taxonomy, type BulkResult, type Taxonomy, type Term, type ToolFacets } from "../api/tools";
import { Choice, Search } from "../ui/filters";
import { JsonView } from "../ui/json";
import { Drawer, OpenLink, Pager, Rows } from "../ui/list";
import { Page } from "../ui/page";
import { Badge, Facts, Id, Status, Text, Time } from "../ui/parts";
import { option, words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { Type } from "../ui/type";
import { Ask } from "./tools/ask";

export function Tools() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/tools" });
  const navigate = useNavigate({ from: "/t/$tenant/tools" });
  const client = useQueryClient();
  const { open, ...query } = search;
  const found = useQuery(tools(tenant, { ...query, limit: 50 }));
  const terms = useQuery(taxonomy(tenant));
  const counts = useQuery(facets(tenant));
  const who = useQuery(me(tenant));
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const writes = may(who.data, "tools.write");
  const set = useCallback(
    (change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true }),
    [navigate],
  );
  // What is filtered by is asked for before the address has it: each of its links is drawn anew then.
  const asks = useRef(query);
  asks.current = query;
  const onSearch = useCallback((v: string) => {
    void client.prefetchQuery(tools(tenant, { ...asks.current, cursor: undefined, search: v || undefined, limit: 50 }));
    set({ search: v || undefined });
  }, [client, tenant, set]);
  const filtered = Object.entries(query).some(([n, v]) => n !== "cursor" && v);
  const items = found.data?.items ?? none;
  const shown = useRef(search); // What the rows are filtered by: rows of what was typed before stay until there are others.
  if (!found.isPlaceholderData) shown.current = search;
  const opened = open !== undefined;
  const onOpen = useCallback(
    (slug: string) => void navigate({ search: (s) => ({ ...s, open: slug }), replace: opened, resetScroll: false }),
    [navigate, opened],
  );
  const at = items.findIndex((t) => t.slug === open);
  const past = at >= 0 && at === items.length - 1 ? found.data?.next : undefined;
  // The drawer walks what the list shows, on to its next page.
  const walk = async (to: 1 | -1) => {
    const next = items[at + to];
    if (next) return navigate({ search: (s) => ({ ...s, open: next.slug }), replace: true, resetScroll: false });
    if (to === 1 && past) {
      const page = await client.fetchQuery(tools(tenant, { ...query, cursor: past, limit: 50 }));
      if (page.items[0]) await navigate({ search: (s) => ({ ...s, cursor: past, open: page.items[0]!.slug }), resetScroll: false });
    }
  };

  return (
    <Page title="Tools" about="What agents of this tenant may be given, and people may call."
      cli={words("toolcrib", "tool", "list", ...option("tool-type", query.tool_type), ...option("type", query.implementation_type), ...option("status", query.status),
        ...option("category", query.category), ...option("egress-class", query.egress_class), ...option("risk", query.risk), ...option("search", query.search), query.switched_off ? "--switched-off" : "")}
      api={address("/v1/tools", query)}
      actions={writes ? (
        <>
          <Link to="/t/$tenant/tools/import" params={{ tenant }} className="button">Import</Link>
          <Link to="/t/$tenant/graphs/new" params={{ tenant }} className="button">New graph</Link>
          <Link to="/t/$tenant/tools/new" params={{ tenant }} className="button primary">New tool</Link>
        </>
      ) : undefined}>
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <Facets of={counts.data} terms={terms.data?.buckets} value={search.tool_type ?? ""} onChange={(v) => set({ tool_type: v })} />
          <div className="filters">
            <Search value={search.search ?? ""} onChange={onSearch} label="Filter by slug, name or description" />
            <Choice label="Type" value={search.implementation_type ?? ""} options={counts.data?.subtypes.map((f) => f.name) ?? []}
              onChange={(v) => set({ implementation_type: v })} />
            <Choice label="Status" value={search.status ?? ""} options={terms.data?.statuses.map((s) => s.name) ?? []} onChange={(v) => set({ status: v, callable: undefined, archived: undefined })} />
            <Choice label="Category" value={search.category ?? ""} options={counts.data?.categories.map((f) => f.name) ?? []} onChange={(v) => set({ category: v })} />
            <Choice label="Reaches out" value={search.egress_class ?? ""} options={terms.data?.egress_classes.map((s) => s.name) ?? []} onChange={(v) => set({ egress_class: v })} />
            <Choice label="Risk" value={search.risk ?? ""} options={terms.data?.risks.map((s) => s.name) ?? []} onChange={(v) => set({ risk: v })} />
            <Choice label="Callable in" value={search.callable ?? ""} options={["production", "debug"]} onChange={(v) => set({ callable: v, status: undefined, archived: undefined, switched_off: undefined })} />
            <label className="check"><input type="checkbox" checked={search.archived === "true"} onChange={(e) => set({ archived: e.target.checked ? "true" : undefined, callable: undefined, status: undefined })} /> Archived</label>
            <label className="check"><input type="checkbox" checked={search.switched_off === "true"} onChange={(e) => set({ switched_off: e.target.checked ? "true" : undefined, callable: undefined })} /> Switched off here</label>
          </div>
          {picked.size > 0 && <Bulk tenant={tenant} picked={picked} onClear={() => setPicked(new Set())} />}
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
                {writes ? <Link to="/t/$tenant/tools/new" params={{ tenant }}>Make one here</Link> : "A definition is a file."} Or apply a file, and it is listed here.
              </Empty>
            )
          ) : (
            <>
              <ToolRows items={items} search={shown.current} open={open} onOpen={onOpen} terms={terms.data} picked={picked} setPicked={setPicked}
                picks={writes && !open} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {open && (
          <ToolDrawer tenant={tenant} slug={open} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })}
            walk={at < 0 ? undefined : (
              <div className="drawer-walk">
                <button type="button" className="quiet" disabled={at === 0} onClick={() => void walk(-1)}>Previous</button>
                <button type="button" className="quiet" disabled={at === items.length - 1 && !past} onClick={() => void walk(1)}>Next</button>
                <span className="muted">{at + 1} of {items.length}{past || found.data?.next ? " on this page" : ""}</span>
              </div>
            )} />
        )}
      </div>
    </Page>
  );
}

const none: Tool[] = [];

// ToolRows is not drawn anew for each key of a filter, but with what that finds.
const ToolRows = memo(function ToolRows({ items, search, open, onOpen, terms, picked, setPicked, picks }: {
  items: Tool[];
  search: Record<string, string | undefined>;
  open: string | undefined;
  onOpen: (slug: string) => void;
  terms: Taxonomy | undefined;
  picked: ReadonlySet<string>;
  setPicked: (picked: ReadonlySet<string>) => void;
  picks: boolean;
}) {
  const label = (of: Term[] | undefined, name: string) => of?.find((t) => t.name === name)?.label ?? name;
  return (
    <Rows label="Tools" rows={items} keyOf={(t) => t.slug} current={open}
      columns={[
        {
          name: "Tool",
          show: (t) => (
            <OpenLink search={search} open={t.slug} onOpen={onOpen} stacked>
              <span className="slug">{t.slug}</span>
              <span className="muted line">{t.effective?.description || t.description || t.name}</span>
            </OpenLink>
          ),
        },
        { name: "Status", show: (t) => <ToolStatus of={t} /> },
        { name: "Bucket", from: "wide", show: (t) => <Badge>{label(terms?.buckets, t.tool_type)}</Badge> },
        { name: "Type", from: "medium", show: (t) => <Badge>{label(terms?.subtypes, t.implementation_type)}</Badge> },
        { name: "Reaches out", from: "wide", show: (t) => <Egress of={t} /> },
        { name: "Risk", from: "wide", show: (t) => <Status value={t.risk} /> },
        { name: "Approval", from: "wide", show: (t) => (t.requires_approval || t.effective?.requires_approval || t.egress_class === "write" ? <Badge tone="warn">asks</Badge> : <span className="none">–</span>) },
        { name: "Version", from: "medium", end: true, show: (t) => <span className="version">{t.version}</span> },
        { name: "Changed", from: "wide", end: true, show: (t) => <Time at={t.updated_at} /> },
        ...(picks ? [{
          name: "Pick", from: "medium" as const, end: true,
          show: (t: Tool) => (
            <input type="checkbox" className="pick" aria-label={`Pick ${t.slug}`} disabled={t.scope !== "tenant"} checked={picked.has(t.slug)}
              onChange={(e) => {
                const next = new Set(picked);
                if (e.target.checked) next.add(t.slug);
                else next.delete(t.slug);
                setPicked(next);
              }} />
          ),
        }] : []),
      ]} />
  );
});

// Facets are the buckets, with how many tools each has.
function Facets({ of, terms, value, onChange }: { of: ToolFacets | undefined; terms: Term[] | undefined; value: string; onChange: (v: string) => void }) {
  if (!of || !terms) return <Facets_ />;
  const more = of.complete ? "" : "+";
  const count = (n: unknown) => Number(n).toLocaleString("en") + more;
  const of1 = (name: string) => of.buckets.find((b) => b.name === name)?.tools ?? 0;
  return (
    <div className="facets" role="group" aria-label="Bucket">
      <button type="button" aria-pressed={value === ""} onClick={() => onChange("")}>
        <span className="number">{count(of.total)}</span>
        <span className="name">All</span>
        <span className="muted what">{of.statuses.find((s) => s.name === "published") ? `${count(of.statuses.find((s) => s.name === "published")!.tools)} published.` : "None is published."}</span>
      </button>
      {terms.map((t) => (
        <button key={t.name} type="button" aria-pressed={value === t.name} onClick={() => onChange(value === t.name ? "" : t.name)}>
          <span className="number">{count(of1(t.name))}</span>
          <span className="name">{t.label}</span>
          <span className="muted what" title={t.description}>{t.description}</span>
        </button>
      ))}
    </div>
  );
}

// Facets_ has the place of the buckets until they are counted.
function Facets_() {
  return (
    <div className="facets" aria-hidden="true">
      {[0, 1, 2, 3, 4].map((i) => (
        <button key={i} type="button" disabled>
          <span className="number">&nbsp;</span>
          <span className="name">&nbsp;</span>
          <span className="muted what">&nbsp;</span>
        </button>
      ))}
    </div>
  );
}

const bulkWords = { publish: ["Publish", "Published"], enable: ["Enable", "Enabled"], disable: ["Disable", "Disabled"], delete: ["Delete", "Deleted"] } as const;

// Bulk changes what is picked, one after the other: each by the rules of its own.
function Bulk({ tenant, picked, onClear }: { tenant: string; picked: ReadonlySet<string>; onClear: () => void }) {
  const client = useQueryClient();
  const [action, setAction] = useState<keyof typeof bulkWords>();
  const [result, setResult] = useState<BulkResult>();
  const failed = result?.items.filter((i) => i.outcome === "failed") ?? [];
  return (
    <div className="bulk" role="group" aria-label="Changes of several">
      <span>{result ? `${String(result.counts.changed)} changed, ${String(result.counts.unchanged)} unchanged, ${String(result.counts.failed)} failed` : `${picked.size} picked`}</span>
      {!result && (Object.keys(bulkWords) as (keyof typeof bulkWords)[]).map((a) => (
        <button key={a} type="button" className={a === "delete" ? "button danger" : "button"} onClick={() => setAction(a)}>{bulkWords[a][0]}…</button>
      ))}
      <button type="button" className="button" onClick={onClear}>{result ? "Close" : "Pick none"}</button>
      {failed.length > 0 && <ul className="faults">{failed.map((i) => <li key={i.tool}><code>{i.tool}</code> {i.error?.detail}</li>)}</ul>}
      {action && (
        <Ask title={`${bulkWords[action][0]} ${picked.size} tools?`} about={[...picked].slice(0, 20).join(", ") + (picked.size > 20 ? ", …" : "")} button={bulkWords[action][0]}
          danger={action === "delete" || action === "disable"} done={bulkWords[action][1] + "."} onClose={() => setAction(undefined)}
          act={() => post<BulkResult>(tenant, "/v1/tools/bulk", { action, tools: [...picked] })}
          onDone={(r) => {
            setResult(r as BulkResult);
            void client.invalidateQueries({ queryKey: [tenant, "tools"] });
          }} />
      )}
    </div>
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

function ToolDrawer({ tenant, slug, onClose, walk }: { tenant: string; slug: string; onClose: () => void; walk: ReactNode }) {
  const found = useQuery(tool(tenant, slug));
  return (
    <Drawer title={slug} onClose={onClose}>
      {walk}
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The tool" />
      ) : (
        <>
          <p className="badges">
            <ToolStatus of={found.data} /> <Type of={found.data.implementation_type} /> <Egress of={found.data} />
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
          <h3>Input</h3>
          <JsonView value={json(found.data.input_schema)} label="Input schema" />
          {found.data.output_schema !== undefined && (
            <>
              <h3>Output</h3>
              <JsonView value={json(found.data.output_schema)} label="Output schema" />
            </>
          )}
          {found.data.implementation_config !== undefined && (
            <>
              <h3>Configuration</h3>
              <JsonView value={json(found.data.implementation_config)} label="Configuration" />
            </>
          )}
          <h3>Execution</h3>
          <JsonView value={json(found.data.execution)} label="Execution" />
        </>
      )}
    </Drawer>
  );
}
