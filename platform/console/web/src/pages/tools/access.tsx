import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { at, may, me, type Tool } from "../../api/queries";
import { assignments, names, post, type Assignment } from "../../api/tools";
import { Rows } from "../../ui/list";
import { Badge, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Ask, Line, text } from "./ask";

// Access: to which agents the tool is assigned, and with which profiles.

export function Access({ tenant, of }: { tenant: string; of: Tool }) {
  const found = useQuery(assignments(tenant, { tool: of.slug, limit: 200 }));
  const who = useQuery(me(tenant));
  const client = useQueryClient();
  const [revokes, setRevokes] = useState<Assignment>();
  const [assigns, setAssigns] = useState(false);
  const own = may(who.data, "assignments.write");
  const refresh = () => {
    void client.invalidateQueries({ queryKey: [tenant, "assignments"] });
    void client.invalidateQueries({ queryKey: [tenant, "profiles"] });
  };
  return (
    <section className="tool-stack">
      <div className="section-head">
        <h2>Assignments</h2>
        {own ? (
          <button type="button" className="button primary" onClick={() => setAssigns(true)}>Assign…</button>
        ) : (
          <span className="muted">Assigning takes the permission <code>assignments.write</code>.</span>
        )}
      </div>
      <p className="muted">
        An agent whose definition does not name the tool has it by an assignment. A <Link to="/t/$tenant/profiles" params={{ tenant }}>profile</Link> restricts
        the calls of one agent, or of every caller.
      </p>
      {found.isPending ? (
        <Loading rows={3} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of assignments" />
      ) : found.data.items.length === 0 ? (
        <Empty title="It is assigned to no agent" command={words("toolcrib", "tool", "assign", of.slug, "--agent", "AGENT")}>Agents that name it in their definition have it all the same.</Empty>
      ) : (
        <Rows label="Assignments" rows={found.data.items} keyOf={(a) => a.id}
          columns={[
            { name: "Agent", show: (a) => (a.agent ? <span className="slug">{a.agent}</span> : <span>every agent and caller</span>) },
            { name: "Profile", show: (a) => (a.profile ? <Link to="/t/$tenant/profiles" params={{ tenant }} search={{ open: a.profile }}>{a.profile}</Link> : <span className="none">–</span>) },
            { name: "By", from: "wide", show: (a) => <Subject of={a.changed_by} copy /> },
            { name: "Since", from: "medium", end: true, show: (a) => <Time at={a.changed_at} /> },
            ...(own ? [{ name: "Revoke", end: true, show: (a: Assignment) => <button type="button" className="tool-link" aria-label={`Revoke of ${a.agent ?? "every caller"}`} onClick={() => setRevokes(a)}>revoke</button> }] : []),
          ]} />
      )}
      {assigns && <Assign tenant={tenant} tool={of.slug} onClose={() => setAssigns(false)} onDone={refresh} />}
      {revokes && (
        <Ask title={`Revoke it from ${revokes.agent ?? "every caller"}?`} danger button="Revoke" done="Revoked."
          about="Runs that have the tool by the assignment alone are denied their next call of it."
          act={() => call(tenant, `/v1/assignments/${at(revokes.id)}`, { method: "DELETE" })} onClose={() => setRevokes(undefined)} onDone={refresh} />
      )}
    </section>
  );
}

function Assign({ tenant, tool, onClose, onDone }: { tenant: string; tool: string; onClose: () => void; onDone: () => void }) {
  const agents = useQuery(names(tenant, "/v1/agents", "slug"));
  const profiles = useQuery(names(tenant, "/v1/profiles", "name"));
  return (
    <Ask title={`Assign ${tool}`} about="An agent has it from its next run on. A profile applies at the next call." button="Assign" done="Assigned." onClose={onClose} onDone={onDone}
      act={(form) => post<Assignment>(tenant, "/v1/assignments", { tool, agent: text(form, "agent"), profile: text(form, "profile") })}>
      <Line name="agent" label="Agent" help="Left out: every agent and caller, which takes a profile." list={agents.data ?? []} />
      <Line name="profile" label="Profile" help="Left out: nothing is restricted." list={profiles.data ?? []} />
    </Ask>
  );
}

export function ProfileBadges({ of: p }: { of: { denied?: boolean; requires_approval?: boolean; permission_policy?: string; egress_class?: string; required_permission?: string; rate?: { calls: number; per: string }; max_concurrency?: number } }) {
  const all: [string, string][] = [];
  if (p.denied) all.push(["refuses every call", "bad"]);
  if (p.requires_approval) all.push(["asks at every call", "warn"]);
  if (p.permission_policy) all.push([p.permission_policy.replaceAll("_", " "), "warn"]);
  if (p.egress_class) all.push([`as if it ${p.egress_class === "write" ? "writes" : "reads"}`, ""]);
  if (p.required_permission) all.push([p.required_permission, ""]);
  if (p.rate) all.push([`${p.rate.calls} a ${p.rate.per}`, ""]);
  if (p.max_concurrency) all.push([`${p.max_concurrency} at once`, ""]);
  return <span className="badges">{all.length === 0 ? <span className="none">nothing</span> : all.map(([text, tone]) => <Badge key={text} tone={tone}>{text}</Badge>)}</span>;
}
