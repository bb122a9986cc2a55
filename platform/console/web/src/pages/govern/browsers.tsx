import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { endSession, sessionsOf, type BrowserSession } from "../../api/account";
import { Badge, Time } from "../../ui/parts";
import { Failed } from "../../ui/states";
import { Confirm, done } from "./parts";

// Browsers are those that are signed in with a key or as a person, for those who may end their sessions.
export function Browsers({ tenant, subject, mayEnd }: { tenant: string; subject: string; mayEnd: boolean }) {
  const found = useQuery(sessionsOf(tenant, subject));
  const client = useQueryClient();
  const [ends, setEnds] = useState<BrowserSession>();
  if (found.isPending) return null;
  return (
    <>
      <h3>Browsers that are signed in</h3>
      {found.error ? <Failed error={found.error} what="The list of browsers" /> : found.data.items.length === 0 ? <p className="muted">None.</p> : (
        <ul className="signed-in">
          {found.data.items.map((s) => (
            <li key={s.id}>
              {s.browser || "An unknown browser"} {s.current && <Badge>this one</Badge>} <span className="muted">since <Time at={s.created_at} />, last seen <Time at={s.last_used_at} /></span>{" "}
              {mayEnd && !s.current && <button type="button" className="link" onClick={() => setEnds(s)}>End…</button>}
            </li>
          ))}
          {found.data.next && <li className="muted">And older ones.</li>}
        </ul>
      )}
      {ends && (
        <Confirm title={`End the session of ${ends.browser || "this browser"}?`} action="End" onClose={() => setEnds(undefined)}
          onSend={() => endSession(tenant, ends.id).then(done("The session ended.")).then(() => client.invalidateQueries({ queryKey: [tenant, "sessions"] }))}>
          <p>Its pages show nothing more of this tenant. It may sign in again with the same key or person.</p>
        </Confirm>
      )}
    </>
  );
}
