import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useBlocker, useNavigate, useParams } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";
import { address, ApiError, call } from "../../api/client";
import { print, type Json } from "../../api/json";
import { at, may, me, tool, type List, type Tool } from "../../api/queries";
import type { SavedTool } from "../../api/tools";
import { lazyPart } from "../../load";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Back, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { draftOf, type Draft, type Fields } from "./draft";
import { ToolEditor, useTypeName } from "./editor";

const TestOfDraft = lazyPart(() => import("../../form/test").then((m) => ({ default: m.TestOfDraft })));

// The draft of a tool is edited whole, and saved if no other change came between.

export function EditTool() {
  const { tenant, tool: slug } = useParams({ from: "/t/$tenant/tools/$tool/edit" });
  const who = useQuery(me(tenant));
  const typeName = useTypeName(tenant);
  const opened = useQuery({ ...tool(tenant, slug), refetchOnWindowFocus: false });
  // What is edited is what was read first: later states are another's, and saving meets them.
  const [base, setBase] = useState<Tool>();
  useEffect(() => {
    if (!base && opened.data && !opened.isFetching) setBase(opened.data);
  }, [base, opened.data, opened.isFetching]);
  return (
    <Page title={`Edit ${slug}`} back={<Back to="/t/$tenant/tools/$tool" params={{ tenant, tool: slug }}>{slug}</Back>}
      about={base && <>The draft, of type <strong>{typeName(base.implementation_type)}</strong>. Published versions stay as they are.</>}
      cli={words("toolcrib", "tool", "export", slug)} api={address(`/v1/tools/${at(slug)}`)}>
      {opened.error ? (
        <Failed error={opened.error} retry={() => void opened.refetch()} what="The tool" />
      ) : !base || who.isPending ? (
        <Loading />
      ) : base.scope === "global" ? (
        <Empty title="The tool belongs to the platform">It is not edited here. What it does in this tenant is set under Overrides, on its page.</Empty>
      ) : !may(who.data, "tools.write") ? (
        <Empty title="Your key does not permit it">Editing tools takes the permission <code>tools.write</code>.</Empty>
      ) : (
        <Edit key={base.id + base.revision} tenant={tenant} base={base} onBase={setBase} />
      )}
    </Page>
  );
}

function Edit({ tenant, base, onBase }: { tenant: string; base: Tool; onBase: (t: Tool) => void }) {
  const began = useRef(draftOf(base));
  const [draft, setDraft] = useState<Draft>(began.current);
  const [theirs, setTheirs] = useState<Tool>();
  const [deleting, setDeleting] = useState(false);
  const saved = useRef(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const done = async () => {
    saved.current = true;
    void client.invalidateQueries({ queryKey: [tenant, "tools"] });
    await client.invalidateQueries({ queryKey: [tenant, "tool", base.slug] });
  };
  const save = useMutation({
    mutationFn: (revision: number) =>
      call<SavedTool>(tenant, `/v1/tools/${at(base.slug)}`, { method: "PUT", body: { ...draft.fields, revision } }),
    onSuccess: async (made) => {
      await done();
      say(made.warnings?.length ? `Saved, with ${made.warnings.length} warnings.` : "Saved.");
      await navigate({ to: "/t/$tenant/tools/$tool", params: { tenant, tool: base.slug } });
    },
    onError: async (e) => {
      if (!(e instanceof ApiError) || !["conflict", "precondition_failed"].includes(e.kind)) return;
      const now = await call<Tool>(tenant, `/v1/tools/${at(base.slug)}`).catch(() => undefined);
      if (now && String(now.revision) !== String(base.revision)) setTheirs(now);
    },
  });
  const dirty = () => !saved.current && draft !== began.current;
  useBlocker({ shouldBlockFn: () => dirty() && !window.confirm("Leave, without what you changed?"), enableBeforeUnload: dirty });
  return (
    <>
      <ToolEditor tenant={tenant} draft={draft} onChange={setDraft} creating={false} fixed={["/slug"]}
        fault={theirs ? null : save.error} busy={save.isPending} save="Save the draft" onSave={() => save.mutate(base.revision)}
        about={theirs && (
          <Conflict tenant={tenant} base={base} mine={draft.fields} theirs={theirs}
            onTake={() => {
              saved.current = true;
              onBase(theirs);
            }}
            onKeep={() => save.mutate(theirs.revision)} />
        )}>
        <button type="button" className="button danger" onClick={() => setDeleting(true)}>Delete the tool…</button>
      </ToolEditor>
      <section className="editor-test" aria-labelledby="editor-test">
        <h2 id="editor-test">Test</h2>
        <p className="muted">
          The draft as it is saved is called, with what you fill in.
          {draft !== began.current && " Save first to test what you changed."}
        </p>
        <Suspense fallback={<Loading />}>
          <TestOfDraft tenant={tenant} slug={base.slug} />
        </Suspense>
      </section>
      {deleting && <Delete tenant={tenant} of={base} onClose={() => setDeleting(false)} onDone={async () => {
        await done();
        await navigate({ to: "/t/$tenant/tools", params: { tenant } });
      }} />}
    </>
  );
}

interface Audited {
  actor: { subject: string };
}

// Conflict shows what another made of the draft meanwhile, beside what is written here.
function Conflict({ tenant, base, mine, theirs, onTake, onKeep }: {
  tenant: string;
  base: Tool;
  mine: Fields;
  theirs: Tool;
  onTake: () => void;
  onKeep: () => void;
}) {
  const h2 = useRef<HTMLHeadingElement>(null);
  const who = useQuery({
    queryKey: [tenant, "tool", base.slug, "changed", theirs.revision],
    queryFn: () => call<List<Audited>>(tenant, "/v1/audit", { query: { object: base.id, outcome: "done", limit: 1 } }),
    retry: false,
  });
  useEffect(() => h2.current?.focus(), []);
  const [was, now] = [draftOf(base).fields, draftOf(theirs).fields];
  const names = [...new Set([...Object.keys(was), ...Object.keys(now), ...Object.keys(mine)])].sort();
  const same = (a: Json | undefined, b: Json | undefined) => (a === undefined ? b === undefined : b !== undefined && print(a) === print(b));
  const changed = names.filter((n) => !same(was[n], now[n]) || !same(was[n], mine[n]));
  const last = who.data?.items[0];
  return (
    <section className="notice bad conflict" role="alert" aria-labelledby="conflict">
      <h2 id="conflict" ref={h2} tabIndex={-1}>The draft was changed meanwhile</h2>
      <p>
        {last ? <>By <Subject of={last.actor.subject} copy /> </> : "By another person or program, "}<Time at={theirs.updated_at} />. Nothing of yours is saved, and nothing is lost yet.
      </p>
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Both drafts">
        <table className="both">
          <thead><tr><th scope="col">Field</th><th scope="col">Theirs</th><th scope="col">Yours</th></tr></thead>
          <tbody>
            {changed.map((n) => (
              <tr key={n}>
                <th scope="row"><code>{n}</code></th>
                <Cell value={now[n]} changed={!same(was[n], now[n])} />
                <Cell value={mine[n]} changed={!same(was[n], mine[n])} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="actions">
        <button type="button" className="button" onClick={onTake}>Take theirs, and drop mine</button>
        <button type="button" className="button danger" onClick={onKeep}>Save mine over theirs</button>
      </div>
    </section>
  );
}

function Cell({ value, changed }: { value: Json | undefined; changed: boolean }) {
  return (
    <td>
      {changed ? <span className="badge warn">changed</span> : <span className="muted">as it was</span>}
      <pre>{value === undefined ? "–" : typeof value === "string" ? value : print(value, 2)}</pre>
    </td>
  );
}

function Delete({ tenant, of, onClose, onDone }: { tenant: string; of: Tool; onClose: () => void; onDone: () => void }) {
  const remove = useMutation({
    mutationFn: () => call(tenant, `/v1/tools/${at(of.slug)}`, { method: "DELETE" }),
    onSuccess: () => {
      say(`${of.slug} was deleted.`);
      onDone();
    },
  });
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>Delete {of.slug}?</AlertDialog.Title>
          <AlertDialog.Description>
            For good: its slug becomes free. Versions, and the record of its calls, stay. A published tool is disabled first.
          </AlertDialog.Description>
          {remove.error && <p className="error" role="alert">{remove.error instanceof ApiError ? remove.error.detail : "It could not be deleted."}</p>}
          <div className="actions">
            <AlertDialog.Close className="button">Back</AlertDialog.Close>
            <button type="button" className="button danger" disabled={remove.isPending} onClick={() => remove.mutate()}>Delete it</button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
