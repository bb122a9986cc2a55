import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/client";
import { post, type Refresh, type Server, type ServerDefinition } from "../../api/inbox";
import { say } from "../../ui/live";
import { Badge } from "../../ui/parts";
import { Ask, Field, text } from "./ask";

// Attach attaches a server, or changes how one is reached, and shows what it offers.
export function Attach({ tenant, of, onClose, onDone }: { tenant: string; of?: Server; onClose: () => void; onDone: (slug: string) => void }) {
  const client = useQueryClient();
  const [transport, setTransport] = useState<string>(of?.transport ?? "streamable_http");
  const [auth, setAuth] = useState<string>(of?.auth?.type ?? "");
  const [offer, setOffer] = useState<Refresh>();
  const stdio = transport === "stdio";
  const stale = () => {
    void client.invalidateQueries({ queryKey: [tenant, "mcp-servers"] });
    void client.invalidateQueries({ queryKey: [tenant, "tools"] });
  };
  if (offer) {
    return (
      <Ask title={`${offer.server.slug} is attached`} action="Look at its tools" onClose={() => onDone(offer.server.slug)} run={async () => undefined}
        onDone={() => onDone(offer.server.slug)}>
        <Report of={offer} />
      </Ask>
    );
  }
  return (
    <Ask title={of ? `Change how ${of.slug} is reached` : "Attach an MCP server"} action={of ? "Save" : "Attach and ask what it offers"} onClose={onClose}
      about={of ? "A tool that is no longer allowed stops at once. A newly allowed one is imported by the next refresh." : "Its allowed tools become drafts that pin the server's definition."}
      run={async (given): Promise<Refresh | Server> => {
        const d: ServerDefinition = { transport: transport as NonNullable<ServerDefinition["transport"]> };
        if (!of && text(given, "slug")) d.slug = text(given, "slug");
        if (text(given, "name")) d.name = text(given, "name");
        if (stdio) d.command = text(given, "command");
        else d.server_url = text(given, "server_url");
        d.allowed_tools = text(given, "allowed_tools").split(/[\s,]+/).filter(Boolean);
        d.trust_hints = given.get("trust_hints") === "on";
        if (auth) {
          d.auth = { type: auth as "bearer", credentials_ref: text(given, "credentials_ref"), ...(auth === "header" && { header: text(given, "header") }) };
        }
        if (!of) return post<Refresh>(tenant, "/v1/mcp/servers", d);
        if (of.headers) d.headers = of.headers;
        d.status = given.get("active") === "on" ? "active" : "disabled";
        d.revision = of.revision;
        return call<Server>(tenant, `/v1/mcp/servers/${encodeURIComponent(of.slug)}`, { method: "PUT", body: d });
      }}
      onDone={(done) => {
        stale();
        if ("server" in done) {
          say(done.error ? "Attached, but it did not answer." : "Attached.");
          setOffer(done);
        } else {
          say("Saved.");
          onDone(done.slug);
        }
      }}>
      {(error) => (
        <>
          <div className="pair">
            {!of && (
              <Field name="slug" label="Slug" error={error} hint="Prefix of the slugs of its tools; it cannot change.">
                <input required pattern="[a-z][a-z0-9\-]{0,31}" maxLength={32} spellCheck={false} />
              </Field>
            )}
            <Field name="name" label="Name" optional error={error}><input maxLength={200} defaultValue={of?.name} /></Field>
          </div>
          <Field name="transport" label="Transport" error={error}>
            <select value={transport} onChange={(e) => setTransport(e.target.value)}>
              <option value="streamable_http">streamable HTTP</option>
              <option value="sse">SSE, as older servers have it</option>
              <option value="stdio">a command of the operator (stdio)</option>
            </select>
          </Field>
          {stdio ? (
            <Field name="command" label="Command" error={error} hint="The name of a command that the operator configured."><input required maxLength={64} defaultValue={of?.command} spellCheck={false} /></Field>
          ) : (
            <Field name="server_url" label="Address" error={error}><input type="url" required maxLength={2048} defaultValue={of?.server_url} placeholder="https://files.example.com/mcp" spellCheck={false} /></Field>
          )}
          {!stdio && (
            <div className="pair">
              <Field name="auth" label="Signs in with" error={error}>
                <select value={auth} onChange={(e) => setAuth(e.target.value)}>
                  <option value="">nothing</option>
                  <option value="bearer">a bearer token</option>
                  <option value="basic">name and password</option>
                  <option value="header">a header</option>
                </select>
              </Field>
              {auth && <Field name="credentials_ref" label="Credential" error={error} hint="Its name, never its value."><input required maxLength={64} defaultValue={of?.auth?.credentials_ref} spellCheck={false} /></Field>}
              {auth === "header" && <Field name="header" label="Header" error={error}><input required maxLength={128} defaultValue={of?.auth?.header} spellCheck={false} /></Field>}
            </div>
          )}
          <Field name="allowed_tools" label="Allowed tools" optional error={error} hint="By the server's names, with spaces between; * for all. None: it is attached, and you choose among what it offers.">
            <input className="code" defaultValue={of?.allowed_tools.join(" ")} spellCheck={false} />
          </Field>
          <label className="check"><input type="checkbox" name="trust_hints" defaultChecked={of?.trust_hints} /> Trust its hints: a tool that says it only reads needs no approval</label>
          {of && <label className="check"><input type="checkbox" name="active" defaultChecked={of.status === "active"} /> Active</label>}
        </>
      )}
    </Ask>
  );
}

const means: Record<string, string> = {
  new: "imported as a draft", offered: "offered, not allowed", changed: "changed: it is stopped", gone: "offered no more: it is stopped", back: "back as it was approved: it works again",
  refused: "cannot be imported", missing: "allowed, but not offered",
};

// Report is what a server offers, compared with before.
export function Report({ of: r }: { of: Refresh }) {
  return (
    <div className="report" role="status">
      {r.error && <p className="error">It did not answer: {r.error.detail ?? r.error.title}. Nothing is imported; refresh it once it does.</p>}
      {!r.error && r.tools.length === 0 && <p>{r.unchanged > 0 ? `All ${r.unchanged} imported tools are unchanged.` : "It offers no tool."}</p>}
      {r.tools.length > 0 && (
        <ul className="meanings">
          {r.tools.map((t) => (
            <li key={t.name}>
              <Badge tone={t.change === "changed" || t.change === "gone" || t.change === "refused" ? "bad" : t.change === "new" || t.change === "back" ? "good" : ""}>{t.change}</Badge>{" "}
              <code>{t.name}</code> <span className="muted">{t.reason || means[t.change]}</span>
            </li>
          ))}
        </ul>
      )}
      {r.tools.length > 0 && r.unchanged > 0 && <p className="muted">{r.unchanged} more are unchanged.</p>}
    </div>
  );
}
