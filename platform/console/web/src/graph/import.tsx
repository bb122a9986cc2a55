import { Dialog } from "@base-ui/react/dialog";
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError, call } from "../api/client";
import { importGraph, type ToolDefinition } from "../api/graphs";
import type { Json } from "../api/json";
import { Losses } from "./losses";
import { isObject, text, type Definition, type Obj } from "./model";

export interface Imported {
  config: Definition;
  input: Json | undefined;
  head: ToolDefinition;
  applied: number;
}

// Import makes a graph of a document of Agent Spec. What it loses is shown before anything is taken.
export function Import({ tenant, onTake, onClose }: { tenant: string; onTake: (made: Imported) => void; onClose: () => void }) {
  const document_ = useRef<HTMLTextAreaElement>(null);
  const [written, setWritten] = useState("");
  const read = useMutation({ mutationFn: () => importGraph(tenant, { document: written }) });
  const made = read.data?.definitions.filter(isObject) ?? [];
  const graph = made.find((d) => d.slug === read.data?.slug && isObject(d.implementation_config) && (d.implementation_type === "graph" || d.implementation_type === "composition"));
  const others = made.filter((d) => d !== graph);
  const take = useMutation({
    mutationFn: async () => {
      // What the graph calls is saved as drafts: publishing is another decision.
      if (others.length > 0) {
        const done = await call<{ failed?: number; results?: { error?: { detail?: string } }[] }>(tenant, "/v1/apply", {
          method: "POST", body: { definitions: others.map((d) => Object.fromEntries(Object.entries(d).filter(([n]) => n !== "publish"))) },
        });
        if (done.failed) throw new ApiError("invalid", 0, done.results?.find((r) => r.error)?.error?.detail ?? "Not all of the definitions could be saved.");
      }
      const head = Object.fromEntries(["slug", "name", "description", "version", "output_schema"].flatMap((n) => (graph![n] !== undefined ? [[n, graph![n]]] : [])));
      onTake({ config: graph!.implementation_config as Obj, input: graph!.input_schema, head, applied: others.length });
    },
  });
  const error = read.error ?? take.error;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog wide" initialFocus={document_}>
          <Dialog.Title>Import Agent Spec</Dialog.Title>
          <Dialog.Description>A flow of Open Agent Specification, as JSON or YAML. Nothing is saved by reading it.</Dialog.Description>
          <form onSubmit={(e) => {
            e.preventDefault();
            read.mutate();
          }}>
            <label htmlFor="import-file">File</label>
            <input id="import-file" type="file" accept=".json,.yaml,.yml" onChange={async (e) => {
              const file = e.target.files?.[0];
              if (file) setWritten(await file.text());
            }} />
            <label htmlFor="import-text">Document</label>
            <textarea id="import-text" ref={document_} className="mono" rows={8} required value={written} onChange={(e) => {
              setWritten(e.target.value);
              read.reset();
            }} spellCheck={false} />
            {error && <p className="error" role="alert">{error instanceof ApiError ? error.detail : "The document could not be read."}</p>}
            {read.error instanceof ApiError && read.error.faults.length > 1 && <ul className="losses">{read.error.faults.map((f, i) => <li key={i}><code>{f.path}</code> {f.detail}</li>)}</ul>}
            {read.data && <Losses of={read.data.losses} none="Nothing is lost." />}
            {read.data && !graph && <p className="notice bad">The document is no flow: it makes no graph.</p>}
            {others.length > 0 && graph && <p className="notice">It needs {others.map((d) => text(d.slug)).join(", ")}, which are saved as drafts where you take it.</p>}
            <div className="actions">
              <Dialog.Close className="button" type="button">Back</Dialog.Close>
              <button type="submit" className={graph ? "button" : "button primary"} disabled={read.isPending || !written}>Read it</button>
              {graph && <button type="button" className="button primary" disabled={take.isPending} onClick={() => take.mutate()}>Take it</button>}
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
