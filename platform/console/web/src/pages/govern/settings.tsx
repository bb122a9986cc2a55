import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { address, ApiError, call } from "../../api/client";
import { publishGate, settings, type PublishGate, type Tenant } from "../../api/govern";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Facts, Id, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Command, Failed, Loading } from "../../ui/states";
import { Origins } from "./origins";
import { Confirm, done, Field, FormDialog, Subject, useMay } from "./parts";

export function Settings() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const found = useQuery(settings(tenant));
  return (
    <Page title="Settings" about="What holds for the whole tenant. Each change is in the audit log." cli={words("toolcrib", "tenant", "list")} api={address(`/v1/tenants/${encodeURIComponent(tenant)}`)}>
      {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The tenant" retry={() => void found.refetch()} /> : <All tenant={tenant} of={found.data} />}
    </Page>
  );
}

function All({ tenant, of: t }: { tenant: string; of: Tenant }) {
  const has = useMay(tenant);
  const write = has("tenants.write");
  return (
    <div className="settings">
      <section className="panel" aria-labelledby="the-tenant">
        <h2 id="the-tenant">{t.name || t.slug}</h2>
        <Facts of={[["Slug", <code>{t.slug}</code>], ["State", <Status value={t.status} />], ["Made", <Time at={t.created_at} />], ["Changed", <Time at={t.updated_at} />], ["Id", <Id value={t.id} />]]} />
      </section>
      {!write && <p className="notice">To change these settings takes the permission <code>tenants.write</code>.</p>}
      <Choose tenant={tenant} name="masking" title="Redaction of secrets" write={write} value={t.mask_sensitive ? "on" : "off"}
        body={(v) => ({ mask_sensitive: v === "on" })} cli="toolcrib tenant mask on"
        options={[["on", "Redact", "Values that look like a secret, by their name or form, are shown as [redacted] in runs, messages, calls and events."], ["off", "Show all", "Records are shown as they are, to all who may read them."]]}
        warn={{ off: "Secrets in arguments and results become readable to all who may read runs." }}>
        Calls get the real values either way, and the database keeps them.
      </Choose>
      <Choose tenant={tenant} name="taint" title="Calls after untrusted content" write={write} value={t.taint} body={(v) => ({ taint: v })} cli="toolcrib tenant taint approve"
        options={[
          ["approve", "Ask", "They wait until a person approves them."],
          ["deny", "Deny", "They are denied."],
          ["off", "Let them run", "They run as any other."],
        ]}
        warn={{ off: "What a web page or an MCP server wrote can then make agents write outside, or use credentials, without a person." }}>
        The first result of an untrusted source, such as a web page or an MCP server, taints a run. This is about its later calls that write outside or use a credential.
      </Choose>
      <Choose tenant={tenant} name="publishing" title="Published views and apps" write={write} value={t.mcp_apps_publish_enabled ? "on" : "off"}
        body={(v) => ({ mcp_apps_publish_enabled: v === "on" })} cli="toolcrib tenant publish on"
        options={[["off", "Not published", "Links that were shared before open until they are revoked."], ["on", "May be published", "People show results to everyone who has the link, MCP clients are offered the tools that do, and pages of MCP servers show the results of their tools, in frames of their own."]]}
        warn={{ on: "Pages with results of the tenant can then be read without a login, and pages of MCP servers are shown in the console." }}>
        A view is a page with a result, or with what a tool does. An app is a page that an MCP server has for the results of its tools.
      </Choose>
      <Gate tenant={tenant} write={has("tools.write")} />
      <Origins tenant={tenant} write={write} />
      <section className="panel" aria-labelledby="elsewhere">
        <h2 id="elsewhere">Set elsewhere</h2>
        <ul className="permits">
          <li><Link to="/t/$tenant/limits" params={{ tenant }}>Budgets, prices and rate limits</Link></li>
          <li><Link to="/t/$tenant/access" params={{ tenant }}>Keys and roles</Link></li>
          <li><Link to="/t/$tenant/webhooks" params={{ tenant }}>Webhooks, and the secrets that sign them</Link></li>
        </ul>
        <p className="muted">How long records are kept, how many runs may be unfinished, quotas, and which hosts tools may reach are set by those who run the platform.</p>
      </section>
    </div>
  );
}

// Choose is one setting: what it does, what holds now, and the other choices. What loosens asks first.
function Choose({ tenant, name, title, value, options, body, warn, write, cli, children }: {
  tenant: string; name: string; title: string; value: string; options: [value: string, name: string, what: string][]; body: (v: string) => unknown;
  warn: Record<string, string>; write: boolean; cli: string; children: ReactNode;
}) {
  const client = useQueryClient();
  const [asks, setAsks] = useState<string>();
  const put = (v: string) =>
    call<Tenant>(tenant, `/v1/tenants/${encodeURIComponent(tenant)}/${name}`, { method: "PUT", body: body(v) }).then((t) => {
      client.setQueryData(settings(tenant).queryKey, t);
      say(`${title}: ${options.find(([o]) => o === v)?.[1]}`);
    });
  const change = useMutation({ mutationFn: put });
  return (
    <section className="panel" aria-labelledby={`s-${name}`}>
      <h2 id={`s-${name}`}>{title}</h2>
      <p className="muted">{children}</p>
      <div className="choose" role="radiogroup" aria-labelledby={`s-${name}`}>
        {options.map(([v, label, what]) => (
          <label key={v} className={v === value ? "option chosen" : "option"}>
            <input type="radio" name={name} value={v} checked={v === value} disabled={!write || change.isPending} onChange={() => (warn[v] ? setAsks(v) : change.mutate(v))} />
            <span><strong>{label}</strong>{v === value && <span className="muted"> – holds now</span>}<span className="muted option-what">{what}</span></span>
          </label>
        ))}
      </div>
      {change.error && <p className="error" role="alert">{change.error instanceof ApiError ? change.error.detail : "It could not be changed."}</p>}
      <details className="hints inner"><summary>The same from a terminal</summary><Command text={cli} /></details>
      {asks && (
        <Confirm title={`${title}: ${options.find(([o]) => o === asks)?.[1]}?`} action="Change it" onClose={() => setAsks(undefined)} onSend={() => put(asks)}>
          <p>{warn[asks]}</p>
        </Confirm>
      )}
    </section>
  );
}

function Gate({ tenant, write }: { tenant: string; write: boolean }) {
  const found = useQuery(publishGate(tenant));
  const client = useQueryClient();
  const [asks, setAsks] = useState<"set" | "remove">();
  const changed = () => client.invalidateQueries({ queryKey: publishGate(tenant).queryKey });
  const none = found.error instanceof ApiError && found.error.status === 404;
  const gate = none ? undefined : found.data;
  return (
    <section className="panel" aria-labelledby="s-gate">
      <h2 id="s-gate">Before a tool is published</h2>
      <p className="muted">A version can be held back until exactly its content was replayed with recorded calls. First versions pass. A tool can have a gate of its own instead.</p>
      {found.isPending ? <Loading rows={1} /> : found.error && !none ? <Failed error={found.error} what="The gate" /> : gate ? (
        <p><strong>{gate.replay} of the last calls are replayed</strong>, and {gate.max_different === 0 ? "none" : `at most ${gate.max_different}`} may differ <span className="muted">– holds now, set by <Subject of={gate.changed_by} /></span></p>
      ) : (
        <p><strong>Nothing has to pass</strong> <span className="muted">– holds now</span></p>
      )}
      {write ? (
        <p className="actions">
          <button type="button" className="button" onClick={() => setAsks("set")}>{gate ? "Change…" : "Require a replay…"}</button>
          {gate && <button type="button" className="button danger" onClick={() => setAsks("remove")}>Remove…</button>}
        </p>
      ) : (
        <p className="muted">To change it takes the permission <code>tools.write</code>.</p>
      )}
      {asks === "set" && <GateForm tenant={tenant} of={gate} onClose={() => setAsks(undefined)} onDone={() => {
        void changed();
        setAsks(undefined);
      }} />}
      {asks === "remove" && (
        <Confirm title="Remove the gate?" action="Remove" onClose={() => setAsks(undefined)} onSend={() => call(tenant, "/v1/publish-gate", { method: "DELETE" }).then(done("Removed.")).then(() => client.resetQueries({ queryKey: publishGate(tenant).queryKey }))}>
          <p>Versions are then published without a replay, but those of tools with a gate of their own.</p>
        </Confirm>
      )}
    </section>
  );
}

function GateForm({ tenant, of, onClose, onDone }: { tenant: string; of: PublishGate | undefined; onClose: () => void; onDone: () => void }) {
  const [replay, setReplay] = useState(String(of?.replay ?? 20));
  const [most, setMost] = useState(String(of?.max_different ?? 0));
  return (
    <FormDialog title="Before a tool is published" action="Save" onClose={onClose} onDone={onDone}
      onSend={() => call(tenant, "/v1/publish-gate", { method: "PUT", body: { replay: Number(replay), max_different: Number(most) } }).then(done("Saved."))}>
      <Field label="Recorded calls to replay" path="replay">{(p) => <input {...p} type="number" min={1} max={50} required value={replay} onChange={(e) => setReplay(e.target.value)} autoFocus />}</Field>
      <Field label="How many may differ" path="max_different">{(p) => <input {...p} type="number" min={0} max={50} required value={most} onChange={(e) => setMost(e.target.value)} />}</Field>
    </FormDialog>
  );
}
