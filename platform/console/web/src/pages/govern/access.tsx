import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { key, keys, meta, people, roles, type CreatedKey, type Key } from "../../api/govern";
import { bytes } from "../../api/money";
import { me } from "../../api/queries";
import { Buckets } from "../../ui/filters";
import { Drawer, Rows } from "../../ui/list";
import { Page, tabOptions } from "../../ui/page";
import { Badge, Facts, Id, Status, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Browsers } from "./browsers";
import { Allowed, Confirm, done, Field, FormDialog, fromLocal, once, Secret, Subject, useMay } from "./parts";
import { Permissions } from "./permissions";
import { Roles } from "./roles";

const tabs = [["keys", "Keys"], ["services", "Service accounts"], ["roles", "Roles"], ["people", "People"]] as const;

export function Access() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/access" });
  const tab = tabs.find(([t]) => t === search.tab)?.[0] ?? "keys";
  const abouts: Record<string, string> = {
    keys: "Keys are what programs, and browsers, act with. None may do more than the one that made it, and it is revoked with that one.",
    services: "Keys that services use, and who answers for them.",
    roles: "Named sets of permissions. A key or a person with a role may do what it permits at each request.",
    people: "People who came with a token of an issuer, with the roles that it was mapped to.",
  };
  const api: Record<string, string> = { keys: "/v1/keys", services: "/v1/keys", roles: "/v1/roles", people: "/v1/people" };
  const cli: Record<string, string> = { keys: "toolcrib key list", services: "toolcrib key list --owner team-support@example.com", roles: "toolcrib role list", people: "toolcrib key people" };
  return (
    <Page title="Access" about={abouts[tab]} cli={cli[tab]!} api={address(api[tab]!)}>
      <nav className="tabs" aria-label="Parts of access">
        {tabs.map(([t, name]) => (
          <Link key={t} from="/t/$tenant/access" search={{ tab: t === "keys" ? undefined : t }} activeOptions={tabOptions}>{name}</Link>
        ))}
      </nav>
      {tab === "keys" && <Keys tenant={tenant} />}
      {tab === "services" && <Services tenant={tenant} />}
      {tab === "roles" && <Roles tenant={tenant} />}
      {tab === "people" && <People tenant={tenant} />}
    </Page>
  );
}

const month = 30 * 86_400;

const stateOf = (k: Key): string => (k.revoked_at ? "revoked" : k.expires_at && Date.parse(k.expires_at) <= Date.now() ? "expired" : "active");

// idle says that a key was not used for a month, nor made since.
const idle = (k: Key): boolean =>
  stateOf(k) === "active" && Date.parse(k.created_at) < Date.now() - month * 1000 && (!k.last_used_at || Date.parse(k.last_used_at) < Date.now() - month * 1000);

const grants = (k: Key): string => [...(k.roles ?? []), ...(k.permissions.includes("*") ? ["everything"] : k.permissions.length ? [`${k.permissions.length} permission${k.permissions.length === 1 ? "" : "s"}`] : [])].join(", ");

function Keys({ tenant }: { tenant: string }) {
  const search = useSearch({ from: "/t/$tenant/access" });
  const navigate = useNavigate({ from: "/t/$tenant/access" });
  const show = search.show ?? "active";
  const found = useQuery(keys(tenant, show === "unused" ? { unused_for_s: month } : {}));
  const has = useMay(tenant);
  const who = useQuery(me(tenant));
  const client = useQueryClient();
  const [made, setMade] = useState<CreatedKey>();
  const [replaces, setReplaces] = useState<Key>();
  const [revokes, setRevokes] = useState<Key>();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "keys"] });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v }), resetScroll: false });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of keys" retry={() => void found.refetch()} />;
  const rows = found.data.items.filter((k) => show === "all" || stateOf(k) === "active").reverse();
  const asked = search.open === "new" || replaces;
  return (
    <>
      <div className={search.open && search.open !== "new" ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Keys" value={show} options={[["active", "Active"], ["unused", "Unused for 30 days"], ["all", "All"]]} onChange={(v) => void navigate({ search: { show: v }, replace: true })} />
            <Allowed may={has} permission="keys.write"><button type="button" className="button primary" onClick={() => open("new")}>New key</button></Allowed>
          </div>
          {rows.length === 0 ? (
            <Empty title={show === "unused" ? "Every key was used in the last 30 days" : "There are no keys"} command="toolcrib key create ci --role viewer --expires 2160h" />
          ) : (
            <Rows label="Keys" rows={rows} keyOf={(k) => k.id} current={search.open} columns={[
              {
                name: "Key", show: (k) => (
                  <Link from="/t/$tenant/access" search={(s) => ({ ...s, open: k.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                    <span className="slug">{k.name}</span>
                    <span className="muted line">{grants(k)}</span>
                  </Link>
                ),
              },
              { name: "State", show: (k) => <span className="badges"><Status value={stateOf(k)} />{idle(k) && <Badge tone="warn">unused</Badge>}{who.data?.subject === `key:${k.id}` && <Badge>this one</Badge>}</span> },
              { name: "Owner", from: "wide", show: (k) => k.owner ?? <span className="none">–</span> },
              { name: "Last used", end: true, show: (k) => (k.last_used_at ? <Time at={k.last_used_at} /> : <span className="none">never</span>) },
              { name: "Expires", from: "medium", end: true, show: (k) => (k.expires_at ? <Time at={k.expires_at} /> : <span className="none">never</span>) },
              { name: "Made", from: "wide", end: true, show: (k) => <Time at={k.created_at} /> },
            ]} />
          )}
        </div>
        {search.open && search.open !== "new" && (
          <KeyDrawer key={search.open} tenant={tenant} id={search.open} mayWrite={has("keys.write")} onRevoke={setRevokes} onReplace={setReplaces} onClose={() => open(undefined)} />
        )}
      </div>
      {asked && has("keys.write") && (
        <KeyForm tenant={tenant} like={replaces} onClose={() => (replaces ? setReplaces(undefined) : open(undefined))} onMade={(k) => {
          setMade(k);
          void changed();
          if (!replaces) open(undefined);
        }} />
      )}
      {made && (
        <Secret title={`The key ${made.name}`} secret={made.secret} onClose={() => {
          setMade(undefined);
          if (replaces) setRevokes(replaces);
          setReplaces(undefined);
        }}>
          <p>Copy its secret now. It is shown this once, and kept as a hash alone: a lost one is replaced by a new key.</p>
        </Secret>
      )}
      {revokes && (
        <Confirm title={`Revoke the key ${revokes.name}?`} action="Revoke" onClose={() => setRevokes(undefined)}
          onSend={() => call(tenant, `/v1/keys/${revokes.id}/revoke`, { method: "POST" }).then(done("Revoked.")).then(changed)}>
          <p>
            It works no more, at once and for good, and with it the keys that it made. Browsers that signed in with it are signed out.
            {who.data?.subject === `key:${revokes.id}` && <strong> It is the key of this browser.</strong>}
          </p>
        </Confirm>
      )}
    </>
  );
}

function KeyDrawer({ tenant, id, mayWrite, onRevoke, onReplace, onClose }: { tenant: string; id: string; mayWrite: boolean; onRevoke: (k: Key) => void; onReplace: (k: Key) => void; onClose: () => void }) {
  const found = useQuery(key(tenant, id));
  const k = found.data;
  return (
    <Drawer title={k?.name ?? "Key"} onClose={onClose}>
      {found.isPending ? <Loading rows={5} /> : found.error || !k ? <Failed error={found.error} what="The key" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={stateOf(k)} />{idle(k) && <Badge tone="warn">unused for 30 days</Badge>}</p>
          <Facts of={[
            ["Roles", k.roles?.length ? <span className="badges">{k.roles.map((r) => <Link key={r} to="/t/$tenant/access" params={{ tenant }} search={{ tab: "roles", open: r }}>{r}</Link>)}</span> : undefined],
            ["Owner", k.owner],
            ["Toolset", k.toolset ? <>works at <code>{k.toolset}</code> alone</> : undefined],
            ["Requests", k.limits?.requests_per_second && `${k.limits.requests_per_second} a second${k.limits.burst ? `, ${k.limits.burst} at once` : ""}`],
            ["Bytes", k.limits?.bytes_per_minute && `${bytes(k.limits.bytes_per_minute)} a minute`],
            ["Last used", k.last_used_at ? <Time at={k.last_used_at} /> : "never"],
            ["Expires", k.expires_at ? <Time at={k.expires_at} /> : "never"],
            ["Revoked", k.revoked_at && <Time at={k.revoked_at} />],
            ["Made", <><Time at={k.created_at} /> by <Subject of={k.created_by} /></>],
            ["Id", <Id value={k.id} />],
          ]} />
          {k.permissions.length > 0 && (
            <>
              <h3>Permissions</h3>
              <p className="options">{k.permissions.map((p) => <code key={p}>{p}</code>)}</p>
            </>
          )}
          {!!k.scopes?.length && <><h3>Narrowed to</h3><p className="options">{k.scopes.map((p) => <code key={p}>{p}</code>)}</p></>}
          {stateOf(k) === "active" && <Browsers tenant={tenant} subject={`key:${k.id}`} mayEnd={mayWrite} />}
          <p><Link to="/t/$tenant/audit" params={{ tenant }} search={{ actor: `key:${k.id}` }}>What it changed</Link></p>
          {stateOf(k) === "active" && mayWrite && (
            <p className="actions">
              <button type="button" className="button" onClick={() => onReplace(k)}>Replace…</button>
              <button type="button" className="button danger" onClick={() => onRevoke(k)}>Revoke…</button>
            </p>
          )}
        </>
      )}
    </Drawer>
  );
}

const expiries: [string, string][] = [["30", "in 30 days"], ["90", "in 90 days"], ["365", "in a year"], ["at", "at a time…"], ["", "never"]];

function KeyForm({ tenant, like, onClose, onMade }: { tenant: string; like: Key | undefined; onClose: () => void; onMade: (k: CreatedKey) => void }) {
  const known = useQuery(roles(tenant));
  const who = useQuery(me(tenant));
  const [f, setF] = useState({
    name: like?.name ?? "", roles: like?.roles ?? [], permissions: like?.permissions ?? [], owner: like?.owner ?? "", toolset: like?.toolset ?? "",
    expires: "90", at: "", rate: String(like?.limits?.requests_per_second ?? ""), burst: String(like?.limits?.burst ?? ""), bytes: String(like?.limits?.bytes_per_minute ?? ""),
  });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  const mine = new Set(who.data?.permissions ?? []);
  // Permissions of tenants' own names are not among those that the server lists: it decides about them.
  const listed = useQuery(meta(tenant)).data?.permissions;
  const may = (all: string[]) => all.every((p) => p === "*" || mine.has(p) || !listed?.some((l) => l.name === p));
  const number = (v: string) => (v.trim() === "" ? undefined : Number(v));
  const limits = { requests_per_second: number(f.rate), burst: number(f.burst), bytes_per_minute: number(f.bytes) };
  const expires = f.expires === "at" ? fromLocal(f.at) : f.expires ? new Date(Date.now() + Number(f.expires) * 86_400_000).toISOString() : undefined;
  return (
    <FormDialog wide title={like ? `Replace the key ${like.name}` : "New key"} action="Create the key" onClose={onClose} disabled={f.roles.length + f.permissions.length === 0}
      about={<>{like ? "A new key with the same permissions; after that, the old one can be revoked. " : ""}It may do at most what your key may: {mine.size} permissions.</>}
      onDone={() => {}}
      onSend={() => call<CreatedKey>(tenant, "/v1/keys", {
        method: "POST",
        body: {
          name: f.name, roles: f.roles.length ? f.roles : undefined, permissions: f.permissions.length ? f.permissions : undefined, scopes: like?.scopes, owner: f.owner || undefined,
          toolset: f.toolset || undefined, expires_at: expires, limits: Object.values(limits).some((v) => v !== undefined) ? limits : undefined,
        },
        headers: once(),
      }).then((k) => {
        if (!like) onClose();
        onMade(k);
      })}>
      <div className="pair">
        <Field label="Name" path="name" hint="What it is for">{(p) => <input {...p} value={f.name} required maxLength={200} autoFocus onChange={(e) => put({ name: e.target.value })} />}</Field>
        <Field label="Owner" path="owner" hint="Of a service account: a person or team">{(p) => <input {...p} value={f.owner} maxLength={200} onChange={(e) => put({ owner: e.target.value })} />}</Field>
      </div>
      <div className="pair">
        <Field label="Expires" path="expires_at">
          {(p) => <select {...p} value={f.expires} onChange={(e) => put({ expires: e.target.value })}>{expiries.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>}
        </Field>
        {f.expires === "at" && <Field label="At">{(p) => <input {...p} type="datetime-local" required value={f.at} onChange={(e) => put({ at: e.target.value })} />}</Field>}
      </div>
      <fieldset>
        <legend>Roles</legend>
        <div className="checks">
          {(known.data?.items ?? []).map((r) => {
            const ok = may(r.permissions);
            return (
              <label key={r.name} className="check" title={ok ? r.description : "It permits more than your key may do"}>
                <input type="checkbox" checked={f.roles.includes(r.name)} disabled={!ok} onChange={(e) => put({ roles: e.target.checked ? [...f.roles, r.name] : f.roles.filter((n) => n !== r.name) })} />
                <span>{r.name} <span className="muted">{ok ? r.description : "permits more than your key"}</span></span>
              </label>
            );
          })}
        </div>
      </fieldset>
      <Permissions tenant={tenant} chosen={f.permissions} onChange={(permissions) => put({ permissions })} legend="Permissions of its own" />
      <fieldset>
        <legend>What it may send</legend>
        <div className="pair">
          <Field label="Requests a second" path="limits/requests_per_second">{(p) => <input {...p} type="number" min={1} value={f.rate} onChange={(e) => put({ rate: e.target.value })} />}</Field>
          <Field label="At once" path="limits/burst">{(p) => <input {...p} type="number" min={1} value={f.burst} onChange={(e) => put({ burst: e.target.value })} />}</Field>
          <Field label="Bytes a minute" path="limits/bytes_per_minute">{(p) => <input {...p} type="number" min={1} value={f.bytes} onChange={(e) => put({ bytes: e.target.value })} />}</Field>
        </div>
      </fieldset>
      <Field label="Toolset" path="toolset" hint="Slug: the key then works for MCP clients at its address alone. Empty: a key of the API">
        {(p) => <input {...p} value={f.toolset} maxLength={32} onChange={(e) => put({ toolset: e.target.value })} />}
      </Field>
    </FormDialog>
  );
}

function Services({ tenant }: { tenant: string }) {
  const found = useQuery(keys(tenant));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of keys" retry={() => void found.refetch()} />;
  const rows = found.data.items.filter((k) => k.owner).sort((a, b) => (a.owner! < b.owner! ? -1 : 1));
  if (rows.length === 0) {
    return <Empty title="No key has an owner" command="toolcrib key create nightly --role operator --owner team-support@example.com">A key that a service uses has an owner: the person or team that answers for it.</Empty>;
  }
  return (
    <Rows label="Service accounts" rows={rows} keyOf={(k) => k.id} columns={[
      { name: "Key", show: (k) => <Link from="/t/$tenant/access" search={{ open: k.id, show: "all" }} className="row-link"><span className="slug">{k.name}</span><span className="muted line">{grants(k)}</span></Link> },
      { name: "Owner", show: (k) => k.owner },
      { name: "State", show: (k) => <span className="badges"><Status value={stateOf(k)} />{idle(k) && <Badge tone="warn">unused</Badge>}</span> },
      { name: "Last used", end: true, show: (k) => (k.last_used_at ? <Time at={k.last_used_at} /> : <span className="none">never</span>) },
      { name: "Expires", from: "medium", end: true, show: (k) => (k.expires_at ? <Time at={k.expires_at} /> : <span className="none">never</span>) },
    ]} />
  );
}

function People({ tenant }: { tenant: string }) {
  const search = useSearch({ from: "/t/$tenant/access" });
  const navigate = useNavigate({ from: "/t/$tenant/access" });
  const has = useMay(tenant);
  const found = useQuery(people(tenant));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of people" retry={() => void found.refetch()} />;
  if (found.data.items.length === 0) {
    return <Empty title="No person has come with a token yet">People sign in with tokens of an issuer that the server is set up for; see docs/identity.md.</Empty>;
  }
  const open = found.data.items.find((p) => p.subject === search.open);
  return (
    <>
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <Rows label="People" rows={found.data.items} keyOf={(p) => p.subject} current={open?.subject} columns={[
            { name: "Person", show: (p) => <Link from="/t/$tenant/access" search={(s) => ({ ...s, open: p.subject })} className="row-link" replace={!!open} resetScroll={false}><span className="slug">{p.subject}</span></Link> },
            { name: "Roles", show: (p) => (p.roles.length ? p.roles.join(", ") : <span className="none">none</span>) },
            { name: "First seen", from: "medium", end: true, show: (p) => <Time at={p.first_seen_at} /> },
            { name: "Last seen", end: true, show: (p) => <Time at={p.last_seen_at} /> },
          ]} />
        </div>
        {open && (
          <Drawer title={open.subject} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })}>
            <Facts of={[
              ["Roles", open.roles.length ? open.roles.join(", ") : "none"],
              ["First seen", <Time at={open.first_seen_at} />],
              ["Last seen", <Time at={open.last_seen_at} />],
            ]} />
            <Browsers tenant={tenant} subject={open.subject} mayEnd={has("keys.write")} />
            <p><Link to="/t/$tenant/audit" params={{ tenant }} search={{ actor: open.subject }}>What they changed</Link></p>
          </Drawer>
        )}
      </div>
      <p className="muted">Those who were not seen for 90 days may be missing. Roles are what the issuer's token says: they change there.</p>
    </>
  );
}
