import { useEffect, useId, useMemo, useRef, useState } from "react";
import type { Json } from "../api/json";
import { bootstrapFieldRegistry } from "./bootstrap";
import { pruned } from "./conditions";
import { Fields, Rest } from "./groups";
import { JsonInput } from "./json";
import { equal, initial, nameOf, split, type Field, type FormSpec } from "./spec";
import { FormContext, Store, type Mode, type Problems } from "./store";

bootstrapFieldRegistry();

// FormView is a form of a spec. value is read where it is another one than the form last reported; onChange gets
// each value, and what was entered that is no value at all, by its place. mode embed leaves out what is for
// operators. errors are those of the server, by JSON Pointer.
export function FormView({ spec, value, onChange, errors, mode = "internal", tenant, label = "Input" }: {
  spec: FormSpec;
  value?: Json | undefined;
  onChange: (value: Json | undefined, faults: Problems) => void;
  errors?: Problems | undefined;
  mode?: Mode | undefined;
  tenant?: string | undefined;
  label?: string;
}) {
  const id = useId();
  // The store also has what is not shown, which is not reported.
  const [store] = useState(() => new Store(value ?? initial(spec.fields)));
  const sent = useRef((v: Json | undefined) => v);
  sent.current = (v) => pruned(spec.fields, v, spec.keywords);
  const reported = useRef<Json | undefined>(undefined);
  store.onChange = (v, faults) => onChange((reported.current = sent.current(v)), faults);
  useEffect(() => {
    if (value !== undefined && value === reported.current) return;
    if (value !== undefined && reported.current !== undefined && !equal(value, reported.current)) store.replace(value);
    reported.current = sent.current(store.value);
    if (value === undefined || !equal(reported.current, value)) onChange(reported.current, {});
  }, [value, store]);
  useEffect(() => store.setErrors(errors ?? {}), [errors, store]);
  const context = useMemo(() => ({ store, mode, tenant: tenant ?? "", id }), [store, mode, tenant, id]);
  return (
    <FormContext value={context}>
      <div className="f-form" role="group" aria-label={label}>
        <Summary spec={spec} errors={errors} />
        {spec.schema !== undefined ? (
          <JsonInput field={{ key: "", label: "Arguments", type: "object", display: "json", schema: spec.schema }} path="" />
        ) : (
          <>
            <Fields fields={spec.fields} path="" keywords={ruling(spec.keywords) ? spec.keywords : undefined} />
            <Rest fields={spec.fields} path="" open={!!spec.open} />
          </>
        )}
      </div>
    </FormContext>
  );
}

// ruling reports whether keywords decide about fields by what is filled in; each field watches the whole value then.
const ruling = (of: FormSpec["keywords"]): boolean => of !== undefined && ["if", "allOf", "dependentRequired"].some((n) => n in of);

// start is the value that a form begins with.
export const start = (spec: FormSpec): Json => pruned(spec.fields, initial(spec.fields), spec.keywords)!;

// InputForm is a form that is sent.
export function InputForm({ spec, onSubmit, isLoading, defaultValues, mode = "internal", tenant, errors, action = "Send" }: {
  spec: FormSpec;
  onSubmit: (value: Json) => void;
  isLoading?: boolean;
  defaultValues?: Json;
  mode?: Mode;
  tenant?: string;
  errors?: Problems;
  action?: string;
}) {
  const [value, setValue] = useState<Json | undefined>(defaultValues);
  const [faulty, setFaulty] = useState(false);
  return (
    <form className="f-sent" noValidate onSubmit={(e) => {
      e.preventDefault();
      if (!faulty && !isLoading) onSubmit(value ?? start(spec));
    }}>
      <FormView spec={spec} value={value} errors={errors} mode={mode} tenant={tenant} onChange={(v, faults) => {
        setValue(v);
        setFaulty(Object.keys(faults).length > 0);
      }} />
      <p><button type="submit" className="button primary" disabled={isLoading || faulty}>{action}</button></p>
    </form>
  );
}

// Summary lists what is wrong, with links to the fields. It gets the focus when it appears.
function Summary({ spec, errors }: { spec: FormSpec; errors?: Problems | undefined }) {
  const at = useRef<HTMLDivElement>(null);
  const list = Object.entries(errors ?? {});
  useEffect(() => {
    if (list.length) at.current?.focus();
  }, [errors]);
  if (list.length === 0) return null;
  return (
    <div className="f-summary" role="alert" tabIndex={-1} ref={at}>
      <p><strong>{list.length === 1 ? "One value was refused" : `${list.length} values were refused`}</strong></p>
      <ul>
        {list.map(([path, text]) => (
          <li key={path}>
            {path === "" ? text : (
              <a href={`#${path}`} onClick={(e) => {
                e.preventDefault();
                reveal(at.current?.closest(".f-form"), path);
              }}>
                {title(spec.fields, split(path))}: {text}
              </a>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

// title names the field at a path.
function title(fields: Field[], path: string[]): string {
  const names: string[] = [];
  let of: Field[] | undefined = fields;
  let item: Field | undefined;
  for (const p of path) {
    const f: Field | undefined = of ? of.find((x) => x.key === p) : item;
    names.push(of ? (f ? nameOf(f) : p) : /^\d+$/.test(p) ? String(Number(p) + 1) : p);
    of = f?.type === "object" && f.fields ? f.fields : undefined;
    item = f?.items;
    if (!of && !item) break;
  }
  return names.join(" › ");
}

// reveal focuses the input at a path, or the nearest that has it.
function reveal(form: Element | null | undefined, path: string): void {
  for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = [...(form?.querySelectorAll<HTMLElement>("[id]") ?? [])].find((e) => e.id.endsWith(at) && e.id.length > at.length);
    if (!found) continue;
    const folded = found.closest("details");
    if (folded) folded.open = true;
    found.focus();
    found.scrollIntoView({ block: "center" });
    return;
  }
}

// FieldDefinitionForm is a form of a list of fields.
export function FieldDefinitionForm({ fields, ...rest }: { fields: Field[] } & Omit<Parameters<typeof FormView>[0], "spec">) {
  const spec = useMemo(() => ({ fields }), [fields]);
  return <FormView spec={spec} {...rest} />;
}

