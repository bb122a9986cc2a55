import { useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { cancel, follow, run, type Frame, type NewCall, type Outcome } from "../api/forms";
import type { Json } from "../api/json";
import { say } from "../ui/live";
import { isObject, textOf } from "./spec";
import type { Problems } from "./store";

// A call from a page: what happens in it while it runs, and how it ended.

export interface Happened {
  type: string;
  at: number; // Milliseconds after the call was sent.
  note?: string;
}

export interface Called {
  state: "idle" | "running" | "ended" | "failed";
  run?: string;
  chunks: string[]; // Of the highest attempt.
  attempt: number;
  events: Happened[];
  approval?: string;
  outcome?: Outcome;
  error?: unknown;
  errors: Problems;
  took?: number;
}

const idle: Called = { state: "idle", chunks: [], attempt: 0, events: [], errors: {} };
const kept = 400; // Chunks that are shown.

export function useCall(tenant: string, tool: string) {
  const [called, setCalled] = useState<Called>(idle);
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), [tenant, tool]);

  const watch = async (begin: (on: (f: Frame) => void, signal: AbortSignal) => Promise<Outcome>, of?: string) => {
    stop.current?.abort();
    const mine = (stop.current = new AbortController());
    const began = performance.now();
    let now: Called = { ...idle, state: "running", ...(of && { run: of }) };
    let drawn = 0;
    const draw = (next: Called) => {
      now = next;
      drawn ||= requestAnimationFrame(() => {
        drawn = 0;
        if (!mine.signal.aborted) setCalled(now);
      });
    };
    draw(now);
    try {
      const outcome = await begin((f) => draw(after(now, f, performance.now() - began)), mine.signal);
      const i = outcome.invocation;
      draw({ ...now, state: "ended", outcome, run: outcome.run_id, took: performance.now() - began, errors: problemsOf(outcome.error_kind ?? i?.error_kind, outcome.error ?? i?.error) });
      say(outcome.status === "completed" ? "The call has ended" : `The call is ${outcome.status}`);
    } catch (error) {
      if (mine.signal.aborted) return;
      draw({ ...now, state: "failed", error, errors: refused(error), took: performance.now() - began });
    }
  };

  return {
    called,
    start: (c: NewCall) => watch((on, signal) => run(tenant, tool, c, on, signal)),
    resume: (id: string) => watch((on, signal) => follow(tenant, id, on, signal), id),
    cancel: async () => {
      if (!called.run) return;
      try {
        await cancel(tenant, called.run);
        say("The call is being cancelled");
      } catch (error) {
        setCalled((c) => (c.state === "running" ? { ...c, error } : c));
      }
    },
    reset: () => {
      stop.current?.abort();
      setCalled(idle);
    },
  };
}

// after is what is known after an event.
function after(c: Called, f: Frame, at: number): Called {
  if (f.event === "begun") return { ...c, run: textOf(f.data) };
  if (f.event === "end" || !isObject(f.data)) return c;
  const type = textOf(f.data.type ?? f.event);
  const data: { [name: string]: Json } = isObject(f.data.data) ? f.data.data : {};
  if (type.endsWith(".output_appended")) {
    const attempt = Number(textOf(data.attempt ?? 1));
    const text = textOf(data.text);
    if (attempt < c.attempt) return c;
    return { ...c, attempt, chunks: [...(attempt > c.attempt ? [] : c.chunks), text].slice(-kept) };
  }
  const note = [data.attempt !== undefined && type === "tool.started" ? `attempt ${textOf(data.attempt)}` : "", textOf(data.kind ?? data.reason), textOf(data.message)].filter(Boolean).join(", ");
  const events = [...c.events, { type, at, ...(note && { note }) }].slice(-100);
  if (type === "tool.needs_approval") return { ...c, events, approval: textOf(data.approval_id) };
  if (/^tool\.(approved|rejected|expired|started)$/.test(type)) {
    const { approval: _, ...rest } = c;
    return { ...rest, events };
  }
  return { ...c, events };
}

// problemsOf reads the places out of the message of a refused input: "at /a expected x, got y; at …".
export function problemsOf(kind: string | undefined, message: string | undefined): Problems {
  const out: Problems = {};
  if (kind !== "invalid" || !message) return out;
  for (const part of message.split(/; (?=at |and )/)) {
    const found = /(?:^|\s)at (\/\S*|the top) (expected [\s\S]*)$/.exec(part);
    if (found) out[found[1] === "the top" ? "" : found[1]!] ??= found[2]!;
  }
  return out;
}

// refused are the places that a problem of the API names.
function refused(error: unknown): Problems {
  const out: Problems = {};
  if (!(error instanceof ApiError)) return out;
  for (const f of error.faults) if (f.path?.startsWith("/arguments")) out[f.path.slice("/arguments".length)] = f.detail;
  return Object.keys(out).length ? out : problemsOf(error.kind, error.detail);
}
