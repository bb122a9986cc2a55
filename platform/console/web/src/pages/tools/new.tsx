import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useBlocker, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { me, may } from "../../api/queries";
import { post, taxonomy, type SavedTool, type Term } from "../../api/tools";
import { say } from "../../ui/live";
import { Page } from "../../ui/page";
import { Back, Badge } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { newDraft, type Draft } from "./draft";
import { ToolEditor } from "./editor";
import { parts } from "./types";

// A tool begins with how it is implemented; then comes the form that this takes.

export function NewTool() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const { type } = useSearch({ from: "/t/$tenant/tools/new" });
  const who = useQuery(me(tenant));
  const terms = useQuery(taxonomy(tenant));
  const chosen = terms.data?.subtypes.find((t) => t.name === type);
  return (
    <Page title="New tool" back={<Back to="/t/$tenant/tools" params={{ tenant }}>Tools</Back>}
      about={chosen ? <><strong>{chosen.label}.</strong> {chosen.description}</> : "How is it implemented?"}
      cli="toolcrib tool apply -f TOOL.yaml" api="/v1/tools"
      actions={chosen && <Link from="/t/$tenant/tools/new" search={{}} className="button">Choose another type</Link>}>
      {terms.isPending || who.isPending ? (
        <Loading />
      ) : terms.error ? (
        <Failed error={terms.error} retry={() => void terms.refetch()} what="The list of types" />
      ) : !may(who.data, "tools.write") ? (
        <Empty title="Your key does not permit it">Creating tools takes the permission <code>tools.write</code>.</Empty>
      ) : chosen ? (
        <Create key={chosen.name} tenant={tenant} type={chosen.name} />
      ) : (
        <Types all={terms.data.subtypes} runs={terms.data.implementation_types} />
      )}
    </Page>
  );
}

function Types({ all, runs }: { all: Term[]; runs: string[] }) {
  return (
    <>
      <ul className="type-cards">
        {all.filter((t) => t.name in parts).map((t) => (
          <li key={t.name}>
            <Link from="/t/$tenant/tools/new" search={{ type: t.name }}>
              <strong>{t.label}</strong>
              <span className="muted">{t.description}</span>
              <span className="badges">
                <Badge>{t.name}</Badge>
                {!runs.includes(t.name) && <Badge tone="warn">this server does not run it</Badge>}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="muted">
        Several at once come from an <Link from="/t/$tenant/tools/new" to="/t/$tenant/tools/import">OpenAPI document</Link>.
      </p>
    </>
  );
}

function Create({ tenant, type }: { tenant: string; type: string }) {
  const [draft, setDraft] = useState<Draft>(() => newDraft(type));
  const began = useRef(draft);
  const saved = useRef(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => post<SavedTool>(tenant, "/v1/tools", draft.fields),
    onSuccess: async (made) => {
      saved.current = true;
      say(`${made.slug} was created, as a draft.`);
      void client.invalidateQueries({ queryKey: [tenant, "tools"] });
      await navigate({ to: "/t/$tenant/tools/$tool", params: { tenant, tool: made.slug } });
    },
  });
  const dirty = () => !saved.current && draft !== began.current;
  useBlocker({ shouldBlockFn: () => dirty() && !window.confirm("Leave, without what you wrote?"), enableBeforeUnload: dirty });
  return (
    <ToolEditor tenant={tenant} draft={draft} onChange={setDraft} creating fault={create.error} busy={create.isPending}
      save="Create the draft" onSave={() => create.mutate()} />
  );
}
