import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { servers } from "../../api/inbox";
import { at } from "../../api/queries";
import { toolset, type Toolset } from "../../api/toolsets";
import { say } from "../../ui/live";
import { faultAt, faultsOf, SelectField, TextField } from "../agents/fields";
import { slugOf, ToolPicker } from "../agents/picker";

const from = "/t/$tenant/toolsets/$toolset";
const refOf = (t: { tool: string; version?: string }): string => (t.version ? `${t.tool}@${t.version}` : t.tool);

// Members edits what a toolset has: tools, each with a range of versions, and attached servers with all of theirs.
export function Members({ tenant, of: s, writes }: { tenant: string; of: Toolset; writes: boolean }) {
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const client = useQueryClient();
  const attached = useQuery(servers(tenant, { limit: 200 }));
  const [refs, setRefs] = useState<string[]>(() => s.tools.map(refOf));
  const [f, setF] = useState({ name: s.name, instructions: s.instructions ?? "", catalog: s.catalog as string, status: s.status as string, servers: s.servers });
  const save = useMutation({
    mutationFn: () => call<Toolset>(tenant, `/v1/toolsets/${at(s.slug)}`, {
      method: "PUT",
      body: {
        slug: s.slug, ...f, revision: s.revision,
        tools: refs.map((r) => ({ tool: slugOf(r), ...(r.includes("@") && { version: r.slice(r.indexOf("@") + 1) }) })),
      },
    }),
    onSuccess: (saved) => {
      say("Saved.");
      client.setQueryData(toolset(tenant, s.slug).queryKey, saved);
      void client.invalidateQueries({ queryKey: [tenant, "toolsets"] });
    },
  });
  const faults = faultsOf(save.error);
  const known = [...new Set([...(attached.data?.items.map((m) => m.slug) ?? []), ...f.servers])];
  return (
    <form className="toolset-form" onSubmit={(e) => {
      e.preventDefault();
      save.mutate();
    }}>
      {!writes && <p className="notice">Changing it takes the permission <code>toolsets.write</code>.</p>}
      <div className="pair">
        <TextField label="Name" value={f.name} onChange={(name) => setF({ ...f, name })} fault={faultAt(faults, "/name")} readOnly={!writes} />
        <SelectField label="Status" value={f.status} options={[["active", "active"], ["disabled", "disabled: for clients it does not exist"]]} onChange={(status) => setF({ ...f, status })} readOnly={!writes} />
        <SelectField label="Tools are listed" value={f.catalog} options={[["auto", "as the client can take it"], ["all", "all"], ["search", "by search"]]} onChange={(catalog) => setF({ ...f, catalog })} readOnly={!writes} />
      </div>
      <TextField label="Instructions" hint="What clients may show their models, before those of the server" rows={3} value={f.instructions} onChange={(instructions) => setF({ ...f, instructions })} fault={faultAt(faults, "/instructions")} readOnly={!writes} />
      {known.length > 0 && (
        <fieldset>
          <legend>Attached servers, with all tools that are or will be imported from them</legend>
          <p className="actions">
            {known.map((m) => (
              <label key={m} className="check">
                <input type="checkbox" checked={f.servers.includes(m)} disabled={!writes}
                  onChange={(e) => setF({ ...f, servers: e.target.checked ? [...f.servers, m] : f.servers.filter((n) => n !== m) })} /> {m}
              </label>
            ))}
          </p>
        </fieldset>
      )}
      <ToolPicker tenant={tenant} value={refs} onChange={setRefs} readOnly={!writes} none="It offers no tool of its own."
        faults={new Map(faults.flatMap((x) => {
          const place = /^\/tools\/(\d+)/.exec(x.path ?? "");
          return place ? [[Number(place[1]), x.detail]] : [];
        }))}
        filters={{ search: search.search, bucket: search.bucket, type: search.type, shown: search.shown }}
        onFilters={(change) => void navigate({ search: (x) => ({ ...x, ...change }), replace: true, resetScroll: false })} />
      {save.error && <p className="error" role="alert">{save.error.message || "It could not be saved."}</p>}
      {writes && <p className="actions"><button type="submit" className="button primary" disabled={save.isPending}>Save</button></p>}
    </form>
  );
}
