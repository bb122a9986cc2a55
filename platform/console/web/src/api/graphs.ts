import { infiniteQueryOptions } from "@tanstack/react-query";
import { ApiError, call, type Query } from "./client";
import type { Json } from "./json";
import { at, list, one, type Agent, type Invocation, type List, type Tool } from "./queries";

// What the pages of agents and graphs ask.

// agentFields are those of an agent's definition, which a change replaces as a whole.
const agentFields = [
  "name", "description", "instructions", "model", "model_options", "tools", "tool_mode", "limits", "max_concurrency",
  "on_unavailable_tool", "fallback_models", "output_schema", "text_tool_calls", "spaces", "tool_groups", "skills", "version",
] as const;

export type AgentDefinition = Partial<Pick<Agent, Extract<(typeof agentFields)[number], keyof Agent>>> & { slug?: string; tool_groups?: string[] };

export function agentDefinition(a: Agent): AgentDefinition {
  const all = a as unknown as Record<string, unknown>;
  return Object.fromEntries(agentFields.filter((n) => all[n] !== undefined).map((n) => [n, all[n]])) as AgentDefinition;
}

export interface AgentVersion {
  id: string;
  version: string;
  digest: string;
  published: boolean;
  published_at?: string;
  created_at: string;
  definition: AgentDefinition;
}

export type Saved<T> = T & { warnings?: string[] };

const tag = (of: { id: string; revision: number }): Record<string, string> => ({ "If-Match": `"${of.id}.${of.revision}"` });

export const agentVersions = (t: string, slug: string) => one<List<AgentVersion>>(t, ["agent", slug, "versions"], `/v1/agents/${at(slug)}/versions`);

export const createAgent = (t: string, body: AgentDefinition) => call<Saved<Agent>>(t, "/v1/agents", { method: "POST", body });
export const updateAgent = (t: string, of: Agent, body: AgentDefinition) =>
  call<Saved<Agent>>(t, `/v1/agents/${at(of.slug)}`, { method: "PUT", body, headers: tag(of) });
export const publishAgent = (t: string, of: Agent) =>
  call<{ agent: Agent; version: AgentVersion }>(t, `/v1/agents/${at(of.slug)}/publish`, { method: "POST", headers: tag(of) });
export const switchAgent = (t: string, of: Agent, to: "disable" | "enable") =>
  call<Agent>(t, `/v1/agents/${at(of.slug)}/${to}`, { method: "POST", headers: tag(of) });

// conflict reports whether a change was refused because another one was made meanwhile.
export const conflict = (e: unknown): boolean => e instanceof ApiError && e.status === 412;

// pickable are the tools that one chooses from, page after page.
export const pickable = (t: string, query: Query) =>
  infiniteQueryOptions({
    queryKey: [t, "tools", "pick", query],
    queryFn: ({ signal, pageParam }) => call<List<Tool>>(t, "/v1/tools", { query: { ...query, limit: 100, cursor: pageParam || undefined }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next,
  });

// toolFields are those of a tool's definition that a change replaces as a whole.
const toolFields = [
  "name", "description", "category", "icon", "input_schema", "output_schema", "output_check", "implementation_type",
  "implementation_config", "interaction", "egress_class", "egress_rules", "requires_approval", "permission_policy",
  "required_permission", "artifact_id", "artifact_version", "version",
] as const;

export type ToolDefinition = Record<string, unknown>;

export function toolDefinition(t: Tool): ToolDefinition {
  const all = t as unknown as Record<string, unknown>;
  return { ...Object.fromEntries(toolFields.filter((n) => all[n] !== undefined).map((n) => [n, all[n]])), execution_config: t.execution };
}

export const createTool = (t: string, body: ToolDefinition) => call<Saved<Tool>>(t, "/v1/tools", { method: "POST", body });
export const updateTool = (t: string, of: Tool, body: ToolDefinition) =>
  call<Saved<Tool>>(t, `/v1/tools/${at(of.slug)}`, { method: "PUT", body, headers: tag(of) });

export interface VersionContent {
  name: string;
  version?: string;
  implementation_type: string;
  implementation_config?: unknown;
  input_schema?: unknown;
}
export interface FullVersion {
  id: string;
  version: string;
  published: boolean;
  created_at: string;
  definition: VersionContent;
}
export const toolVersion = (t: string, slug: string, version: string) =>
  one<FullVersion>(t, ["tool", slug, "versions", version], `/v1/tools/${at(slug)}/versions/${at(version)}`);

export interface GraphFault {
  path: string;
  message: string;
}
export const validate = (t: string, config: Json, input_schema: unknown, signal?: AbortSignal) =>
  call<{ sound: boolean; faults: GraphFault[] }>(t, "/v1/graphs/validate", {
    method: "POST", body: { config, ...(input_schema !== undefined && { input_schema }) }, ...(signal && { signal }),
  });

export interface GraphChange {
  what: "added" | "removed" | "changed";
  node?: string;
  path?: string;
  from?: unknown;
  to?: unknown;
}
export const graphDiff = (t: string, slug: string, from: string, to: string) =>
  one<{ changes: GraphChange[] }>(t, ["tool", slug, "graphdiff"], `/v1/tools/${at(slug)}/graph/diff`, {
    from: from || undefined, to: to || undefined,
  });

export interface Loss {
  path: string;
  what: "dropped" | "changed" | "needed";
  reason: string;
}
export const exportGraph = (t: string, slug: string, version?: string) =>
  call<{ document: Json; losses: Loss[] }>(t, `/v1/tools/${at(slug)}/graph/export`, { query: { version } });
export const importGraph = (t: string, body: { document: Json; slug?: string }) =>
  call<{ slug: string; definitions: Json[]; losses: Loss[] }>(t, "/v1/graphs/import", { method: "POST", body });

export interface NodeRecord {
  graph_effect_id: string;
  path: string;
  node: string;
  kind?: string;
  status: string;
  item?: unknown;
  result?: unknown;
  text?: string;
  error_kind?: string;
  error?: string;
  state?: unknown;
  case?: string;
  run_id?: string;
  attempts?: number;
  ended_at?: string;
}

// everyPage reads lists that are bounded by what one graph may do, up to most pages of them.
async function everyPage<T>(t: string, path: string, query: Query, most: number, signal: AbortSignal): Promise<List<T>> {
  const out: List<T> = { items: [] };
  let cursor: string | undefined;
  for (let i = 0; i < most; i++) {
    const page = await call<List<T>>(t, path, { query: { ...query, limit: 200, cursor }, signal });
    out.items.push(...page.items);
    cursor = page.next;
    if (!cursor) return out;
  }
  out.next = cursor!;
  return out;
}

export const runNodes = (t: string, run: string) => ({
  queryKey: [t, "run", run, "nodes"],
  queryFn: ({ signal }: { signal: AbortSignal }) => everyPage<NodeRecord>(t, `/v1/runs/${at(run)}/nodes`, {}, 10, signal),
});
export const runCalls = (t: string, run: string) => ({
  queryKey: [t, "run", run, "graph-calls"],
  queryFn: ({ signal }: { signal: AbortSignal }) => everyPage<Invocation>(t, "/v1/invocations", { run }, 10, signal),
});
export const agentRuns = (t: string, agent: string, cursor?: string) =>
  list<{ id: string; status: string; mode: string; agent_version?: string; turns: number; created_at: string; started_at?: string; completed_at?: string }>(
    t, "runs", "/v1/runs", { agent, limit: 25, cursor });
