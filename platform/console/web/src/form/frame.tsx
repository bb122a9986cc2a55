import type { ReactNode } from "react";
import { limits, nameOf, type Field } from "./spec";
import { useAt, useForm, useProblem } from "./store";
import type { Json } from "../api/json";

// What every field has: its name, what is said about it, and what is wrong with it.

export interface InputProps {
  field: Field;
  path: string;
  required?: boolean; // Also where the field itself is not, but what is beside it asks for it.
  bare?: boolean; // In a table, whose head has the name.
}

export interface Part {
  id: string;
  value: Json | undefined;
  set: (value: Json | undefined) => void;
  problem: string | undefined;
  described: { "aria-describedby"?: string; "aria-invalid"?: true; "aria-required"?: true; "aria-label"?: string };
}

// usePart is what an input needs to know. parts says that it shows the problems of what is inside it too.
export function usePart({ field, path, required, bare }: InputProps, parts = true): Part {
  const { id: form } = useForm();
  const [value, set] = useAt(path);
  const problem = useProblem(path, parts);
  const id = form + path;
  const notes = [field.description || field.help || limits(field) ? `${id}:about` : "", problem ? `${id}:problem` : ""].filter(Boolean).join(" ");
  return {
    id, value, set, problem,
    described: {
      ...(notes && !bare && { "aria-describedby": notes }),
      ...(bare && { "aria-label": nameOf(field), ...(problem && { "aria-describedby": `${id}:problem` }) }),
      ...(problem && { "aria-invalid": true as const }),
      ...(required && { "aria-required": true as const }),
    },
  };
}

// Frame is around one input. set is for several, which have a legend rather than a label.
export function Frame({ of, part, set, end, children }: { of: InputProps; part: Part; set?: boolean; end?: ReactNode; children: ReactNode }) {
  const { field: f, required, bare } = of;
  const problem = part.problem && (
    <p className="f-problem" id={`${part.id}:problem`}>
      {part.problem}
    </p>
  );
  if (bare) {
    return (
      <div className={`f bare f-${f.type}`}>
        {children}
        {problem}
      </div>
    );
  }
  const name = (
    <>
      <span className="f-label">{nameOf(f)}</span>
      {required && <span className="f-mark">required</span>}
      {f.annotations?.deprecated === true && <span className="badge warn">deprecated</span>}
    </>
  );
  const about = limits(f);
  const said = [f.description, f.help].filter(Boolean).join(" ");
  const body = (
    <>
      {(f.description || f.help || about) && (
        <p className="f-about" id={`${part.id}:about`}>
          {said}
          {said && about && " · "}
          {about && <span className="f-limits">{about}</span>}
        </p>
      )}
      {part.value === null && f.nullable ? <p className="none">null</p> : children}
      {problem}
    </>
  );
  const tools = (
    <>
      {f.nullable && (
        <label className="f-null">
          <input type="checkbox" checked={part.value === null} onChange={(e) => part.set(e.target.checked ? null : undefined)} />
          null
        </label>
      )}
      {end}
    </>
  );
  if (set) {
    return (
      <fieldset className={`f f-${f.type}`} id={part.id} tabIndex={-1} aria-describedby={part.described["aria-describedby"]}>
        <legend>{name}</legend>
        {(f.nullable || end) && <div className="f-tools">{tools}</div>}
        {body}
      </fieldset>
    );
  }
  return (
    <div className={`f f-${f.type}`}>
      <div className="f-head">
        <label htmlFor={part.id}>{name}</label>
        {tools}
      </div>
      {body}
    </div>
  );
}
