import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, call } from "../../api/client";
import { pipelines, type Pipeline } from "../../api/connect";
import { Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Status, Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, done, Field, FormDialog, once, useMay } from "../govern/parts";

export const modes = [["full_text", "Full text"], ["vector", "Vectors"], ["hybrid", "Both"]] as const;
export const modeName = (m: string): string => modes.find(([id]) => id === m)?.[1] ?? m;
export const stateOf = (p: Pipeline): string => (p.disabled ? "disabled" : p.reembedding ? "embedding" : p.reembedding_error ? "failed" : "active");

export function Pipelines() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/pipelines" });
  const navigate = useNavigate({ from: "/t/$tenant/pipelines" });
  const found = useQuery(pipelines(tenant, { cursor: search.cursor, limit: 50 }));
  const has = useMay(tenant);
  const client = useQueryClient();
  return (
    <Page title="Pipelines" about="Collections of documents that tools search."
      actions={<Allowed may={has} permission="pipelines.write"><Link from="/t/$tenant/pipelines" search={{ open: "new" }} className="button primary">New pipeline</Link></Allowed>}
      cli="toolcrib pipeline list" api={address("/v1/pipelines")}>
      {found.isPending ? <Loading /> : found.error ? <Failed error={found.error} what="The list of pipelines" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
        <Empty title="No pipeline" command="toolcrib pipeline create handbook">Make one, add documents, and name it in a tool of the type rag retrieval.</Empty>
      ) : (
        <>
          <Rows label="Pipelines" rows={found.data.items} keyOf={(p) => p.id} columns={[
            {
              name: "Pipeline", show: (p) => (
                <Link to="/t/$tenant/pipelines/$pipeline" params={{ tenant, pipeline: p.slug }} className="row-link">
                  <span className="slug">{p.slug}</span>
                  <span className="muted line">{p.description || (p.name !== p.slug ? p.name : "")}</span>
                </Link>
              ),
            },
            { name: "State", show: (p) => <Status value={stateOf(p)} /> },
            { name: "Search", from: "medium", show: (p) => modeName(p.search) },
            { name: "Language", from: "wide", show: (p) => p.language },
            { name: "Model", from: "wide", show: (p) => p.embedding?.model ?? <span className="none">–</span> },
            { name: "Changed", from: "medium", end: true, show: (p) => <Time at={p.updated_at} /> },
          ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: {} })} onNext={(cursor) => void navigate({ search: { cursor } })} />
        </>
      )}
      {search.open === "new" && has("pipelines.write") && (
        <NewPipeline tenant={tenant} onClose={() => void navigate({ search: {} })} onDone={(p) => {
          void client.invalidateQueries({ queryKey: [tenant, "pipelines"] });
          void navigate({ to: "/t/$tenant/pipelines/$pipeline", params: { tenant, pipeline: p.slug }, search: {} });
        }} />
      )}
    </Page>
  );
}

function NewPipeline({ tenant, onClose, onDone }: { tenant: string; onClose: () => void; onDone: (p: Pipeline) => void }) {
  const [f, setF] = useState({ slug: "", name: "", description: "", language: "english", search: "full_text", url: "https://api.openai.com/v1", model: "", dimensions: "1536", credentials_ref: "" });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  const embeds = f.search !== "full_text";
  return (
    <FormDialog wide title="New pipeline" action="Create" onClose={onClose} onDone={() => {}}
      onSend={() => call<Pipeline>(tenant, "/v1/pipelines", {
        method: "POST", headers: once(), body: {
          slug: f.slug, name: f.name || undefined, description: f.description || undefined, language: f.language || undefined, search: f.search,
          ...(embeds && { embedding: { url: f.url, model: f.model, dimensions: Number(f.dimensions), credentials_ref: f.credentials_ref || undefined } }),
        },
      }).then(done("Created.")).then(onDone)}>
      <div className="pair">
        <Field label="Slug" path="slug" hint="Tools name it so; it stays">{(p) => <input {...p} value={f.slug} required maxLength={64} autoFocus spellCheck={false} placeholder="handbook" onChange={(e) => put({ slug: e.target.value })} />}</Field>
        <Field label="Name" path="name">{(p) => <input {...p} value={f.name} maxLength={200} placeholder="Staff handbook" onChange={(e) => put({ name: e.target.value })} />}</Field>
      </div>
      <Field label="What is in it" path="description">{(p) => <input {...p} value={f.description} maxLength={2000} onChange={(e) => put({ description: e.target.value })} />}</Field>
      <div className="pair">
        <Field label="Language" path="language" hint="Of stemming: english, german, or simple for none">{(p) => <input {...p} value={f.language} maxLength={32} onChange={(e) => put({ language: e.target.value })} />}</Field>
        <Field label="Search" path="search" hint="Vectors take an embedding model">
          {(p) => <select {...p} value={f.search} onChange={(e) => put({ search: e.target.value })}>{modes.map(([id, name]) => <option key={id} value={id}>{name}</option>)}</select>}
        </Field>
      </div>
      {embeds && (
        <fieldset>
          <legend>Embedding model</legend>
          <div className="pair">
            <Field label="Endpoint" path="embedding/url">{(p) => <input {...p} type="url" required value={f.url} maxLength={2048} onChange={(e) => put({ url: e.target.value })} />}</Field>
            <Field label="Model" path="embedding/model">{(p) => <input {...p} required value={f.model} maxLength={200} placeholder="text-embedding-3-small" onChange={(e) => put({ model: e.target.value })} />}</Field>
            <Field label="Dimensions" path="embedding/dimensions">{(p) => <input {...p} type="number" required min={1} max={4096} value={f.dimensions} onChange={(e) => put({ dimensions: e.target.value })} />}</Field>
            <Field label="Credential" path="embedding/credentials_ref" hint="Its ref; empty for none">{(p) => <input {...p} value={f.credentials_ref} maxLength={128} spellCheck={false} onChange={(e) => put({ credentials_ref: e.target.value })} />}</Field>
          </div>
        </fieldset>
      )}
    </FormDialog>
  );
}
