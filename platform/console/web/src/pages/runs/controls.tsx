import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { ApiError } from "../../api/client";
import { at, may, me, run, type Run } from "../../api/queries";
import { post } from "../../api/runs";
import { say } from "../../ui/live";
import { words } from "../../ui/shellwords";
import { Command } from "../../ui/states";
import { ended } from "./transcript";

type Act = "pause" | "resume" | "cancel" | "rerun";

const asks: Record<Act, { title: string; text: string; button: string; danger?: boolean; field?: [name: string, label: string] }> = {
  pause: { title: "Pause the run?", text: "It begins nothing more, with all runs below it. Calls in progress come to their end.", button: "Pause", field: ["reason", "Reason"] },
  resume: { title: "Resume the run?", text: "It goes on where it was.", button: "Resume", field: ["reason", "Reason"] },
  cancel: { title: "Cancel the run?", text: "Calls in progress are cancelled too. What they did outside stays done.", button: "Cancel the run", danger: true },
  rerun: { title: "Run it again?", text: "A new run with the same input, by the highest published version of the agent, or the one that you name.", button: "Run again", field: ["version", "Version"] },
};

// Controls are what one may do with a run, in the state that it is in.
export function Controls({ tenant, of: r }: { tenant: string; of: Run }) {
  const who = useQuery(me(tenant));
  const [act, setAct] = useState<Act>();
  if (who.data && !may(who.data, "runs.write")) return <span className="muted">Your key may not change runs: that takes <code>runs.write</code></span>;
  const over = ended(r);
  const hosted = r.status === "hosted";
  return (
    <>
      {!over && !hosted && !r.parent && (
        <button type="button" className="button" onClick={() => setAct(r.paused ? "resume" : "pause")}>{r.paused ? "Resume…" : "Pause…"}</button>
      )}
      {!over && !hosted && <button type="button" className="button danger" onClick={() => setAct("cancel")}>Cancel…</button>}
      {over && r.kind === "agent" && (
        <>
          <Link className="button" to="/t/$tenant/runs/new" params={{ tenant }} search={{ agent: r.agent, from: r.id, ...(r.mode === "debug" && { mode: r.mode }) }}>Edit and run…</Link>
          <button type="button" className="button" onClick={() => setAct("rerun")}>Run again…</button>
        </>
      )}
      {act && <Ask key={act} tenant={tenant} of={r} act={act} onClose={() => setAct(undefined)} />}
    </>
  );
}

export const why = (e: unknown): string => (e instanceof ApiError ? e.detail : "The request could not be sent.");

function Ask({ tenant, of: r, act, onClose }: { tenant: string; of: Run; act: Act; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const once = useRef(crypto.randomUUID());
  const a = asks[act];
  const send = useMutation({
    mutationFn: () => {
      const value = field.current?.value;
      return post<Run>(tenant, `/v1/runs/${at(r.id)}/${act}`, a.field && value ? { [a.field[0]]: value } : {}, once.current);
    },
    onSuccess: async (got) => {
      onClose();
      if (got.id !== r.id) {
        say("The new run is here.");
        await navigate({ to: "/t/$tenant/runs/$run", params: { tenant, run: got.id } });
      } else {
        client.setQueryData(run(tenant, r.id).queryKey, got);
        say(act === "cancel" ? "The run was asked to stop." : `The run is ${got.paused ? "paused" : got.status}.`);
        await client.invalidateQueries({ queryKey: [tenant, "run", r.id] });
      }
      await client.invalidateQueries({ queryKey: [tenant, "runs"] });
    },
    onError: () => (once.current = crypto.randomUUID()),
  });
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{a.title}</AlertDialog.Title>
          <AlertDialog.Description>{a.text}</AlertDialog.Description>
          <form onSubmit={(e) => {
            e.preventDefault();
            send.mutate();
          }}>
            {a.field && (
              <>
                <label htmlFor="control">{a.field[1]} <span className="muted">(optional)</span></label>
                <input id="control" ref={field} maxLength={a.field[0] === "version" ? 100 : 2000} placeholder={a.field[0] === "version" ? "such as ^1.2" : undefined} />
              </>
            )}
            {send.error && <p className="error" role="alert">{why(send.error)}</p>}
            <div className="actions">
              <AlertDialog.Close className="button" type="button">Back</AlertDialog.Close>
              <button type="submit" className={a.danger ? "button danger" : "button primary"} disabled={send.isPending}>{a.button}</button>
            </div>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

// Say sends a message to the agent of a run: into its inbox while it goes on, and else to a run that takes over
// the transcript, whole or up to a turn.
export function Say({ tenant, of: r, fork }: { tenant: string; of: Run; fork?: string | undefined }) {
  const who = useQuery(me(tenant));
  const client = useQueryClient();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [took, setTook] = useState<string>();
  const once = useRef(crypto.randomUUID());
  const turn = Number(fork) || 0;
  const send = useMutation({
    mutationFn: () => post<Run>(tenant, `/v1/runs/${at(r.id)}/messages`, { input: text, ...(turn > 0 && { after_turn: turn }) }, once.current),
    onSuccess: async (got) => {
      once.current = crypto.randomUUID();
      setText("");
      if (got.id !== r.id) {
        say("The conversation goes on in a new run.");
        await navigate({ to: "/t/$tenant/runs/$run", params: { tenant, run: got.id } });
        return;
      }
      setTook(text);
      say("The run has the message.");
      await client.invalidateQueries({ queryKey: [tenant, "run", r.id] });
    },
    onError: () => (once.current = crypto.randomUUID()),
  });
  if (r.kind !== "agent" || (who.data && !may(who.data, "runs.write"))) return null;
  const over = ended(r);
  const where = turn > 0 ? `A new run takes over the transcript up to turn ${turn}.` : over ? "A new run takes over the transcript, and answers." : "The next turn of the run takes it up.";
  return (
    <form id="say" className="say" onSubmit={(e) => {
      e.preventDefault();
      if (text.trim()) send.mutate();
    }}>
      <label htmlFor="say-text">{turn > 0 ? `Fork after turn ${turn}` : "Say more"}</label>
      <textarea id="say-text" rows={2} value={text} maxLength={100_000} autoFocus={turn > 0}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) e.currentTarget.form!.requestSubmit();
        }} />
      <div className="say-foot">
        <span className="muted">{where}</span>
        {turn > 0 && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, fork: undefined })} replace resetScroll={false} className="button">Not from there</Link>}
        <button type="submit" className="button primary" disabled={send.isPending || text.trim() === ""}>Send</button>
      </div>
      {send.error && <p className="error" role="alert">{why(send.error)}</p>}
      {took && !over && <p className="notice" role="status">The run has it, and takes it up with its next turn: “{took.slice(0, 200)}”</p>}
    </form>
  );
}

export function NotStarted({ agent }: { agent?: string | undefined }) {
  return <Command text={words("toolcrib", "run", "start", agent ?? "supportDesk", "--input", "Where is my order?")} />;
}
