import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, ApiError, call } from "../../api/client";
import { deliveries, meta, webhook, webhooks, type Delivery, type Webhook, type WebhookSecret } from "../../api/govern";
import { Buckets } from "../../ui/filters";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Badge, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, once, Secret, Subject, tagged, useMay } from "./parts";

const stateOf = (w: Webhook): string => (w.disabled_at ? "disabled" : !w.active ? "paused" : w.failing_since ? "failing" : "active");

export function Webhooks() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/webhooks" });
  const navigate = useNavigate({ from: "/t/$tenant/webhooks" });
  const found = useQuery(webhooks(tenant, { cursor: search.cursor, limit: 200 })) /* A tenant has at most 20. */;
  const has = useMay(tenant);
  const client = useQueryClient();
  const [secret, setSecret] = useState<WebhookSecret>();
  const [edits, setEdits] = useState<{ body: Webhook; etag: string }>();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "webhooks"] });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v, status: undefined }), resetScroll: false });
  return (
    <Page title="Webhooks" about="Events of the tenant, sent to your servers and signed as in Standard Webhooks."
      actions={<Allowed may={has} permission="webhooks.write"><button type="button" className="button primary" onClick={() => open("new")}>New webhook</button></Allowed>}
      cli="toolcrib webhook list" api={address("/v1/webhooks")}>
      <div className={search.open && search.open !== "new" ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Webhooks" value={search.show ?? ""} options={[["", "All"], ["failing", "Failing or disabled"]]} onChange={(v) => void navigate({ search: { show: v || undefined }, replace: true })} />
          </div>
          {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of webhooks" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
            <Empty title="No webhook" command="toolcrib webhook create https://example.com/hooks/toolcrib --event run.failed">Your servers can be sent what happens: that a call waits for approval, that a run failed, that a budget is spent.</Empty>
          ) : (
            <>
              <Rows label="Webhooks" rows={found.data.items.filter((w) => search.show !== "failing" || w.disabled_at || w.failing_since)} keyOf={(w) => w.id} current={search.open} columns={[
                {
                  name: "Address", show: (w) => (
                    <Link from="/t/$tenant/webhooks" search={(s) => ({ ...s, open: w.id, status: undefined })} className="row-link" replace={!!search.open} resetScroll={false}>
                      <span className="slug">{w.url}</span>
                      <span className="muted line">{w.description || w.types.join(", ")}</span>
                    </Link>
                  ),
                },
                { name: "State", show: (w) => <Status value={stateOf(w)} /> },
                { name: "Events", from: "medium", end: true, show: (w) => w.types.length },
                { name: "Delivered", from: "wide", end: true, show: (w) => <Time at={w.delivered_at} /> },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })} onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {search.open && search.open !== "new" && (
          <Details key={search.open} tenant={tenant} id={search.open} write={has("webhooks.write")} onClose={() => open(undefined)} onChanged={() => void changed()} onSecret={setSecret}
            onEdit={() => void tagged<Webhook>(tenant, `/v1/webhooks/${search.open!}`).then(setEdits)} />
        )}
      </div>
      {(search.open === "new" || edits) && has("webhooks.write") && (
        <WebhookForm tenant={tenant} of={edits} onClose={() => (edits ? setEdits(undefined) : open(undefined))} onDone={(w) => {
          void changed();
          if ("secret" in w) setSecret(w);
          setEdits(undefined);
          open(w.id);
        }} />
      )}
      {secret && (
        <Secret title="The secret of the webhook" secret={secret.secret} onClose={() => setSecret(undefined)}>
          <p>Your receiver checks signatures with it. It is shown this once; a lost one is rotated.</p>
        </Secret>
      )}
    </Page>
  );
}

function Details({ tenant, id, write, onClose, onChanged, onSecret, onEdit }: { tenant: string; id: string; write: boolean; onClose: () => void; onChanged: () => void; onSecret: (s: WebhookSecret) => void; onEdit: () => void }) {
  const found = useQuery(webhook(tenant, id));
  const client = useQueryClient();
  const [asks, setAsks] = useState<"rotate" | "delete">();
  const again = () => client.invalidateQueries({ queryKey: [tenant, `webhooks/${id}/deliveries`] });
  const ping = useMutation({
    mutationFn: () => call<Delivery>(tenant, `/v1/webhooks/${id}/ping`, { method: "POST", headers: once() }),
    onSuccess: () => {
      say("A test is sent.");
      void again();
    },
  });
  const w = found.data;
  return (
    <Drawer title={w ? new URL(w.url).host : "Webhook"} onClose={onClose}>
      {found.isPending ? <Loading rows={5} /> : found.error || !w ? <Failed error={found.error} what="The webhook" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={stateOf(w)} /></p>
          {w.disabled_at && <p className="notice bad">Disabled <Time at={w.disabled_at} />: {w.disabled_reason}. Edit it, and make it active again.</p>}
          {w.description && <Text>{w.description}</Text>}
          <Facts of={[
            ["Address", <code className="wrap">{w.url}</code>],
            ["Agent", w.agent], ["Tool", w.tool],
            ["Failing since", w.failing_since && <Time at={w.failing_since} />],
            ["Delivered", <Time at={w.delivered_at} />],
            ["Secret", <>number {w.secret_version}{w.old_secret_until && Date.parse(w.old_secret_until) > Date.now() && <>; the one before signs too until <Time at={w.old_secret_until} /></>}</>],
            ["Made", <><Time at={w.created_at} /> by <Subject of={w.created_by} /></>],
            ["Id", <Id value={w.id} />],
          ]} />
          <p className="options">{w.types.map((t) => <code key={t}>{t}</code>)}</p>
          {write && (
            <p className="actions">
              <button type="button" className="button primary" disabled={ping.isPending} onClick={() => ping.mutate()}>Send a test</button>
              <button type="button" className="button" onClick={onEdit}>Edit…</button>
              <button type="button" className="button" onClick={() => setAsks("rotate")}>Rotate the secret…</button>
              <button type="button" className="button danger" onClick={() => setAsks("delete")}>Delete…</button>
            </p>
          )}
          {ping.error && <p className="error" role="alert">{ping.error instanceof ApiError ? ping.error.detail : "The test could not be sent."}</p>}
          <Deliveries tenant={tenant} id={id} write={write} />
          {asks === "rotate" && (
            <Confirm title="Rotate the secret?" action="Rotate" onClose={() => setAsks(undefined)}
              onSend={() => call<WebhookSecret>(tenant, `/v1/webhooks/${id}/rotate`, { method: "POST", body: {} }).then((s) => {
                onChanged();
                onSecret(s);
              })}>
              <p>A new secret is made, and shown once. Both sign for a day, so that the receiver can change over meanwhile.</p>
            </Confirm>
          )}
          {asks === "delete" && (
            <Confirm title="Delete this webhook?" action="Delete" onClose={() => setAsks(undefined)}
              onSend={() => call(tenant, `/v1/webhooks/${id}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
                onClose();
                onChanged();
              })}>
              <p>Its deliveries are deleted with it.</p>
            </Confirm>
          )}
        </>
      )}
    </Drawer>
  );
}

function Deliveries({ tenant, id, write }: { tenant: string; id: string; write: boolean }) {
  const search = useSearch({ from: "/t/$tenant/webhooks" });
  const navigate = useNavigate({ from: "/t/$tenant/webhooks" });
  const client = useQueryClient();
  const found = useQuery({
    ...deliveries(tenant, id, { status: search.status, limit: 50 }),
    refetchInterval: (q) => (q.state.data?.items.some((d) => d.status === "pending") ? 1500 : false),
  });
  const replay = useMutation({
    mutationFn: (d: Delivery) => call(tenant, `/v1/webhooks/${id}/deliveries/${d.id}/replay`, { method: "POST", headers: once() }),
    onSuccess: () => {
      say("It is sent again.");
      void client.invalidateQueries({ queryKey: [tenant, `webhooks/${id}/deliveries`] });
    },
  });
  return (
    <>
      <div className="panel-head">
        <h3>Deliveries</h3>
        <Buckets label="Status of deliveries" value={search.status ?? ""} options={[["", "All"], ["pending", "Pending"], ["failed", "Failed"]]} onChange={(v) => void navigate({ search: (s) => ({ ...s, status: v || undefined }), replace: true, resetScroll: false })} />
      </div>
      {replay.error && <p className="error" role="alert">{replay.error instanceof ApiError ? replay.error.detail : "It could not be sent again."}</p>}
      {found.isPending ? <Loading rows={3} /> : found.error ? <Failed error={found.error} what="The deliveries" /> : found.data.items.length === 0 ? <p className="none">None in the last 30 days.</p> : (
        <ul className="deliveries">
          {found.data.items.map((d) => (
            <li key={d.id}>
              <details>
                <summary><Status value={d.status} /> <code>{d.type}</code> <Time at={d.at} /></summary>
                <Facts of={[
                  ["Attempts", d.attempts], ["Answer", d.last_status], ["Took", d.last_ms !== undefined && `${d.last_ms} ms`],
                  ["Next attempt", d.next_attempt_at && <Time at={d.next_attempt_at} />], ["Replayed", d.replays ? `${d.replays} times` : undefined],
                  ["Run", d.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: d.run_id }}>the run</Link>], ["Id", <Id value={d.id} />],
                ]} />
                {d.last_error && <p className="error">{d.last_error}</p>}
                {d.last_answer && <Text>{d.last_answer}</Text>}
                {write && d.status !== "pending" && <p><button type="button" className="button" disabled={replay.isPending} onClick={() => replay.mutate(d)}>Send again</button></p>}
              </details>
            </li>
          ))}
        </ul>
      )}
      {found.data?.next && <p className="muted">The newest 50.</p>}
    </>
  );
}

function WebhookForm({ tenant, of, onClose, onDone }: { tenant: string; of: { body: Webhook; etag: string } | undefined; onClose: () => void; onDone: (w: Webhook | WebhookSecret) => void }) {
  const known = useQuery(meta(tenant));
  const w = of?.body;
  const [f, setF] = useState({ url: w?.url ?? "", types: (w?.types ?? []) as string[], agent: w?.agent ?? "", tool: w?.tool ?? "", description: w?.description ?? "", active: w ? w.active && !w.disabled_at : true });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  return (
    <FormDialog wide title={w ? "Edit the webhook" : "New webhook"} action={w ? "Save" : "Create"} onClose={onClose} onDone={() => {}} disabled={f.types.length === 0}
      onSend={() => (w
        ? call<Webhook>(tenant, `/v1/webhooks/${w.id}`, { method: "PUT", headers: { "If-Match": of!.etag }, body: f })
        : call<WebhookSecret>(tenant, "/v1/webhooks", { method: "POST", headers: once(), body: { ...f, agent: f.agent || undefined, tool: f.tool || undefined, description: f.description || undefined } })
      ).then(done("Saved.")).then(onDone)}>
      <Field label="Address" path="url" hint="https, or http where an operator allows the host">
        {(p) => <input {...p} type="url" value={f.url} required maxLength={2000} autoFocus placeholder="https://example.com/hooks/toolcrib" onChange={(e) => put({ url: e.target.value })} />}
      </Field>
      <fieldset>
        <legend>Events</legend>
        <div className="checks">
          {(known.data?.webhook_events ?? []).map((t) => (
            <label key={t.name} className="check">
              <input type="checkbox" checked={f.types.includes(t.name)} onChange={(e) => put({ types: e.target.checked ? [...f.types, t.name] : f.types.filter((n) => n !== t.name) })} />
              <span><code>{t.name}</code> <span className="muted option-what">{t.meaning}</span></span>
            </label>
          ))}
        </div>
      </fieldset>
      <div className="pair">
        <Field label="Only of the agent" path="agent" hint="Slug; empty: all">{(p) => <input {...p} value={f.agent} maxLength={64} onChange={(e) => put({ agent: e.target.value })} />}</Field>
        <Field label="Only of the tool" path="tool" hint="Slug; empty: all">{(p) => <input {...p} value={f.tool} maxLength={64} onChange={(e) => put({ tool: e.target.value })} />}</Field>
      </div>
      <Field label="What it is for" path="description">{(p) => <input {...p} value={f.description} maxLength={500} onChange={(e) => put({ description: e.target.value })} />}</Field>
      <label className="check"><input type="checkbox" checked={f.active} onChange={(e) => put({ active: e.target.checked })} /> Active: events are sent</label>
      {known.data && !w && <p className="muted"><Badge>once</Badge> The secret that signs them is shown after you create it.</p>}
    </FormDialog>
  );
}
