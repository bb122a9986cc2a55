import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useId, useState } from "react";
import { address, ApiError, call } from "../../api/client";
import { at, may, me } from "../../api/queries";
import { assignments, profile, profiles, type Profile } from "../../api/tools";
import { Drawer, Pager, Rows } from "../../ui/list";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Facts, Text, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { Subject } from "../../ui/subject";
import { ProfileBadges } from "./access";
import { Ask, numeric, said, text } from "./ask";

// Profiles are named restrictions, which assignments of tools use.

export function Profiles() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const search = useSearch({ from: "/t/$tenant/profiles" });
  const navigate = useNavigate({ from: "/t/$tenant/profiles" });
  const found = useQuery(profiles(tenant, { cursor: search.cursor, limit: 50 }));
  const who = useQuery(me(tenant));
  const own = may(who.data, "profiles.write");
  const side = search.open ?? search.new;
  const close = () => void navigate({ search: (s) => ({ ...s, open: undefined, new: undefined }), resetScroll: false });
  return (
    <Page title="Profiles" about="Named restrictions. Assigned with a tool, they apply to its calls: of one agent, or of every caller."
      cli={words("toolcrib", "tool", "list", "--profiles")} api={address("/v1/profiles")}
      actions={own && <Link from="/t/$tenant/profiles" search={{ new: "1" }} className="button primary">New profile</Link>}>
      <div className={side ? "split open" : "split"}>
        <div className="split-list">
          {found.isPending ? (
            <Loading />
          ) : found.error ? (
            <Failed error={found.error} retry={() => void found.refetch()} what="The list of profiles" />
          ) : found.data.items.length === 0 ? (
            <Empty title="There are no profiles yet" command="toolcrib profile set careful --approval">
              {own ? "Make one, then assign a tool with it: on the tool's page, under Access." : <>Making one takes the permission <code>profiles.write</code>.</>}
            </Empty>
          ) : (
            <>
              <Rows label="Profiles" rows={found.data.items} keyOf={(p) => p.name} current={search.open}
                columns={[
                  {
                    name: "Profile",
                    show: (p) => (
                      <Link from="/t/$tenant/profiles" search={{ cursor: search.cursor, open: p.name }} className="row-link" replace={!!search.open} resetScroll={false}>
                        <span className="slug">{p.name}</span>
                        <span className="muted line">{p.description}</span>
                      </Link>
                    ),
                  },
                  { name: "Restricts", from: "medium", show: (p) => <ProfileBadges of={p} /> },
                  { name: "Assignments", end: true, show: (p) => String(p.assignments) },
                  { name: "Changed", from: "wide", end: true, show: (p) => <Time at={p.updated_at} /> },
                ]} />
              <Pager count={found.data.items.length} first={!search.cursor} next={found.data.next}
                onFirst={() => void navigate({ search: {} })} onNext={(cursor) => void navigate({ search: { cursor } })} />
            </>
          )}
        </div>
        {search.new && !search.open && (
          <Drawer title="New profile" onClose={close}>
            <Form tenant={tenant} onDone={(name) => void navigate({ search: { open: name } })} />
          </Drawer>
        )}
        {search.open && <Opened key={search.open} tenant={tenant} name={search.open} own={own} onClose={close} />}
      </div>
    </Page>
  );
}

function Opened({ tenant, name, own, onClose }: { tenant: string; name: string; own: boolean; onClose: () => void }) {
  const found = useQuery(profile(tenant, name));
  const used = useQuery(assignments(tenant, { profile: name, limit: 100 }));
  const [edits, setEdits] = useState(false);
  const [deletes, setDeletes] = useState(false);
  const client = useQueryClient();
  return (
    <Drawer title={name} onClose={onClose}>
      {found.isPending ? (
        <Loading rows={4} />
      ) : found.error ? (
        <Failed error={found.error} retry={() => void found.refetch()} what="The profile" />
      ) : edits ? (
        <Form key={String(found.data.revision)} tenant={tenant} of={found.data} onDone={() => setEdits(false)} onBack={() => setEdits(false)} />
      ) : (
        <>
          <ProfileBadges of={found.data} />
          {found.data.description && <Text>{found.data.description}</Text>}
          <Facts of={[
            ["Changed", <Time at={found.data.updated_at} />],
            ["By", <Subject of={found.data.changed_by} copy />],
            ["Revision", String(found.data.revision)],
          ]} />
          <h3>Assignments</h3>
          {used.data?.items.length === 0 && <p className="muted">No tool is assigned with it.</p>}
          <ul className="faults">
            {used.data?.items.map((a) => (
              <li key={a.id}>
                <Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: a.tool }} search={{ tab: "access" }}>{a.tool}</Link> of {a.agent ?? "every caller"}
              </li>
            ))}
          </ul>
          {own ? (
            <div className="actions">
              <button type="button" className="button" onClick={() => setEdits(true)}>Edit</button>
              <button type="button" className="button danger" onClick={() => setDeletes(true)}>Delete…</button>
            </div>
          ) : (
            <p className="muted">Changing it takes the permission <code>profiles.write</code>.</p>
          )}
        </>
      )}
      {deletes && (
        <Ask title={`Delete the profile ${name}?`} about="With its budgets. One that an assignment uses stays." danger button="Delete" done="Deleted."
          act={() => call(tenant, `/v1/profiles/${at(name)}`, { method: "DELETE" })} onClose={() => setDeletes(false)}
          onDone={() => {
            void client.invalidateQueries({ queryKey: [tenant, "profiles"] });
            onClose();
          }} />
      )}
    </Drawer>
  );
}

function Form({ tenant, of, onDone, onBack }: { tenant: string; of?: Profile; onDone: (name: string) => void; onBack?: () => void }) {
  const client = useQueryClient();
  const id = useId();
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const body = {
        description: text(form, "description"), denied: form.get("denied") === "on" || undefined,
        requires_approval: form.get("requires_approval") === "on" || undefined, permission_policy: form.get("always_ask") === "on" ? "always_ask" : undefined,
        egress_class: text(form, "egress_class"), required_permission: text(form, "required_permission"),
        rate: text(form, "calls") ? { calls: numeric(form, "calls"), per: text(form, "per"), burst: numeric(form, "burst") } : undefined,
        max_concurrency: numeric(form, "max_concurrency"),
      };
      return of
        ? call<Profile>(tenant, `/v1/profiles/${at(of.name)}`, { method: "PUT", body, headers: { "If-Match": `"${of.id}.${String(of.revision)}"` } })
        : call<Profile>(tenant, "/v1/profiles", { method: "POST", body: { name: text(form, "name"), ...body } });
    },
    onSuccess: (made) => {
      say(of ? "Saved." : `${made.name} was made.`);
      void client.invalidateQueries({ queryKey: [tenant, "profiles"] });
      void client.invalidateQueries({ queryKey: [tenant, "profile", made.name] });
      onDone(made.name);
    },
  });
  const changed = save.error instanceof ApiError && save.error.kind === "precondition_failed";
  const check = (name: string, label: string, value: boolean | undefined) => (
    <label className="check"><input type="checkbox" name={name} defaultChecked={value ?? false} /> {label}</label>
  );
  return (
    <form className="profile-form" onSubmit={(e) => {
      e.preventDefault();
      save.mutate(new FormData(e.currentTarget));
    }}>
      {!of && (
        <div className="edit">
          <label htmlFor={id + "n"}>Name</label>
          <input id={id + "n"} name="name" className="mono" required pattern="[a-z0-9_\-]{1,63}" title="Small letters, digits, - and _" autoFocus autoComplete="off" />
        </div>
      )}
      <div className="edit"><label htmlFor={id + "d"}>Description</label><input id={id + "d"} name="description" maxLength={1000} defaultValue={of?.description ?? ""} /></div>
      {check("denied", "Refuse every call", of?.denied)}
      {check("requires_approval", "Ask a person at every call", of?.requires_approval)}
      {check("always_ask", "Always ask, whatever the tool's policy says", of?.permission_policy === "always_ask")}
      <div className="edit">
        <label htmlFor={id + "e"}>Treat calls as if they</label>
        <select id={id + "e"} name="egress_class" defaultValue={of?.egress_class ?? ""}>
          <option value="">do what the tool does</option>
          <option value="read_only">read outside, at least</option>
          <option value="write">write outside</option>
        </select>
      </div>
      <div className="edit"><label htmlFor={id + "p"}>Permission that callers need too</label><input id={id + "p"} name="required_permission" className="mono" defaultValue={of?.required_permission ?? ""} /></div>
      <fieldset className="edit">
        <legend>Calls that may begin</legend>
        <div className="tool-inline">
          <input name="calls" type="number" min={1} aria-label="Number of calls" placeholder="no limit" defaultValue={of?.rate ? String(of.rate.calls) : ""} />
          <select name="per" aria-label="In what time" defaultValue={of?.rate?.per ?? "minute"}>{["second", "minute", "hour", "day"].map((p) => <option key={p} value={p}>a {p}</option>)}</select>
          <input name="burst" type="number" min={0} aria-label="Number at once, after a rest" placeholder="at once" defaultValue={of?.rate?.burst ? String(of.rate.burst) : ""} />
        </div>
      </fieldset>
      <div className="edit"><label htmlFor={id + "c"}>Calls at once</label><input id={id + "c"} name="max_concurrency" type="number" min={0} max={1000} placeholder="no limit" defaultValue={of?.max_concurrency ? String(of.max_concurrency) : ""} /></div>
      {save.error && <p className="error" role="alert">{changed ? "It was changed meanwhile: close it, and open it again." : said(save.error)}</p>}
      <div className="actions">
        <button type="submit" className="button primary" disabled={save.isPending}>{of ? "Save" : "Make it"}</button>
        {onBack && <button type="button" className="button" onClick={onBack}>Back</button>}
      </div>
    </form>
  );
}
