import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { address, ApiError, call } from "../../api/client";
import { schedule, schedules, scheduleStarts, scheduleTimes, type Schedule, type ScheduleTimes } from "../../api/govern";
import { parse, print, type Json } from "../../api/json";
import { agents, json } from "../../api/queries";
import { Buckets } from "../../ui/filters";
import { JsonView } from "../../ui/json";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Facts, Id, Status, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, fromLocal, once, Subject, tagged, toLocal, useMay } from "./parts";

const overlaps: [Schedule["overlap"], string][] = [
  ["skip", "leave the time out"], ["buffer_one", "wait, one at most"], ["buffer_all", "wait, all of them"], ["cancel_other", "cancel the earlier run"], ["allow_all", "run beside it"],
];

const every = (s: number): string => (s % 86_400 === 0 ? `${s / 86_400} d` : s % 3600 === 0 ? `${s / 3600} h` : s % 60 === 0 ? `${s / 60} min` : `${s} s`);
const timesOf = (n: Schedule): string => (n.every_s ? `every ${every(n.every_s)}` : (n.crons ?? []).join("; "));
const clock = (at: string): string => at.replace("T", " ").replace(/:00(\.\d+)?(Z|[+-])/, " $2").replace(" Z", " UTC");

export function Schedules() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/schedules" });
  const navigate = useNavigate({ from: "/t/$tenant/schedules" });
  const found = useQuery(schedules(tenant, { cursor: search.cursor, limit: 200 })) /* A tenant has at most 100. */;
  const has = useMay(tenant);
  const may = has("schedules.write") && has("runs.write");
  const client = useQueryClient();
  const [edits, setEdits] = useState<{ body: Schedule; etag: string }>();
  const changed = () => client.invalidateQueries({ predicate: (q) => q.queryKey[0] === tenant && String(q.queryKey[1]).startsWith("schedules") });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v, status: undefined }), resetScroll: false });
  return (
    <Page title="Schedules" about="Agents that run at certain times, with the authority of the key that made the schedule."
      actions={<Allowed may={has} permission="schedules.write"><Allowed may={has} permission="runs.write"><button type="button" className="button primary" onClick={() => open("new")}>New schedule</button></Allowed></Allowed>}
      cli="toolcrib schedule list" api={address("/v1/schedules")}>
      <div className={search.open && search.open !== "new" ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Schedules" value={search.show ?? ""} options={[["", "All"], ["paused", "Paused"]]} onChange={(v) => void navigate({ search: { show: v || undefined }, replace: true })} />
          </div>
          {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of schedules" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
            <Empty title="Nothing runs by the clock" command="toolcrib schedule create nightly --agent supportDesk --input 'Report on the last day' --cron '30 2 * * *'">A schedule runs an agent at the times of cron expressions, or of an interval.</Empty>
          ) : (
            <>
              <Rows label="Schedules" rows={found.data.items.filter((n) => search.show !== "paused" || n.paused)} keyOf={(n) => n.name} current={search.open} columns={[
                {
                  name: "Schedule", show: (n) => (
                    <Link from="/t/$tenant/schedules" search={(s) => ({ ...s, open: n.name, status: undefined })} className="row-link" replace={!!search.open} resetScroll={false}>
                      <span className="slug">{n.name}</span>
                      <span className="muted line">{n.note}</span>
                    </Link>
                  ),
                },
                { name: "State", show: (n) => <Status value={n.paused ? "paused" : "active"} /> },
                { name: "Agent", from: "medium", show: (n) => <span className="slug">{n.agent}</span> },
                { name: "Times", end: true, show: (n) => <code>{timesOf(n)}</code> },
                { name: "Zone", from: "wide", show: (n) => n.time_zone },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })} onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {search.open && search.open !== "new" && (
          <Details key={search.open} tenant={tenant} name={search.open} may={may} onClose={() => open(undefined)} onChanged={() => void changed()}
            onEdit={() => void tagged<Schedule>(tenant, `/v1/schedules/${encodeURIComponent(search.open!)}`).then(setEdits)} />
        )}
      </div>
      {(search.open === "new" || edits) && may && (
        <ScheduleForm tenant={tenant} of={edits} onClose={() => (edits ? setEdits(undefined) : open(undefined))} onDone={(n) => {
          void changed();
          setEdits(undefined);
          open(n.name);
        }} />
      )}
    </Page>
  );
}

function Details({ tenant, name, may, onClose, onChanged, onEdit }: { tenant: string; name: string; may: boolean; onClose: () => void; onChanged: () => void; onEdit: () => void }) {
  const found = useQuery(schedule(tenant, name));
  const next = useQuery({ ...scheduleTimes(tenant, name), retry: false });
  const [asks, setAsks] = useState<"pause" | "resume" | "trigger" | "backfill" | "delete">();
  const n = found.data;
  const path = `/v1/schedules/${encodeURIComponent(name)}`;
  return (
    <Drawer title={name} onClose={onClose}>
      {found.isPending ? <Loading rows={5} /> : found.error || !n ? <Failed error={found.error} what="The schedule" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={n.paused ? "paused" : "active"} />{!n.synced && <span className="warn-text">the clock does not have it yet{n.sync_error && `: ${n.sync_error}`}</span>}</p>
          {n.note && <p className="notice">{n.note}</p>}
          <Facts of={[
            ["Agent", <Link to="/t/$tenant/agents" params={{ tenant }} search={{ open: n.agent }}>{n.agent}{n.version && ` ${n.version}`}</Link>],
            ["Times", <code>{timesOf(n)}</code>], ["Zone", n.time_zone],
            ["From", n.start_at && <Time at={n.start_at} />], ["Until", n.end_at && <Time at={n.end_at} />],
            ["Meanwhile", overlaps.find(([o]) => o === n.overlap)?.[1]],
            ["Late at most", every(Number(n.catchup_s))], ["Jitter", n.jitter_s ? every(Number(n.jitter_s)) : undefined],
            ["Starts left", n.starts_left],
            ["Running", n.live && String(n.live.running)], ["Left out", n.live?.skipped], ["Missed", n.live?.missed],
            ["Authority", <Subject of={n.created_by} />], ["Id", <Id value={n.id} />],
          ]} />
          <h3>Next times</h3>
          {n.paused && <p className="muted">It is paused: these pass without a run.</p>}
          {next.isPending ? <Loading rows={2} /> : next.error ? <p className="muted">{next.error instanceof ApiError ? next.error.detail : "They could not be asked for."}</p> : (
            <ol className="times">{next.data.times.map((t) => <li key={t}><span className="version">{clock(t)}</span> <Time at={t} /></li>)}</ol>
          )}
          <h3>Input</h3>
          <JsonView value={json(n.input)} label="Input of each run" />
          {may && (
            <p className="actions">
              <button type="button" className="button" onClick={() => setAsks(n.paused ? "resume" : "pause")}>{n.paused ? "Resume…" : "Pause…"}</button>
              <button type="button" className="button" onClick={() => setAsks("trigger")}>Run now…</button>
              <button type="button" className="button" onClick={() => setAsks("backfill")}>Backfill…</button>
              <button type="button" className="button" onClick={onEdit}>Edit…</button>
              <button type="button" className="button danger" onClick={() => setAsks("delete")}>Delete…</button>
            </p>
          )}
          <Starts tenant={tenant} name={name} />
          {(asks === "pause" || asks === "resume") && <NoteForm tenant={tenant} path={path} verb={asks} onClose={() => setAsks(undefined)} onDone={() => {
            onChanged();
            setAsks(undefined);
          }} />}
          {asks === "trigger" && (
            <Confirm title={`Run ${n.agent} now?`} action="Run now" onClose={() => setAsks(undefined)} onSend={() => call(tenant, path + "/trigger", { method: "POST", headers: once() }).then(done("A run is started.")).then(onChanged)}>
              <p>With the input of the schedule, paused or not.</p>
            </Confirm>
          )}
          {asks === "backfill" && <Backfill tenant={tenant} path={path} onClose={() => setAsks(undefined)} onDone={() => {
            onChanged();
            setAsks(undefined);
          }} />}
          {asks === "delete" && (
            <Confirm title={`Delete the schedule ${name}?`} action="Delete" onClose={() => setAsks(undefined)}
              onSend={() => call(tenant, path, { method: "DELETE" }).then(done("Deleted.")).then(() => {
                onClose();
                onChanged();
              })}>
              <p>The record of its starts is deleted with it. Runs that it started go on.</p>
            </Confirm>
          )}
        </>
      )}
    </Drawer>
  );
}

function NoteForm({ tenant, path, verb, onClose, onDone }: { tenant: string; path: string; verb: "pause" | "resume"; onClose: () => void; onDone: () => void }) {
  const [note, setNote] = useState("");
  return (
    <FormDialog title={verb === "pause" ? "Pause the schedule?" : "Resume the schedule?"} action={verb === "pause" ? "Pause" : "Resume"} onClose={onClose} onDone={onDone}
      about={verb === "pause" ? "Times pass without a run until it is resumed; they are not caught up. Runs go on." : "It starts runs from its next time on."}
      onSend={() => call(tenant, `${path}/${verb}`, { method: "POST", body: { note: note || undefined } }).then(done(verb === "pause" ? "Paused." : "Resumed."))}>
      <Field label="Why (optional)" path="note">{(p) => <input {...p} value={note} maxLength={500} autoFocus onChange={(e) => setNote(e.target.value)} />}</Field>
    </FormDialog>
  );
}

function Backfill({ tenant, path, onClose, onDone }: { tenant: string; path: string; onClose: () => void; onDone: () => void }) {
  const [from, setFrom] = useState(toLocal(new Date(Date.now() - 86_400_000).toISOString()));
  const [until, setUntil] = useState(toLocal(new Date().toISOString()));
  const [overlap, setOverlap] = useState("buffer_all");
  return (
    <FormDialog title="Start the runs of past times" action="Start them" onClose={onClose} onDone={onDone} about="Those times that have no run get one: at most 500."
      onSend={() => call<ScheduleTimes>(tenant, path + "/backfill", { method: "POST", headers: once(), body: { from: fromLocal(from), until: fromLocal(until), overlap } }).then((t) => say(`${t.times.length} times are started.`))}>
      <div className="pair">
        <Field label="From" path="from">{(p) => <input {...p} type="datetime-local" required value={from} max={until} onChange={(e) => setFrom(e.target.value)} />}</Field>
        <Field label="Until" path="until">{(p) => <input {...p} type="datetime-local" required value={until} min={from} onChange={(e) => setUntil(e.target.value)} />}</Field>
      </div>
      <Field label="While an earlier run goes on" path="overlap">
        {(p) => <select {...p} value={overlap} onChange={(e) => setOverlap(e.target.value)}>{overlaps.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>}
      </Field>
    </FormDialog>
  );
}

function Starts({ tenant, name }: { tenant: string; name: string }) {
  const search = useSearch({ from: "/t/$tenant/schedules" });
  const navigate = useNavigate({ from: "/t/$tenant/schedules" });
  const found = useQuery(scheduleStarts(tenant, name, { status: search.status, limit: 50 }));
  return (
    <>
      <div className="panel-head">
        <h3>Starts</h3>
        <Buckets label="Status of starts" value={search.status ?? ""} options={[["", "All"], ["refused", "Refused"]]} onChange={(v) => void navigate({ search: (s) => ({ ...s, status: v || undefined }), replace: true, resetScroll: false })} />
      </div>
      {found.isPending ? <Loading rows={3} /> : found.error ? <Failed error={found.error} what="The starts" /> : found.data.items.length === 0 ? <p className="none">None in the last 30 days.</p> : (
        <ul className="deliveries">
          {found.data.items.map((b) => (
            <li key={b.id} className="start">
              <Status value={b.status} /> <span className="version">{clock(b.at)}</span>
              {b.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: b.run_id }}>the run</Link>}
              {b.reason && <span className="error">{b.reason}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

// jsonOf is what was written as JSON, or a text.
function jsonOf(text: string): Json {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

function ScheduleForm({ tenant, of, onClose, onDone }: { tenant: string; of: { body: Schedule; etag: string } | undefined; onClose: () => void; onDone: (n: Schedule) => void }) {
  const n = of?.body;
  const offered = useQuery(agents(tenant, { status: "published", limit: 200 }));
  const [f, setF] = useState({
    name: n?.name ?? "", agent: n?.agent ?? "", version: n?.version ?? "", input: n ? (typeof n.input === "string" ? n.input : print(n.input)) : "",
    by: n?.every_s ? "interval" : "cron", crons: (n?.crons ?? ["0 9 * * mon-fri"]).join("\n"), zone: n?.time_zone ?? (n ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone),
    minutes: n?.every_s ? String(Number(n.every_s) / 60) : "60", overlap: n?.overlap ?? "skip", paused: false, start: toLocal(n?.start_at), end: toLocal(n?.end_at),
  });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  const lines = f.crons.split("\n").map((c) => c.trim()).filter(Boolean);
  const times = f.by === "cron" ? { crons: lines, time_zone: f.zone || undefined } : { every_s: Math.round(Number(f.minutes) * 60) };
  const bounds = { start_at: fromLocal(f.start), end_at: fromLocal(f.end) };
  const body = { agent: f.agent, version: n ? f.version : f.version || undefined, input: jsonOf(f.input), overlap: f.overlap, ...times, ...bounds };
  return (
    <FormDialog wide title={n ? `Schedule ${n.name}` : "New schedule"} action={n ? "Save" : "Create"} onClose={onClose} onDone={() => {}}
      about={n ? "Another agent, version or input gives later runs the authority of your key." : "Its runs have the authority that your key has when they start."}
      onSend={() => (n
        ? call<Schedule>(tenant, `/v1/schedules/${encodeURIComponent(n.name)}`, { method: "PUT", headers: { "If-Match": of!.etag }, body: { ...changes(n, body), ...(!f.start && !f.end && (n.start_at || n.end_at) ? { unbounded: true } : {}) } })
        : call<Schedule>(tenant, "/v1/schedules", { method: "POST", headers: once(), body: { ...body, name: f.name, paused: f.paused || undefined } })
      ).then(done("Saved.")).then(onDone)}>
      <div className="pair">
        <Field label="Name" path="name" hint="As a slug">{(p) => <input {...p} value={f.name} readOnly={!!n} required maxLength={64} autoFocus={!n} onChange={(e) => put({ name: e.target.value })} />}</Field>
        <Field label="Agent" path="agent">
          {(p) => (
            <select {...p} value={f.agent} required onChange={(e) => put({ agent: e.target.value })}>
              <option value="">choose one</option>
              {f.agent && !offered.data?.items.some((a) => a.slug === f.agent) && <option value={f.agent}>{f.agent}</option>}
              {offered.data?.items.map((a) => <option key={a.slug} value={a.slug}>{a.slug}</option>)}
            </select>
          )}
        </Field>
        <Field label="Version" path="version" hint="Empty: the highest published one">{(p) => <input {...p} value={f.version} maxLength={64} placeholder="^1.2" onChange={(e) => put({ version: e.target.value })} />}</Field>
      </div>
      <Field label="Input of each run" path="input" hint="A text, or JSON">{(p) => <textarea {...p} rows={2} required value={f.input} onChange={(e) => put({ input: e.target.value })} />}</Field>
      <div className="pair">
        <Field label="Times">
          {(p) => <select {...p} value={f.by} onChange={(e) => put({ by: e.target.value })}><option value="cron">cron expressions</option><option value="interval">an interval</option></select>}
        </Field>
        {f.by === "cron" ? (
          <Field label="Time zone" path="time_zone">{(p) => <input {...p} value={f.zone} maxLength={80} placeholder="Europe/Berlin" onChange={(e) => put({ zone: e.target.value })} />}</Field>
        ) : (
          <Field label="Every so many minutes" path="every_s">{(p) => <input {...p} type="number" min={1} required value={f.minutes} onChange={(e) => put({ minutes: e.target.value })} />}</Field>
        )}
      </div>
      {f.by === "cron" && (
        <Field label="Cron expressions" path="crons" hint="One a line: minute, hour, day of the month, month, day of the week; or @daily and the like">
          {(p) => <textarea {...p} rows={2} required spellCheck={false} className="version" value={f.crons} onChange={(e) => put({ crons: e.target.value })} />}
        </Field>
      )}
      <Preview tenant={tenant} times={times} bounds={bounds} />
      <div className="pair">
        <Field label="No time before" path="start_at">{(p) => <input {...p} type="datetime-local" value={f.start} onChange={(e) => put({ start: e.target.value })} />}</Field>
        <Field label="No time after" path="end_at">{(p) => <input {...p} type="datetime-local" value={f.end} onChange={(e) => put({ end: e.target.value })} />}</Field>
        <Field label="While an earlier run goes on" path="overlap">
          {(p) => <select {...p} value={f.overlap} onChange={(e) => put({ overlap: e.target.value as Schedule["overlap"] })}>{overlaps.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>}
        </Field>
      </div>
      {!n && <label className="check"><input type="checkbox" checked={f.paused} onChange={(e) => put({ paused: e.target.checked })} /> Begin paused</label>}
    </FormDialog>
  );
}

// changes are the members of a change that differ from what there is.
function changes(n: Schedule, body: Record<string, unknown>): Record<string, unknown> {
  const was = n as unknown as Record<string, unknown>;
  return Object.fromEntries(Object.entries(body).filter(([name, v]) => v !== undefined && print(v) !== print(name === "version" ? (was[name] ?? "") : was[name])));
}

// Preview asks for the next times that a schedule would have.
function Preview({ tenant, times, bounds }: { tenant: string; times: { crons?: string[]; time_zone?: string | undefined; every_s?: number }; bounds: { start_at: string | undefined; end_at: string | undefined } }) {
  const params = new URLSearchParams({ limit: "5" });
  for (const c of times.crons ?? []) params.append("cron", c);
  for (const [name, v] of Object.entries({ time_zone: times.time_zone, every_s: times.every_s, ...bounds })) if (v) params.set(name, String(v));
  const asked = useDeferredValue(params.toString());
  const found = useQuery({
    queryKey: [tenant, "schedule-times", asked],
    queryFn: ({ signal }) => call<ScheduleTimes>(tenant, `/v1/schedule-times?${asked}`, { signal }),
    retry: false,
  });
  return (
    <div className="preview" role="status" aria-label="Next times">
      <span className="ask-name">Next times</span>
      {found.isPending ? <span className="muted">…</span> : found.error ? (
        <span className="error">{found.error instanceof ApiError ? found.error.detail : "They could not be asked for."}</span>
      ) : found.data.times.length === 0 ? <span className="warn-text">none</span> : (
        <ol className="times">{found.data.times.map((t) => <li key={t}><span className="version">{clock(t)}</span> <Time at={t} /></li>)}</ol>
      )}
    </div>
  );
}
