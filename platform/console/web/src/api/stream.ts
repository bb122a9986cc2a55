import { useEffect, useSyncExternalStore } from "react";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { config } from "../config";
import { send } from "./client";

// One tab of a browser follows the events of a tenant and passes them to the others: browsers open six
// connections to a server, and each tab would hold one.

export interface Event {
  run_id: string;
  seq: number;
  type: string;
  invocation_id?: string;
  at: string;
}

const idleTab = 5 * 60_000;
const pauseKey = "toolcrib.paused";
let paused = localStorage.getItem(pauseKey) === "1";
let connected = false;
const watchers = new Set<() => void>();
const changed = () => watchers.forEach((w) => w());
const subscribe = (w: () => void) => (watchers.add(w), () => void watchers.delete(w));

export interface Live {
  paused: boolean;
  connected: boolean;
}
let snapshot: Live = { paused, connected };
const update = () => {
  snapshot = { paused, connected };
  changed();
};

export const useLive = (): Live => useSyncExternalStore(subscribe, () => snapshot);

export function setPaused(value: boolean): void {
  paused = value;
  localStorage.setItem(pauseKey, value ? "1" : "0");
  update();
}

// useEvents keeps what is shown of a tenant up to date, while the tab is seen.
export function useEvents(tenant: string): void {
  const client = useQueryClient();
  const { paused: off } = useLive();
  useEffect(() => {
    if (off) return;
    const stop = new AbortController();
    const channel = new BroadcastChannel(`toolcrib:${config.prefix}:${tenant}`);
    const apply = batched(client, tenant);
    let leads = false;
    const state = (now: boolean) => {
      connected = now;
      update();
    };
    channel.onmessage = (m: MessageEvent<Event | boolean | "who">) => {
      if (m.data === "who") leads && channel.postMessage(connected);
      else if (typeof m.data === "boolean") state(m.data);
      else if (typeof m.data === "object") apply(m.data);
    };
    channel.postMessage("who");
    let tab = new AbortController();
    let timer = 0;
    const begin = () => {
      tab = new AbortController();
      const signal = AbortSignal.any([stop.signal, tab.signal]);
      const on = (e: Event) => {
        channel.postMessage(e);
        apply(e);
      };
      const onState = (now: boolean, missed: boolean) => {
        leads = true;
        channel.postMessage(now);
        state(now);
        // What was read before the stream began may be old by now.
        if (missed) void client.invalidateQueries({ queryKey: [tenant] });
      };
      void lead(tenant, signal, on, onState).then(() => (leads = false));
    };
    const seen = () => {
      window.clearTimeout(timer);
      if (document.hidden) timer = window.setTimeout(() => tab.abort(), idleTab);
      else if (tab.signal.aborted) {
        begin();
        void client.invalidateQueries({ queryKey: [tenant] });
      }
    };
    begin();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      window.clearTimeout(timer);
      stop.abort();
      channel.close();
    };
  }, [tenant, client, off]);
}

// lead waits until this tab is the one that follows, then follows until it is aborted.
async function lead(
  tenant: string, signal: AbortSignal, on: (e: Event) => void, onState: (connected: boolean, missed: boolean) => void,
): Promise<void> {
  try {
    await navigator.locks.request(`toolcrib:${config.prefix}:${tenant}`, { signal }, async () => {
      let after = "now";
      for (let wait = 1000; !signal.aborted; wait = Math.min(wait * 2, 30_000)) {
        try {
          after = await follow(tenant, after, signal, on, () => {
            wait = 1000;
            onState(true, after === "now");
          });
        } catch {
          // The server is away, or does not permit it: asked again, ever less often.
        }
        onState(false, false);
        if (!signal.aborted) await new Promise((r) => setTimeout(r, wait * (0.5 + Math.random() / 2)));
      }
    });
  } catch {
    // Aborted while it waited.
  }
}

async function follow(
  tenant: string, after: string, signal: AbortSignal, on: (e: Event) => void, began: () => void,
): Promise<string> {
  const answer = await send(tenant, "/v1/events", { query: { after }, signal }, "text/event-stream");
  began();
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return after;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        let id = "";
        let data = "";
        for (const line of block.split("\n")) {
          if (line.startsWith("id:")) id = line.slice(3).trim();
          if (line.startsWith("data:")) data += line.slice(5);
        }
        if (id) after = id;
        if (data) on(JSON.parse(data) as Event);
      }
    }
  } catch {
    return after; // Goes on behind the last event that arrived.
  } finally {
    reader.cancel().catch(() => {});
  }
}

// batched has what changed read again, at most a few times a second.
function batched(client: QueryClient, tenant: string): (e: Event) => void {
  const keys = new Map<string, unknown[]>();
  let timer = 0;
  const note = (...key: unknown[]) => keys.set(JSON.stringify(key), key);
  return (e) => {
    note(tenant, "run", e.run_id);
    note(tenant, "runs");
    if (/approv|reject|expired|cancel/.test(e.type)) note(tenant, "approvals");
    if (e.invocation_id) note(tenant, "invocation", e.invocation_id);
    timer ||= window.setTimeout(() => {
      timer = 0;
      for (const queryKey of keys.values()) void client.invalidateQueries({ queryKey });
      keys.clear();
    }, 200);
  };
}
