import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { may, me, toolVersions, type Tool, type ToolVersion } from "../../api/queries";
import { act, canaries, diff, gate, post, replay, replays, type Canary, type Published } from "../../api/tools";
import { Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Badge, Copy, Id, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Ask, Line, numeric, said, text } from "./ask";
import { Changes } from "./diff";

// Versions: what was published, what a draft would change, and who gets it.

export function Versions({ tenant, of }: { tenant: string; of: Tool }) {
  const search = useSearch({ from: "/t/$tenant/tools/$tool" });
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const found = useQuery(toolVersions(tenant, of.slug));
  const who = useQuery(me(tenant));
  const [asks, setAsks] = useState<{ canary?: boolean; version?: string | undefined }>();
  const refresh = useRefresh(tenant, of.slug);
  const own = of.scope === "tenant" && may(who.data, "tools.write");
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of versions" />;
  const numbers = ["draft", ...found.data.items.map((v) => v.version)];
  const compares = search.from !== undefined || search.to !== undefined;
  return (
    <div className="tool-stack">
      <section className="tool-stack">
        <div className="section-head">
          <h2>Versions</h2>
          <div className="actions">
            <button type="button" className="button" onClick={() => void navigate({ search: (s) => ({ ...s, from: compares ? undefined : lastOf(found.data.items), to: compares ? undefined : "draft" }), replace: true })}
              aria-pressed={compares} disabled={found.data.items.length === 0}>
              Compare
            </button>
            {own && <button type="button" className="button" onClick={() => setAsks({ canary: true })} disabled={!found.data.items.some((v) => v.published)}>Try on a share…</button>}
            {own && <button type="button" className="button primary" onClick={() => setAsks({})}>Publish the draft…</button>}
          </div>
        </div>
        {compares && <Compare tenant={tenant} slug={of.slug} numbers={numbers} from={search.from} to={search.to} />}
        {found.data.items.length === 0 ? (
          <Empty title="No version was made yet" command={words("toolcrib", "tool", "publish", of.slug)}>A draft never runs in production.</Empty>
        ) : (
          <Rows label="Versions" rows={found.data.items} keyOf={(v) => v.id}
            columns={[
              { name: "Version", show: (v) => <strong className="version">{v.version}</strong> },
              { name: "State", show: (v) => <><Status value={v.published ? "published" : "draft"} />{v.withheld ? <> <Badge tone="warn">{v.withheld === 100 ? "taken back" : `${100 - Number(v.withheld)} % of the runs`}</Badge></> : null}</> },
              { name: "Digest", from: "medium", show: (v) => <span className="id"><code title={v.digest}>{v.digest.slice(0, 12)}</code><Copy text={v.digest} label="Copy the digest" /></span> },
              { name: "By", from: "wide", show: (v) => (v.created_by ? <Subject of={v.created_by} copy /> : <span className="none">–</span>) },
              { name: "Made", from: "medium", end: true, show: (v) => <Time at={v.created_at} /> },
              {
                name: "Compare", end: true,
                show: (v) => (
                  <>
                    <Link from="/t/$tenant/tools/$tool" search={(s) => ({ ...s, from: v.version, to: "draft" })} resetScroll={false} replace aria-label={`Compare ${v.version} with the draft`}>
                      with the draft
                    </Link>
                    {own && !v.published && <> <button type="button" className="tool-link" onClick={() => setAsks({ version: v.version })} aria-label={`Publish ${v.version}`}>publish</button></>}
                  </>
                ),
              },
            ]} />
        )}
      </section>
      <Canaries tenant={tenant} slug={of.slug} own={own} onChange={refresh} />
      <Replays tenant={tenant} slug={of.slug} own={own} numbers={numbers} />
      {asks && !asks.canary && <Publish tenant={tenant} of={of} version={asks.version} onClose={() => setAsks(undefined)} onDone={refresh} />}
      {asks?.canary && <StartCanary tenant={tenant} of={of} versions={found.data.items} onClose={() => setAsks(undefined)} onDone={refresh} />}
    </div>
  );
}

const lastOf = (all: ToolVersion[]): string | undefined => (all.find((v) => v.published) ?? all[0])?.version;

export function useRefresh(tenant: string, slug: string): () => void {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: [tenant, "tool", slug] });
    void client.invalidateQueries({ queryKey: [tenant, "tools"] });
  };
}

function Compare({ tenant, slug, numbers, from, to }: { tenant: string; slug: string; numbers: string[]; from: string | undefined; to: string | undefined }) {
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const found = useQuery(diff(tenant, slug, { from, to }));
  const pick = (name: "from" | "to", label: string, value: string | undefined) => (
    <label className="choice set">
      <span>{label}</span>
      <select value={value ?? ""} onChange={(e) => void navigate({ search: (s) => ({ ...s, [name]: e.target.value }), replace: true, resetScroll: false })}>
        {numbers.map((n) => <option key={n}>{n}</option>)}
      </select>
    </label>
  );
  return (
    <section className="tool-panel" aria-label="Comparison">
      <div className="filters">{pick("from", "From", from ?? numbers[1])} {pick("to", "to", to ?? "draft")}</div>
      {found.isPending ? <Loading rows={3} /> : found.error ? <Failed error={found.error} retry={() => void found.refetch()} what="The comparison" /> : <Changes of={found.data} />}
    </section>
  );
}

// Publish shows what is published, and what the rules say of it, before it is.
function Publish({ tenant, of, version, onClose, onDone }: { tenant: string; of: Tool; version?: string | undefined; onClose: () => void; onDone: () => void }) {
  const changes = useQuery(diff(tenant, of.slug, { to: version }));
  const rule = useQuery(gate(tenant, of.slug));
  return (
    <Ask title={version ? `Publish ${of.slug} ${version}?` : `Publish the draft of ${of.slug}, as ${of.version}?`} button="Publish" done="Published."
      about="What runs pin stays as it is. Runs that begin from now on get it, where their range permits."
      act={(form) => act<Published>(tenant, of.slug, "publish", {}, { version, strict: form.get("strict") === "on" || undefined })}
      onDone={(answer) => {
        const p = answer as Published;
        const found = p.findings?.length ?? 0;
        say(`${of.slug} ${p.version.version} is published${found ? `, with ${found} findings` : ""}.`);
        onDone();
      }} onClose={onClose}>
      {changes.data && <Changes of={changes.data} />}
      {changes.error && <p className="error">{said(changes.error)}</p>}
      {rule.data && (
        <p className="notice">
          A gate asks first: the last {rule.data.replay} calls are replayed with exactly this content, and at most {rule.data.max_different} may differ.{" "}
          <span className="muted">Replays are below the versions.</span>
        </p>
      )}
      <label className="check"><input type="checkbox" name="strict" /> Refuse it where its description has findings</label>
      {changes.data && !changes.data.enough && !version && (
        <p className="muted">Give the draft the number {changes.data.least_version} or a higher one, in its editor.</p>
      )}
    </Ask>
  );
}

function StartCanary({ tenant, of, versions, onClose, onDone }: { tenant: string; of: Tool; versions: ToolVersion[]; onClose: () => void; onDone: () => void }) {
  return (
    <Ask title={`Give a version of ${of.slug} to a share of the runs`} button="Start" done="The canary runs." onClose={onClose} onDone={onDone}
      about="Too many failures take it back by themselves. Runs that have it keep it."
      act={(form) => act<Canary>(tenant, of.slug, "canary", {
        version: text(form, "version"), share: numeric(form, "share"), until_calls: numeric(form, "until_calls"),
        max_error_percent: numeric(form, "max_error_percent"), promote: form.get("promote") === "on",
      })}>
      <div className="edit">
        <label htmlFor="canary-version">Version</label>
        <select id="canary-version" name="version">
          <option value="">the draft, as {of.version}</option>
          {versions.filter((v) => !v.published).map((v) => <option key={v.id}>{v.version}</option>)}
        </select>
      </div>
      <Line name="share" label="Share of the runs, in percent" type="number" min={1} max={99} value={10} required />
      <Line name="until_calls" label="It has passed after this many calls" type="number" min={1} value={200} required />
      <Line name="max_error_percent" label="It is taken back when more than this percentage of them fails" type="number" min={0} max={100} value={5} />
      <label className="check"><input type="checkbox" name="promote" /> Give it to every run once it has passed</label>
    </Ask>
  );
}

const stateWords: Record<string, string> = {
  running: "runs", passed: "has passed, and still runs", promoted: "every run gets it", returned: "taken back: too many calls failed", stopped: "stopped by a person",
};

function Canaries({ tenant, slug, own, onChange }: { tenant: string; slug: string; own: boolean; onChange: () => void }) {
  const found = useQuery(canaries(tenant, slug));
  const [ends, setEnds] = useState<"promote" | "stop">();
  if (found.isPending || found.error || found.data.items.length === 0) return found.error ? <Failed error={found.error} what="The list of canaries" /> : null;
  const runs = found.data.items.find((c) => c.state === "running" || c.state === "passed");
  return (
    <section className="tool-stack">
      <div className="section-head">
        <h2>Canaries</h2>
        {own && runs && (
          <div className="actions">
            <button type="button" className="button" onClick={() => setEnds("stop")}>Take it back…</button>
            <button type="button" className="button primary" onClick={() => setEnds("promote")}>Give it to every run…</button>
          </div>
        )}
      </div>
      <ul className="tool-cards" aria-label="Canaries">
        {found.data.items.map((c) => (
          <li key={c.id} className="tool-card">
            <p><strong className="version">{c.version}</strong> <Status value={c.state === "running" ? "running" : c.state} /> {stateWords[c.state]}, {c.share} % of the runs</p>
            <meter min={0} max={Number(c.until_calls)} value={Number(c.calls)} aria-label={`Calls of ${c.version}`}>{String(c.calls)}</meter>
            <p className="muted">
              {c.calls} of {c.until_calls} calls ended, {c.failures} of them failed; of the other versions {c.stable_failures} of {c.stable_calls}. Since <Time at={c.started_at} />.
            </p>
            {c.reason && <p>{c.reason}</p>}
          </li>
        ))}
      </ul>
      {ends && (
        <Ask title={ends === "promote" ? `Give ${runs!.version} to every run?` : `Take ${runs!.version} back?`} danger={ends === "stop"}
          button={ends === "promote" ? "Give it to every run" : "Take it back"} about="Runs that have begun keep the version that they have."
          done={ends === "promote" ? "Every run gets it." : "It was taken back."} act={() => act(tenant, slug, `canary/${ends}`)}
          onClose={() => setEnds(undefined)} onDone={onChange} />
      )}
    </section>
  );
}

function Replays({ tenant, slug, own, numbers }: { tenant: string; slug: string; own: boolean; numbers: string[] }) {
  const { replay: open } = useSearch({ from: "/t/$tenant/tools/$tool" });
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const found = useQuery(replays(tenant, slug));
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  if (found.isPending) return null;
  if (found.error) return <Failed error={found.error} what="The list of replays" />;
  return (
    <section className="tool-stack">
      <div className="section-head">
        <h2>Replays</h2>
        {own && <button type="button" className="button" onClick={() => setAsks(true)}>Replay recorded calls…</button>}
      </div>
      {found.data.items.length === 0 ? (
        <p className="muted">A replay holds the last calls against the draft, or a version: what would have been answered otherwise?</p>
      ) : (
        <ul className="tool-cards" aria-label="Replays">
          {found.data.items.map((r) => (
            <li key={r.id} className="tool-card">
              <p>
                <strong className="version">{r.version}</strong>{" "}
                <span className={`status ${!r.ended ? "live" : Number(r.different) > 0 ? "bad" : "good"}`}>{r.ended ? "ended" : "runs"}</span>{" "}
                {r.same} the same, {r.different} different, {r.skipped} left out{" "}
                <Link from="/t/$tenant/tools/$tool" search={(s) => ({ ...s, replay: open === r.id ? undefined : r.id })} replace resetScroll={false} aria-expanded={open === r.id}>
                  {open === r.id ? "close" : "what differs"}
                </Link>
              </p>
              {open === r.id && <ReplayCalls tenant={tenant} slug={slug} id={r.id} />}
            </li>
          ))}
        </ul>
      )}
      {asks && (
        <Ask title="Replay recorded calls" button="Replay" done="The replay runs." onClose={() => setAsks(false)}
          about="Pure and reading tools are called with the recorded arguments, in debug mode and without leave to write. Of others, arguments and answers are held against the schemas."
          act={(form) => post<{ id: string }>(tenant, `/v1/tools/${encodeURIComponent(slug)}/replays`, { calls: numeric(form, "calls"), version: text(form, "version") })}
          onDone={(made) => {
            void client.invalidateQueries({ queryKey: [tenant, "tool", slug, "replays"] });
            void navigate({ search: (s) => ({ ...s, replay: (made as { id: string }).id }), replace: true, resetScroll: false });
          }}>
          <Line name="calls" label="How many of the last calls" type="number" min={1} max={50} value={20} required />
          <div className="edit">
            <label htmlFor="replay-version">With</label>
            <select id="replay-version" name="version">
              {numbers.map((n) => <option key={n} value={n === "draft" ? "" : n}>{n === "draft" ? "the draft" : n}</option>)}
            </select>
          </div>
        </Ask>
      )}
    </section>
  );
}

function ReplayCalls({ tenant, slug, id }: { tenant: string; slug: string; id: string }) {
  const found = useQuery({ ...replay(tenant, slug, id), refetchInterval: (q) => (q.state.data?.ended === false ? 2000 : false) });
  if (found.isPending) return <Loading rows={2} />;
  if (found.error) return <Failed error={found.error} what="The replay" />;
  if (!found.data.calls?.length) return <p className="muted">The record has no call of it yet.</p>;
  return (
    <ul className="change-list" aria-label="Calls of the replay">
      {found.data.calls.map((c) => (
        <li key={c.invocation_id}>
          <Badge tone={c.outcome === "different" ? "bad" : c.outcome === "same" ? "good" : ""}>{c.outcome}</Badge>
          <Id value={c.invocation_id} />
          <span>{c.differences?.join("; ") || c.reason || (c.is_ms ? `${c.was_ms} ms, now ${c.is_ms} ms` : "")}</span>
        </li>
      ))}
    </ul>
  );
}
