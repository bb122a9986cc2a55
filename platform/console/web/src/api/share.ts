import { infiniteQueryOptions, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { config } from "../config";
import { ApiError, call, send, type Query } from "./client";
import { parse, type Json } from "./json";
import { at, list, one, type List } from "./queries";
import type { components } from "./schema";
import { sent } from "./sse";
import { useLive } from "./stream";

// What the pages of spaces, tool sessions and published views ask.

type Schemas = components["schemas"];
export type Space = Schemas["Space"];
export type SpaceMember = Schemas["SpaceMember"];
export type SpaceMessage = Schemas["SpaceMessage"];
export type SpaceCall = Schemas["SpaceCall"];
export type InputRequest = Schemas["InputRequest"];
export type PendingCall = Schemas["PendingCall"];
export type ToolSession = Schemas["ToolSession"];
export type LinkedToolSession = Schemas["LinkedToolSession"];
export type ToolSubmission = Schemas["ToolSubmission"];
export type ToolSessionAggregate = Schemas["ToolSessionAggregate"];
export type View = Schemas["View"];
export type PublishedView = Schemas["PublishedView"];
export type Tenant = Schemas["Tenant"];

export const spaces = (t: string, q: Query) => list<Space>(t, "spaces", "/v1/spaces", q);
export const space = (t: string, id: string) => one<Space>(t, ["space", id], `/v1/spaces/${at(id)}`);
export const spaceMembers = (t: string, id: string) => one<List<SpaceMember>>(t, ["space", id, "members"], `/v1/spaces/${at(id)}/members`);
export const spaceMessages = (t: string, id: string) =>
  infiniteQueryOptions({
    queryKey: [t, "space", id, "messages"],
    queryFn: ({ signal, pageParam }) =>
      call<List<SpaceMessage>>(t, `/v1/spaces/${at(id)}/messages`, { signal, query: { limit: 50, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next,
    staleTime: Infinity, // The stream says what changed.
  });
export const inputRequest = (t: string, id: string) => one<InputRequest>(t, ["input-request", id], `/v1/input-requests/${at(id)}`);
export const pendingCall = (t: string, id: string) => one<PendingCall>(t, ["pending-call", id], `/v1/pending-tool-calls/${at(id)}`);

export const toolSessions = (t: string, q: Query) => list<ToolSession>(t, "tool-sessions", "/v1/tool-sessions", q);
export const toolSession = (t: string, id: string) => one<ToolSession>(t, ["tool-session", id], `/v1/tool-sessions/${at(id)}`);
export const submissions = (t: string, id: string, q: Query) =>
  list<ToolSubmission>(t, `tool-session/${id}/submissions`, `/v1/tool-sessions/${at(id)}/submissions`, q);
export const aggregate = (t: string, id: string) =>
  one<ToolSessionAggregate>(t, ["tool-session", id, "aggregate"], `/v1/tool-sessions/${at(id)}/aggregate`);
export const views = (t: string, q: Query) => list<View>(t, "views", "/v1/views", q);
export const view = (t: string, id: string) => one<View>(t, ["view", id], `/v1/views/${at(id)}`);

// words are what an error says, for a form.
export const why = (error: unknown): string => (error instanceof ApiError ? error.detail : "The request could not be sent.");

// useSpace follows a space: it returns the messages that are new or have changed since they were read. One tab
// of a browser has the stream of a space, and passes what arrives to the others.
export function useSpace(tenant: string, id: string, upto: number | undefined): Map<string, SpaceMessage> {
  const { paused } = useLive();
  const client = useQueryClient();
  const [changed, setChanged] = useState(() => new Map<string, SpaceMessage>());
  const last = useRef(0);
  if (upto !== undefined && upto > last.current) last.current = upto;
  const ready = upto !== undefined;
  useEffect(() => {
    if (paused || !ready) return;
    const stop = new AbortController();
    const name = `toolcrib:${config.prefix}:${tenant}:space:${id}`;
    const channel = new BroadcastChannel(name);
    let waiting: SpaceMessage[] = [];
    let timer = 0;
    const take = (m: SpaceMessage) => {
      last.current = Math.max(last.current, Number(m.changed_seq));
      waiting.push(m);
      timer ||= window.setTimeout(() => {
        timer = 0;
        const now = waiting;
        waiting = [];
        for (const m of now) void client.invalidateQueries({ queryKey: [tenant, "pending-call", m.id] });
        setChanged((before) => {
          const all = new Map(before);
          for (const m of now) if (Number(all.get(m.id)?.changed_seq ?? 0) <= Number(m.changed_seq)) all.set(m.id, m);
          return all;
        });
      }, 100);
    };
    channel.onmessage = (m: MessageEvent<string>) => take(parse(m.data) as unknown as SpaceMessage);
    void navigator.locks
      .request(name, { signal: stop.signal }, async () => {
        for (let wait = 1000; !stop.signal.aborted; wait = Math.min(wait * 2, 30_000)) {
          try {
            const query = { after: last.current };
            const answer = await send(tenant, `/v1/spaces/${at(id)}/events`, { query, signal: stop.signal }, "text/event-stream");
            for await (const { data } of sent(answer)) {
              wait = 1000;
              channel.postMessage(data);
              take(parse(data) as unknown as SpaceMessage);
            }
          } catch (cause) {
            if (cause instanceof ApiError && cause.absent) return; // It may not be seen any more.
          }
          if (!stop.signal.aborted) await new Promise((r) => setTimeout(r, wait * (0.5 + Math.random() / 2)));
        }
      })
      .catch(() => {}); // Aborted while it waited.
    return () => {
      stop.abort();
      window.clearTimeout(timer);
      channel.close();
    };
  }, [tenant, id, paused, ready, client]);
  return changed;
}

export const post = <T>(tenant: string, path: string, body: unknown, method = "POST", headers?: Record<string, string>) =>
  call<T>(tenant, path, { method, body, ...(headers && { headers }) });
export type { Json };
