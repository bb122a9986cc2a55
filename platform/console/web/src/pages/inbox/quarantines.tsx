import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address, ApiError } from "../../api/client";
import { drift, post, useStopped, type ApprovedMCP, type Drift } from "../../api/inbox";
import { json, may, me } from "../../api/queries";
import { Drawer, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Badge, Facts, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { Ask } from "./ask";
import { Detach } from "./detach";
import { LineDiff, pretty } from "./diff";
import { Inbox } from "./frame";

export function Quarantines() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/inbox/quarantines" });
  const navigate = useNavigate({ from: "/t/$tenant/inbox/quarantines" });
  const found = useStopped(tenant, true);
  const [server = "", ...rest] = (search.open ?? "").split("/");
  const close = () => void navigate({ search: {}, resetScroll: false });
  return (
    <Inbox about="Tools of MCP servers that are stopped: the server offers another definition than the one that was approved, or offers the tool no more."
      cli={server ? words("toolcrib", "mcp", "diff", server) : words("toolcrib", "mcp", "list")} api={address("/v1/mcp/servers")}>
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          {found.pending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={found.refetch} what="The list of quarantines" />
          ) : found.items.length === 0 ? (
            <Empty title="No tool is in quarantine">
              A refresh of an MCP server stops the tools whose definitions changed. They are listed here until a person has compared and approved them.
            </Empty>
          ) : (
            <Rows label="Quarantines" rows={found.items} keyOf={(q) => `${q.server.slug}/${q.tool.name}`} current={search.open}
              columns={[
                {
                  name: "Tool",
                  show: (q) => (
                    <Link from="/t/$tenant/inbox/quarantines" search={{ open: `${q.server.slug}/${q.tool.name}` }} className="row-link" replace={!!search.open} resetScroll={false}>
                      <span className="slug">{q.server.slug} / {q.tool.name}</span>
                      <span className="muted line">{q.tool.reason || q.tool.quarantine}</span>
                    </Link>
                  ),
                },
                { name: "State", show: (q) => <Status value={q.tool.state} /> },
                { name: "Served as", from: "medium", show: (q) => (q.tool.tool ? <span className="slug">{q.tool.tool}</span> : <span className="none">–</span>) },
                { name: "Since", end: true, show: (q) => <Time at={q.tool.changed_at} /> },
              ]} />
          )}
        </div>
        {search.open && <Compared key={search.open} tenant={tenant} server={server} name={rest.join("/")} onClose={close} />}
      </div>
    </Inbox>
  );
}

// Compared is a tool as it was approved, and as the server has it now.
export function Compared({ tenant, server, name, onClose }: { tenant: string; server: string; name: string; onClose: () => void }) {
  const found = useQuery(drift(tenant, server, name));
  const who = useQuery(me(tenant)).data;
  const [asks, setAsks] = useState<"approve" | "detach">();
  const client = useQueryClient();
  const d = found.data?.items[0];
  const writes = may(who, "tools.write");
  return (
    <Drawer title={`${server} / ${name}`} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error || !d ? (
        <Failed error={found.error ?? new ApiError("not_found", 404, "")} retry={() => void found.refetch()} what="The tool" />
      ) : (
        <>
          <p className="badges"><Status value={d.state} />{d.tool_status && <Badge>{d.tool_status}</Badge>}</p>
          {(d.reason || d.quarantine) && <Text>{d.quarantine || d.reason || ""}</Text>}
          {!writes ? (
            <p className="notice">Approving it takes the permission <code>tools.write</code>.</p>
          ) : (
            <p className="actions">
              {d.state === "changed" && d.offered && <button type="button" className="button primary" onClick={() => setAsks("approve")}>Approve the new definition…</button>}
              <button type="button" className="button danger" onClick={() => setAsks("detach")}>Detach the server…</button>
            </p>
          )}
          {d.warnings?.map((w) => <p key={w} className="notice">{w}</p>)}
          <Differences of={d} />
          <Facts of={[
            ["Served as", d.tool && <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: d.tool }}>{d.tool}</Link>],
            ["Approved by", d.approved_by && <Subject of={d.approved_by} copy />],
            ["Approved", d.approved_at && <Time at={d.approved_at} />],
            ["Changed", <Time at={d.changed_at} />],
            ["Seen", <Time at={d.seen_at} />],
            ["Server", <Link to="/t/$tenant/mcp-servers/$server" params={{ tenant, server }}>{server}</Link>],
          ]} />
          {asks === "approve" && d.offered && (
            <Ask title={`Approve the new definition of ${name}?`} action="Approve" onClose={() => setAsks(undefined)}
              about="The draft gets the server's definition, except what was changed by hand. A published tool works again once that draft is published."
              run={async (given) => {
                const done = await post<ApprovedMCP>(tenant, `/v1/mcp/servers/${encodeURIComponent(server)}/approve`, {
                  tools: [{ name, digest: d.offered!.digest }], publish: given.get("publish") === "on",
                });
                const wrong = done.items[0]?.error;
                if (wrong) throw new ApiError(wrong.code, wrong.status, wrong.detail ?? wrong.title);
                return done;
              }}
              onDone={(done) => {
                const item = done.items[0];
                say(item?.published ? `Approved, and published as ${item.version}.` : "Approved: the draft has it.");
                void client.invalidateQueries({ queryKey: [tenant, "mcp-servers"] });
                void client.invalidateQueries({ queryKey: [tenant, "tools"] });
                onClose();
              }}>
              {d.diff?.least_version && <p>It takes the version {d.diff.least_version} or a later one: the change is {d.diff.bump}.</p>}
              <label className="check"><input type="checkbox" name="publish" defaultChecked /> Publish it too, so that the tool works again</label>
            </Ask>
          )}
          {asks === "detach" && <Detach tenant={tenant} slug={server} onClose={() => setAsks(undefined)} onDone={onClose} />}
        </>
      )}
    </Drawer>
  );
}

const bumps: Record<string, string> = {
  major: "calls that worked before may fail", minor: "more is possible, and what worked works", patch: "what it says changed, not what it takes", none: "no difference for callers",
};

const hints: Record<string, string> = {
  read_only: "it only reads", destructive: "it may destroy", idempotent: "repeating it changes nothing more", open_world: "it reaches outside",
};

function Differences({ of: d }: { of: Drift }) {
  const [before, after] = [d.pinned, d.offered];
  const was = (before?.annotations ?? {}) as Record<string, unknown>;
  const is = (after?.annotations ?? {}) as Record<string, unknown>;
  const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((h) => String(was[h]) !== String(is[h]));
  return (
    <>
      {!after && <p className="notice bad">The server does not offer it any more. Detach the server, or wait until it is back.</p>}
      {!before && after && <p className="notice">It was not approved before.</p>}
      {d.diff && d.diff.changes.length > 0 && (
        <>
          <h3>What it means</h3>
          <ul className="meanings">
            {d.diff.changes.map((c) => (
              <li key={c.path + c.reason}>
                <Badge tone={c.bump === "major" ? "bad" : c.bump === "minor" ? "warn" : ""}>{c.bump}</Badge> <code>{c.path}</code> {c.reason}
                <span className="muted"> – {bumps[c.bump]}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {changed.length > 0 && (
        <ul className="meanings">
          {changed.map((h) => (
            <li key={h}>
              <Badge tone="warn">hint</Badge> <code>{h}</code> {hints[h] && `(${hints[h]})`} was {was[h] === undefined ? "not given" : String(was[h])}, is{" "}
              {is[h] === undefined ? "not given" : String(is[h])}
            </li>
          ))}
        </ul>
      )}
      {before && after && (
        <>
          <h3>Description</h3>
          <p className="muted">The server wrote it. Read it as what a stranger says.</p>
          <LineDiff label="Description" before={before.description ?? ""} after={after.description ?? ""} />
          <h3>Input schema</h3>
          <LineDiff label="Input schema" before={pretty(json(before.input_schema))} after={pretty(json(after.input_schema))} />
          {(before.output_schema !== undefined || after.output_schema !== undefined) && (
            <>
              <h3>Output schema</h3>
              <LineDiff label="Output schema" before={pretty(json(before.output_schema))} after={pretty(json(after.output_schema))} />
            </>
          )}
        </>
      )}
    </>
  );
}
