import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { address } from "../api/client";
import { overview, type Hour, type Overview } from "../api/overview";
import { may, me } from "../api/queries";
import { Page } from "../ui/page";
import { Badge, Status } from "../ui/parts";
import { Command, Failed, Loading } from "../ui/states";

// What an operator wants to know first: what waits, what fails, what runs, and what it costs.
export function OverviewPage() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const found = useQuery({ ...overview(tenant), refetchInterval: 60_000 });
  const who = useQuery(me(tenant));
  return (
    <Page title="Overview" about="What waits for you, what fails, and what runs." api={address("/v1/overview")}>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The overview" />
      ) : (
        <>
          {found.data.has_tools === false && <FirstSteps tenant={tenant} writes={may(who.data, "tools.write")} />}
          {found.data.has_tools && found.data.has_runs === false && <FirstRun tenant={tenant} />}
          <div className="cards">
            <Waits tenant={tenant} of={found.data} />
            <Workers of={found.data} />
            <Runs tenant={tenant} of={found.data} />
            <Spent of={found.data} />
          </div>
          {found.data.hours && <Hours of={found.data.hours} limit={found.data.count_limit} />}
          {found.data.failures && <Failures tenant={tenant} of={found.data} />}
        </>
      )}
    </Page>
  );
}

function Card({ title, children, id }: { title: string; children: ReactNode; id?: string }) {
  return (
    <section className="card" aria-label={title} id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

// count shows a count that stops at a limit.
const count = (n: number, limit: number) => (n >= limit ? `${limit.toLocaleString("en")}+` : n.toLocaleString("en"));

const waiting: Record<string, [string, string, string]> = {
  approvals: ["approval", "approvals", "inbox?status=pending"],
  pending_calls: ["call to answer", "calls to answer", "inbox/calls?status=open"],
  input_requests: ["request for input", "requests for input", "inbox/inputs?status=open"],
  quarantined_tools: ["tool in quarantine", "tools in quarantine", "inbox/quarantines"],
  paused_runs: ["paused run", "paused runs", "runs?paused=true"],
  switched_off_tools: ["tool switched off", "tools switched off", "tools?switched_off=true"],
  failing_webhooks: ["failing webhook", "failing webhooks", "webhooks?show=failing"],
  paused_schedules: ["paused schedule", "paused schedules", "schedules?show=paused"],
};

function Counts({ tenant, of, limit }: { tenant: string; of: { kind: string; count: number }[]; limit: number }) {
  return (
    <ul className="tally">
      {of.map((c) => {
        const [single, many, to] = waiting[c.kind] ?? [c.kind, c.kind, ""];
        const [at = "", query = ""] = to.split("?");
        return (
          <li key={c.kind}>
            <Link to={`/t/${tenant}/${at}` as string} search={Object.fromEntries(new URLSearchParams(query)) as never}>
              <strong>{count(c.count, limit)}</strong> {c.count === 1 ? single : many}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function Waits({ tenant, of }: { tenant: string; of: Overview }) {
  return (
    <Card title="Waits for you">
      {of.waiting.length === 0 ? <p className="muted">Nothing waits.</p> : <Counts tenant={tenant} of={of.waiting} limit={of.count_limit} />}
    </Card>
  );
}

function Workers({ of }: { of: Overview }) {
  const { tenant } = useParams({ from: "/t/$tenant" });
  return (
    <Card title="Health">
      {of.workers && (
        <p>
          <span className={`status ${of.workers.polling ? "good" : "bad"}`}>
            {of.workers.polling ? "Workers take runs" : "No worker takes runs"}
          </span>
        </p>
      )}
      {of.workers && !of.workers.polling && <Command text={`toolcrib worker --task-queue ${of.workers.task_queue}`} />}
      {of.troubles.length > 0 ? <Counts tenant={tenant} of={of.troubles} limit={of.count_limit} /> : <p className="muted">Nothing is switched off, paused or failing.</p>}
    </Card>
  );
}

function Runs({ tenant, of }: { tenant: string; of: Overview }) {
  if (!of.runs) return null;
  const some = of.runs.filter((r) => r.runs > 0);
  return (
    <Card title="Runs today">
      {some.length === 0 ? (
        <p className="muted">None began today (UTC).</p>
      ) : (
        <ul className="tally">
          {some.map((r) => (
            <li key={r.status}>
              <Link to="/t/$tenant/runs" params={{ tenant }} search={{ status: r.status, since: of.at.slice(0, 10) }}>
                <strong>{count(r.runs, of.count_limit)}</strong> <Status value={r.status} />
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const money = (micros: number) => (micros / 1e6).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: micros < 1e6 ? 4 : 2 });

function Spent({ of }: { of: Overview }) {
  if (!of.spent && !of.budgets) return null;
  return (
    <Card title="Spent today">
      {of.spent && (
        <p>
          <strong className="figure">{money(of.spent.cost_micros)}</strong>{" "}
          <span className="muted">
            {of.spent.calls.toLocaleString("en")} calls, {of.spent.turns.toLocaleString("en")} turns
            {of.spent.unpriced_turns > 0 && `, ${of.spent.unpriced_turns.toLocaleString("en")} without a price`}
          </span>
        </p>
      )}
      {of.budgets?.map((b) => {
        const used = b.spent_micros + b.reserved_micros;
        const share = b.limit_micros > 0 ? used / b.limit_micros : 1;
        return (
          <div key={b.id} className="budget-use">
            <p>
              {b.name} <span className="muted">{money(used)} of {money(b.limit_micros)} a {b.period}</span>{" "}
              {share >= 1 ? <Badge tone="bad">used up</Badge> : share >= 0.8 ? <Badge tone="warn">{Math.floor(share * 100)} %</Badge> : null}
            </p>
            <meter min={0} max={1} value={Math.min(share, 1)} aria-label={`Budget ${b.name}`} />
          </div>
        );
      })}
      {of.budgets?.length === 0 && <p className="muted">No budget is set.</p>}
    </Card>
  );
}

// Hours is a chart of the last day, and the same as a table.
function Hours({ of, limit }: { of: Hour[]; limit: number }) {
  const most = Math.max(1, ...of.map((h) => h.calls));
  const calls = of.reduce((n, h) => n + h.calls, 0);
  const failed = of.reduce((n, h) => n + h.failed, 0);
  const at = (h: Hour) => h.hour.slice(11, 16);
  return (
    <section className="chart" aria-label="Calls per hour">
      <h2>Calls per hour</h2>
      <p className="muted">
        {count(calls, Infinity)} calls in the last 24 hours, {failed.toLocaleString("en")} of them failed. Hours are in UTC.
      </p>
      <svg viewBox="0 0 720 132" role="img" aria-label={`${calls} calls in the last 24 hours, at most ${most} in an hour; ${failed} failed`}>
        <line x1="0" y1="104.5" x2="720" y2="104.5" className="axis" />
        <text x="0" y="9" className="tick">{count(most, limit)}</text>
        {of.map((h, i) => {
          const tall = (h.calls / most) * 88;
          const bad = (h.failed / most) * 88;
          return (
            <g key={h.hour}>
              <title>{`${at(h)}: ${h.calls} calls, ${h.failed} failed`}</title>
              <rect x={i * 30 + 5} y={16} width="20" height="88" className="room" />
              <rect x={i * 30 + 5} y={104 - tall} width="20" height={tall} rx="1.5" className="hour-calls" />
              <rect x={i * 30 + 5} y={104 - bad} width="20" height={bad} className="hour-failed" />
              {i % 4 === 3 && <text x={i * 30 + 15} y="122" className="tick middle">{at(h)}</text>}
            </g>
          );
        })}
      </svg>
      <details className="twin">
        <summary>As a table</summary>
        <div className="table-wrap">
          <table className="rows">
            <thead>
              <tr><th scope="col">Hour</th><th scope="col" className="end">Calls</th><th scope="col" className="end">Failed</th></tr>
            </thead>
            <tbody>
              {[...of].reverse().map((h) => (
                <tr key={h.hour}><td>{h.hour.slice(0, 16).replace("T", " ")}</td><td className="end">{count(h.calls, limit)}</td><td className="end">{count(h.failed, limit)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

function Failures({ tenant, of }: { tenant: string; of: Overview }) {
  const f = of.failures!;
  return (
    <section id="failures" className="chart" aria-label="Failures of the last hour">
      <h2>Failures of the last hour</h2>
      {f.calls === 0 ? (
        <p className="muted">No call has failed.</p>
      ) : (
        <>
          <p className="muted"><Link to="/t/$tenant/calls" params={{ tenant }} search={{ status: "failed" }}>{count(f.calls, of.count_limit)} calls</Link> failed. The tools with the most:</p>
          <div className="table-wrap">
            <table className="rows">
              <thead>
                <tr><th scope="col">Tool</th><th scope="col">Last failure</th><th scope="col" className="end">Failed</th></tr>
              </thead>
              <tbody>
                {f.tools.map((t) => (
                  <tr key={t.tool}>
                    <td><Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: t.tool }} className="row-link"><span className="slug">{t.tool}</span></Link></td>
                    <td>{t.kind ? <Badge tone="bad">{t.kind}</Badge> : <span className="none">–</span>}</td>
                    <td className="end"><Link to="/t/$tenant/calls" params={{ tenant }} search={{ status: "failed", tool: t.tool }} aria-label={`Failed calls of ${t.tool}: ${t.failures}`}>{count(t.failures, of.count_limit)}</Link></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}

// FirstSteps are ways to a first tool.
function FirstSteps({ tenant, writes }: { tenant: string; writes: boolean }) {
  return (
    <section className="first" aria-label="First steps">
      <h2>No tool yet</h2>
      <p className="muted">
        A tool is what an agent may call: a request to a service, a function, or a question to a person.
        {!writes && " Making one takes the permission tools.write, which your key lacks."}
      </p>
      <ol>
        <li>
          <h3>Write one</h3>
          <p>A form, or a file that you apply.</p>
          <p><Link to={`/t/${tenant}/tools/new` as string} className="button primary">Create a tool</Link></p>
        </li>
        <li>
          <h3>Import an API</h3>
          <p>Each operation of an OpenAPI description becomes a tool.</p>
          <p><Link to="/t/$tenant/tools/import" params={{ tenant }} className="button">Import an API</Link></p>
        </li>
        <li>
          <h3>Attach an MCP server</h3>
          <p>Its tools are offered here once you allow them.</p>
          <p><Link to="/t/$tenant/mcp-servers" params={{ tenant }} className="button">Attach a server</Link></p>
        </li>
      </ol>
    </section>
  );
}

function FirstRun({ tenant }: { tenant: string }) {
  return (
    <section className="first" aria-label="First steps">
      <h2>Nothing was called yet</h2>
      <p className="muted">
        <Link to="/t/$tenant/tools" params={{ tenant }}>Choose a tool</Link> and call it, from its page or from a terminal:
      </p>
      <Command text="toolcrib tool call SLUG --args '{}'" />
    </section>
  );
}
