import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { endOthers, endOwn, ownSessions, type BrowserSession } from "../api/account";
import { address } from "../api/client";
import { meta } from "../api/govern";
import { may, me, type Me } from "../api/queries";
import { Pager, Rows } from "../ui/list";
import { say } from "../ui/live";
import { Page } from "../ui/page";
import { Badge, Facts, Id, Time } from "../ui/parts";
import { Failed, Loading } from "../ui/states";
import { useKeyName } from "../ui/subject";
import { Confirm } from "./govern/parts";

// Account shows who is signed in, what they may do, and with which browsers.
export function Account() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const who = useQuery(me(tenant));
  return (
    <Page title="Account" about="Who you are in this tenant, what you may do, and the browsers that you are signed in with." api={address("/v1/me/sessions")}>
      {who.isPending ? <Loading /> : who.error ? <Failed error={who.error} what="The account" retry={() => void who.refetch()} /> : (
        <>
          <Who of={who.data} tenant={tenant} />
          <Sessions tenant={tenant} />
          <Allowed of={who.data} tenant={tenant} />
        </>
      )}
    </Page>
  );
}

function Who({ of, tenant }: { of: Me; tenant: string }) {
  const [kind = "", id = ""] = (of.subject ?? "").split(/:(.*)/s);
  const name = useKeyName(of.subject);
  return (
    <section className="panel" aria-label="You">
      <h2>You</h2>
      <Facts of={[
        ["Signed in as", kind === "key" ? <>the key {may(of, "keys.read") ? <Link to="/t/$tenant/access" params={{ tenant }} search={{ open: id, show: "all" }}>{name ?? `…${id.slice(-12)}`}</Link> : <Id value={id} />}</> : of.subject],
        ["Tenant", of.tenant && (of.tenant.name ? <>{of.tenant.name} <span className="muted">{of.tenant.slug}</span></> : of.tenant.slug)],
        ["This browser opens", (
          <span className="badges">
            {of.tenants.map((t) => t.slug === tenant ? <Badge key={t.slug}>{t.name || t.slug}: here</Badge> : <Link key={t.slug} to="/t/$tenant" params={{ tenant: t.slug }}>{t.name || t.slug}</Link>)}
            <Link to="/login">another tenant…</Link>
          </span>
        )],
      ]} />
    </section>
  );
}

function Sessions({ tenant }: { tenant: string }) {
  const { cursor } = useSearch({ from: "/t/$tenant/account" });
  const navigate = useNavigate({ from: "/t/$tenant/account" });
  const client = useQueryClient();
  const found = useQuery(ownSessions(tenant, cursor));
  const [ends, setEnds] = useState<BrowserSession | "others">();
  const ended = (text: string) => {
    say(text);
    return client.invalidateQueries({ queryKey: [tenant, "own-sessions"] });
  };
  const go = (to?: string) => void navigate({ search: { cursor: to } });
  const others = found.data?.items.some((s) => !s.current) || !!found.data?.next || !!cursor;
  return (
    <section className="panel" aria-label="Your browsers">
      <h2>Your browsers</h2>
      <p className="muted">Sessions in this tenant. One ends after 12 hours without use, and with the key that it began with.</p>
      {found.isPending ? <Loading rows={3} /> : found.error ? <Failed error={found.error} what="The list of sessions" retry={() => void found.refetch()} /> : (
        <>
          <Rows label="Your browsers" rows={found.data.items} keyOf={(s) => s.id} columns={[
            { name: "Browser", show: (s) => <span className="badges">{s.browser || "An unknown browser"}{s.current && <Badge tone="good">this one</Badge>}</span> },
            { name: "Signed in", end: true, show: (s) => <Time at={s.created_at} /> },
            { name: "Last seen", end: true, show: (s) => <Time at={s.last_used_at} /> },
            { name: "Ends", from: "medium", end: true, show: (s) => <Time at={s.until} /> },
            { name: "End it", end: true, show: (s) => (s.current ? <span className="muted">Sign out ends it</span> : <button type="button" className="button" onClick={() => setEnds(s)}>End…</button>) },
          ]} />
          <Pager first={!cursor} next={found.data.next} onFirst={() => go()} onNext={go} count={found.data.items.length} />
          {others && <p className="actions"><button type="button" className="button danger" onClick={() => setEnds("others")}>End all others…</button></p>}
        </>
      )}
      {ends && (
        <Confirm title={ends === "others" ? "End all other sessions?" : `End the session of ${ends.browser || "this browser"}?`} action="End" onClose={() => setEnds(undefined)}
          onSend={() => ends === "others"
            ? endOthers(tenant).then(({ ended: n }) => ended(n === 1 ? "One session ended." : `${n} sessions ended.`))
            : endOwn(tenant, ends.id).then(() => ended("The session ended."))}>
          <p>The pages of this tenant that are open there show nothing more, and ask to sign in. It may sign in again: to prevent that, revoke the key.</p>
        </Confirm>
      )}
    </section>
  );
}

// Allowed lists permissions with what they mean, in the words of the server.
function Allowed({ of, tenant }: { of: Me; tenant: string }) {
  const known = useQuery(meta(tenant)).data?.permissions ?? [];
  const meaning = new Map(known.map((p) => [p.name, p.meaning]));
  return (
    <section className="panel" aria-label="What you may do">
      <h2>What you may do</h2>
      {of.permissions.length === 0 ? <p className="muted">Nothing: the key has no permission that a page asks for.</p> : (
        <>
          <p className="options">{of.permissions.map((p) => <code key={p}>{p}</code>)}</p>
          <details className="twin">
            <summary>What they mean</summary>
            <div className="table-wrap">
              <table className="rows">
                <thead><tr><th scope="col">Permission</th><th scope="col">It lets you</th></tr></thead>
                <tbody>{of.permissions.map((p) => <tr key={p}><td><code>{p}</code></td><td>{meaning.get(p) ?? "–"}</td></tr>)}</tbody>
              </table>
            </div>
          </details>
        </>
      )}
    </section>
  );
}
