import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { keys, meta, roles, type Role } from "../../api/govern";
import { Drawer, Rows } from "../../ui/list";
import { Badge, Facts, Text, Time } from "../../ui/parts";
import { Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, once, Subject, tagged, useMay } from "./parts";
import { Permissions } from "./permissions";

export function Roles({ tenant }: { tenant: string }) {
  const search = useSearch({ from: "/t/$tenant/access" });
  const navigate = useNavigate({ from: "/t/$tenant/access" });
  const found = useQuery(roles(tenant));
  const has = useMay(tenant);
  const client = useQueryClient();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "roles"] });
  const [edits, setEdits] = useState<{ role: Role; etag: string }>();
  const [removes, setRemoves] = useState<Role>();
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v }), resetScroll: false });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of roles" retry={() => void found.refetch()} />;
  const shown = found.data.items.find((r) => r.name === search.open);
  const asks = (search.open === "new" && !shown) || edits;
  return (
    <>
      <div className="filters">
        <Allowed may={has} permission="roles.write"><button type="button" className="button primary" onClick={() => open("new")}>New role</button></Allowed>
      </div>
      <div className={shown ? "split open" : "split"}>
        <div className="split-list">
          <Rows label="Roles" rows={found.data.items} keyOf={(r) => r.name} current={search.open} columns={[
            {
              name: "Role", show: (r) => (
                <Link from="/t/$tenant/access" search={(s) => ({ ...s, open: r.name })} className="row-link" replace={!!search.open} resetScroll={false}>
                  <span className="slug">{r.name}</span>
                  <span className="muted line">{r.description}</span>
                </Link>
              ),
            },
            { name: "Kind", show: (r) => (r.builtin ? <Badge>built-in</Badge> : <Badge tone="good">of the tenant</Badge>) },
            { name: "Permissions", end: true, show: (r) => (r.permissions.includes("*") ? "all" : r.permissions.length) },
            { name: "Changed", from: "wide", end: true, show: (r) => <Time at={r.changed_at} /> },
          ]} />
          <Matrix tenant={tenant} roles={found.data.items} />
        </div>
        {shown && (
          <Details tenant={tenant} of={shown} mayWrite={has("roles.write")} onClose={() => open(undefined)} onRemove={() => setRemoves(shown)}
            onEdit={() => void tagged<Role>(tenant, `/v1/roles/${encodeURIComponent(shown.name)}`).then((r) => setEdits({ role: r.body, etag: r.etag }))} />
        )}
      </div>
      {asks && has("roles.write") && (
        <RoleForm tenant={tenant} of={edits} onClose={() => (edits ? setEdits(undefined) : open(undefined))} onDone={(name) => {
          void changed();
          setEdits(undefined);
          open(name);
        }} />
      )}
      {removes && (
        <Confirm title={`Delete the role ${removes.name}?`} action="Delete" onClose={() => setRemoves(undefined)}
          onSend={() => call(tenant, `/v1/roles/${encodeURIComponent(removes.name)}`, { method: "DELETE" }).then(done("Deleted.")).then(changed).then(() => open(undefined))}>
          <p>It is refused while a key that works has the role.</p>
        </Confirm>
      )}
    </>
  );
}

function Details({ tenant, of: r, mayWrite, onEdit, onRemove, onClose }: { tenant: string; of: Role; mayWrite: boolean; onEdit: () => void; onRemove: () => void; onClose: () => void }) {
  const known = useQuery(meta(tenant));
  const has = useMay(tenant);
  const using = useQuery({ ...keys(tenant), enabled: has("keys.read") });
  const meaning = new Map(known.data?.permissions.map((p) => [p.name, p.meaning]));
  const all = r.permissions.includes("*");
  const users = (using.data?.items ?? []).filter((k) => k.roles?.includes(r.name) && !k.revoked_at);
  return (
    <Drawer title={r.name} onClose={onClose}>
      <p className="badges">{r.builtin ? <Badge>built-in: the same in every tenant</Badge> : <Badge tone="good">of the tenant</Badge>}</p>
      {r.description && <Text>{r.description}</Text>}
      <Facts of={[
        ["Keys with it", using.data && String(users.length)],
        ["Changed", r.changed_at && <><Time at={r.changed_at} /> by <Subject of={r.changed_by} /></>],
      ]} />
      <h3>Permits</h3>
      {all ? <p>Everything, also what is added later.</p> : (
        <ul className="permits">
          {r.permissions.map((p) => <li key={p}><code>{p}</code> <span className="muted">{meaning.get(p) ?? "asked for by tools"}</span></li>)}
        </ul>
      )}
      {!r.builtin && mayWrite && (
        <p className="actions">
          <button type="button" className="button" onClick={onEdit}>Edit…</button>
          <button type="button" className="button danger" onClick={onRemove}>Delete…</button>
        </p>
      )}
    </Drawer>
  );
}

// Matrix is which role permits what, all at once.
function Matrix({ tenant, roles: all }: { tenant: string; roles: Role[] }) {
  const known = useQuery(meta(tenant));
  return (
    <details className="twin matrix">
      <summary>Which role permits what</summary>
      <div className="twin-box" tabIndex={0} role="region" aria-label="Permissions of roles">
        <table className="small">
          <caption className="unseen">Permissions of roles</caption>
          <thead><tr><th scope="col">Permission</th>{all.map((r) => <th key={r.name} scope="col">{r.name}</th>)}</tr></thead>
          <tbody>
            {(known.data?.permissions ?? []).map((p) => (
              <tr key={p.name}>
                <th scope="row" title={p.meaning}><code>{p.name}</code></th>
                {all.map((r) => {
                  const yes = r.permissions.includes("*") || r.permissions.includes(p.name);
                  return <td key={r.name}>{yes ? <span className="good-text">yes</span> : <span className="none">–</span>}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function RoleForm({ tenant, of, onClose, onDone }: { tenant: string; of: { role: Role; etag: string } | undefined; onClose: () => void; onDone: (name: string) => void }) {
  const r = of?.role;
  const [name, setName] = useState(r?.name ?? "");
  const [description, setDescription] = useState(r?.description ?? "");
  const [permissions, setPermissions] = useState(r?.permissions ?? []);
  const path = `/v1/roles/${encodeURIComponent(name)}`;
  return (
    <FormDialog wide title={r ? `Role ${r.name}` : "New role"} action={r ? "Save" : "Create"} onClose={onClose} onDone={() => onDone(name)} disabled={permissions.length === 0}
      about={r ? "Keys that have it may do what it permits from their next request on." : "It permits nothing that your key may not."}
      onSend={() => (r
        ? call(tenant, path, { method: "PUT", headers: of!.etag ? { "If-Match": of!.etag } : {}, body: { description, permissions } })
        : call(tenant, "/v1/roles", { method: "POST", headers: once(), body: { name, description: description || undefined, permissions } })
      ).then(done("Saved."))}>
      <div className="pair">
        <Field label="Name" path="name" hint="Small letters, digits, - and _">
          {(p) => <input {...p} value={name} readOnly={!!r} required pattern="[a-z][a-z0-9_\-]*" maxLength={63} autoFocus={!r} onChange={(e) => setName(e.target.value)} />}
        </Field>
        <Field label="What it is for" path="description">{(p) => <input {...p} value={description} maxLength={500} onChange={(e) => setDescription(e.target.value)} />}</Field>
      </div>
      <Permissions tenant={tenant} chosen={permissions} onChange={setPermissions} legend="Permits" />
    </FormDialog>
  );
}
