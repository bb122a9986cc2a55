import { useQueries, useQuery } from "@tanstack/react-query";
import { call, type Query } from "./client";
import { approvals, at, list, may, one, type List, type Me } from "./queries";
import type { components } from "./schema";

// What waits for a person, and the servers of which tools come.

type Schemas = components["schemas"];
export type Grant = Schemas["Grant"];
export type NewGrant = Schemas["NewGrant"];
export type InputRequest = Schemas["InputRequest"];
export type InputLink = Schemas["InputLink"];
export type PendingCall = Schemas["PendingCall"];
export type Submitted = Schemas["Submitted"];
export type SubmitToken = Schemas["SubmitToken"];
export type Decided = Schemas["Decided"];
export type Server = Schemas["MCPServer"];
export type ServerDefinition = Schemas["MCPServerDefinition"];
export type Refresh = Schemas["MCPRefresh"];
export type RemoteTool = Schemas["MCPTool"];
export type Drift = Schemas["MCPDrift"];
export type ApprovedMCP = Schemas["ApprovedMCP"];
export type Detached = Schemas["DetachedMCP"];

export const grants = (t: string, q: Query) => list<Grant>(t, "grants", "/v1/approval-grants", q);
export const inputs = (t: string, q: Query) => list<InputRequest>(t, "inputs", "/v1/input-requests", q);
export const inputRequest = (t: string, id: string) => one<InputRequest>(t, ["inputs", id], `/v1/input-requests/${at(id)}`);
export const pendingCalls = (t: string, q: Query) => list<PendingCall>(t, "pending-calls", "/v1/pending-tool-calls", q);
export const pendingCall = (t: string, id: string) => one<PendingCall>(t, ["pending-calls", id], `/v1/pending-tool-calls/${at(id)}`);
export const servers = (t: string, q: Query) => list<Server>(t, "mcp-servers", "/v1/mcp/servers", q);
export const server = (t: string, slug: string) => one<Server>(t, ["mcp-servers", slug], `/v1/mcp/servers/${at(slug)}`);
export const remoteTools = (t: string, slug: string, q: Query) =>
  one<List<RemoteTool>>(t, ["mcp-servers", slug, "tools"], `/v1/mcp/servers/${at(slug)}/tools`, q);
export const drift = (t: string, slug: string, tool: string) =>
  one<List<Drift>>(t, ["mcp-servers", slug, "diff"], `/v1/mcp/servers/${at(slug)}/diff`, { tool });

export const post = <T>(tenant: string, path: string, body: unknown = {}) => call<T>(tenant, path, { method: "POST", body });

// Stopped is a tool of a server that is stopped until a person has looked at it.
export interface Stopped {
  server: Server;
  tool: RemoteTool;
}

// useStopped are the tools of all servers that are stopped. Of the servers, the first hundred are asked.
export function useStopped(tenant: string, on: boolean) {
  const all = useQuery({ ...servers(tenant, { limit: 100 }), enabled: on, staleTime: 60_000 });
  const asked = (all.data?.items ?? []).flatMap((s) => (["changed", "gone"] as const).map((state) => ({ s, state })));
  const found = useQueries({
    queries: asked.map(({ s, state }) => ({ ...remoteTools(tenant, s.slug, { state, limit: 200 }), enabled: on, staleTime: 60_000 })),
  });
  const items: Stopped[] = asked.flatMap(({ s }, i) => (found[i]?.data?.items ?? []).map((tool) => ({ server: s, tool })));
  return {
    items,
    pending: on && (all.isPending || found.some((f) => f.isPending)),
    error: all.error ?? found.find((f) => f.error)?.error,
    refetch: () => {
      void all.refetch();
      found.forEach((f) => void f.refetch());
    },
  };
}

// Count is how many wait, as far as one page counts.
export interface Count {
  n: number;
  more: boolean;
}

const counted = (l: List<unknown> | undefined): Count => ({ n: l?.items.length ?? 0, more: !!l?.next });

// useCounts is how much waits for who asks, by part of the inbox.
export function useCounts(tenant: string, who: Me | undefined) {
  const asks = useQuery({ ...approvals(tenant, { status: "pending", decidable: true, limit: 50 }), enabled: may(who, "approvals.read") });
  const answers = may(who, "results.submit");
  const inputsOpen = useQuery({ ...inputs(tenant, { status: "open", limit: 50 }), enabled: answers });
  const callsOpen = useQuery({ ...pendingCalls(tenant, { status: "open", limit: 50 }), enabled: answers });
  const stopped = useStopped(tenant, may(who, "tools.read") && may(who, "tools.write"));
  const isInput = new Set(inputsOpen.data?.items.map((i) => i.view_id));
  const parts = {
    approvals: counted(asks.data),
    inputs: counted(inputsOpen.data),
    // Requests for input are calls too: they are counted once.
    calls: { n: callsOpen.data?.items.filter((c) => !isInput.has(c.id)).length ?? 0, more: !!callsOpen.data?.next },
    quarantines: { n: stopped.items.length, more: false },
  };
  const all = Object.values(parts);
  return { ...parts, total: { n: all.reduce((sum, c) => sum + c.n, 0), more: all.some((c) => c.more) } };
}

export const shown = (c: Count): string => `${c.n}${c.more ? "+" : ""}`;
