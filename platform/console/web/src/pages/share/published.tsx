import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api/client";
import { at, calls } from "../../api/queries";
import { post, view, views, type PublishedView, type View } from "../../api/share";
import { Drawer, Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Badge, Facts, Id, Status, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Allowed, Confirm, done, Field, FormDialog, once, Subject, useMay } from "../govern/parts";
import { AskLink, LinkOnce, Span, Switch } from "./link";

const from = "/t/$tenant/published";

export function Published() {
  const { tenant } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate({ from });
  const may = useMay(tenant);
  const found = useQuery(views(tenant, { cursor: search.cursor, limit: 50 }));
  const [link, setLink] = useState<PublishedView>();
  const asks = !!search.new || !!search.run;
  return (
    <Page title="Published" about="Results of calls, and descriptions of tools, that everyone with the link can see without a login."
      cli={words("toolcrib", "view", "list")} api={address("/v1/views")}
      actions={(
        <Allowed may={may} permission="views.write">
          <button type="button" className="button primary" onClick={() => void navigate({ search: (s) => ({ ...s, new: "1" }) })}>Publish…</button>
        </Allowed>
      )}>
      <Switch tenant={tenant} />
      {link && <LinkOnce url={link.url} about="Everyone who has it sees the page until it expires or is revoked." onClose={() => setLink(undefined)} />}
      <div className={search.open ? "split open" : "split"}>
        <div className="split-list">
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of published views" />
          ) : found.data.items.length === 0 ? (
            <Empty title="Nothing is published" command={words("toolcrib", "view", "publish", "--run", "RUN")}>
              Open a call that has ended, and publish its result from there.
            </Empty>
          ) : (
            <>
              <Rows label="Published views" rows={found.data.items} keyOf={(v) => v.id} current={search.open}
                columns={[
                  {
                    name: "Title",
                    show: (v) => (
                      <Link from={from} search={(s) => ({ ...s, open: v.id })} className="row-link" replace={!!search.open} resetScroll={false}>
                        <strong>{v.title}</strong>
                        <span className="muted line">{v.tool}@{v.version}</span>
                      </Link>
                    ),
                  },
                  { name: "Shows", from: "medium", show: (v) => <Badge>{v.kind === "result" ? "a result" : "a tool"}</Badge> },
                  { name: "Link", show: (v) => <Status value={v.status} /> },
                  { name: "Until", from: "medium", end: true, show: (v) => <Time at={v.expires_at} /> },
                  { name: "Published", from: "wide", end: true, show: (v) => <Time at={v.created_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
                onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
            </>
          )}
        </div>
        {search.open && (
          <One key={search.open} tenant={tenant} id={search.open} may={may} onLink={setLink}
            onClose={() => void navigate({ search: (s) => ({ ...s, open: undefined }), resetScroll: false })} />
        )}
      </div>
      {asks && may("views.write") && (
        <Publish tenant={tenant} run={search.run} onLink={setLink}
          onClose={() => void navigate({ search: (s) => ({ ...s, new: undefined, run: undefined }), replace: true })} />
      )}
    </Page>
  );
}

function useAgain(tenant: string) {
  const client = useQueryClient();
  return (id?: string) => {
    void client.invalidateQueries({ queryKey: [tenant, "views"] });
    if (id) void client.invalidateQueries({ queryKey: [tenant, "view", id] });
  };
}

function One({ tenant, id, may, onLink, onClose }: {
  tenant: string;
  id: string;
  may: (p: string) => boolean;
  onLink: (v: PublishedView) => void;
  onClose: () => void;
}) {
  const found = useQuery(view(tenant, id));
  const again = useAgain(tenant);
  const [asks, setAsks] = useState<"rotate" | "revoke">();
  const v = found.data;
  return (
    <Drawer title={v?.title ?? "Published view"} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={5} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The view" />
      ) : (
        <>
          <p className="badges"><Status value={found.data.status} /> <Badge>{found.data.kind === "result" ? "a result" : "a tool"}</Badge></p>
          {found.data.description && <Text>{found.data.description}</Text>}
          {found.data.status === "suspended" && <p className="notice">The link opens nothing while the tool may not be called.</p>}
          <p className="actions">
            <Allowed may={may} permission="views.write">
              {found.data.status !== "revoked" && <button type="button" className="button" onClick={() => setAsks("rotate")}>Another link…</button>}
              {(found.data.status === "live" || found.data.status === "suspended") && (
                <button type="button" className="button danger" onClick={() => setAsks("revoke")}>Revoke…</button>
              )}
            </Allowed>
          </p>
          <Facts of={[
            ["Tool", <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: found.data.tool }}>{found.data.tool}@{found.data.version}</Link>],
            ["Run", found.data.run_id && <Link to="/t/$tenant/runs/$run" params={{ tenant, run: found.data.run_id }}>the run of the call</Link>],
            ["Expires", <Time at={found.data.expires_at} />],
            ["Revoked", found.data.revoked_at && <Time at={found.data.revoked_at} />],
            ["Links before", String(found.data.rotations)],
            ["Published", <Time at={found.data.created_at} />],
            ["By", <Subject of={found.data.created_by} />],
            ["Changed by", found.data.changed_by && <Subject of={found.data.changed_by} />],
            ["Id", <Id value={found.data.id} />],
          ]} />
          <p className="muted">The link itself is not stored: it was shown once.</p>
          {asks === "rotate" && (
            <AskLink title="Give it another link?" action="Make the link" about="The link that it has opens nothing any more."
              make={(expires_in_seconds) => post<PublishedView>(tenant, `/v1/views/${at(id)}/rotate`, { expires_in_seconds })
                .then(done("It has another link.")).then((made) => (onLink(made), again(id)))}
              onClose={() => setAsks(undefined)} />
          )}
          {asks === "revoke" && (
            <Confirm title={`Revoke the link of ${found.data.title}?`} action="Revoke it" onClose={() => setAsks(undefined)}
              onSend={() => post<View>(tenant, `/v1/views/${at(id)}`, undefined, "DELETE").then(done("The link opens nothing any more.")).then(() => again(id))}>
              <p>It opens nothing from then on, for good.</p>
            </Confirm>
          )}
        </>
      )}
    </Drawer>
  );
}

// Publish publishes the result of a call, by its run, or what a tool is.
function Publish({ tenant, run, onLink, onClose }: { tenant: string; run: string | undefined; onLink: (v: PublishedView) => void; onClose: () => void }) {
  const again = useAgain(tenant);
  const [kind, setKind] = useState("result");
  const [of, setOf] = useState(run ?? "");
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [span, setSpan] = useState("604800");
  const [key] = useState(once);
  const known = useQuery({ ...calls(tenant, of), enabled: kind === "result" && !!run });
  const result = kind === "result";
  const tool = known.data?.items[0]?.tool;
  return (
    <FormDialog title="Publish" action="Publish" onClose={onClose} disabled={!of.trim()}
      about="Everyone who has the link can open the page without a login. It shows what is published here, and takes no input."
      onSend={() => post<PublishedView>(tenant, "/v1/views", {
        kind, ...(result ? { run_id: of.trim() } : { tool: of.trim() }), ...(title && { title }), ...(description && { description }), expires_in_seconds: Number(span),
      }, "POST", key).then(done("It is published.")).then((made) => {
        onLink(made);
        again();
      })}>
      {!run && (
        <Field label="What" path="kind">
          {(p) => (
            <select {...p} value={kind} onChange={(e) => setKind(e.target.value)}>
              <option value="result">The result of a call</option>
              <option value="tool">What a tool does and takes</option>
            </select>
          )}
        </Field>
      )}
      <Field label={result ? "Run of the call" : "Tool"} path={result ? "run_id" : "tool"} hint={tool && `A call of ${tool}`}>
        {(p) => <input {...p} required maxLength={64} readOnly={!!run} value={of} onChange={(e) => setOf(e.target.value)} spellCheck={false} className="mono" />}
      </Field>
      <Field label="Title (optional)" path="title">
        {(p) => <input {...p} maxLength={200} value={title} onChange={(e) => setTitle(e.target.value)} />}
      </Field>
      <Field label="Above the view (optional)" path="description">
        {(p) => <textarea {...p} rows={2} maxLength={2000} value={description} onChange={(e) => setDescription(e.target.value)} />}
      </Field>
      <Span value={span} onChange={setSpan} />
    </FormDialog>
  );
}
