import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { address } from "../../api/client";
import { print, type Json } from "../../api/json";
import { at, json, toolForm } from "../../api/queries";
import {
  aggregate, post, submissions, toolSession, why, type LinkedToolSession, type ToolSession, type ToolSessionAggregate, type ToolSubmission,
} from "../../api/share";
import { useLive } from "../../api/stream";
import { InputForm } from "../../form";
import type { FormSpec } from "../../form/spec";
import { CallAnswer } from "../../form/callanswer";
import { JsonView } from "../../ui/json";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Back, Badge, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, once, Subject, useMay } from "../govern/parts";
import { AskLink, LinkOnce, Switch } from "./link";
import { refusedAt } from "./refused";

const from = "/t/$tenant/sessions/$session";

// SessionPage is a session as it goes on: what was submitted, and what it comes to.
export function SessionPage() {
  const { tenant, session: id } = useParams({ from });
  const { paused } = useLive();
  const again = (s: ToolSession | undefined) => (!paused && s?.status === "active" ? 3000 : false);
  const found = useQuery({ ...toolSession(tenant, id), refetchInterval: (q) => again(q.state.data) });
  const s = found.data;
  return (
    <Page title={s?.title ?? "Session"} heading={<>{s?.title ?? "Session"} {s && <Status value={s.status} />}</>}
      back={s ? <Back to="/t/$tenant/tools/$tool" params={{ tenant, tool: s.tool }}>{s.tool}</Back> : undefined}
      cli={words("toolcrib", "tool-session", "show", id)} api={address(`/v1/tool-sessions/${at(id)}`)}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The session" />
      ) : (
        <Session tenant={tenant} of={found.data} every={again(found.data)} />
      )}
    </Page>
  );
}

type Asks = "link" | "unlink" | "complete" | "cancel";

function Session({ tenant, of: s, every }: { tenant: string; of: ToolSession; every: number | false }) {
  const may = useMay(tenant);
  const client = useQueryClient();
  const [asks, setAsks] = useState<Asks>();
  const [link, setLink] = useState<string>();
  const path = `/v1/tool-sessions/${at(s.id)}`;
  const close = () => setAsks(undefined);
  const changed = () => {
    void client.invalidateQueries({ queryKey: [tenant, "tool-session", s.id] });
    void client.invalidateQueries({ queryKey: [tenant, "tool-sessions"] });
  };
  const active = s.status === "active";
  return (
    <>
      {active && <Switch tenant={tenant} />}
      {link && <LinkOnce url={link} about="Everyone who has it can submit, without a login." onClose={() => setLink(undefined)} />}
      {active && (
        <p className="actions">
          <Allowed may={may} permission="views.write">
            <button type="button" className="button" onClick={() => setAsks("link")}>{s.linked ? "Another link…" : "Make a link…"}</button>
            {s.linked && <button type="button" className="button" onClick={() => setAsks("unlink")}>Revoke the link…</button>}
          </Allowed>
          {may("runs.write") && (
            <>
              <button type="button" className="button" onClick={() => setAsks("complete")}>Complete…</button>
              <button type="button" className="button danger" onClick={() => setAsks("cancel")}>Cancel…</button>
            </>
          )}
        </p>
      )}
      <div className="columns session">
        <section>
          <h2>What it comes to</h2>
          <Joined tenant={tenant} of={s} every={every} may={may} />
          <h2>Session</h2>
          <Facts of={[
            ["Tool", <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: s.tool }}>{s.tool}@{s.version}</Link>],
            ["Submissions", String(s.submissions)],
            ["Link", s.linked ? <>until <Time at={s.link_until} /></> : "none"],
            ["About", s.entity_ids.length > 0 && s.entity_ids.join(", ")],
            ["Started", <Time at={s.created_at} />],
            ["By", <Subject of={s.created_by} />],
            ["Ended", s.ended_at && <Time at={s.ended_at} />],
            ["Id", <Id value={s.id} />],
          ]} />
          {print(json(s.config) ?? {}) !== "{}" && (
            <>
              <h3>The same for each submission</h3>
              <JsonView value={json(s.config)} label="Inputs that are fixed" />
            </>
          )}
        </section>
        <section>
          {active && may("runs.write") && <Submit tenant={tenant} of={s} onDone={changed} />}
          <h2>Submissions</h2>
          <Submissions tenant={tenant} of={s} every={every} />
        </section>
      </div>
      {asks === "link" && (
        <AskLink title={s.linked ? "Give it another link?" : "Make a link?"} action="Make the link" onClose={close}
          about={`Everyone who has the link can submit without a login.${s.linked ? " The link that it has opens nothing any more." : ""}`}
          make={(expires_in_seconds) => post<LinkedToolSession>(tenant, `${path}/link`, { expires_in_seconds })
            .then(done("The link was made.")).then((made) => (setLink(made.url), changed()))} />
      )}
      {asks === "unlink" && (
        <Confirm title="Revoke the link?" action="Revoke it" onClose={close}
          onSend={() => post(tenant, `${path}/link`, undefined, "DELETE").then(done("The link opens nothing any more.")).then(() => (setLink(undefined), changed()))}>
          <p>It opens nothing from then on. The session goes on.</p>
        </Confirm>
      )}
      {(asks === "complete" || asks === "cancel") && (
        <Confirm title={asks === "complete" ? "Complete the session?" : "Cancel the session?"} action={asks === "complete" ? "Complete it" : "Cancel it"} onClose={close}
          onSend={() => post(tenant, `${path}/${asks}`, undefined).then(done("The session has ended.")).then(() => (setLink(undefined), changed()))}>
          <p>It takes no submissions any more, and its link opens nothing, for good.</p>
        </Confirm>
      )}
    </>
  );
}

function Joined({ tenant, of: s, every, may }: { tenant: string; of: ToolSession; every: number | false; may: (p: string) => boolean }) {
  const found = useQuery({ ...aggregate(tenant, s.id), refetchInterval: every });
  const [joined, setJoined] = useState<ToolSessionAggregate>();
  const [error, setError] = useState<unknown>();
  const [asking, setAsking] = useState(false);
  if (found.isPending) return <Loading rows={3} />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The aggregate" />;
  const a = found.data;
  const groups = a.groups ?? [];
  const most = Math.max(1, ...groups.map((g) => g.count));
  const value = json(a.value);
  const join = async () => {
    setAsking(true);
    setError(undefined);
    try {
      setJoined(await post<ToolSessionAggregate>(tenant, `/v1/tool-sessions/${at(s.id)}/aggregate`, undefined));
      say("The submissions were joined.");
    } catch (e) {
      setError(e);
    }
    setAsking(false);
  };
  return (
    <div className="joined" aria-live="polite">
      <p className="muted"><code>{s.aggregate}</code> of {a.submissions} that ended with a result{a.left_out ? `; ${a.left_out} without such a value` : ""}</p>
      {groups.length > 0 ? (
        <ul className="votes">
          {groups.map((g) => (
            <li key={g.value}>
              <span className="vote-name">{g.value}</span>
              <strong>{g.count}</strong>
              <progress max={most} value={g.count} aria-label={g.value} />
            </li>
          ))}
        </ul>
      ) : a.ranked && a.ranked.length > 0 ? (
        <ol className="votes">
          {a.ranked.map((r) => (
            <li key={r.submission_id}>
              <Link from={from} search={(x) => ({ ...x, open: r.submission_id })} className="vote-name">…{r.submission_id.slice(-12)}</Link>
              <strong>{print(json(r.value) ?? null)}</strong>
            </li>
          ))}
        </ol>
      ) : (
        value !== undefined && <p className="joined-value">{print(value)}</p>
      )}
      {!!a.more && <p className="muted">{a.more} more are not listed.</p>}
      {a.function === "tool" && may("runs.write") && (
        <p className="actions"><button type="button" className="button" disabled={asking} onClick={() => void join()}>{asking ? "Joining…" : `Have ${s.aggregate} join them`}</button></p>
      )}
      {error !== undefined && <p className="error" role="alert">{why(error)}</p>}
      {joined?.output !== undefined && <JsonView value={json(joined.output)} label="What the tool made of them" />}
      {joined?.run_id && <p><Link to="/t/$tenant/runs/$run" params={{ tenant, run: joined.run_id }}>The run of its call</Link></p>}
    </div>
  );
}

function Submit({ tenant, of: s, onDone }: { tenant: string; of: ToolSession; onDone: () => void }) {
  const form = useQuery(toolForm(tenant, s.tool, s.version));
  const [sent, setSent] = useState({ n: 0, key: once() });
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const spec = form.data?.input as FormSpec | undefined;
  const asked = useMemo(() => {
    const config = json(s.config);
    const fixed = config !== null && typeof config === "object" ? Object.keys(config) : [];
    return spec && { ...spec, fields: spec.fields.filter((f) => !fixed.includes(f.key)) };
  }, [spec, s.config]);
  if (!asked) return null;
  const send = async (input: Json) => {
    setSending(true);
    setError(undefined);
    try {
      const made = await post<ToolSubmission>(tenant, `/v1/tool-sessions/${at(s.id)}/submissions`, { input, wait_s: 5 }, "POST", sent.key);
      say(made.status === "failed" ? "It was submitted, and its call failed." : "Submitted.");
      setSent((x) => ({ n: x.n + 1, key: once() }));
      onDone();
    } catch (e) {
      setError(e);
      setSent((x) => ({ ...x, key: once() }));
    }
    setSending(false);
  };
  return (
    <details className="submit">
      <summary>Submit yourself</summary>
      <InputForm key={sent.n} tenant={tenant} spec={asked} action="Submit" isLoading={sending} errors={refusedAt(error, "/input")} onSubmit={(v) => void send(v)} />
      {error !== undefined && <p className="error" role="alert">{why(error)}</p>}
    </details>
  );
}

function Submissions({ tenant, of, every }: { tenant: string; of: ToolSession; every: number | false }) {
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const found = useQuery({ ...submissions(tenant, of.id, { cursor: search.cursor, limit: 50 }), refetchInterval: every });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of submissions" />;
  const opened = found.data.items.find((b) => b.id === search.open);
  if (found.data.items.length === 0) {
    return (
      <Empty title="Nothing was submitted yet" command={words("toolcrib", "tool-session", "submit", of.id, "--input", "{}")}>
        {of.status === "active" && "Make a link, and share it; or submit here."}
      </Empty>
    );
  }
  return (
    <>
      <Rows label="Submissions" rows={found.data.items} keyOf={(b) => b.id} current={search.open}
        columns={[
          {
            name: "By",
            show: (b) => (
              <Link from={from} search={(x) => ({ ...x, open: b.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                <strong>{b.untrusted ? b.guest || "A guest" : <Subject of={b.subject} />}</strong>
                <span className="muted line">{print(json(b.input) ?? null).slice(0, 160)}</span>
              </Link>
            ),
          },
          { name: "Status", show: (b) => <Status value={b.status} /> },
          { name: "Came", from: "medium", show: (b) => (b.untrusted ? <Badge tone="warn">by the link</Badge> : <Badge>with a key</Badge>) },
          { name: "At", from: "medium", end: true, show: (b) => <Time at={b.created_at} /> },
        ]} />
      <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
        onFirst={() => void navigate({ search: (x) => ({ ...x, cursor: undefined }) })}
        onNext={(cursor) => void navigate({ search: (x) => ({ ...x, cursor }) })} />
      {opened && (
        <Drawer key={opened.id} title="Submission" onClose={() => void navigate({ search: (x) => ({ ...x, open: undefined }), resetScroll: false })}>
          <p className="badges"><Status value={opened.status} /> {opened.untrusted && <Badge tone="warn">by the link</Badge>}</p>
          {opened.untrusted && <p className="muted">Anyone may have written it, and the name is not checked.</p>}
          {opened.error && <div className="notice bad"><Text>{opened.error}</Text></div>}
          <Facts of={[
            ["Name", opened.guest], ["By", <Subject of={opened.subject} />], ["At", <Time at={opened.created_at} />],
            ["Run", <Link to="/t/$tenant/runs/$run" params={{ tenant, run: opened.id }}>the run of its call</Link>],
          ]} />
          <h3>Input</h3>
          <JsonView value={json(opened.input)} label="Input" />
          {opened.output !== undefined && (
            <>
              <h3>Output</h3>
              <CallAnswer tenant={tenant} tool={of.tool} version={of.version} value={json(opened.output)} label="Output" />
            </>
          )}
        </Drawer>
      )}
    </>
  );
}
