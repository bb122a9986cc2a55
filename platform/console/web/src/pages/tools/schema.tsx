import { Suspense, useId, useState, type ReactNode } from "react";
import { ApiError } from "../../api/client";
import { print, type Json } from "../../api/json";
import { check } from "../../api/tools";
import type { Field, FormSpec } from "../../form/spec";
import { lazyPart } from "../../load";
import { Loading } from "../../ui/states";
import { get, set } from "./draft";
import { useEditing } from "./editing";

const FieldsEditor = lazyPart(() => import("../../form/editor").then((m) => ({ default: m.FieldsEditor })));

// SchemaField is a schema: as JSON Schema, or as the list of fields that it is made of. The draft has one of both;
// the server makes each of the other, as it does when a definition is saved.
export function SchemaField({ at, label, children }: { at: "/input_schema" | "/output_schema"; label: string; children: ReactNode }) {
  const { tenant, draft, onChange, change, faults } = useEditing();
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const name = at.slice(1);
  const fieldsName = name.replace("schema", "fields");
  const form = get(draft.fields, "/" + fieldsName) as unknown as FormSpec | undefined;
  const unread = form === undefined && draft.texts[at]?.trim() !== "" && draft.fields[name] === undefined;

  const turn = async (toFields: boolean) => {
    setFault(undefined);
    if (busy || toFields === (form !== undefined)) return;
    const from = toFields ? name : fieldsName;
    const put = (member: string, v: Json) => {
      const fields = set(set(draft.fields, "/" + from, undefined), "/" + member, v);
      onChange({ fields, texts: { ...draft.texts, [at]: toFields ? "" : print(v, 2) } });
    };
    if (draft.fields[from] === undefined) return put(fieldsName, { fields: [] });
    setBusy(true);
    try {
      const found = await check(tenant, {
        slug: "draft", implementation_type: draft.fields.implementation_type ?? "internal", [from]: draft.fields[from],
      }, new AbortController().signal);
      const wrong = found.error?.path?.startsWith("/" + from) ? found.error.detail : undefined;
      const other = (name === "input_schema" ? (toFields ? found.input : found.input_schema) : toFields ? found.output : found.output_schema) as Json | undefined;
      if (wrong || other === undefined) setFault(wrong ?? found.error?.detail ?? "It cannot be turned into the other.");
      else if (toFields && (other as unknown as FormSpec).schema !== undefined) setFault("The schema is not one of an object: it has no fields.");
      else put(toFields ? fieldsName : name, other);
    } catch (e) {
      setFault(e instanceof ApiError ? e.detail : "The server did not answer.");
    }
    setBusy(false);
  };

  const within = `/${fieldsName}/fields`;
  const errors = Object.fromEntries(faults.filter((f) => f.path?.startsWith(within)).map((f) => [f.path!.slice(within.length), f.detail]));
  const elsewhere = faults.filter((f) => f.path?.startsWith("/" + fieldsName) && !f.path.startsWith(within + "/"));
  return (
    <div className="schema-field">
      <div className="schema-as">
        {form !== undefined && <span id={id} className="schema-name">{label}</span>}
        <span className="buckets" role="group" aria-label={`${label} as`}>
          <button type="button" aria-pressed={form === undefined} disabled={busy} onClick={() => void turn(false)}>JSON Schema</button>
          <button type="button" aria-pressed={form !== undefined} disabled={busy || unread} onClick={() => void turn(true)}>Fields</button>
        </span>
      </div>
      {fault && <p className="error" role="alert">{fault}</p>}
      {form === undefined ? children : (
        <Suspense fallback={<Loading rows={3} />}>
          <FieldsEditor value={form.fields} errors={errors} label={label}
            onChange={(fields: Field[]) => change("/" + fieldsName, { ...form, fields } as unknown as Json)} />
          <label className="check">
            <input type="checkbox" checked={!!form.open} onChange={(e) => change("/" + fieldsName, { ...form, open: e.target.checked } as unknown as Json)} />
            Takes other members beside the fields
          </label>
          {form.kept && form.kept.length > 0 && (
            <p className="muted">Kept as it is, and edited as JSON Schema: {form.kept.map((k) => <code key={k.pointer}>{k.pointer} </code>)}</p>
          )}
          {elsewhere.map((f) => <p key={f.detail} className="error">{f.detail}</p>)}
        </Suspense>
      )}
    </div>
  );
}
