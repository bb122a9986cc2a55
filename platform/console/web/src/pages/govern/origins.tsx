import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/client";
import { at } from "../../api/queries";
import { embedOrigins, type EmbedOrigin } from "../../api/toolsets";
import { Time } from "../../ui/parts";
import { Command, Failed, Loading } from "../../ui/states";
import { Confirm, done, Field, FormDialog, once, Subject } from "./parts";

// Origins are the sites whose pages may frame the tenant's tools.
export function Origins({ tenant, write }: { tenant: string; write: boolean }) {
  const found = useQuery(embedOrigins(tenant));
  const client = useQueryClient();
  const [adds, setAdds] = useState(false);
  const [removes, setRemoves] = useState<EmbedOrigin>();
  const changed = () => client.invalidateQueries({ queryKey: [tenant, "embed-origins"] });
  return (
    <section className="panel" aria-labelledby="s-origins">
      <h2 id="s-origins">Sites that may frame tools</h2>
      <p className="muted">
        A page of your own site can show a tool in a frame, and your backend names the person before it. Browsers show the frame within pages of these origins alone.{" "}
        <Link to="/t/$tenant/audit" params={{ tenant }} search={{ action: "embed_origin" }}>Changes are in the audit log</Link>.
      </p>
      {found.isPending ? <Loading rows={1} /> : found.error ? <Failed error={found.error} what="The list of origins" retry={() => void found.refetch()} /> : found.data.items.length === 0 ? (
        <p><strong>None</strong> <span className="muted">– tools are shown in no frame</span></p>
      ) : (
        <ul className="origins">
          {found.data.items.map((o) => (
            <li key={o.id}>
              <code>{o.origin}</code>
              <span className="muted">since <Time at={o.created_at} />{o.created_by && <>, by <Subject of={o.created_by} /></>}</span>
              {write && <button type="button" className="button" aria-label={`Remove ${o.origin}…`} onClick={() => setRemoves(o)}>Remove…</button>}
            </li>
          ))}
        </ul>
      )}
      {write && <p className="actions"><button type="button" className="button" disabled={(found.data?.items.length ?? 0) >= 20} onClick={() => setAdds(true)}>Allow a site…</button></p>}
      <details className="hints inner"><summary>The same from a terminal</summary><Command text="toolcrib embed allow https://shop.example.com" /></details>
      {adds && <Allow tenant={tenant} onClose={() => setAdds(false)} onDone={() => {
        setAdds(false);
        void changed();
      }} />}
      {removes && (
        <Confirm title={`Remove ${removes.origin}?`} action="Remove it" onClose={() => setRemoves(undefined)}
          onSend={() => call(tenant, `/v1/embed-origins/${at(removes.id)}`, { method: "DELETE" }).then(done("Removed.")).then(changed)}>
          <p>Its pages show no tool any more, and tokens for it open nothing. Calls that have begun go on.</p>
        </Confirm>
      )}
    </section>
  );
}

function Allow({ tenant, onClose, onDone }: { tenant: string; onClose: () => void; onDone: () => void }) {
  const [origin, setOrigin] = useState("");
  return (
    <FormDialog title="Allow a site" about="People who use the site then use the tool as your backend names them, without an account here." action="Allow it" onClose={onClose} onDone={onDone}
      onSend={() => call(tenant, "/v1/embed-origins", { method: "POST", headers: once(), body: { origin: origin.trim() } }).then(done("Allowed."))}>
      <Field label="Origin" path="origin" hint="Scheme, host and port as browsers write them, such as https://shop.example.com. No wildcards">
        {(p) => <input {...p} className="mono" required maxLength={255} value={origin} autoFocus autoComplete="off" spellCheck={false} onChange={(e) => setOrigin(e.target.value)} />}
      </Field>
    </FormDialog>
  );
}
