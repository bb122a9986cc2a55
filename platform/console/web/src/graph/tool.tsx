import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { exportGraph, graphDiff, toolVersion, type GraphChange } from "../api/graphs";
import { print } from "../api/json";
import { json, may, me, toolVersions, type Tool } from "../api/queries";
import { JsonView } from "../ui/json";
import { Drawer, Rows } from "../ui/list";
import { Copy, Status } from "../ui/parts";
import { Failed, Loading } from "../ui/states";
import { Losses } from "./losses";
import { walk, type Definition, type Place } from "./model";
import type { State } from "./picture";
import { GraphView, useGraphSearch, useSetSearch } from "./view";

// ToolGraph shows the graph of a tool, of its draft or a version, and what changed between two.
export function ToolGraph({ tenant, of: t }: { tenant: string; of: Tool }) {
  const search = useGraphSearch();
  const set = useSetSearch();
  const who = useQuery(me(tenant));
  const versions = useQuery(toolVersions(tenant, t.slug));
  const one = useQuery({ ...toolVersion(tenant, t.slug, search.version ?? ""), enabled: !!search.version });
  const sent = useMutation({ mutationFn: () => exportGraph(tenant, t.slug, search.version) });
  const config = search.version ? one.data?.definition.implementation_config : t.implementation_config;
  const numbers = (versions.data?.items ?? []).map((v) => v.version);
  const choose = (label: string, value: string, on: (v: string) => void, none: string) => (
    <label className={value ? "choice set" : "choice"}>
      <span>{label}</span>
      <select value={value} onChange={(e) => on(e.target.value)}>
        <option value="">{none}</option>
        {numbers.map((n) => <option key={n}>{n}</option>)}
      </select>
    </label>
  );
  const tools = (
    <>
      {choose("Version", search.version ?? "", (v) => set({ version: v || undefined, node: undefined }), "draft")}
      {choose("Compare with", search.from ?? "", (v) => set({ from: v || undefined, node: undefined }), "nothing")}
      {t.scope === "tenant" && may(who.data, "tools.write") && (
        <Link to="/t/$tenant/tools/$tool/graph/edit" params={{ tenant, tool: t.slug }} search={search.version ? { version: search.version } : {}} className="button">Edit</Link>
      )}
      <button type="button" className="button" disabled={sent.isPending} onClick={() => sent.mutate()}>Export</button>
    </>
  );
  if (one.error) return <Failed error={one.error} what="The version" />;
  if (config === undefined) return <Loading />;
  return (
    <>
      {sent.error && <Failed error={sent.error} what="The export" />}
      {search.from ? (
        <Difference tenant={tenant} slug={t.slug} from={search.from} to={search.version ?? ""} after={config as Definition} tools={tools} />
      ) : (
        <GraphView of={config as Definition} label={`Graph of ${t.slug}`} tools={tools}
          aside={(p) => <NodeDrawer of={p} onClose={() => set({ node: undefined })} />} />
      )}
      {sent.data && (
        <Dialog.Root open onOpenChange={(open) => !open && sent.reset()}>
          <Dialog.Portal>
            <Dialog.Backdrop className="backdrop" />
            <Dialog.Popup className="dialog wide">
              <Dialog.Title>{t.slug} as Agent Spec</Dialog.Title>
              <Losses of={sent.data.losses} none="Nothing is lost." />
              <p className="badges"><strong>The document</strong> <Copy text={print(sent.data.document, 2)} label="Copy the document" /></p>
              <pre className="document" tabIndex={0} aria-label="The document">{print(sent.data.document, 2)}</pre>
              <div className="actions"><Dialog.Close className="button">Close</Dialog.Close></div>
            </Dialog.Popup>
          </Dialog.Portal>
        </Dialog.Root>
      )}
    </>
  );
}

function NodeDrawer({ of: p, onClose }: { of: Place; onClose: () => void }) {
  return (
    <Drawer title={p.id} onClose={onClose}>
      <JsonView value={p.node} label={`Definition of ${p.id}`} />
    </Drawer>
  );
}

const sides = { added: "added", removed: "removed", changed: "changed" } as const;

function Difference({ tenant, slug, from, to, after, tools }: { tenant: string; slug: string; from: string; to: string; after: Definition; tools: React.ReactNode }) {
  const search = useGraphSearch();
  const set = useSetSearch();
  const found = useQuery(graphDiff(tenant, slug, from, to));
  const old = useQuery(toolVersion(tenant, slug, from));
  const before = old.data?.definition.implementation_config as Definition | undefined;
  const changes = found.data?.changes;
  const states = useMemo(() => {
    const mark = (d: Definition, shown: (GraphChange["what"])[]): Map<string, State> => {
      const by = new Map<string, string>();
      for (const c of changes ?? []) if (c.node && shown.includes(c.what)) by.set(c.node, sides[c.what]);
      return new Map(walk(d).flatMap((p) => (by.has(p.id) ? [[p.pointer, { status: by.get(p.id)! }] as const] : [])));
    };
    return { after: mark(after, ["added", "changed"]), before: before && mark(before, ["removed", "changed"]) };
  }, [changes, after, before]);
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The comparison" />;
  if (!changes) return <Loading />;
  const showsOld = search.graph === "before" && before && states.before;
  return (
    <>
      <GraphView of={showsOld ? before : after} states={showsOld ? states.before : states.after} statusName="Change" label={`Changes of ${slug}`}
        tools={<>{tools}<button type="button" className="button" aria-pressed={search.graph === "before"} onClick={() => set({ graph: search.graph === "before" ? undefined : "before", node: undefined })}>{search.graph === "before" ? `Show ${to || "the draft"}` : `Show ${from}`}</button></>}
        aside={(p) => (
          <Drawer title={p.id} onClose={() => set({ node: undefined })}>
            <Changes of={changes.filter((c) => c.node === p.id)} />
          </Drawer>
        )} />
      <h2 className="apart">{changes.length === 1 ? "1 change" : `${changes.length} changes`} from {from} to {to || "the draft"}</h2>
      {changes.length === 0 ? <p className="notice good">They do not differ.</p> : <Changes of={changes} />}
    </>
  );
}

function Changes({ of }: { of: GraphChange[] }) {
  if (of.length === 0) return <p className="muted">The node did not change.</p>;
  const value = (v: unknown) => (v === undefined ? "–" : print(v).slice(0, 160));
  return (
    <Rows label="Changes" rows={of} keyOf={(c) => `${c.node ?? ""}${c.path ?? ""}${c.what}`}
      columns={[
        { name: "Where", show: (c) => <span className="slug">{c.node ?? "the graph"}{c.path}</span> },
        { name: "Change", show: (c) => <Status value={c.what} /> },
        { name: "From", from: "medium", show: (c) => <code className="line">{value(json(c.from))}</code> },
        { name: "To", show: (c) => <code className="line">{value(json(c.to))}</code> },
      ]} />
  );
}
