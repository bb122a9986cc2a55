import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { address, ApiError, call, send } from "../../api/client";
import { audit, auditEntry, meta, type AuditEntry, type AuditReport } from "../../api/govern";
import { Num, print, type Json } from "../../api/json";
import { count } from "../../api/money";
import { json } from "../../api/queries";
import { save, shiftDay } from "../../chart";
import { Buckets, Search } from "../../ui/filters";
import { JsonView } from "../../ui/json";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Facts, Id, Status, Time } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "./parts";

export function Audit() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/audit" });
  const navigate = useNavigate({ from: "/t/$tenant/audit" });
  const { open, from, to, ...filters } = search;
  const query = { ...filters, since: from && from + "T00:00:00Z", until: to && shiftDay(to, 1) + "T00:00:00Z" };
  const found = useQuery(audit(tenant, { ...query, limit: 50 }));
  const set = useCallback((change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined, ...change }), replace: true }), [navigate]);
  const onObject = useCallback((v: string) => set({ object: v }), [set]);
  const filtered = !!(search.actor || search.action || search.object || search.outcome || from || to);
  return (
    <Page title="Audit log" about="Who changed what, and what was refused. Rows are chained by their hashes: none is changed or removed without that being found."
      cli={words("toolcrib", "audit", "list", ...option("action", search.action), ...option("object", search.object), ...option("actor", search.actor), ...option("outcome", search.outcome))}
      api={address("/v1/audit", query)}>
      <Chain tenant={tenant} />
      <div className={open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Search value={search.object ?? ""} onChange={onObject} label="Id or name of what was changed" />
            <Action tenant={tenant} value={search.action ?? ""} onChange={(v) => set({ action: v })} />
            <Buckets label="Outcome" value={search.outcome ?? ""} options={[["", "All"], ["done", "Done"], ["refused", "Refused"]]} onChange={(v) => set({ outcome: v })} />
            <label className={from ? "choice set" : "choice"}><span>from</span><input type="date" className="bare" value={from ?? ""} onChange={(e) => set({ from: e.target.value || undefined })} /></label>
            <label className={to ? "choice set" : "choice"}><span>to</span><input type="date" className="bare" value={to ?? ""} onChange={(e) => set({ to: e.target.value || undefined })} /></label>
            {search.actor && (
              <span className="badge">
                by <Subject of={search.actor} />
                <button type="button" className="quiet" aria-label="Any actor" onClick={() => set({ actor: undefined })}>✕</button>
              </span>
            )}
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The audit log" />
          ) : found.data.items.length === 0 ? (
            filtered ? (
              <Empty title="No row matches these filters">
                <button type="button" className="button" onClick={() => void navigate({ search: {} })}>Clear the filters</button>
              </Empty>
            ) : (
              <Empty title="Nothing was changed yet" />
            )
          ) : (
            <>
              <Rows label="Rows of the audit log" rows={found.data.items} keyOf={(e) => e.id} current={open} columns={[
                {
                  name: "Action", show: (e) => (
                    <Link from="/t/$tenant/audit" search={(s) => ({ ...s, open: e.id })} className="row-link" replace={!!open} resetScroll={false}>
                      <span className="slug">{e.action}</span>
                      <span className="line">{e.object.name || e.object.id}</span>
                    </Link>
                  ),
                },
                { name: "Outcome", show: (e) => <Outcome of={e} /> },
                { name: "By", from: "medium", show: (e) => <Subject of={e.actor.subject || e.actor.kind} /> },
                { name: "No.", from: "wide", end: true, show: (e) => (e.seq ? count(e.seq) : <span className="none">not sealed</span>) },
                { name: "When", end: true, show: (e) => <Time at={e.at} /> },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {open && <Entry key={open} tenant={tenant} id={open} onActor={(actor) => set({ actor })} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />}
      </div>
    </Page>
  );
}

const Outcome = ({ of }: { of: AuditEntry }) => <Status value={of.outcome} />;

// Action is a kind of object, with all that can be done to it, or one action.
function Action({ tenant, value, onChange }: { tenant: string; value: string; onChange: (v: string) => void }) {
  const { data } = useQuery(meta(tenant));
  const kinds = new Map<string, string[]>();
  for (const a of data?.audit_actions ?? []) {
    const kind = a.name.split(".")[0]!;
    kinds.set(kind, [...(kinds.get(kind) ?? []), a.name]);
  }
  return (
    <label className={value ? "choice set" : "choice"}>
      <span>Action</span>
      <select value={value} onChange={(e) => onChange(e.target.value)}>
        <option value="">any</option>
        {value && !kinds.has(value) && ![...kinds.values()].flat().includes(value) && <option value={value}>{value}</option>}
        {[...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, names]) => (
          <optgroup key={kind} label={kind.replaceAll("_", " ")}>
            <option value={kind}>all of {kind.replaceAll("_", " ")}</option>
            {names.map((n) => <option key={n} value={n}>{n}</option>)}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function Entry({ tenant, id, onActor, onClose }: { tenant: string; id: string; onActor: (subject: string) => void; onClose: () => void }) {
  const found = useQuery(auditEntry(tenant, id));
  const names = useQuery(meta(tenant));
  const e = found.data;
  return (
    <Drawer title={e ? e.action : "Row"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The row" />
      ) : (
        <>
          <p className="badges"><Outcome of={found.data} /></p>
          <p>{names.data?.audit_actions.find((a) => a.name === found.data.action)?.meaning ?? found.data.action}</p>
          {found.data.reason && <p className="notice bad">Refused: {found.data.reason}</p>}
          <Facts of={[
            ["Object", <>{found.data.object.kind.replaceAll("_", " ")} {found.data.object.name && <span className="slug">{found.data.object.name}</span>}</>],
            ["Its id", found.data.object.id && <Id value={found.data.object.id} />],
            ["By", <button type="button" className="link" onClick={() => onActor(found.data.actor.subject)}><Subject of={found.data.actor.subject} /></button>],
            ["As", found.data.actor.kind],
            ["When", <Time at={found.data.at} />],
            ["Request", found.data.request_id && <Id value={found.data.request_id} />],
            ["Number", found.data.seq ? count(found.data.seq) : "not sealed yet"],
            ["Hash", found.data.hash && <Id value={found.data.hash} />],
          ]} />
          <Changes before={json(found.data.before)} after={json(found.data.after)} />
        </>
      )}
    </Drawer>
  );
}

// leaves are the values of a JSON value by their paths.
function leaves(v: Json | undefined, path = "", into = new Map<string, string>()): Map<string, string> {
  if (v === undefined) return into;
  if (v === null || typeof v !== "object" || v instanceof Num || Object.keys(v).length === 0) {
    into.set(path || "value", typeof v === "string" ? v : print(v));
    return into;
  }
  for (const [name, below] of Object.entries(v)) leaves(below as Json, path ? `${path}.${name}` : name, into);
  return into;
}

function Changes({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  if (before === undefined && after === undefined) return null;
  const [was, is] = [leaves(before), leaves(after)];
  const paths = [...new Set([...was.keys(), ...is.keys()])].filter((p) => was.get(p) !== is.get(p));
  return (
    <>
      <h3>{before === undefined ? "What it began with" : after === undefined ? "What it was" : "What changed"}</h3>
      <div className="changes">
        {paths.slice(0, 200).map((p) => (
          <div key={p} className="change">
            <span className="slug">{p}</span>
            {was.has(p) && <del>{was.get(p)!.slice(0, 2000) || "(empty)"}</del>}
            {is.has(p) && <ins>{is.get(p)!.slice(0, 2000) || "(empty)"}</ins>}
          </div>
        ))}
        {paths.length > 200 && <p className="muted">{paths.length - 200} more: see the JSON</p>}
      </div>
      <details className="twin">
        <summary>As JSON</summary>
        {before !== undefined && <JsonView value={before} label="Before" />}
        {after !== undefined && <JsonView value={after} label="After" />}
      </details>
    </>
  );
}

type Check = { state: "runs"; seq: number } | { state: "whole" | "broken"; report: AuditReport } | { state: "failed"; error: ApiError };

// Chain verifies the log from its first row on, and saves it as a file.
function Chain({ tenant }: { tenant: string }) {
  const [check, setCheck] = useState<Check>();
  const [saved, setSaved] = useState<string>();
  const stop = useRef(new AbortController());
  const verify = async () => {
    stop.current = new AbortController();
    const signal = stop.current.signal;
    let at: { after_seq?: number; after_hash?: string } = {};
    try {
      for (;;) {
        setCheck({ state: "runs", seq: at.after_seq ?? 0 });
        const report: AuditReport = await call<AuditReport>(tenant, "/v1/audit/verify", { query: at, signal });
        if (report.broken || report.complete) {
          setCheck({ state: report.broken ? "broken" : "whole", report });
          say(report.broken ? "The chain is broken" : "The log is whole");
          return;
        }
        at = { after_seq: report.seq, ...(report.hash && { after_hash: report.hash }) };
      }
    } catch (e) {
      setCheck(signal.aborted ? undefined : { state: "failed", error: e instanceof ApiError ? e : new ApiError("internal", 0, "The log could not be verified.") });
    }
  };
  const exports = async () => {
    const parts: string[] = [];
    let [after, rows] = [0, 0];
    try {
      for (;;) {
        setSaved(`${count(rows)} rows…`);
        const text = await (await send(tenant, "/v1/audit/export", { query: { after_seq: after || undefined } }, "application/x-ndjson")).text();
        const lines = text.trimEnd().split("\n").filter(Boolean);
        if (lines.length === 0) break;
        parts.push(text.endsWith("\n") ? text : text + "\n");
        rows += lines.length;
        after = JSON.parse(lines.at(-1)!).seq;
      }
      save(`audit-${tenant}-${new Date().toISOString().slice(0, 10)}.ndjson`, new Blob(parts, { type: "application/x-ndjson" }));
      setSaved(`${count(rows)} sealed rows saved. Without the server: toolcrib audit verify --file audit-….ndjson`);
    } catch (e) {
      setSaved(e instanceof ApiError ? e.detail : "The log could not be exported.");
    }
  };
  return (
    <section className="panel" aria-labelledby="chain">
      <div className="panel-head">
        <h2 id="chain">The chain</h2>
        {check?.state === "runs" ? (
          <button type="button" className="button" onClick={() => stop.current.abort()}>Stop</button>
        ) : (
          <button type="button" className="button" onClick={() => void verify()}>Verify</button>
        )}
        <button type="button" className="button" onClick={() => void exports()}>Export</button>
      </div>
      <div role="status">
        {check?.state === "runs" && <p className="muted"><progress aria-label="Verifying" /> {count(check.seq)} rows are whole so far</p>}
        {check?.state === "whole" && (
          <p className="notice good">
            The log is whole: every row up to number {count(check.report.seq)} is as it was sealed, and none is missing.
            {check.report.unsealed > 0 && ` ${count(check.report.unsealed)} newer rows are sealed within a second or two.`}
            {check.report.hash && <> To prove later that it is still this chain, keep its head elsewhere: <code className="wrap">{check.report.seq}:{check.report.hash}</code></>}
          </p>
        )}
        {check?.state === "broken" && check.report.broken && (
          <p className="notice bad">
            <strong>The chain is broken at number {count(check.report.broken.seq)}:</strong> {check.report.broken.reason}. Rows before it are whole. What is from there on was
            changed or removed past the platform, by a person or program that can write to the database, or by a restore of it. Keep an export and a copy of the database as they
            are, compare with a head or an export that was kept elsewhere, and look at who has the database's passwords.
          </p>
        )}
        {check?.state === "failed" && <p className="notice bad">{check.error.detail}</p>}
        {!check && <p className="muted">Verify computes the hash of every row again. Export saves all sealed rows as a file that is verified without the server.</p>}
        {saved && <p className="muted">{saved}</p>}
      </div>
    </section>
  );
}
