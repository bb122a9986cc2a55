import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Run } from "../../api/queries";
import { money, runUsage, type Call, type TurnUsage } from "../../api/runs";
import { Badge, Status, took } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Type } from "../../ui/type";
import { Virtual } from "../../ui/virtual";
import { ended, useCalls } from "./transcript";

// The timeline has a row for each answer of the model and for each call: waiting is hatched, and work is full.

interface Row {
  key: string;
  call?: Call;
  turn?: TurnUsage;
  number: number;
  parts: { from: number; to: number; kind: "model" | "wait" | "approval" | "work" }[];
  from: number;
  to: number;
  open: boolean;
}

export function rowsOf(r: Run, calls: Call[], turns: TurnUsage[], now: number): Row[] {
  const ms = (t: string | undefined) => (t ? Date.parse(t) : NaN);
  const byTurn = new Map<number, Call[]>();
  for (const c of calls) byTurn.set(c.turn, [...(byTurn.get(c.turn) ?? []), c]);
  const known = new Map(turns.map((t) => [t.turn, t]));
  const numbers = [...new Set([...byTurn.keys(), ...known.keys()])].sort((a, b) => a - b);
  const rows: Row[] = [];
  const begun = ms(r.started_at) || ms(r.created_at);
  let before = numbers[0] !== undefined && numbers[0] > 1 ? NaN : begun;
  for (const n of numbers) {
    const t = known.get(n);
    if (t) {
      const to = ms(t.at);
      const from = Math.min(Number.isNaN(before) ? to : before, to);
      rows.push({ key: `turn-${n}`, turn: t, number: n, parts: [{ from, to, kind: "model" }], from, to, open: false });
      before = to;
    }
    for (const c of byTurn.get(n) ?? []) {
      const from = ms(c.created_at);
      const over = ms(c.completed_at);
      const to = Number.isNaN(over) ? now : over;
      const start = Math.min(ms(c.started_at) || to, to);
      const parts: Row["parts"] = [];
      if (start > from) parts.push({ from, to: start, kind: c.approval_status === "not_required" ? "wait" : "approval" });
      if (to > start || parts.length === 0) parts.push({ from: start, to, kind: "work" });
      rows.push({ key: c.id, call: c, number: n, parts, from, to, open: Number.isNaN(over) });
      before = Math.max(Number.isNaN(before) ? to : before, to);
    }
  }
  if (r.kind === "agent" && r.status === "running" && !r.paused && !rows.some((x) => x.open)) {
    const from = Number.isNaN(before) ? now : before;
    rows.push({ key: "next", number: r.turns + 1, parts: [{ from, to: now, kind: "model" }], from, to: now, open: true });
  }
  return rows;
}

export function useNow(on: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [on]);
  return now;
}

const length = (ms: number) => took(new Date(0).toISOString(), new Date(Math.max(0, Math.round(ms))).toISOString());
const keyOf = (r: Row) => r.key;

export function Timeline({ tenant, of: r, scale, current }: { tenant: string; of: Run; scale?: string | undefined; current?: string | undefined }) {
  const made = useCalls(tenant, r.id);
  const first = made.items[0]?.turn ?? 0;
  const usage = useQuery({ ...runUsage(tenant, r.id, made.earlier ? first : 0), enabled: made.found.isSuccess });
  const now = useNow(!ended(r));
  const rows = useMemo(() => rowsOf(r, made.items, usage.data?.turns ?? [], now), [r, made.items, usage.data, now]);
  const [seen, setSeen] = useState<[number, number]>([0, 0]);
  const onSeen = useCallback((a: number, b: number) => setSeen((s) => (s[0] === a && s[1] === b ? s : [a, b])), []);
  if (made.found.isPending || usage.isLoading) return <Loading />;
  if (made.found.error) return <Failed error={made.found.error} retry={() => void made.found.refetch()} what="The timeline" />;
  if (rows.length === 0) return <Empty title="Nothing happened yet">Answers of the model, and calls of tools, appear here as they happen.</Empty>;
  const within = scale === "seen" ? rows.slice(seen[0], seen[1] + 1) : rows;
  const from = Math.min(...within.map((x) => x.from));
  const to = Math.max(...within.map((x) => x.to), from + 1);
  const pct = (t: number) => Math.min(100, Math.max(0, ((t - from) / (to - from)) * 100));
  return (
    <Virtual items={rows} keyOf={keyOf} estimate={34} label="Timeline" className="timeline" onStart={made.earlier ? made.more : undefined} onSeen={onSeen}
      begin={ended(r) && !made.earlier ? "start" : "end"}
      show={(row) => <Line of={row} pct={pct} current={current === row.call?.id} />}
      head={
        <>
          <div className="virtual-head">
            <span className="muted">{made.failed ? "Earlier calls could not be read." : made.loading ? "Earlier calls are read…" : `${made.items.length} call${made.items.length === 1 ? "" : "s"}${made.earlier ? " read" : ""}`}</span>
            {made.earlier && <button type="button" className="quiet" onClick={made.more}>Earlier</button>}
            <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, scale: scale === "seen" ? undefined : "seen" })} replace resetScroll={false}>
              {scale === "seen" ? "Show the whole time" : "Fit what is seen"}
            </Link>
            <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, tab: "calls" })} replace resetScroll={false}>As a table</Link>
            <span className="legend" aria-hidden="true"><i className="bar model" /> model <i className="bar work" /> call <i className="bar wait" /> queued <i className="bar approval" /> waits for a person</span>
          </div>
          <div className="axis" aria-hidden="true">
            <span />
            <span className="ticks">{[0, 0.25, 0.5, 0.75, 1].map((f) => <i key={f}>{length((to - from) * f)}</i>)}</span>
            <span />
          </div>
        </>
      } />
  );
}

const says: Record<string, string> = { wait: "queued", approval: "waited for a person", work: "worked", model: "the model answered" };

function Line({ of: row, pct, current }: { of: Row; pct: (t: number) => number; current: boolean }) {
  const c = row.call;
  const cost = c ? c.cost_micros : row.turn?.cost_micros;
  const lane = (
    <span className="lane" aria-hidden="true">
      {row.parts.map((p) => (
        <i key={p.kind} className={`bar ${p.kind}${c && ["failed", "rejected", "unknown", "expired"].includes(c.status) ? " bad" : ""}`} title={`${says[p.kind]}: ${length(p.to - p.from)}`}
          style={{ left: `${pct(p.from)}%`, width: `max(3px, ${pct(p.to) - pct(p.from)}%)` }} />
      ))}
    </span>
  );
  const end = (
    <span className="end">
      {cost !== undefined && <span className="muted">{money(cost)}</span>}
      <span>{length(row.to - row.from)}</span>
    </span>
  );
  if (!c) {
    return (
      <div className="wf turn">
        <span className="wf-name"><strong>Turn {row.number}</strong><span className="muted line">{row.turn ? row.turn.model ?? "model" : "the model is answering"}</span></span>
        {lane}
        {end}
      </div>
    );
  }
  return (
    <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call: c.id })} replace={current} resetScroll={false} className={`wf${c.parent_id ? " below" : ""}`} data-current={current}>
      <span className="wf-name">
        <Status value={c.status} />
        <span className="slug line">{c.tool}</span>
        {c.implementation_type && <Type of={c.implementation_type} />}
        {c.status === "pending" && c.approval_status === "pending" && <Badge tone="warn">waits for a person</Badge>}
      </span>
      {lane}
      {end}
    </Link>
  );
}
