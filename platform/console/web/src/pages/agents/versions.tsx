import { useQuery } from "@tanstack/react-query";
import { agentDefinition, agentVersions, type AgentDefinition } from "../../api/graphs";
import { print } from "../../api/json";
import type { Agent } from "../../api/queries";
import { Rows } from "../../ui/list";
import { Copy, Status, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";

// Versions lists those of an agent, and compares two of them, or one with the draft.
export function Versions({ tenant, of, from, to, onChange }: {
  tenant: string;
  of: Agent;
  from?: string | undefined;
  to?: string | undefined;
  onChange: (s: { from?: string | undefined; to?: string | undefined }) => void;
}) {
  const found = useQuery(agentVersions(tenant, of.slug));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of versions" />;
  const all = found.data.items;
  if (all.length === 0) return <Empty title="No version was made yet" command={words("toolcrib", "agent", "publish", of.slug)}>A draft never runs in production.</Empty>;
  const left = from ?? all.find((v) => v.published)?.version ?? all[0]!.version;
  const content = (number: string | undefined): AgentDefinition | undefined =>
    number === undefined || number === "draft" ? agentDefinition(of) : all.find((v) => v.version === number)?.definition;
  const select = (label: string, value: string, set: (v: string) => void) => (
    <label className="choice set">
      <span>{label}</span>
      <select value={value} onChange={(e) => set(e.target.value)}>
        <option value="draft">draft</option>
        {all.map((v) => <option key={v.id} value={v.version}>{v.version}</option>)}
      </select>
    </label>
  );
  return (
    <>
      <Rows label="Versions" rows={all} keyOf={(v) => v.id}
        columns={[
          { name: "Version", show: (v) => <strong className="version">{v.version}</strong> },
          { name: "State", show: (v) => <Status value={v.published ? "published" : "draft"} /> },
          { name: "Digest", from: "medium", show: (v) => <span className="id"><code title={v.digest}>{v.digest.slice(0, 12)}</code><Copy text={v.digest} label={`Copy the digest of ${v.version}`} /></span> },
          { name: "Model", from: "wide", show: (v) => <span className="slug">{v.definition.model}</span> },
          { name: "Made", end: true, show: (v) => <Time at={v.created_at} /> },
        ]} />
      <h2 className="apart">What changed</h2>
      <div className="filters">
        {select("From", left, (v) => onChange({ from: v, to }))}
        {select("To", to ?? "draft", (v) => onChange({ from: left, to: v }))}
      </div>
      <Difference before={content(left)} after={content(to)} />
    </>
  );
}

function Difference({ before, after }: { before: AgentDefinition | undefined; after: AgentDefinition | undefined }) {
  if (!before || !after) return <Empty title="There is no such version" />;
  const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
  // What is not set is as good as empty: the list of an agent's tools is always there, that of a version too.
  const shown = (v: unknown): string => (v === undefined ? "" : typeof v === "string" ? v : print(v, 2));
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((n) => n !== "version" && n !== "slug" && shown(a[n]) !== shown(b[n]));
  if (names.length === 0) return <p className="notice good">They do not differ.</p>;
  return (
    <dl className="difference">
      {names.map((n) => (
        <div key={n}>
          <dt><code>{n}</code></dt>
          <dd><Lines before={shown(a[n])} after={shown(b[n])} /></dd>
        </div>
      ))}
    </dl>
  );
}

// Lines compares texts line by line.
export function Lines({ before, after }: { before: string; after: string }) {
  return (
    <pre className="lines" tabIndex={0} aria-label="Lines that went and came">
      {compare(before ? before.split("\n") : [], after ? after.split("\n") : []).map(([mark, text], i) => (
        <span key={i} className={mark === "+" ? "came" : mark === "-" ? "went" : undefined}>{mark} {text}{"\n"}</span>
      ))}
    </pre>
  );
}

const longest = 1500; // Lines that are compared one by one.

export function compare(a: string[], b: string[]): ["+" | "-" | " ", string][] {
  if (a.length > longest || b.length > longest) return [...a.map((l): ["-", string] => ["-", l]), ...b.map((l): ["+", string] => ["+", l])];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const out: ["+" | "-" | " ", string][] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([" ", a[i++]!]);
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) out.push(["-", a[i++]!]);
    else out.push(["+", b[j++]!]);
  }
  return out;
}
