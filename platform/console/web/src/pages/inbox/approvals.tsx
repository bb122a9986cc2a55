import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api/client";
import { print } from "../../api/json";
import { approvals, type Approval } from "../../api/queries";
import { Buckets, Choice } from "../../ui/filters";
import { Pager, Rows } from "../../ui/list";
import { Badge, Status, Time } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { DecideAll } from "./decide";
import { Inbox, orders, Toggle } from "./frame";
import { Until } from "./parts";
import { Request } from "./request";

const statuses = [["pending", "Waiting"], ["", "All"], ["approved", "Approved"], ["rejected", "Rejected"], ["expired", "Expired"]] as const;

export function Approvals() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/inbox" });
  const navigate = useNavigate({ from: "/t/$tenant/inbox" });
  const status = search.status ?? (search.open || search.batch ? "all" : "pending");
  const mine = search.mine === "yes";
  const query = {
    status: status === "all" ? "" : status, tool: search.tool, batch: search.batch, cursor: search.cursor, order: search.order,
    ...(mine && { decidable: true }),
  };
  const found = useQuery(approvals(tenant, { ...query, limit: 50 }));
  const [asks, setAsks] = useState<"approve" | "reject">();
  const items = found.data?.items ?? [];
  const together = items.filter((a) => a.decidable);
  const set = (change: Partial<typeof search>) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true });
  return (
    <Inbox about="Calls that wait until a person says yes or no. Opening one decides nothing."
      cli={words("toolcrib", "approvals", "list", ...option("status", query.status), ...option("batch", query.batch), mine ? "--mine" : "",
        query.order === "oldest" ? "--oldest" : "")}
      api={address("/v1/approvals", query)}>
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Status" value={query.status} options={statuses} onChange={(v) => set({ status: v || "all" })} />
            <Toggle on={mine} onChange={(on) => set({ mine: on ? "yes" : undefined })}>I may decide</Toggle>
            <Buckets label="Order" value={query.order ?? ""} options={orders} onChange={(v) => set({ order: v || undefined })} />
            {search.tool && <Choice label="Tool" value={search.tool} options={[search.tool]} onChange={(v) => set({ tool: v || undefined })} />}
          </div>
          {search.batch && (
            <div className="notice batch">
              <p>
                <strong>Calls of one turn.</strong> {items.length} of them are listed; you may decide {together.length}.{" "}
                <Link from="/t/$tenant/inbox" search={{}}>Show all requests</Link>
              </p>
              {together.length > 1 && (
                <p className="actions">
                  <button type="button" className="button primary" onClick={() => setAsks("approve")}>Approve {together.length}…</button>
                  <button type="button" className="button danger" onClick={() => setAsks("reject")}>Reject {together.length}…</button>
                </p>
              )}
            </div>
          )}
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of approvals" />
          ) : items.length === 0 && !found.data.next ? (
            <Empty title={query.status === "pending" && !search.tool ? "Nothing waits for you" : "No request matches"}>
              {query.status === "pending" && "A call of a tool that writes, or whose policy asks, is listed here until it is decided."}
            </Empty>
          ) : (
            <>
              <Rows label="Requests" rows={items} keyOf={(a) => a.id} current={search.open}
                columns={[
                  {
                    name: "Call",
                    show: (a) => (
                      <Link from="/t/$tenant/inbox" search={(s) => ({ ...s, status, open: a.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                        <span className="slug">{a.tool}@{a.version}</span>
                        <span className="muted line">{a.arguments === undefined ? a.message : print(a.arguments).slice(0, 160)}</span>
                      </Link>
                    ),
                  },
                  { name: "Turn", from: "medium", show: (a) => <Turn of={a} among={items} shown={!!search.batch} /> },
                  { name: "Status", show: (a) => <Status value={a.status} /> },
                  { name: "You", from: "medium", show: (a) => (a.status !== "pending" ? <span className="none">–</span> : a.decidable ? "may decide" : <span className="muted" title={a.because}>may not</span>) },
                  { name: "Agent", from: "wide", show: (a) => a.agent ?? <span className="none">–</span> },
                  { name: "Approvals", from: "wide", end: true, show: (a) => `${yes(a)} of ${a.needed}` },
                  { name: "Until", from: "medium", end: true, show: (a) => (a.status === "pending" ? <Until at={a.expires_at} /> : <Time at={a.ended_at} />) },
                  { name: "Asked", end: true, show: (a) => <Time at={a.created_at} /> },
                ]} />
              <Pager count={items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {search.open && (
          <Request key={search.open} tenant={tenant} id={search.open}
            onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />
        )}
      </div>
      {asks && <DecideAll tenant={tenant} of={together} approve={asks === "approve"} onClose={() => setAsks(undefined)} />}
    </Inbox>
  );
}

export const yes = (a: Approval): number => a.decisions?.filter((d) => d.approve).length ?? 0;

// Turn links to the other requests of the same turn, where the page has some.
function Turn({ of: a, among, shown }: { of: Approval; among: Approval[]; shown: boolean }) {
  const n = among.filter((b) => b.batch === a.batch).length;
  if (n < 2 || shown) return <span className="none">–</span>;
  return (
    <Link from="/t/$tenant/inbox" search={{ batch: a.batch, status: "pending" }} title="The calls of this turn, to be decided together">
      <Badge>{n} of a turn</Badge>
    </Link>
  );
}
