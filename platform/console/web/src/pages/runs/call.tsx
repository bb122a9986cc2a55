import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { print } from "../../api/json";
import { approval, invocation, json, may, me, type Invocation } from "../../api/queries";
import { briefCall, callExplanation, childRuns, money, type Call } from "../../api/runs";
import { AppOfCall } from "../../apps/call";
import { CallAnswer } from "../../form/callanswer";
import { JsonView } from "../../ui/json";
import { Drawer } from "../../ui/list";
import { Badge, Facts, Id, Status, Text, Time, took } from "../../ui/parts";
import { Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Type } from "../../ui/type";

// CallDrawer is one call, beside the list that it was opened from.
export function CallDrawer({ tenant, id, inRun, onClose, previous, next }: {
  tenant: string;
  id: string;
  inRun?: boolean;
  onClose: () => void;
  previous?: (() => void) | undefined;
  next?: (() => void) | undefined;
}) {
  const found = useQuery(briefCall(tenant, id));
  const c = found.data;
  return (
    <Drawer title={c?.tool ?? "Call"} onClose={onClose}>
      <p className="actions walk">
        <button type="button" className="button" disabled={!previous} onClick={previous}>Previous</button>
        <button type="button" className="button" disabled={!next} onClick={next}>Next</button>
      </p>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The call" />
      ) : (
        <One key={id} tenant={tenant} of={found.data} inRun={!!inRun} />
      )}
    </Drawer>
  );
}

const egress: Record<string, [string, string]> = { none: ["stays inside", ""], read_only: ["reads outside", ""], write: ["writes outside", "warn"] };

function One({ tenant, of: c, inRun }: { tenant: string; of: Call; inRun: boolean }) {
  const [reach, tone] = egress[c.egress_class ?? ""] ?? [];
  const mayPublish = may(useQuery(me(tenant)).data, "views.write");
  return (
    <>
      <p className="badges">
        <Status value={c.status} />
        {c.is_error && <Badge tone="bad">answered no</Badge>}
        {c.approval_status !== "not_required" && <Badge tone={c.approval_status === "pending" ? "warn" : ""}>approval {c.approval_status}</Badge>}
        {reach && <Badge tone={tone!}>{reach}</Badge>}
        {c.cost_micros !== undefined && <Badge>cost {money(c.cost_micros)}</Badge>}
      </p>
      {(c.error || c.error_kind) && <div className="notice bad"><strong>{c.error_kind}</strong>{c.error && <Text>{c.error}</Text>}</div>}
      {c.check && <p className="notice">Whether it took effect is not known: {print(c.check)}</p>}
      <Facts of={[
        ["Tool", c.tool_id ? <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: c.tool }}>{c.tool}{c.version && `@${c.version}`}</Link> : c.tool],
        ["Type", c.implementation_type && <Type of={c.implementation_type} />],
        ["Turn", c.turn > 0 && `${c.turn}, place ${c.position + 1}`],
        ["Attempt", String(c.attempt)],
        ["Waited", took(c.created_at, c.started_at)],
        ["Took", took(c.started_at, c.completed_at)],
        ["Asked", <Time at={c.created_at} />],
        ["Begun", c.started_at && <Time at={c.started_at} />],
        ["Ended", c.completed_at && <Time at={c.completed_at} />],
        ["For", c.subject && <Subject of={c.subject} copy />],
        ["Mode", c.mode],
        ["Run", !inRun && c.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: c.run_id }} search={{ tab: "timeline", call: c.id }}>the run that made it</Link>],
        ["Digest", c.digest && <code title={c.digest}>{c.digest.slice(0, 12)}</code>],
        ["Call", <Id value={c.id} />],
      ]} />
      {c.implementation_type === "agent_call" && c.run_id && <Below tenant={tenant} run={c.run_id} call={c.id} />}
      {c.status === "completed" && c.run_id && c.turn === 0 && !c.parent_id && mayPublish && ( // Results of calls that are a run of their own.
        <p className="actions">
          <Link to="/t/$tenant/published" params={{ tenant }} search={{ run: c.run_id }} className="button">Publish the result…</Link>
        </p>
      )}
      <Arguments tenant={tenant} of={c} />
      {c.receipt !== undefined && (
        <>
          <h3>Changed before the call</h3>
          <JsonView value={json(c.receipt)} label="Receipt" />
        </>
      )}
      <h3>Result</h3>
      <AppOfCall tenant={tenant} of={c} />
      <Result tenant={tenant} of={c} />
      <Why tenant={tenant} id={c.id} />
      {c.approval_status !== "not_required" && <Asked tenant={tenant} of={c} />}
    </>
  );
}

const most = 1 << 20; // Bytes of a result that is shown by its form: a larger one is shown as it is.

// Result is what the call answered; a large one is read on demand.
function Result({ tenant, of: c }: { tenant: string; of: Call }) {
  const [whole, setWhole] = useState(false);
  const found = useQuery({ ...invocation(tenant, c.id), enabled: whole });
  const out = (whole ? found.data?.output : c.output) as Invocation["output"];
  if (!out && c.output_bytes) {
    return found.error ? (
      <Failed error={found.error} retry={() => void found.refetch()} what="The result" />
    ) : (
      <p className="notice">
        The result has {bytes(c.output_bytes)}.{" "}
        <button type="button" className="button" disabled={whole} onClick={() => setWhole(true)}>{whole ? "Loading…" : "Load it"}</button>
      </p>
    );
  }
  if (!out) return <p className="none">{c.completed_at ? "None" : "Not yet"}</p>;
  if (c.output_bytes && c.output_bytes > most) return <JsonView value={json(out)} label="Result" />;
  return <CallAnswer tenant={tenant} tool={c.tool_id ? c.tool : ""} version={c.version} result={out} />;
}

export function bytes(n: number): string {
  return n < 1024 ? `${n} bytes` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}

const stages: Record<string, string> = {
  resolve: "Version", coerce: "Arguments", lane: "Where it ran", policy: "Policy", approval: "Approval", attempt: "Attempt", outside: "Outside",
  warning: "Warning", effect: "Effect", end: "End", waits: "Waits",
};

// Why is the account of the call: version, policy, decisions, attempts.
function Why({ tenant, id }: { tenant: string; id: string }) {
  const found = useQuery(callExplanation(tenant, id));
  if (found.isPending) return <Loading rows={3} />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The account of the call" />;
  return (
    <>
      <h3>What happened, and why</h3>
      <ol className="account">
        {found.data.steps.map((s, i) => (
          <li key={i}>
            <span className="muted">{stages[s.stage] ?? s.stage}</span>
            <div>
              <Text>{s.detail}</Text>
              {(s.by || s.at) && <p className="muted">{s.by && <Subject of={s.by} copy />} {s.at && <Time at={s.at} />}</p>}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

// Arguments are those that ran: a person may have approved others than the caller gave.
function Arguments({ tenant, of: c }: { tenant: string; of: Call }) {
  const asked = useQuery({ ...approval(tenant, c.id), retry: false, enabled: c.approval_status !== "not_required" });
  const edited = asked.data?.edited;
  return (
    <>
      <h3>Arguments</h3>
      <JsonView value={json(edited ?? c.input)} label="Arguments" />
      {edited !== undefined && (
        <details>
          <summary>As the caller gave them, before a person approved others</summary>
          <JsonView value={json(c.input)} label="Arguments of the caller" />
        </details>
      )}
    </>
  );
}

// Asked is the request that the call waits for, or waited for.
function Asked({ tenant, of: c }: { tenant: string; of: Call }) {
  const found = useQuery({ ...approval(tenant, c.id), retry: false });
  const a = found.data;
  return (
    <footer className="call-foot">
      {a?.host && <p>It is sent to <code>{a.host}</code>{a.credential && <> with the credential <code>{a.credential}</code></>}.</p>}
      {a?.message && <Text>{a.message}</Text>}
      <p>
        <Link className={c.approval_status === "pending" ? "button primary" : "button"} to="/t/$tenant/approvals" params={{ tenant }} search={{ open: c.id, status: "all" }}>
          {c.approval_status === "pending" ? "Decide…" : "The request"}
        </Link>
      </p>
    </footer>
  );
}

function Below({ tenant, run, call }: { tenant: string; run: string; call: string }) {
  const found = useQuery(childRuns(tenant, run));
  const below = found.data?.items.find((r) => r.parent?.invocation_id === call);
  if (!below) return null;
  return <p className="notice">It made <Link to="/t/$tenant/runs/$run" params={{ tenant, run: below.id }}>a run of {below.agent}</Link>, which is <Status value={below.status} /></p>;
}
