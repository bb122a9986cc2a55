import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api/client";
import { pendingCall, pendingCalls, post, type PendingCall, type SubmitToken } from "../../api/inbox";
import { print } from "../../api/json";
import { json, tool } from "../../api/queries";
import { CallAnswer } from "../../form/callanswer";
import { Buckets, Choice } from "../../ui/filters";
import { JsonView } from "../../ui/json";
import { Drawer, Pager, Rows } from "../../ui/list";
import { Badge, Copy, Facts, Id, Status, Time } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Ask, Field, text } from "./ask";
import { Inbox, orders } from "./frame";
import { statuses } from "./inputs";
import { Until, Who } from "./parts";
import { Submit } from "./submit";

export function Calls() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/inbox/calls" });
  const navigate = useNavigate({ from: "/t/$tenant/inbox/calls" });
  const status = search.status ?? (search.open ? "all" : "open");
  const query = { status: status === "all" ? "" : status, tool: search.tool, cursor: search.cursor, order: search.order };
  const found = useQuery(pendingCalls(tenant, { ...query, limit: 50 }));
  const set = (change: Partial<typeof search>) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true });
  return (
    <Inbox about="Calls that a program or a browser answers, not the platform. Where that does not happen, submit a result by hand."
      cli={words("toolcrib", "results", "list", ...option("status", query.status), ...option("tool", query.tool))}
      api={address("/v1/pending-tool-calls", query)}>
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Status" value={query.status} options={statuses} onChange={(v) => set({ status: v || "all" })} />
            <Buckets label="Order" value={query.order ?? ""} options={orders} onChange={(v) => set({ order: v || undefined })} />
            {search.tool && <Choice label="Tool" value={search.tool} options={[search.tool]} onChange={(v) => set({ tool: v || undefined })} />}
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of calls" />
          ) : found.data.items.length === 0 ? (
            <Empty title={query.status === "open" ? "No call waits for a result" : "No call matches"}>
              {query.status === "open" && "A call of a tool of the type client or a2ui waits here until the program that shows it answers."}
            </Empty>
          ) : (
            <>
              <Rows label="Calls" rows={found.data.items} keyOf={(c) => c.id} current={search.open}
                columns={[
                  {
                    name: "Call",
                    show: (c) => (
                      <Link from="/t/$tenant/inbox/calls" search={(s) => ({ ...s, status, open: c.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                        <span className="slug">{c.tool}@{c.version}</span>
                        <span className="muted line">{c.arguments !== undefined && print(c.arguments).slice(0, 160)}</span>
                      </Link>
                    ),
                  },
                  { name: "Status", show: (c) => <Status value={c.status} /> },
                  { name: "Intent", from: "wide", show: (c) => c.intent ?? <span className="none">–</span> },
                  { name: "Caller waits until", from: "medium", end: true, show: (c) => (open(c) ? <Until at={c.answer_by} /> : <Time at={c.resolved_at} />) },
                  { name: "Made", end: true, show: (c) => <Time at={c.created_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {search.open && (
          <Call key={search.open} tenant={tenant} id={search.open}
            onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />
        )}
      </div>
    </Inbox>
  );
}

const open = (c: PendingCall): boolean => c.status === "waiting" || c.status === "pending";

function Call({ tenant, id, onClose }: { tenant: string; id: string; onClose: () => void }) {
  const found = useQuery(pendingCall(tenant, id));
  const of = useQuery({ ...tool(tenant, found.data?.tool ?? ""), enabled: !!found.data }).data;
  const [asks, setAsks] = useState<"submit" | "token">();
  const [token, setToken] = useState<SubmitToken>();
  const c = found.data;
  return (
    <Drawer title={c ? `${c.tool}@${c.version}` : "Call"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The call" />
      ) : (
        <>
          <p className="badges">
            <Status value={found.data.status} />
            {found.data.intent && <Badge>{found.data.intent}</Badge>}
            {found.data.is_async && <Badge>the caller went on</Badge>}
            {found.data.late && <Badge tone="warn">the result came late</Badge>}
          </p>
          {open(found.data) && (
            <p className="actions">
              <button type="button" className="button primary" onClick={() => setAsks("submit")}>Submit a result…</button>
              <button type="button" className="button" onClick={() => setAsks("token")}>Make a token…</button>
            </p>
          )}
          {token && (
            <div className="notice good">
              <p>Who has this token can see the call and submit its result, once; until <Time at={token.expires_at} />. It is shown once.</p>
              <p className="secret"><code>{token.token}</code> <Copy text={token.token} label="Copy the token" /></p>
            </div>
          )}
          <h3>Arguments</h3>
          <JsonView value={json(found.data.arguments)} label="Arguments" />
          {found.data.result && (
            <>
              <h3>Result</h3>
              <CallAnswer tenant={tenant} tool={found.data.tool} version={found.data.version} result={found.data.result} />
            </>
          )}
          <Facts of={[
            ["Tool", <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: found.data.tool }}>{found.data.tool}@{found.data.version}</Link>],
            ["For", found.data.subject && <Who tenant={tenant} subject={found.data.subject} />],
            ["Caller waits until", open(found.data) && found.data.answer_by && <Until at={found.data.answer_by} />],
            ["Taken until", <Time at={found.data.expires_at} />],
            ["Submitted by", found.data.submitted_by && <Who tenant={tenant} subject={found.data.submitted_by} />],
            ["Submitted", found.data.resolved_at && <Time at={found.data.resolved_at} />],
            ["Run", <Link to="/t/$tenant/runs/$run" params={{ tenant, run: found.data.root_run_id }}>the run that made the call</Link>],
            ["Call id", <code>{found.data.call_id}</code>],
            ["Invocation", <Id value={found.data.id} />],
          ]} />
          {asks === "submit" && (
            <Submit tenant={tenant} id={id} title={`Submit the result of ${found.data.tool}@${found.data.version}`} begin="{}" errors schema={json(of?.output_schema)}
              onClose={() => setAsks(undefined)} />
          )}
          {asks === "token" && (
            <Ask title="Make a token for this call?" action="Make the token" onClose={() => setAsks(undefined)}
              about="For a browser, which has no key. It may see this call and submit its result, once."
              run={(given) => post<SubmitToken>(tenant, `/v1/pending-tool-calls/${id}/token`, { expires_s: Number(text(given, "expires_s")) })}
              onDone={(made) => {
                setToken(made);
                setAsks(undefined);
              }}>
              <Field name="expires_s" label="Good for">
                <select defaultValue="3600">
                  <option value="600">ten minutes</option>
                  <option value="3600">an hour</option>
                </select>
              </Field>
            </Ask>
          )}
        </>
      )}
    </Drawer>
  );
}
