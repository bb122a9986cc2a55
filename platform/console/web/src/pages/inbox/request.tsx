import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { approval, approvals, invocation, json, may, me, run, type Approval } from "../../api/queries";
import { JsonView } from "../../ui/json";
import { keysOff } from "../../ui/keys";
import { Drawer } from "../../ui/list";
import { Badge, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { Failed, Loading } from "../../ui/states";
import { yes } from "./approvals";
import { Decide, EditAndApprove } from "./decide";
import { LineDiff, pretty } from "./diff";
import { Until, Who } from "./parts";

type Asks = "approve" | "reject" | "edit";

// Request is one request for approval, with exactly what it is bound to. Opening it decides nothing.
export function Request({ tenant, id, onClose }: { tenant: string; id: string; onClose: () => void }) {
  const found = useQuery(approval(tenant, id));
  const who = useQuery(me(tenant)).data;
  const [asks, setAsks] = useState<Asks>();
  const a = found.data;
  const open = !!a?.decidable && a.status === "pending";
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (keysOff(e) || !open || (e.key !== "a" && e.key !== "r")) return;
      e.preventDefault();
      setAsks(e.key === "a" ? "approve" : "reject");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open]);
  return (
    <Drawer title={a ? `${a.tool}@${a.version}` : "Request"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The request" />
      ) : (
        <>
          <p className="badges">
            <Status value={found.data.status} />
            {found.data.status === "pending" && <span className="muted">expires <Until at={found.data.expires_at} /></span>}
            {found.data.round > 1 && <Badge tone="warn">asked {found.data.round} times</Badge>}
          </p>
          <Text>{found.data.message}</Text>
          {found.data.reasons && <ul className="reasons">{found.data.reasons.map((r) => <li key={r}>{r}</li>)}</ul>}
          <Taint tenant={tenant} id={found.data.run_id} />
          {found.data.status === "pending" && (
            open ? (
              <p className="actions">
                <button type="button" className="button primary" onClick={() => setAsks("approve")}>Approve…</button>
                {yes(found.data) === 0 && <button type="button" className="button" onClick={() => setAsks("edit")}>Edit and approve…</button>}
                <button type="button" className="button danger" onClick={() => setAsks("reject")}>Reject…</button>
              </p>
            ) : (
              <p className="notice why">You do not decide this: {found.data.because}.</p>
            )
          )}
          {found.data.status !== "pending" && <Progress tenant={tenant} of={found.data} />}
          {found.data.decisions?.map((d) => (
            <p key={d.subject + d.at} className={`notice ${d.approve ? "good" : "bad"}`}>
              {d.approve ? "Approved" : "Rejected"} by <Who tenant={tenant} subject={d.subject} />
              {d.grant_id && <> with a <Link to="/t/$tenant/inbox/grants" params={{ tenant }}>standing grant</Link></>} <Time at={d.at} />
              {d.edited !== undefined && ", with other arguments"}{d.reason && <>: {d.reason}</>}
            </p>
          ))}
          <h3>What will run</h3>
          <JsonView value={json(found.data.edited ?? found.data.arguments)} label="Arguments" />
          {found.data.edited !== undefined && (
            <details>
              <summary>What was changed before the approval</summary>
              <LineDiff label="Changed arguments" before={pretty(json(found.data.arguments))} after={pretty(json(found.data.edited))} />
            </details>
          )}
          {found.data.change && <Change of={found.data.change} />}
          <Facts of={[
            ["Version", <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: found.data.tool }} search={{ tab: "explain" }}>{found.data.tool}@{found.data.version}, and why</Link>],
            ["Sent to", found.data.host && <code>{found.data.host}</code>],
            ["Credential", found.data.credential && <code>{found.data.credential}</code>],
            ["Bound to", <Id value={found.data.binding} />],
            ["Agent", found.data.agent],
            ["For", <Who tenant={tenant} subject={found.data.requester} />],
            ["Approvals", `${yes(found.data)} of ${found.data.needed}; one rejection rejects`],
            ["Permission", <code>{found.data.permission}</code>],
            ["Escalation", found.data.escalate_to && (
              found.data.escalated
                ? <>Those with <code>{found.data.escalate_to}</code> may decide too</>
                : <><Until at={found.data.escalates_at} /> those with <code>{found.data.escalate_to}</code> may decide too</>
            )],
            ["Asked", <Time at={found.data.created_at} />],
            ["Run", <Link to="/t/$tenant/runs/$run" params={{ tenant, run: found.data.root_run_id }}>the run that waits</Link>],
            ["Turn", <Turn tenant={tenant} of={found.data} />],
            ["Request", <Id value={found.data.id} />],
          ]} />
          {may(who, "approvals.decide") && (
            <p>
              <Link to="/t/$tenant/inbox/grants" params={{ tenant }}
                search={{ new: "yes", tool: found.data.tool, version: found.data.version, ...(found.data.agent && { agent: found.data.agent }) }}>
                Approve such calls ahead of time…
              </Link>
            </p>
          )}
          {asks === "edit" && <EditAndApprove tenant={tenant} of={found.data} onClose={() => setAsks(undefined)} />}
          {(asks === "approve" || asks === "reject") && (
            <Decide tenant={tenant} of={found.data} approve={asks === "approve"} onClose={() => setAsks(undefined)} />
          )}
        </>
      )}
    </Drawer>
  );
}

// Turn are the other requests of the same turn.
function Turn({ tenant, of: a }: { tenant: string; of: Approval }) {
  const found = useQuery(approvals(tenant, { batch: a.batch, status: "pending", limit: 50 }));
  const others = found.data?.items.filter((b) => b.id !== a.id).length ?? 0;
  if (others === 0) return <>{a.turn}</>;
  return (
    <>
      {a.turn}, with <Link to="/t/$tenant/inbox" params={{ tenant }} search={{ batch: a.batch, status: "pending" }}>{others} other{others === 1 ? "" : "s"} that wait{others === 1 ? "s" : ""}</Link>
    </>
  );
}

// Taint is what of an untrusted source the run has read before it made the call.
function Taint({ tenant, id }: { tenant: string; id: string }) {
  const who = useQuery(me(tenant)).data;
  const taint = useQuery({ ...run(tenant, id), enabled: may(who, "runs.read") }).data?.taint;
  if (!taint) return null;
  return (
    <p className="notice">
      The run has read what an untrusted source wrote: {taint.source === "link" ? "a submission by link to" : "the answer of"}{" "}
      <Link to="/t/$tenant/runs/$run" params={{ tenant, run: taint.run_id }} search={{ tab: "calls", call: taint.invocation_id }}><code>{taint.tool}@{taint.version}</code></Link>.
      It may be what asks for this call.
    </p>
  );
}

function Change({ of: c }: { of: NonNullable<Approval["change"]> }) {
  return (
    <>
      <h3>What it changes</h3>
      <p>{c.action} <code>{c.tool}</code></p>
      {c.refusal && <p className="error">It will be refused: {c.refusal}</p>}
      {c.changes.length > 0 && (
        <ul className="reasons">{c.changes.map((x) => <li key={x.path}><code>{x.path}</code>: {x.reason} ({x.bump})</li>)}</ul>
      )}
      <LineDiff label="Definition" before={pretty(json(c.before))} after={pretty(json(c.after))} />
    </>
  );
}

const steps = ["queued", "running", "ended"] as const;

// Progress is what became of the call, as the record has it: nothing is promised.
function Progress({ tenant, of: a }: { tenant: string; of: Approval }) {
  const found = useQuery({
    ...invocation(tenant, a.id),
    refetchInterval: (q) => (q.state.data && stage(q.state.data.status) !== 2 ? 2000 : false),
  });
  if (!found.data) return null;
  const now = stage(found.data.status);
  return (
    <ol className="progress" aria-label="What became of the call">
      {steps.map((s, i) => (
        <li key={s} data-state={i < now ? "done" : i === now ? "now" : "next"} aria-current={i === now ? "step" : undefined}>
          {i === now && i === 2 ? <Status value={found.data.status} /> : s}
          {i === now && found.data.is_error && <> <Badge tone="bad">answered no</Badge></>}
        </li>
      ))}
    </ol>
  );
}

const stage = (status: string): number => (status === "approved" || status === "pending" ? 0 : status === "running" || status === "waiting" ? 1 : 2);
