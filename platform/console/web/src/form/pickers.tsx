import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Json } from "../api/json";
import { entities, entityOf, type Entity } from "../api/forms";
import { Frame, usePart, type InputProps } from "./frame";
import { nameOf, textOf } from "./spec";
import { useForm } from "./store";

// RelationInput picks another entity of the tenant, or several. Of those that the platform does not keep, the id is entered.
export function RelationInput(p: InputProps) {
  const { tenant } = useForm();
  const kind = entityOf(p.field.entity_type);
  if (!tenant || !kind) return <IdInput {...p} />;
  return <EntityPicker {...p} tenant={tenant} kind={kind} />;
}

function IdInput(p: InputProps) {
  const part = usePart(p);
  const [text, setText] = useState("");
  const of = p.field.entity_type ? `id of a ${p.field.entity_type}` : "id";
  if (!p.field.multiple) {
    return (
      <Frame of={p} part={part}>
        <input id={part.id} value={textOf(part.value)} placeholder={p.field.placeholder ?? of} autoComplete="off" spellCheck={false} {...part.described}
          onChange={(e) => part.set(e.target.value || undefined)} />
      </Frame>
    );
  }
  const list = Array.isArray(part.value) ? part.value : [];
  const add = () => {
    if (text.trim() === "") return;
    part.set([...list, text.trim()]);
    setText("");
  };
  return (
    <Frame of={p} part={part}>
      <div className="f-tags">
        <Chosen list={list} names={new Map()} remove={(v) => part.set(without(list, v, !!p.required))} />
        <input id={part.id} value={text} placeholder={`${of}, then Enter`} autoComplete="off" spellCheck={false} {...part.described} onBlur={add}
          onChange={(e) => setText(e.target.value)} onKeyDown={(e) => {
            if (e.key !== "Enter") return;
            e.preventDefault();
            add();
          }} />
      </div>
    </Frame>
  );
}

const without = (list: Json[], v: Json, required: boolean): Json[] | undefined => {
  const next = list.filter((x) => x !== v);
  return next.length || required ? next : undefined;
};

function Chosen({ list, names, remove }: { list: Json[]; names: Map<string, string>; remove: (v: Json) => void }) {
  return list.map((v) => (
    <span key={textOf(v)} className="f-tag" title={textOf(v)}>
      {names.get(textOf(v)) ?? textOf(v)}
      <button type="button" className="quiet" aria-label={`Remove ${names.get(textOf(v)) ?? textOf(v)}`} onClick={() => remove(v)}>✕</button>
    </span>
  ));
}

export function EntityPicker(p: InputProps & { tenant: string; kind: Entity }) {
  const part = usePart(p);
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const several = !!p.field.multiple;
  const list = several ? (Array.isArray(part.value) ? part.value : []) : part.value === undefined || part.value === null ? [] : [part.value];
  const found = useQuery({ ...entities(p.tenant, p.kind, text), enabled: open });
  const known = useRef(new Map<string, string>());
  for (const o of found.data ?? []) known.current.set(o.id, o.name);
  const all = found.data ?? [];
  const needle = text.toLowerCase();
  const options = all.filter((o) => !list.includes(o.id) && (p.kind.searches || `${o.name} ${o.id}`.toLowerCase().includes(needle))).slice(0, 20);
  const full = several ? p.field.max_items !== undefined && list.length >= p.field.max_items : list.length > 0;
  const take = (id: string) => {
    part.set(several ? [...list, id] : id);
    setText("");
    setOpen(several);
    setAt(0);
    input.current?.focus();
  };
  const listId = `${part.id}:list`;
  return (
    <Frame of={p} part={part}>
      <div className="f-picker" onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}>
        <div className="f-tags">
          <Chosen list={list} names={known.current} remove={(v) => {
            part.set(several ? without(list, v, !!p.required) : undefined);
            requestAnimationFrame(() => input.current?.focus());
          }} />
          {!full && (
            <input id={part.id} ref={input} role="combobox" aria-expanded={open} aria-controls={listId} aria-autocomplete="list"
              aria-activedescendant={open && options[at] ? `${listId}:${at}` : undefined} value={text} autoComplete="off" spellCheck={false}
              placeholder={p.field.placeholder ?? `Search ${p.kind.name}, or paste an id`} {...part.described}
              onFocus={() => setOpen(true)} onClick={() => setOpen(true)}
              onChange={(e) => {
                setText(e.target.value);
                setOpen(true);
                setAt(0);
              }}
              onKeyDown={(e) => {
                if (e.key === "ArrowDown" || e.key === "ArrowUp") {
                  e.preventDefault();
                  setOpen(true);
                  setAt(Math.max(0, Math.min(options.length - 1, at + (e.key === "ArrowDown" ? 1 : -1))));
                } else if (e.key === "Enter") {
                  e.preventDefault();
                  if (open && options[at]) take(options[at].id);
                  else if (text.trim()) take(text.trim());
                } else if (e.key === "Escape" && open) {
                  e.preventDefault();
                  setOpen(false);
                } else if (e.key === "Backspace" && text === "" && list.length) part.set(several ? without(list, list[list.length - 1]!, !!p.required) : undefined);
              }} />
          )}
        </div>
        {open && !full && (
          <ul id={listId} role="listbox" className="f-options" aria-label={nameOf(p.field)}>
            {options.map((o, i) => (
              <li key={o.id} id={`${listId}:${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => e.preventDefault()} onClick={() => take(o.id)}>
                <span>{o.name}</span>
                {o.about && <span className="muted">{o.about}</span>}
              </li>
            ))}
            {options.length === 0 && (
              <li role="option" aria-selected="false" aria-disabled="true" className="muted">
                {found.isFetching ? "Searching" : found.error ? "They cannot be listed: paste an id" : "None found: paste an id, then Enter"}
              </li>
            )}
          </ul>
        )}
      </div>
    </Frame>
  );
}
