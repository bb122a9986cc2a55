import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { explain, type Tool } from "../../api/queries";
import { names } from "../../api/tools";
import { Id, Text } from "../../ui/parts";
import { Failed, Loading } from "../../ui/states";

// Explain is how a call is decided, rule by rule.

export function Explain({ tenant, of }: { tenant: string; of: Tool }) {
  const search = useSearch({ from: "/t/$tenant/tools/$tool" });
  const navigate = useNavigate({ from: "/t/$tenant/tools/$tool" });
  const mode = search.mode ?? "production";
  const agents = useQuery(names(tenant, "/v1/agents", "slug"));
  const found = useQuery(explain(tenant, of.slug, { mode, version: search.version, agent: search.agent }));
  const stopped = found.data?.steps.findIndex((s) => !s.passed) ?? -1;
  return (
    <section className="narrow">
      <form className="filters" onSubmit={(e) => {
        e.preventDefault();
        const form = new FormData(e.currentTarget);
        const of = (name: string) => (form.get(name) as string) || undefined;
        void navigate({ search: (s) => ({ ...s, version: of("version"), agent: of("agent") }), replace: true });
      }}>
        <label className="choice set">
          <span>Mode</span>
          <select value={mode} onChange={(e) => void navigate({ search: (s) => ({ ...s, mode: e.target.value === "production" ? undefined : e.target.value }), replace: true })}>
            <option>production</option>
            <option>debug</option>
          </select>
        </label>
        <span className="search"><input name="version" aria-label="Version or range" placeholder="Version or range, such as ^1.2" defaultValue={search.version ?? ""} /></span>
        <span className="search">
          <input name="agent" aria-label="Agent" placeholder="Agent, for its profiles" list="explain-agents" defaultValue={search.agent ?? ""} autoComplete="off" />
          <datalist id="explain-agents">{agents.data?.map((a) => <option key={a} value={a} />)}</datalist>
        </span>
        <button type="submit" className="button">Explain</button>
      </form>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The explanation" />
      ) : (
        <>
          <p className={found.data.code ? "notice bad" : "notice good"}>
            {found.data.code ? (
              <>Nothing would run: {found.data.detail}</>
            ) : (
              <>{found.data.slug}@{found.data.version} would run{found.data.draft ? ", the draft" : ""}. {found.data.digest && <>Digest <Id value={found.data.digest} /></>}</>
            )}
          </p>
          {found.data.shadows && <p className="notice">It hides a tool of the platform with the same slug.</p>}
          <ol className="chain" aria-label="Rules, in their order">
            {found.data.steps.map((s, i) => (
              <li key={s.rule} className={s.passed ? "good" : "bad"} data-after={stopped >= 0 && i > stopped}>
                <span className={`status ${s.passed ? "good" : "bad"}`}>{s.passed ? "passed" : "refused"}</span>
                <strong>{s.rule.replaceAll("_", " ")}</strong>
                <Text>{s.saw}</Text>
              </li>
            ))}
          </ol>
          {(found.data.weakened?.length ?? 0) > 0 && (
            <>
              <h2>What models do not see of its input</h2>
              <ul className="faults">
                {found.data.weakened!.map((w) => <li key={w.dialect}><code>{w.dialect.replaceAll("_", " ")}</code> {w.refused ?? w.lost?.join(", ")}</li>)}
              </ul>
            </>
          )}
        </>
      )}
    </section>
  );
}
