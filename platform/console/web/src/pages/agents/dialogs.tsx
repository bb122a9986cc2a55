import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { ApiError, call } from "../../api/client";
import type { AgentVersion } from "../../api/graphs";
import type { Agent, List, Run } from "../../api/queries";
import { Loading } from "../../ui/states";

const said = (e: unknown): string => (e instanceof ApiError ? e.detail || "The request failed." : "The page has a defect.");

// Confirm asks before something is done that is not undone by itself.
export function Confirm({ title, text, verb, error, busy, onYes, onClose }: {
  title: string;
  text: string;
  verb: string;
  error: unknown;
  busy: boolean;
  onYes: () => void;
  onClose: () => void;
}) {
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description>{text}</AlertDialog.Description>
          {error !== undefined && <p className="error" role="alert">{said(error)}</p>}
          <div className="actions">
            <AlertDialog.Close className="button">Back</AlertDialog.Close>
            <button type="button" className="button danger" disabled={busy} onClick={onYes}>{verb}</button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

// raised are the numbers that may follow one: for a mend, for more, for what breaks callers.
export function raised(of: string): [string, string][] {
  const [major = 0, minor = 0, patch = 0] = of.split(/[-+]/)[0]!.split(".").map(Number);
  return [[`${major}.${minor}.${patch + 1}`, "a mend"], [`${major}.${minor + 1}.0`, "does more"], [`${major + 1}.0.0`, "breaks callers"]];
}

export function PublishDialog({ name, number, versions, unsaved, error, busy, onPublish, onClose }: {
  name: string;
  number: string;
  versions: unknown;
  unsaved: boolean;
  error: unknown;
  busy: boolean;
  onPublish: (number: string) => void;
  onClose: () => void;
}) {
  const found = useQuery(versions as UseQueryOptions<List<AgentVersion>>);
  const last = found.data?.items.find((v) => v.published)?.version;
  const [text, setText] = useState<string>();
  if (found.isPending) return <Loading rows={2} />;
  const taken = found.data?.items.some((v) => v.published && v.version === number);
  const chosen = text ?? (taken && last ? raised(last)[1]![0] : number);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Publish {name}</Dialog.Title>
          <Dialog.Description>
            {last ? `The last version is ${last}.` : "It is the first version."} New runs get the highest version that they permit; runs in progress keep theirs.
            {unsaved && " What is not saved yet is saved first."}
          </Dialog.Description>
          <form onSubmit={(e) => {
            e.preventDefault();
            onPublish(chosen.trim());
          }}>
            <label htmlFor="publish-number">Number</label>
            <input id="publish-number" className="mono short" required value={chosen} onChange={(e) => setText(e.target.value)} spellCheck={false} />
            {last && (
              <div className="actions start" role="group" aria-label="Numbers that may follow">
                {raised(last).map(([n, why]) => <button key={n} type="button" className="button" aria-pressed={n === chosen} onClick={() => setText(n)}>{n} <span className="muted">{why}</span></button>)}
              </div>
            )}
            {error !== undefined && <p className="error" role="alert">{said(error)}</p>}
            <div className="actions">
              <Dialog.Close className="button" type="button">Back</Dialog.Close>
              <button type="submit" className="button primary" disabled={busy}>Publish</button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

// RunDialog starts a run of an agent, and goes to it.
export function RunDialog({ tenant, of, onClose }: { tenant: string; of: Agent; onClose: () => void }) {
  const navigate = useNavigate();
  const message = useRef<HTMLTextAreaElement>(null);
  const [mode, setMode] = useState(of.status === "published" ? "production" : "debug");
  const [key] = useState(() => crypto.randomUUID());
  const start = useMutation({
    mutationFn: () => call<Run>(tenant, "/v1/runs", {
      method: "POST", body: { agent: of.slug, input: message.current!.value, mode }, headers: { "Idempotency-Key": key },
    }),
    onSuccess: (run) => void navigate({ to: "/t/$tenant/runs/$run", params: { tenant, run: run.id } }),
  });
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog" initialFocus={message}>
          <Dialog.Title>Run {of.slug}</Dialog.Title>
          <form onSubmit={(e) => {
            e.preventDefault();
            start.mutate();
          }}>
            <label htmlFor="run-message">Message to the agent</label>
            <textarea id="run-message" ref={message} rows={4} required />
            <label htmlFor="run-mode">Mode</label>
            <select id="run-mode" value={mode} onChange={(e) => setMode(e.target.value)}>
              <option value="production">production: the published version</option>
              <option value="debug">debug: the draft</option>
            </select>
            {start.error && <p className="error" role="alert">{said(start.error)}</p>}
            <div className="actions">
              <Dialog.Close className="button" type="button">Back</Dialog.Close>
              <button type="submit" className="button primary" disabled={start.isPending}>Run</button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
