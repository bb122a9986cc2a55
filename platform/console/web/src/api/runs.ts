import { keepPreviousData, queryOptions, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { call, send, type Query } from "./client";
import { at, one, type Event, type Invocation, type List, type Message, type Run } from "./queries";
import { useTopic } from "./stream";

// What the pages of runs ask.

export interface Counts {
  calls: number;
  failed_calls: number;
  turns: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_micros: number;
  unpriced_turns: number;
}

export interface TurnUsage {
  turn: number;
  at: string;
  model?: string;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_micros?: number;
}

export interface RunUsage {
  total: Counts;
  below: number;
  turns: TurnUsage[];
}

export interface CallExplanation {
  steps: { stage: string; at?: string; detail: string; by?: string }[];
}

export interface StoredFile {
  id: string;
  name: string;
  media_type: string;
  size: number;
  kind: string;
  created_by?: string;
  created_at: string;
}

export type Call = Invocation & { output_bytes?: number };

export const newest = 60; // Messages, calls and events of the first page.
const page = 200; // Of those that are read on demand.

export const lastMessages = (t: string, id: string) =>
  one<List<Message>>(t, ["run", id, "messages", "last"], `/v1/runs/${at(id)}/messages`, { last: newest });
export const olderMessages = (t: string, id: string, cursor: string) =>
  call<List<Message>>(t, `/v1/runs/${at(id)}/messages`, { query: { last: page, cursor } });
export const firstMessages = (t: string, id: string, cursor?: string) =>
  call<List<Message>>(t, `/v1/runs/${at(id)}/messages`, { query: { first: cursor ? page : newest, cursor } });

// Calls come newest first; they are shown in the order in which they were made.
const inOrder = (l: List<Call>): List<Call> => ({ ...l, items: [...l.items].reverse() });
export const lastCalls = (t: string, id: string) =>
  queryOptions({
    queryKey: [t, "run", id, "calls", "last"],
    queryFn: async ({ signal }) => inOrder(await call<List<Call>>(t, "/v1/invocations", { query: { run: id, brief: true, limit: page }, signal })),
  });
export const olderCalls = async (t: string, id: string, cursor: string) =>
  inOrder(await call<List<Call>>(t, "/v1/invocations", { query: { run: id, brief: true, limit: page, cursor } }));

export const runCalls = (t: string, id: string, query: Query) =>
  queryOptions({
    queryKey: [t, "run", id, "calls", query],
    queryFn: ({ signal }) => call<List<Call>>(t, "/v1/invocations", { query: { ...query, run: id, brief: true }, signal }),
    placeholderData: keepPreviousData,
  });

// allCalls has a key of runs, so that it follows what happens.
export const allCalls = (t: string, query: Query) =>
  queryOptions({
    queryKey: [t, "runs", "calls", query],
    queryFn: ({ signal }) => call<List<Call>>(t, "/v1/invocations", { query: { ...query, brief: true }, signal }),
    placeholderData: keepPreviousData,
  });

// Events of a run are numbered; what models and tools write in between has numbers too, and is not listed.
export const eventsAfter = (t: string, id: string, after: number, limit: number) =>
  call<List<Event>>(t, `/v1/runs/${at(id)}/events`, { query: { after, limit } });

export const briefCall = (t: string, id: string) => one<Call>(t, ["invocation", id, "brief"], `/v1/invocations/${at(id)}`, { brief: true });
export const callExplanation = (t: string, id: string) =>
  one<CallExplanation>(t, ["invocation", id, "explain"], `/v1/invocations/${at(id)}/explain`);
export const runUsage = (t: string, id: string, from: number) => one<RunUsage>(t, ["run", id, "usage"], `/v1/runs/${at(id)}/usage`, { from_turn: from });
export const runFiles = (t: string, id: string, cursor?: string) => one<List<StoredFile>>(t, ["run", id, "files"], `/v1/runs/${at(id)}/files`, { cursor, limit: 50 });
export const childRuns = (t: string, id: string) => one<List<Run>>(t, ["run", id, "below"], "/v1/runs", { parent: id, limit: 50 });
export const meta = () => queryOptions({ queryKey: ["", "meta"], queryFn: () => call<{ temporal_ui?: string; max_file_bytes?: number }>(undefined, "/v1/meta"), staleTime: Infinity });

// post asks for something once: a second request with the same key is answered as the first one was.
export const post = <T>(tenant: string, path: string, body: unknown, once: string): Promise<T> =>
  call<T>(tenant, path, { method: "POST", body, once });

export async function fileContent(tenant: string, id: string): Promise<Blob> {
  return (await send(tenant, `/v1/files/${at(id)}/content`, {}, "*/*")).blob();
}

export interface Window<T> {
  items: T[];
  earlier: boolean;
  loading: boolean;
  failed: unknown;
  more: () => void;
}

// useWindow keeps the last items of a list that grows, and those before them that were asked for.
export function useWindow<T>(found: UseQueryResult<List<T>>, id: (item: T) => string, older: (cursor: string) => Promise<List<T>>): Window<T> {
  const [kept, setKept] = useState<List<T>>({ items: [] });
  const [state, setState] = useState<{ loading: boolean; failed?: unknown }>({ loading: false });
  const data = found.data;
  const merged = useMemo((): List<T> => {
    const first = data?.items[0];
    if (!data || !first) return data ?? kept;
    const key = id(first);
    let i = kept.items.length - 1;
    while (i >= 0 && id(kept.items[i]!) !== key) i--;
    if (i < 0) return data;
    return { items: [...kept.items.slice(0, i), ...data.items], ...(kept.next && { next: kept.next }) };
    // What is kept changes with what was merged: data alone decides.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [data, kept.next, kept.items[0]]);
  const latest = useRef(merged);
  latest.current = merged;
  useEffect(() => setKept(merged), [merged]);
  const busy = useRef(false);
  const more = useCallback(() => {
    const cursor = latest.current.next;
    if (!cursor || busy.current) return;
    busy.current = true;
    setState({ loading: true });
    older(cursor).then(
      (l) => {
        setKept({ items: [...l.items, ...latest.current.items], ...(l.next && { next: l.next }) });
        setState({ loading: false });
      },
      (failed: unknown) => setState({ loading: false, failed }),
    ).finally(() => (busy.current = false));
  }, [older]);
  return { items: merged.items, earlier: !!merged.next, loading: state.loading, failed: state.failed, more };
}

export interface Output {
  turn: number;
  call?: string;
  text: string;
}

type Written = { turn: number; attempt: number; call_id?: string; text: string };

// useOutput follows what the model and the tools of a run write, as they write it: at most ten times a second. It
// comes by the stream that all tabs share, which goes on where it was after the connection broke.
export function useOutput(tenant: string, run: Run, on: boolean): Output | undefined {
  const [open, setOpen] = useState<Output>();
  const state = useRef<{ now?: (Output & { attempt: number }) | undefined; timer: number }>({ timer: 0 });
  useEffect(() => () => {
    window.clearTimeout(state.current.timer);
    state.current = { timer: 0 };
    setOpen(undefined);
  }, [tenant, run.id, on]);
  const show = () => {
    const s = state.current;
    s.timer ||= window.setTimeout(() => {
      s.timer = 0;
      setOpen(s.now && { ...s.now });
    }, 100);
  };
  useTopic(tenant, on ? `run:${run.id}` : undefined, (f) => {
    const s = state.current;
    if (f.event === "resync") s.now = undefined;
    const { type = "", data } = (f.said ?? {}) as { type?: string; data?: Written };
    if (data && (type === "agent.output_appended" || type === "tool.output_appended")) {
      const same = s.now && s.now.turn === data.turn && s.now.call === data.call_id && s.now.attempt === data.attempt;
      s.now = { turn: data.turn, attempt: data.attempt, text: ((same ? s.now!.text : "") + data.text).slice(-100_000), ...(data.call_id && { call: data.call_id }) };
    } else if (/^(agent\.turn|tool\.(completed|failed)|run\.)/.test(type)) s.now = undefined;
    else if (f.event !== "resync") return;
    show();
  }, String(run.last_seq));
  return open;
}

// money is millionths of the currency of prices, as it is billed.
export const money = (micros: number | undefined): string => (micros === undefined ? "–" : (micros / 1e6).toFixed(micros >= 1e6 || micros === 0 ? 2 : micros >= 1000 ? 4 : 6));
