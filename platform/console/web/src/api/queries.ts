import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call, type Query } from "./client";
import type { Json } from "./json";
import type { components } from "./schema";

// What the pages ask. Keys begin with the tenant, so that nothing of one is seen in another.

type Schemas = components["schemas"];
export type Me = Schemas["Me"];
export type Tool = Schemas["Tool"];
export type ToolVersion = Schemas["ToolVersion"];
export type ToolForm = Schemas["ToolForm"];
export type Explanation = Schemas["Explanation"];
export type Run = Schemas["Run"];
export type Message = Schemas["AgentMessage"];
export type Invocation = Schemas["Invocation"];
export type Approval = Schemas["Approval"];
export type Agent = Schemas["Agent"];
export type Event = Schemas["ToolEvent"];

export interface List<T> {
  items: T[];
  next?: string;
}

// json is what a member of any JSON is, which the description of the API calls unknown.
export const json = (v: unknown): Json | undefined => v as Json | undefined;

export const me = (tenant?: string) =>
  queryOptions({
    queryKey: [tenant ?? "", "me"],
    queryFn: ({ signal }) => call<Me>(tenant, "/v1/me", { signal }),
    staleTime: 60_000,
  });

// list and one are for the questions of an area, which have files of their own beside this.
export const list = <T>(tenant: string, name: string, path: string, query: Query) =>
  queryOptions({
    queryKey: [tenant, name, query],
    queryFn: ({ signal }) => call<List<T>>(tenant, path, { query, signal }),
    placeholderData: keepPreviousData,
  });

export const one = <T>(tenant: string, key: unknown[], path: string, query?: Query) =>
  queryOptions({
    queryKey: [tenant, ...key, ...(query ? [query] : [])],
    queryFn: ({ signal }) => call<T>(tenant, path, { signal, ...(query && { query }) }),
  });

export const at = encodeURIComponent;

export const tools = (t: string, q: Query) => list<Tool>(t, "tools", "/v1/tools", q);
export const tool = (t: string, slug: string) => one<Tool>(t, ["tool", slug], `/v1/tools/${at(slug)}`);
export const toolVersions = (t: string, slug: string) => one<List<ToolVersion>>(t, ["tool", slug, "versions"], `/v1/tools/${at(slug)}/versions`);
export const toolForm = (t: string, slug: string, version?: string) =>
  one<ToolForm>(t, ["tool", slug, "form"], `/v1/tools/${at(slug)}/fields`, { version });
export const explain = (t: string, slug: string, q: Query) => one<Explanation>(t, ["tool", slug, "explain"], `/v1/tools/${at(slug)}/explain`, q);
export const runs = (t: string, q: Query) => list<Run>(t, "runs", "/v1/runs", q);
export const run = (t: string, id: string) => one<Run>(t, ["run", id], `/v1/runs/${at(id)}`);
export const messages = (t: string, id: string) => one<List<Message>>(t, ["run", id, "messages"], `/v1/runs/${at(id)}/messages`);
export const calls = (t: string, id: string, cursor?: string) =>
  one<List<Invocation>>(t, ["run", id, "calls"], "/v1/invocations", { run: id, limit: 200, cursor });
export const events = (t: string, id: string, after: number) =>
  one<List<Event>>(t, ["run", id, "events"], `/v1/runs/${at(id)}/events`, { after, limit: 500 });
// An answer may be large: it is not compared with the one before.
export const invocation = (t: string, id: string) => ({ ...one<Invocation>(t, ["invocation", id], `/v1/invocations/${at(id)}`), structuralSharing: false });
export const approvals = (t: string, q: Query) => list<Approval>(t, "approvals", "/v1/approvals", q);
export const approval = (t: string, id: string) => one<Approval>(t, ["approvals", id], `/v1/approvals/${at(id)}`);
export const agents = (t: string, q: Query) => list<Agent>(t, "agents", "/v1/agents", q);

export const agent = (t: string, slug: string) => one<Agent>(t, ["agent", slug], `/v1/agents/${at(slug)}`);

export const may = (m: Me | undefined, permission: string): boolean => !!m?.permissions.includes(permission);
