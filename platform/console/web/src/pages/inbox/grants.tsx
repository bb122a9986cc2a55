import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api/client";
import { grants, post, type Grant, type NewGrant } from "../../api/inbox";
import { may, me } from "../../api/queries";
import { Choice } from "../../ui/filters";
import { Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Status, Time } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Ask, Field, text } from "./ask";
import { Inbox, Toggle } from "./frame";
import { Until, Who } from "./parts";

export function Grants() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/inbox/grants" });
  const navigate = useNavigate({ from: "/t/$tenant/inbox/grants" });
  const who = useQuery(me(tenant)).data;
  const active = search.active !== "no";
  const filter = search.new ? undefined : search.tool;
  const found = useQuery(grants(tenant, { tool: filter, active: active || undefined, cursor: search.cursor, limit: 50 }));
  const [revokes, setRevokes] = useState<Grant>();
  const client = useQueryClient();
  const decides = may(who, "approvals.decide");
  const done = () => void client.invalidateQueries({ queryKey: [tenant, "grants"] });
  return (
    <Inbox about="Approvals of calls that are to come, within limits. A grant counts as the approval of who made it, and never for runs that they started."
      cli={words("toolcrib", "approvals", "grants", ...option("tool", filter), active ? "--active" : "")} api={address("/v1/approval-grants", { tool: filter, active: active || undefined })}
      actions={decides && <Link from="/t/$tenant/inbox/grants" search={(s) => ({ ...s, new: "yes" })} className="button">Make a grant…</Link>}>
      <div className="filters">
        <Toggle on={active} onChange={(on) => void navigate({ search: (s) => ({ ...s, cursor: undefined, active: on ? undefined : "no" }), replace: true })}>Only active</Toggle>
        {filter && <Choice label="Tool" value={filter} options={[filter]} onChange={(v) => void navigate({ search: (s) => ({ ...s, tool: v || undefined }), replace: true })} />}
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of grants" />
      ) : found.data.items.length === 0 ? (
        <Empty title="No standing grant" command={decides ? "toolcrib approvals grant TOOL --uses 20 --expires 168h" : undefined!}>
          {decides ? "Make one where you approve the same calls again and again." : "Making one takes the permission approvals.decide."}
        </Empty>
      ) : (
        <>
          <Rows label="Standing grants" rows={found.data.items} keyOf={(g) => g.id}
            columns={[
              {
                name: "Covers",
                show: (g) => (
                  <span className="grant">
                    <Link from="/t/$tenant/inbox/grants" search={(s) => ({ ...s, tool: g.tool })} className="slug">{g.tool}{g.version && `@${g.version}`}</Link>
                    <span className="muted">
                      {[g.agent && `by ${g.agent}`, g.requester && `for ${g.requester}`, g.when && `where ${g.when}`, g.reason].filter(Boolean).join(", ") || "all calls"}
                    </span>
                  </span>
                ),
              },
              { name: "Status", show: (g) => <Status value={g.status} /> },
              { name: "Used", end: true, show: (g) => `${g.used} of ${g.uses}` },
              { name: "Made by", from: "wide", show: (g) => <Who tenant={tenant} subject={g.created_by} /> },
              { name: "Until", from: "medium", end: true, show: (g) => (g.status === "active" ? <Until at={g.expires_at} /> : <Time at={g.revoked_at ?? g.expires_at} />) },
              {
                name: "Revoke", end: true,
                show: (g) => (g.status === "active" && decides
                  ? <button type="button" className="quiet" onClick={() => setRevokes(g)} aria-label={`Revoke the grant for ${g.covers}`}>Revoke…</button>
                  : <span className="none">–</span>),
              },
            ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
            onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
        </>
      )}
      {search.new && decides && (
        <NewOne tenant={tenant} begin={search} onClose={() => void navigate({ search: (s) => ({ tool: undefined, active: s.active }), replace: true })}
          onDone={done} />
      )}
      {revokes && (
        <Ask title="Revoke this grant?" action="Revoke" danger onClose={() => setRevokes(undefined)} about={`It is for ${revokes.covers}. What it approved stays approved.`}
          run={() => post<Grant>(tenant, `/v1/approval-grants/${revokes.id}/revoke`)}
          onDone={() => {
            say("Revoked.");
            setRevokes(undefined);
            done();
          }} />
      )}
    </Inbox>
  );
}

const lasts = [["3600", "an hour"], ["86400", "a day"], ["604800", "a week"], ["2592000", "30 days"], ["7776000", "90 days"]] as const;

function NewOne({ tenant, begin, onClose, onDone }: {
  tenant: string;
  begin: { tool?: string; version?: string; agent?: string; requester?: string };
  onClose: () => void;
  onDone: () => void;
}) {
  return (
    <Ask title="Approve calls ahead of time?" action="Make the grant" onClose={onClose}
      about="It counts as one approval of yours, while your key may decide such calls, and never for runs that you started."
      run={(given) => {
        const grant: NewGrant = { tool: text(given, "tool"), uses: Number(text(given, "uses")), expires_s: Number(text(given, "expires_s")) };
        for (const name of ["version", "agent", "requester", "when", "reason"] as const) if (text(given, name)) grant[name] = text(given, name);
        return post<Grant>(tenant, "/v1/approval-grants", grant);
      }}
      onDone={(made) => {
        say(`Made: ${made.covers}`);
        onDone();
        onClose();
      }}>
      {(error) => (
        <>
          <div className="pair">
            <Field name="tool" label="Tool" error={error}><input required maxLength={64} defaultValue={begin.tool} spellCheck={false} /></Field>
            <Field name="version" label="Version" optional error={error}><input maxLength={64} defaultValue={begin.version} placeholder="^1.2" spellCheck={false} /></Field>
            <Field name="agent" label="Agent" optional error={error}><input maxLength={64} defaultValue={begin.agent} spellCheck={false} /></Field>
            <Field name="requester" label="For" optional error={error}><input maxLength={200} defaultValue={begin.requester} placeholder="every subject" spellCheck={false} /></Field>
          </div>
          <Field name="when" label="Only where" optional error={error} hint={<>CEL over the arguments, such as <code>input.amount &lt;= 50</code>; all arguments when empty.</>}>
            <input maxLength={4096} className="code" spellCheck={false} />
          </Field>
          <div className="pair">
            <Field name="uses" label="How many calls" error={error}><input type="number" min={1} max={10000} required defaultValue={10} /></Field>
            <Field name="expires_s" label="For how long" error={error}>
              <select defaultValue="86400">{lasts.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
            </Field>
          </div>
          <Field name="reason" label="Reason" optional error={error}><textarea rows={2} maxLength={2000} /></Field>
        </>
      )}
    </Ask>
  );
}
