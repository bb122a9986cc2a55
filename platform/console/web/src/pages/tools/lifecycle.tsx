import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { at, may, me, toolVersions, type Tool } from "../../api/queries";
import { act, users, type SavedTool } from "../../api/tools";
import { Pager } from "../../ui/list";
import { Badge } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Ask, Line, text } from "./ask";
import { useRefresh } from "./versions";

// What a tool's state is changed to, and who would notice.

type Doing = "deprecate" | "disable" | "enable" | "archive" | "restore" | "rename" | "delete";

const doings: Record<Exclude<Doing, "rename">, { button: string; title: (slug: string) => string; about: string; done: string; danger?: boolean }> = {
  deprecate: { button: "Deprecate", title: (s) => `Deprecate ${s}?`, about: "It goes on where it is bound, with a warning, and is bound nowhere anew.", done: "It is deprecated." },
  disable: { button: "Disable", title: (s) => `Disable ${s}?`, about: "At once and everywhere: running runs stop at their next call of it, pinned or not.", done: "It is disabled.", danger: true },
  enable: { button: "Enable", title: (s) => `Enable ${s}?`, about: "Its status becomes published if it has a published version, else draft.", done: "It is enabled." },
  archive: { button: "Archive", title: (s) => `Archive ${s}?`, about: "It is disabled and left out of lists. It is refused while anything uses it. Its slug stays taken.", done: "It is archived.", danger: true },
  restore: { button: "Restore", title: (s) => `Take ${s} out of the archive?`, about: "Its status becomes published if it has a published version, else draft.", done: "It is back." },
  delete: { button: "Delete", title: (s) => `Delete ${s}?`, about: "For good: its slug becomes free. Versions, and the record of its calls, stay.", done: "It was deleted.", danger: true },
};

// possible are the changes that the state of a tool permits.
export function possible(t: Tool): Doing[] {
  if (t.archived_at) return ["restore", "delete"];
  switch (t.status) {
    case "published":
      return ["deprecate", "disable", "rename", "archive"];
    case "deprecated":
      return ["enable", "disable", "rename", "archive"];
    case "disabled":
      return ["enable", "rename", "archive", "delete"];
    default:
      return ["disable", "rename", "archive", "delete"];
  }
}

export function ToolActions({ tenant, of }: { tenant: string; of: Tool }) {
  const who = useQuery(me(tenant));
  const [doing, setDoing] = useState<Doing>();
  const refresh = useRefresh(tenant, of.slug);
  const navigate = useNavigate();
  if (of.scope !== "tenant") return null;
  if (who.data && !may(who.data, "tools.write")) return <p className="muted">Changing it takes the permission <code>tools.write</code>.</p>;
  const close = () => setDoing(undefined);
  const d = doing && doing !== "rename" ? doings[doing] : undefined;
  return (
    <>
      <Link to="/t/$tenant/tools/$tool/edit" params={{ tenant, tool: of.slug }} className="button">Edit the draft</Link>
      <label className="choice">
        <span className="unseen">Change its state</span>
        <select value="" onChange={(e) => setDoing((e.target.value || undefined) as Doing | undefined)}>
          <option value="">Change…</option>
          {possible(of).map((p) => <option key={p} value={p}>{p === "rename" ? "Rename" : doings[p].button}</option>)}
        </select>
      </label>
      {d && (
        <Ask title={d.title(of.slug)} about={<>{d.about} <Affected tenant={tenant} of={of} /></>} button={d.button} danger={d.danger ?? false} done={d.done} onClose={close}
          act={() => (doing === "delete" ? call(tenant, `/v1/tools/${at(of.slug)}`, { method: "DELETE" }) : act(tenant, of.slug, doing!))}
          onDone={() => {
            refresh();
            if (doing === "delete") void navigate({ to: "/t/$tenant/tools", params: { tenant } });
          }} />
      )}
      {doing === "rename" && (
        <Ask title={`Rename ${of.slug}`} button="Rename" done="It is renamed." onClose={close}
          about="Agents that use the former slug still reach it until the given day, with a warning."
          act={(form) => act<SavedTool>(tenant, of.slug, "rename", { slug: text(form, "slug"), keep_until: text(form, "keep_until") })}
          onDone={(made) => {
            refresh();
            void navigate({ to: "/t/$tenant/tools/$tool", params: { tenant, tool: (made as SavedTool).slug } });
          }}>
          <Line name="slug" label="New slug" value={of.slug} required />
          <Line name="keep_until" label="The former slug works until" type="date" help="For 90 days, where no day is given." />
        </Ask>
      )}
    </>
  );
}

// Affected says who would notice, in a sentence.
function Affected({ tenant, of }: { tenant: string; of: Tool }) {
  const found = useQuery(users(tenant, of.slug, { limit: 100 }));
  if (!found.data) return null;
  const published = found.data.items.filter((u) => u.published);
  if (published.length === 0 && found.data.runs.length === 0) return <>Nothing that is published uses it.</>;
  return (
    <>
      It is used by {published.slice(0, 5).map((u) => u.name ?? u.id).join(", ")}
      {published.length > 5 && ` and ${published.length - 5} more`}
      {found.data.runs.length > 0 && `, and by ${found.data.runs.length === 5 ? "five or more" : found.data.runs.length} runs that have not ended`}.
    </>
  );
}

const verdicts: Record<string, [words: string, tone: string]> = {
  stays: ["stays", "good"], moves: ["moves", ""], breaks: ["breaks", "bad"], none: ["gets no version", "warn"],
};

export function Users({ tenant, of }: { tenant: string; of: Tool }) {
  const search = useSearch({ from: "/t/$tenant/tools/$tool" });
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const versions = useQuery(toolVersions(tenant, of.slug));
  const version = search.version ?? "";
  const found = useQuery(users(tenant, of.slug, { version, cursor: search.users, limit: 50 }));
  return (
    <section className="tool-stack">
      <div className="filters">
        <label className="choice set">
          <span>What becomes of it once this is published:</span>
          <select value={version} onChange={(e) => void navigate({ search: (s) => ({ ...s, version: e.target.value || undefined, users: undefined }), replace: true })}>
            <option value="">the draft</option>
            {versions.data?.items.map((v) => <option key={v.id}>{v.version}</option>)}
          </select>
        </label>
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of users" />
      ) : (
        <>
          {found.data.runs.length > 0 && (
            <p className="notice">Runs that have not ended, and pin it: {found.data.runs.map((r, i) => (
              <span key={r}>{i > 0 && ", "}<Link to="/t/$tenant/runs/$run" params={{ tenant, run: r }} title={r}>…{r.slice(-12)}</Link></span>
            ))}</p>
          )}
          {found.data.items.length === 0 ? (
            <Empty title="Nothing uses it">No agent, composition, graph, toolset, schedule, assignment or profile names it.</Empty>
          ) : (
            <ul className="tool-cards" aria-label="Users of the tool">
              {found.data.items.map((u) => {
                const [name, tone] = verdicts[u.verdict] ?? [u.verdict, ""];
                return (
                  <li key={u.kind + u.id + u.through + u.published} className="tool-card">
                    <p>
                      <Badge>{u.kind}</Badge> <strong>{u.name ?? u.id}</strong>
                      {u.version && <span className="version"> {u.version}</span>} {!u.published && <Badge>draft</Badge>}{" "}
                      <Badge tone={tone}>{name}</Badge>
                    </p>
                    <p>{u.reason}</p>
                    {u.changes && <ul className="change-list">{u.changes.map((c) => <li key={c.path + c.reason}><Badge tone="bad">{c.bump}</Badge><code>{c.path}</code><span>{c.reason}</span></li>)}</ul>}
                    <p className="muted">Without the tool: {u.without}</p>
                  </li>
                );
              })}
            </ul>
          )}
          <Pager count={found.data.items.length} first={!search.users} next={found.data.next}
            onFirst={() => void navigate({ search: (s) => ({ ...s, users: undefined }) })}
            onNext={(users) => void navigate({ search: (s) => ({ ...s, users }) })} />
        </>
      )}
    </section>
  );
}
