import { queryOptions } from "@tanstack/react-query";
import { config } from "../config";
import { address, ApiError, call, send, type Query } from "./client";
import { parse, type Json } from "./json";
import { at, list, one, type Invocation, type List } from "./queries";
import { sent } from "./sse";

// What forms, and calls from a page, ask.

// Entity is a kind of what a field can point to.
export interface Entity {
  name: string;
  path: string;
  searches?: boolean; // The server searches; else what it lists is searched here.
  of: (item: Record<string, unknown>) => { id: string; name: string; about?: string };
}

const byId = (name: string) => (i: Record<string, unknown>) => ({
  id: String(i.id), name: String(i[name] ?? i.id), ...(typeof i.name === "string" && i.name !== i[name] && { about: i.name }),
});

const kinds: Record<string, Entity> = {
  tool: { name: "tools", path: "/v1/tools", searches: true, of: byId("slug") },
  agent: { name: "agents", path: "/v1/agents", searches: true, of: byId("slug") },
  run: { name: "runs", path: "/v1/runs", of: (i) => ({ id: String(i.id), name: String(i.agent ?? i.tool ?? i.kind ?? i.id), about: `${String(i.status)} ${String(i.id)}` }) },
  file: { name: "files", path: "/v1/files", of: (i) => ({ id: String(i.id), name: String(i.name), about: String(i.media_type) }) },
  credential: { name: "credentials", path: "/v1/credentials", of: byId("name") },
  space: { name: "spaces", path: "/v1/spaces", of: byId("name") },
  profile: { name: "profiles", path: "/v1/profiles", of: byId("name") },
  schedule: { name: "schedules", path: "/v1/schedules", of: byId("name") },
  pipeline: { name: "pipelines", path: "/v1/pipelines", of: byId("slug") },
};

// entityOf is how the entities of a type are listed, where the platform keeps them.
export const entityOf = (type: string | undefined): Entity | undefined => (type && Object.hasOwn(kinds, type) ? kinds[type] : undefined);
export const entityTypes = Object.keys(kinds);

export const entities = (tenant: string, kind: Entity, search: string) =>
  queryOptions({
    queryKey: [tenant, "entities", kind.path, kind.searches ? search : ""],
    queryFn: async ({ signal }) => {
      const query: Query = kind.searches ? { search, limit: 20 } : { limit: 200 };
      const found = await call<List<Record<string, unknown>>>(tenant, kind.path, { query, signal });
      return found.items.map(kind.of);
    },
  });

export interface StoredFile {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

// upload sends a file as it is. What it is, its content decides.
export async function upload(tenant: string, file: File, signal?: AbortSignal): Promise<StoredFile> {
  let answer: Response;
  try {
    answer = await fetch(address("/v1/files", { name: file.name }), {
      method: "POST", body: file, credentials: "same-origin", cache: "no-store", redirect: "error",
      headers: { Accept: "application/json", "Content-Type": "application/octet-stream", "X-Toolcrib": "1", "X-Toolcrib-Tenant": tenant },
      ...(signal && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError("unavailable", 0, "The server cannot be reached.");
  }
  const text = await answer.text();
  if (answer.ok) return parse(text) as unknown as StoredFile;
  const p = (() => {
    try {
      return JSON.parse(text) as { code?: string; detail?: string; title?: string };
    } catch {
      return {};
    }
  })();
  throw new ApiError(p.code ?? "internal", answer.status, p.detail ?? p.title ?? `The server answered with status ${answer.status}.`);
}

export const file = (tenant: string, id: string) => one<StoredFile>(tenant, ["file", id], `/v1/files/${at(id)}`);

// fileContent is the content of a file, to be shown from memory: the server sends files as attachments.
export const fileContent = (tenant: string, id: string) =>
  queryOptions({
    queryKey: [tenant, "file", id, "content"],
    queryFn: async ({ signal }) => (await send(tenant, `/v1/files/${at(id)}/content`, { signal }, "*/*")).blob(),
    staleTime: Infinity,
    gcTime: 60_000,
  });

export const contentAddress = (id: string): string => `${config.prefix}/v1/files/${at(id)}/content`;

// Calls of a tool.

export const pastCalls = (tenant: string, tool: string) => list<Invocation>(tenant, "invocations", "/v1/invocations", { tool, limit: 20 });

export interface Frame {
  event: string;
  data: Json;
}

export interface Outcome {
  run_id: string;
  status: string;
  version?: string;
  error_kind?: string;
  error?: string;
  invocation?: Invocation;
}

export interface NewCall {
  arguments: Json;
  version?: string | undefined;
  mode: "test" | "production" | "debug";
  allow_writes?: boolean;
}

// run makes a call, and reports what happens in it until it has ended.
export async function run(tenant: string, tool: string, c: NewCall, on: (f: Frame) => void, signal: AbortSignal): Promise<Outcome> {
  const version = c.version || undefined;
  if (c.mode === "test") {
    const body = { arguments: c.arguments, version, allow_writes: c.allow_writes || undefined };
    let outcome: Outcome | undefined;
    const answer = await send(tenant, `/v1/tools/${at(tool)}/test/stream`, { method: "POST", body, signal }, "text/event-stream");
    const id = answer.headers.get("Location")?.split("/").pop() ?? "";
    if (id) on({ event: "begun", data: id });
    for await (const { event, data } of sent(answer)) {
      if (event === "test.result") outcome = parse(data) as unknown as Outcome;
      else on({ event, data: parse(data) });
    }
    return outcome ?? (await ended(tenant, id, signal));
  }
  const body = { arguments: c.arguments, version, mode: c.mode, wait_s: 0 };
  const begun = await call<{ run_id: string }>(tenant, `/v1/tools/${at(tool)}/call`, { method: "POST", body, signal });
  on({ event: "begun", data: begun.run_id });
  return follow(tenant, begun.run_id, on, signal);
}

// follow reports the events of a run until it has ended.
export async function follow(tenant: string, id: string, on: (f: Frame) => void, signal: AbortSignal): Promise<Outcome> {
  let after = 0;
  for (let tries = 0; tries < 5; tries++) {
    let over = false;
    const answer = await send(tenant, `/v1/runs/${at(id)}/events`, { query: { after }, signal }, "text/event-stream");
    if (answer.status !== 200) break;
    for await (const { event, data: text } of sent(answer)) {
      if (event === "end") over = true;
      else {
        const data = parse(text);
        after = Number((data as { seq?: Json })?.seq ?? after);
        tries = 0;
        on({ event, data });
      }
    }
    if (over) break;
  }
  return ended(tenant, id, signal);
}

// ended is how a call has ended, as the records say.
async function ended(tenant: string, id: string, signal: AbortSignal): Promise<Outcome> {
  const of = await call<Outcome>(tenant, `/v1/runs/${at(id)}`, { signal });
  const made = await call<List<Invocation>>(tenant, "/v1/invocations", { query: { run: id, limit: 1 }, signal });
  const first = made.items[0];
  const record = first && (await call<Invocation>(tenant, `/v1/invocations/${at(first.id)}`, { signal }));
  return {
    run_id: id, status: of.status, ...(of.error_kind !== undefined && { error_kind: of.error_kind }), ...(of.error !== undefined && { error: of.error }),
    ...(record && { invocation: record }),
  };
}

export const cancel = (tenant: string, id: string) => call<unknown>(tenant, `/v1/runs/${at(id)}/cancel`, { method: "POST" });
