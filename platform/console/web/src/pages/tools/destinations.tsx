import { useRef, useState } from "react";
import type { Json } from "../../api/json";
import type { Field, FormSpec } from "../../form/spec";
import { edited, get, type Draft, type Fields } from "./draft";
import { useEditing } from "./editing";
import { PartField } from "./partfield";
import { destination, destinationFrom, destinationsAt, destinationsOf, shown } from "./types";

// The destinations of an http tool: callers name one, and have no say in its address and credential.

const valid = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const object = (v: Json | undefined): Fields => (v && typeof v === "object" && !Array.isArray(v) ? (v as Fields) : {});

// listed keeps the options of the argument equal to the destinations. Those that it had keep their labels.
function listed(d: Draft, names: string[]): Draft {
  const from = get(d.fields, destinationFrom.at);
  const key = typeof from === "string" ? /^\/([^/~]+)$/.exec(from)?.[1] : undefined;
  if (!key) return d;
  const form = get(d.fields, "/input_fields") as unknown as FormSpec | undefined;
  if (form) {
    const now = form.fields.find((f) => f.key === key);
    const options = names.map((value) => now?.options?.find((o) => o.value === value) ?? { value });
    const field = { ...(now ?? { key, label: "Destination", type: "enum", required: true }), options } as Field;
    const fields = now ? form.fields.map((f) => (f === now ? field : f)) : [...form.fields, field];
    return edited(d, "/input_fields", { ...form, fields } as unknown as Json);
  }
  const at = `/input_schema/properties/${key}`;
  const now = object(get(d.fields, at));
  const before = Array.isArray(now.enum) ? now.enum : [];
  const hint = object(now["x-toolcrib-field"]);
  const labels = Array.isArray(hint.labels) ? hint.labels : undefined;
  const property = {
    ...(Object.keys(now).length > 0 ? now : { type: "string", title: "Destination" }), enum: names,
    ...(labels && { "x-toolcrib-field": { ...hint, labels: names.map((n) => labels[before.indexOf(n)] ?? "") } }),
  };
  const required = get(d.fields, "/input_schema/required");
  const all = Array.isArray(required) ? required : [];
  const out = edited(edited(d, "/input_schema/type", "object"), at, property);
  return Object.keys(now).length > 0 ? out : edited(out, "/input_schema/required", [...all, key]);
}

// added is a draft with one destination more. The first takes the address, the authentication and the body of the tool.
function added(d: Draft, name: string): Draft {
  const first = Object.keys(destinationsOf(d.fields)).length === 0;
  let out = d;
  const one: Fields = { url: "" };
  if (first) {
    out = edited(out, destinationFrom.at, "/destination");
    for (const member of ["url", "auth", "body"]) {
      const v = get(d.fields, "/implementation_config/" + member);
      if (v === undefined) continue;
      one[member] = v;
      out = edited(out, "/implementation_config/" + member, undefined);
    }
  }
  out = edited(out, `${destinationsAt}/of/${name}`, one);
  return listed(out, Object.keys(destinationsOf(out.fields)));
}

function removed(d: Draft, name: string): Draft {
  const left = Object.keys(destinationsOf(d.fields)).filter((n) => n !== name);
  if (left.length === 0) return edited(d, destinationsAt, undefined);
  return listed(edited(d, `${destinationsAt}/of/${name}`, undefined), left);
}

export function Destinations() {
  const { draft, onChange, faultsAt } = useEditing();
  const names = Object.keys(destinationsOf(draft.fields));
  const [open, setOpen] = useState(false);
  const [fault, setFault] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const add = () => {
    const name = field.current!.value.trim();
    if (!valid.test(name)) return setFault("A name begins with a letter or digit, and has letters, digits, dots, _ and - only.");
    if (names.includes(name)) return setFault("There is a destination of this name.");
    setFault(undefined);
    setOpen(false);
    onChange(added(draft, name));
  };
  return (
    <fieldset className="edit wide destinations">
      <legend>Destinations</legend>
      <p className="muted">
        {names.length === 0 ? "Calls go to one address. With destinations, an argument names one of several, each with an address and a credential of its own." :
          "A call names one. It chooses no address and no credential but those written here."}
      </p>
      {names.length > 0 && <div className="fields"><PartField part={destinationFrom} /></div>}
      {names.map((name) => (
        <fieldset key={name} className="destination">
          <legend><code>{name}</code></legend>
          <div className="fields">{shown(destination(draft.fields, name), draft.fields).map((p) => <PartField key={p.at} part={p} />)}</div>
          <p><button type="button" className="button" onClick={() => onChange(removed(draft, name))}>Remove {name}</button></p>
        </fieldset>
      ))}
      {open ? (
        <div className="tool-pair" onKeyDown={(e) => {
          if (e.key !== "Enter") return;
          e.preventDefault();
          add();
        }}>
          <input ref={field} className="mono" aria-label="Name of the destination" placeholder="blog" autoFocus spellCheck={false} aria-invalid={!!fault} />
          <button type="button" className="button" onClick={add}>Add it</button>
        </div>
      ) : (
        <p><button type="button" className="button" onClick={() => setOpen(true)}>Add a destination</button></p>
      )}
      {[...(fault ? [fault] : []), ...faultsAt(destinationsAt)].map((f) => <p key={f} className="error" role="alert">{f}</p>)}
    </fieldset>
  );
}
