import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { config } from "../../config";
import { keys, type CreatedKey } from "../../api/govern";
import { at } from "../../api/queries";
import { snippet, toolset, type Toolset } from "../../api/toolsets";
import { Buckets } from "../../ui/filters";
import { Rows } from "../../ui/list";
import { Page, tabOptions } from "../../ui/page";
import { Back, Copy, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, once, Secret, Subject, useMay } from "../govern/parts";
import { Members } from "./members";

const from = "/t/$tenant/toolsets/$toolset";
const tabs = [["", "Connect"], ["tools", "Tools"], ["keys", "Keys"]] as const;

// ToolsetPage is a toolset: how clients connect to it, what it has, and the keys that work there alone.
export function ToolsetPage() {
  const { tenant, toolset: slug } = useParams({ from });
  const { tab = "" } = useSearch({ from });
  const navigate = useNavigate();
  const client = useQueryClient();
  const found = useQuery(toolset(tenant, slug));
  const has = useMay(tenant);
  const [deletes, setDeletes] = useState(false);
  const s = found.data;
  return (
    <Page title={slug} heading={<><span className="slug">{slug}</span>{s && <Status value={s.status} />}</>} about={s && s.name !== s.slug ? s.name : undefined}
      back={<Back to="/t/$tenant/toolsets" params={{ tenant }}>Toolsets</Back>}
      actions={s && has("toolsets.write") && <button type="button" className="button danger" onClick={() => setDeletes(true)}>Delete…</button>}
      cli={tab === "keys" ? words("toolcrib", "key", "create", slug, "--toolset", slug) : tab === "tools" ? words("toolcrib", "toolset", "show", slug) : words("toolcrib", "mcp", "config", "claude", "--toolset", slug)}
      api={tab === "keys" ? address("/v1/keys") : address(`/v1/toolsets/${at(slug)}`)}>
      {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The toolset" retry={() => void found.refetch()} /> : (
        <>
          <nav className="tabs" aria-label="Parts of the toolset">
            {tabs.map(([t, name]) => (
              <Link key={t} from={from} search={{ tab: t || undefined }} replace resetScroll={false} activeOptions={tabOptions}>{name}</Link>
            ))}
          </nav>
          {tab === "" && <Connect of={found.data} />}
          {tab === "tools" && <Members key={String(found.data.revision)} tenant={tenant} of={found.data} writes={has("toolsets.write")} />}
          {tab === "keys" && <Keys tenant={tenant} slug={slug} />}
        </>
      )}
      {deletes && (
        <Confirm title={`Delete the toolset ${slug}?`} action="Delete" onClose={() => setDeletes(false)}
          onSend={() => call(tenant, `/v1/toolsets/${at(slug)}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
            void client.invalidateQueries({ queryKey: [tenant, "toolsets"], exact: false });
            void navigate({ to: "/t/$tenant/toolsets", params: { tenant }, search: {} });
          })}>
          <p>Its address opens nothing from then on, and its keys are revoked. The tools stay as they are.</p>
        </Confirm>
      )}
    </Page>
  );
}

const clients = [["claude", "Claude"], ["cursor", "Cursor"], ["vscode", "VS Code"]] as const;
const files: Record<string, string> = { claude: ".mcp.json of the project", cursor: ".cursor/mcp.json", vscode: ".vscode/mcp.json" };

function Connect({ of: s }: { of: Toolset }) {
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const chosen = clients.find(([c]) => c === search.client)?.[0] ?? "claude";
  const url = location.origin + config.prefix + s.path;
  const text = snippet(chosen, url, s.slug);
  return (
    <>
      <section className="panel" aria-labelledby="its-address">
        <h2 id="its-address">Address</h2>
        <p className="command"><code>{url}</code><Copy text={url} label="Copy the address" /></p>
        {s.status === "disabled" && <p className="notice">For clients, a disabled toolset does not exist.</p>}
        {s.instructions && <Text>{s.instructions}</Text>}
        <Facts of={[
          ["Tools", String(s.tools.length)], ["Servers", s.servers.join(", ")], ["Listed", { auto: "as the client can take it", all: "all", search: "by search" }[s.catalog]],
          ["Made", <Time at={s.created_at} />], ["By", s.created_by && <Subject of={s.created_by} />], ["Changed", <Time at={s.updated_at} />],
          ["Revision", String(s.revision)], ["Id", <Id value={s.id} />],
        ]} />
      </section>
      <section className="panel" aria-labelledby="its-clients">
        <h2 id="its-clients">Connect a client</h2>
        <Buckets label="Client" value={chosen} options={clients} onChange={(client) => void navigate({ search: (x) => ({ ...x, client }), replace: true, resetScroll: false })} />
        <p className="muted">For <code>{files[chosen]}</code>. The key is no part of it: {chosen === "vscode" ? "the client asks for it." : <>the client reads it from the variable <code>TOOLCRIB_KEY</code>.</>} A key that works here alone is made under Keys.</p>
        <div className="snippet">
          <pre className="o-code" tabIndex={0} aria-label={`Configuration of ${clients.find(([c]) => c === chosen)![1]}`}>{text}</pre>
          <Copy text={text} label="Copy the configuration" />
        </div>
      </section>
    </>
  );
}

function Keys({ tenant, slug }: { tenant: string; slug: string }) {
  const found = useQuery(keys(tenant));
  const has = useMay(tenant);
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [made, setMade] = useState<CreatedKey>();
  const [revokes, setRevokes] = useState<{ id: string; name: string }>();
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of keys" retry={() => void found.refetch()} />;
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "keys"] });
  const rows = found.data.items.filter((k) => k.toolset === slug && !k.revoked_at).reverse();
  return (
    <>
      <div className="filters">
        <Allowed may={has} permission="keys.write"><button type="button" className="button primary" onClick={() => setAsks(true)}>New key…</button></Allowed>
      </div>
      {rows.length === 0 ? (
        <Empty title="No key works here alone" command={words("toolcrib", "key", "create", slug, "--toolset", slug)}>A key of the API may use every toolset of its tenant.</Empty>
      ) : (
        <Rows label="Keys of the toolset" rows={rows} keyOf={(k) => k.id} columns={[
          { name: "Key", show: (k) => <Link to="/t/$tenant/access" params={{ tenant }} search={{ open: k.id }} className="row-link"><span className="slug">{k.name}</span><span className="muted line">{[...(k.roles ?? []), ...k.permissions].join(", ")}</span></Link> },
          { name: "Last used", end: true, show: (k) => (k.last_used_at ? <Time at={k.last_used_at} /> : <span className="none">never</span>) },
          { name: "Expires", from: "medium", end: true, show: (k) => (k.expires_at ? <Time at={k.expires_at} /> : <span className="none">never</span>) },
          { name: "End it", end: true, show: (k) => has("keys.write") && <button type="button" className="button" aria-label={`Revoke ${k.name}…`} onClick={() => setRevokes(k)}>Revoke…</button> },
        ]} />
      )}
      {asks && <NewKey tenant={tenant} slug={slug} onClose={() => setAsks(false)} onMade={(k) => {
        setAsks(false);
        setMade(k);
        void changed();
      }} />}
      {made && (
        <Secret title={`The key ${made.name}`} secret={made.secret} onClose={() => setMade(undefined)}>
          <p>Copy its secret now. It is shown this once, and kept as a hash alone.</p>
        </Secret>
      )}
      {revokes && (
        <Confirm title={`Revoke the key ${revokes.name}?`} action="Revoke" onClose={() => setRevokes(undefined)}
          onSend={() => call(tenant, `/v1/keys/${at(revokes.id)}/revoke`, { method: "POST" }).then(done("Revoked.")).then(changed)}>
          <p>It works no more, at once and for good.</p>
        </Confirm>
      )}
    </>
  );
}

function NewKey({ tenant, slug, onClose, onMade }: { tenant: string; slug: string; onClose: () => void; onMade: (k: CreatedKey) => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  return (
    <FormDialog title="New key" about={<>For MCP clients at the address of {slug} alone. It lists tools and calls them: <code>tools.read</code> and <code>runs.write</code>.</>} action="Create the key"
      onClose={onClose} onDone={() => {}}
      onSend={() => call<CreatedKey>(tenant, "/v1/keys", {
        method: "POST", headers: once(),
        body: { name, toolset: slug, permissions: ["tools.read", "runs.write"], expires_at: days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined },
      }).then(onMade)}>
      <Field label="Name" path="name" hint="What it is for: one for each client">{(p) => <input {...p} required maxLength={200} value={name} autoFocus onChange={(e) => setName(e.target.value)} />}</Field>
      <Field label="Expires" path="expires_at">
        {(p) => (
          <select {...p} value={days} onChange={(e) => setDays(e.target.value)}>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
            <option value="">never</option>
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
