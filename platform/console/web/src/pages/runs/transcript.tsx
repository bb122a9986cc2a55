import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { parse, print, type Json } from "../../api/json";
import { json, type Message, type Run } from "../../api/queries";
import { firstMessages, lastCalls, lastMessages, olderCalls, olderMessages, useOutput, useWindow, type Call } from "../../api/runs";
import { useLive } from "../../api/stream";
import { CallAnswer } from "../../form/callanswer";
import { JsonView } from "../../ui/json";
import { Markdown } from "../../ui/markdown";
import { Badge, Status, Text, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { isObject } from "../../form/spec";
import { Virtual } from "../../ui/virtual";

const idOf = (x: { id: string }) => x.id;
export const ended = (r: Run): boolean => ["completed", "failed", "cancelled"].includes(r.status);

// useCalls are the calls of a run, the newest first read.
export function useCalls(tenant: string, id: string) {
  const found = useQuery(lastCalls(tenant, id));
  return { found, ...useWindow(found, idOf, useCallback((c: string) => olderCalls(tenant, id, c), [tenant, id])) };
}

export function Transcript({ tenant, of: r, fromStart }: { tenant: string; of: Run; fromStart: boolean }) {
  return fromStart ? <FromStart tenant={tenant} of={r} /> : <Newest tenant={tenant} of={r} />;
}

function Newest({ tenant, of: r }: { tenant: string; of: Run }) {
  const found = useQuery(lastMessages(tenant, r.id));
  const all = useWindow(found, idOf, useCallback((c: string) => olderMessages(tenant, r.id, c), [tenant, r.id]));
  const made = useCalls(tenant, r.id);
  const { paused } = useLive();
  const open = useOutput(tenant, r, !ended(r) && !paused && r.kind === "agent");
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The transcript" />;
  const earlier = () => {
    all.more();
    made.more();
  };
  const foot = !ended(r) && (
    <div className="still">
      {open && (
        <article className={`said ${open.call ? "tool" : "assistant"}`}>
          <header><strong>{open.call ? "Tool" : "Agent"}</strong><span className="muted">turn {open.turn}, not finished</span></header>
          <div className="text open-text">{open.text}</div>
        </article>
      )}
      <p className="muted"><Status value={r.paused ? "paused" : r.waits_for?.length ? "waiting" : r.status} /></p>
    </div>
  );
  return <Said_ tenant={tenant} of={r} items={all.items} calls={made.items} begin="end" onStart={all.earlier ? earlier : undefined} foot={foot}
    note={all.failed ? "Earlier messages could not be read." : all.loading ? "Earlier messages are read…" : undefined} />;
}

function FromStart({ tenant, of: r }: { tenant: string; of: Run }) {
  const found = useInfiniteQuery({
    queryKey: [tenant, "transcript-from-start", r.id],
    queryFn: ({ pageParam }) => firstMessages(tenant, r.id, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next,
  });
  const items = useMemo(() => found.data?.pages.flatMap((p) => p.items) ?? [], [found.data]);
  const made = useCalls(tenant, r.id);
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The transcript" />;
  return <Said_ tenant={tenant} of={r} items={items} calls={made.items} begin="start"
    onEnd={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
    note={found.isFetchingNextPage ? "Later messages are read…" : undefined} />;
}

function Said_({ tenant, of: r, items, calls, begin, onStart, onEnd, foot, note }: {
  tenant: string;
  of: Run;
  items: Message[];
  calls: Call[];
  begin: "start" | "end";
  onStart?: (() => void) | undefined;
  onEnd?: (() => void) | undefined;
  foot?: React.ReactNode;
  note?: string | undefined;
}) {
  const byCall = useMemo(() => new Map(calls.map((c) => [`${c.turn}/${c.call_id}`, c])), [calls]);
  if (items.length === 0 && !foot) return <Empty title="Nothing was said">{r.kind !== "agent" && "The run is a call of a tool: the timeline has it."}</Empty>;
  return (
    <Virtual key={begin} items={items} keyOf={idOf} estimate={110} label="Transcript" className="transcript" log begin={begin} onStart={onStart} onEnd={onEnd}
      show={(m) => <Said tenant={tenant} of={m} byCall={byCall} fork={r.kind === "agent"} />} foot={foot}
      head={
        <p className="virtual-head">
          <span className="muted">{note ?? `${items.length} message${items.length === 1 ? "" : "s"}${onStart || onEnd ? " read" : ""}`}</span>
          {onStart && <button type="button" className="quiet" onClick={onStart}>Earlier</button>}
          {begin === "end" && onStart && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, from: "start" })} replace resetScroll={false}>From the start</Link>}
          {begin === "start" && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, from: undefined })} replace resetScroll={false}>Newest</Link>}
        </p>
      } />
  );
}

const names: Record<string, string> = { user: "User", assistant: "Agent", tool: "Tool", system: "System" };

function Said({ tenant, of: m, byCall, fork }: { tenant: string; of: Message; byCall: Map<string, Call>; fork: boolean }) {
  const answered = m.role === "tool" ? byCall.get(`${m.turn}/${m.call_id}`) : undefined;
  return (
    <article className={`said ${m.role}${m.is_error ? " bad" : ""}`}>
      <header>
        <strong>{m.role === "tool" ? (answered?.tool ?? "Tool") : (names[m.role] ?? m.role)}</strong>
        {m.turn > 0 && <span className="muted">turn {m.turn}</span>}
        {m.is_error && <Badge tone="bad">error</Badge>}
        {m.usage && <span className="muted">{m.usage.input_tokens} → {m.usage.output_tokens} tokens</span>}
        {answered && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: answered.id })} resetScroll={false}>The call</Link>}
        {fork && m.role === "assistant" && m.turn > 0 && (
          <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, fork: String(m.turn) })} resetScroll={false} replace hash="say">Fork from here</Link>
        )}
        <Time at={m.created_at} />
      </header>
      {m.content?.map((c, i) => <Part key={i} tenant={tenant} of={c} written={m.role !== "tool"} call={m.is_error ? undefined : answered} />)}
      {m.calls?.map((c) => {
        const made = byCall.get(`${m.turn}/${c.id}`);
        return (
          <div key={c.id} className="call">
            <details>
              <summary>
                <span className="slug">{c.name}</span>
                {made && <Status value={made.status} />}
                <span className="muted line">{print(c.arguments).slice(0, 160)}</span>
              </summary>
              <JsonView value={json(c.arguments)} label={`Arguments of ${c.name}`} />
            </details>
            {made && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: made.id })} resetScroll={false} aria-label={`Open the call of ${c.name}`}>Open</Link>}
          </div>
        );
      })}
    </article>
  );
}

const long = 20_000; // Characters of a part that are shown at once.

// objectOf is the object that a model got of a tool, as JSON or in a text; what is long stays text.
function objectOf(of: { type: string; [other: string]: unknown }): Json | undefined {
  if (of.type === "json") return isObject(json(of.json)) ? json(of.json) : undefined;
  if (typeof of.text !== "string" || of.text.length > long || !of.text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parse(of.text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// Part is a part of what was said: Markdown of people and models, text of tools, and what a known tool answered, as
// the model got it, by the sections and the form of its version.
function Part({ tenant, of, written, call }: { tenant: string; of: { type: string; [other: string]: unknown }; written: boolean; call?: Call | undefined }) {
  const value = useMemo(() => (call?.tool_id ? objectOf(of) : undefined), [of, call]);
  if (value !== undefined) return <CallAnswer tenant={tenant} tool={call!.tool} version={call!.version} value={value} label={`Result of ${call!.tool}`} />;
  if (typeof of.text === "string") {
    if (of.text.length > long) return <details className="long"><summary>{of.text.length} characters: {of.text.slice(0, 200)}…</summary><pre tabIndex={0}>{of.text.slice(0, 10 * long)}</pre></details>;
    return written ? <Markdown tenant={tenant} text={of.text} /> : <Text>{of.text}</Text>;
  }
  return <JsonView value={json(of.type === "json" ? of.json : of)} label={`Content of type ${of.type}`} />;
}
