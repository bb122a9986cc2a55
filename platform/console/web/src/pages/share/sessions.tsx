import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client";
import { toolForm, type Tool } from "../../api/queries";
import { post, toolSessions, type ToolSession } from "../../api/share";
import { InputForm } from "../../form";
import type { Json } from "../../api/json";
import type { FormSpec } from "../../form/spec";
import { Buckets } from "../../ui/filters";
import { Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Badge, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { once, useMay } from "../govern/parts";
import { refusedAt } from "./refused";

const from = "/t/$tenant/tools/$tool";
const states = [["", "All"], ["active", "Active"], ["completed", "Completed"], ["cancelled", "Cancelled"]] as const;

// Sessions are those of a tool that several people submit to, and the launcher of one.
export default function Sessions({ tenant, of: t }: { tenant: string; of: Tool }) {
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const may = useMay(tenant);
  const found = useQuery(toolSessions(tenant, { tool: t.slug, status: search.status, cursor: search.cursor, limit: 50 }));
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true, resetScroll: false });
  return (
    <>
      <div className="filters">
        <Buckets label="Status" value={search.status ?? ""} options={states} onChange={(v) => set({ status: v || undefined })} />
        {!search.launch && may("runs.write") && (
          <button type="button" className="button primary" disabled={t.status !== "published"} onClick={() => set({ launch: "1" })}>Start a session…</button>
        )}
      </div>
      {t.status !== "published" && <p className="muted">A session calls a published version: publish the tool to start one.</p>}
      {!may("runs.write") && <p className="muted">Starting a session takes the permission <code>runs.write</code>.</p>}
      {search.launch && may("runs.write") && <Launcher tenant={tenant} slug={t.slug} onClose={() => set({ launch: undefined })} />}
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of sessions" />
      ) : found.data.items.length === 0 ? (
        <Empty title={search.status ? "No session is in this state" : "There is no session yet"} command={words("toolcrib", "tool-session", "create", t.slug)}>
          In a session several people submit to one version of the tool, and the results are joined.
        </Empty>
      ) : (
        <>
          <Rows label="Sessions" rows={found.data.items} keyOf={(s) => s.id}
            columns={[
              {
                name: "Title",
                show: (s) => (
                  <Link to="/t/$tenant/sessions/$session" params={{ tenant, session: s.id }} className="row-link">
                    <strong>{s.title}</strong>
                    <span className="muted line">{s.tool}@{s.version}</span>
                  </Link>
                ),
              },
              { name: "Status", show: (s) => <Status value={s.status} /> },
              { name: "Submissions", end: true, show: (s) => String(s.submissions) },
              { name: "Link", from: "medium", show: (s) => (s.linked ? <Badge tone="good">linked</Badge> : <span className="none">–</span>) },
              { name: "Started", from: "medium", end: true, show: (s) => <Time at={s.created_at} /> },
            ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => set({})} onNext={(cursor) => set({ cursor })} />
        </>
      )}
    </>
  );
}

// Launcher starts a session. What is filled in of the tool's input is the same for each submission.
function Launcher({ tenant, slug, onClose }: { tenant: string; slug: string; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useQuery(toolForm(tenant, slug));
  const [title, setTitle] = useState("");
  const [entities, setEntities] = useState("");
  const [fixed, setFixed] = useState<string[]>([]);
  const [error, setError] = useState<unknown>();
  const [sending, setSending] = useState(false);
  const [key] = useState(once);
  const spec = form.data?.input as FormSpec | undefined;
  const start = async (config: Json) => {
    setSending(true);
    setError(undefined);
    try {
      const made = await post<ToolSession>(tenant, "/v1/tool-sessions", {
        tool: slug, ...(title && { title }), ...(entities.trim() && { entity_ids: entities.trim().split(/\s+/) }), ...(fixed.length > 0 && { config }),
      }, "POST", key);
      say("The session was started.");
      void client.invalidateQueries({ queryKey: [tenant, "tool-sessions"] });
      void navigate({ to: "/t/$tenant/sessions/$session", params: { tenant, session: made.id } });
    } catch (e) {
      setError(e);
      setSending(false);
    }
  };
  return (
    <section className="launcher" aria-label="Start a session">
      <h2>Start a session</h2>
      <div className="pair">
        <label className="asked">Title (optional)<input value={title} maxLength={200} onChange={(e) => setTitle(e.target.value)} /></label>
        <label className="asked">About (optional: your own ids, with spaces between)<input value={entities} onChange={(e) => setEntities(e.target.value)} spellCheck={false} /></label>
      </div>
      {spec && spec.fields.length > 0 && (
        <fieldset>
          <legend>The same for each submission</legend>
          <p className="actions">
            {spec.fields.map((f) => (
              <label key={f.key} className="check">
                <input type="checkbox" checked={fixed.includes(f.key)}
                  onChange={(e) => setFixed((all) => (e.target.checked ? [...all, f.key] : all.filter((k) => k !== f.key)))} />
                {f.label ?? f.key}
              </label>
            ))}
          </p>
        </fieldset>
      )}
      <InputForm key={fixed.join()} tenant={tenant} action="Start it" isLoading={sending} errors={refusedAt(error, "/config")}
        spec={{ fields: spec?.fields.filter((f) => fixed.includes(f.key)) ?? [] }} onSubmit={(v) => void start(v)} />
      {error !== undefined && <p className="error" role="alert">{error instanceof ApiError ? error.detail : "It could not be sent."}</p>}
      <p><button type="button" className="button" onClick={onClose}>Back</button></p>
    </section>
  );
}
