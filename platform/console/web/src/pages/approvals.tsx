import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { address, ApiError, call } from "../api/client";
import { print } from "../api/json";
import { approval, approvals, invocation, json, may, me, type Approval } from "../api/queries";
import { Buckets } from "../ui/filters";
import { JsonView } from "../ui/json";
import { keysOff } from "../ui/keys";
import { Drawer, Pager, Rows } from "../ui/list";
import { say } from "../ui/live";
import { Page } from "../ui/page";
import { Facts, Id, Status, Text, Time } from "../ui/parts";
import { option, words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";

const statuses = [["pending", "Waiting"], ["", "All"], ["approved", "Approved"], ["rejected", "Rejected"], ["expired", "Expired"]] as const;

export function Approvals() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/approvals" });
  const navigate = useNavigate({ from: "/t/$tenant/approvals" });
  const status = search.status ?? (search.open ? "" : "pending");
  const query = { status: status === "all" ? "" : status, tool: search.tool, cursor: search.cursor };
  const found = useQuery(approvals(tenant, { ...query, limit: 50 }));
  return (
    <Page title="Approvals" about="Calls that wait until a person says yes or no. Opening one decides nothing."
      cli={words("toolcrib", "approvals", "list", ...option("status", query.status))} api={address("/v1/approvals", { status: query.status })}>
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Status" value={query.status} options={statuses}
              onChange={(v) => void navigate({ search: { status: v || "all" }, replace: true })} />
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of approvals" />
          ) : found.data.items.length === 0 ? (
            <Empty title={query.status === "pending" ? "Nothing waits for you" : "No request matches"}>
              {query.status === "pending" && "A call of a tool that writes, or whose policy asks, is listed here until it is decided."}
            </Empty>
          ) : (
            <>
              <Rows label="Requests" rows={found.data.items} keyOf={(a) => a.id} current={search.open}
                columns={[
                  {
                    name: "Call",
                    show: (a) => (
                      <Link from="/t/$tenant/approvals" search={(s) => ({ ...s, status: query.status || "all", open: a.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                        <span className="slug">{a.tool}@{a.version}</span>
                        <span className="muted line">{a.arguments === undefined ? a.message : print(a.arguments).slice(0, 160)}</span>
                      </Link>
                    ),
                  },
                  { name: "Status", show: (a) => <Status value={a.status} /> },
                  { name: "Agent", from: "medium", show: (a) => a.agent ?? <span className="none">–</span> },
                  { name: "Needed", from: "wide", end: true, show: (a) => a.needed },
                  { name: "Until", from: "medium", end: true, show: (a) => (a.status === "pending" ? <Time at={a.expires_at} /> : <Time at={a.ended_at} />) },
                  { name: "Asked", end: true, show: (a) => <Time at={a.created_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
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
    </Page>
  );
}

function Request({ tenant, id, onClose }: { tenant: string; id: string; onClose: () => void }) {
  const found = useQuery(approval(tenant, id));
  const who = useQuery(me(tenant));
  const [asks, setAsks] = useState<"approve" | "reject">();
  const a = found.data;
  const why = a && cannot(a, who.data);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (keysOff(e) || !a || why || a.status !== "pending" || (e.key !== "a" && e.key !== "r")) return;
      e.preventDefault();
      setAsks(e.key === "a" ? "approve" : "reject");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [a, why]);
  return (
    <Drawer title={a ? `${a.tool}@${a.version}` : "Request"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The request" />
      ) : (
        <>
          <p className="badges"><Status value={found.data.status} /></p>
          <Text>{found.data.message}</Text>
          {found.data.reasons && <ul className="reasons">{found.data.reasons.map((r) => <li key={r}>{r}</li>)}</ul>}
          <h3>What will run</h3>
          <JsonView value={json(found.data.edited ?? found.data.arguments)} label="Arguments" />
          <Facts of={[
            ["Sent to", found.data.host],
            ["Credential", found.data.credential],
            ["Agent", found.data.agent],
            ["For", <Id value={found.data.requester} />],
            ["Needs", found.data.needed === 1 ? "one approval" : `${found.data.needed} approvals`],
            ["Permission", found.data.permission],
            ["Until", <Time at={found.data.expires_at} />],
            ["Run", <Link to="/t/$tenant/runs/$run" params={{ tenant, run: found.data.root_run_id }}>the run that waits</Link>],
            ["Request", <Id value={found.data.id} />],
          ]} />
          {found.data.decisions?.map((d) => (
            <p key={d.subject + d.at} className={`notice ${d.approve ? "good" : "bad"}`}>
              {d.approve ? "Approved" : "Rejected"} by <Id value={d.subject} /> <Time at={d.at} />{d.reason && <>: {d.reason}</>}
            </p>
          ))}
          {found.data.status === "pending" ? (
            why ? (
              <p className="notice">{why}</p>
            ) : (
              <p className="actions">
                <button type="button" className="button primary" onClick={() => setAsks("approve")}>Approve…</button>
                <button type="button" className="button danger" onClick={() => setAsks("reject")}>Reject…</button>
              </p>
            )
          ) : (
            <Progress tenant={tenant} of={found.data} />
          )}
          {asks && <Decide tenant={tenant} of={found.data} approve={asks === "approve"} onClose={() => setAsks(undefined)} />}
        </>
      )}
    </Drawer>
  );
}

// cannot says why one may not decide. The server decides all the same.
function cannot(a: Approval, who: Parameters<typeof may>[0]): string | undefined {
  if (!who) return "…";
  if (a.requester === who.subject && !(a.own && may(who, "approvals.confirm"))) return "You started the run: another person decides.";
  const needed = [a.permission, ...(a.escalated && a.escalate_to ? [a.escalate_to] : [])];
  // Permissions of tenants' own names are not among those that the server lists.
  if (needed.every((p) => p.startsWith("approvals.") && !may(who, p)) && !a.own) return `Your key lacks the permission ${needed.join(" or ")}.`;
  if (a.decisions?.some((d) => d.subject === who.subject)) return "You have decided. It waits for others.";
  return undefined;
}

// Progress is what became of the call, as the record has it.
function Progress({ tenant, of: a }: { tenant: string; of: Approval }) {
  const found = useQuery({
    ...invocation(tenant, a.id),
    refetchInterval: (q) => (q.state.data && !["completed", "failed", "rejected", "cancelled", "expired", "unknown"].includes(q.state.data.status) ? 2000 : false),
  });
  if (!found.data) return null;
  const words: Record<string, string> = { approved: "queued", pending: "queued" };
  return (
    <p className="notice" role="status">
      The call is <Status value={found.data.status} /> {words[found.data.status] && `(${words[found.data.status]}: it has not begun)`}
    </p>
  );
}

function Decide({ tenant, of: a, approve, onClose }: { tenant: string; of: Approval; approve: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const reason = useRef<HTMLTextAreaElement>(null);
  const decide = useMutation({
    mutationFn: () =>
      call<Approval>(tenant, `/v1/approvals/${a.id}/${approve ? "approve" : "reject"}`, {
        method: "POST",
        body: { seen: a.binding, ...(reason.current!.value && { reason: reason.current!.value }) },
      }),
    onSuccess: (decided) => {
      client.setQueryData(approval(tenant, a.id).queryKey, decided);
      say(approve ? "Approved. The call is queued." : "Rejected.");
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: [tenant, "approvals"] }),
  });
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" initialFocus={reason}>
          <AlertDialog.Title>{approve ? "Approve" : "Reject"} {a.tool}@{a.version}?</AlertDialog.Title>
          <AlertDialog.Description>
            {approve ? "This call, with these arguments and no others, will run." : "The agent reads the reason, and the run goes on without the call."}
          </AlertDialog.Description>
          <form onSubmit={(e) => {
            e.preventDefault();
            decide.mutate();
          }}>
            <label htmlFor="reason">Reason{approve && <span className="muted"> (optional)</span>}</label>
            <textarea id="reason" ref={reason} rows={3} maxLength={2000} required={!approve} />
            {decide.error && (
              <p className="error" role="alert">
                {decide.error instanceof ApiError ? decide.error.detail : "The decision could not be sent."}
              </p>
            )}
            <div className="actions">
              <AlertDialog.Close className="button" type="button">Back</AlertDialog.Close>
              <button type="submit" className={approve ? "button primary" : "button danger"} disabled={decide.isPending}>
                {approve ? "Approve" : "Reject"}
              </button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
