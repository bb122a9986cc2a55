import { useState } from "react";
import { call } from "../../api/client";
import type { Credential } from "../../api/connect";
import { at } from "../../api/queries";
import { done, Field, FormDialog, fromLocal, toLocal } from "../govern/parts";

const lines = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

// CredentialForm stores a credential, or replaces one. begins is what the fields of a new one hold at first.
export function CredentialForm({ tenant, of, begins, onClose, onDone }: {
  tenant: string;
  of?: { body: Credential; etag: string };
  begins?: { ref: string; hosts: string };
  onClose: () => void;
  onDone: (c: Credential) => void;
}) {
  const c = of?.body;
  const [f, setF] = useState({ ref: begins?.ref ?? "", value: "", hosts: c?.hosts.join("\n") ?? begins?.hosts ?? "", expires: toLocal(c?.expires_at), category: "", provider: "", variant: "" });
  const put = (change: Partial<typeof f>) => setF((v) => ({ ...v, ...change }));
  const send = () => {
    const hosts = lines(f.hosts);
    if (!of) {
      return call<Credential>(tenant, "/v1/credentials", {
        method: "POST", body: {
          ref: f.ref, value: f.value, hosts, expires_at: fromLocal(f.expires),
          ...(f.provider && { category: f.category || "custom", provider_key: f.provider, ...(f.variant && { provider_variant: f.variant }) }),
        },
      });
    }
    return call<Credential>(tenant, `/v1/credentials/${at(of.body.ref)}`, {
      method: "PUT", headers: { "If-Match": of.etag }, body: {
        hosts, ...(f.value && { value: f.value }),
        ...(f.expires !== toLocal(of.body.expires_at) && (f.expires ? { expires_at: fromLocal(f.expires) } : { no_expiry: true })),
      },
    });
  };
  return (
    <FormDialog title={c ? `Replace ${c.ref}` : "New credential"} action={c ? "Save" : "Store"} onClose={onClose} onDone={() => {}}
      about={c ? "Calls that run keep the old value; new ones send the new one." : "The value cannot be read again, here or anywhere else."}
      onSend={() => send().then(done("Saved.")).then(onDone)}>
      {!c && (
        <Field label="Ref" path="ref" hint="Tools name it so">
          {(p) => <input {...p} value={f.ref} required maxLength={128} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" autoFocus spellCheck={false} placeholder="orders-api" onChange={(e) => put({ ref: e.target.value })} />}
        </Field>
      )}
      <Field label="Value" path="value" hint={c ? "Empty keeps the old one; new hosts take it again" : "The secret itself, or a JSON object of its parts"}>
        {(p) => <input {...p} type="password" autoComplete="off" value={f.value} required={!c} maxLength={65536} onChange={(e) => put({ value: e.target.value })} />}
      </Field>
      <Field label="Hosts" path="hosts" hint="Where it may be sent, one a line: api.example.com, host:port or *.example.com">
        {(p) => <textarea {...p} rows={3} value={f.hosts} spellCheck={false} onChange={(e) => put({ hosts: e.target.value })} />}
      </Field>
      <Field label="Expires" path="expires_at" hint="Empty: never">{(p) => <input {...p} type="datetime-local" value={f.expires} onChange={(e) => put({ expires: e.target.value })} />}</Field>
      {!c && (
        <details className="more">
          <summary>Found by its purpose</summary>
          <div className="pair">
            <Field label="Category" path="category">{(p) => <input {...p} value={f.category} maxLength={64} placeholder="custom" onChange={(e) => put({ category: e.target.value })} />}</Field>
            <Field label="Provider" path="provider_key">{(p) => <input {...p} value={f.provider} maxLength={64} placeholder="serper" onChange={(e) => put({ provider: e.target.value })} />}</Field>
            <Field label="Variant" path="provider_variant">{(p) => <input {...p} value={f.variant} maxLength={64} placeholder="eu" onChange={(e) => put({ variant: e.target.value })} />}</Field>
          </div>
        </details>
      )}
    </FormDialog>
  );
}
