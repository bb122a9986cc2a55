import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ApiError, call } from "../../api/client";
import { parse, print, type Json } from "../../api/json";
import { at, json, may, me, type Tool } from "../../api/queries";
import { override, overrideVersions, type Override, type ToolOverrides } from "../../api/tools";
import { say } from "../../ui/live";
import { Badge, Facts, Text, Time } from "../../ui/parts";
import { Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Ask, said } from "./ask";

// Overrides: what the tenant decided about a tool, its own or the platform's, without a version.

export function Overrides({ tenant, of }: { tenant: string; of: Tool }) {
  const found = useQuery(override(tenant, of.slug));
  const who = useQuery(me(tenant));
  if (found.isPending || who.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The overrides" />;
  const o = found.data;
  return (
    <div className="tool-stack">
      <section className="tool-stack">
        <h2>What applies</h2>
        <p className={o.enabled ? "notice good" : "notice bad"}>
          {o.enabled ? "It is switched on" : "It is switched off"} in this tenant{of.effective?.why ? `: ${of.effective.why}` : ""}.
        </p>
        <Facts of={[
          ["Approval", o.requires_approval ? "each call" : "as its policy says"],
          ["Timeout", o.limits?.timeout_s !== undefined && `${o.limits.timeout_s} s`],
          ["Attempts", o.limits?.max_attempts],
          ["Shown whole", o.limits?.inline_bytes !== undefined && `${o.limits.inline_bytes} bytes`],
        ]} />
        <Text>{o.description}</Text>
        {o.platform && (
          <p className="muted">The platform decided, for every tenant{o.platform.reason && <>: {o.platform.reason}</>}. What the tenant decides comes before that.</p>
        )}
      </section>
      {may(who.data, "tools.write") ? (
        <Edit key={String(o.tenant?.revision ?? 0)} tenant={tenant} of={o} />
      ) : (
        <p className="muted">Deciding takes the permission <code>tools.write</code>.</p>
      )}
      <History tenant={tenant} slug={of.slug} />
    </div>
  );
}

function Edit({ tenant, of: o }: { tenant: string; of: ToolOverrides }) {
  const t: Partial<Override> = o.tenant ?? {};
  const client = useQueryClient();
  const id = useId();
  const [removing, setRemoving] = useState(false);
  const [bad, setBad] = useState<string>();
  const refresh = () => {
    void client.invalidateQueries({ queryKey: [tenant, "tool", o.tool] });
    void client.invalidateQueries({ queryKey: [tenant, "tools"] });
  };
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const text = (name: string) => String(form.get(name) ?? "").trim();
      const number = (name: string) => (text(name) ? parse(text(name)) : undefined);
      const limits = { timeout_s: number("timeout_s"), max_attempts: number("max_attempts"), inline_bytes: number("inline_bytes") };
      const on = text("enabled");
      const defaults = text("defaults");
      return call<ToolOverrides>(tenant, `/v1/tools/${at(o.tool)}/override`, {
        method: "PUT",
        headers: { "If-Match": `"${o.tool_id}.override.${String(o.tenant?.revision ?? 0)}"` },
        body: {
          enabled: on ? on === "on" : undefined, requires_approval: form.get("requires_approval") === "on",
          description: text("description") || undefined, reason: text("reason") || undefined,
          defaults: defaults ? parse(defaults) : undefined,
          limits: Object.values(limits).some((l) => l !== undefined) ? limits : undefined,
        },
      });
    },
    onSuccess: () => {
      say("Decided.");
      refresh();
    },
  });
  const faults = save.error instanceof ApiError ? save.error.faults : [];
  const fault = (pointer: string) => faults.find((f) => f.path?.startsWith(pointer))?.detail ?? (pointer === "/defaults" ? bad : undefined);
  const changed = save.error instanceof ApiError && save.error.kind === "precondition_failed";
  return (
    <form className="tool-panel override" aria-label="What the tenant decides" onSubmit={(e) => {
      e.preventDefault();
      const form = new FormData(e.currentTarget);
      setBad(undefined);
      try {
        const d = String(form.get("defaults") ?? "").trim();
        if (d) parse(d);
      } catch {
        return setBad("This is not JSON.");
      }
      save.mutate(form);
    }}>
      <h2>What the tenant decides</h2>
      <div className="fields">
        <div className="edit">
          <label htmlFor={id + "e"}>Switch</label>
          <select id={id + "e"} name="enabled" defaultValue={t.enabled === undefined ? "" : t.enabled ? "on" : "off"}>
            <option value="">left to the platform</option>
            <option value="on">on</option>
            <option value="off">off</option>
          </select>
        </div>
        <div className="edit">
          <label className="check"><input type="checkbox" name="requires_approval" defaultChecked={t.requires_approval ?? false} /> Ask a person at every call</label>
          <p className="muted edit-about">It only adds to what the tool requires.</p>
        </div>
        <Wide id={id + "d"} label="Description" help="What models are shown instead, in runs that begin from now on." fault={fault("/description")}>
          <textarea id={id + "d"} name="description" rows={3} maxLength={4000} defaultValue={t.description ?? ""} />
        </Wide>
        <Wide id={id + "j"} label="Defaults of arguments, as JSON" help="For what a call leaves out. Models see them: no secrets." fault={fault("/defaults")}>
          <textarea id={id + "j"} name="defaults" rows={3} className="mono" spellCheck={false} aria-invalid={!!fault("/defaults")}
            defaultValue={t.defaults ? print(json(t.defaults) as Json, 2) : ""} />
        </Wide>
        {([["timeout_s", "Timeout, in seconds"], ["max_attempts", "Attempts"], ["inline_bytes", "Shown whole, in bytes"]] as const).map(([name, label]) => (
          <div key={name} className="edit">
            <label htmlFor={id + name}>{label}</label>
            <input id={id + name} name={name} inputMode="decimal" pattern="\d+(\.\d+)?" defaultValue={t.limits?.[name]?.toString() ?? ""} />
            {fault("/limits/" + name) && <p className="error">{fault("/limits/" + name)}</p>}
          </div>
        ))}
        <Wide id={id + "r"} label="Reason" help="Explanations show it.">
          <input id={id + "r"} name="reason" maxLength={1000} defaultValue={t.reason ?? ""} />
        </Wide>
      </div>
      {save.error && (
        <p className="error" role="alert">
          {changed ? <>It was decided otherwise meanwhile. <button type="button" className="tool-link" onClick={refresh}>Show that</button></> : said(save.error)}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="button primary" disabled={save.isPending}>Decide</button>
        {o.tenant && <button type="button" className="button danger" onClick={() => setRemoving(true)}>Take it back…</button>}
      </div>
      {removing && (
        <Ask title={`Take back what the tenant decided about ${o.tool}?`} about="The platform's decision applies then, if there is one." button="Take it back" danger
          done="It was taken back." act={() => call(tenant, `/v1/tools/${at(o.tool)}/override`, { method: "DELETE" })}
          onClose={() => setRemoving(false)} onDone={refresh} />
      )}
    </form>
  );
}

function Wide({ id, label, help, fault, children }: { id: string; label: string; help?: string; fault?: string | undefined; children: React.ReactNode }) {
  return (
    <div className="edit wide">
      <label htmlFor={id}>{label}</label>
      {children}
      {fault && <p className="error">{fault}</p>}
      {help && <p className="muted edit-about">{help}</p>}
    </div>
  );
}

function History({ tenant, slug }: { tenant: string; slug: string }) {
  const found = useQuery(overrideVersions(tenant, slug));
  if (found.isPending) return null;
  if (found.error) return <Failed error={found.error} what="The history" />;
  if (found.data.items.length === 0) return <p className="muted">The tenant has decided nothing about it yet.</p>;
  return (
    <section className="tool-stack">
      <h2>What was decided</h2>
      <ul className="tool-cards" aria-label="Decisions, newest first">
        {found.data.items.map((v) => (
          <li key={String(v.revision)} className="tool-card">
            <p>
              <strong>Revision {String(v.revision)}</strong> <Time at={v.changed_at} /> by <Subject of={v.changed_by} copy />{" "}
              {v.removed ? <Badge>taken back</Badge> : (
                <>
                  {v.enabled !== undefined && <Badge tone={v.enabled ? "good" : "bad"}>{v.enabled ? "on" : "off"}</Badge>}{" "}
                  {v.requires_approval && <Badge tone="warn">asks</Badge>} {v.description && <Badge>description</Badge>}{" "}
                  {v.defaults && <Badge>defaults</Badge>} {v.limits && <Badge>limits</Badge>}
                </>
              )}
            </p>
            {v.reason && <p>{v.reason}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
