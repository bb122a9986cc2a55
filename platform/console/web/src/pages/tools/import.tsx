import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";
import { call, type Fault } from "../../api/client";
import { may, me } from "../../api/queries";
import { events, names, type ImportedOpenAPI, type ImportedOperation } from "../../api/tools";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Back, Badge, Facts } from "../../ui/parts";
import { Empty, Loading } from "../../ui/states";
import { said } from "./ask";

// An OpenAPI document becomes tools in three steps: the document, the choice of operations, the import.

interface Asked {
  document: string;
  name: string;
  document_url: string;
  upstream: string;
  prefix: string;
  credentials: Record<string, string>;
}

const nothing: Asked = { document: "", name: "", document_url: "", upstream: "", prefix: "", credentials: {} };

const bodyOf = (a: Asked) => ({
  document: a.document, name: a.name || undefined, document_url: a.document_url || undefined, upstream: a.upstream || undefined,
  prefix: a.prefix || undefined, credentials: Object.keys(a.credentials).length ? a.credentials : undefined,
});

// planned says what an import would do, in the words for what one did.
const planned: Record<string, string> = { created: "is new", updated: "changes", unchanged: "stays as it is" };

const opOf = (o: ImportedOperation) => `${o.method} ${o.path}`;

export function ImportTools() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const who = useQuery(me(tenant));
  const [asked, setAsked] = useState(nothing);
  const [plan, setPlan] = useState<ImportedOpenAPI>();
  const [result, setResult] = useState<ImportedOpenAPI>();
  const step = result ? 3 : plan ? 2 : 1;
  return (
    <Page title="Import an OpenAPI document" back={<Back to="/t/$tenant/tools" params={{ tenant }}>Tools</Back>}
      about="Each operation becomes a tool, as a draft. Nothing is fetched, and the same document again changes what it made."
      cli="toolcrib tool import openapi openapi.yaml --dry-run" api="/v1/tools/import/openapi">
      <ol className="tool-progress" aria-label="Steps">
        {["The document", "What becomes of it", "The result"].map((name, i) => <li key={name} aria-current={step === i + 1 ? "step" : undefined}>{name}</li>)}
      </ol>
      {who.isPending ? (
        <Loading />
      ) : !may(who.data, "tools.write") ? (
        <Empty title="Your key does not permit it">Importing tools takes the permission <code>tools.write</code>.</Empty>
      ) : result ? (
        <Result tenant={tenant} of={result} again={() => {
          setResult(undefined);
          setPlan(undefined);
        }} />
      ) : plan ? (
        <Plan tenant={tenant} asked={asked} of={plan} onBack={() => setPlan(undefined)} onPlan={(a, p) => {
          setAsked(a);
          setPlan(p);
        }} onDone={setResult} />
      ) : (
        <Document tenant={tenant} asked={asked} onAsked={setAsked} onPlan={setPlan} />
      )}
    </Page>
  );
}

// preview asks what an import would do.
const preview = (tenant: string, a: Asked) => call<ImportedOpenAPI>(tenant, "/v1/tools/import/openapi", { method: "POST", body: { ...bodyOf(a), dry_run: true } });

function Document({ tenant, asked, onAsked, onPlan }: { tenant: string; asked: Asked; onAsked: (a: Asked) => void; onPlan: (p: ImportedOpenAPI) => void }) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const id = useId();
  const set = (name: keyof Asked) => (e: { target: { value: string } }) => onAsked({ ...asked, [name]: e.target.value });
  return (
    <form className="tool-panel import" onSubmit={async (e) => {
      e.preventDefault();
      setBusy(true);
      setError(undefined);
      try {
        onPlan(await preview(tenant, asked));
      } catch (cause) {
        setError(cause);
      } finally {
        setBusy(false);
      }
    }}>
      <div className="edit">
        <label htmlFor={id + "f"}>From a file</label>
        <input id={id + "f"} type="file" accept=".json,.yaml,.yml,application/json,application/yaml" onChange={async (e) => {
          const file = e.target.files?.[0];
          if (!file) return;
          if (file.size > 32 << 20) return setError(new Error("The file is larger than 32 MiB."));
          onAsked({ ...asked, document: await file.text() });
        }} />
      </div>
      <div className="edit wide">
        <label htmlFor={id + "d"}>The document</label>
        <textarea id={id + "d"} className="mono" rows={14} required spellCheck={false} value={asked.document} onChange={set("document")}
          placeholder={"openapi: 3.1.0\ninfo: {title: Orders, version: \"1\"}\npaths: …"} />
        <p className="muted edit-about">OpenAPI 3.0 or 3.1, or Swagger 2.0, as JSON or YAML.</p>
      </div>
      <div className="fields">
        <div className="edit"><label htmlFor={id + "n"}>Name of the import</label><input id={id + "n"} value={asked.name} onChange={set("name")} maxLength={200} /><p className="muted edit-about">By it a later import finds these tools again. The title, where it is left out.</p></div>
        <div className="edit"><label htmlFor={id + "p"}>Prefix of the slugs</label><input id={id + "p"} className="mono" value={asked.prefix} onChange={set("prefix")} maxLength={40} /></div>
        <div className="edit"><label htmlFor={id + "u"}>Server</label><input id={id + "u"} className="mono" value={asked.upstream} onChange={set("upstream")} placeholder="https://…" /><p className="muted edit-about">The first of the document, where it is left out.</p></div>
        <div className="edit"><label htmlFor={id + "a"}>Address of the document</label><input id={id + "a"} className="mono" value={asked.document_url} onChange={set("document_url")} placeholder="https://…" /><p className="muted edit-about">Relative servers are read from there. It is not fetched.</p></div>
      </div>
      {error !== undefined && <p className="error" role="alert">{error instanceof Error && !("kind" in error) ? error.message : said(error)}</p>}
      <div className="actions"><button type="submit" className="button primary" disabled={busy || !asked.document.trim()}>See what becomes of it</button></div>
    </form>
  );
}

function Plan({ tenant, asked, of, onBack, onPlan, onDone }: {
  tenant: string;
  asked: Asked;
  of: ImportedOpenAPI;
  onBack: () => void;
  onPlan: (a: Asked, p: ImportedOpenAPI) => void;
  onDone: (r: ImportedOpenAPI) => void;
}) {
  const can = of.operations.filter((o) => o.mapping !== "skipped");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(can.map(opOf)));
  const [filter, setFilter] = useState("");
  const [publish, setPublish] = useState(false);
  const [progress, setProgress] = useState<{ done: number; total: number; tool?: string }>();
  const [error, setError] = useState<unknown>();
  const abort = useRef<AbortController>(undefined);
  const client = useQueryClient();
  const known = useQuery(names(tenant, "/v1/credentials", "ref"));
  useEffect(() => () => abort.current?.abort(), []);
  const seen = of.operations.filter((o) => (opOf(o) + " " + (o.tool ?? "") + " " + (o.operation_id ?? "")).toLowerCase().includes(filter.toLowerCase()));
  const run = async () => {
    setError(undefined);
    setProgress({ done: 0, total: chosen.size });
    abort.current = new AbortController();
    const only = chosen.size === can.length ? undefined : { match: [...chosen] };
    try {
      const stream = events(tenant, "/v1/tools/import/openapi/stream", { ...bodyOf(asked), only, publish: publish || undefined, dry_run: false }, abort.current.signal);
      for await (const [name, data] of stream) {
        if (name === "import.progress") setProgress(data as { done: number; total: number });
        if (name === "import.failed") throw new Error((data as Fault).detail);
        if (name === "import.result") {
          void client.invalidateQueries({ queryKey: [tenant, "tools"] });
          say("The import has ended.");
          return onDone(data as ImportedOpenAPI);
        }
      }
      throw new Error("The stream broke off. What was imported until then is there: import again to see it.");
    } catch (cause) {
      setError(cause);
      setProgress(undefined);
    }
  };
  return (
    <div className="tool-stack">
      <Summary of={of} />
      {(of.needs?.length ?? 0) > 0 && (
        <form className="tool-panel" onSubmit={async (e) => {
          e.preventDefault();
          const credentials: Record<string, string> = { ...asked.credentials };
          for (const [scheme, name] of new FormData(e.currentTarget)) if (name) credentials[scheme] = String(name);
          const next = { ...asked, credentials };
          try {
            onPlan(next, await preview(tenant, next));
          } catch (cause) {
            setError(cause);
          }
        }}>
          <h2>Credentials that are needed</h2>
          <div className="fields">
            {of.needs!.map((n) => (
              <div key={n.scheme} className="edit">
                <label htmlFor={"scheme-" + n.scheme}>{n.scheme}</label>
                <input id={"scheme-" + n.scheme} name={n.scheme} className="mono" list="import-credentials" autoComplete="off" />
                <p className="muted edit-about">{n.operations} operations need {n.holds}. Without one, they are called without.</p>
              </div>
            ))}
          </div>
          <datalist id="import-credentials">{known.data?.map((n) => <option key={n} value={n} />)}</datalist>
          <div className="actions"><button type="submit" className="button">Use them</button></div>
        </form>
      )}
      <section className="tool-stack">
        <div className="section-head">
          <h2>Operations</h2>
          <input type="search" aria-label="Filter operations" placeholder="Filter operations" value={filter} onChange={(e) => setFilter(e.target.value)} />
        </div>
        <div className="table-scroll" tabIndex={0} role="region" aria-label="Operations of the document">
          <table className="operations">
            <thead>
              <tr>
                <th scope="col">
                  <input type="checkbox" aria-label="All that are shown" checked={seen.filter((o) => o.mapping !== "skipped").every((o) => chosen.has(opOf(o)))}
                    onChange={(e) => setChosen((s) => {
                      const next = new Set(s);
                      for (const o of seen) if (o.mapping !== "skipped") e.target.checked ? next.add(opOf(o)) : next.delete(opOf(o));
                      return next;
                    })} />
                </th>
                <th scope="col">Operation</th><th scope="col">Tool</th><th scope="col">Reaches out</th><th scope="col">What is left out</th>
              </tr>
            </thead>
            <tbody>
              {seen.slice(0, 500).map((o) => (
                <tr key={o.pointer}>
                  <td>
                    <input type="checkbox" aria-label={opOf(o)} disabled={o.mapping === "skipped"} checked={chosen.has(opOf(o))}
                      onChange={(e) => setChosen((s) => {
                        const next = new Set(s);
                        if (e.target.checked) next.add(opOf(o));
                        else next.delete(opOf(o));
                        return next;
                      })} />
                  </td>
                  <td><Badge>{o.method}</Badge> <code>{o.path}</code></td>
                  <td>{o.tool ? <><span className="slug">{o.tool}</span> <span className="muted">{planned[o.action ?? ""] ?? o.action}</span></> : <span className="none">–</span>}</td>
                  <td>{o.egress_class === "write" ? <Badge tone="warn">writes</Badge> : o.egress_class ? <Badge>reads</Badge> : "–"}</td>
                  <td>{o.error ? <span className="error">{o.error.detail}</span> : o.reason ?? o.losses?.map((l) => l.reason).join("; ") ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {seen.length > 500 && <p className="muted">{seen.length - 500} more: filter to see them.</p>}
      </section>
      {error !== undefined && <p className="error" role="alert">{error instanceof Error && !("kind" in error) ? error.message : said(error)}</p>}
      {progress && (
        <p role="status">
          <progress max={Number(progress.total) || 1} value={Number(progress.done)} aria-label="Operations that are finished" /> {String(progress.done)} of {String(progress.total)} {progress.tool}
        </p>
      )}
      <label className="check"><input type="checkbox" checked={publish} onChange={(e) => setPublish(e.target.checked)} /> Publish them too</label>
      <div className="actions">
        <button type="button" className="button primary" disabled={chosen.size === 0 || progress !== undefined} onClick={() => void run()}>
          Import {chosen.size} {chosen.size === 1 ? "tool" : "tools"}
        </button>
        {progress ? (
          <button type="button" className="button" onClick={() => abort.current?.abort()}>Stop</button>
        ) : (
          <button type="button" className="button" onClick={onBack}>Back to the document</button>
        )}
      </div>
    </div>
  );
}

function Summary({ of }: { of: ImportedOpenAPI }) {
  return (
    <>
      <Facts of={[
        ["Document", `${of.title} ${of.document_version}`],
        ["OpenAPI", of.openapi],
        ["Operations", String(of.operations.length)],
        ["With losses", String(of.counts.mapped_with_losses)],
        ["Not possible", String(of.counts.skipped)],
        ["Calls go to", of.hosts.join(", ")],
      ]} />
      {of.notes?.map((n) => <p key={n.reason} className="notice">{n.reason}</p>)}
      {(of.gone?.length ?? 0) > 0 && (
        <p className="notice">Not in the document any more, and left as they are: {of.gone!.map((g) => g.tool).join(", ")}</p>
      )}
    </>
  );
}

function Result({ tenant, of, again }: { tenant: string; of: ImportedOpenAPI; again: () => void }) {
  const c = of.counts;
  const made = of.operations.filter((o) => o.tool && o.action !== "skipped");
  return (
    <div className="tool-stack">
      <p className={Number(c.failed) > 0 ? "notice bad" : "notice good"} role="status">
        {String(c.created)} created, {String(c.updated)} updated, {String(c.unchanged)} unchanged, {String(c.published)} published, {String(c.failed)} failed.
      </p>
      <ul className="tool-cards" aria-label="Tools of the import">
        {made.slice(0, 500).map((o) => (
          <li key={o.pointer} className="tool-card">
            <p>
              <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: o.tool! }} className="slug">{o.tool}</Link>{" "}
              <Badge tone={o.action === "failed" ? "bad" : o.action === "created" ? "good" : ""}>{o.action}</Badge> <span className="muted">{opOf(o)}</span>
            </p>
            {o.error && <p className="error">{o.error.detail}</p>}
          </li>
        ))}
      </ul>
      <div className="actions">
        <Link to="/t/$tenant/tools" params={{ tenant }} search={{ implementation_type: "http" }} className="button primary">To the tools</Link>
        <button type="button" className="button" onClick={again}>Import another</button>
      </div>
    </div>
  );
}
