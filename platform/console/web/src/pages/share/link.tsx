import { useQuery } from "@tanstack/react-query";
import { one, at } from "../../api/queries";
import type { Tenant } from "../../api/share";
import { say } from "../../ui/live";
import { Copy } from "../../ui/parts";
import { Command } from "../../ui/states";
import { Field, FormDialog } from "../govern/parts";
import { useState } from "react";

// What sessions and published views share: their links.

// LinkOnce shows a link that the server has shown this once. It is in the memory of the page alone.
export function LinkOnce({ url, about, onClose }: { url: string; about: string; onClose: () => void }) {
  return (
    <div className="notice good link-once" role="region" aria-label="The link">
      <p><strong>This link is shown once.</strong> {about}</p>
      <p className="secret">
        <code tabIndex={0}>{url}</code>
        <Copy text={url} label="Copy the link" />
      </p>
      <p className="actions">
        <a href={url} target="_blank" rel="noopener noreferrer nofollow" className="button">Open the page</a>
        <button type="button" className="button" onClick={() => {
          say("The link is not shown any more.");
          onClose();
        }}>I have copied it</button>
      </p>
    </div>
  );
}

const spans = [["3600", "an hour"], ["86400", "a day"], ["604800", "a week"], ["2592000", "30 days"], ["7776000", "90 days"]] as const;

// AskLink asks how long a link is to be good, then makes it.
export function AskLink({ title, about, action, make, onClose }: {
  title: string;
  about: string;
  action: string;
  make: (seconds: number) => Promise<unknown>;
  onClose: () => void;
}) {
  const [span, setSpan] = useState("604800");
  return (
    <FormDialog title={title} about={about} action={action} onSend={() => make(Number(span))} onClose={onClose}>
      <Span value={span} onChange={setSpan} />
    </FormDialog>
  );
}

export function Span({ value, onChange }: { value: string; onChange: (v: string) => void }) {
  return (
    <Field label="The link is good for" path="expires_in_seconds">
      {(p) => (
        <select {...p} value={value} onChange={(e) => onChange(e.target.value)}>
          {spans.map(([v, name]) => <option key={v} value={v}>{name}</option>)}
        </select>
      )}
    </Field>
  );
}

// Switch is shown where the tenant's switch for publishing is off.
export function Switch({ tenant }: { tenant: string }) {
  const found = useQuery({ ...one<Tenant>(tenant, ["tenant"], `/v1/tenants/${at(tenant)}`), retry: false });
  if (!found.data || found.data.mcp_apps_publish_enabled) return null;
  return (
    <div className="notice">
      <p>Publishing is off: links are neither made nor opened anew until the tenant's switch is on.</p>
      <Command text="toolcrib tenant publish on" />
    </div>
  );
}
