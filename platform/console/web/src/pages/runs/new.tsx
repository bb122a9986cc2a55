import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { address } from "../../api/client";
import { parse, print, type Json } from "../../api/json";
import { agent, agents, may, me, run, type Run } from "../../api/queries";
import { post } from "../../api/runs";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Back, Status } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Absent, Empty, Loading } from "../../ui/states";
import { why } from "./controls";

// NewRun starts a run of an agent, with a message, or with the input of another run.
export function NewRun() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/runs/new" });
  const who = useQuery(me(tenant));
  const before = useQuery({ ...run(tenant, search.from ?? ""), enabled: !!search.from });
  return (
    <Page title="New run" back={<Back to="/t/$tenant/runs" params={{ tenant }}>Runs</Back>} about="An agent answers a message, and calls its tools on the way."
      cli={words("toolcrib", "run", "start", search.agent ?? "supportDesk", ...option("mode", search.mode), "--input", "Where is my order?")} api={address("/v1/runs")}>
      {who.isPending || (search.from && before.isPending) ? (
        <Loading rows={4} />
      ) : !may(who.data, "runs.write") ? (
        <Absent what="Starting runs" permissions={["runs.write"]} />
      ) : (
        <Form tenant={tenant} before={before.data} />
      )}
    </Page>
  );
}

function Form({ tenant, before }: { tenant: string; before: Run | undefined }) {
  const search = useSearch({ from: "/t/$tenant/runs/new" });
  const navigate = useNavigate({ from: "/t/$tenant/runs/new" });
  const input = before?.input as Json | undefined;
  const asJson = input !== undefined && typeof input !== "string";
  const [text, setText] = useState(input === undefined ? "" : typeof input === "string" ? input : print(input, 2));
  const [json, setJson] = useState(asJson);
  const [slug, setSlug] = useState(search.agent ?? "");
  const once = useRef(crypto.randomUUID());
  const found = useQuery(agents(tenant, { search: slug, limit: 20 }));
  const chosen = useQuery({ ...agent(tenant, slug), enabled: slug !== "" && !!found.data?.items.some((a) => a.slug === slug), retry: false });
  const bad = json && text.trim() !== "" ? problem(text) : undefined;
  const debug = search.mode === "debug";
  const start = useMutation({
    mutationFn: () => post<Run>(tenant, "/v1/runs", {
      agent: slug, input: json ? parse(text) : text, ...(debug && { mode: "debug" }), ...(search.version && { version: search.version }),
    }, once.current),
    onSuccess: async (r) => {
      say("The run is recorded, and begins.");
      await navigate({ to: "/t/$tenant/runs/$run", params: { tenant, run: r.id } });
    },
    onError: () => (once.current = crypto.randomUUID()),
  });
  if (found.data && found.data.items.length === 0 && slug === "") {
    return <Empty title="There is no agent yet" command="toolcrib apply -f agent.yaml">A run is the work of an agent: make one, and publish it.</Empty>;
  }
  return (
    <form className="narrow new-run" onSubmit={(e) => {
      e.preventDefault();
      if (!bad) start.mutate();
    }}>
      <div className="pair">
        <p>
          <label htmlFor="agent">Agent</label>
          <input id="agent" list="agents" required value={slug} spellCheck={false} autoComplete="off" placeholder="Slug of an agent"
            onChange={(e) => setSlug(e.target.value.trim())}
            onBlur={() => void navigate({ search: (s) => ({ ...s, agent: slug || undefined }), replace: true })} />
          <datalist id="agents">{found.data?.items.map((a) => <option key={a.id} value={a.slug}>{a.name}</option>)}</datalist>
        </p>
        <p>
          <label htmlFor="version">Version <span className="muted">(optional)</span></label>
          <input id="version" value={search.version ?? ""} placeholder="the highest published one" maxLength={100} spellCheck={false}
            onChange={(e) => void navigate({ search: (s) => ({ ...s, version: e.target.value || undefined }), replace: true })} />
        </p>
        <p>
          <label htmlFor="mode">Mode</label>
          <select id="mode" value={debug ? "debug" : "production"}
            onChange={(e) => void navigate({ search: (s) => ({ ...s, mode: e.target.value === "debug" ? "debug" : undefined }), replace: true })}>
            <option value="production">production: what is published</option>
            <option value="debug">debug: drafts too</option>
          </select>
        </p>
      </div>
      {chosen.data && <p className="muted"><Status value={chosen.data.status} /> {chosen.data.description}</p>}
      <p>
        <label htmlFor="message">{json ? "Input, as JSON" : "Message"}</label>
        <textarea id="message" rows={8} required value={text} className={json ? "mono" : undefined} onChange={(e) => setText(e.target.value)}
          aria-invalid={!!bad} aria-describedby={bad ? "message-bad" : undefined} spellCheck={!json} />
      </p>
      {bad && <p className="error" id="message-bad">{bad}</p>}
      <label className="check"><input type="checkbox" checked={json} onChange={(e) => setJson(e.target.checked)} /> The input is JSON</label>
      {start.error && <p className="error" role="alert">{why(start.error)}</p>}
      <p className="actions">
        <button type="submit" className="button primary" disabled={start.isPending || !slug || text.trim() === "" || !!bad}>{start.isPending ? "Starting…" : "Start"}</button>
      </p>
    </form>
  );
}

function problem(text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (e) {
    return e instanceof Error ? `It is ${e.message}.` : "It is not JSON.";
  }
}
