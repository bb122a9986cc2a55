import { queryOptions } from "@tanstack/react-query";
import { ApiError, call, send, type Ask, type Query } from "./client";
import { parse } from "./json";
import { at, list, one, type List, type Tool } from "./queries";
import type { components } from "./schema";
import { sent } from "./sse";

// What the pages of the registry ask, and what they change.

type Schemas = components["schemas"];
export type ToolCheck = Schemas["CheckedDefinition"];
export type Finding = Schemas["Finding"];
export type SavedTool = Schemas["SavedTool"];
export type Published = Schemas["Published"];
export type Diff = Schemas["Diff"];
export type Taxonomy = Schemas["Taxonomy"];
export type Term = Taxonomy["buckets"][number];
export type ToolFacets = Schemas["ToolFacets"];
export type Facet = Schemas["Facet"];
export type ToolUsage = Schemas["ToolUsage"];
export type ToolUse = Schemas["ToolUse"];
export type Canary = Schemas["Canary"];
export type Replay = Schemas["Replay"];
export type Gate = Schemas["PublishGate"];
export type ToolOverrides = Schemas["ToolOverrides"];
export type Override = Schemas["Override"];
export type OverrideVersion = Schemas["OverrideVersion"];
export type Profile = Schemas["Profile"];
export type Assignment = Schemas["Assignment"];
export type ImportedOpenAPI = Schemas["ImportedOpenAPI"];
export type ImportedOperation = Schemas["ImportedOperation"];
export type BulkResult = Schemas["BulkResult"];

const of = (slug: string) => `/v1/tools/${at(slug)}`;

export const taxonomy = (t: string) => queryOptions({ ...one<Taxonomy>(t, ["taxonomy"], "/v1/taxonomy"), staleTime: Infinity });
export const facets = (t: string) => one<ToolFacets>(t, ["tools", "facets"], "/v1/tools/facets");
export const diff = (t: string, slug: string, q: Query) => one<Diff>(t, ["tool", slug, "diff"], `${of(slug)}/diff`, q);
export const users = (t: string, slug: string, q: Query) => one<ToolUsage>(t, ["tool", slug, "users"], `${of(slug)}/users`, q);
export const canaries = (t: string, slug: string) => one<List<Canary>>(t, ["tool", slug, "canaries"], `${of(slug)}/canaries`, { limit: 20 });
export const replays = (t: string, slug: string) => one<List<Replay>>(t, ["tool", slug, "replays"], `${of(slug)}/replays`, { limit: 20 });
export const replay = (t: string, slug: string, id: string) => one<Replay>(t, ["tool", slug, "replay", id], `${of(slug)}/replays/${at(id)}`);
export const override = (t: string, slug: string) => one<ToolOverrides>(t, ["tool", slug, "override"], `${of(slug)}/override`);
export const overrideVersions = (t: string, slug: string, cursor?: string) =>
  one<List<OverrideVersion>>(t, ["tool", slug, "override", "versions"], `${of(slug)}/override/versions`, { limit: 20, cursor });
export const assignments = (t: string, q: Query) => list<Assignment>(t, "assignments", "/v1/assignments", q);
export const profiles = (t: string, q: Query) => list<Profile>(t, "profiles", "/v1/profiles", q);
export const profile = (t: string, name: string) => one<Profile>(t, ["profile", name], `/v1/profiles/${at(name)}`);

// gate is what has to pass before a version is published: none is an answer too.
export const gate = (t: string, slug: string) =>
  queryOptions({
    queryKey: [t, "tool", slug, "gate"],
    queryFn: ({ signal }) => call<Gate>(t, `${of(slug)}/publish-gate`, { signal }).catch((e: unknown) => {
      if (e instanceof ApiError && e.status === 404) return null;
      throw e;
    }),
  });

// names are those to choose from; who may not list them types one.
export const names = (t: string, path: string, member: string) =>
  queryOptions({
    queryKey: [t, "names", path],
    queryFn: async ({ signal }) => {
      const found = await call<List<Record<string, unknown>>>(t, path, { query: { limit: 200 }, signal });
      return found.items.map((i) => String(i[member]));
    },
    retry: false,
    staleTime: 30_000,
  });

export const check = (t: string, definition: unknown, signal?: AbortSignal) =>
  call<ToolCheck>(t, "/v1/tools/check", { method: "POST", body: definition, ...(signal && { signal }) });

export const post = <T>(t: string, path: string, body: unknown = {}, ask: Ask = {}) => call<T>(t, path, { method: "POST", body, ...ask });
export const act = <T = Tool>(t: string, slug: string, action: string, body: unknown = {}, query?: Query) =>
  call<T>(t, `${of(slug)}/${action}`, { method: "POST", body, ...(query && { query }) });

// events reads server-sent events of an answer: their names and data.
export async function* events(t: string, path: string, body: unknown, signal: AbortSignal): AsyncGenerator<[name: string, data: unknown]> {
  const answer = await send(t, path, { method: "POST", body, signal }, "text/event-stream");
  for await (const { event, data } of sent(answer)) yield [event, parse(data)];
}
