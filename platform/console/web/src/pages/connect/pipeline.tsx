import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { address, ApiError, call } from "../../api/client";
import { document_, documents, documentText, pipeline, search as searchOf, textShown, type Document, type Pipeline } from "../../api/connect";
import { bytes } from "../../api/money";
import { at } from "../../api/queries";
import { Buckets } from "../../ui/filters";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page, tabOptions } from "../../ui/page";
import { Back, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Confirm, done, Field, FormDialog, Subject, useMay } from "../govern/parts";
import { modeName, modes, stateOf } from "./pipelines";

const tabs = [["", "Documents"], ["search", "Search"], ["settings", "Settings"]] as const;

export function PipelinePage() {
  const { tenant, pipeline: slug } = useParams({ from: "/t/$tenant/pipelines/$pipeline" });
  const search = useSearch({ from: "/t/$tenant/pipelines/$pipeline" });
  const navigate = useNavigate({ from: "/t/$tenant/pipelines/$pipeline" });
  const found = useQuery({ ...pipeline(tenant, slug), refetchInterval: (q) => (q.state.data?.reembedding ? 3000 : false) });
  const client = useQueryClient();
  const has = useMay(tenant);
  const write = has("pipelines.write");
  const [asks, setAsks] = useState<"edit" | "delete">();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "pipelines"] });
  const change = useMutation({
    mutationFn: (body: Record<string, unknown>) => call(tenant, `/v1/pipelines/${at(slug)}`, { method: "PATCH", body }),
    onSuccess: () => void changed().then(() => say("Saved.")),
  });
  const p = found.data;
  return (
    <Page title={p?.name || slug} about={p?.description} back={<Back to="/t/$tenant/pipelines" params={{ tenant }}>Pipelines</Back>}
      cli={search.tab === "search" ? words("toolcrib", "pipeline", "search", slug, search.q ?? "how many days of leave") : words("toolcrib", "pipeline", "show", slug)} api={address(`/v1/pipelines/${at(slug)}`)}
      actions={p && write && (
        <>
          <button type="button" className="button" onClick={() => setAsks("edit")}>Edit…</button>
          <button type="button" className="button" disabled={change.isPending} onClick={() => change.mutate({ disabled: !p.disabled })}>{p.disabled ? "Enable" : "Disable"}</button>
          <button type="button" className="button danger" onClick={() => setAsks("delete")}>Delete…</button>
        </>
      )}>
      {found.isPending ? <Loading /> : found.error || !p ? <Failed error={found.error} what="The pipeline" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={stateOf(p)} /> <span className="muted">{p.documents ?? 0} {p.documents === 1 ? "document" : "documents"} · {modeName(p.search).toLowerCase()} · {p.language}</span></p>
          {change.error && <p className="error" role="alert">{change.error instanceof ApiError ? change.error.detail : "It could not be changed."}</p>}
          {p.disabled && <p className="notice">It keeps its documents, but refuses searches.</p>}
          {p.reembedding_error && <p className="notice bad">The last embedding with another model failed: {p.reembedding_error}</p>}
          {p.reembedding && <p className="notice">Passages are embedded with {p.reembedding.embedding.model}: {p.reembedding.left ?? 0} are left. The old ones are searched meanwhile.</p>}
          <nav className="tabs" aria-label="Parts of the pipeline">
            {tabs.map(([id, name]) => <Link key={id} from="/t/$tenant/pipelines/$pipeline" search={{ tab: id || undefined }} replace resetScroll={false} activeOptions={tabOptions}>{name}</Link>)}
          </nav>
          {search.tab === "search" ? <SearchPanel tenant={tenant} of={p} /> : search.tab === "settings" ? <Settings of={p} /> : <Documents tenant={tenant} of={p} write={write} onChanged={() => void changed()} />}
          {asks === "edit" && <Edit tenant={tenant} of={p} onClose={() => setAsks(undefined)} onDone={() => {
            setAsks(undefined);
            void changed();
          }} />}
          {asks === "delete" && (
            <Confirm title={`Delete ${p.slug}?`} action="Delete" onClose={() => setAsks(undefined)}
              onSend={() => call(tenant, `/v1/pipelines/${at(slug)}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
                void client.invalidateQueries({ queryKey: [tenant, "pipelines"], exact: false, refetchType: "none" });
                void navigate({ to: "/t/$tenant/pipelines", params: { tenant }, search: {} });
              })}>
              <p>Its {p.documents ?? 0} documents are deleted with it, permanently. Tools that search it fail from then on.</p>
            </Confirm>
          )}
        </>
      )}
    </Page>
  );
}

function Settings({ of: p }: { of: Pipeline }) {
  return (
    <div className="narrow">
      <Facts of={[
        ["Slug", <code>{p.slug}</code>], ["Search", modeName(p.search)], ["Language", p.language],
        ["Passages", `at most ${p.chunking.max_chars} characters, ${(p.chunking.overlap ?? 0) > 0 ? `${p.chunking.overlap} repeated` : "none repeated"}`],
        ["Model", p.embedding?.model ?? "none"], ["Dimensions", p.embedding?.dimensions], ["Endpoint", p.embedding && <code className="wrap">{p.embedding.url}</code>],
        ["Credential", p.embedding?.credentials_ref && <code>{p.embedding.credentials_ref}</code>],
        ["Made", <><Time at={p.created_at} /> by <Subject of={p.created_by} /></>], ["Changed", <Time at={p.updated_at} />], ["Id", <Id value={p.id} />],
      ]} />
    </div>
  );
}

function Edit({ tenant, of: p, onClose, onDone }: { tenant: string; of: Pipeline; onClose: () => void; onDone: () => void }) {
  const [f, setF] = useState({ name: p.name, description: p.description ?? "", search: p.search as string });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  return (
    <FormDialog title={`Edit ${p.slug}`} action="Save" onClose={onClose} onDone={onDone} onSend={() => call(tenant, `/v1/pipelines/${at(p.slug)}`, { method: "PATCH", body: f }).then(done("Saved."))}>
      <Field label="Name" path="name">{(a) => <input {...a} value={f.name} required maxLength={200} onChange={(e) => put({ name: e.target.value })} />}</Field>
      <Field label="What is in it" path="description">{(a) => <input {...a} value={f.description} maxLength={2000} onChange={(e) => put({ description: e.target.value })} />}</Field>
      <Field label="Search" path="search">{(a) => <select {...a} value={f.search} onChange={(e) => put({ search: e.target.value })}>{modes.map(([id, name]) => <option key={id} value={id} disabled={id !== "full_text" && !p.embedding}>{name}</option>)}</select>}</Field>
    </FormDialog>
  );
}

const types: Record<string, string> = { md: "text/markdown", markdown: "text/markdown", txt: "text/plain", html: "text/html", htm: "text/html", pdf: "application/pdf" };
const typeOf = (f: File): string | undefined => types[f.name.split(".").pop()!.toLowerCase()] ?? Object.values(types).find((t) => t === f.type);
const largest = 10 << 20;

interface Upload {
  name: string;
  state: "waiting" | "sending" | "stored" | "refused";
  why?: string;
}

const encoded = (f: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const r = new FileReader();
    r.onload = () => resolve(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => reject(new Error("The file could not be read."));
    r.readAsDataURL(f);
  });

function Documents({ tenant, of: p, write, onChanged }: { tenant: string; of: Pipeline; write: boolean; onChanged: () => void }) {
  const search = useSearch({ from: "/t/$tenant/pipelines/$pipeline" });
  const navigate = useNavigate({ from: "/t/$tenant/pipelines/$pipeline" });
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [uploads, setUploads] = useState<Upload[]>([]);
  const busy = uploads.some((u) => u.state === "waiting" || u.state === "sending");
  const found = useQuery({
    ...documents(tenant, p.slug, { status: search.status, cursor: search.cursor, limit: 50 }),
    refetchInterval: (q) => (q.state.data?.items.some((d) => d.status === "pending" || d.status === "ingesting") ? 1500 : false),
  });
  const again = () => client.invalidateQueries({ queryKey: [tenant, `pipelines/${p.slug}/documents`] });
  const send = async (files: File[]) => {
    setUploads(files.map((f) => ({ name: f.name, state: "waiting" })));
    const mark = (i: number, change: Partial<Upload>) => setUploads((all) => all.map((u, n) => (n === i ? { ...u, ...change } : u)));
    let refused = 0;
    for (const [i, f] of files.entries()) {
      const type = typeOf(f);
      const why = !type ? "Documents are text, Markdown, HTML or PDF." : f.size > largest ? "It is larger than 10 MiB." : f.size === 0 ? "It is empty." : undefined;
      mark(i, why ? { state: "refused", why } : { state: "sending" });
      if (why) {
        refused++;
        continue;
      }
      try {
        await call<Document>(tenant, `/v1/pipelines/${at(p.slug)}/documents`, { method: "POST", body: { key: f.name, source: f.name, media_type: type, content_base64: await encoded(f) } });
        mark(i, { state: "stored" });
      } catch (e) {
        refused++;
        mark(i, { state: "refused", why: e instanceof Error ? (e instanceof ApiError ? e.detail : e.message) : "It could not be sent." });
      }
      await again();
    }
    say(`${files.length - refused} of ${files.length} stored.`);
    onChanged();
  };
  const set = (change: typeof search) => void navigate({ search: (s) => ({ ...s, cursor: undefined, open: undefined, ...change }), resetScroll: false });
  return (
    <>
      <div className="filters">
        <Buckets label="Status of documents" value={search.status ?? ""} options={[["", "All"], ["ready", "Ready"], ["ingesting", "Ingesting"], ["failed", "Failed"]]} onChange={(v) => set({ status: v || undefined })} />
        {write ? (
          <>
            <button type="button" className="button primary" disabled={busy} onClick={() => input.current!.click()}>Add documents…</button>
            <input ref={input} type="file" multiple hidden aria-label="Documents" accept=".md,.markdown,.txt,.html,.htm,.pdf" onChange={(e) => {
              const files = [...(e.target.files ?? [])];
              e.target.value = "";
              if (files.length > 0) void send(files);
            }} />
          </>
        ) : <span className="muted">Adding takes <code>pipelines.write</code></span>}
      </div>
      {uploads.length > 0 && (
        <section className="panel uploads" aria-label="Files that are added">
          <progress aria-label="Files sent" max={uploads.length} value={uploads.filter((u) => u.state === "stored" || u.state === "refused").length} />
          <ul>{uploads.map((u, i) => <li key={i}><Status value={u.state} /> <span className="wrap">{u.name}</span>{u.why && <span className="error">{u.why}</span>}</li>)}</ul>
          {!busy && <button type="button" className="quiet" onClick={() => setUploads([])}>Close</button>}
        </section>
      )}
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of documents" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
            search.status ? <Empty title={`No document is ${search.status}`} /> : <Empty title="No document" command={`toolcrib pipeline add ${p.slug} handbook/*.md`}>Add text, Markdown, HTML or PDF of at most 10 MiB each.</Empty>
          ) : (
            <>
              <Rows label="Documents" rows={found.data.items} keyOf={(d) => d.id} current={search.open} columns={[
                {
                  name: "Document", show: (d) => (
                    <Link from="/t/$tenant/pipelines/$pipeline" search={(s) => ({ ...s, open: d.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                      <span className="slug">{d.key}</span>
                      <span className="muted line">{d.error || d.title || d.source}</span>
                    </Link>
                  ),
                },
                { name: "Status", show: (d) => <Status value={d.status} /> },
                { name: "Passages", from: "medium", end: true, show: (d) => (p.embedding && d.embedded < d.chunks ? `${d.embedded} of ${d.chunks}` : d.chunks) },
                { name: "Size", from: "wide", end: true, show: (d) => bytes(d.bytes) },
                { name: "Changed", from: "medium", end: true, show: (d) => <Time at={d.updated_at} /> },
              ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next} onFirst={() => set({})} onNext={(cursor) => set({ cursor })} />
            </>
          )}
        </div>
        {search.open && <DocumentDrawer key={search.open} tenant={tenant} slug={p.slug} id={search.open} write={write} onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })}
          onChanged={() => {
            void again();
            onChanged();
          }} />}
      </div>
    </>
  );
}

function DocumentDrawer({ tenant, slug, id, write, onClose, onChanged }: { tenant: string; slug: string; id: string; write: boolean; onClose: () => void; onChanged: () => void }) {
  const found = useQuery({ ...document_(tenant, slug, id), refetchInterval: (q) => (q.state.data?.status === "pending" || q.state.data?.status === "ingesting" ? 1500 : false) });
  const d = found.data;
  const text = useQuery({ ...documentText(tenant, slug, id, d?.live_version ?? 0), enabled: !!d && d.live_version > 0 });
  const [asks, setAsks] = useState(false);
  return (
    <Drawer title={d?.title || d?.key || "Document"} onClose={onClose}>
      {found.isPending ? <Loading rows={5} /> : found.error || !d ? <Failed error={found.error} what="The document" retry={() => void found.refetch()} /> : (
        <>
          <p className="badges"><Status value={d.status} /></p>
          {d.error && <p className="notice bad">{d.error}</p>}
          <Facts of={[
            ["Key", <code className="wrap">{d.key}</code>], ["Source", d.source], ["Type", d.media_type], ["Size", bytes(d.bytes)], ["Passages", String(d.chunks)],
            ["Version", d.live_version === d.version ? d.version : `${d.version}; ${d.live_version ? `${d.live_version} is searched` : "none is searched yet"}`],
            ["Ready", d.ready_at && <Time at={d.ready_at} />], ["Added", <Time at={d.created_at} />], ["Id", <Id value={d.id} />],
          ]} />
          {write && <p className="actions"><button type="button" className="button danger" onClick={() => setAsks(true)}>Delete…</button></p>}
          <h3>Text</h3>
          {d.live_version === 0 ? <p className="none">There is none until it is ready.</p> : text.isPending ? <Loading rows={4} /> : text.error ? <Failed error={text.error} what="The text" /> : (
            <>
              <Text>{text.data.text}</Text>
              {text.data.bytes > textShown && <p className="muted">The first {bytes(textShown)} of {bytes(text.data.bytes)}.</p>}
            </>
          )}
          {asks && (
            <Confirm title="Delete this document?" action="Delete" onClose={() => setAsks(false)}
              onSend={() => call(tenant, `/v1/pipelines/${at(slug)}/documents/${at(id)}`, { method: "DELETE" }).then(done("Deleted.")).then(() => {
                onClose();
                onChanged();
              })}>
              <p>Searches no longer find it. It is deleted permanently.</p>
            </Confirm>
          )}
        </>
      )}
    </Drawer>
  );
}

function SearchPanel({ tenant, of: p }: { tenant: string; of: Pipeline }) {
  const search = useSearch({ from: "/t/$tenant/pipelines/$pipeline" });
  const navigate = useNavigate({ from: "/t/$tenant/pipelines/$pipeline" });
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  const found = useQuery({ ...searchOf(tenant, p.slug, search.q ?? "", search.mode), enabled: !!search.q });
  return (
    <>
      <form className="filters ask-shelf" role="search" onSubmit={(e) => {
        e.preventDefault();
        void navigate({ search: (s) => ({ ...s, q: text.trim() || undefined }), resetScroll: false });
      }}>
        <input type="search" aria-label="Words or a question" placeholder="Words or a question" value={text} maxLength={2000} onChange={(e) => setText(e.target.value)} />
        {p.embedding && <Buckets label="How it is searched" value={search.mode ?? p.search} options={modes} onChange={(v) => void navigate({ search: (s) => ({ ...s, mode: v === p.search ? undefined : v }), replace: true, resetScroll: false })} />}
        <button type="submit" className="button primary" disabled={!text.trim()}>Search</button>
      </form>
      {!search.q ? <Empty title="See what a tool would find" command={words("toolcrib", "pipeline", "search", p.slug, "how many days of leave")}>Passages are shown with their scores, the best first.</Empty>
        : found.isPending ? <Loading rows={4} /> : found.error ? <Failed error={found.error} what="The search" retry={() => void found.refetch()} />
          : found.data.hits.length === 0 ? <Empty title="Nothing was found" /> : (
            <ol className="hits" aria-label="Passages that were found">
              {found.data.hits.map((h) => (
                <li key={h.chunk_id} className="panel">
                  <p className="hit-head">
                    <Link from="/t/$tenant/pipelines/$pipeline" search={{ open: h.document_id }}>{h.title || h.document_key}</Link>
                    <span className="muted wrap">{[...(h.headings ?? []), h.page ? `page ${h.page}` : ""].filter(Boolean).join(" › ")}</span>
                    <span className="hit-score">score <strong>{Number(h.score).toFixed(4)}</strong>{h.text_rank ? ` · words ${h.text_rank}.` : ""}{h.vector_rank ? ` · vectors ${h.vector_rank}.` : ""}</span>
                  </p>
                  <Text>{h.text}</Text>
                </li>
              ))}
            </ol>
          )}
    </>
  );
}
