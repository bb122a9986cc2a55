import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { address } from "../../api/client";
import { agents, may, me, type Me } from "../../api/queries";
import { post, space, spaceMembers, spaceMessages, useSpace, why, type Space, type SpaceMember, type SpaceMessage } from "../../api/share";
import { say } from "../../ui/live";
import { Page, tabOptions } from "../../ui/page";
import { Back, Badge, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Virtual } from "../../ui/virtual";
import { drawn } from "./calls";

export function SpacePage() {
  const { tenant, space: name } = useParams({ from: "/t/$tenant/spaces/$space" });
  const { tab } = useSearch({ from: "/t/$tenant/spaces/$space" });
  const found = useQuery(space(tenant, name));
  const who = useQuery(me(tenant));
  const s = found.data;
  return (
    <Page title={s?.name ?? "Space"} about={s?.description}
      heading={<>{s?.name ?? "Space"} {s?.archived_at && <Badge>archived</Badge>}</>}
      back={<Back to="/t/$tenant/spaces" params={{ tenant }}>Spaces</Back>}
      cli={words("toolcrib", "space", tab === "members" ? "members" : "messages", name)}
      api={address(`/v1/spaces/${encodeURIComponent(name)}/${tab === "members" ? "members" : "messages"}`)}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The space" />
      ) : (
        <>
          <nav className="tabs" aria-label="Parts of the space">
            <Link from="/t/$tenant/spaces/$space" search={{}} activeOptions={tabOptions} replace>Conversation</Link>
            <Link from="/t/$tenant/spaces/$space" search={{ tab: "members" }} activeOptions={tabOptions} replace>Members</Link>
          </nav>
          {tab === "members" ? <Members tenant={tenant} of={found.data} who={who.data} /> : <Conversation tenant={tenant} of={found.data} who={who.data} />}
        </>
      )}
    </Page>
  );
}

function Conversation({ tenant, of: s, who }: { tenant: string; of: Space; who: Me | undefined }) {
  const found = useInfiniteQuery(spaceMessages(tenant, s.id));
  const read = useMemo(() => found.data?.pages.flatMap((p) => p.items) ?? [], [found.data]);
  const upto = found.data ? read.reduce((most, m) => Math.max(most, Number(m.changed_seq)), 0) : undefined;
  const changed = useSpace(tenant, s.id, upto);
  const all = useMemo(() => {
    const byId = new Map(read.map((m) => [m.id, m]));
    const oldest = found.hasNextPage ? Math.min(...read.map((m) => Number(m.seq))) : 0;
    for (const m of changed.values()) {
      const before = byId.get(m.id);
      // A change of a message that is older than what is shown is read with its page.
      if (before ? Number(before.changed_seq) <= Number(m.changed_seq) : Number(m.seq) >= oldest) byId.set(m.id, m);
    }
    return [...byId.values()].sort((a, b) => Number(a.seq) - Number(b.seq));
  }, [read, changed, found.hasNextPage]);
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The conversation" />;
  return (
    <div className="conversation">
      {all.length === 0 ? (
        <Empty title="Nothing was said yet">{s.archived_at ? "The space is archived." : "What you say wakes the agents that are members."}</Empty>
      ) : (
        <Messages tenant={tenant} of={all} self={who?.subject} more={found.hasNextPage}
          loading={found.isFetchingNextPage} onMore={() => void found.fetchNextPage()} />
      )}
      {s.archived_at ? <p className="notice">The space is archived: nothing is said in it any more.</p> : <Composer tenant={tenant} of={s} who={who} />}
    </div>
  );
}

// Messages are drawn where they are seen: a long conversation costs what is shown of it.
function Messages({ tenant, of: all, self, more, loading, onMore }: {
  tenant: string;
  of: SpaceMessage[];
  self: string | undefined;
  more: boolean;
  loading: boolean;
  onMore: () => void;
}) {
  const last = all.at(-1)!;
  const known = useRef(last.id);
  useEffect(() => {
    if (known.current === last.id) return;
    known.current = last.id;
    if (last.from !== `person:${self}`) say(`${author(last.from)}: ${last.call ? last.call.tool : (last.text ?? "").slice(0, 200)}`);
  }, [last, self]);
  return (
    <Virtual items={all} keyOf={idOf} estimate={84} label="Messages" className="messages" log begin="end"
      onStart={more && !loading ? onMore : undefined}
      show={(m) => <Message tenant={tenant} of={m} own={m.from === `person:${self}`} />}
      head={more && (
        <p className="older">
          <button type="button" className="button" disabled={loading} onClick={onMore}>{loading ? "Loading…" : "Older messages"}</button>
        </p>
      )} />
  );
}

const idOf = (m: SpaceMessage): string => m.id;

const author = (from: string): string => from.slice(from.indexOf(":") + 1);

function Message({ tenant, of: m, own }: { tenant: string; of: SpaceMessage; own: boolean }) {
  const Call = m.call ? drawn(m.call.tool) : undefined;
  const agent = m.from.startsWith("agent:");
  return (
    <article className={`said ${m.call ? "tool-call" : ""} ${own ? "user" : ""} ${m.status === "failed" ? "bad" : ""}`}>
      <header>
        <strong title={m.from}>{own ? "You" : author(m.from)}</strong>
        {agent && <Badge>agent</Badge>}
        {m.call && (
          <>
            <span className="slug">{m.call.tool}</span>
            <Status value={m.status} />
          </>
        )}
        {m.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: m.run_id }} className="muted">run</Link>}
        <Time at={m.created_at} />
      </header>
      {m.text && <Text>{m.text}</Text>}
      {m.call && Call && <Call tenant={tenant} message={m} call={m.call} />}
      {m.call?.error && <p className="notice bad">{m.call.error_kind}: {m.call.error}</p>}
      {m.not_woken && <p className="muted">Woke no agent: {m.not_woken}</p>}
    </article>
  );
}

function Composer({ tenant, of: s, who }: { tenant: string; of: Space; who: Me | undefined }) {
  const [text, setText] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const sent = useMutation({
    mutationFn: (said: string) => post<{ woken: number }>(tenant, `/v1/spaces/${s.id}/messages`, { text: said }),
    onSuccess: (p) => {
      setText("");
      say(p.woken === 0 ? "Posted." : `Posted. It wakes ${p.woken === 1 ? "one agent" : `${p.woken} agents`}.`);
      box.current?.focus();
    },
  });
  if (who && !may(who, "spaces.post")) return <p className="notice">Saying something takes the permission <code>spaces.post</code>.</p>;
  const send = () => text.trim() && !sent.isPending && sent.mutate(text);
  return (
    <form className="composer" onSubmit={(e) => {
      e.preventDefault();
      send();
    }}>
      <label className="unseen" htmlFor="say">Message</label>
      <textarea id="say" ref={box} rows={2} maxLength={16384} placeholder="Say something" value={text} onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => {
          if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing) return;
          e.preventDefault();
          send();
        }} />
      <button type="submit" className="button primary" disabled={sent.isPending || !text.trim()}>Post</button>
      <p className="muted">Enter posts, Shift Enter begins a line.</p>
      {sent.error && <p className="error" role="alert">{why(sent.error)}</p>}
    </form>
  );
}

function Members({ tenant, of: s, who }: { tenant: string; of: Space; who: Me | undefined }) {
  const client = useQueryClient();
  const found = useQuery(spaceMembers(tenant, s.id));
  const known = useQuery({ ...agents(tenant, { limit: 200 }), enabled: may(who, "agents.read") });
  const [kind, setKind] = useState("agent");
  const [name, setName] = useState("");
  const [asks, setAsks] = useState<string>();
  const manages = may(who, "spaces.write");
  const again = () => client.invalidateQueries({ queryKey: [tenant, "space", s.id, "members"] });
  const add = useMutation({
    mutationFn: () => post<SpaceMember>(tenant, `/v1/spaces/${s.id}/members`, { member: `${kind}:${name.trim()}` }),
    onSuccess: (m) => {
      setName("");
      say(`${m.name} was added.`);
      return again();
    },
  });
  const remove = useMutation({
    mutationFn: (m: string) => post<SpaceMember>(tenant, `/v1/spaces/${s.id}/members/${encodeURIComponent(m)}`, undefined, "DELETE"),
    onSuccess: (m) => {
      setAsks(undefined);
      say(`${m.name} was removed.`);
      return again();
    },
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of members" />;
  return (
    <div className="narrow">
      <ul className="members" aria-label="Members">
        {found.data.items.map((m) => (
          <li key={m.member}>
            <Badge tone={m.kind === "agent" ? "good" : ""}>{m.kind}</Badge>
            {m.kind === "agent" ? (
              <Link to="/t/$tenant/agents" params={{ tenant }} search={{ open: m.name }} className="slug">{m.name}</Link>
            ) : (
              <span className="slug">{m.name}{m.name === who?.subject && " (you)"}</span>
            )}
            <span className="muted">added <Time at={m.created_at} /></span>
            {manages && (asks === m.member ? (
              <span className="actions">
                <button type="button" className="button danger" disabled={remove.isPending} onClick={() => remove.mutate(m.member)}>Remove {m.name}</button>
                <button type="button" className="button" onClick={() => setAsks(undefined)}>Keep</button>
              </span>
            ) : (
              <button type="button" className="button" aria-label={`Remove ${m.name}…`} onClick={() => setAsks(m.member)}>Remove…</button>
            ))}
          </li>
        ))}
      </ul>
      {remove.error && <p className="error" role="alert">{why(remove.error)}</p>}
      {manages ? (
        <form className="add-member" onSubmit={(e) => {
          e.preventDefault();
          add.mutate();
        }}>
          <label>
            Kind
            <select value={kind} onChange={(e) => setKind(e.target.value)}>
              <option value="agent">Agent</option>
              <option value="person">Person</option>
            </select>
          </label>
          <label className="grow">
            {kind === "agent" ? "Slug of the agent" : "Subject of the person's key"}
            <input required value={name} onChange={(e) => setName(e.target.value)} list={kind === "agent" ? "known-agents" : undefined} maxLength={200} spellCheck={false} />
          </label>
          <datalist id="known-agents">{known.data?.items.map((a) => <option key={a.slug} value={a.slug}>{a.name}</option>)}</datalist>
          <button type="submit" className="button primary" disabled={add.isPending}>Add</button>
          {add.error && <p className="error" role="alert">{why(add.error)}</p>}
        </form>
      ) : (
        <p className="muted">Adding and removing members takes the permission <code>spaces.write</code>.</p>
      )}
      <p className="muted">
        A person is named by the subject of their key; yours is {who ? <Id value={who.subject ?? ""} /> : "…"}. An agent enters where its
        definition lists the space, and acts for the person who woke it.
      </p>
    </div>
  );
}
