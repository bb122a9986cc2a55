import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { parse, type Json } from "../../api/json";
import { approval, json, may, me, type Approval } from "../../api/queries";
import { inputRequest, post, why, type InputRequest, type SpaceCall, type SpaceMessage } from "../../api/share";
import { InputForm } from "../../form";
import { displays, type Field } from "../../form/spec";
import { JsonView } from "../../ui/json";
import { say } from "../../ui/live";
import { Text, Time } from "../../ui/parts";
import { refusedAt } from "./refused";

// Answer answers a call where it is shown: an approval, a request for input, or another call that waits for
// somebody. Which of them it is, the server says.
export function Answer({ tenant, message, call: c, quick }: {
  tenant: string;
  message: SpaceMessage;
  call: SpaceCall;
  quick?: [label: string, result: Json][];
}) {
  const who = useQuery(me(tenant));
  const approves = may(who.data, "approvals.read");
  const submits = may(who.data, "results.submit");
  const asked = useQuery({ ...approval(tenant, message.id), enabled: approves, retry: false });
  const input = useQuery({ ...inputRequest(tenant, message.id), enabled: submits && !asked.isLoading && !asked.data, retry: false });
  if (!who.data || asked.isLoading || input.isLoading) return <p className="muted">…</p>;
  if (asked.data?.status === "pending") return <Approve tenant={tenant} of={asked.data} />;
  if (!submits) {
    return (
      <p className="notice">
        It waits for an answer. Your key lacks the permission <code>results.submit</code>{!approves && <> or <code>approvals.read</code></>}.
      </p>
    );
  }
  return (
    <div className="answer">
      {c.expires_at && <p className="muted">An answer is taken until <Time at={c.expires_at} />.</p>}
      {input.data ? <Asked tenant={tenant} of={input.data} /> : <AnyResult tenant={tenant} id={message.id} tool={c.tool} quick={quick} />}
    </div>
  );
}

function useSubmit(tenant: string, id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (result: Json) => post(tenant, `/v1/pending-tool-calls/${id}/result`, { result }),
    onSuccess: () => {
      say("The answer was sent.");
      void client.invalidateQueries({ queryKey: [tenant, "input-request", id] });
    },
  });
}

function Approve({ tenant, of: a }: { tenant: string; of: Approval }) {
  const client = useQueryClient();
  const who = useQuery(me(tenant));
  const [reason, setReason] = useState("");
  const decide = useMutation({
    mutationFn: (approve: boolean) =>
      post<Approval>(tenant, `/v1/approvals/${a.id}/${approve ? "approve" : "reject"}`, { seen: a.binding, ...(reason && { reason }) }),
    onSuccess: (decided) => {
      client.setQueryData(approval(tenant, a.id).queryKey, decided);
      say("Decided.");
    },
    onSettled: () => client.invalidateQueries({ queryKey: [tenant, "approvals"] }),
  });
  const own = a.requester === who.data?.subject && !(a.own && may(who.data, "approvals.confirm"));
  return (
    <div className="answer">
      <Text>{a.message}</Text>
      <JsonView value={json(a.edited ?? a.arguments)} label="What will run" />
      {own ? (
        <p className="notice">The run is yours: another person decides.</p>
      ) : (
        <>
          <label>
            Reason <span className="muted">(of a rejection)</span>
            <input value={reason} maxLength={2000} onChange={(e) => setReason(e.target.value)} />
          </label>
          <p className="actions">
            <button type="button" className="button primary" disabled={decide.isPending} onClick={() => decide.mutate(true)}>Approve this call</button>
            <button type="button" className="button danger" disabled={decide.isPending || !reason} onClick={() => decide.mutate(false)}>Reject</button>
            <Link to="/t/$tenant/approvals" params={{ tenant }} search={{ status: "all", open: a.id }} className="button">All of the request</Link>
          </p>
        </>
      )}
      {decide.error && <p className="error" role="alert">{why(decide.error)}</p>}
    </div>
  );
}

// Asked asks what a person is asked. Files and drawings are taken on the page of the request.
function Asked({ tenant, of: r }: { tenant: string; of: InputRequest }) {
  const submit = useSubmit(tenant, r.view_id);
  const spec = useMemo(() => ({ fields: (r.fields ?? []) as unknown as Field[] }), [r.fields]);
  const errors = useMemo(() => refusedAt(submit.error, "/result/answer"), [submit.error]);
  const page = useMutation({
    mutationFn: () => post<{ share_url: string }>(tenant, `/v1/input-requests/${r.view_id}/link`, { expires_s: 3600 }),
  });
  if (spec.fields.some((f) => f.type === "media" || f.type === "file" || !Object.hasOwn(displays, f.type))) {
    return (
      <>
        <p><strong>{r.title}</strong></p>
        {page.data ? (
          <p><a href={page.data.share_url} target="_blank" rel="noopener noreferrer" className="button">Open its page</a></p>
        ) : (
          <p className="actions">
            <button type="button" className="button" disabled={page.isPending} onClick={() => page.mutate()}>Answer on a page of its own…</button>
          </p>
        )}
        {page.error && <p className="error" role="alert">{why(page.error)}</p>}
      </>
    );
  }
  return (
    <>
      <p><strong>{r.title}</strong></p>
      {r.instructions && <Text>{r.instructions}</Text>}
      <InputForm spec={spec} tenant={tenant} action="Answer" isLoading={submit.isPending} errors={errors}
        onSubmit={(answer) => submit.mutate({ kind: "input_request", view_id: r.view_id, answer })} />
      {submit.error && <p className="error" role="alert">{why(submit.error)}</p>}
    </>
  );
}

// AnyResult takes the result of a call that something outside answers: as JSON, or as plain words.
function AnyResult({ tenant, id, tool, quick }: { tenant: string; id: string; tool: string; quick: [string, Json][] | undefined }) {
  const submit = useSubmit(tenant, id);
  const [text, setText] = useState("");
  const read = (): Json => {
    try {
      return parse(text);
    } catch {
      return text;
    }
  };
  if (quick) {
    return (
      <>
        <p className="actions">
          {quick.map(([label, result], i) => (
            <button key={label} type="button" className={i === 0 ? "button primary" : "button"} disabled={submit.isPending} onClick={() => submit.mutate(result)}>
              {label}
            </button>
          ))}
        </p>
        {submit.error && <p className="error" role="alert">{why(submit.error)}</p>}
      </>
    );
  }
  return (
    <form onSubmit={(e) => {
      e.preventDefault();
      submit.mutate(read());
    }}>
      <label htmlFor={`result-${id}`}>Result of {tool} <span className="muted">(JSON, or words)</span></label>
      <textarea id={`result-${id}`} rows={2} required value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} />
      {submit.error && <p className="error" role="alert">{why(submit.error)}</p>}
      <p className="actions"><button type="submit" className="button primary" disabled={submit.isPending}>Send the result</button></p>
    </form>
  );
}
