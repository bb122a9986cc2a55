import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { Buckets } from "../ui/filters";
import { Rows } from "../ui/list";
import { Status } from "../ui/parts";
import { bodies, detail, leads, walk, type Definition, type Place } from "./model";
import { Picture, type State } from "./picture";

// What the address says of a graph that is looked at: its node, and whether as a picture or a table.
export interface GraphSearch {
  node?: string;
  show?: string;
  version?: string;
  graph?: string;
  from?: string;
  to?: string;
}

export const useGraphSearch = (): GraphSearch => useSearch({ strict: false }) as GraphSearch;

export function useSetSearch(): (change: Record<string, string | undefined>) => void {
  const navigate = useNavigate();
  return (change) => void navigate({ to: ".", search: ((s: Record<string, unknown>) => ({ ...s, ...change })) as never, replace: true, resetScroll: false });
}

const shows = [["", "Picture"], ["table", "Table"]] as const;

// GraphView shows a graph as a picture, or the same as a table, and what is beside a node that is chosen.
export function GraphView({ of, states, label, tools, aside, statusName = "Status" }: {
  of: Definition;
  states?: ReadonlyMap<string, State & { took?: string }> | undefined;
  label: string;
  tools?: ReactNode;
  aside?: ((p: Place) => ReactNode) | undefined;
  statusName?: string;
}) {
  const search = useGraphSearch();
  const set = useSetSearch();
  const all = useMemo(() => walk(of), [of]);
  const byBody = useMemo(() => new Map(bodies(of).map((b) => [b.pointer, b])), [of]);
  const chosen = all.find((p) => p.path === search.node);
  return (
    <>
      <div className="filters">
        <Buckets label="Show as" value={search.show ?? ""} options={shows} onChange={(v) => set({ show: v || undefined })} />
        {tools}
      </div>
      <div className={chosen && aside ? "split open" : "split"}>
        <div className="split-list">
          {search.show === "table" ? (
            <Rows label={label} rows={all} keyOf={(p) => p.path} current={search.node}
              columns={[
                {
                  name: "Node",
                  show: (p) => (
                    <Link to="." search={((s: Record<string, unknown>) => ({ ...s, node: p.path })) as never} className="row-link" replace resetScroll={false}>
                      <span className="slug">{"· ".repeat(p.depth)}{p.id}</span>
                      <span className="muted line">{detail(p)}</span>
                    </Link>
                  ),
                },
                { name: "Kind", show: (p) => p.kind.replaceAll("_", " ") },
                ...(states ? [{ name: statusName, show: (p: Place) => <NodeStatus of={states.get(p.pointer)} /> }] : []),
                ...(states && [...states.values()].some((s) => s.took) ? [{ name: "Took", end: true, show: (p: Place) => states.get(p.pointer)?.took ?? "–" }] : []),
                { name: "Leads to", from: "medium" as const, show: (p) => <span className="line">{leads(p, byBody.get(p.body)!)}</span> },
              ]} />
          ) : (
            <Picture of={of} states={states} selected={chosen?.pointer} label={label}
              onSelect={(pointer) => set({ node: all.find((p) => p.pointer === pointer)?.path })} />
          )}
        </div>
        {chosen && aside?.(chosen)}
      </div>
    </>
  );
}

export function NodeStatus({ of }: { of: State | undefined }) {
  if (!of) return <span className="none">–</span>;
  return <><Status value={of.status} />{of.badge && <span className="muted"> {of.badge}</span>}</>;
}
