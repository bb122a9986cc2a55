import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { toolsets, type Toolset } from "../../api/toolsets";
import { Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Status, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, done, Field, FormDialog, once, useMay } from "../govern/parts";

// Toolsets are choices of tools that MCP clients are offered under addresses of their own.
export function Toolsets() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/toolsets" });
  const navigate = useNavigate({ from: "/t/$tenant/toolsets" });
  const found = useQuery(toolsets(tenant, { cursor: search.cursor, limit: 50 }));
  const has = useMay(tenant);
  const client = useQueryClient();
  return (
    <Page title="Toolsets" about="Virtual MCP servers: tools of your choice under an address of their own, with keys that work there alone. A toolset narrows, and permits nothing."
      actions={<Allowed may={has} permission="toolsets.write"><Link from="/t/$tenant/toolsets" search={{ new: "1" }} className="button primary">New toolset</Link></Allowed>}
      cli="toolcrib toolset list" api={address("/v1/toolsets")}>
      {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of toolsets" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
        <Empty title="There is no toolset yet" command="toolcrib toolset create support --tool getOrder">MCP clients are offered all tools that their key may call, at <code>/mcp</code>.</Empty>
      ) : (
        <>
          <Rows label="Toolsets" rows={found.data.items} keyOf={(s) => s.id} columns={[
            {
              name: "Toolset", show: (s) => (
                <Link to="/t/$tenant/toolsets/$toolset" params={{ tenant, toolset: s.slug }} className="row-link">
                  <span className="slug">{s.slug}</span>
                  <span className="muted line">{s.name !== s.slug && `${s.name} · `}{s.path}</span>
                </Link>
              ),
            },
            { name: "Status", show: (s) => <Status value={s.status} /> },
            { name: "Tools", end: true, show: (s) => String(s.tools.length) },
            { name: "Servers", from: "medium", show: (s) => s.servers.join(", ") || <span className="none">–</span> },
            { name: "Changed", from: "medium", end: true, show: (s) => <Time at={s.updated_at} /> },
          ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: {} })} onNext={(cursor) => void navigate({ search: { cursor } })} />
        </>
      )}
      {search.new && has("toolsets.write") && (
        <NewToolset tenant={tenant} onClose={() => void navigate({ search: {} })} onDone={(s) => {
          void client.invalidateQueries({ queryKey: [tenant, "toolsets"] });
          void navigate({ to: "/t/$tenant/toolsets/$toolset", params: { tenant, toolset: s.slug }, search: { tab: "tools" } });
        }} />
      )}
    </Page>
  );
}

function NewToolset({ tenant, onClose, onDone }: { tenant: string; onClose: () => void; onDone: (s: Toolset) => void }) {
  const [f, setF] = useState({ slug: "", name: "" });
  return (
    <FormDialog title="New toolset" about="It has no tools at first." action="Create" onClose={onClose} onDone={() => {}}
      onSend={() => call<Toolset>(tenant, "/v1/toolsets", { method: "POST", headers: once(), body: { slug: f.slug, name: f.name || undefined } }).then(done("Created.")).then(onDone)}>
      <Field label="Slug" path="slug" hint="Of its address, for good: small letters, digits and hyphens">
        {(p) => <input {...p} className="mono" required maxLength={32} value={f.slug} autoFocus autoComplete="off" spellCheck={false} onChange={(e) => setF({ ...f, slug: e.target.value })} />}
      </Field>
      <Field label="Name" path="name">{(p) => <input {...p} maxLength={200} value={f.name} onChange={(e) => setF({ ...f, name: e.target.value })} />}</Field>
    </FormDialog>
  );
}
