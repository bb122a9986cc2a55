import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { address } from "../../api/client";
import { toolCalls, usage, type Usage, type UsageReport } from "../../api/govern";
import { big, change, count, money, plain, share, type Amount } from "../../api/money";
import { Bar, Bars, csv, Days, daysFrom, save, shiftDay, StackedBar } from "../../chart";
import { Buckets } from "../../ui/filters";
import { Drawer, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Status, Time, took } from "../../ui/parts";
import { option, words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";

const groups = [["tool", "Tools"], ["agent", "Agents"], ["model", "Models"], ["day", "Days"]] as const;
const shows = [["spend", "Spend"], ["calls", "Calls"], ["tokens", "Tokens"]] as const;
type Group = (typeof groups)[number][0];

const today = () => new Date().toISOString().slice(0, 10);

// ranges are spans that people ask for, with their days now.
const ranges = (): [string, string, string][] => {
  const now = today();
  const first = now.slice(0, 8) + "01";
  const before = shiftDay(first, -1);
  return [["7 days", shiftDay(now, -6), now], ["30 days", shiftDay(now, -29), now], ["This month", first, now], ["Last month", before.slice(0, 8) + "01", before]];
};

const tokens = (c: { input_tokens: Amount; output_tokens: Amount }): bigint => big(c.input_tokens) + big(c.output_tokens);

export function UsagePage() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/usage" });
  const navigate = useNavigate({ from: "/t/$tenant/usage" });
  const spans = ranges();
  const from = search.from ?? spans[1]![1];
  const to = search.to ?? spans[1]![2];
  const by = (groups.find(([g]) => g === search.by)?.[0] ?? "tool") as Group;
  const set = (change: typeof search) => void navigate({ search: (s) => ({ ...s, open: undefined, ...change }), replace: true });
  return (
    <Page title="Usage" about="What was called, by which agents and models, and what that cost. Days are in UTC; amounts are in the currency of your prices."
      cli={words("toolcrib", "usage", "--by", by, ...option("from", from), ...option("to", to))} api={address("/v1/usage", { group_by: by, from, to })}>
      <div className="filters">
        <Buckets label="Days" value={`${from}/${to}`} options={spans.map(([name, a, b]) => [`${a}/${b}`, name] as const)}
          onChange={(v) => set({ from: v.slice(0, 10), to: v.slice(11) })} />
        <label className="choice"><span>from</span><input type="date" className="bare" value={from} max={to} onChange={(e) => e.target.value && set({ from: e.target.value })} /></label>
        <label className="choice"><span>to</span><input type="date" className="bare" value={to} min={from} onChange={(e) => e.target.value && set({ to: e.target.value })} /></label>
      </div>
      <Reports tenant={tenant} from={from} to={to} by={by} show={search.show} open={search.open} set={set} />
    </Page>
  );
}

function Reports({ tenant, from, to, by, show, open, set }: {
  tenant: string; from: string; to: string; by: Group; show: string | undefined; open: string | undefined;
  set: (change: { from?: string; to?: string; by?: string; show?: string; open?: string | undefined }) => void;
}) {
  const days = useMemo(() => daysFrom(from, to), [from, to]);
  const before = { from: shiftDay(from, -days.length), to: shiftDay(from, -1) };
  const daily = useQuery(usage(tenant, { group_by: "day", from, to }));
  const earlier = useQuery(usage(tenant, { group_by: "day", ...before }));
  const tools = useQuery(usage(tenant, { group_by: "tool", from, to }));
  const agents = useQuery(usage(tenant, { group_by: "agent", from, to }));
  const models = useQuery(usage(tenant, { group_by: "model", from, to }));
  if (daily.isPending || tools.isPending || agents.isPending || models.isPending) return <Loading />;
  const error = daily.error ?? tools.error ?? agents.error ?? models.error;
  if (error || !daily.data || !tools.data || !agents.data || !models.data) return <Failed error={error} what="The usage" retry={() => void daily.refetch()} />;
  const total = daily.data.total;
  if (big(total.calls) === 0n && big(total.turns) === 0n) {
    return (
      <Empty title="Nothing was used on these days" command="toolcrib tool call searchOrders --args '{}'">
        Calls of tools and turns of models are counted when they end.
      </Empty>
    );
  }
  const was = earlier.data?.total;
  const chosen = show ?? (big(total.cost_micros) > 0n || big(was?.cost_micros ?? 0) > 0n ? "spend" : "calls"); // A flat line says nothing.
  const reports: Record<Group, UsageReport> = { tool: tools.data, agent: agents.data, model: models.data, day: daily.data };
  return (
    <>
      <div className="tiles">
        <Tile name="Spend" value={money(total.cost_micros)} more={was && change(total.cost_micros, was.cost_micros)} />
        <Tile name="Calls" value={count(total.calls)} more={was && change(total.calls, was.calls)} bad={big(total.failed_calls) > 0n ? `${count(total.failed_calls)} failed (${share(total.failed_calls, total.calls).toFixed(1)} %)` : undefined} />
        <Tile name="Turns of models" value={count(total.turns)} more={was && change(total.turns, was.turns)} bad={big(total.unpriced_turns) > 0n ? `${count(total.unpriced_turns)} without a price` : undefined} />
        <Tile name="Tokens" value={count(tokens(total))} more={was && change(tokens(total), tokens(was))} />
      </div>
      <section className="panel" aria-labelledby="over-time">
        <div className="panel-head">
          <h2 id="over-time">Over time</h2>
          <Buckets label="What the chart shows" value={chosen} options={shows} onChange={(v) => set({ show: v })} />
        </div>
        <OverTime days={days} now={daily.data} was={earlier.data} from={before.from} show={chosen} />
      </section>
      <div className="cards">
        <Top title="Top tools" name={(u) => u.tool ?? "–"} report={tools.data} onMore={() => set({ by: "tool" })} />
        <Top title="Top agents" name={(u) => u.agent ?? "no agent"} report={agents.data} onMore={() => set({ by: "agent" })} />
        <Top title="Top models" name={(u) => u.model ?? "–"} report={models.data} onMore={() => set({ by: "model" })} />
      </div>
      {tokens(total) > 0n && (
        <section className="panel" aria-labelledby="tokens">
          <h2 id="tokens">Tokens</h2>
          <StackedBar label="Tokens" whole={Number(tokens(total))} parts={[
            { name: "input", value: Number(big(total.input_tokens) - big(total.cached_input_tokens)), text: count(big(total.input_tokens) - big(total.cached_input_tokens)) },
            { name: "input from a cache", value: Number(big(total.cached_input_tokens)), text: `${count(total.cached_input_tokens)} (${share(total.cached_input_tokens, total.input_tokens).toFixed(0)} % of the input)`, tone: "held" },
            { name: "output", value: Number(big(total.output_tokens) - big(total.reasoning_tokens)), text: count(big(total.output_tokens) - big(total.reasoning_tokens)), tone: "other" },
            { name: "reasoning", value: Number(big(total.reasoning_tokens)), text: count(total.reasoning_tokens), tone: "warn" },
          ]} />
        </section>
      )}
      <div className={open ? "split open" : "split"}>
        <section className="split-list" aria-labelledby="by">
          <div className="panel-head">
            <h2 id="by">In detail</h2>
            <Buckets label="Group by" value={by} options={groups} onChange={(v) => set({ by: v })} />
            <button type="button" className="button" onClick={() => save(`usage-${by}-${from}-${to}.csv`, asCSV(by, reports[by]))}>Download CSV</button>
          </div>
          <Detail tenant={tenant} by={by} report={reports[by]} open={open} />
        </section>
        {open && by === "tool" && <CallsDrawer tenant={tenant} tool={open} from={from} to={to} onClose={() => set({ open: undefined })} />}
      </div>
    </>
  );
}

function Tile({ name, value, more, bad }: { name: string; value: string; more?: string | undefined; bad?: string | undefined }) {
  return (
    <div className="tile">
      <span className="muted">{name}</span>
      <strong>{value}</strong>
      <span className="muted">{more ? (more === "as before" || more === "none before" ? more : `${more} than the time before`) : " "}</span>
      {bad && <span className="warn-text">{bad}</span>}
    </div>
  );
}

function OverTime({ days, now, was, from, show }: { days: string[]; now: UsageReport; was: UsageReport | undefined; from: string; show: string }) {
  const { series, format } = useMemo(() => {
    const of = (u: Usage | undefined): bigint => (!u ? 0n : show === "calls" ? big(u.calls) : show === "tokens" ? tokens(u) : big(u.cost_micros));
    const text = (v: bigint) => (show === "spend" ? money(v) : count(v));
    const scale = show === "spend" ? 1e6 : 1;
    const at = (r: UsageReport | undefined, first: string) => {
      const found = new Map((r?.items ?? []).map((u) => [u.day, u]));
      return days.map((_, i) => of(found.get(shiftDay(first, i))));
    };
    const [a, b] = [at(now, days[0]!), at(was, from)];
    const name = shows.find(([s]) => s === show)?.[1] ?? "Spend";
    return {
      series: [
        { name, values: a.map((v) => Number(v) / scale), texts: a.map(text) },
        { name: "the time before", values: b.map((v) => Number(v) / scale), texts: b.map(text), dashed: true },
      ],
      format: (v: number) => (show === "spend" ? v.toLocaleString("en", { maximumFractionDigits: v < 1 ? 4 : 2 }) : v.toLocaleString("en", { notation: "compact" })),
    };
  }, [days, now, was, from, show]);
  return <Days label={`${series[0]!.name} by day`} days={days} series={series} format={format} />;
}

// ranked is by cost, then by calls and turns.
const ranked = (r: UsageReport): Usage[] =>
  [...r.items].sort((a, b) => {
    const cost = big(b.cost_micros) - big(a.cost_micros);
    const uses = big(b.calls) + big(b.turns) - big(a.calls) - big(a.turns);
    return cost !== 0n ? (cost > 0n ? 1 : -1) : uses > 0n ? 1 : uses < 0n ? -1 : 0;
  });

function Top({ title, name, report, onMore }: { title: string; name: (u: Usage) => string; report: UsageReport; onMore: () => void }) {
  const rows = ranked(report).slice(0, 5);
  const costs = big(report.total.cost_micros) > 0n;
  return (
    <section className="panel" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? <p className="none">none</p> : (
        <Bars label={title} head={["Name", "Spend"]} rows={rows.map((u) => {
          const uses = big(u.calls) + big(u.turns);
          return { key: name(u), name: <span className="slug">{name(u)}</span>, value: Number(costs ? big(u.cost_micros) : uses), text: costs ? money(u.cost_micros) : count(uses), detail: costs ? `${count(uses)} ×` : "×" };
        })} />
      )}
      {report.items.length > 5 && <button type="button" className="quiet" onClick={onMore}>All {report.items.length}</button>}
    </section>
  );
}

const nameOf = (by: Group, u: Usage): string => (by === "tool" ? u.tool : by === "agent" ? u.agent : by === "model" ? u.model : u.day) ?? "–";

function Detail({ tenant, by, report, open }: { tenant: string; by: Group; report: UsageReport; open: string | undefined }) {
  const rows = by === "day" ? [...report.items].sort((a, b) => (a.day! < b.day! ? 1 : -1)) : ranked(report);
  if (rows.length === 0) return <Empty title="Nothing to show by this" />;
  const link = (u: Usage) => {
    const name = nameOf(by, u);
    const text = <span className="slug">{name === "–" && by === "agent" ? "no agent" : name}</span>;
    if (by === "tool" && u.tool) return <Link from="/t/$tenant/usage" search={(s) => ({ ...s, open: u.tool })} className="row-link" replace={!!open} resetScroll={false}>{text}</Link>;
    if (by === "agent" && u.agent) return <Link to="/t/$tenant/runs" params={{ tenant }} search={{ agent: u.agent }} className="row-link">{text}</Link>;
    if (by === "day") return <Link from="/t/$tenant/usage" search={(s) => ({ ...s, from: u.day, to: u.day, by: "tool" })} className="row-link">{text}</Link>;
    return text;
  };
  return (
    <Rows label={`Usage by ${by}`} rows={rows} keyOf={(u) => nameOf(by, u)} current={open} columns={[
      { name: by[0]!.toUpperCase() + by.slice(1), show: link },
      { name: "Spend", end: true, show: (u) => money(u.cost_micros) },
      { name: "Share", from: "medium", show: (u) => <span className="bar-cell"><Bar part={share(u.cost_micros, report.total.cost_micros) / 100} /></span> },
      { name: "Calls", end: true, show: (u) => count(u.calls) },
      { name: "Failed", from: "medium", end: true, show: (u) => (big(u.failed_calls) > 0n ? <span className="warn-text">{count(u.failed_calls)}</span> : "0") },
      { name: "Turns", from: "wide", end: true, show: (u) => count(u.turns) },
      { name: "Input", from: "wide", end: true, show: (u) => count(u.input_tokens) },
      { name: "Cached", from: "wide", end: true, show: (u) => count(u.cached_input_tokens) },
      { name: "Output", from: "wide", end: true, show: (u) => count(u.output_tokens) },
      { name: "Reasoning", from: "wide", end: true, show: (u) => count(u.reasoning_tokens) },
    ]} />
  );
}

function asCSV(by: Group, report: UsageReport): string {
  const columns = ["calls", "failed_calls", "call_ms", "turns", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens", "unpriced_turns"] as const;
  return csv([
    [by, "cost", ...columns],
    ...report.items.map((u) => [nameOf(by, u), plain(u.cost_micros), ...columns.map((c) => String(big(u[c])))]),
  ]);
}

// CallsDrawer lists the newest calls of a tool on the days of the report.
function CallsDrawer({ tenant, tool, from, to, onClose }: { tenant: string; tool: string; from: string; to: string; onClose: () => void }) {
  const found = useQuery(toolCalls(tenant, { tool, since: from + "T00:00:00Z", until: shiftDay(to, 1) + "T00:00:00Z", limit: 50 }));
  return (
    <Drawer title={tool} onClose={onClose}>
      <p><Link to="/t/$tenant/tools/$tool" params={{ tenant, tool }} className="button">Open the tool</Link></p>
      <h3>Calls</h3>
      {found.isPending ? <Loading rows={5} /> : found.error ? <Failed error={found.error} what="The calls" /> : found.data.items.length === 0 ? (
        <p className="none">None of these calls is kept any more.</p>
      ) : (
        <>
          <table className="small">
            <caption className="unseen">Calls of {tool}</caption>
            <thead><tr><th scope="col">Begun</th><th scope="col">Status</th><th scope="col" className="end">Took</th><th scope="col" className="end">Cost</th></tr></thead>
            <tbody>
              {found.data.items.map((c) => (
                <tr key={c.id}>
                  <th scope="row">
                    {c.run_id ? <Link to="/t/$tenant/runs/$run" params={{ tenant, run: c.run_id }} search={{ tab: "calls", call: c.id }}><Time at={c.created_at} /></Link> : <Time at={c.created_at} />}
                  </th>
                  <td><Status value={c.status} /></td>
                  <td className="end">{took(c.started_at, c.completed_at)}</td>
                  <td className="end">{c.cost_micros === undefined ? "–" : money(c.cost_micros)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {found.data.next && <p className="muted">The newest 50. The others: <code>{words("toolcrib", "invocation", "list", "--tool", tool)}</code></p>}
        </>
      )}
    </Drawer>
  );
}
