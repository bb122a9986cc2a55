import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, type Decided } from "../../api/inbox";
import { parse, print, type Json } from "../../api/json";
import { approval, json, type Approval, type List } from "../../api/queries";
import { say } from "../../ui/live";
import { Subject } from "../../ui/subject";
import { Ask, Field, text } from "./ask";
import { LineDiff, pretty } from "./diff";

// Decisions are made by the buttons of these dialogs alone, and are about what was seen: the server refuses one
// on anything else.

function useDecided(tenant: string) {
  const client = useQueryClient();
  return {
    put: (a: Approval) => client.setQueryData(approval(tenant, a.id).queryKey, a),
    settled: () => client.invalidateQueries({ queryKey: [tenant, "approvals"] }),
  };
}

// Over says who decided while the dialog was open.
function Over({ of: a }: { of: Approval }) {
  if (a.status === "pending") return null;
  const last = a.decisions?.[a.decisions.length - 1];
  return <p className="error" role="alert">{last ? <>Already decided by <Subject of={last.subject} />: it is {a.status}.</> : `It is over: ${a.status}.`}</p>;
}

export function Decide({ tenant, of: a, approve, onClose }: { tenant: string; of: Approval; approve: boolean; onClose: () => void }) {
  const { put, settled } = useDecided(tenant);
  return (
    <Ask title={`${approve ? "Approve" : "Reject"} ${a.tool}@${a.version}?`} action={approve ? "Approve" : "Reject"} danger={!approve} onClose={onClose}
      off={a.status !== "pending"}
      about={approve ? "This call, with these arguments and no others, will run." : "The agent reads the reason, and the run goes on without the call."}
      run={(given) =>
        post<Approval>(tenant, `/v1/approvals/${a.id}/${approve ? "approve" : "reject"}`, { seen: a.binding, ...reasonOf(given) })
          .finally(() => void settled())}
      onDone={(decided) => {
        put(decided);
        say(approve ? "Approved." : "Rejected.");
        onClose();
      }}>
      {approve && <pre className="bound" tabIndex={0} aria-label="Arguments">{print(json(a.edited ?? a.arguments), 2)}</pre>}
      <Reason required={!approve} />
      <Over of={a} />
    </Ask>
  );
}

const reasonOf = (given: FormData) => (text(given, "reason") ? { reason: text(given, "reason") } : {});

function Reason({ required }: { required: boolean }) {
  return (
    <Field name="reason" label="Reason" optional={!required}>
      <textarea rows={3} maxLength={2000} required={required} />
    </Field>
  );
}

// EditAndApprove approves the call with other arguments. The server checks them as those of any call, and binds the
// approval to them.
export function EditAndApprove({ tenant, of: a, onClose }: { tenant: string; of: Approval; onClose: () => void }) {
  const { put, settled } = useDecided(tenant);
  const before = pretty(json(a.arguments));
  const [written, setWritten] = useState(before);
  const edited = read(written);
  return (
    <Ask title={`Approve ${a.tool}@${a.version} with other arguments?`} action="Approve these arguments" onClose={onClose}
      off={a.status !== "pending" || edited === undefined || pretty(edited) === before}
      about="The call runs with what you write here. The tool's input schema applies, and the record keeps both."
      run={(given) =>
        post<Approval>(tenant, `/v1/approvals/${a.id}/approve`, { seen: a.binding, arguments: edited, ...reasonOf(given) }).finally(() => void settled())}
      onDone={(decided) => {
        put(decided);
        say("Approved with other arguments.");
        onClose();
      }}>
      {(error) => (
        <>
          <Field name="arguments" label="Arguments, as JSON" error={error}>
            <textarea className="code" rows={10} spellCheck={false} value={written} onChange={(e) => setWritten(e.target.value)} />
          </Field>
          {edited === undefined ? <p className="error">This is not JSON.</p> : <LineDiff label="What you change" before={before} after={pretty(edited)} />}
          <Reason required={false} />
          <Over of={a} />
        </>
      )}
    </Ask>
  );
}

export function read(written: string): Json | undefined {
  try {
    return parse(written);
  } catch {
    return undefined;
  }
}

// DecideAll decides several requests, each on its own: one that fails leaves the others.
export function DecideAll({ tenant, of, approve, onClose }: { tenant: string; of: Approval[]; approve: boolean; onClose: () => void }) {
  const { settled } = useDecided(tenant);
  const [seen] = useState(of); // Decisions are about what was listed when the dialog opened.
  const [failed, setFailed] = useState<Decided[]>([]);
  return (
    <Ask title={`${approve ? "Approve" : "Reject"} ${seen.length} calls?`} action={approve ? `Approve ${seen.length}` : `Reject ${seen.length}`}
      danger={!approve} onClose={onClose} off={failed.length > 0}
      about={approve ? "These calls, with these arguments and no others, will run." : "The agent reads the reason, and the run goes on without the calls."}
      run={(given) =>
        post<List<Decided>>(tenant, "/v1/approvals/decide", {
          decisions: seen.map((a) => ({ id: a.id, approve, seen: a.binding, ...reasonOf(given) })),
        }).finally(() => void settled())}
      onDone={(done) => {
        const wrong = done.items.filter((d) => d.error);
        say(`${done.items.length - wrong.length} of ${done.items.length} decided.`);
        if (wrong.length === 0) onClose();
        else setFailed(wrong);
      }}>
      <ul className="bound-all">
        {seen.map((a) => {
          const wrong = failed.find((f) => f.id === a.id)?.error;
          return (
            <li key={a.id}>
              <span className="slug">{a.tool}@{a.version}</span> <code className="line">{print(json(a.edited ?? a.arguments))}</code>
              {wrong && <p className="error" role="alert">{wrong.detail ?? wrong.title}</p>}
            </li>
          );
        })}
      </ul>
      <Reason required={!approve} />
    </Ask>
  );
}
