import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { address, ApiError } from "../../api/client";
import { inputRequest, inputs, post, type InputLink, type InputRequest, type Submitted } from "../../api/inbox";
import type { Json } from "../../api/json";
import { json } from "../../api/queries";
import { Buckets } from "../../ui/filters";
import { Described } from "../../form/described";
import { InputForm } from "../../form";
import { displays, type Field } from "../../form/spec";
import { JsonView } from "../../ui/json";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Copy, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Ask, Field as Asked, Refusal, text } from "./ask";
import { Inbox, orders } from "./frame";
import { Until, Who } from "./parts";

export const statuses = [["open", "Open"], ["", "All"], ["resolved", "Answered"], ["expired", "Expired"], ["cancelled", "Cancelled"]] as const;

export function Inputs() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/inbox/inputs" });
  const navigate = useNavigate({ from: "/t/$tenant/inbox/inputs" });
  const status = search.status ?? (search.open ? "all" : "open");
  const query = { status: status === "all" ? "" : status, cursor: search.cursor, order: search.order };
  const found = useQuery(inputs(tenant, { ...query, limit: 50 }));
  const set = (change: Partial<typeof search>) => void navigate({ search: (s) => ({ ...s, cursor: undefined, ...change }), replace: true });
  return (
    <Inbox about="What agents ask people. An answer goes to the run, which waits for it or takes it up later."
      cli={words("toolcrib", "inputs", "list", ...option("status", query.status))} api={address("/v1/input-requests", query)}>
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          <div className="filters">
            <Buckets label="Status" value={query.status} options={statuses} onChange={(v) => set({ status: v || "all" })} />
            <Buckets label="Order" value={query.order ?? ""} options={orders} onChange={(v) => set({ order: v || undefined })} />
          </div>
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of requests" />
          ) : found.data.items.length === 0 ? (
            <Empty title={query.status === "open" ? "No agent asks anything" : "No request matches"}>
              {query.status === "open" && "A tool of the type input asks a person for text, a choice, marks on an image, or consent. What it asks is listed here."}
            </Empty>
          ) : (
            <>
              <Rows label="Requests for input" rows={found.data.items} keyOf={(r) => r.view_id} current={search.open}
                columns={[
                  {
                    name: "Asks",
                    show: (r) => (
                      <Link from="/t/$tenant/inbox/inputs" search={(s) => ({ ...s, status, open: r.view_id })} className="row-link" replace={!!search.open} resetScroll={false}>
                        <strong>{r.title}</strong>
                        <span className="muted line">{r.instructions}</span>
                      </Link>
                    ),
                  },
                  { name: "Status", show: (r) => <Status value={r.status} /> },
                  { name: "Answered by", from: "wide", show: (r) => (r.answered_by ? <Who tenant={tenant} subject={r.answered_by} /> : <span className="none">–</span>) },
                  { name: "Run waits until", from: "medium", end: true, show: (r) => (open(r) ? <Until at={r.answer_by} /> : <Time at={r.answered_at} />) },
                  { name: "Asked", end: true, show: (r) => <Time at={r.created_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {search.open && (
          <Request key={search.open} tenant={tenant} id={search.open}
            onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />
        )}
      </div>
    </Inbox>
  );
}

const open = (r: InputRequest): boolean => r.status === "waiting" || r.status === "pending";

function Request({ tenant, id, onClose }: { tenant: string; id: string; onClose: () => void }) {
  const found = useQuery(inputRequest(tenant, id));
  const [asks, setAsks] = useState<"link" | "revoke">();
  const [link, setLink] = useState<InputLink>();
  const client = useQueryClient();
  const r = found.data;
  return (
    <Drawer title={r?.title ?? "Request for input"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The request" />
      ) : (
        <>
          <p className="badges">
            <Status value={found.data.status} />
            {found.data.status === "waiting" && <span className="muted">the run waits; until <Until at={found.data.answer_by} /></span>}
            {found.data.status === "pending" && <span className="muted">the run went on; an answer goes to its inbox</span>}
          </p>
          {found.data.instructions && <Text>{found.data.instructions}</Text>}
          {open(found.data) && <Answer tenant={tenant} of={found.data} />}
          {open(found.data) && (
            <p className="actions">
              <button type="button" className="button" onClick={() => setAsks("link")}>Make a link to answer…</button>
              <button type="button" className="button danger" onClick={() => setAsks("revoke")}>Revoke links…</button>
            </p>
          )}
          {link && (
            <div className="notice good">
              <p>Who has this link can see the request and answer it, once; until <Time at={link.expires_at} />.</p>
              <p className="secret">
                <a href={link.share_url} target="_blank" rel="noopener noreferrer nofollow">Open the page</a>
                <code>{link.share_url}</code> <Copy text={link.share_url} label="Copy the link" />
              </p>
            </div>
          )}
          {found.data.answer !== undefined && (
            <>
              <h3>Answer</h3>
              <JsonView value={json(found.data.answer)} label="Answer" />
            </>
          )}
          {(!open(found.data) || !here(found.data)) && (
            <>
              <h3>What is asked</h3>
              <Described spec={{ fields: fieldsOf(found.data) }} />
            </>
          )}
          <Facts of={[
            ["Answered by", found.data.answered_by && <Who tenant={tenant} subject={found.data.answered_by} />],
            ["Answered", found.data.answered_at && <Time at={found.data.answered_at} />],
            ["Taken until", <Time at={found.data.expires_at} />],
            ["Run", <Link to="/t/$tenant/runs/$run" params={{ tenant, run: found.data.root_run_id }}>the run that asks</Link>],
            ["Request", <Id value={found.data.view_id} />],
          ]} />
          {asks === "link" && (
            <Ask title="Make a link to the page of this request?" action="Make the link" onClose={() => setAsks(undefined)}
              about="For a person without an account, or for you. It is shown once."
              run={(given) => post<InputLink>(tenant, `/v1/input-requests/${id}/link`, { expires_s: Number(text(given, "expires_s")) })}
              onDone={(made) => {
                setLink(made);
                setAsks(undefined);
              }}>
              <Asked name="expires_s" label="Good for">
                <select defaultValue="86400">
                  <option value="3600">an hour</option>
                  <option value="86400">a day</option>
                  <option value="604800">a week</option>
                </select>
              </Asked>
            </Ask>
          )}
          {asks === "revoke" && (
            <Ask title="Revoke all links of this request?" action="Revoke" danger onClose={() => setAsks(undefined)}
              about="Links and tokens that were made until now open nothing any more. The request stays open."
              run={() => post<InputRequest>(tenant, `/v1/input-requests/${id}/revoke`)}
              onDone={() => {
                setLink(undefined);
                setAsks(undefined);
                say("All links are revoked.");
                void client.invalidateQueries({ queryKey: [tenant, "inputs"] });
              }} />
          )}
        </>
      )}
    </Drawer>
  );
}

const fieldsOf = (r: InputRequest): Field[] => (r.fields ?? []) as unknown as Field[];

// here is whether a request is answered in the inbox: files and marks on images are taken on its own page.
const here = (r: InputRequest): boolean => fieldsOf(r).every((f) => f.type !== "media" && f.type !== "file" && f.type !== "object" && Object.hasOwn(displays, f.type));

// Answer is the form of a request. What the server refuses is shown at its field.
function Answer({ tenant, of: r }: { tenant: string; of: InputRequest }) {
  const client = useQueryClient();
  const spec = useMemo(() => ({ fields: fieldsOf(r) }), [r.fields]);
  const submit = useMutation({
    mutationFn: (answer: Json) =>
      post<Submitted>(tenant, `/v1/pending-tool-calls/${r.view_id}/result`, { result: { kind: "input_request", view_id: r.view_id, answer } }),
    onSuccess: (done) => say(done.repeated ? "It had an answer before, which it keeps." : "Answered."),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [tenant, "inputs"] });
      void client.invalidateQueries({ queryKey: [tenant, "pending-calls"] });
    },
  });
  const errors = useMemo(() => byField(submit.error), [submit.error]);
  if (!here(r)) return <p className="notice">It asks for a file, or for marks on an image: make a link, and answer on its page.</p>;
  return (
    <div className="answering">
      <InputForm spec={spec} tenant={tenant} action={submit.isPending ? "Sending…" : "Answer"} isLoading={submit.isPending} errors={errors} onSubmit={(answer) => submit.mutate(answer)} />
      {Object.keys(errors).length === 0 && <Refusal error={submit.error} />}
    </div>
  );
}

const answerPath = "/result/answer";

// byField are what was refused of an answer, by the place in it.
function byField(error: unknown): Record<string, string> {
  const found = error instanceof ApiError ? error.faults.filter((f) => f.path?.startsWith(answerPath + "/")) : [];
  return Object.fromEntries(found.map((f) => [f.path!.slice(answerPath.length), f.detail]));
}
