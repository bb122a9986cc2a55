import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { credential, credentials, usersOf, type Credential } from "../../api/connect";
import { at } from "../../api/queries";
import { Drawer, Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Facts, Id, Status, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, tagged, useMay } from "../govern/parts";
import { CredentialForm } from "./credentialform";

const state = (c: Credential): string => (c.expires_at && Date.parse(c.expires_at) < Date.now() ? "expired" : c.hosts.length === 0 ? "no hosts" : "active");

export function Credentials() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/credentials" });
  const navigate = useNavigate({ from: "/t/$tenant/credentials" });
  const found = useQuery(credentials(tenant, { cursor: search.cursor, limit: 50 }));
  const has = useMay(tenant);
  const client = useQueryClient();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "credentials"] });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v }), resetScroll: false });
  const shown = search.open && search.open !== "new" ? search.open : undefined;
  return (
    <Page title="Credentials" about="Secrets that tools send to upstreams. Tools name them by ref; a value is encrypted, sent to its hosts only, and never shown again."
      actions={<Allowed may={has} permission="credentials.write"><button type="button" className="button primary" onClick={() => open("new")}>New credential</button></Allowed>}
      cli="toolcrib credential list" api={address("/v1/credentials")}>
      <div className={shown ? "split open" : "split"}>
        <div className="split-list">
          {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of credentials" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
            <Empty title="No credential" command="toolcrib credential set orders-api --host api.example.com">Store one, and name it in a tool as <code>credentials_ref</code>.</Empty>
          ) : (
            <>
              <Rows label="Credentials" rows={found.data.items} keyOf={(c) => c.ref} current={shown} columns={[
                {
                  name: "Ref", show: (c) => (
                    <Link from="/t/$tenant/credentials" search={(s) => ({ ...s, open: c.ref })} className="row-link" replace={!!shown} resetScroll={false}>
                      <span className="slug">{c.ref}</span>
                      <span className="muted line">{c.hosts.join(", ") || "may be sent nowhere"}</span>
                    </Link>
                  ),
                },
                { name: "State", show: (c) => <Status value={state(c)} /> },
                { name: "Expires", from: "medium", end: true, show: (c) => <Time at={c.expires_at} /> },
                { name: "Replaced", from: "wide", end: true, show: (c) => <Time at={c.rotated_at ?? c.created_at} /> },
                { name: "Used", from: "wide", end: true, show: (c) => <Time at={c.last_used_at} /> },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: {} })} onNext={(cursor) => void navigate({ search: { cursor } })} />
            </>
          )}
        </div>
        {shown && <Details key={shown} tenant={tenant} name={shown} write={has("credentials.write")} tools={has("tools.read")} onClose={() => open(undefined)} onChanged={() => void changed()} />}
      </div>
      {search.open === "new" && has("credentials.write") && (
        <CredentialForm tenant={tenant} onClose={() => open(undefined)} onDone={(c) => {
          void changed();
          open(c.ref);
        }} />
      )}
    </Page>
  );
}

function Details({ tenant, name, write, tools, onClose, onChanged }: { tenant: string; name: string; write: boolean; tools: boolean; onClose: () => void; onChanged: () => void }) {
  const found = useQuery(credential(tenant, name));
  const [edits, setEdits] = useState<{ body: Credential; etag: string }>();
  const [asks, setAsks] = useState(false);
  const c = found.data;
  return (
    <Drawer title={name} onClose={onClose}>
      {found.isPending ? <Loading rows={5} /> : found.error || !c ? <Failed error={found.error} what="The credential" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={state(c)} /></p>
          <Facts of={[
            ["Value", <span className="muted">number {c.version}, not shown</span>],
            ["Hosts", c.hosts.length > 0 ? <ul className="hosts">{c.hosts.map((h) => <li key={h}><code className="wrap">{h}</code></li>)}</ul> : "none: it is sent nowhere"],
            ["Found by", c.provider_key && [c.category, c.provider_key, c.provider_variant].filter(Boolean).join(" / ")],
            ["Expires", c.expires_at ? <Time at={c.expires_at} /> : "never"],
            ["Used", c.last_used_at ? <Time at={c.last_used_at} /> : "never"],
            ["Replaced", c.rotated_at && <Time at={c.rotated_at} />],
            ["Stored", <Time at={c.created_at} />],
            ["Id", <Id value={c.id} />],
          ]} />
          {write && (
            <p className="actions">
              <button type="button" className="button" onClick={() => void tagged<Credential>(tenant, `/v1/credentials/${at(c.ref)}`).then(setEdits)}>Replace…</button>
              <button type="button" className="button danger" onClick={() => setAsks(true)}>Delete…</button>
            </p>
          )}
          <h3>Used by</h3>
          {tools ? <UsedBy tenant={tenant} name={c.ref} /> : <p className="muted">Seeing that takes <code>tools.read</code>.</p>}
          {edits && <CredentialForm tenant={tenant} of={edits} onClose={() => setEdits(undefined)} onDone={() => {
            setEdits(undefined);
            onChanged();
          }} />}
          {asks && (
            <Confirm title={`Delete ${c.ref}?`} action="Delete" onClose={() => setAsks(false)}
              onSend={() => call(tenant, `/v1/credentials/${at(c.ref)}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
                onClose();
                onChanged();
              })}>
              <p>Its value is destroyed at once. The next call that needs it is refused, also one that runs already.</p>
            </Confirm>
          )}
        </>
      )}
    </Drawer>
  );
}

function UsedBy({ tenant, name }: { tenant: string; name: string }) {
  const found = useQuery(usersOf(tenant, name));
  if (found.isPending) return <Loading rows={2} />;
  if (found.error) return <Failed error={found.error} what="The list of tools" />;
  const { tools, pipelines, more } = found.data;
  return (
    <>
      {tools.length + pipelines.length === 0 ? <p className="none">No tool or pipeline names it.</p> : (
        <ul className="users">
          {tools.map((t) => <li key={t}><Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: t }}>{t}</Link> <span className="muted">tool</span></li>)}
          {pipelines.map((p) => <li key={p}><Link to="/t/$tenant/pipelines/$pipeline" params={{ tenant, pipeline: p }}>{p}</Link> <span className="muted">pipeline</span></li>)}
        </ul>
      )}
      {more && <p className="muted">There are more than were looked through.</p>}
    </>
  );
}
