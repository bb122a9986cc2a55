import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../api/client";
import { explain, json, tool, toolForm, toolVersions, type Tool } from "../api/queries";
import { Form, type FormSpec } from "../ui/form";
import { JsonView } from "../ui/json";
import { Rows } from "../ui/list";
import { Page, tabOptions } from "../ui/page";
import { Back, Badge, Copy, Facts, Id, Status, Text, Time } from "../ui/parts";
import { words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { Egress, ToolStatus } from "./tools";

const tabs = [["", "Definition"], ["input", "Input"], ["versions", "Versions"], ["explain", "Explain"]] as const;

export function ToolPage() {
  const { tenant, tool: slug } = useParams({ from: "/t/$tenant/tools/$tool" });
  const { tab = "" } = useSearch({ from: "/t/$tenant/tools/$tool" });
  const found = useQuery(tool(tenant, slug));
  const t = found.data;
  const [cli, api] = {
    "": [words("toolcrib", "tool", "show", slug), address(`/v1/tools/${encodeURIComponent(slug)}`)],
    input: [words("toolcrib", "tool", "fields", slug), address(`/v1/tools/${encodeURIComponent(slug)}/fields`)],
    versions: [words("toolcrib", "tool", "versions", slug), address(`/v1/tools/${encodeURIComponent(slug)}/versions`)],
    explain: [words("toolcrib", "tool", "explain", slug), address(`/v1/tools/${encodeURIComponent(slug)}/explain`)],
  }[tab] ?? ["", ""];
  return (
    <Page title={slug} back={<Back to="/t/$tenant/tools" params={{ tenant }}>Tools</Back>} cli={cli} api={api}
      heading={<><span className="slug">{slug}</span>{t && <ToolStatus of={t} />}</>}
      about={t && <>{t.name !== slug && <strong>{t.name}. </strong>}{t.description}</>}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The tool" />
      ) : (
        <>
          <nav className="tabs" aria-label="Parts of the tool">
            {tabs.map(([id, name]) => (
              <Link key={id} from="/t/$tenant/tools/$tool" search={(s) => ({ ...s, tab: id || undefined })} replace resetScroll={false}
                activeOptions={tabOptions}>
                {name}
              </Link>
            ))}
          </nav>
          {tab === "" && <Definition of={found.data} />}
          {tab === "input" && <Input tenant={tenant} slug={slug} />}
          {tab === "versions" && <Versions tenant={tenant} slug={slug} />}
          {tab === "explain" && <Explain tenant={tenant} slug={slug} />}
        </>
      )}
    </Page>
  );
}

function Definition({ of: t }: { of: Tool }) {
  return (
    <div className="columns">
      <section>
        <h2>Policy</h2>
        <Facts of={[
          ["Reaches out", <Egress of={t} />],
          ["Risk", <Status value={t.risk} />],
          ["Approval", t.requires_approval ? "each call" : "as its policy says"],
          ["Permission policy", t.permission_policy],
          ["Shown to people", t.visible ? "yes" : "no"],
        ]} />
        <h2>Identity</h2>
        <Facts of={[
          ["Type", <Badge>{t.implementation_type}</Badge>],
          ["Bucket", t.tool_type.replaceAll("_", " ")],
          ["Draft", t.version],
          ["Revision", String(t.revision)],
          ["Category", t.category],
          ["Belongs to", t.scope === "global" ? "the platform" : "this tenant"],
          ["Built-in", t.builtin_key],
          ["Published", <Time at={t.published_at} />],
          ["Changed", <Time at={t.updated_at} />],
          ["Id", <Id value={t.id} />],
        ]} />
      </section>
      <section>
        <h2>Input schema</h2>
        <JsonView value={json(t.input_schema)} label="Input schema" />
        {t.output_schema !== undefined && (
          <>
            <h2>Output schema</h2>
            <JsonView value={json(t.output_schema)} label="Output schema" />
          </>
        )}
        {t.implementation_config !== undefined && (
          <>
            <h2>Configuration</h2>
            <JsonView value={json(t.implementation_config)} label="Configuration" />
          </>
        )}
        <h2>Execution</h2>
        <JsonView value={json(t.execution)} label="Execution" />
      </section>
    </div>
  );
}

function Input({ tenant, slug }: { tenant: string; slug: string }) {
  const found = useQuery(toolForm(tenant, slug));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The form" />;
  const form = found.data.input as FormSpec;
  return (
    <section className="narrow">
      {found.data.confirm.required && (
        <p className="notice">A call needs an approval: {found.data.confirm.reasons.join("; ")}.</p>
      )}
      {form.fields.length === 0 ? (
        <Empty title="The tool takes no input" command={words("toolcrib", "tool", "call", slug)} />
      ) : (
        <>
          <p className="muted">What a person fills in is what an agent would send. Calls from here come with the test panel.</p>
          <Form spec={form} />
        </>
      )}
    </section>
  );
}

function Versions({ tenant, slug }: { tenant: string; slug: string }) {
  const found = useQuery(toolVersions(tenant, slug));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of versions" />;
  if (found.data.items.length === 0) {
    return <Empty title="No version was made yet" command={words("toolcrib", "tool", "publish", slug)}>A draft never runs in production.</Empty>;
  }
  return (
    <Rows label="Versions" rows={found.data.items} keyOf={(v) => v.id}
      columns={[
        { name: "Version", show: (v) => <strong className="version">{v.version}</strong> },
        { name: "State", show: (v) => <Status value={v.published ? "published" : "draft"} /> },
        { name: "Digest", from: "medium", show: (v) => <span className="id"><code title={v.digest}>{v.digest.slice(0, 12)}</code><Copy text={v.digest} label="Copy the digest" /></span> },
        { name: "By", from: "wide", show: (v) => (v.created_by ? <Id value={v.created_by} /> : <span className="none">–</span>) },
        { name: "Made", end: true, show: (v) => <Time at={v.created_at} /> },
      ]} />
  );
}

function Explain({ tenant, slug }: { tenant: string; slug: string }) {
  const search = useSearch({ from: "/t/$tenant/tools/$tool" });
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const [mode, setMode] = useState("production");
  const found = useQuery(explain(tenant, slug, { mode, version: search.version }));
  return (
    <section className="narrow">
      <div className="filters">
        <label className="choice set">
          <span>Mode</span>
          <select value={mode} onChange={(e) => setMode(e.target.value)}>
            <option>production</option>
            <option>debug</option>
          </select>
        </label>
        <form className="search" onSubmit={(e) => {
          e.preventDefault();
          const version = new FormData(e.currentTarget).get("version") as string;
          void navigate({ search: (s) => ({ ...s, version: version || undefined }), replace: true });
        }}>
          <input name="version" aria-label="Version or constraint" placeholder="Version or constraint, such as ^1.2" defaultValue={search.version ?? ""} />
        </form>
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The explanation" />
      ) : (
        <>
          <p className={found.data.code ? "notice bad" : "notice good"}>
            {found.data.code ? <>Nothing would run: {found.data.detail}</> : <>{found.data.slug}@{found.data.version} would run{found.data.draft ? ", the draft" : ""}.</>}
          </p>
          <ol className="steps">
            {found.data.steps.map((s) => (
              <li key={s.rule} className={s.passed ? "good" : "bad"}>
                <span className={`status ${s.passed ? "good" : "bad"}`}>{s.passed ? "passed" : "refused"}</span>
                <strong>{s.rule.replaceAll("_", " ")}</strong>
                <Text>{s.saw}</Text>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
