import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { address } from "../api/client";
import { print } from "../api/json";
import { may, me, runs, type Run } from "../api/queries";
import { Buckets, Choice, Search } from "../ui/filters";
import { Pager, Rows } from "../ui/list";
import { Page } from "../ui/page";
import { Badge, Status, Time, took } from "../ui/parts";
import { option, words } from "../ui/shellwords";
import { Empty, Failed, Loading } from "../ui/states";
import { Named } from "./runs/calls";
import { Range, range } from "./runs/range";

const statuses = [["", "All"], ["running", "Running"], ["completed", "Completed"], ["failed", "Failed"]] as const;

export function Runs() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/runs" });
  const navigate = useNavigate({ from: "/t/$tenant/runs" });
  const query = { ...search, ...range(search) };
  const found = useQuery(runs(tenant, { ...query, limit: 50 }));
  const who = useQuery(me(tenant));
  const set = useCallback((change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true }), [navigate]);
  const onAgent = useCallback((v: string) => set({ agent: v }), [set]);
  const filtered = Object.keys(search).some((k) => k !== "cursor");
  return (
    <Page title="Runs" about="Agents at work, and single calls, newest first." cli={words("toolcrib", "run", "list", ...option("status", search.status), ...option("kind", search.kind), ...option("agent", search.agent), search.paused ? "--paused" : "")}
      api={address("/v1/runs", query)}
      actions={may(who.data, "runs.write") && <Link className="button primary" to="/t/$tenant/runs/new" params={{ tenant }} search={search.agent ? { agent: search.agent } : {}}>Start a run</Link>}>
      <div className="filters">
        <Search value={search.agent ?? ""} onChange={onAgent} label="Slug of an agent" />
        <Buckets label="Status" value={search.status ?? ""} options={statuses} onChange={(v) => set({ status: v })} />
        <Choice label="Other status" value={search.status ?? ""} options={["pending", "cancelled", "hosted"]} onChange={(v) => set({ status: v })} />
        <label className="check"><input type="checkbox" checked={search.paused === "true"} onChange={(e) => set({ paused: e.target.checked ? "true" : undefined })} /> Paused</label>
        <Choice label="Kind" value={search.kind ?? ""} options={["agent", "tool_call", "tool_test", "host"]} onChange={(v) => set({ kind: v })} />
        <Choice label="Mode" value={search.mode ?? ""} options={["production", "debug"]} onChange={(v) => set({ mode: v })} />
        <Named label="On behalf of" value={search.subject} onChange={(v) => set({ subject: v })} />
        <Range of={search} onChange={(d) => set(d)} />
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of runs" />
      ) : found.data.items.length === 0 ? (
        filtered ? (
          <Empty title="No run matches these filters">
            <button type="button" className="button" onClick={() => void navigate({ search: {} })}>Clear the filters</button>
          </Empty>
        ) : (
          <Empty title="Nothing has run yet" command="toolcrib run start supportDesk --input 'Where is my order?'" />
        )
      ) : (
        <>
          <Rows label="Runs" rows={found.data.items} keyOf={(r) => r.id}
            columns={[
              {
                name: "Run",
                show: (r) => (
                  <Link to="/t/$tenant/runs/$run" params={{ tenant, run: r.id }} className="row-link">
                    <span className="slug">{r.agent ?? r.tool ?? r.kind.replaceAll("_", " ")}</span>
                    <span className="muted line">{preview(r)}</span>
                  </Link>
                ),
              },
              { name: "Status", show: (r) => <RunStatus of={r} /> },
              { name: "Kind", from: "wide", show: (r) => <Badge>{r.kind.replaceAll("_", " ")}</Badge> },
              { name: "Turns", from: "medium", end: true, show: (r) => r.turns },
              { name: "Took", from: "medium", end: true, show: (r) => took(r.started_at, r.completed_at) },
              { name: "Begun", end: true, show: (r) => <Time at={r.created_at} /> },
            ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
            onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
        </>
      )}
    </Page>
  );
}

function preview(r: Run): string {
  const input = r.input as unknown;
  const text = typeof input === "string" ? input : input === undefined ? "" : print(input);
  return text.slice(0, 200) || (r.kind === "tool_call" ? "a call without an agent" : r.kind === "tool_test" ? "a test" : r.id);
}

export function RunStatus({ of }: { of: Run }) {
  return <Status value={of.paused ? "paused" : of.status} />;
}
