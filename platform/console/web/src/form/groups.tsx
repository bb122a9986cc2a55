import { memo, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Json } from "../api/json";
import { say } from "../ui/live";
import { AdditionalInputs } from "./additional";
import { isShown, rests, ruledOut } from "./conditions";
import { Frame, usePart, type InputProps } from "./frame";
import { JsonInput } from "./json";
import { inputOf } from "./registry";
import { equal, escape, initial, isEmpty, isObject, members, nameOf, neededBy, shown, type Field, type Members } from "./spec";
import { useForm } from "./store";

// What has parts: fields in sections, groups, values under free names, and lists.

export function Fields({ fields, path, keywords }: { fields: Field[]; path: string; keywords?: Members | undefined }) {
  const { mode } = useForm();
  const seen = fields.filter((f) => !f.hidden);
  const usual = seen.filter((f) => !f.advanced);
  const more = seen.filter((f) => f.advanced);
  const sections = [...new Set(usual.map((f) => f.section ?? ""))];
  const slots = (of: Field[]) => of.map((f) => <Slot key={f.key} field={f} among={fields} path={path} keywords={keywords} />);
  return (
    <>
      {sections.map((s) => {
        const of = slots(usual.filter((f) => (f.section ?? "") === s));
        return s === "" ? (
          <div className="f-fields" key="">{of}</div>
        ) : (
          <section className="f-section" key={s} aria-label={s}>
            <h3>{s}</h3>
            <div className="f-fields">{of}</div>
          </section>
        );
      })}
      {more.length > 0 && <AdditionalInputs mode={mode}>{slots(more)}</AdditionalInputs>}
    </>
  );
}

type Standing = "hidden" | "needed" | "free";

// Slot is a field in its place. Whether it is shown and required, it says itself, or what was filled in beside it:
// it watches that alone. A field that appears begins with its default.
const Slot = memo(function Slot({ field, among, path, keywords, bare }: {
  field: Field;
  among: Field[];
  path: string;
  keywords?: Members | undefined;
  bare?: boolean;
}) {
  const { store } = useForm();
  const at = path + escape(field.key);
  const watch = useCallback((fn: () => void) => {
    const on = keywords ? [path] : [...rests(among, field)].map((key) => path + escape(key));
    const offs = on.map((p) => store.watch(p, fn));
    return () => offs.forEach((off) => off());
  }, [store, among, field, path, keywords]);
  const standing = useSyncExternalStore(watch, (): Standing => {
    if (!keywords && !field.visible_when) return field.required ? "needed" : "free";
    const value = store.get(path);
    if (!isShown(among, field, value) || ruledOut(keywords, value).includes(field.key)) return "hidden";
    return field.required || neededBy(keywords, value).includes(field.key) ? "needed" : "free";
  });
  const was = useRef(standing);
  useEffect(() => {
    if (was.current === "hidden" && standing !== "hidden" && field.default !== undefined && store.get(at) === undefined) store.set(at, field.default);
    was.current = standing;
  }, [standing, field, store, at]);
  if (standing === "hidden") return null;
  return <Input field={field} path={at} required={standing === "needed"} {...(bare && { bare })} />;
});

// Input is the input of a field, by its type and display.
export const Input = memo(function Input(p: InputProps) {
  const Of = inputOf(p.field);
  return <Of {...p} />;
});

export function GroupInput(p: InputProps) {
  const { store } = useForm();
  const part = usePart(p, false);
  const { field, path, required } = p;
  useEffect(() => {
    if (required) return;
    store.optional.add(path);
    return () => void store.optional.delete(path);
  }, [store, path, required]);
  return (
    <Frame of={p} part={part} set>
      <Fields fields={field.fields ?? []} path={path} />
      <Rest fields={field.fields ?? []} path={path} open={!!field.open} />
    </Frame>
  );
}

// Rest are members that the fields do not know: kept, and edited as JSON.
export function Rest({ fields, path, open }: { fields: Field[]; path: string; open: boolean }) {
  const { store, mode } = useForm();
  const known = new Set(fields.map((f) => f.key));
  const last = useRef<Json | undefined>(undefined);
  const rest = useSyncExternalStore((fn) => store.watch(path, fn), () => {
    const v = store.get(path);
    const found = isObject(v) ? Object.entries(v).filter(([n]) => !known.has(n)) : [];
    if (found.length === 0) return (last.current = undefined);
    const now = Object.assign(members(), Object.fromEntries(found));
    return equal(now, last.current) ? last.current : (last.current = now);
  });
  const [added, setAdded] = useState(false);
  if (mode === "embed") return null;
  if (rest === undefined && !added) {
    return open ? (
      <button type="button" className="quiet f-add" onClick={() => setAdded(true)}>Add other members as JSON</button>
    ) : null;
  }
  return (
    <JsonInput field={{ key: "", label: "Other members", type: "object", display: "json" }} path={path} of={rest}
      write={(v) => {
        const now = store.get(path);
        const kept = isObject(now) ? Object.entries(now).filter(([n]) => known.has(n)) : [];
        const next = Object.assign(members(), Object.fromEntries(kept), isObject(v) ? v : {});
        store.set(path, isEmpty(next) && path !== "" ? undefined : next);
      }} check={(v) => (v === undefined || isObject(v) ? undefined : "expected an object")} />
  );
}

// keys are names of the items of a list, which stay when they move.
let made = 0;
function useKeys(length: number): { keys: string[]; move: (from: number, to: number) => void; remove: (i: number) => void } {
  const keys = useRef<string[]>([]);
  while (keys.current.length < length) keys.current.push(`i${++made}`);
  keys.current.length = length;
  return {
    keys: keys.current,
    move: (from, to) => void keys.current.splice(to, 0, ...keys.current.splice(from, 1)),
    remove: (i) => void keys.current.splice(i, 1),
  };
}

// empty is what a new item begins with.
const empty = (f: Field | undefined): Json =>
  f?.default ?? (f?.type === "object" ? (shown(f) === "group" ? initial(f.fields ?? []) : members()) : f?.type === "array" || f?.multiple ? [] : f?.type === "boolean" ? false : f?.type === "number" ? "" : f?.type === "file" ? null : "");

const anyItem: Field = { key: "", type: "object", display: "json" };

export function ListInput(p: InputProps) {
  const part = usePart(p, false);
  const { store } = useForm();
  const { field: f, path } = p;
  const list = Array.isArray(part.value) ? part.value : [];
  const { keys, move, remove } = useKeys(list.length);
  const items = useRef<HTMLOListElement>(null);
  const item = f.items ?? anyItem;
  const full = f.max_items !== undefined && list.length >= f.max_items;
  const columns = shown(f) === "table" && item.type === "object" && shown(item) === "group" ? (item.fields ?? []).filter((c) => !c.hidden) : undefined;
  const focus = (i: number, what: string) => requestAnimationFrame(() => items.current?.querySelectorAll<HTMLElement>(":scope > [data-item]")[i]?.querySelector<HTMLElement>(what)?.focus());
  const shift = (from: number, to: number) => {
    if (to < 0 || to >= list.length) return;
    const next = [...list];
    next.splice(to, 0, ...next.splice(from, 1));
    move(from, to);
    store.forget(path);
    part.set(next);
    say(`Moved to ${to + 1} of ${list.length}`);
    focus(to, to < from ? ".f-up:enabled, .f-down:enabled" : ".f-down:enabled, .f-up:enabled");
  };
  const take = (i: number) => {
    const next = list.filter((_, j) => j !== i);
    remove(i);
    store.forget(path);
    part.set(next.length || p.required ? next : undefined);
    say(`Removed ${i + 1}`);
    if (next.length) focus(Math.min(i, next.length - 1), ".f-remove");
  };
  const add = () => {
    part.set([...list, empty(item)]);
    focus(list.length, "input, textarea, select");
  };
  const buttons = (i: number) => (
    <span className="f-item-tools">
      <button type="button" className="quiet f-up" disabled={i === 0} aria-label={`Move ${i + 1} up`} onClick={() => shift(i, i - 1)}>↑</button>
      <button type="button" className="quiet f-down" disabled={i === list.length - 1} aria-label={`Move ${i + 1} down`} onClick={() => shift(i, i + 1)}>↓</button>
      <button type="button" className="quiet f-remove" aria-label={`Remove ${i + 1}`} onClick={() => take(i)}>✕</button>
    </span>
  );
  const onKey = (i: number) => (e: React.KeyboardEvent) => {
    if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
    e.preventDefault();
    e.stopPropagation();
    shift(i, i + (e.key === "ArrowUp" ? -1 : 1));
  };
  return (
    <Frame of={p} part={part} set end={<span className="f-count">{list.length}{f.max_items !== undefined ? ` of ${f.max_items}` : ""}</span>}>
      {columns && list.length > 0 ? (
        <div className="f-table-wrap" role="region" aria-label={nameOf(f)} tabIndex={0}>
          <table className="f-table">
            <thead>
              <tr>
                {columns.map((c) => (
                  <th key={c.key} scope="col">{nameOf(c)}{c.required && <span className="f-mark">required</span>}</th>
                ))}
                <th><span className="unseen">Actions</span></th>
              </tr>
            </thead>
            <tbody ref={items as unknown as React.Ref<HTMLTableSectionElement>}>
              {list.map((_, i) => (
                <tr key={keys[i]} data-item onKeyDown={onKey(i)}>
                  {columns.map((c) => (
                    <td key={c.key}><Slot field={c} among={item.fields!} path={path + escape(i)} bare /></td>
                  ))}
                  <td>{buttons(i)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <ol className="f-items" ref={items}>
          {list.map((_, i) => (
            <li key={keys[i]} data-item onKeyDown={onKey(i)}>
              <Item field={item} path={path + escape(i)} name={`${item.label || "Item"} ${i + 1}`} />
              {buttons(i)}
            </li>
          ))}
        </ol>
      )}
      <p>
        <button type="button" className="button f-add" disabled={full} onClick={add}>Add{item.label ? ` ${item.label}` : ""}</button>
        {list.length > 1 && <span className="f-hint">Alt and ↑ or ↓ move an item</span>}
      </p>
    </Frame>
  );
}

const Item = memo(function Item({ field, path, name }: { field: Field; path: string; name: string }) {
  const nested = field.type === "object" || field.type === "array";
  return <Input field={{ ...field, label: name }} path={path} required={false} {...(!nested && { bare: true })} />;
});

// MapInput has values under names that the person chooses.
export function MapInput(p: InputProps) {
  const part = usePart(p, false);
  const { store } = useForm();
  const { field: f, path } = p;
  const value = isObject(part.value) ? part.value : {};
  const names = Object.keys(value);
  const [adding, setAdding] = useState("");
  const item = f.items ?? anyItem;
  const taken = adding in value;
  const rename = (from: string, to: string) => {
    if (to === from || to === "" || to in value) return;
    const next = members();
    for (const [n, v] of Object.entries(value)) next[n === from ? to : n] = v;
    store.forget(path);
    part.set(next);
  };
  const add = () => {
    if (adding === "" || taken) return;
    part.set(Object.assign(members(value), { [adding]: empty(item) }));
    setAdding("");
  };
  return (
    <Frame of={p} part={part} set end={<span className="f-count">{names.length}</span>}>
      <ul className="f-map">
        {names.map((n) => (
          <li key={n}>
            <input className="f-key" aria-label="Name" defaultValue={n} spellCheck={false} onBlur={(e) => {
              rename(n, e.target.value);
              if (e.target.value !== n && (e.target.value === "" || e.target.value in value)) e.target.value = n;
            }} />
            <Item field={item} path={path + escape(n)} name={n} />
            <button type="button" className="quiet f-remove" aria-label={`Remove ${n}`} onClick={() => {
              const { [n]: _, ...rest } = value;
              store.forget(path);
              part.set(Object.keys(rest).length || p.required ? Object.assign(members(), rest) : undefined);
            }}>✕</button>
          </li>
        ))}
      </ul>
      <div className="f-row">
        <input className="f-key" aria-label={`New name in ${nameOf(f)}`} placeholder="Name" value={adding} spellCheck={false} onChange={(e) => setAdding(e.target.value)}
          onKeyDown={(e) => {
            if (e.key !== "Enter") return;
            e.preventDefault();
            add();
          }} />
        <button type="button" className="button f-add" disabled={adding === "" || taken} onClick={add}>Add</button>
        {taken && adding !== "" && <span className="f-problem">{adding} is there already</span>}
      </div>
    </Frame>
  );
}

