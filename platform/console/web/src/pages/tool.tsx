import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { address } from "../api/client";
import { json, tool, toolForm, type Tool } from "../api/queries";
import { Described } from "../form/described";
import type { FormSpec } from "../form/spec";
import { ToolGraphLink, ToolGraphTab } from "../graph/tabs";
import { lazyPart } from "../load";
import { JsonView } from "../ui/json";
import { Page, tabOptions } from "../ui/page";
import { Back, Facts, Id, Status, Time } from "../ui/parts";
import { words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { Type } from "../ui/type";
import { Calls } from "./runs/calls";
import { Egress, ToolStatus } from "./tools";
import { Access } from "./tools/access";
import { Explain } from "./tools/explain";
import { ToolActions, Users } from "./tools/lifecycle";
import { Overrides } from "./tools/overrides";
import { Versions } from "./tools/versions";

const TestPanel = lazyPart(() => import("../form/test"));
const Sessions = lazyPart(() => import("./share/sessions"));

const tabs = [
  ["", "Definition"],
  ["test", "Test"],
  ["input", "Input"],
  ["versions", "Versions"],
  ["calls", "Calls"],
  ["users", "Used by"],
  ["explain", "Explain"],
  ["overrides", "Overrides"],
  ["access", "Access"],
] as const;

export function ToolPage() {
  const { tenant, tool: slug } = useParams({ from: "/t/$tenant/tools/$tool" });
  const { tab = "" } = useSearch({ from: "/t/$tenant/tools/$tool" });
  const found = useQuery(tool(tenant, slug));
  const t = found.data;
  const [cli, api] = {
    "": [words("toolcrib", "tool", "show", slug), address(`/v1/tools/${encodeURIComponent(slug)}`)],
    test: [words("toolcrib", "tool", "test", slug), address(`/v1/tools/${encodeURIComponent(slug)}/test`)],
    input: [words("toolcrib", "tool", "fields", slug), address(`/v1/tools/${encodeURIComponent(slug)}/fields`)],
    versions: [words("toolcrib", "tool", "versions", slug), address(`/v1/tools/${encodeURIComponent(slug)}/versions`)],
    calls: [words("toolcrib", "invocations", "list", "--tool", slug), address("/v1/invocations", { tool: slug })],
    graph: [words("toolcrib", "graph", "show", slug), address(`/v1/tools/${encodeURIComponent(slug)}/graph`)],
    explain: [words("toolcrib", "tool", "explain", slug), address(`/v1/tools/${encodeURIComponent(slug)}/explain`)],
    users: [words("toolcrib", "tool", "users", slug), address(`/v1/tools/${encodeURIComponent(slug)}/users`)],
    overrides: [words("toolcrib", "tool", "override", "show", slug), address(`/v1/tools/${encodeURIComponent(slug)}/override`)],
    sessions: [words("toolcrib", "tool-session", "list", "--tool", slug), address("/v1/tool-sessions", { tool: slug })],
    access: [words("toolcrib", "tool", "list", "--assignments"), address("/v1/assignments", { tool: slug })],
  }[tab] ?? ["", ""];
  return (
    <Page title={slug} back={<Back to="/t/$tenant/tools" params={{ tenant }}>Tools</Back>} cli={cli} api={api}
      heading={<><span className="slug">{slug}</span>{t && <ToolStatus of={t} />}</>}
      actions={t && <ToolActions tenant={tenant} of={t} />}
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
            {found.data.interaction.collaborative && (
              <Link from="/t/$tenant/tools/$tool" search={{ tab: "sessions" }} replace resetScroll={false} activeOptions={tabOptions}>Sessions</Link>
            )}
            <ToolGraphLink of={found.data} />
          </nav>
          {tab === "graph" && <ToolGraphTab tenant={tenant} of={found.data} />}
          {tab === "" && <Definition of={found.data} />}
          {tab === "test" && (
            <Suspense fallback={<Loading />}>
              <TestPanel tenant={tenant} slug={slug} />
            </Suspense>
          )}
          {tab === "sessions" && (
            <Suspense fallback={<Loading />}>
              <Sessions tenant={tenant} of={found.data} />
            </Suspense>
          )}
          {tab === "input" && <Input tenant={tenant} slug={slug} />}
          {tab === "versions" && <Versions tenant={tenant} of={found.data} />}
          {tab === "users" && <Users tenant={tenant} of={found.data} />}
          {tab === "explain" && <Explain tenant={tenant} of={found.data} />}
          {tab === "overrides" && <Overrides tenant={tenant} of={found.data} />}
          {tab === "access" && <Access tenant={tenant} of={found.data} />}
          {tab === "calls" && <Calls tenant={tenant} tool={slug} />}
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
          ["Type", <Type of={t.implementation_type} />],
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
          <p className="muted">What a person fills in is what an agent would send.</p>
          <Described spec={form} />
        </>
      )}
    </section>
  );
}
