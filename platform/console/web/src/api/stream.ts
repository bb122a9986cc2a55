import { useEffect, useRef, useSyncExternalStore } from "react";
import { focusManager, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { config } from "../config";
import { call, send } from "./client";
import { follow, type Frame } from "./frames";

// One tab of a browser follows what happens in a tenant and passes it to the others: browsers open six
// connections to a server, and each tab would hold one. Tabs say which topics they show; the leader follows all.

export type { Change, Frame } from "./frames";

const idleTab = 5 * 60_000;
const pauseKey = "toolcrib.paused";
const lists = ["runs", "approvals", "waiting"];
const most = 32; // Topics that a stream may have.

export interface Live {
  paused: boolean;
  connected: boolean;
  news: number; // What has changed while it is paused.
}
let live: Live = { paused: localStorage.getItem(pauseKey) === "1", connected: false, news: 0 };
const watchers = new Set<() => void>();
const update = (change: Partial<Live>) => {
  live = { ...live, ...change };
  // What asks again by itself, does not while it is paused.
  focusManager.setFocused(live.paused ? false : undefined);
  watchers.forEach((w) => w());
};
if (live.paused) focusManager.setFocused(false);

export const useLive = (): Live => useSyncExternalStore((w) => (watchers.add(w), () => void watchers.delete(w)), () => live);

const feeds = new Map<string, Feed>();

export function setPaused(paused: boolean): void {
  localStorage.setItem(pauseKey, paused ? "1" : "0");
  apply(paused);
}

function apply(paused: boolean): void {
  update({ paused, news: 0 });
  if (!paused) feeds.forEach((f) => f.flush());
}

// All tabs pause together.
window.addEventListener("storage", (e) => {
  if (e.key === pauseKey && live.paused !== (e.newValue === "1")) apply(e.newValue === "1");
});

// useEvents keeps what is shown of a tenant up to date, while the tab is seen.
export function useEvents(tenant: string): void {
  const client = useQueryClient();
  useEffect(() => {
    const feed = feedOf(tenant);
    feed.begin(client);
    return () => feed.end();
  }, [tenant, client]);
}

// useTopic follows a topic beside the lists, such as run:ID, and hands on its events, in their order and each once.
// It begins behind a cursor, where one is given when the topic is first shown. After "resync", and after the first
// "subscribed", what is shown is to be read again.
export function useTopic(tenant: string, topic: string | undefined, on: (f: Frame) => void, from?: string): void {
  const latest = useRef({ on, from });
  latest.current = { on, from };
  useEffect(() => {
    if (!topic) return;
    return feedOf(tenant).want(topic, (f) => latest.current.on(f), latest.current.from);
  }, [tenant, topic]);
}

const feedOf = (tenant: string): Feed => {
  let feed = feeds.get(tenant);
  if (!feed) feeds.set(tenant, (feed = new Feed(tenant)));
  return feed;
};

type Note =
  | { kind: "frame"; frame: Frame }
  | { kind: "state"; connected: boolean; missed: boolean }
  | { kind: "wants"; tab: string; topics: string[] } // With their cursors, where the tab has some: run:ID@12.
  | { kind: "who" } // A tab is new: the leader says how it is.
  | { kind: "lead" }; // A tab leads from now on: the others say what they show.

class Feed {
  private readonly tab = crypto.randomUUID?.() ?? String(Math.random());
  private readonly topics = new Map<string, Set<(f: Frame) => void>>();
  private readonly cursors = new Map<string, string>(); // Behind what this tab has seen.
  private readonly others = new Map<string, string[]>(); // What other tabs show; the leader's.
  private readonly over = new Set<string>(); // Topics of which nothing follows on this connection.
  private channel: BroadcastChannel | undefined;
  private stop = new AbortController();
  private turn = new AbortController(); // Of being, or waiting to be, the leader.
  private connection = "";
  private leads = false;
  private asked = 0;
  private hidden = 0;
  private notes: Notes | undefined;

  constructor(private readonly tenant: string) {}

  begin(client: QueryClient): void {
    this.notes = new Notes(client, this.tenant);
    this.stop = new AbortController();
    this.channel = new BroadcastChannel(`toolcrib:${config.prefix}:${this.tenant}`);
    this.channel.onmessage = (m: MessageEvent<Note>) => this.hear(m.data);
    this.tell({ kind: "who" });
    this.tellWants();
    const seen = () => this.seen();
    const gone = () => this.tell({ kind: "wants", tab: this.tab, topics: [] });
    document.addEventListener("visibilitychange", seen, { signal: this.stop.signal });
    window.addEventListener("pagehide", gone, { signal: this.stop.signal });
    void this.run();
  }

  end(): void {
    this.tell({ kind: "wants", tab: this.tab, topics: [] });
    window.clearTimeout(this.hidden);
    this.stop.abort();
    this.turn.abort();
    this.channel?.close();
    this.channel = undefined;
    this.cursors.clear();
    this.others.clear();
    update({ connected: false });
  }

  want(topic: string, on: (f: Frame) => void, from?: string): () => void {
    const all = this.topics.get(topic) ?? new Set();
    if (all.size === 0 && from !== undefined) this.cursors.set(topic, from);
    this.topics.set(topic, all.add(on));
    this.changed();
    return () => {
      all.delete(on);
      if (all.size === 0) {
        this.topics.delete(topic);
        this.cursors.delete(topic);
        this.over.delete(topic);
      }
      this.changed();
    };
  }

  flush(): void {
    this.notes?.flush();
  }

  private tell(n: Note): void {
    this.channel?.postMessage(n);
  }

  private tellWants(): void {
    this.tell({ kind: "wants", tab: this.tab, topics: [...this.topics.keys()].map((t) => this.placed(t)) });
  }

  private placed(topic: string): string {
    const at = this.cursors.get(topic);
    return at === undefined ? topic : `${topic}@${at}`;
  }

  // changed has the leader follow what the tabs show by now.
  private changed(): void {
    if (!this.leads) return this.tellWants();
    const shown = this.shown();
    for (const t of this.cursors.keys()) if (!shown.has(t)) this.cursors.delete(t); // It begins anew when it is shown again.
    window.clearTimeout(this.asked);
    this.asked = window.setTimeout(() => {
      if (!this.connection) return;
      call(this.tenant, `/v1/stream/${this.connection}/topics`, { method: "POST", body: { topics: this.list() } })
        .catch(() => this.reconnect()); // Of another server: a new stream has them.
    }, 50);
  }

  private reconnect: () => void = () => {};

  // list is what is to be followed, from where this tab has seen it.
  private list(): string[] {
    return [...this.shown()].filter((t) => !this.over.has(t)).slice(0, most).map((t) => this.placed(t));
  }

  // shown are the topics of all tabs.
  private shown(): Set<string> {
    return new Set([...lists, ...this.topics.keys(), ...[...this.others.values()].flat()]);
  }

  private hear(n: Note): void {
    switch (n.kind) {
      case "frame":
        return this.take(n.frame);
      case "state":
        update({ connected: n.connected });
        if (n.missed) this.missed();
        return;
      case "lead":
        return this.tellWants();
      case "who":
        if (this.leads) this.tell({ kind: "state", connected: live.connected, missed: false });
        return;
      case "wants": {
        const before = this.others.get(n.tab) ?? [];
        const wanted = n.topics.map((t) => t.split("@") as [string, string?]);
        if (wanted.length > 0) this.others.set(n.tab, wanted.map(([t]) => t));
        else this.others.delete(n.tab);
        if (!this.leads) return;
        for (const [t, from] of wanted) {
          const cursor = this.cursors.get(t);
          if (cursor === undefined && from !== undefined) this.cursors.set(t, from);
          // What is followed already begins for the other tab too.
          else if (cursor && !before.includes(t)) this.tell({ kind: "frame", frame: { event: "subscribed", topic: t, cursor } });
        }
        this.changed();
      }
    }
  }

  // take passes an event on in this tab, once.
  private take(f: Frame): void {
    const before = this.cursors.get(f.topic);
    switch (f.event) {
      case "closed":
      case "end":
        this.cursors.delete(f.topic);
        this.over.add(f.topic);
        break;
      case "subscribed":
        if (before !== undefined) return; // It goes on where it was.
        this.cursors.set(f.topic, f.cursor);
        break;
      case "resync":
        this.cursors.set(f.topic, f.cursor);
        this.missed();
        break;
      default:
        if (before !== undefined && BigInt(f.cursor) <= BigInt(before)) return;
        this.cursors.set(f.topic, f.cursor);
    }
    this.topics.get(f.topic)?.forEach((on) => on(f));
    if (f.event === "changes") this.notes?.changes(f);
  }

  // missed has all that is shown read again: it may be older than what the stream began with.
  private missed(): void {
    this.notes?.all();
  }

  private seen(): void {
    window.clearTimeout(this.hidden);
    if (document.hidden) {
      this.hidden = window.setTimeout(() => this.turn.abort(), idleTab);
    } else if (this.turn.signal.aborted) {
      this.missed();
      void this.run();
    }
  }

  // run waits until this tab is the one that follows, then follows until it is aborted. Where a browser has no
  // locks, each tab follows for itself.
  private async run(): Promise<void> {
    this.turn = new AbortController();
    const signal = AbortSignal.any([this.stop.signal, this.turn.signal]);
    if (!navigator.locks) return this.lead(signal);
    try {
      await navigator.locks.request(`toolcrib:${config.prefix}:${this.tenant}`, { signal }, () => this.lead(signal));
    } catch {
      // Aborted while it waited.
    }
  }

  private async lead(signal: AbortSignal): Promise<void> {
    this.leads = true;
    this.others.clear();
    this.tell({ kind: "lead" });
    for (let wait = 1000; !signal.aborted; ) {
      const again = new AbortController();
      this.reconnect = () => again.abort();
      try {
        await this.connect(AbortSignal.any([signal, again.signal]), () => (wait = 1000));
      } catch {
        // The server is away, or does not permit it: asked again, ever less often.
      }
      this.connection = "";
      this.state(false, false);
      if (!signal.aborted) await pause(wait * (0.5 + Math.random() / 2), signal);
      wait = Math.min(wait * 2, 30_000);
    }
    this.leads = false;
  }

  private state(connected: boolean, missed: boolean): void {
    this.tell({ kind: "state", connected, missed });
    update({ connected });
    if (missed) this.missed();
  }

  private async connect(signal: AbortSignal, began: () => void): Promise<void> {
    const first = !this.cursors.has("runs");
    this.over.clear();
    const topics = this.list().join(",");
    const answer = await send(this.tenant, "/v1/stream", { query: { topics }, signal }, "text/event-stream");
    for await (const f of follow(answer)) {
      if (f.event === "hello") {
        began();
        this.connection = f.connection!;
        this.state(true, first);
        if (this.list().join(",") !== topics) this.changed(); // Tabs have said meanwhile what they show.
        continue;
      }
      if (navigator.locks) this.tell({ kind: "frame", frame: f });
      this.take(f);
    }
  }
}

// pause waits, or until the browser is online again.
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    const now = () => {
      clearTimeout(timer);
      done();
    };
    window.addEventListener("online", now, { once: true, signal });
    signal.addEventListener("abort", now, { once: true });
  });
}

const fastest = 100;
const slowest = 5000;

// Notes have what changed read again: at once, and then at most ten times a second. It is not asked for again before
// it is there, and where that takes long, there is more time in between: what is shown stays current, and a server
// that is busy is asked less.
class Notes {
  private readonly keys = new Map<string, unknown[]>();
  private timer = 0;
  private next = 0; // When it may ask again.
  private asks = 0; // Which of its requests was the last.

  constructor(private readonly client: QueryClient, private readonly tenant: string) {}

  changes(f: Frame): void {
    for (const c of f.changes ?? []) {
      this.note("overview");
      if (f.topic === "runs") {
        this.note("run", c.run_id);
        this.note("runs");
        if (c.invocation_id) {
          this.note("invocation", c.invocation_id);
          this.note("invocations");
        }
      } else if (f.topic === "approvals") this.note("approvals");
      else {
        this.note("inputs");
        this.note("pending-calls");
      }
    }
    if (live.paused && f.topic === "runs") update({ news: live.news + (f.changes?.length ?? 0) });
    this.soon();
  }

  all(): void {
    this.note();
    this.soon();
  }

  flush(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (live.paused) return;
    const began = Date.now();
    const ask = ++this.asks;
    this.next = began + slowest;
    const keys = this.keys.has(JSON.stringify([this.tenant])) ? [[this.tenant]] : [...this.keys.values()];
    this.keys.clear();
    void Promise.allSettled(keys.map((queryKey) => this.client.invalidateQueries({ queryKey }))).then(() => {
      if (ask !== this.asks) return;
      const took = Date.now() - began;
      this.next = began + Math.min(slowest, Math.max(fastest, 3 * took));
      if (this.keys.size === 0) return;
      window.clearTimeout(this.timer);
      this.timer = 0;
      this.soon();
    });
  }

  private note(...key: unknown[]): void {
    const whole = [this.tenant, ...key];
    this.keys.set(JSON.stringify(whole), whole);
  }

  private soon(): void {
    if (live.paused || this.timer) return;
    this.timer = window.setTimeout(() => this.flush(), Math.max(20, this.next - Date.now()));
  }
}
