import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { one, type List } from "./queries";

export interface Overview {
  at: string;
  count_limit: number;
  waiting: { kind: string; count: number }[];
  troubles: { kind: string; count: number }[];
  workers?: { polling: boolean; task_queue: string };
  runs?: { status: string; runs: number }[];
  hours?: Hour[];
  failures?: { calls: number; tools: { tool: string; failures: number; kind?: string; last_call: string }[] };
  spent?: { calls: number; turns: number; unpriced_turns: number; cost_micros: number };
  budgets?: { id: string; name: string; period: string; limit_micros: number; spent_micros: number; reserved_micros: number }[];
  has_tools?: boolean;
  has_runs?: boolean;
}

export interface Hour {
  hour: string;
  calls: number;
  failed: number;
}

export interface Found {
  kind: string;
  id: string;
  name: string;
  title?: string;
  state?: string;
  run_id?: string;
}

export const overview = (t: string) => one<Overview>(t, ["overview"], "/v1/overview");

export const search = (t: string, q: string) =>
  queryOptions({
    queryKey: [t, "search", q],
    queryFn: ({ signal }) => call<List<Found>>(t, "/v1/search", { signal, query: { q } }),
    enabled: q !== "",
  });
