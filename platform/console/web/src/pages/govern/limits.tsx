import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { budgets, keys, prices, quotas, type Budget, type Price, type Quota } from "../../api/govern";
import { big, bytes, count, money, parseMoney, plain, share } from "../../api/money";
import { StackedBar } from "../../chart";
import { Drawer, Pager, Rows } from "../../ui/list";
import { Page, tabOptions } from "../../ui/page";
import { Badge, Facts, Id, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, fromLocal, once, Subject, toLocal, useMay } from "./parts";

const tabs = [["budgets", "Budgets"], ["prices", "Prices"], ["quotas", "Quotas"], ["rates", "Rate limits"]] as const;

const abouts: Record<string, string> = {
  budgets: "What may be spent. A call or a turn with a price reserves it before it begins, and is denied where too little is left.",
  prices: "What calls of tools and tokens of models cost. The price that is valid when a call ends counts; what ended before keeps its cost.",
  quotas: "How much the tenant may have. The platform sets them; what would be beyond one is refused.",
  rates: "How many requests keys may send. Keys without limits of their own have those of the servers.",
};

export function Limits() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/limits" });
  const tab = tabs.find(([t]) => t === search.tab)?.[0] ?? "budgets";
  const cli: Record<string, string> = { budgets: "toolcrib budget list", prices: "toolcrib price list", quotas: "toolcrib quota list", rates: "toolcrib key list" };
  const api: Record<string, string> = { budgets: "/v1/budgets", prices: "/v1/prices", quotas: "/v1/quotas", rates: "/v1/keys" };
  return (
    <Page title="Budgets and limits" about={abouts[tab]} cli={cli[tab]!} api={address(api[tab]!)}>
      <nav className="tabs" aria-label="Kinds of limits">
        {tabs.map(([t, name]) => (
          <Link key={t} from="/t/$tenant/limits" search={{ tab: t === "budgets" ? undefined : t }} activeOptions={tabOptions}>{name}</Link>
        ))}
      </nav>
      {tab === "budgets" ? <Budgets tenant={tenant} /> : tab === "prices" ? <Prices tenant={tenant} /> : tab === "quotas" ? <Quotas tenant={tenant} /> : <Rates tenant={tenant} />}
    </Page>
  );
}

// levelOf is what a budget counts: the narrower, the lower.
function levelOf(b: Budget): [level: string, of: string] {
  const parts = [b.agent && `agent ${b.agent}`, b.tool && `tool ${b.tool}`, b.profile && `profile ${b.profile}`].filter(Boolean) as string[];
  const level = b.period === "run" ? "Each run" : b.agent ? "Agent" : b.profile ? "Profile" : b.tool ? "Tool" : "Tenant";
  return [level, parts.join(", ") || "all calls and turns"];
}
const levels = ["Tenant", "Agent", "Profile", "Tool", "Each run"];

function Budgets({ tenant }: { tenant: string }) {
  const search = useSearch({ from: "/t/$tenant/limits" });
  const navigate = useNavigate({ from: "/t/$tenant/limits" });
  const found = useQuery(budgets(tenant, { limit: 50, cursor: search.cursor }));
  const has = useMay(tenant);
  const [removes, setRemoves] = useState<Budget>();
  const client = useQueryClient();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "budgets"] });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v }), resetScroll: false });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of budgets" retry={() => void found.refetch()} />;
  const edits = found.data.items.find((b) => b.name === search.open && b.by === "tenant");
  return (
    <>
      <div className="filters">
        <Allowed may={has} permission="budgets.write">
          <button type="button" className="button primary" onClick={() => open("new")}>New budget</button>
        </Allowed>
      </div>
      {found.data.items.length === 0 ? (
        <Empty title="Nothing limits what is spent" command="toolcrib budget set all-day --per day --limit 20">
          A budget is of a day, a month or a run; of all that is called, or of an agent, a tool or a profile. It counts what has a price.
        </Empty>
      ) : (
        levels.map((level) => {
          const rows = found.data.items.filter((b) => levelOf(b)[0] === level);
          return rows.length > 0 && (
            <section key={level} className="group" aria-labelledby={`level-${level.replace(" ", "-")}`}>
              <h2 id={`level-${level.replace(" ", "-")}`}>{level}</h2>
              <ul className="meters">
                {rows.map((b) => <BudgetRow key={b.by + b.name} of={b} mayWrite={has("budgets.write")} onEdit={() => open(b.name)} onRemove={() => setRemoves(b)} />)}
              </ul>
            </section>
          );
        })
      )}
      {(found.data.next || search.cursor) && <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
        onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })} onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />}
      {(search.open === "new" || edits) && has("budgets.write") && (
        <BudgetForm key={search.open} tenant={tenant} of={edits} onClose={() => open(undefined)} onDone={() => {
          void changed();
          open(undefined);
        }} />
      )}
      {removes && (
        <Confirm title={`Delete the budget ${removes.name}?`} action="Delete" onClose={() => setRemoves(undefined)}
          onSend={() => call(tenant, `/v1/budgets/${encodeURIComponent(removes.name)}`, { method: "DELETE" }).then(done("Deleted.")).then(changed)}>
          <p>Nothing is held back by it any more. What was spent is forgotten with it.</p>
        </Confirm>
      )}
    </>
  );
}

function BudgetRow({ of: b, mayWrite, onEdit, onRemove }: { of: Budget; mayWrite: boolean; onEdit: () => void; onRemove: () => void }) {
  const limit = big(b.limit_micros);
  const left = limit - big(b.spent_micros) - big(b.reserved_micros);
  const used = share(b.spent_micros, b.limit_micros);
  return (
    <li className="meter">
      <div className="meter-head">
        <span className="slug">{b.name}</span>
        <span className="muted">{levelOf(b)[1]}</span>
        {b.by === "platform" && <Badge>by the platform</Badge>}
        {left <= 0n ? <Badge tone="bad">used up</Badge> : used >= 80 ? <Badge tone="warn">{used.toFixed(0)} % spent</Badge> : null}
        <span className="meter-acts">
          {mayWrite && b.by === "tenant" && (
            <>
              <button type="button" className="quiet" onClick={onEdit} aria-label={`Edit ${b.name}`}>Edit</button>
              <button type="button" className="quiet" onClick={onRemove} aria-label={`Delete ${b.name}`}>Delete</button>
            </>
          )}
        </span>
      </div>
      <StackedBar label={b.name} whole={Number(limit)} parts={[
        { name: b.period === "run" ? "most of a run" : "spent", value: Number(big(b.spent_micros)), text: money(b.spent_micros), tone: left <= 0n ? "bad" : used >= 80 ? "warn" : "full" },
        { name: "reserved", value: Number(big(b.reserved_micros)), text: money(b.reserved_micros), tone: "held" },
      ]} />
      <p className="muted">
        {left > 0n ? <>{money(left)} of </> : <>nothing left of </>}<strong>{money(b.limit_micros)}</strong>
        {left > 0n && " left"}{b.period === "run" ? " in each run" : ` this ${b.period}`}
        {b.resets_at && <>, resets <Time at={b.resets_at} /></>}
      </p>
    </li>
  );
}

function BudgetForm({ tenant, of: b, onClose, onDone }: { tenant: string; of: Budget | undefined; onClose: () => void; onDone: () => void }) {
  const [form, setForm] = useState({
    name: b?.name ?? "", period: b?.period ?? "day", limit: b ? plain(b.limit_micros) : "", agent: b?.agent ?? "", tool: b?.tool ?? "", profile: b?.profile ?? "",
  });
  const put = (change: Partial<typeof form>) => setForm((f) => ({ ...f, ...change }));
  const limit = parseMoney(form.limit);
  return (
    <FormDialog title={b ? `Budget ${b.name}` : "New budget"} action={b ? "Save" : "Create"} onClose={onClose} onDone={onDone} disabled={!limit}
      about={b ? "What was spent in the present period stays." : "It counts what begins from now on."}
      onSend={() => call(tenant, "/v1/budgets", {
        method: "POST", headers: once(),
        body: { name: form.name, period: form.period, limit_micros: limit, agent: form.agent || undefined, tool: form.tool || undefined, profile: form.profile || undefined },
      }).then(done("Saved."))}>
      <Field label="Name" path="name" hint="Small letters, digits, - and _">
        {(p) => <input {...p} value={form.name} readOnly={!!b} required maxLength={63} autoFocus={!b} onChange={(e) => put({ name: e.target.value })} />}
      </Field>
      <div className="pair">
        <Field label="Limit" path="limit_micros" hint="In the currency of your prices">
          {(p) => <input {...p} value={form.limit} inputMode="decimal" required pattern="\d{1,9}(\.\d{1,6})?" title="A decimal number with at most six digits behind the point, such as 0.25" autoFocus={!!b} onChange={(e) => put({ limit: e.target.value })} />}
        </Field>
        <Field label="Period" path="period" hint="Days and months are in UTC">
          {(p) => (
            <select {...p} value={form.period} onChange={(e) => put({ period: e.target.value as Budget["period"] })}>
              <option value="day">each day</option>
              <option value="month">each month</option>
              <option value="run">each run by itself</option>
            </select>
          )}
        </Field>
      </div>
      <fieldset>
        <legend>Counts</legend>
        <div className="pair">
          <Field label="Agent" path="agent" hint="Empty: all">{(p) => <input {...p} value={form.agent} maxLength={64} onChange={(e) => put({ agent: e.target.value })} />}</Field>
          <Field label="Tool" path="tool" hint="Empty: all, and turns">{(p) => <input {...p} value={form.tool} maxLength={64} onChange={(e) => put({ tool: e.target.value })} />}</Field>
          <Field label="Profile" path="profile" hint="Empty: all, and turns">{(p) => <input {...p} value={form.profile} maxLength={63} onChange={(e) => put({ profile: e.target.value })} />}</Field>
        </div>
      </fieldset>
    </FormDialog>
  );
}

const valid = (p: Price): string => (p.valid_until && Date.parse(p.valid_until) <= Date.now() ? "ended" : Date.parse(p.valid_from) > Date.now() ? "later" : "valid");

function priceWords(p: Price): string {
  if (p.model) return `${money(p.input_micros)} in, ${money(p.output_micros)} out`;
  const unit = p.unit_pointer ? ` + ${money(p.per_unit_micros)} per unit` : "";
  return `${money(p.per_call_micros)} per call${unit}`;
}

function Prices({ tenant }: { tenant: string }) {
  const search = useSearch({ from: "/t/$tenant/limits" });
  const navigate = useNavigate({ from: "/t/$tenant/limits" });
  const found = useQuery(prices(tenant, { limit: 50, cursor: search.cursor }));
  const has = useMay(tenant);
  const client = useQueryClient();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "prices"] });
  const open = (v: string | undefined) => void navigate({ search: (s) => ({ ...s, open: v }), resetScroll: false });
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of prices" retry={() => void found.refetch()} />;
  const shown = found.data.items.find((p) => p.id === search.open);
  return (
    <>
      <div className="filters">
        <Allowed may={has} permission="prices.write"><button type="button" className="button primary" onClick={() => open("new")}>New price</button></Allowed>
      </div>
      <div className={shown ? "split open" : "split"}>
        <div className="split-list">
          {found.data.items.length === 0 ? (
            <Empty title="Nothing has a price" command="toolcrib price set --model openai/gpt-5-mini --input 0.25 --output 2">
              Without prices, calls and tokens are counted, and cost nothing: no budget holds them back.
            </Empty>
          ) : (
            <>
              <Rows label="Prices" rows={found.data.items} keyOf={(p) => p.id} current={search.open} columns={[
                {
                  name: "Of", show: (p) => (
                    <Link from="/t/$tenant/limits" search={(s) => ({ ...s, open: p.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                      <span className="slug">{p.model ?? (p.tool ?? p.tool_id) + (p.version ? `@${p.version}` : "")}</span>
                      <span className="muted line">{p.model ? "per million tokens" : p.version ? "this version" : "every version"}</span>
                    </Link>
                  ),
                },
                { name: "Price", end: true, show: priceWords },
                { name: "State", show: (p) => <Status value={valid(p)} /> },
                { name: "From", from: "medium", end: true, show: (p) => <Time at={p.valid_from} /> },
                { name: "Until", from: "medium", end: true, show: (p) => (p.valid_until ? <Time at={p.valid_until} /> : <span className="none">no end</span>) },
                { name: "Set by", from: "wide", show: (p) => (p.by === "platform" ? "the platform" : <Subject of={p.changed_by} />) },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor, open: undefined }) })} />
            </>
          )}
        </div>
        {shown && <PriceDrawer key={shown.id} tenant={tenant} of={shown} mayWrite={has("prices.write")} onChanged={() => void changed()} onClose={() => open(undefined)} />}
      </div>
      {search.open === "new" && has("prices.write") && <PriceForm tenant={tenant} onClose={() => open(undefined)} onDone={() => {
        void changed();
        open(undefined);
      }} />}
    </>
  );
}

function PriceDrawer({ tenant, of: p, mayWrite, onChanged, onClose }: { tenant: string; of: Price; mayWrite: boolean; onChanged: () => void; onClose: () => void }) {
  const [asks, setAsks] = useState<"end" | "delete">();
  const { id: _id, by: _by, changed_at: _at, changed_by: _who, tool_id, tool, ...rest } = p;
  const end = () => call(tenant, "/v1/prices", {
    method: "POST", headers: once(), body: { ...rest, ...(tool_id && { tool: tool_id }), valid_until: new Date().toISOString() },
  }).then(done("The price has ended.")).then(onChanged);
  return (
    <Drawer title={p.model ?? p.tool ?? p.id} onClose={onClose}>
      <p className="badges"><Status value={valid(p)} /> {p.by === "platform" && <Badge>by the platform</Badge>}</p>
      <Facts of={[
        ["Version", p.version ?? (p.tool_id && "every version")],
        ["Per call", p.per_call_micros !== undefined && money(p.per_call_micros)],
        ["Per unit", p.unit_pointer && <>{money(p.per_unit_micros)} at <code>{p.unit_pointer}</code></>],
        ["Reserves", p.expected_units ? `${count(p.expected_units)} units` : undefined],
        ["Input", p.input_micros !== undefined && `${money(p.input_micros)} per million tokens`],
        ["Cached input", p.cached_input_micros !== undefined && money(p.cached_input_micros)],
        ["Output", p.output_micros !== undefined && money(p.output_micros)],
        ["Reasoning", p.reasoning_micros !== undefined && money(p.reasoning_micros)],
        ["Valid from", <Time at={p.valid_from} />],
        ["Until", p.valid_until ? <Time at={p.valid_until} /> : "no end"],
        ["Set by", <Subject of={p.changed_by} />],
        ["Id", <Id value={p.id} />],
      ]} />
      {p.by === "tenant" && mayWrite && (
        <p className="actions">
          {valid(p) === "valid" && <button type="button" className="button" onClick={() => setAsks("end")}>End it now…</button>}
          <button type="button" className="button danger" onClick={() => setAsks("delete")}>Delete…</button>
        </p>
      )}
      {asks === "end" && <Confirm title="End this price now?" action="End it" onClose={() => setAsks(undefined)} onSend={end}>
        <p>What ends from now on costs what the next price says, or nothing. What ended before keeps its cost.</p>
      </Confirm>}
      {asks === "delete" && (
        <Confirm title="Delete this price?" action="Delete" onClose={() => setAsks(undefined)}
          onSend={() => call(tenant, `/v1/prices/${p.id}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
            onChanged();
            onClose();
          })}>
          <p>What ended before keeps its cost.</p>
        </Confirm>
      )}
    </Drawer>
  );
}

function PriceForm({ tenant, onClose, onDone }: { tenant: string; onClose: () => void; onDone: () => void }) {
  const [of, setOf] = useState<"model" | "tool">("model");
  const [f, setF] = useState({ name: "", version: "", call: "", unit: "", pointer: "", input: "", cached: "", output: "", reasoning: "", from: "", until: "" });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  const amount = (v: string) => (v.trim() === "" ? undefined : parseMoney(v));
  const wrong = [f.call, f.unit, f.input, f.cached, f.output, f.reasoning].some((v) => v.trim() !== "" && !parseMoney(v));
  const body = of === "model"
    ? { model: f.name, input_micros: amount(f.input), output_micros: amount(f.output), cached_input_micros: amount(f.cached), reasoning_micros: amount(f.reasoning) }
    : { tool: f.name, version: f.version || undefined, per_call_micros: amount(f.call), unit_pointer: f.pointer || undefined, per_unit_micros: amount(f.unit) };
  const field = (label: string, path: string, name: keyof typeof f, required = false, hint?: string) => (
    <Field label={label} path={path} hint={hint}>
      {(p) => <input {...p} value={f[name]} inputMode="decimal" required={required} pattern="\d{1,7}(\.\d{1,6})?" title="A decimal number such as 0.25" onChange={(e) => put({ [name]: e.target.value })} />}
    </Field>
  );
  return (
    <FormDialog title="New price" wide action="Set the price" onClose={onClose} onDone={onDone} disabled={wrong} about="It replaces the tenant's price of the same thing from the same time."
      onSend={() => call(tenant, "/v1/prices", { method: "POST", headers: once(), body: { ...body, valid_from: fromLocal(f.from), valid_until: fromLocal(f.until) } }).then(done("The price is set."))}>
      <Field label="Of">
        {(p) => (
          <select {...p} value={of} onChange={(e) => setOf(e.target.value as "model" | "tool")}>
            <option value="model">a model, per million tokens</option>
            <option value="tool">a tool, per call and unit</option>
          </select>
        )}
      </Field>
      <div className="pair">
        <Field label={of === "model" ? "Model" : "Tool"} path={of} hint={of === "model" ? "As agents name it: provider/name" : "Its slug"}>
          {(p) => <input {...p} value={f.name} required maxLength={200} autoFocus onChange={(e) => put({ name: e.target.value })} />}
        </Field>
        {of === "tool" && (
          <Field label="Version" path="version" hint="Empty: every version">{(p) => <input {...p} value={f.version} maxLength={64} onChange={(e) => put({ version: e.target.value })} />}</Field>
        )}
      </div>
      {of === "model" ? (
        <div className="pair">
          {field("Input", "input_micros", "input", true)}
          {field("Input from a cache", "cached_input_micros", "cached", false, "Empty: as input")}
          {field("Output", "output_micros", "output", true)}
          {field("Reasoning", "reasoning_micros", "reasoning", false, "Empty: as output")}
        </div>
      ) : (
        <div className="pair">
          {field("Per call", "per_call_micros", "call")}
          {field("Per unit", "per_unit_micros", "unit")}
          <Field label="Where the units are" path="unit_pointer" hint="JSON Pointer into the result, such as /pages">
            {(p) => <input {...p} value={f.pointer} maxLength={200} onChange={(e) => put({ pointer: e.target.value })} />}
          </Field>
        </div>
      )}
      <div className="pair">
        <Field label="Valid from" path="valid_from" hint="Empty: now">{(p) => <input {...p} type="datetime-local" value={f.from} onChange={(e) => put({ from: e.target.value })} />}</Field>
        <Field label="Until" path="valid_until" hint="Empty: no end">{(p) => <input {...p} type="datetime-local" value={f.until} min={f.from || toLocal(new Date().toISOString())} onChange={(e) => put({ until: e.target.value })} />}</Field>
      </div>
    </FormDialog>
  );
}

function Quotas({ tenant }: { tenant: string }) {
  const found = useQuery(quotas(tenant));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of quotas" retry={() => void found.refetch()} />;
  return (
    <ul className="meters">
      {found.data.items.map((q) => <QuotaRow key={q.name} of={q} />)}
    </ul>
  );
}

const origins: Record<Quota["origin"], string> = { tenant: "set for this tenant", platform: "set for every tenant", servers: "a setting of the servers", none: "" };

function QuotaRow({ of: q }: { of: Quota }) {
  const show = q.name.endsWith("bytes") ? bytes : count;
  const used = share(q.used, q.limit);
  const full = q.limit !== undefined && big(q.used) >= big(q.limit);
  return (
    <li className="meter">
      <div className="meter-head">
        <span className="slug">{q.name.replaceAll("_", " ")}</span>
        <span className="muted">{q.counts}</span>
        {full ? <Badge tone="bad">used up</Badge> : used >= 80 ? <Badge tone="warn">{used.toFixed(0)} % used</Badge> : null}
      </div>
      {q.limit === undefined ? (
        <p className="muted"><strong>{show(q.used)}</strong> used, without a limit</p>
      ) : (
        <>
          <StackedBar label={q.name} whole={Number(big(q.limit))} legend={false} parts={[{ name: "used", value: Number(big(q.used)), text: show(q.used), tone: full ? "bad" : used >= 80 ? "warn" : "full" }]} />
          <p className="muted"><strong>{show(q.used)}</strong> of {show(q.limit)} used; {origins[q.origin]}</p>
        </>
      )}
    </li>
  );
}

function Rates({ tenant }: { tenant: string }) {
  const found = useQuery(keys(tenant));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} what="The list of keys" retry={() => void found.refetch()} />;
  const rows = found.data.items.filter((k) => !k.revoked_at && !(k.expires_at && Date.parse(k.expires_at) < Date.now()));
  const none = <span className="none">as the servers</span>;
  return (
    <>
      <Rows label="Rate limits of keys" rows={rows} keyOf={(k) => k.id} columns={[
        { name: "Key", show: (k) => <Link to="/t/$tenant/access" params={{ tenant }} search={{ open: k.id }} className="row-link"><span className="slug">{k.name}</span></Link> },
        { name: "Requests a second", end: true, show: (k) => k.limits?.requests_per_second ?? none },
        { name: "At once", from: "medium", end: true, show: (k) => k.limits?.burst ?? k.limits?.requests_per_second ?? none },
        { name: "Bytes a minute", from: "medium", end: true, show: (k) => (k.limits?.bytes_per_minute ? bytes(k.limits.bytes_per_minute) : none) },
      ]} />
      <p className="muted">A key is given its limits when it is made, and none beyond those of the key that makes it. <code>{words("toolcrib", "key", "create", "ci", "--requests-per-second", "50")}</code></p>
    </>
  );
}
