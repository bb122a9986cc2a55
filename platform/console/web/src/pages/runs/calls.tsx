import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { address } from "../../api/client";
import { allCalls, money, runCalls, type Call } from "../../api/runs";
import { Choice, Search } from "../../ui/filters";
import { Pager, Rows, type Column } from "../../ui/list";
import { Page } from "../../ui/page";
import { Status, Time, took } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { useTypeLabel } from "../../ui/type";
import { CallDrawer } from "./call";
import { Range, range } from "./range";
import type { Run } from "../../api/queries";

export const statuses = ["pending", "approved", "running", "waiting", "completed", "failed", "rejected", "cancelled", "expired", "unknown"] as const;
const kinds = ["invalid", "not_found", "denied", "conflict", "rate_limited", "unavailable", "timeout", "unknown", "cancelled", "internal"] as const;

const after: Column<Call>[] = [
  { name: "Status", show: (c) => <Status value={c.status} /> },
  { name: "Approval", from: "wide", show: (c) => (c.approval_status === "not_required" ? <span className="none">–</span> : c.approval_status) },
  { name: "Cost", from: "wide", end: true, show: (c) => money(c.cost_micros) },
  { name: "Took", from: "medium", end: true, show: (c) => took(c.started_at, c.completed_at) },
  { name: "Asked", end: true, show: (c) => <Time at={c.created_at} /> },
];

const failure = (c: Call) => `${c.error_kind}: ${c.error ?? ""}`;

// About is what a row says beside the name of the tool.
function About({ of: c }: { of: Call }) {
  const label = useTypeLabel();
  const type = c.implementation_type && label(c.implementation_type);
  return <span className="muted line">{c.error_kind ? failure(c) : c.is_error ? "answered no" : [c.version && `@${c.version}`, type].filter(Boolean).join(" ")}</span>;
}

// CallsPage is the history of all calls of the tenant.
export function CallsPage() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/calls" });
  const navigate = useNavigate({ from: "/t/$tenant/calls" });
  const { open, ...filters } = search;
  const query = { ...filters, ...range(search) };
  const found = useQuery(allCalls(tenant, { ...query, limit: 50 }));
  const set = useCallback((change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined, ...change }), replace: true }), [navigate]);
  const onTool = useCallback((v: string) => set({ tool: v }), [set]);
  const onAgent = useCallback((v: string) => set({ agent: v }), [set]);
  const walk = walker(found.data?.items, open, (id) => void navigate({ search: (s) => ({ ...s, open: id }), replace: true, resetScroll: false }));
  const filtered = Object.keys(filters).some((k) => k !== "cursor");
  return (
    <Page title="Calls" about="Each call of a tool: by agents, by people, and by programs; newest first."
      cli={words("toolcrib", "invocations", "list", ...option("status", search.status), ...option("tool", search.tool))} api={address("/v1/invocations", query)}>
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Search value={search.tool ?? ""} onChange={onTool} label="Slug of a tool" />
            <Named label="Agent" value={search.agent} onChange={onAgent} />
            <Choice label="Status" value={search.status ?? ""} options={statuses} onChange={(v) => set({ status: v })} />
            <Choice label="Failure" value={search.kind ?? ""} options={kinds} onChange={(v) => set({ kind: v })} />
            <Range of={search} onChange={(d) => set(d)} />
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of calls" />
          ) : found.data.items.length === 0 ? (
            filtered ? (
              <Empty title="No call matches these filters">
                <button type="button" className="button" onClick={() => void navigate({ search: {} })}>Clear the filters</button>
              </Empty>
            ) : (
              <Empty title="No tool was called yet" command={words("toolcrib", "tool", "call", "searchOrders")} />
            )
          ) : (
            <>
              <Rows label="Calls" rows={found.data.items} keyOf={(c) => c.id} current={open}
                columns={[{
                  name: "Tool",
                  show: (c) => (
                    <Link from="/t/$tenant/calls" search={(s) => ({ ...s, open: c.id })} className="row-link" replace={!!open} resetScroll={false}>
                      <span className="slug">{c.tool}</span>
                      <About of={c} />
                    </Link>
                  ),
                }, ...after]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {open && <CallDrawer tenant={tenant} id={open} {...walk} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />}
      </div>
    </Page>
  );
}

// walker goes to the rows before and after the open one, in the order of the list.
export function walker(items: { id: string }[] | undefined, open: string | undefined, go: (id: string) => void) {
  const i = items?.findIndex((c) => c.id === open) ?? -1;
  const to = (x: { id: string } | undefined) => (x ? () => go(x.id) : undefined);
  return { previous: to(i > 0 ? items![i - 1] : undefined), next: to(i >= 0 ? items![i + 1] : undefined) };
}

// Named is a filter that is typed, and applied with Enter or when it is left.
export function Named({ label, value, onChange }: { label: string; value: string | undefined; onChange: (v: string) => void }) {
  return (
    <label className={value ? "choice set" : "choice"}>
      <span>{label}</span>
      <input key={value} defaultValue={value ?? ""} spellCheck={false} onBlur={(e) => e.target.value !== (value ?? "") && onChange(e.target.value.trim())}
        onKeyDown={(e) => e.key === "Enter" && onChange(e.currentTarget.value.trim())} />
    </label>
  );
}

// RunCalls are the calls of a run as a table, newest first: the twin of the timeline.
export function RunCalls({ tenant, of: r, current, cursor }: { tenant: string; of: Run; current?: string | undefined; cursor?: string | undefined }) {
  const navigate = useNavigate({ from: "/t/$tenant/runs/$run" });
  const found = useQuery(runCalls(tenant, r.id, { limit: 50, cursor }));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of calls" />;
  if (found.data.items.length === 0) return <Empty title="No tool was called" />;
  return (
    <>
      <Rows label="Calls" rows={found.data.items} keyOf={(c) => c.id} current={current}
        columns={[
          {
            name: "Tool",
            show: (c) => (
              <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: c.id })} className="row-link" replace={!!current} resetScroll={false}>
                <span className="slug">{c.tool}</span>
                <About of={c} />
              </Link>
            ),
          },
          { name: "Turn", from: "medium", end: true, show: (c) => c.turn },
          ...after,
        ]} />
      <Pager count={found.data.items.length} first={!cursor} next={found.data.next}
        onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }), resetScroll: false })}
        onNext={(c) => void navigate({ search: (s) => ({ ...s, cursor: c }), resetScroll: false })} />
    </>
  );
}

// Calls are the last calls of a tool, for its page.
export function Calls({ tenant, tool }: { tenant: string; tool: string }) {
  const found = useQuery(allCalls(tenant, { tool, limit: 20 }));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of calls" />;
  if (found.data.items.length === 0) return <Empty title="The tool was not called yet" command={words("toolcrib", "tool", "call", tool)} />;
  return (
    <>
      <Rows label={`Calls of ${tool}`} rows={found.data.items} keyOf={(c) => c.id}
        columns={[{
          name: "Call",
          show: (c) => (
            <Link to="/t/$tenant/calls" params={{ tenant }} search={{ tool, open: c.id }} className="row-link">
              <span className="version">{c.version || "–"}</span>
              <span className="muted line">{c.error_kind ? failure(c) : c.call_id}</span>
            </Link>
          ),
        }, ...after]} />
      <p className="pager"><Link className="button" to="/t/$tenant/calls" params={{ tenant }} search={{ tool }}>All calls of the tool</Link></p>
    </>
  );
}
