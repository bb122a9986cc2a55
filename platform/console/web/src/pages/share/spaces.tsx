import { Dialog } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { address } from "../../api/client";
import { may, me } from "../../api/queries";
import { post, spaces, why, type Space } from "../../api/share";
import { Buckets } from "../../ui/filters";
import { Pager, Rows } from "../../ui/list";
import { Page } from "../../ui/page";
import { Badge, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";

export function Spaces() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/spaces" });
  const navigate = useNavigate({ from: "/t/$tenant/spaces" });
  const who = useQuery(me(tenant));
  const archived = search.archived === "true";
  const found = useQuery(spaces(tenant, { archived: archived || undefined, cursor: search.cursor, limit: 50 }));
  const makes = may(who.data, "spaces.write");
  const open = (make: boolean) => void navigate({ search: (s) => ({ ...s, new: make ? "1" : undefined }), replace: !make });
  return (
    <Page title="Spaces" about="Where people and agents talk, and where agents show what they do."
      cli={words("toolcrib", "space", "list", archived ? "--archived" : "")} api={address("/v1/spaces", { archived: archived || undefined })}
      actions={makes ? <button type="button" className="button primary" onClick={() => open(true)}>New space</button>
        : who.data && <span className="muted">Making one takes <code>spaces.write</code>.</span>}>
      <div className="filters">
        <Buckets label="Which" value={archived ? "true" : ""} options={[["", "Open"], ["true", "Archived too"]]}
          onChange={(v) => void navigate({ search: { archived: v || undefined }, replace: true })} />
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The list of spaces" />
      ) : found.data.items.length === 0 ? (
        <Empty title="No space is here" command="toolcrib space create launch --member agent:supportDesk">
          {makes ? "Make one, and add the agents that are to listen." : "You are in none. A person with spaces.write adds you."}
        </Empty>
      ) : (
        <>
          <Rows label="Spaces" rows={found.data.items} keyOf={(s) => s.id}
            columns={[
              {
                name: "Space",
                show: (s) => (
                  <Link to="/t/$tenant/spaces/$space" params={{ tenant, space: s.slug }} className="row-link">
                    <strong>{s.name}</strong>
                    <span className="muted line">{s.description}</span>
                  </Link>
                ),
              },
              { name: "Slug", from: "medium", show: (s) => <code>{s.slug}</code> },
              { name: "State", show: (s) => (s.archived_at ? <Badge>archived</Badge> : <Badge tone="good">open</Badge>) },
              { name: "Made", end: true, show: (s) => <Time at={s.created_at} /> },
            ]} />
          <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
            onFirst={() => void navigate({ search: (s) => ({ ...s, cursor: undefined }) })}
            onNext={(cursor) => void navigate({ search: (s) => ({ ...s, cursor }) })} />
        </>
      )}
      {search.new && makes && <NewSpace tenant={tenant} onClose={() => open(false)} />}
    </Page>
  );
}

// slugOf is a slug that fits a name.
const slugOf = (name: string): string =>
  name.normalize("NFD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^[^A-Za-z]+|-+$/g, "").slice(0, 64).toLowerCase();

function NewSpace({ tenant, onClose }: { tenant: string; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [slug, setSlug] = useState<string>();
  const [members, setMembers] = useState("");
  const [description, setDescription] = useState("");
  const made = useMutation({
    mutationFn: () =>
      post<Space>(tenant, "/v1/spaces", {
        slug: slug ?? slugOf(name), name, ...(description && { description }),
        ...(members.trim() && { members: members.trim().split(/[\s,]+/) }),
      }),
    onSuccess: (s) => {
      void client.invalidateQueries({ queryKey: [tenant, "spaces"] });
      void navigate({ to: "/t/$tenant/spaces/$space", params: { tenant, space: s.slug } });
    },
  });
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>New space</Dialog.Title>
          <form className="stack" onSubmit={(e) => {
            e.preventDefault();
            made.mutate();
          }}>
            <label>
              Name
              <input required maxLength={200} value={name} onChange={(e) => setName(e.target.value)} />
            </label>
            <label>
              Slug <span className="muted">(never changes)</span>
              <input required maxLength={64} pattern="[A-Za-z][A-Za-z0-9_\-]*" value={slug ?? slugOf(name)} onChange={(e) => setSlug(e.target.value)} spellCheck={false} />
            </label>
            <label>
              Description <span className="muted">(optional: agents read it)</span>
              <textarea rows={2} maxLength={2000} value={description} onChange={(e) => setDescription(e.target.value)} />
            </label>
            <label>
              Members <span className="muted">(optional: agent:slug or person:subject, with spaces between)</span>
              <input value={members} onChange={(e) => setMembers(e.target.value)} spellCheck={false} placeholder="agent:supportDesk" />
            </label>
            {made.error && <p className="error" role="alert">{why(made.error)}</p>}
            <div className="actions">
              <Dialog.Close className="button" type="button">Back</Dialog.Close>
              <button type="submit" className="button primary" disabled={made.isPending}>Make the space</button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
